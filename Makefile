# `make demo` needs Python 3.11 and make; `make test` installs what it needs besides.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SAMPLES := no-force-push redact-tokens confine-writes memory-guard house-rules model-limits canned-answers

.PHONY: demo test check lint rust-lint wheel bench soak clean help

help:
	@echo "make demo   a session of twenty calls through the samples (Python and make only)"
	@echo "make test   everything: linters, tests, samples built again and compared"
	@echo "make check  the Python linters and tests, with what is installed already"
	@echo "make clean  remove what was made"

demo: $(VENV)/installed
	@mkdir -p build/demo
	$(BIN)/orrery run samples/sessions/demo.jsonl --project samples/sessions/project \
	  $(foreach name,$(SAMPLES),--ext samples/$(name)) || test $$? -eq 4
	@echo
	@echo "and with the read-only sample, nothing is written at all:"
	@echo '{"tool": "builtin.write", "input": {"path": "x", "content": "y"}}' \
	  | $(BIN)/orrery check tool.before --project samples/sessions/project --ext samples/read-only --json || test $$? -eq 4
	@$(BIN)/orrery audit verify build/demo/audit.jsonl

test: $(VENV)/tested
	$(BIN)/python -m orrery_interceptors.toolchain.rust --print-env > build/rust-env
	$(MAKE) lint rust-lint
	$(BIN)/python -m pytest -q

check: $(VENV)/tested lint
	$(BIN)/python -m pytest -q

lint: $(VENV)/tested
	$(BIN)/ruff check runtime tests samples benchmarks guest-sdk
	$(BIN)/ruff format --check runtime tests samples benchmarks guest-sdk
	$(BIN)/mypy
	$(BIN)/mypy --config-file guest-sdk/python/pyproject.toml guest-sdk/python/orrery_ext
	cd guest-sdk/typescript && npx tsc --noEmit -p .

# With the cargo that was found or made; clippy only where there is one.
rust-lint: $(VENV)/tested
	. build/rust-env && $$CARGO test --quiet --workspace
	. build/rust-env && RUSTDOCFLAGS="-D warnings" $$CARGO doc --quiet --no-deps -p orrery-ext-api
	@. build/rust-env && if $$CARGO clippy --version >/dev/null 2>&1; then \
	  $$CARGO clippy --quiet --workspace --all-targets -- -D warnings; \
	else echo "there is no clippy beside this cargo; it was not run"; fi

bench: $(VENV)/tested
	$(PIP) install -c constraints.txt pluggy || true
	$(PIP) install extism || true
	PYTHONPATH=benchmarks:tests $(BIN)/python benchmarks/run.py

soak: $(VENV)/tested
	PYTHONPATH=tests $(BIN)/python tests/soak/soak.py

wheel: $(VENV)/tested
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build/wheel .

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; set PYTHON=…" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/tested: $(VENV)/installed guest-sdk/typescript/package-lock.json
	$(PIP) install -c constraints.txt -e '.[build]' \
	  $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["test"])')
	cd guest-sdk/typescript && npm ci --silent
	@mkdir -p build
	@touch $@

clean:
	rm -rf $(VENV) build dist target tests/guests/.build .toolchain

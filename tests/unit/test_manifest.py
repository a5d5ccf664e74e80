"""The manifest: what is accepted, and every problem said at once with its place and fix."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orrery_interceptors.config import Deadlines, Limits
from orrery_interceptors.errors import ManifestError, Problem
from orrery_interceptors.manifest import Manifest, effective, read_manifest
from orrery_interceptors.patterns import Scope
from orrery_interceptors.points import Point
from orrery_interceptors.rules import Default, Refuse

FULL = """\
[extension]
api = "orrery-ext/1"
name = "acme-guard"
version = "1.2.0"
runtime = "wasm"
component = "acme_guard.wasm"
description = "Keeps pushes gentle."
authors = ["Acme <guard@acme.example>"]
license = "Apache-2.0"
homepage = "https://acme.example/guard"

[requires]
intercept = ["tool.before:builtin.bash", "tool.after:mcp__github__*"]
watch = ["tool.before"]

[settings]
protected = ["main", "release/*"]
depth = { of = [1, { settings = 2.5 }] }

[limits]
deadlineMs = 100
memoryMiB = 8

[[rules]]
t = "refuse"
tools = ["builtin.write"]
reason = "read-only session"

[[rules]]
t = "default"
tool = "builtin.bash"
pointer = "/timeout"
value = 60000
"""


def manifest(folder: Path, text: str = FULL) -> Manifest:
    (folder / "orrery.toml").write_text(text, "utf-8")
    return read_manifest(folder)


def problems(folder: Path, text: str) -> list[Problem]:
    with pytest.raises(ManifestError) as caught:
        manifest(folder, text)
    assert all(problem.file == folder / "orrery.toml" for problem in caught.value.problems)
    return list(caught.value.problems)


def changed(old: str, new: str) -> str:
    assert old in FULL
    return FULL.replace(old, new)


def test_a_full_manifest_is_read(tmp_path: Path) -> None:
    read = manifest(tmp_path)
    assert (read.name, read.version, read.folder) == ("acme-guard", "1.2.0", tmp_path)
    assert read.component == tmp_path / "acme_guard.wasm"
    assert read.about.authors == ("Acme <guard@acme.example>",)
    assert read.about.homepage == "https://acme.example/guard"
    assert read.requires.intercept == (
        Scope(Point.TOOL_BEFORE, "builtin.bash"),
        Scope(Point.TOOL_AFTER, "mcp__github__*"),
    )
    assert read.requires.watch == (Scope(Point.TOOL_BEFORE),)
    assert read.settings == {"protected": ["main", "release/*"], "depth": {"of": [1, {"settings": 2.5}]}}
    assert (read.limits.deadline_ms, read.limits.memory_mib, read.limits.fuel) == (100, 8, None)
    assert read.rules == (
        Refuse(tools=("builtin.write",), reason="read-only session"),
        Default(tool="builtin.bash", pointer="/timeout", value=60000),
    )
    assert read.data == FULL.encode()


def test_rules_need_no_component(tmp_path: Path) -> None:
    assert manifest(tmp_path, changed('component = "acme_guard.wasm"\n', "")).component is None


def test_a_manifest_with_neither_component_nor_rules_is_refused(tmp_path: Path) -> None:
    text = FULL.split("[[rules]]")[0].replace('component = "acme_guard.wasm"\n', "")
    (problem,) = problems(tmp_path, text)
    assert problem.what == "has neither a component nor rules, so it does nothing"
    (problem,) = problems(tmp_path, "rules = []\n" + text)
    assert problem.key == "extension"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [(None, "extension", "is missing")]),
        ("# only a comment\n", [(None, "extension", "is missing")]),
        ("extension = 3\n", [(1, "extension", "must be a table, not a number")]),
        ("[[extension]]\n", [(1, "extension", "must be a table, not an array")]),
        (
            '[extension]\nname = "x"\n',
            [(1, f"extension.{key}", "is missing") for key in ("api", "version", "runtime")],
        ),
    ],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str, found: list[tuple[int | None, str, str]]) -> None:
    assert [(problem.line, problem.key, problem.what) for problem in problems(tmp_path, text)] == found


def test_a_missing_manifest_is_said(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=re.escape(f"{tmp_path / 'orrery.toml'}: there is no such file")):
        read_manifest(tmp_path)


def test_an_unknown_api_is_refused_for_that_alone(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, '[extension]\napi = "orrery-ext/2"\nruntime = "jvm"\nnew = 1\n')
    assert (problem.line, problem.key) == (2, "extension.api")
    assert problem.what == '"orrery-ext/2" is not understood by this host, which understands orrery-ext/1'


@pytest.mark.parametrize("api", ['"orrery-ext"', '"orrery-ext/1.0"', '"1"', "1", '"orrery-ext/1\\n"', '"Orrery-ext/1"'])
def test_what_is_no_api_is_refused(tmp_path: Path, api: str) -> None:
    (problem,) = problems(tmp_path, changed('"orrery-ext/1"', api))
    assert problem.what.startswith('must be "orrery-ext/1", not ')


@pytest.mark.parametrize("name", ["a", "0", "acme-guard-2", "a" * 64])
def test_names(tmp_path: Path, name: str) -> None:
    assert manifest(tmp_path, changed("acme-guard", name)).name == name


@pytest.mark.parametrize("name", ["", "A", "acme_guard", "-a", "a-", "a" * 65, "a b", "é", "１", "a\\n", "../a"])
def test_what_is_no_name_is_refused(tmp_path: Path, name: str) -> None:
    (problem,) = problems(tmp_path, changed("acme-guard", name))
    assert (problem.line, problem.key, problem.fix) == (3, "extension.name", 'for example "acme-guard"')


@pytest.mark.parametrize(
    "version", ["0.0.0", "1.2.3-rc.1", "1.0.0-alpha+001", "10.20.30", "1.0.0-0A.is.legal", "1.0.0--"]
)
def test_versions(tmp_path: Path, version: str) -> None:
    assert manifest(tmp_path, changed("1.2.0", version)).version == version


@pytest.mark.parametrize(
    "version",
    ["", "1", "1.2", "v1.2.3", "01.2.3", "1.2.3-01", "1.2.3.4", "1.2.3-", "1.2.3+", "1.2.3\\n", "1.2.３", "9" * 200],
)
def test_what_is_no_version_is_refused(tmp_path: Path, version: str) -> None:
    (problem,) = problems(tmp_path, changed("1.2.0", version))
    assert (problem.line, problem.key, problem.what) == (4, "extension.version", "must be a semantic version")


@pytest.mark.parametrize("component", ["a.wasm", "./a.wasm", "build/a b.wasm", "..a.wasm", "ünï.wasm"])
def test_components(tmp_path: Path, component: str) -> None:
    assert manifest(tmp_path, changed("acme_guard.wasm", component)).component == tmp_path / component


@pytest.mark.parametrize(
    "component",
    [
        "",
        ".wasm",
        "a.wat",
        "a.wasm/",
        "a.WASM",
        "/a.wasm",
        "../a.wasm",
        "b/../../a.wasm",
        "b/../a.wasm",
        "a\\\\b.wasm",
        "a\\u0000.wasm",
    ],
)
def test_what_is_no_component_inside_the_folder_is_refused(tmp_path: Path, component: str) -> None:
    (problem,) = problems(tmp_path, changed("acme_guard.wasm", component))
    assert (problem.line, problem.key) == (6, "extension.component")


def test_links_stay_inside_the_folder(tmp_path: Path) -> None:
    folder, outside = tmp_path / "ext", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "a.wasm").touch()
    component = folder / "acme_guard.wasm"
    (folder / "real.wasm").touch()
    component.symlink_to("real.wasm")
    manifest(folder)
    for target in (outside / "a.wasm", "../outside/missing.wasm", component):
        component.unlink()
        component.symlink_to(target)
        (problem,) = problems(folder, FULL)
        assert problem.what == "leads out of the extension's folder through a link"
    (folder / "sub").symlink_to(outside)
    (problem,) = problems(folder, changed("acme_guard.wasm", "sub/a.wasm"))
    assert problem.key == "extension.component"


def test_a_link_to_the_folder_is_no_way_out(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    link.symlink_to("real")
    assert manifest(link).name == "acme-guard"


def test_scopes_are_checked(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        changed(
            '["tool.before:builtin.bash", "tool.after:mcp__github__*"]',
            '["PreToolUse",\n "context.build:x",\n 3,\n "tool.before:",\n "tool.before:a?"]',
        ),
    )
    assert [(problem.line, problem.key) for problem in found] == [
        (13 + index, f"requires.intercept[{index}]") for index in range(5)
    ]
    assert "the points are tool.before, tool.after, context.build, memory.recall, provider.before" in found[0].what
    assert found[2].what == 'must be a string such as "tool.before:builtin.bash", not a number'


def test_a_scope_that_stands_twice_is_kept_once(tmp_path: Path) -> None:
    text = changed('"tool.after:mcp__github__*"', '"tool.before:builtin.bash", "tool.before:a**"')
    assert manifest(tmp_path, text).requires.intercept == (
        Scope(Point.TOOL_BEFORE, "builtin.bash"),
        Scope(Point.TOOL_BEFORE, "a*"),
    )


def test_all_problems_are_said_in_order(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        """\
top = 1
[extension]
api = "orrery-ext/1"
nmae = "acme-guard"
version = "1.2"
runtime = "native"
component = "x.wat"
homepage = "https://user:secret@acme.example"
authors = "me"
[requires]
intercepts = []
[limits]
deadlineMs = 0
gateMs = 5
fuel = true
[settings]
since = 2020-01-01
odds = [nan, -inf]
[[rules]]
t = "refuse"
tools = ["a"]
[[rules]]
t = "default"
tool = "a"
pointer = "b"
value = 12:00:00
""",
    )
    assert [(problem.line, problem.key, problem.what) for problem in found] == [
        (1, "top", "unknown key"),
        (2, "extension.name", "is missing"),
        (4, "extension.nmae", "unknown key"),
        (5, "extension.version", "must be a semantic version"),
        (6, "extension.runtime", 'must be "wasm", not "native"'),
        (7, "extension.component", "must name a .wasm file"),
        (8, "extension.homepage", "must not hold a user name or a password"),
        (9, "extension.authors", "must be an array, not a string"),
        (11, "requires.intercepts", "unknown key"),
        (13, "limits.deadlineMs", "must be 1 or more, not 0"),
        (14, "limits.gateMs", "unknown key"),
        (15, "limits.fuel", "must be a whole number, not a boolean"),
        (17, "settings.since", "must not be a date or time, which JSON does not know; write it as a string"),
        (18, "settings.odds[0]", "must be a finite number that a double can hold"),
        (18, "settings.odds[1]", "must be a finite number that a double can hold"),
        (19, "rules[0].reason", "is missing"),
        (25, "rules[1].pointer", '"b" is not a JSON pointer (RFC 6901)'),
        (26, "rules[1].value", "must not be a date or time, which JSON does not know; write it as a string"),
    ]
    fixes = {problem.key: problem.fix or "" for problem in found}
    assert fixes["extension.nmae"].startswith("did you mean name? known here: api, name, version, ")
    assert fixes["requires.intercepts"] == "did you mean intercept? known here: intercept, watch"
    assert fixes["top"] == "known here: extension, requires, settings, limits, rules"
    assert fixes["extension.name"] == 'for example name = "acme-guard"'


def test_a_key_in_the_wrong_table_is_led_to_the_right_one(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "memoryMiB = 5\n" + FULL)
    assert problem.fix is not None and problem.fix.startswith("did you mean limits.memoryMiB? ")


def test_python_names_are_not_keys(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, changed("memoryMiB", "memory_mib"))
    assert (problem.key, problem.what) == ("limits.memory_mib", "unknown key")
    assert problem.fix is not None and "did you mean memoryMiB?" in problem.fix


def test_limits_may_only_be_lower(tmp_path: Path) -> None:
    asked = manifest(
        tmp_path, changed("deadlineMs = 100\nmemoryMiB = 8", "deadlineMs = 200\nmemoryMiB = 80\nlogLines = 2")
    )
    bounds = effective(asked, Deadlines(gate_ms=150, rewrite_ms=900, register_ms=100), Limits(in_flight=3))
    assert bounds.deadlines == Deadlines(gate_ms=150, rewrite_ms=200, register_ms=100)
    assert bounds.limits == Limits(memory_mib=64, log_lines=2, in_flight=3)
    assert [(warning.line, warning.key, warning.what) for warning in bounds.warnings] == [
        (21, "limits.deadlineMs", "asks for 200, more than the host's deadlines.gateMs of 150, which holds"),
        (22, "limits.memoryMiB", "asks for 80, more than the host's limits.memoryMiB of 64, which holds"),
    ]


def test_each_limit_is_the_lower_of_two(tmp_path: Path) -> None:
    keys = {
        "fuel": "fuel",
        "memoryMiB": "memory_mib",
        "outputKiB": "output_kib",
        "payloadKiB": "payload_kib",
        "inFlight": "in_flight",
        "logLines": "log_lines",
    }
    for key, name in keys.items():
        for asked, expected in ((1, 1), (10, 10), (11, 10)):
            read = manifest(tmp_path, changed("deadlineMs = 100\nmemoryMiB = 8", f"{key} = {asked}"))
            bounds = effective(read, Deadlines(), Limits(**{name: 10}))
            assert bounds.limits == Limits(**{name: expected})
            assert bounds.deadlines == Deadlines()
            assert len(bounds.warnings) == (asked > 10)


def test_without_limits_the_hosts_hold(tmp_path: Path) -> None:
    read = manifest(tmp_path, changed("deadlineMs = 100\nmemoryMiB = 8", ""))
    bounds = effective(read, Deadlines(), Limits())
    assert (bounds.deadlines, bounds.limits, bounds.warnings) == (Deadlines(), Limits(), ())


def test_a_flood_of_problems_is_counted(tmp_path: Path) -> None:
    found = problems(tmp_path, "".join(f"a{number} = 1\n" for number in range(500)) + FULL)
    assert len(found) == 101
    assert found[-1].what == "and more problems than these"
    (problem,) = problems(tmp_path, FULL + "[[rules]]\n" * 1023)
    assert (problem.key, problem.what) == ("rules", "must have at most 1024 rules, not 1025")
    scopes = ",".join(f'"tool.before:{number}"' for number in range(1025))
    (problem,) = problems(tmp_path, changed('"tool.before:builtin.bash"', scopes))
    assert problem.what == "must have at most 1024 items, not 1026"
    (problem,) = problems(tmp_path, changed('"tool.before:builtin.bash"', f'"tool.before:{"x" * 10_000}"'))
    assert "at most" in problem.what and len(str(problem)) < 400
    (problem,) = problems(tmp_path, "x" * 10_000 + " = 1\n" + FULL)
    assert len(str(problem)) < 400


words = st.sampled_from([*FULL.split(), "=", "\n", "1", "nan", "2020-01-01", "{}", "[]", '"', "true", "[[", "]]"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text()
    | st.lists(words, max_size=30).map(" ".join)
    | st.lists(st.sampled_from(FULL.splitlines()), max_size=30).map("\n".join)
)
def test_any_text_is_a_manifest_or_a_manifest_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "orrery.toml").write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        read_manifest(tmp_path)
    except ManifestError as error:
        assert error.problems
        for problem in error.problems:
            assert "Input should" not in str(problem)
            assert problem.what != "is not valid here"

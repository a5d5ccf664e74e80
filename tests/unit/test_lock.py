"""The lock: read strictly, written whole or not at all, and compared with what is there."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orrery_interceptors.config import Lock, LockEntry, compare, drop_entry, put_entry, read_lock
from orrery_interceptors.errors import ConfigError, Problem
from orrery_interceptors.patterns import Scope, parse_scope
from orrery_interceptors.points import Point

DIGEST = "sha256:" + "0" * 64
OTHER = "sha256:" + "f" * 64

TEXT = f"""\
version = 1

[[extensions]]
name = "acme-guard"
path = "extensions/acme-guard"
version = "1.2.0"
digest = "{DIGEST}"
intercept = ["tool.before:builtin.bash", "memory.recall"]
watch = ["tool.before"]

[[extensions]]
name = "rules-only"
path = "../rules"
version = "0.1.0"
digest = "{OTHER}"
"""


def entry(name: str = "acme-guard", path: str | None = None, **fields: object) -> LockEntry:
    scopes = {"intercept": (Scope(Point.TOOL_BEFORE, "builtin.bash"),), "watch": ()}
    return LockEntry(name=name, path=path or f"ext/{name}", version="1.2.0", digest=DIGEST, **{**scopes, **fields})


def scopes(*texts: str) -> tuple[Scope, ...]:
    return tuple(map(parse_scope, texts))


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def problems(path: Path, text: str) -> list[Problem]:
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_lock(path)
    return list(caught.value.problems)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".orrery" / "lock.toml"


@pytest.fixture
def written(path: Path) -> Path:
    path.parent.mkdir()
    path.write_text(TEXT)
    return path


def test_a_lock_is_read(written: Path) -> None:
    lock = read_lock(written)
    assert [one.name for one in lock.entries] == ["acme-guard", "rules-only"]
    first, second = lock.entries
    assert first.intercept == (Scope(Point.TOOL_BEFORE, "builtin.bash"), Scope(Point.MEMORY_RECALL))
    assert first.watch == (Scope(Point.TOOL_BEFORE),)
    assert (second.intercept, second.watch) == ((), ())


def test_a_lock_that_is_not_there_is_empty(path: Path) -> None:
    assert read_lock(path) == Lock(path)
    path.parent.write_text("no folder")
    assert read_lock(path).entries == ()


def test_an_entry_is_found_by_the_declared_path(written: Path) -> None:
    lock = read_lock(written)
    for declared in ("extensions/acme-guard", "./extensions//acme-guard/"):
        assert lock.find(declared) == lock.entries[0]
    for declared in ("acme-guard", "../rules/x", "extensions/../../rules"):
        assert lock.find(declared) is None


@pytest.mark.parametrize(
    ("old", "new", "key", "what"),
    [
        ("version = 1\n", "", "version", "is missing"),
        ("version = 1\n", "version = 2\n", "version", "version 2 is not understood; this host understands 1"),
        ("version = 1\n", 'version = "1"\n', "version", "must be a whole number, not a string"),
        ("version = 1\n", "version = 1\nnote = 1\n", "note", "unknown key"),
        ('name = "acme-guard"', 'name = "acme-guard"\nnote = ""', "extensions[0].note", "unknown key"),
        ("intercept", "intercepts", "extensions[0].intercepts", "unknown key"),
        (OTHER, "sha256:FF", "extensions[1].digest", 'must be "sha256:" and 64 hexadecimal digits in lower case'),
        (
            OTHER,
            "sha256:" + "F" * 64,
            "extensions[1].digest",
            'must be "sha256:" and 64 hexadecimal digits in lower case',
        ),
        ('"0.1.0"', '"0.1"', "extensions[1].version", "must be a semantic version"),
        ('"memory.recall"', '"memory.recall:x"', "extensions[0].intercept[1]", "memory.recall is not about tools; "),
        ('"rules-only"', '"acme-guard"', "extensions[1].name", "the name of an entry before this one too"),
        ('"../rules"', '"./extensions/acme-guard/"', "extensions[1].path", "the path of an entry before this one too"),
    ],
)
def test_a_hand_edit_gone_wrong_is_said(written: Path, old: str, new: str, key: str, what: str) -> None:
    assert old in TEXT
    (problem,) = problems(written, TEXT.replace(old, new))
    assert (problem.file, problem.key) == (written, key)
    assert problem.what.startswith(what)
    assert key == "version" or problem.line is not None


def test_an_empty_lock_file_is_no_lock(written: Path) -> None:
    (problem,) = problems(written, "")
    assert (problem.key, problem.what, problem.fix) == ("version", "is missing", "for example version = 1")


def test_an_entry_is_put(path: Path) -> None:
    put_entry(path, entry("one"))
    put_entry(path, entry("two", watch=scopes("tool.after:a*")))
    assert read_lock(path).entries == (entry("one"), entry("two", watch=scopes("tool.after:a*")))
    assert names_in(path.parent) == ["lock.toml"]


def test_an_entry_takes_the_place_of_its_name_and_its_path(path: Path) -> None:
    for name in ("one", "two", "three"):
        put_entry(path, entry(name))
    put_entry(path, entry("two", "./ext/one"))
    assert read_lock(path).entries == (entry("three"), entry("two", "./ext/one"))


def test_an_entry_is_dropped(written: Path) -> None:
    drop_entry(written, "acme-guard")
    assert [one.name for one in read_lock(written).entries] == ["rules-only"]
    before = written.stat().st_ino
    drop_entry(written, "acme-guard")
    assert written.stat().st_ino == before


def test_what_cannot_be_read_is_not_overwritten(written: Path) -> None:
    written.write_text(TEXT + "\nunknown = 1\n")
    before = written.read_bytes()
    with pytest.raises(ConfigError):
        put_entry(written, entry("one"))
    with pytest.raises(ConfigError):
        drop_entry(written, "acme-guard")
    assert written.read_bytes() == before


@pytest.mark.parametrize("step", ["fsync", "fchmod"])
def test_a_failed_write_leaves_the_old_file(written: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(ConfigError, match="cannot be written: no space left on device"):
        put_entry(written, entry("one"))
    assert written.read_text() == TEXT
    assert names_in(written.parent) == ["lock.toml"]


def test_an_interrupted_write_leaves_the_old_file(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        put_entry(written, entry("one"))
    assert written.read_text() == TEXT
    assert names_in(written.parent) == ["lock.toml"]


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"cannot be written|cannot be read"):
        put_entry(tmp_path / "file" / "lock.toml", entry())


def test_a_link_is_replaced_and_not_followed(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text("version = 1\n")
    path.symlink_to(elsewhere)
    put_entry(path, entry())
    assert elsewhere.read_text() == "version = 1\n"
    assert not path.is_symlink()


def test_the_files_mode_is_kept(written: Path) -> None:
    written.chmod(0o640)
    put_entry(written, entry("one"))
    assert written.stat().st_mode & 0o777 == 0o640


def test_writers_do_not_lose_each_others_entries(path: Path) -> None:
    names = [f"ext-{number}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: put_entry(path, entry(name)), names))
    assert sorted(one.name for one in read_lock(path).entries) == sorted(names)


def test_an_agreement_that_holds(written: Path) -> None:
    agreed = read_lock(written).entries[0]
    for intercept, watch in (
        (agreed.intercept, agreed.watch),
        ((), ()),
        (scopes("memory.recall"), scopes("tool.before:builtin.*")),
    ):
        found = compare(agreed, DIGEST, intercept, watch)
        assert found.agreed
        assert str(found) == "as agreed"


def test_a_changed_digest_and_wider_scopes_are_told_apart(written: Path) -> None:
    agreed = read_lock(written).entries[0]
    changed = compare(agreed, OTHER, agreed.intercept, agreed.watch)
    assert (changed.agreed, changed.digest_changed, changed.new_intercept, changed.new_watch) == (False, True, (), ())
    wider = compare(
        agreed,
        DIGEST,
        scopes("tool.before:builtin.bash", "tool.before:builtin.*", "tool.after"),
        scopes("tool.after:a"),
    )
    assert (wider.agreed, wider.digest_changed) == (False, False)
    assert wider.new_intercept == scopes("tool.before:builtin.*", "tool.after")
    assert wider.new_watch == scopes("tool.after:a")
    assert str(wider) == (
        "it asks to intercept tool.before:builtin.*, tool.after, which was not agreed to; "
        "it asks to watch tool.after:a, which was not agreed to"
    )
    # What one may watch, one may not therefore intercept.
    assert compare(agreed, DIGEST, scopes("tool.before:x"), ()).new_intercept == scopes("tool.before:x")


paths = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12).filter(
    lambda text: text.strip() and not text.startswith("~")
)
patterns = st.text("ab*._", min_size=1, max_size=6)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(paths, st.lists(patterns, max_size=3))
def test_what_is_written_is_read_again(tmp_path: Path, declared: str, tools: list[str]) -> None:
    path = tmp_path / "lock.toml"
    path.unlink(missing_ok=True)
    one = entry("one", declared, intercept=scopes(*(f"tool.before:{tool}" for tool in tools)))
    put_entry(path, one)
    assert read_lock(path).entries == (one,)
    assert read_lock(path).find(declared) == one


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(TEXT.splitlines()) | st.text(max_size=9), max_size=12).map("\n".join))
def test_any_text_is_a_lock_or_a_config_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "lock.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        read_lock(path)
    except ConfigError as error:
        assert error.problems

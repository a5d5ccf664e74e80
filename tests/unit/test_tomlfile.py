"""Files are read whole or not at all, and every value has its line."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery_interceptors.errors import InputError, Problem
from orrery_interceptors.tomlfile import MAX_BYTES, TomlFile, parse_toml, read_toml
from orrery_interceptors.tomllines import longest_key


def problem_of(data: bytes | str) -> Problem:
    with pytest.raises(InputError) as caught:
        parse_toml(data.encode() if isinstance(data, str) else data, "x.toml")
    (problem,) = caught.value.problems
    return problem


def problem_at(path: Path) -> Problem:
    with pytest.raises(InputError) as caught:
        read_toml(path)
    (problem,) = caught.value.problems
    assert problem.file == path
    return problem


def test_a_file_is_read_with_its_bytes_and_owner(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"[a]\r\nb = 1\r\n")
    toml = read_toml(path)
    assert isinstance(toml, TomlFile)
    assert toml.data == b"[a]\r\nb = 1\r\n"
    assert toml.values == {"a": {"b": 1}}
    assert toml.owner == os.geteuid()
    assert toml.origin.line(("a", "b")) == 2


def test_what_is_no_file_is_said(tmp_path: Path) -> None:
    assert problem_at(tmp_path / "none.toml").what == "there is no such file"
    assert problem_at(tmp_path).what == "is a folder"
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert problem_at(fifo).what == "is not a regular file"
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert "cannot be read" in problem_at(loop).what
    assert "cannot be read" in problem_at(Path("a\0b")).what


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.touch(mode=0o000)
    assert problem_at(path).what == "cannot be read: permission denied"


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.toml"
    with path.open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    assert problem_at(path).what == "is larger than 1024 KiB, the most that is read"
    path.write_bytes(b"#" * MAX_BYTES)
    assert read_toml(path).values == {}


def test_text_that_is_not_utf8_without_mark_is_refused() -> None:
    problem = problem_of(b'a = 1\nb = "\xff"\n')
    assert (problem.what, problem.line) == ("is not UTF-8", 2)
    assert problem_of(b"\xef\xbb\xbfa = 1").what == "starts with a byte order mark"
    assert problem_of("a = 1".encode("utf-16")).what == "is not UTF-8"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\n\na = 2\n", 3),
        ("[a]\nb = 1\n[a]\n", 3),
        ("a = {b = 1, b = 2}\n", 1),
        ("a = {b = 1}\na.c = 2\n", 2),
        ("a = [1]\n[[a]]\n", 2),
        ("[[a]]\n[a]\n", 2),
        ("a.b = 1\n[a]\n", 2),
    ],
)
def test_what_stands_twice_is_refused(text: str, line: int) -> None:
    problem = problem_of(text)
    assert (problem.what, problem.line) == ("a key or table that was given before is given again", line)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a = \n", 1, "not TOML at column 5: invalid value"),
        ("a = 1 b = 2\n", 1, "not TOML at column 7: expected newline"),
        ('\na = "x', 2, "not TOML at the end: unterminated string"),
        ("a\n", 1, "not TOML at column 2: expected '='"),
        ('a = "\\ud800"', 1, "not TOML at column 12: "),
        ("\x00", 1, "not TOML at column 1: invalid statement"),
        ('{"a": 1}', 1, "not TOML at column 1: invalid statement"),
    ],
)
def test_malformed_text_is_said_with_its_place(text: str, line: int, what: str) -> None:
    problem = problem_of(text)
    assert problem.line == line
    assert problem.what.startswith(what)


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 10_000 + "]" * 10_000, "a = " + "{a = " * 10_000, "a = " + "[" * 999_999]
)
def test_deep_nesting_is_refused(text: str) -> None:
    assert problem_of(text).what == "nested deeper than the depth limit of 128"


@pytest.mark.parametrize("depth", [127, 129])
def test_nesting_has_one_limit_whatever_the_notation(depth: int) -> None:
    texts = ["a = " + "[" * (depth - 1) + "[]" + "]" * (depth - 1), "[" + ".".join("a" * depth) + "]"]
    for text in texts:
        if depth < 128:
            parse_toml(text.encode(), "x.toml")
        else:
            assert "at most 128" in problem_of(text).what or "depth limit of 128" in problem_of(text).what


def test_numbers_of_thousands_of_digits_are_refused() -> None:
    assert problem_of("a = " + "9" * 5000).what == "a number with too many digits to be read"


@pytest.mark.parametrize("text", ["a." * 500_000 + "a = 1", '"a".' * 200_000 + "a = 1", "[" + "a . " * 200_000 + "a]"])
def test_a_key_of_many_parts_takes_no_time(text: str) -> None:
    start = time.perf_counter()
    assert "parts; at most 128 are read" in problem_of(text).what
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("text", ['"""\\' * 100_000, "'''" * 100_001, '"\\' * 200_000, "'" * 300_000, '"' * 300_000])
def test_looking_for_long_keys_is_linear_in_text_that_never_ends(text: str) -> None:
    start = time.perf_counter()
    longest_key(text)
    assert time.perf_counter() - start < 5


def test_dots_in_strings_comments_and_numbers_are_no_keys() -> None:
    dots = "a." * 300
    text = f"""
    a = "{dots}" # {dots}
    b = '{dots}'
    c = '''{dots}'''
    d = \"\"\"{dots}\"\"\"
    e = [{"1.5, " * 300}]
    """
    assert len(parse_toml(text.encode(), "x.toml").values) == 5


EXAMPLE = '''# a comment with [brackets] and = signs
title = "x"

[extension]
name = """
several
lines"""
"quoted key".'literal.key' = [1,
  2, # ] a comment
  {a = 1, b = [
    "]", '}', """,
    """, 4
  ]},
]
when = "later"   # and more
after.dots.here = true

[[rules]]
t = "one"
[rules.sub]
x = 1
[[rules]]
t = "two"
[[rules.inner]]
y.z = 2
[[rules.inner]]
y = 3
'''


@pytest.mark.parametrize(
    ("loc", "line"),
    [
        (("title",), 2),
        (("extension",), 4),
        (("extension", "name"), 5),
        (("extension", "quoted key", "literal.key"), 8),
        (("extension", "quoted key", "literal.key", 0), 8),
        (("extension", "quoted key", "literal.key", 1), 9),
        (("extension", "quoted key", "literal.key", 2, "b"), 10),
        (("extension", "quoted key", "literal.key", 2, "b", 1), 11),
        (("extension", "quoted key", "literal.key", 2, "b", 3), 12),
        (("extension", "when"), 15),
        (("extension", "after", "dots"), 16),
        (("rules",), 18),
        (("rules", 0), 18),
        (("rules", 0, "sub", "x"), 21),
        (("rules", 1), 22),
        (("rules", 1, "t"), 23),
        (("rules", 1, "inner", 0, "y", "z"), 25),
        (("rules", 1, "inner", 1, "y"), 27),
    ],
)
def test_values_have_their_lines(loc: tuple[str | int, ...], line: int) -> None:
    assert parse_toml(EXAMPLE.encode(), "x.toml").origin.lines[loc] == line


def test_a_missing_value_has_the_line_of_what_is_around_it() -> None:
    origin = parse_toml(EXAMPLE.encode(), "x.toml").origin
    assert origin.line(("rules", 1, "reason")) == 22
    assert origin.line(("extension", "version")) == 4
    assert origin.line(("nowhere",)) is None
    assert origin.line(()) is None


# Documents whose every scalar is the number of the line it stands on.
keys = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=5) | st.sampled_from(
    ["a", "b", "c-d", "1", "a.b", '"', "'", "\\", "#", "[", "", "="]
)
values = st.recursive(
    st.just(0), lambda below: st.lists(below, max_size=3) | st.dictionaries(keys, below, max_size=3), max_leaves=12
)


class Writer:
    """Writes a value as TOML, in one of its notations, and puts in each scalar's place the line where it stands."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.lines = [""]

    def key(self, name: str) -> str:
        quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
        return name if name.isascii() and name.isalnum() else quoted if "'" in name or self.flip() else f"'{name}'"

    def flip(self) -> bool:
        return self.draw(st.booleans())

    def put(self, text: str) -> None:
        self.lines[-1] += text

    def newline(self) -> None:
        self.lines.append("")

    def inline(self, value: object) -> None:
        if isinstance(value, list):
            self.put("[")
            for item in value:
                if self.flip():
                    self.put(" # ] }")
                    self.newline()
                self.inline(item)
                self.put(" , ")
            self.put("]")
        elif isinstance(value, dict):
            self.put("{")
            for index, (name, item) in enumerate(value.items()):
                self.put(", " if index else "")
                self.put(f"{self.key(name)} = ")
                self.inline(item)
            self.put("}")
        else:
            self.put(str(len(self.lines)))

    def table(self, path: str, table: dict[str, object]) -> None:
        below = []
        for name, value in table.items():
            is_tables = isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
            if (isinstance(value, dict) or is_tables) and self.flip():
                below.append((name, value))
                continue
            self.put(f"{self.key(name)} = ")
            self.inline(value)
            self.newline()
        for name, value in below:
            full = f"{path}.{self.key(name)}" if path else self.key(name)
            for item, header in (
                [(value, f"[{full}]")] if isinstance(value, dict) else [(i, f"[[{full}]]") for i in value]
            ):
                self.put(header)
                self.newline()
                self.table(full, item)


def scalars(value: object, loc: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], object]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from scalars(item, (*loc, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from scalars(item, (*loc, index))
    else:
        yield loc, value


@st.composite
def documents(draw: st.DrawFn) -> str:
    writer = Writer(draw)
    writer.table("", draw(st.dictionaries(keys, values, max_size=4)))
    return "\n".join(writer.lines)


@given(documents())
def test_every_value_of_any_document_has_its_line(text: str) -> None:
    toml = parse_toml(text.encode(), "x.toml")
    for loc, value in scalars(toml.values):
        assert toml.origin.lines[loc] == value


@given(st.text() | st.text(alphabet="a.=[]{}\"'\\#\n\r\t ,1-:T_x"))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        toml = parse_toml(text.encode("utf-8", "surrogatepass"), "x.toml")
    except InputError as error:
        assert error.problems
    else:
        assert {loc for loc, _ in scalars(toml.values)} <= toml.origin.lines.keys()


@given(st.text() | st.text(alphabet="a.=[]{}\"'\\#\n\r\t ,1-:T_x"))
def test_a_key_is_never_taken_for_shorter_than_it_is(text: str) -> None:
    assert longest_key(f"{text}\n{'a.' * 9}a = 1") >= (10 if not set(text) & set("\"'") else 1)


@given(st.binary(max_size=64))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        parse_toml(data, "x.toml")
    except InputError as error:
        assert error.problems

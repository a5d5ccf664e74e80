"""Session files: a conversation as JSON Lines, to be run through the loop. docs/session.md describes the format."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, field_validator

from ..errors import InputError, Problem, SessionError
from ..jsontext import Json, JsonError, loads
from ..payloads import outcome_problem
from ..validation import FieldError, Origin, Strict, closest, validate
from .conversation import ToolCall
from .outcomes import Outcome

MAX_BYTES = 64 * 1024 * 1024
MAX_PROBLEMS = 20

_Name = Annotated[str, Field(min_length=1, max_length=256)]


class Section(Strict):
    """A piece of the system prompt."""

    id: _Name
    text: str


class Header(Strict):
    """The first line."""

    t: Literal["session"]
    v: Literal[1] = Field(examples=["1"])
    id: _Name | None = None
    agent: _Name | None = None
    model: _Name | None = None
    system: Annotated[tuple[Section, ...], Field(strict=False)] = ()
    options: dict[str, Any] = Field(default_factory=dict)

    @field_validator("system", mode="before")
    @classmethod
    def _text_is_one_section(cls, value: Json) -> Json:
        if isinstance(value, str):
            return [{"id": "system", "text": value}]
        if not isinstance(value, list):
            raise FieldError("must be a text or an array of sections", 'for example [{"id": "intro", "text": "…"}]')
        ids = [section.get("id") for section in value if isinstance(section, dict)]
        if twice := [one for index, one in enumerate(ids) if isinstance(one, str) and one in ids[:index]]:
            raise FieldError(f"there are two sections {twice[0]!r}")
        return value


class User(Strict):
    """A message of the user, which begins a turn."""

    t: Literal["user"]
    text: str


class Call(Strict):
    """A call within an answer."""

    id: _Name
    tool: _Name
    input: Any


class Assistant(Strict):
    """What the scripted provider answers to the turn's next request."""

    t: Literal["assistant"]
    text: str | None = None
    calls: Annotated[tuple[Call, ...], Field(strict=False)] = ()


class Tool(Strict):
    """What came of a call when it was recorded."""

    t: Literal["tool"]
    call: _Name
    outcome: dict[str, Any]

    @field_validator("outcome")
    @classmethod
    def _is_an_outcome(cls, value: Json) -> Json:
        if (problem := outcome_problem(value)) is not None:
            raise FieldError(" ".join(part for part in problem if part))
        return value


class Memory(Strict):
    """An entry of memory that is there before the first turn."""

    t: Literal["memory"]
    id: _Name | None = None
    text: Annotated[str, Field(min_length=1)]
    meta: dict[str, Any] = Field(default_factory=dict)


class File(Strict):
    """A file of the workspace that is there before the first turn."""

    t: Literal["file"]
    path: Annotated[str, Field(min_length=1, max_length=4096)]
    text: str


_Line = TypeVar("_Line", bound=Strict)
Line = Header | User | Assistant | Tool | Memory | File
_LINES: Mapping[str, type[Line]] = {
    "session": Header,
    "user": User,
    "assistant": Assistant,
    "tool": Tool,
    "memory": Memory,
    "file": File,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the model, as it stands in the script."""

    text: str
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """What the user says, and what the model answers to each request, in order."""

    text: str
    answers: tuple[Answer, ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """What a session file holds. `recorded` are outcomes by the id of their call."""

    id: str | None
    agent: str | None
    model: str | None
    sections: tuple[dict[str, Json], ...]
    options: dict[str, Json]
    turns: tuple[ScriptedTurn, ...]
    recorded: Mapping[str, Outcome]
    memories: tuple[Memory, ...]
    files: tuple[File, ...]


def read_session(path: Path) -> Session:
    """Read a session file. Raises `SessionError` with everything that is wrong with it."""
    return parse_session(read_bounded(path), path)


def read_bounded(path: Path) -> bytes:
    """The bytes of a regular file of at most `MAX_BYTES`. Raises `SessionError`."""
    try:
        # O_NONBLOCK: a fifo must not stop us.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SessionError(Problem("is not a file", file=path))
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise SessionError(Problem(f"cannot be read: {what.lower()}", file=path)) from None
    if len(data) > MAX_BYTES:
        raise SessionError(Problem(f"is larger than {MAX_BYTES // 2**20} MiB", file=path, fix="split the session"))
    return data


def parse_session(data: bytes, file: str | Path | None = None) -> Session:
    """Read the text of a session file; `file` is its name in messages.

    Raises `SessionError` with everything that is wrong, up to `MAX_PROBLEMS`.
    """
    reader = _Reader(file)
    reader.read(data)
    return reader.session()


class _Reader:
    def __init__(self, file: str | Path | None) -> None:
        self._file = file
        self._problems: list[Problem] = []
        self._lines: list[tuple[int, Line]] = []
        self._all_read = True

    def read(self, data: bytes) -> None:
        """Read every line and hold all of them against each other."""
        first = True
        for number, text in enumerate(data.split(b"\n"), 1):
            if not text.strip():
                continue
            if (line := self._line(number, text, first)) is not None:
                self._lines.append((number, line))
            else:
                self._all_read = False
            first = False
        if first:
            self._wrong("is empty", 1, fix=_HEADER_FIX)
        self._check_calls()
        self._check_repeats()
        if self._all_read:
            self._check_outcomes()
            self._check_answers()
        if self._problems:
            raise SessionError(sorted(self._problems, key=lambda problem: problem.line or 0))

    def session(self) -> Session:
        _, header = next(self._all(Header))
        return Session(
            id=header.id,
            agent=header.agent,
            model=header.model,
            sections=tuple({"id": section.id, "text": section.text} for section in header.system),
            options=header.options,
            turns=self._turns(),
            recorded={line.call: line.outcome for _, line in self._all(Tool)},
            memories=tuple(line for _, line in self._all(Memory)),
            files=tuple(line for _, line in self._all(File)),
        )

    def _turns(self) -> tuple[ScriptedTurn, ...]:
        turns: list[tuple[str, list[Answer]]] = []
        for _, line in self._lines:
            if isinstance(line, User):
                turns.append((line.text, []))
            elif isinstance(line, Assistant):
                calls = tuple(ToolCall(call.id, call.tool, call.input) for call in line.calls)
                turns[-1][1].append(Answer(line.text or "", calls))
        return tuple(ScriptedTurn(text, tuple(answers)) for text, answers in turns)

    def _line(self, number: int, text: bytes, first: bool) -> Line | None:
        try:
            value = loads(text)
        except JsonError as error:
            where = f" (column {error.column})" if error.column is not None else ""
            self._wrong(f"{error.what}{where}", number, key=error.pointer)
            return None
        if not isinstance(value, dict):
            self._wrong("a line must be a JSON object", number)
            return None
        tag = value.get("t")
        model = _LINES.get(tag) if isinstance(tag, str) else None
        if first and model is not Header:
            self._wrong("the first line must be the session's header", number, fix=_HEADER_FIX)
        if model is None:
            meant = closest(tag, _LINES) if isinstance(tag, str) else None
            fix = f"did you mean {meant}?" if meant else None
            what = "is missing" if "t" not in value else "is not a kind of line"
            self._wrong(f"{what}; the kinds are {', '.join(_LINES)}", number, key="t", fix=fix)
            return None
        if model is Header and not first:
            self._wrong("there is a second header", number, fix="a file holds one session")
            return None
        try:
            return validate(model, value, Origin(self._file))
        except InputError as error:
            for problem in error.problems:
                self._wrong(problem.what, number, key=problem.key, fix=problem.fix)
            return None

    def _check_calls(self) -> None:
        calls: dict[str, int] = {}
        for number, line in self._all(Assistant):
            for index, call in enumerate(line.calls):
                if call.id in calls:
                    self._wrong(
                        f"the call {call.id!r} stands in line {calls[call.id]} already",
                        number,
                        key=f"calls[{index}].id",
                        fix="give each call an id of its own",
                    )
                calls.setdefault(call.id, number)

    def _check_outcomes(self) -> None:
        calls = {call.id for _, line in self._all(Assistant) for call in line.calls}
        recorded: set[str] = set()
        for number, line in self._all(Tool):
            if line.call not in calls:
                self._wrong(f"no answer makes a call {line.call!r}", number, key="call")
            elif line.call in recorded:
                self._wrong(f"there are two outcomes for the call {line.call!r}", number, key="call")
            recorded.add(line.call)

    def _check_answers(self) -> None:
        asked, last = False, 0
        for number, line in self._lines:
            if isinstance(line, User):
                asked, last = True, 0
            elif isinstance(line, Assistant):
                if line.text is None and not line.calls:
                    self._wrong("neither says anything nor calls a tool", number, fix='add "text" or "calls"')
                if not asked:
                    self._wrong("stands before the first message of the user", number, fix="begin with a user line")
                elif last:
                    self._wrong(
                        f"is never asked for: the answer in line {last} calls no tool, which ends the turn",
                        number,
                        fix="put a user line between them, or make them one answer",
                    )
                last = 0 if line.calls else number

    def _check_repeats(self) -> None:
        seen: dict[tuple[str, str], int] = {}
        for number, line in self._lines:
            if isinstance(line, File):
                key, value = "path", line.path
            elif isinstance(line, Memory) and line.id is not None:
                key, value = "id", line.id
            else:
                continue
            if (key, value) in seen:
                self._wrong(f"{value!r} stands in line {seen[key, value]} already", number, key=key)
            seen.setdefault((key, value), number)

    def _all(self, kind: type[_Line]) -> Iterator[tuple[int, _Line]]:
        return ((number, line) for number, line in self._lines if isinstance(line, kind))

    def _wrong(self, what: str, line: int, *, key: str | None = None, fix: str | None = None) -> None:
        self._problems.append(Problem(what, file=self._file, line=line, key=key, fix=fix))
        if len(self._problems) >= MAX_PROBLEMS:
            raise SessionError(sorted(self._problems, key=lambda problem: problem.line or 0))


_HEADER_FIX = 'begin with {"t": "session", "v": 1}'

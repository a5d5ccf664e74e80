"""OpenAI-style chat conversations, turned into session files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from ..errors import Problem, SessionError
from ..jsontext import Json, JsonError, loads
from . import outcomes
from .arguments import parse_arguments
from .provider.reserved import RESERVED

Lines = list[dict[str, Json]]


@dataclass(frozen=True, slots=True)
class Imported:
    """The lines of a session file, and what of the conversation is not in them as it was."""

    lines: Lines
    notes: tuple[Problem, ...]


def import_chat(
    data: bytes, file: str | Path | None = None, *, names: Mapping[str, str] | None = None, live: bool = False
) -> Imported:
    """Turn a conversation into the lines of a session file.

    It may be a request (`{"model", "messages": […], …}`), an array of messages, or JSON Lines of messages. `names`
    gives tools other names. Outcomes are recorded, so that no tool runs when the session does; with `live` they are
    left out. Raises `SessionError` for what is no such conversation.
    """
    chat = _read(data, file)
    messages = chat.get("messages")
    if not isinstance(messages, list):
        raise SessionError(Problem("has no array of messages", file=file, key="messages"))
    importer = _Importer(file, names or {}, live)
    for index, message in enumerate(messages):
        importer.take(index, message)
    return importer.finish(chat)


def _read(data: bytes, file: str | Path | None) -> dict[str, Json]:
    try:
        value = loads(data)
    except JsonError as whole:
        rows = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
        if len(rows) < 2:
            raise SessionError(Problem(whole.what, file=file, line=whole.line, key=whole.pointer)) from None
        messages = []
        for number, line in rows:
            try:
                messages.append(loads(line))
            except JsonError as error:
                what = error.what if messages else whole.what
                line_number = number if messages else whole.line
                raise SessionError(Problem(what, file=file, line=line_number, key=error.pointer)) from None
        return {"messages": messages}
    if isinstance(value, list):
        return {"messages": value}
    if isinstance(value, dict):
        return {"messages": [value]} if "role" in value and "messages" not in value else value
    raise SessionError(Problem("is neither a request nor messages", file=file, fix='give {"messages": […]}'))


@dataclass(slots=True)
class _Importer:
    file: str | Path | None
    names: Mapping[str, str]
    live: bool
    sections: list[dict[str, Json]] = field(default_factory=list)
    lines: Lines = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    # The ids under which calls stand in the session, by the ids that the conversation last used for them.
    ids: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    unanswered: dict[str, int] = field(default_factory=dict)
    at: str = ""

    def take(self, index: int, message: Json) -> None:
        self.at = f"messages[{index}]"
        if not isinstance(message, dict):
            self._refuse("must be an object")
        match message.get("role"):
            case "system" | "developer":
                self._system(message)
            case "user":
                self._user(message)
            case "assistant":
                self._assistant(index, message)
            case "tool":
                self._tool(message, message.get("tool_call_id"))
            case "function":
                self._tool(message, message.get("name"))
            case role:
                self.at += ".role"
                self._refuse(f"{role!r} is none of system, developer, user, assistant, tool")

    def finish(self, chat: Mapping[str, Json]) -> Imported:
        header: dict[str, Json] = {"t": "session", "v": 1}
        if isinstance(chat.get("model"), str) and chat["model"]:
            header["model"] = chat["model"]
        if self.sections:
            header["system"] = self.sections
        if options := {name: value for name, value in chat.items() if name not in RESERVED}:
            header["options"] = options
        for name in ("tools", "functions"):
            if chat.get(name):
                self.at = name
                self._note("which tools there were is not part of a session; those of the loop are offered")
        if not self.live:
            for call, index in self.unanswered.items():
                self.at = f"messages[{index}]"
                self._note(f"the call {call!r} has no answer; it stands as cancelled, so that it does not run")
                self.lines.append({"t": "tool", "call": call, "outcome": outcomes.cancelled()})
        return Imported([header, *self.lines], tuple(self.notes))

    def _system(self, message: Mapping[str, Json]) -> None:
        if self.lines:
            self._note("a system message in mid-conversation stands with the others, at the beginning")
        name = f"{message['role']}-{len(self.sections) + 1}" if self.sections else str(message["role"])
        self.sections.append({"id": name, "text": self._text(message)})
        self._note_extra(message, "role", "content")

    def _user(self, message: Mapping[str, Json]) -> None:
        self._note_extra(message, "role", "content")
        text = self._text(message)
        if self.lines and self.lines[-1]["t"] == "user":
            self._note("was joined to the user's message before it: one turn begins with one message")
            self.lines[-1]["text"] += f"\n\n{text}"
        else:
            self.lines.append({"t": "user", "text": text})

    def _assistant(self, index: int, message: Mapping[str, Json]) -> None:
        self._note_extra(message, "role", "content", "tool_calls", "function_call", "refusal")
        if not self.lines:
            self._note("an answer before the user's first message is left out")
            return
        text = self._text(message) or self._refusal(message)
        calls = self._calls(index, message)
        # Outcomes may stand between two answers.
        last = next(line for line in reversed(self.lines) if line["t"] != "tool")
        if last["t"] == "assistant" and "calls" not in last:
            self._note("was joined to the answer before it, which called no tool")
            last["text"] += f"\n\n{text}"
        else:
            last = {"t": "assistant", "text": text}
            self.lines.append(last)
        if calls:
            last["calls"] = calls

    def _refusal(self, message: Mapping[str, Json]) -> str:
        refusal = message.get("refusal")
        if not isinstance(refusal, str):
            return ""
        self._note("a refusal stands as the answer's text")
        return refusal

    def _calls(self, index: int, message: Mapping[str, Json]) -> list[Json]:
        entries = message.get("tool_calls") or []
        if not isinstance(entries, list):
            self._refuse("tool_calls must be an array")
        if isinstance(old := message.get("function_call"), dict):
            entries = [*entries, {"id": old.get("name"), "function": old}]
        calls: list[Json] = []
        for number, entry in enumerate(entries):
            self.at = f"messages[{index}].tool_calls[{number}]"
            body = (entry.get("function") or entry.get("custom")) if isinstance(entry, dict) else None
            if not isinstance(body, dict) or not isinstance(body.get("name"), str) or not body["name"]:
                self._refuse("must be a call of a function, with its name")
            name = body["name"]
            call = self._id(entry.get("id"))
            self.unanswered[call] = index
            calls.append({"id": call, "tool": self.names.get(name, name), "input": self._input(body)})
        self.at = f"messages[{index}]"
        return calls

    def _input(self, body: Mapping[str, Json]) -> Json:
        arguments = body.get("arguments", body.get("input", ""))
        if not isinstance(arguments, str):
            return arguments
        value = parse_arguments(arguments)
        if isinstance(value, str) and value == arguments:
            self._note("the arguments are not JSON; they stand as a string")
        return value

    def _tool(self, message: Mapping[str, Json], name: Json) -> None:
        call = self.ids.get(name) if isinstance(name, str) else None
        if call is None or call not in self.unanswered:
            self._note("answers no call that was made, and is left out")
            return
        del self.unanswered[call]
        self._note_extra(message, "role", "content", "tool_call_id", "name")
        if not self.live:
            self.lines.append({"t": "tool", "call": call, "outcome": outcomes.ok(self._text(message))})

    def _id(self, name: Json) -> str:
        """An id that no other call of the session has; the conversation may count anew in each answer."""
        wanted = name if isinstance(name, str) and 0 < len(name) <= 200 else "call"
        number, unique = 1, wanted
        while unique in self.used:
            number += 1
            unique = f"{wanted}-{number}"
        self.used.add(unique)
        if isinstance(name, str):
            self.ids[name] = unique
        return unique

    def _text(self, message: Mapping[str, Json]) -> str:
        content = message.get("content")
        if content is None:
            return ""
        if isinstance(content, str):
            return content
        if not isinstance(content, list):
            self._refuse("content must be a text or an array of parts")
        texts = []
        for part in content:
            text = part if isinstance(part, str) else part.get("text") if isinstance(part, dict) else None
            if isinstance(text, str):
                texts.append(text)
            else:
                kind = part.get("type") if isinstance(part, dict) else None
                self._note(f"a part that is no text ({kind}) is left out")
        return "\n".join(texts)

    def _note_extra(self, message: Mapping[str, Json], *known: str) -> None:
        if extra := [name for name, value in message.items() if name not in known and value not in (None, [], {})]:
            self._note(f"left out: {', '.join(extra)}")

    def _note(self, what: str) -> None:
        self.notes.append(Problem(what, file=self.file, key=self.at))

    def _refuse(self, what: str) -> NoReturn:
        raise SessionError(Problem(what, file=self.file, key=self.at))

"""`builtin.bash`: one shell command, in the workspace.

The shell is *not* confined to the workspace: what the user who runs this may reach, a command may reach, the network
included. Confining commands is the policy's and the gates' work. What is bounded here is time, output, the
environment, and what a command leaves behind: when it ends, in whatever way, its whole process group is killed. A
process that leaves the group on purpose (`setsid`) is not caught.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from functools import partial

from anyio import to_thread

from ...jsontext import Json
from ..outcomes import Outcome, error, ok, truncated
from .base import ToolContext
from .process import run_bounded
from .schema import object_schema, problem

MAX_TIMEOUT_MS = 600_000
MAX_COMMAND_BYTES = 128 * 1024 - 1
"""What Linux passes on as one argument (MAX_ARG_STRLEN, execve(2)), its ending NUL aside."""

_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


class Bash:
    """Runs a command.

    The outcome is `ok` whatever the exit status, which stands beside the value as `exit` (negative: the signal that
    ended it): a status of 1 is what many commands answer with. The value is standard output and standard error as one
    text, in the order written, read as UTF-8. More output than the limit ends the command: the outcome is
    `truncated`, and `omitted` counts the bytes that were read and not kept. No end within the time-out is an error.
    """

    name = "builtin.bash"
    schema = object_schema(
        "Run a shell command with bash in the workspace and return its output. Standard input is empty. Processes "
        "left in the background are ended with the command.",
        {"command": {"type": "string", "minLength": 1, "description": "The command."}},
        {
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_TIMEOUT_MS,
                "description": "Milliseconds until the command is ended.",
            }
        },
    )

    async def run(self, input: Json, context: ToolContext) -> Outcome:
        """Run. See the class."""
        if wrong := problem(self.schema, input) or _command_problem(input["command"]):
            return error(wrong)
        environment = _environment(context.limits.environment, os.environ)
        if (bash := shutil.which("bash", path=environment["PATH"])) is None:
            return error("there is no bash on this machine")
        timeout_ms = int(input.get("timeout", context.limits.timeout_ms))
        run = partial(
            run_bounded,
            [bash, "--noprofile", "--norc", "-c", input["command"]],
            folder=context.workspace.root,
            environment=environment,
            output_bytes=context.limits.output_bytes,
            seconds=timeout_ms / 1000,
        )
        try:
            ended = await to_thread.run_sync(run)
        except OSError as trouble:
            return error(f"bash could not be started: {(trouble.strerror or str(trouble)).lower()}")
        text = ended.output.decode("utf-8", "replace")
        if ended.omitted:
            return truncated(text, ended.omitted, exit=ended.exit)
        if ended.timed_out:
            return error(f"no end within {timeout_ms} ms; the command was ended. Its output so far:\n{text}")
        return ok(text, exit=ended.exit)


def _command_problem(command: str) -> str | None:
    if "\0" in command:
        return "a command cannot hold a NUL"
    try:
        size = len(command.encode("utf-8"))
    except UnicodeEncodeError:
        return "a command cannot hold a lone surrogate"
    if size > MAX_COMMAND_BYTES:
        return f"the command has {size} bytes, more than the {MAX_COMMAND_BYTES} that can be run; write a file first"
    return None


def _environment(names: Iterable[str], host: Mapping[str, str]) -> dict[str, str]:
    environment = {name: host[name] for name in names if name in host}
    environment.setdefault("PATH", _DEFAULT_PATH)
    return environment

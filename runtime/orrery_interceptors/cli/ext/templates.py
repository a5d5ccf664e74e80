"""What a new extension begins with, in each language and at each point."""

from __future__ import annotations

import re
from pathlib import Path

from ...points import SPECS, Point
from ...toolchain.languages import Language

_ROOT = Path(__file__).resolve().parents[4]
_NAME = re.compile("[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")


def name_problem(name: str) -> str | None:
    """What is wrong with an extension's name, or None."""
    if _NAME.fullmatch(name):
        return None
    return f"{name!r} is no name: 1 to 64 lower-case letters, digits and hyphens, no hyphen first or last"


def files_of(name: str, language: Language, point: Point) -> dict[str, str]:
    """The files of a new extension, by their paths in its folder."""
    files = {
        "orrery.toml": _manifest(name, point),
        "cases.toml": _CASES[point],
        "README.md": f"# {name}\n\n```sh\norrery ext build .\norrery ext test .\n```\n",
    }
    match language:
        case Language.RUST:
            files["Cargo.toml"] = _CARGO.format(name=name, sdk=_rust_sdk())
            files["src/lib.rs"] = _RUST.format(name=name, handler=_RUST_HANDLERS[point])
            files[".gitignore"] = "target/\n"
        case Language.TYPESCRIPT:
            files["package.json"] = _PACKAGE.format(name=name)
            files["tsconfig.json"] = _tsconfig()
            files["extension.ts"] = _TS.format(name=name, point=point, handler=_TS_HANDLERS[point])
            files[".gitignore"] = "node_modules/\n"
        case Language.PYTHON:
            files["extension.py"] = _PYTHON_HANDLERS[point].format(name=name)
    return files


def _manifest(name: str, point: Point) -> str:
    scope = f"{point}:builtin.bash" if SPECS[point].has_tool else str(point)
    return f"""[extension]
api = "orrery-ext/1"
name = "{name}"
version = "0.1.0"
runtime = "wasm"
component = "{name.replace("-", "_")}.wasm"

[requires]
intercept = ["{scope}"]

[settings]
word = "secret"
"""


def _rust_sdk() -> str:
    """The SDK as a dependency: in a checkout by its path, else by its version."""
    checkout = _ROOT / "guest-sdk" / "rust"
    return f'{{ path = "{checkout.as_posix()}" }}' if checkout.is_dir() else '"1"'


def _tsconfig() -> str:
    checkout = _ROOT / "guest-sdk" / "typescript" / "src" / "index.ts"
    paths = f',\n    "paths": {{ "@orrery/ext": ["{checkout.as_posix()}"] }}' if checkout.is_file() else ""
    return f"""{{
  "compilerOptions": {{
    "strict": true,
    "noEmit": true,
    "target": "es2022",
    "lib": ["es2022"],
    "types": [],
    "module": "esnext",
    "moduleResolution": "bundler",
    "allowImportingTsExtensions": true{paths}
  }},
  "include": ["*.ts"]
}}
"""


_CARGO = """[package]
name = "{name}"
version = "0.1.0"
edition = "2024"

[lib]
crate-type = ["cdylib"]

[dependencies]
orrery-ext-api = {sdk}

[profile.release]
opt-level = "s"

[workspace]
"""

_RUST = """use orrery_ext_api::prelude::*;

fn register(ctx: &mut ExtCtx) -> Result<(), Error> {{
    let word = ctx.settings().str("/word").unwrap_or_default().into_owned();
    {handler}
}}

orrery_ext_api::export!(register);
"""

_RUST_HANDLERS = {
    Point.TOOL_BEFORE: """ctx.gate("main", Filter::tools(["builtin.bash"]), move |_at, call: &ToolBefore| {
        let found = call.input.any_string(|text| text.contains(&word));
        Ok(if found { Gate::deny(format!("`{word}` is not to be named")) } else { Gate::Proceed })
    })""",
    Point.TOOL_AFTER: """ctx.gate("main", Filter::tools(["builtin.bash"]), move |_at, call: &ToolAfter| {
        let found = call.raw_outcome.any_string(|text| text.contains(&word));
        Ok(if found { Gate::deny(format!("`{word}` is not to be told")) } else { Gate::Proceed })
    })""",
    Point.CONTEXT_BUILD: """ctx.rewrite("main", Filter::all(), move |_at, context: &ContextBuild| {
        let found = context.sections.iter().filter(|section| section.text.contains(&word));
        let edits: Vec<Edit> = found.map(|section| Edit::DropSection { id: section.id.clone() }).collect();
        Ok(if edits.is_empty() { ContextBuildVerdict::Proceed } else { ContextBuildVerdict::Edits(edits) })
    })""",
    Point.MEMORY_RECALL: """ctx.rewrite("main", Filter::all(), move |_at, recalled: &MemoryRecall| {
        let kept = recalled.entries.iter().filter(|entry| !entry.text.contains(&word));
        Ok(MemoryRecallVerdict::Keep(kept.map(|entry| entry.id.clone()).collect()))
    })""",
    Point.PROVIDER_BEFORE: """ctx.gate("main", Filter::all(), move |_at, request: &ProviderBefore| {
        Ok(if request.model.contains(&word) { Gate::deny("not this model") } else { Gate::Proceed })
    })""",
}

_PACKAGE = """{{
  "name": "{name}",
  "version": "0.1.0",
  "private": true,
  "type": "module",
  "dependencies": {{ "@orrery/ext": "^1.0.0" }}
}}
"""

_TS = """import {{ defineExtension }} from "@orrery/ext";

export default defineExtension({{
  interceptors: {{
    "{point}": {{
      name: "main",
{handler}
    }},
  }},
}});
"""

_TS_HANDLERS = {
    Point.TOOL_BEFORE: """      mode: "gate",
      tools: ["builtin.bash"],
      run: ({ input }, { settings }) =>
        JSON.stringify(input).includes(settings.word) ? { deny: `${settings.word} is not to be named` } : null,""",
    Point.TOOL_AFTER: """      mode: "gate",
      tools: ["builtin.bash"],
      run: ({ outcome }, { settings }) =>
        JSON.stringify(outcome).includes(settings.word) ? { deny: `${settings.word} is not to be told` } : null,""",
    Point.CONTEXT_BUILD: """      mode: "rewrite",
      run: ({ sections }, { settings }) => {
        const found = sections.filter((section) => section.text.includes(settings.word));
        return found.length ? { edits: found.map(({ id }) => ({ t: "drop-section" as const, id })) } : null;
      },""",
    Point.MEMORY_RECALL: """      mode: "rewrite",
      run: ({ entries }, { settings }) => ({
        rewrite: { entries: entries.filter((entry) => !entry.text.includes(settings.word)) },
      }),""",
    Point.PROVIDER_BEFORE: """      mode: "gate",
      run: ({ model }, { settings }) => (model.includes(settings.word) ? { deny: "not this model" } : null),""",
}

_PYTHON_HANDLERS = {
    Point.TOOL_BEFORE: '''"""{name}."""

from __future__ import annotations

import json

from orrery_ext import Call, Deny, Extension, ToolBefore

extension = Extension()


@extension.gate("main", tools=["builtin.bash"])
def main(asked: ToolBefore, call: Call) -> Deny | None:
    word = call.settings["word"]
    return Deny(f"`{{word}}` is not to be named") if word in json.dumps(asked.input) else None
''',
    Point.TOOL_AFTER: '''"""{name}."""

from __future__ import annotations

import json

from orrery_ext import Call, Deny, Extension, ToolAfter

extension = Extension()


@extension.gate("main", tools=["builtin.bash"])
def main(asked: ToolAfter, call: Call) -> Deny | None:
    word = call.settings["word"]
    return Deny(f"`{{word}}` is not to be told") if word in json.dumps(asked.outcome) else None
''',
    Point.CONTEXT_BUILD: '''"""{name}."""

from __future__ import annotations

from orrery_ext import Call, ContextBuild, Edits, Extension

extension = Extension()


@extension.rewrite("main")
def main(context: ContextBuild, call: Call) -> Edits | None:
    found = [section for section in context.sections if call.settings["word"] in section["text"]]
    return Edits([{{"t": "drop-section", "id": section["id"]}} for section in found]) if found else None
''',
    Point.MEMORY_RECALL: '''"""{name}."""

from __future__ import annotations

from orrery_ext import Call, Extension, Keep, MemoryRecall

extension = Extension()


@extension.rewrite("main")
def main(recalled: MemoryRecall, call: Call) -> Keep:
    return Keep([entry["id"] for entry in recalled.entries if call.settings["word"] not in entry["text"]])
''',
    Point.PROVIDER_BEFORE: '''"""{name}."""

from __future__ import annotations

from orrery_ext import Call, Deny, Extension, ProviderBefore

extension = Extension()


@extension.gate("main")
def main(request: ProviderBefore, call: Call) -> Deny | None:
    return Deny("not this model") if call.settings["word"] in request.model else None
''',
}


def _case(name: str, point: Point, payload: str, more: str) -> str:
    return f"[[case]]\nname = \"{name}\"\npoint = \"{point}\"\npayload_json = '''{payload}'''\n{more}\n"


def _cases(point: Point, found: str, clean: str, outcome: str) -> str:
    return "version = 1\n\n" + "\n".join(
        [_case("the word is there", point, found, outcome), _case("it is not", point, clean, 'decision = "proceed"')]
    )


_CASES = {
    Point.TOOL_BEFORE: _cases(
        Point.TOOL_BEFORE,
        '{"tool": "builtin.bash", "input": {"command": "cat secret.txt"}}',
        '{"tool": "builtin.bash", "input": {"command": "ls"}}',
        'decision = "deny"\nkind = "gate"',
    ),
    Point.TOOL_AFTER: _cases(
        Point.TOOL_AFTER,
        '{"tool": "builtin.bash", "input": {}, "outcome": {"t": "ok", "value": "the secret"}}',
        '{"tool": "builtin.bash", "input": {}, "outcome": {"t": "ok", "value": "nothing"}}',
        'decision = "deny"\nkind = "gate"',
    ),
    Point.CONTEXT_BUILD: _cases(
        Point.CONTEXT_BUILD,
        '{"sections": [{"id": "a", "text": "a secret"}], "recalled": [], "messages": []}',
        '{"sections": [{"id": "a", "text": "nothing"}], "recalled": [], "messages": []}',
        'decision = "proceed"\nchanged = true',
    ),
    Point.MEMORY_RECALL: _cases(
        Point.MEMORY_RECALL,
        '{"query": "q", "entries": [{"id": 1, "text": "a secret"}, {"id": 2, "text": "tea"}]}',
        '{"query": "q", "entries": [{"id": 2, "text": "tea"}]}',
        'decision = "proceed"\nchanged = true',
    ),
    Point.PROVIDER_BEFORE: _cases(
        Point.PROVIDER_BEFORE,
        '{"model": "secret-1", "options": {}}',
        '{"model": "small", "options": {}}',
        'decision = "deny"\nkind = "gate"',
    ),
}

//! Answers listed tool calls from settings, in the tool's place.

use orrery_ext_api::prelude::*;
use orrery_ext_api::serde_json::Value;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    answers: Vec<Canned>,
}

/// One answer. The call must be of the tool and, with a pointer, hold this very value there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Canned {
    tool: String,
    #[serde(default)]
    pointer: Option<String>,
    #[serde(default)]
    equals: Option<Value>,
    #[serde(default)]
    value: Option<Value>,
    #[serde(default)]
    error: Option<String>,
}

fn register(ctx: &mut ExtCtx) -> Result<(), Error> {
    let settings: Settings = ctx.settings_as()?;
    for (index, canned) in settings.answers.iter().enumerate() {
        check(canned).map_err(|why| Error::new(format!("settings: answers[{index}]: {why}")))?;
    }
    ctx.rewrite("canned-answers", Filter::all(), move |_at, call: &ToolBefore| {
        let found = settings.answers.iter().find(|canned| canned.fits(call));
        Ok(match found {
            Some(Canned { error: Some(message), .. }) => ToolBeforeVerdict::Handled(Outcome::error(message.clone())),
            Some(canned) => ToolBeforeVerdict::Handled(Outcome::ok(canned.value.clone().unwrap_or_default())),
            None => ToolBeforeVerdict::Proceed,
        })
    })
}

orrery_ext_api::export!(register);

fn check(canned: &Canned) -> Result<(), &'static str> {
    if canned.value.is_some() == canned.error.is_some() {
        return Err("has either a value or an error");
    }
    if canned.pointer.is_some() != canned.equals.is_some() {
        return Err("has pointer and equals together, or neither");
    }
    if canned.pointer.as_ref().is_some_and(|pointer| !pointer.is_empty() && !pointer.starts_with('/')) {
        return Err("has a pointer that does not start with /");
    }
    Ok(())
}

impl Canned {
    fn fits(&self, call: &ToolBefore) -> bool {
        let there = || self.pointer.as_ref().is_none_or(|pointer| call.input.get(pointer) == self.equals);
        self.tool == call.tool && there()
    }
}

#[cfg(test)]
mod tests {
    use orrery_ext_api::serde_json::{Value, json};
    use orrery_ext_api::testing::{Asked, Harness};

    fn harness() -> Harness {
        let answers = json!([
            {"tool": "builtin.bash", "pointer": "/command", "equals": "whoami", "value": "agent"},
            {"tool": "mcp__clock__now", "error": "no clock here"},
        ]);
        Harness::new(super::register, json!({"answers": answers})).unwrap()
    }

    fn ask(tool: &str, input: Value) -> Asked {
        harness().ask("canned-answers", json!({"tool": tool, "input": input})).unwrap()
    }

    #[test]
    fn listed_calls_are_answered_and_no_others() {
        assert_eq!(ask("builtin.bash", json!({"command": "whoami"})), Asked::Handled(json!({"t": "ok", "value": "agent"})));
        assert_eq!(ask("mcp__clock__now", json!(null)), Asked::Handled(json!({"t": "error", "message": "no clock here"})));
        assert_eq!(ask("builtin.bash", json!({"command": "whoami "})), Asked::Proceed);
        assert_eq!(ask("builtin.bash", json!({})), Asked::Proceed);
        assert_eq!(ask("builtin.bas", json!({"command": "whoami"})), Asked::Proceed);
    }

    #[test]
    fn wrong_settings_are_said() {
        for answer in [
            json!({"tool": "t"}),
            json!({"tool": "t", "value": 1, "error": "e"}),
            json!({"tool": "t", "value": 1, "pointer": "/x"}),
            json!({"tool": "t", "value": 1, "pointer": "x", "equals": 1}),
            json!({"value": 1}),
        ] {
            assert!(Harness::new(super::register, json!({"answers": [answer]})).is_err());
        }
    }
}

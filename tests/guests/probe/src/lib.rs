//! A guest whose behaviour is steered by its settings; `README.md` lists the vocabulary.
//!
//! Written on the bare bindings, without the SDK, so that it can misbehave in every way that the contract allows.

mod actions;
mod asked;

use serde_json::{Value, json};

use actions::{Answer, act};
use asked::Asked;
use exports::orrery::interceptors::extension::{
    ContextBuildPayload, ContextBuildVerdict, Guest, Json, MemoryRecallPayload,
    MemoryRecallVerdict, ProviderBeforePayload, ProviderBeforeVerdict, Site, ToolAfterPayload,
    ToolAfterVerdict, ToolBeforePayload, ToolBeforeVerdict,
};
use orrery::interceptors::log::{self, Level};

wit_bindgen::generate!({ path: "../../../wit", world: "orrery-extension" });

struct Probe;

export!(Probe);

impl Guest for Probe {
    fn register(settings: Json) -> Result<Json, String> {
        let asked = Asked::register(&settings)?;
        if let Some(action) = asked.settings.get("registerDo") {
            match act(&asked, action)? {
                Answer::Proceed => {}
                Answer::Deny(text) | Answer::Rewrite(text) | Answer::Handled(text) => {
                    return Ok(text);
                }
            }
        }
        Ok(match asked.settings.get("register") {
            Some(Value::String(text)) => text.clone(),
            Some(registration) => registration.to_string(),
            None => everything().to_string(),
        })
    }

    fn tool_before(
        interceptor: String,
        settings: Json,
        at: Site,
        payload: ToolBeforePayload,
    ) -> Result<ToolBeforeVerdict, String> {
        let fields = [
            ("tool", json!(payload.tool)),
            ("input", parsed(&payload.input)?),
        ];
        Ok(
            match Asked::at("tool.before", &interceptor, &settings, &at, fields)?.answer()? {
                Answer::Proceed => ToolBeforeVerdict::Proceed,
                Answer::Deny(reason) => ToolBeforeVerdict::Deny(reason),
                Answer::Rewrite(text) => ToolBeforeVerdict::Rewrite(text),
                Answer::Handled(text) => ToolBeforeVerdict::Handled(text),
            },
        )
    }

    fn tool_after(
        interceptor: String,
        settings: Json,
        at: Site,
        payload: ToolAfterPayload,
    ) -> Result<ToolAfterVerdict, String> {
        let fields = [
            ("tool", json!(payload.tool)),
            ("input", parsed(&payload.input)?),
            ("outcome", parsed(&payload.outcome)?),
        ];
        match Asked::at("tool.after", &interceptor, &settings, &at, fields)?.answer()? {
            Answer::Proceed => Ok(ToolAfterVerdict::Proceed),
            Answer::Deny(reason) => Ok(ToolAfterVerdict::Deny(reason)),
            Answer::Rewrite(text) => Ok(ToolAfterVerdict::Rewrite(text)),
            Answer::Handled(text) => Err(text),
        }
    }

    fn context_build(
        interceptor: String,
        settings: Json,
        at: Site,
        payload: ContextBuildPayload,
    ) -> Result<ContextBuildVerdict, String> {
        let fields = [
            ("sections", parsed(&payload.sections)?),
            ("recalled", parsed(&payload.recalled)?),
            ("messages", parsed(&payload.messages)?),
            ("budgetTokens", json!(payload.budget_tokens)),
        ];
        match Asked::at("context.build", &interceptor, &settings, &at, fields)?.answer()? {
            Answer::Proceed => Ok(ContextBuildVerdict::Proceed),
            Answer::Rewrite(text) => Ok(ContextBuildVerdict::Rewrite(text)),
            Answer::Deny(text) | Answer::Handled(text) => Err(text),
        }
    }

    fn memory_recall(
        interceptor: String,
        settings: Json,
        at: Site,
        payload: MemoryRecallPayload,
    ) -> Result<MemoryRecallVerdict, String> {
        let fields = [
            ("query", json!(payload.query)),
            ("entries", parsed(&payload.entries)?),
        ];
        match Asked::at("memory.recall", &interceptor, &settings, &at, fields)?.answer()? {
            Answer::Proceed => Ok(MemoryRecallVerdict::Proceed),
            Answer::Deny(reason) => Ok(MemoryRecallVerdict::Deny(reason)),
            Answer::Rewrite(text) => Ok(MemoryRecallVerdict::Rewrite(text)),
            Answer::Handled(text) => Err(text),
        }
    }

    fn provider_before(
        interceptor: String,
        settings: Json,
        at: Site,
        payload: ProviderBeforePayload,
    ) -> Result<ProviderBeforeVerdict, String> {
        let fields = [
            ("model", json!(payload.model)),
            ("options", parsed(&payload.options)?),
        ];
        match Asked::at("provider.before", &interceptor, &settings, &at, fields)?.answer()? {
            Answer::Proceed => Ok(ProviderBeforeVerdict::Proceed),
            Answer::Deny(reason) => Ok(ProviderBeforeVerdict::Deny(reason)),
            Answer::Rewrite(text) => Ok(ProviderBeforeVerdict::Rewrite(text)),
            Answer::Handled(text) => Err(text),
        }
    }

    fn watch(watcher: String, settings: Json, event: Json) {
        let Ok(event) = parsed(&event) else { return };
        let decision = event["decision"]["decision"].as_str().unwrap_or("nothing");
        log::write(Level::Info, &format!("{watcher}: {decision}"));
        if let Ok(asked) = Asked::watch(&watcher, &settings, event) {
            // A watcher has no answer; what it does on the way is all that counts.
            let _ = asked.answer();
        }
    }
}

/// What is registered where the settings do not say: each point in each mode that it can have, and a watcher.
fn everything() -> Value {
    let points = [
        "tool.before",
        "tool.after",
        "context.build",
        "memory.recall",
        "provider.before",
    ];
    let mut interceptors = Vec::new();
    for point in points {
        for mode in ["gate", "rewrite"] {
            if (point, mode) != ("context.build", "gate") {
                let name = format!("{}-{mode}", point.replace('.', "-"));
                interceptors.push(json!({"name": name, "point": point, "mode": mode}));
            }
        }
    }
    json!({"interceptors": interceptors, "watchers": [{"name": "everything"}]})
}

fn parsed(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("cannot parse: {error}"))
}

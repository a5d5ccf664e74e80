//! Caps tokens, pins the temperature, and refuses models that are not listed.

use orrery_ext_api::prelude::*;
use orrery_ext_api::serde_json::Value;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    models: Vec<String>,
    max_tokens: u64,
    pin_temperature: bool,
    temperature: f64,
}

/// The options by which providers bound an answer.
const BOUNDS: &[&str] = &["max_tokens", "max_completion_tokens", "max_output_tokens"];

fn register(ctx: &mut ExtCtx) -> Result<(), Error> {
    let settings: Settings = ctx.settings_as()?;
    if settings.max_tokens == 0 {
        return Err(Error::new("settings: max_tokens: must be 1 or more"));
    }
    ctx.rewrite("model-limits", Filter::all(), move |_at, request: &ProviderBefore| {
        if !settings.models.iter().any(|pattern| matches(pattern, &request.model)) {
            let listed = settings.models.join(", ");
            return Ok(ProviderBeforeVerdict::deny(format!("the model {} is not among {listed}", request.model)));
        }
        let before = request.options.value();
        let after = limited(before.clone(), &settings);
        Ok(if after == before { ProviderBeforeVerdict::Proceed } else { ProviderBeforeVerdict::Rewrite(after) })
    })
}

orrery_ext_api::export!(register);

fn limited(mut options: Value, settings: &Settings) -> Value {
    let Value::Object(members) = &mut options else { return options };
    let mut bounded = false;
    for name in BOUNDS {
        if let Some(value) = members.get_mut(*name).filter(|value| !value.is_null()) {
            // What is no number bounds nothing.
            if value.as_f64().is_none_or(|asked| asked > settings.max_tokens as f64 || asked < 0.0) {
                *value = settings.max_tokens.into();
            }
            bounded = true;
        }
    }
    if !bounded {
        members.insert("max_tokens".to_string(), settings.max_tokens.into());
    }
    if settings.pin_temperature && members.get("temperature").and_then(Value::as_f64) != Some(settings.temperature) {
        members.insert("temperature".to_string(), settings.temperature.into());
    }
    options
}

/// Whether a pattern with `*` matches the whole name.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(found) = rest.find(part) else { return false };
        rest = &rest[found + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use orrery_ext_api::serde_json::{Value, json};
    use orrery_ext_api::testing::{Asked, Harness};

    fn ask(model: &str, options: Value) -> Asked {
        let settings = json!({"models": ["small-*", "exact"], "max_tokens": 1000, "pin_temperature": true, "temperature": 0.5});
        let harness = Harness::new(super::register, settings).unwrap();
        harness.ask("model-limits", json!({"model": model, "options": options})).unwrap()
    }

    #[test]
    fn models_that_are_not_listed_are_refused() {
        assert!(matches!(ask("large", json!({})), Asked::Deny(_)));
        assert!(matches!(ask("exactly", json!({})), Asked::Deny(_)));
        assert!(matches!(ask("Small-1", json!({})), Asked::Deny(_)));
    }

    #[test]
    fn options_are_capped_and_pinned() {
        assert_eq!(ask("exact", json!({"max_tokens": 1000, "temperature": 0.5})), Asked::Proceed);
        for (options, expected) in [
            (json!({"max_tokens": 5000, "temperature": 0.5}), json!({"max_tokens": 1000, "temperature": 0.5})),
            (json!({"max_output_tokens": 10}), json!({"max_output_tokens": 10, "temperature": 0.5})),
            (json!({"max_completion_tokens": "many"}), json!({"max_completion_tokens": 1000, "temperature": 0.5})),
            (json!({"max_tokens": null, "temperature": 2}), json!({"max_tokens": 1000, "temperature": 0.5})),
            (json!({"top_p": 1}), json!({"top_p": 1, "max_tokens": 1000, "temperature": 0.5})),
        ] {
            assert_eq!(ask("small-1", options), Asked::Rewrite(json!({"options": expected})));
        }
    }
}

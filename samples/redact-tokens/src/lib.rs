//! Redacts tokens and private keys in what tools return: in texts, names of members, lists, error messages.

use orrery_ext_api::prelude::*;
use orrery_ext_api::serde_json::{Map, Value};
use secret_scan::{Hit, Options, find, redact, replacement};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    url_passwords: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { url_passwords: true }
    }
}

fn register(ctx: &mut ExtCtx) -> Result<(), Error> {
    let settings: Settings = ctx.settings_as()?;
    let options = Options { url_passwords: settings.url_passwords };
    ctx.rewrite("redact-tokens", Filter::all(), move |_at, call: &ToolAfter| {
        let mut outcome = call.outcome()?;
        Ok(if clean_outcome(&mut outcome, options) { ToolAfterVerdict::Rewrite(outcome) } else { ToolAfterVerdict::Proceed })
    })
}

orrery_ext_api::export!(register);

fn clean_outcome(outcome: &mut Outcome, options: Options) -> bool {
    // A denial is the host's own words.
    outcome.kind() != "denied" && clean_members(outcome.members_mut(), options)
}

/// Redact a value in place; whether anything was.
fn clean(value: &mut Value, options: Options) -> bool {
    match value {
        Value::String(text) => clean_text(text, options),
        Value::Array(items) => clean_items(items, options),
        Value::Object(members) => clean_members(members, options),
        _ => false,
    }
}

fn clean_text(text: &mut String, options: Options) -> bool {
    let found = redact(text, options);
    let changed = found.is_some();
    if let Some(found) = found {
        *text = found;
    }
    changed
}

fn clean_members(members: &mut Map<String, Value>, options: Options) -> bool {
    let mut changed = false;
    for value in members.values_mut() {
        changed |= clean(value, options);
    }
    let names: Vec<(String, String)> =
        members.keys().filter_map(|name| Some((name.clone(), redact(name, options)?))).collect();
    for (name, clean_name) in names {
        if let Some(value) = members.remove(&name) {
            // Two tokens of a kind must not become one member.
            let mut free = clean_name.clone();
            let mut count = 2;
            while members.contains_key(&free) {
                free = format!("{clean_name} {count}");
                count += 1;
            }
            members.insert(free, value);
            changed = true;
        }
    }
    changed
}

/// Redact a list. The lines of a text are often given as one, and a key goes over many of them.
fn clean_items(items: &mut [Value], options: Options) -> bool {
    let mut changed = false;
    if items.len() > 1 && items.iter().all(Value::is_string) {
        changed = clean_lines(items, options);
    }
    for item in items {
        changed |= clean(item, options);
    }
    changed
}

fn clean_lines(items: &mut [Value], options: Options) -> bool {
    let lines: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
    let hits = find(&lines.join("\n"), options);
    let mut cleaned: Vec<Option<String>> = vec![None; lines.len()];
    let mut start = 0;
    for (index, line) in lines.iter().enumerate() {
        let end = start + line.len();
        let across = |hit: &&Hit| hit.start <= end && hit.end >= start && (hit.start < start || hit.end > end);
        if let Some(hit) = hits.iter().find(across) {
            let head = &line[..hit.start.saturating_sub(start).min(line.len())];
            let tail = if hit.end < end { &line[hit.end - start..] } else { "" };
            cleaned[index] = Some(format!("{head}{}{tail}", replacement(hit.kind)));
        }
        start = end + 1;
    }
    let changed = cleaned.iter().any(Option::is_some);
    for (item, line) in items.iter_mut().zip(cleaned) {
        if let Some(line) = line {
            *item = line.into();
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use orrery_ext_api::serde_json::{Value, json};
    use orrery_ext_api::testing::{Asked, Harness};

    fn ask(outcome: Value) -> Asked {
        let harness = Harness::new(super::register, json!({})).unwrap();
        harness.ask("redact-tokens", json!({"tool": "builtin.bash", "input": {}, "outcome": outcome})).unwrap()
    }

    fn secret() -> String {
        "ghp".to_string() + "_" + &"A1b2C3d4".repeat(4)
    }

    #[test]
    fn values_names_lists_and_messages_are_cleaned() {
        let secret = secret();
        let clean = "[redacted:github-token]";
        for (outcome, expected) in [
            (json!({"t": "ok", "value": secret}), json!({"t": "ok", "value": clean})),
            (json!({"t": "error", "message": format!("no {secret}")}), json!({"t": "error", "message": format!("no {clean}")})),
            (
                json!({"t": "ok", "value": {"a": [1, {secret.clone(): 9007199254740993_u64}]}}),
                json!({"t": "ok", "value": {"a": [1, {clean: 9007199254740993_u64}]}}),
            ),
            (
                json!({"t": "truncated", "value": secret, "omitted": 10, "exit": 1}),
                json!({"t": "truncated", "value": clean, "omitted": 10, "exit": 1}),
            ),
        ] {
            assert_eq!(ask(outcome), Asked::Rewrite(json!({"outcome": expected})));
        }
        assert_eq!(ask(json!({"t": "ok", "value": {"a": "nothing"}})), Asked::Proceed);
        assert_eq!(ask(json!({"t": "cancelled"})), Asked::Proceed);
    }

    #[test]
    fn a_key_over_the_lines_of_a_list_is_cleaned() {
        let begin = format!("-----BEGIN {}-----", "PRIVATE KEY");
        let end = format!("-----END {}-----", "PRIVATE KEY");
        let gone = "[redacted:private-key]";
        assert_eq!(
            ask(json!({"t": "ok", "value": ["a", begin, "MIIB", end, "b"]})),
            Asked::Rewrite(json!({"outcome": {"t": "ok", "value": ["a", gone, gone, gone, "b"]}}))
        );
    }
}

//! Adds house rules to the context, and drops stale tool outputs beyond a budget.

use orrery_ext_api::prelude::*;
use orrery_ext_api::serde_json::Value;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    section: String,
    text: String,
    before: String,
    tool_output_bytes: usize,
    keep_last: usize,
}

fn register(ctx: &mut ExtCtx) -> Result<(), Error> {
    let settings: Settings = ctx.settings_as()?;
    if settings.section.is_empty() {
        return Err(Error::new("settings: section: must name the section, such as house-rules"));
    }
    ctx.rewrite("house-rules", Filter::all(), move |_at, context: &ContextBuild| {
        let mut edits: Vec<Edit> = section(&settings, &context.sections).into_iter().collect();
        edits.extend(stale(&settings, &context.messages));
        Ok(if edits.is_empty() { ContextBuildVerdict::Proceed } else { ContextBuildVerdict::Edits(edits) })
    })
}

orrery_ext_api::export!(register);

/// The edit that brings the rules into the context, or `None` when they are there or there are none.
fn section(settings: &Settings, sections: &[Section]) -> Option<Edit> {
    if settings.text.is_empty() {
        return None;
    }
    let (id, text) = (settings.section.clone(), settings.text.clone());
    match sections.iter().find(|section| section.id == id) {
        Some(section) if section.text == text => None,
        Some(_) => Some(Edit::ReplaceSection { id, text }),
        None => {
            let before = sections.iter().any(|section| section.id == settings.before).then(|| settings.before.clone());
            Some(Edit::AddSection { id, text, before })
        }
    }
}

/// Edits that replace tool outputs by a note, the oldest first, until the rest is within the budget.
fn stale(settings: &Settings, messages: &[Value]) -> Vec<Edit> {
    let outputs: Vec<(usize, usize)> = messages
        .iter()
        .enumerate()
        .filter(|(_, message)| message["role"] == "tool")
        .map(|(index, message)| (index, size(&message["content"])))
        .collect();
    let newest = outputs.len().saturating_sub(settings.keep_last);
    let mut spent: usize = outputs[newest..].iter().map(|(_, size)| size).sum();
    let mut edits: Vec<Edit> = Vec::new();
    for (index, size) in outputs[..newest].iter().rev() {
        spent += size;
        let note = format!("[output of {size} bytes dropped: older than the last {} bytes]", settings.tool_output_bytes);
        if spent > settings.tool_output_bytes && *size > note.len() {
            edits.push(Edit::ReplaceMessage { index: *index, content: note.into() });
        }
    }
    edits.reverse();
    edits
}

fn size(content: &Value) -> usize {
    match content {
        Value::String(text) => text.len(),
        Value::Null => 0,
        other => other.to_string().len(),
    }
}

#[cfg(test)]
mod tests {
    use orrery_ext_api::serde_json::{Value, json};
    use orrery_ext_api::testing::{Asked, Harness};

    fn edits(text: &str, bytes: usize, keep: usize, context: Value) -> Value {
        let settings =
            json!({"section": "house", "text": text, "before": "tools", "tool_output_bytes": bytes, "keep_last": keep});
        let harness = Harness::new(super::register, settings).unwrap();
        match harness.ask("house-rules", context).unwrap() {
            Asked::Rewrite(value) => value["edits"].clone(),
            Asked::Proceed => json!([]),
            other => panic!("{other:?}"),
        }
    }

    fn context(sections: Value, messages: Value) -> Value {
        json!({"sections": sections, "recalled": [], "messages": messages})
    }

    #[test]
    fn the_section_is_added_replaced_or_left() {
        let tools = json!([{"id": "tools", "text": "t"}]);
        assert_eq!(
            edits("be kind", 9, 0, context(tools.clone(), json!([]))),
            json!([{"t": "add-section", "id": "house", "text": "be kind", "before": "tools"}])
        );
        assert_eq!(
            edits("be kind", 9, 0, context(json!([]), json!([]))),
            json!([{"t": "add-section", "id": "house", "text": "be kind"}])
        );
        let house = json!([{"id": "house", "text": "be"}]);
        assert_eq!(
            edits("be kind", 9, 0, context(house.clone(), json!([]))),
            json!([{"t": "replace-section", "id": "house", "text": "be kind"}])
        );
        assert_eq!(edits("be", 9, 0, context(house, json!([]))), json!([]));
        assert_eq!(edits("", 9, 0, context(tools, json!([]))), json!([]));
    }

    #[test]
    fn old_outputs_go_first_and_the_last_stay() {
        let output = |size: usize| json!({"role": "tool", "tool_call_id": "c", "content": "x".repeat(size)});
        let messages = json!([output(500), {"role": "user", "content": "u".repeat(9000)}, output(500), output(500), output(2000)]);
        let dropped = |bytes, keep| -> Vec<u64> {
            edits("", bytes, keep, context(json!([]), messages.clone()))
                .as_array()
                .unwrap()
                .iter()
                .map(|edit| edit["index"].as_u64().unwrap())
                .collect()
        };
        assert_eq!(dropped(100_000, 0), [] as [u64; 0]);
        assert_eq!(dropped(3000, 1), [0]);
        assert_eq!(dropped(0, 1), [0, 2, 3]);
        assert_eq!(dropped(0, 0), [0, 2, 3, 4]);
    }
}

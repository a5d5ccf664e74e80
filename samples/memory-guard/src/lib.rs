//! Drops recalled memories by tag, age and secret content.

mod dates;

use orrery_ext_api::prelude::*;
use orrery_ext_api::serde_json::Value;
use secret_scan::{Options, contains};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    deny_tags: Vec<String>,
    max_age_days: i64,
    today: String,
    not_before: String,
    drop_secrets: bool,
}

fn register(ctx: &mut ExtCtx) -> Result<(), Error> {
    let settings: Settings = ctx.settings_as()?;
    for (name, text) in [("today", &settings.today), ("not_before", &settings.not_before)] {
        if !text.is_empty() && dates::day(text).is_none() {
            return Err(Error::new(format!("settings: {name}: `{text}` is no date such as 2026-05-03")));
        }
    }
    ctx.rewrite("memory-guard", Filter::all(), move |_at, recalled: &MemoryRecall| {
        let oldest = oldest(&settings, &recalled.entries);
        let kept: Vec<Value> = recalled
            .entries
            .iter()
            .filter(|entry| !is_dropped(entry, &settings, oldest))
            .map(|entry| entry.id.clone())
            .collect();
        if kept.len() == recalled.entries.len() {
            return Ok(MemoryRecallVerdict::Proceed);
        }
        log::info(&format!("{} of {} entries dropped", recalled.entries.len() - kept.len(), recalled.entries.len()));
        Ok(MemoryRecallVerdict::Keep(kept))
    })
}

orrery_ext_api::export!(register);

/// The first day that is young enough. There is no clock here: age counts from `today`, or from the newest entry.
fn oldest(settings: &Settings, entries: &[Entry]) -> Option<i64> {
    let not_before = dates::day(&settings.not_before);
    if settings.max_age_days <= 0 {
        return not_before;
    }
    let today = dates::day(&settings.today).or_else(|| entries.iter().filter_map(created).max());
    not_before.max(today.map(|today| today - settings.max_age_days))
}

fn created(entry: &Entry) -> Option<i64> {
    entry.meta.get("created").and_then(Value::as_str).and_then(dates::day)
}

fn is_dropped(entry: &Entry, settings: &Settings, oldest: Option<i64>) -> bool {
    let tagged = match entry.meta.get("tags") {
        Some(Value::Array(tags)) => tags.iter().filter_map(Value::as_str).any(|tag| denies(settings, tag)),
        Some(Value::String(tag)) => denies(settings, tag),
        _ => false,
    };
    let too_old = matches!((created(entry), oldest), (Some(created), Some(oldest)) if created < oldest);
    tagged || too_old || settings.drop_secrets && contains(&entry.text, Options { url_passwords: true })
}

fn denies(settings: &Settings, tag: &str) -> bool {
    settings.deny_tags.iter().any(|denied| denied.eq_ignore_ascii_case(tag))
}

#[cfg(test)]
mod tests {
    use orrery_ext_api::serde_json::{Value, json};
    use orrery_ext_api::testing::{Asked, Harness};

    fn settings(changes: Value) -> Value {
        let mut settings = json!({"deny_tags": ["private"], "max_age_days": 0, "today": "", "not_before": "", "drop_secrets": true});
        for (name, value) in changes.as_object().unwrap() {
            settings[name] = value.clone();
        }
        settings
    }

    fn kept(changes: Value, entries: Value) -> Option<Vec<Value>> {
        let harness = Harness::new(super::register, settings(changes)).unwrap();
        match harness.ask("memory-guard", json!({"query": "q", "entries": entries})).unwrap() {
            Asked::Proceed => None,
            Asked::Rewrite(value) => {
                Some(value["entries"].as_array().unwrap().iter().map(|entry| entry["id"].clone()).collect())
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn entries_go_by_tag_age_and_content() {
        let entry = |id: &str, text: &str, meta: Value| json!({"id": id, "text": text, "meta": meta});
        let secret = "sk".to_string() + "-ant-" + &"a1B2".repeat(8);
        let entries = json!([
            entry("a", "fine", json!({"created": "2026-05-01", "tags": ["work"]})),
            entry("b", "tagged", json!({"tags": ["Private"]})),
            entry("c", &secret, json!({})),
            entry("d", "old", json!({"created": "2026-03-01T10:00:00Z"})),
            {"id": 7, "text": "a number for an id"},
        ]);
        assert_eq!(kept(json!({}), entries.clone()), Some(vec![json!("a"), json!("d"), json!(7)]));
        assert_eq!(kept(json!({"max_age_days": 30}), entries.clone()), Some(vec![json!("a"), json!(7)]));
        assert_eq!(kept(json!({"not_before": "2026-06-01", "drop_secrets": false}), entries), Some(vec![json!("c"), json!(7)]));
        assert_eq!(kept(json!({}), json!([entry("a", "fine", json!({}))])), None);
    }

    #[test]
    fn wrong_settings_are_said() {
        assert!(Harness::new(super::register, settings(json!({"today": "tomorrow"}))).is_err());
        assert!(Harness::new(super::register, json!({})).is_err());
    }
}

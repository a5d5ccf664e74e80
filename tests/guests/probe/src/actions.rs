//! The vocabulary: what an action makes the probe do.

use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Number, Value, json};

use crate::asked::Asked;
use crate::orrery::interceptors::log::{self, Level};

/// The answers of all points together; the caller turns one that its point does not have into an error.
pub enum Answer {
    Proceed,
    Deny(String),
    Rewrite(String),
    Handled(String),
}

static COUNT: AtomicU32 = AtomicU32::new(0);
static REMEMBERED: Mutex<Option<String>> = Mutex::new(None);

/// Do what an action says.
pub fn act(asked: &Asked, action: &Value) -> Result<Answer, String> {
    let text = |key: &str| action[key].as_str().unwrap_or_default().to_string();
    let number = |key: &str| action[key].as_u64().unwrap_or_default();
    let then = || {
        action
            .get("then")
            .map_or(Ok(Answer::Proceed), |next| act(asked, next))
    };
    match action["t"].as_str().unwrap_or_default() {
        "proceed" => Ok(Answer::Proceed),
        "deny" => Ok(Answer::Deny(text("reason"))),
        "rewrite" => Ok(Answer::Rewrite(text("text"))),
        "handled" => Ok(Answer::Handled(text("text"))),
        "error" => Err(text("message")),

        "set" => set(asked, &text("pointer"), &action["value"]),
        "roundtrip" => Ok(roundtrip(asked)),

        "deny-if-contains" if asked.payload.to_string().contains(&text("text")) => {
            Ok(Answer::Deny(format!("contains {}", text("text"))))
        }
        "deny-if-contains" => Ok(Answer::Proceed),
        "length" => match asked.payload.pointer(&text("pointer")) {
            Some(Value::String(found)) => Ok(Answer::Deny(found.chars().count().to_string())),
            _ => Err(format!("there is no string at {}", text("pointer"))),
        },
        "echo-site" => Ok(Answer::Deny(asked.site.to_string())),
        "echo-settings" => Ok(Answer::Deny(asked.settings.to_string())),
        "echo-payload" => Ok(Answer::Deny(cut(asked.payload.to_string(), 900))),

        "count" => Ok(Answer::Deny(
            (COUNT.fetch_add(1, Ordering::Relaxed) + 1).to_string(),
        )),
        "remember" => {
            *REMEMBERED.lock().unwrap() = Some(text("text"));
            then()
        }
        "recall" => Ok(Answer::Deny(
            REMEMBERED
                .lock()
                .unwrap()
                .clone()
                .unwrap_or("nothing".to_string()),
        )),

        "trap" => core::arch::wasm32::unreachable(),
        "panic" => panic!("{}", text("message")),
        "spin" => loop {
            black_box(());
        },
        "spin-ms-ish" => {
            (0..number("iterations")).for_each(|step| _ = black_box(step));
            then()
        }
        "recurse" => Err(recurse(number("depth")).to_string()),
        "recurse-in-memory" => Err(recurse_in_memory(number("depth")).to_string()),
        "grow" => {
            grow(number("mib"));
            then()
        }
        "grow-forever" => loop {
            black_box(core::arch::wasm32::memory_grow(0, 1));
        },

        "big" => Ok(big(
            number("bytes") as usize,
            action["as"].as_str().unwrap_or("deny"),
        )?),
        "log" => {
            write_lines(
                number("lines"),
                number("bytes") as usize,
                &text("level"),
                &text("text"),
            );
            then()
        }

        unknown => Err(format!("the probe has no action {unknown:?}")),
    }
}

/// The whole payload with one member of the rewritable field set. The pointer starts at that field.
fn set(asked: &Asked, pointer: &str, value: &Value) -> Result<Answer, String> {
    let field = asked
        .rewritable()
        .ok_or_else(|| format!("nothing can be set at {}", asked.point))?;
    let mut payload = asked.payload.clone();
    let (parent, member) = pointer.rsplit_once('/').unwrap_or_default();
    match payload[field].pointer_mut(parent) {
        Some(whole) if pointer.is_empty() => *whole = value.clone(),
        Some(Value::Object(members)) => _ = members.insert(member.to_string(), value.clone()),
        Some(Value::Array(items)) => match member.parse::<usize>() {
            Ok(index) if index < items.len() => items[index] = value.clone(),
            _ => items.push(value.clone()),
        },
        _ => return Err(format!("there is no object at {parent:?}")),
    }
    Ok(Answer::Rewrite(payload.to_string()))
}

/// The payload after a trip through a language whose numbers are doubles.
fn roundtrip(asked: &Asked) -> Answer {
    let payload = with_doubles(&asked.payload);
    if asked.point != "context.build" {
        return Answer::Rewrite(payload.to_string());
    }
    let messages = payload["messages"].as_array().cloned().unwrap_or_default();
    let replace = |(index, message): (usize, &Value)| {
        message
            .get("content")
            .map(|content| json!({"t": "replace-message", "index": index, "content": content}))
    };
    let edits: Vec<Value> = messages.iter().enumerate().filter_map(replace).collect();
    Answer::Rewrite(json!({ "edits": edits }).to_string())
}

fn with_doubles(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(as_double(number)),
        Value::Array(items) => items.iter().map(with_doubles).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| (name.clone(), with_doubles(member)))
            .collect(),
        other => other.clone(),
    }
}

/// A number as JavaScript would write it: rounded to a double, and a whole one without a fraction.
fn as_double(number: &Number) -> Number {
    let double = number.as_f64().unwrap_or_default();
    if double.fract() != 0.0 || double.abs() >= 1e19 {
        Number::from_f64(double).unwrap_or_else(|| number.clone())
    } else if double < 0.0 {
        Number::from(double as i64)
    } else {
        Number::from(double as u64)
    }
}

fn big(bytes: usize, kind: &str) -> Result<Answer, String> {
    let text = "x".repeat(bytes);
    match kind {
        "deny" => Ok(Answer::Deny(text)),
        "rewrite" => Ok(Answer::Rewrite(text)),
        "handled" => Ok(Answer::Handled(text)),
        _ => Err(text),
    }
}

/// Write lines of `bytes` bytes, each beginning with its number, or with the given text.
fn write_lines(lines: u64, bytes: usize, level: &str, text: &str) {
    let level = match level {
        "debug" => Level::Debug,
        "warn" => Level::Warn,
        "error" => Level::Error,
        _ => Level::Info,
    };
    for line in 0..lines {
        let mut message = if text.is_empty() {
            format!("line {line} ")
        } else {
            text.to_string()
        };
        message.extend(std::iter::repeat_n(
            'x',
            bytes.saturating_sub(message.len()),
        ));
        log::write(level, &message);
    }
}

/// Allocate and touch so many MiB. Where there is no memory left, the allocator ends the guest with a trap.
fn grow(mib: u64) {
    let mut block = vec![0_u8; (mib as usize) << 20];
    block.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
    black_box(block);
}

/// Recurse on the machine's stack; a depth of 0 means for ever.
#[inline(never)]
fn recurse(depth: u64) -> u64 {
    let levels = u64::from(COUNT.fetch_add(1, Ordering::Relaxed)) + 1;
    let below = if levels == depth { 0 } else { recurse(depth) };
    // Something to do after the call keeps the compiler from making a loop of it.
    COUNT.fetch_sub(1, Ordering::Relaxed);
    below.max(levels)
}

/// Recurse with a frame in linear memory, which has its own, smaller stack there.
#[inline(never)]
fn recurse_in_memory(depth: u64) -> u64 {
    let frame = black_box([u64::from(COUNT.fetch_add(1, Ordering::Relaxed)) + 1; 16]);
    let below = if frame[0] == depth {
        0
    } else {
        recurse_in_memory(depth)
    };
    below.max(black_box(frame)[1])
}

fn cut(mut text: String, most: usize) -> String {
    text.truncate(text.floor_char_boundary(most));
    text
}

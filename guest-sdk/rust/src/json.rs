//! JSON as it came from the host, read only where and when it is asked for.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;
use std::ops::Deref;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;
use crate::scan;

/// A JSON value that is looked into where it is asked, and nowhere else.
///
/// Looking up by pointer (RFC 6901) reads along the text and builds nothing:
///
/// ```
/// # use orrery_ext_api::Json;
/// # use serde_json::json;
/// let input = Json::from(json!({"command": "ls -la", "options": {"timeout": 500}}));
/// assert_eq!(input.str("/command").as_deref(), Some("ls -la"));
/// assert_eq!(input.i64("/options/timeout"), Some(500));
/// assert_eq!(input.str("/options/timeout"), None); // there, but no string
/// ```
///
/// A pointer is empty (the whole value) or starts with `/`; another one is a mistake of the program, and panics.
#[derive(Clone, PartialEq, Eq)]
pub struct Json {
    text: String,
}

impl Json {
    pub(crate) fn new(text: String) -> Json {
        Json { text }
    }

    /// The JSON text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The string at a pointer; `None` when nothing is there, or something else.
    pub fn str(&self, pointer: &str) -> Option<Cow<'_, str>> {
        scan::string(scan::find(&self.text, pointer)?)
    }

    /// The strings of the array at a pointer; `None` when it is no array, or holds anything but strings.
    pub fn strings(&self, pointer: &str) -> Option<Vec<Cow<'_, str>>> {
        scan::items(scan::find(&self.text, pointer)?)?.into_iter().map(scan::string).collect()
    }

    /// The whole number at a pointer; `None` when nothing is there, something else, or a number beyond `i64`.
    pub fn i64(&self, pointer: &str) -> Option<i64> {
        scan::find(&self.text, pointer)?.parse().ok()
    }

    /// The number at a pointer, rounded to a double where it must be.
    pub fn f64(&self, pointer: &str) -> Option<f64> {
        let text = scan::find(&self.text, pointer)?;
        // What is no number here would still be one to Rust: `inf`, for one, is a word that no JSON text has.
        text.parse().ok()
    }

    /// The boolean at a pointer.
    pub fn bool(&self, pointer: &str) -> Option<bool> {
        scan::find(&self.text, pointer)?.parse().ok()
    }

    /// Whether anything is at a pointer, `null` included.
    pub fn has(&self, pointer: &str) -> bool {
        scan::find(&self.text, pointer).is_some()
    }

    /// The value at a pointer.
    pub fn get(&self, pointer: &str) -> Option<Value> {
        scan::find(&self.text, pointer).map(read_or_panic)
    }

    /// The whole value.
    pub fn value(&self) -> Value {
        read_or_panic(&self.text)
    }

    /// Whether a test holds for any string anywhere within, the names of members included.
    pub fn any_string(&self, mut test: impl FnMut(&str) -> bool) -> bool {
        scan::strings(&self.text).any(|text| test(&text))
    }

    /// The value as a type of your own. The error says which member does not fit.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        read(&self.text).map_err(|error| Error::new(without_place(&error)))
    }

    /// The whole value with another one at a pointer. Objects that are missing on the way are created.
    ///
    /// An error when the way leads through something that is neither an object nor an item of an array.
    pub fn with(&self, pointer: &str, value: impl Into<Value>) -> Result<Value, Error> {
        let mut whole = self.value();
        let mut place = &mut whole;
        for token in pointer.split('/').skip(1) {
            let token = token.replace("~1", "/").replace("~0", "~");
            place = match place {
                Value::Object(members) => members.entry(token).or_insert_with(|| Value::Object(Default::default())),
                Value::Array(items) => token
                    .parse::<usize>()
                    .ok()
                    .and_then(|index| items.get_mut(index))
                    .ok_or_else(|| Error::new(format!("{pointer}: the array has no item {token}")))?,
                _ => return Err(Error::new(format!("{pointer}: there is no object that could hold `{token}`"))),
            };
        }
        *place = value.into();
        Ok(whole)
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Json {
        Json::new(value.to_string())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// A value that is read when it is first used, and then once.
///
/// It stands for the `T` that it holds: `context.sections.iter()` reads the sections.
pub struct Lazy<T> {
    text: String,
    read: OnceCell<T>,
}

impl<T> Lazy<T> {
    pub(crate) fn new(text: String) -> Lazy<T> {
        Lazy { text, read: OnceCell::new() }
    }

    /// The JSON text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl<T: DeserializeOwned> Deref for Lazy<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.read.get_or_init(|| read_or_panic(&self.text))
    }
}

impl<T> From<Value> for Lazy<T> {
    fn from(value: Value) -> Lazy<T> {
        Lazy::new(value.to_string())
    }
}

impl<T> fmt::Debug for Lazy<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    // The host bounds the depth, at a level or two more than serde_json would.
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Read what the host has checked already. That it cannot be read must not look like an answer.
fn read_or_panic<T: DeserializeOwned>(text: &str) -> T {
    match read(text) {
        Ok(value) => value,
        Err(error) => panic!("what the host sent cannot be read: {error}"),
    }
}

/// serde_json's message without its line and column, which mean nothing where nobody sees the text.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) if error.line() > 0 => text[..end].to_string(),
        _ => text,
    }
}

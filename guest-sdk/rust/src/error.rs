//! What went wrong, in words.

use std::fmt;

/// What went wrong, in words for people.
///
/// An error that a handler returns reaches the host as a failure of the interceptor, with this text; the mode then
/// decides what happens to the call. An error that `register` returns is reported when the extension is loaded.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    /// An error with this text.
    pub fn new(text: impl Into<String>) -> Error {
        Error(text.into())
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<String> for Error {
    fn from(text: String) -> Error {
        Error(text)
    }
}

impl From<&str> for Error {
    fn from(text: &str) -> Error {
        Error(text.to_string())
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Error {
        Error(error.to_string())
    }
}

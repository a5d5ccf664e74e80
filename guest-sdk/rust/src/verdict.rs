//! What may be answered at each point.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::Error;

/// What a gate answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// No objection.
    Proceed,
    /// Refused. The text is shown to the model and to the user.
    Deny(String),
}

impl Gate {
    /// Refused, with this reason.
    pub fn deny(reason: impl Into<String>) -> Gate {
        Gate::Deny(reason.into())
    }
}

/// What came of a tool call: an object tagged by `t`, with whatever else the tool put beside it.
///
/// `ok` has a `value`, `error` a `message`, `denied` a `reason` and who did it, `truncated` a `value` and what was
/// omitted, `cancelled` nothing. Members that are not looked at go on as they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome(Map<String, Value>);

impl Outcome {
    /// The tool's result.
    pub fn ok(value: impl Into<Value>) -> Outcome {
        Outcome::tagged("ok", Some(("value", value.into())))
    }

    /// The tool failed, with this message.
    pub fn error(message: impl Into<String>) -> Outcome {
        Outcome::tagged("error", Some(("message", Value::String(message.into()))))
    }

    /// The call was given up.
    pub fn cancelled() -> Outcome {
        Outcome::tagged("cancelled", None)
    }

    fn tagged(tag: &str, member: Option<(&str, Value)>) -> Outcome {
        let mut members = Map::new();
        members.insert("t".to_string(), tag.into());
        members.extend(member.map(|(name, value)| (name.to_string(), value)));
        Outcome(members)
    }

    /// What kind it is: `ok`, `error`, `denied`, `truncated` or `cancelled`.
    pub fn kind(&self) -> &str {
        self.0.get("t").and_then(Value::as_str).unwrap_or_default()
    }

    /// The result, of `ok` and `truncated`.
    pub fn value(&self) -> Option<&Value> {
        self.0.get("value")
    }

    /// The message of `error`.
    pub fn message(&self) -> Option<&str> {
        self.0.get("message").and_then(Value::as_str)
    }

    /// All members.
    pub fn members(&self) -> &Map<String, Value> {
        &self.0
    }

    /// All members, to be changed.
    pub fn members_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.0
    }

    pub(crate) fn to_value(&self) -> Value {
        Value::Object(self.0.clone())
    }
}

impl TryFrom<Value> for Outcome {
    type Error = Error;

    fn try_from(value: Value) -> Result<Outcome, Error> {
        match value {
            Value::Object(members) => Ok(Outcome(members)),
            _ => Err(Error::new("an outcome is an object")),
        }
    }
}

macro_rules! denies {
    ($verdict:ident) => {
        impl $verdict {
            /// Refused, with this reason.
            pub fn deny(reason: impl Into<String>) -> $verdict {
                $verdict::Deny(reason.into())
            }
        }
    };
}

/// What may be answered at `tool.before`.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolBeforeVerdict {
    /// No objection, no change.
    Proceed,
    /// The call is not made.
    Deny(String),
    /// The call goes on with this input.
    Rewrite(Value),
    /// The tool is not run; this outcome stands in its place.
    Handled(Outcome),
}
denies!(ToolBeforeVerdict);

/// What may be answered at `tool.after`.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolAfterVerdict {
    /// No objection, no change.
    Proceed,
    /// The outcome is withheld.
    Deny(String),
    /// This outcome goes on in its place.
    Rewrite(Outcome),
}
denies!(ToolAfterVerdict);

/// What may be answered at `context.build`.
#[derive(Clone, Debug, PartialEq)]
pub enum ContextBuildVerdict {
    /// No change.
    Proceed,
    /// Edits that are applied, all or none, and recorded.
    Edits(Vec<Edit>),
}

/// One edit of the context.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "t", rename_all = "kebab-case")]
pub enum Edit {
    /// Add a section, before another one or at the end.
    AddSection {
        /// Its name, which must be new.
        id: String,
        /// Its text.
        text: String,
        /// The section before which it goes.
        #[serde(skip_serializing_if = "Option::is_none")]
        before: Option<String>,
    },
    /// Give a section another text.
    ReplaceSection {
        /// Its name.
        id: String,
        /// Its new text.
        text: String,
    },
    /// Leave a section out.
    DropSection {
        /// Its name.
        id: String,
    },
    /// Leave an entry out that memory returned.
    DropRecalled {
        /// Its id.
        id: Value,
    },
    /// Give a message another content.
    ReplaceMessage {
        /// Its place in the messages that were asked about, from 0.
        index: usize,
        /// Its new content.
        content: Value,
    },
    /// Leave a message out. A tool's answer goes only together with its call.
    DropMessage {
        /// Its place in the messages that were asked about, from 0.
        index: usize,
    },
}

/// What may be answered at `memory.recall`.
#[derive(Clone, Debug, PartialEq)]
pub enum MemoryRecallVerdict {
    /// No objection, no change.
    Proceed,
    /// Nothing is recalled.
    Deny(String),
    /// The entries with these ids stay, in this order.
    Keep(Vec<Value>),
}
denies!(MemoryRecallVerdict);

/// What may be answered at `provider.before`.
#[derive(Clone, Debug, PartialEq)]
pub enum ProviderBeforeVerdict {
    /// No objection, no change.
    Proceed,
    /// The request is not sent.
    Deny(String),
    /// The request goes out with these options.
    Rewrite(Value),
}
denies!(ProviderBeforeVerdict);

//! What may be answered at each point.

use serde::Serialize;
use serde_json::{Map, Value, json};

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

/// What came of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The tool's result.
    Ok(Value),
    /// The tool failed, with this message.
    Error(String),
    /// The call was refused. An extension cannot make this one: it denies.
    Denied {
        /// Why.
        reason: String,
        /// By whom.
        by: Value,
    },
    /// The result was too large, and cut; its members as they stand.
    Truncated(Map<String, Value>),
    /// The call was given up.
    Cancelled,
}

impl Outcome {
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Outcome::Ok(value) => json!({"t": "ok", "value": value}),
            Outcome::Error(message) => json!({"t": "error", "message": message}),
            Outcome::Denied { reason, by } => json!({"t": "denied", "reason": reason, "by": by}),
            Outcome::Truncated(members) => {
                let mut members = members.clone();
                members.insert("t".to_string(), "truncated".into());
                Value::Object(members)
            }
            Outcome::Cancelled => json!({"t": "cancelled"}),
        }
    }
}

impl TryFrom<Value> for Outcome {
    type Error = Error;

    fn try_from(value: Value) -> Result<Outcome, Error> {
        let Value::Object(mut members) = value else { return Err(Error::new("an outcome is an object")) };
        let mut take = |name: &str| members.remove(name).unwrap_or_default();
        let text = |value: Value| value.as_str().unwrap_or_default().to_string();
        match take("t").as_str().unwrap_or_default() {
            "ok" => Ok(Outcome::Ok(take("value"))),
            "error" => Ok(Outcome::Error(text(take("message")))),
            "denied" => Ok(Outcome::Denied { reason: text(take("reason")), by: take("by") }),
            "truncated" => Ok(Outcome::Truncated(members)),
            "cancelled" => Ok(Outcome::Cancelled),
            other => Err(Error::new(format!("an outcome of the kind `{other}` is not known here"))),
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

//! What is asked about at each point.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::json::{Json, Lazy};
use crate::verdict::{
    ContextBuildVerdict, MemoryRecallVerdict, Outcome, ProviderBeforeVerdict, ToolAfterVerdict, ToolBeforeVerdict,
};

/// One of the five points: its payload is the type itself.
pub trait Point: Sized {
    /// The point's name in the contract.
    const NAME: &'static str;
    /// What may be answered there.
    type Verdict: crate::dispatch::IntoAnswer;
    #[doc(hidden)]
    fn proceed() -> Self::Verdict;
    /// The payload as one JSON value.
    #[doc(hidden)]
    fn to_value(&self) -> Value;
    #[doc(hidden)]
    fn wrap(handler: Box<dyn crate::dispatch::Handle<Self>>) -> crate::dispatch::AnyHandler;
}

/// A point at which something can be refused, and which so has gates.
pub trait Denies: Point {
    #[doc(hidden)]
    fn deny(reason: String) -> Self::Verdict;
}

/// `tool.before`: a tool call that is about to be made.
#[derive(Clone, Debug)]
pub struct ToolBefore {
    /// The tool's name, such as `builtin.bash`.
    pub tool: String,
    /// The call's input, most often an object.
    pub input: Json,
}

/// `tool.after`: a tool call that was made, and what came of it.
#[derive(Clone, Debug)]
pub struct ToolAfter {
    /// The tool's name.
    pub tool: String,
    /// The input with which the tool ran.
    pub input: Json,
    /// What came of it, as it stands; [`ToolAfter::outcome`] reads it.
    pub raw_outcome: Json,
}

impl ToolAfter {
    /// What came of the call. An error when it is no object.
    pub fn outcome(&self) -> Result<Outcome, Error> {
        Outcome::try_from(self.raw_outcome.value())
    }
}

/// A section of the system prompt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Section {
    /// Its name.
    pub id: String,
    /// Its text.
    pub text: String,
}

/// An entry that memory returned.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Entry {
    /// Its id, the memory's own: a string or a number.
    pub id: Value,
    /// Its text.
    pub text: String,
    /// How well it fits, where memory says.
    #[serde(default)]
    pub score: Option<f64>,
    /// What else is known of it, such as `tags` or `created`.
    #[serde(default)]
    pub meta: Map<String, Value>,
}

/// `context.build`: the context before it is sent.
#[derive(Debug)]
pub struct ContextBuild {
    /// The sections of the system prompt, in order.
    pub sections: Lazy<Vec<Section>>,
    /// What memory returned for this turn.
    pub recalled: Lazy<Vec<Entry>>,
    /// The conversation: objects with `role` and `content`, and what else the provider has.
    pub messages: Lazy<Vec<Value>>,
    /// How many tokens the context may take, where the host knows.
    pub budget_tokens: Option<u64>,
}

/// `memory.recall`: what memory answered.
#[derive(Debug)]
pub struct MemoryRecall {
    /// What memory was asked.
    pub query: String,
    /// What it returned, best first.
    pub entries: Lazy<Vec<Entry>>,
}

/// `provider.before`: a request that is about to be sent. The conversation is not part of it.
#[derive(Clone, Debug)]
pub struct ProviderBefore {
    /// The model's name.
    pub model: String,
    /// The request's options, such as `max_tokens`.
    pub options: Json,
}

macro_rules! point {
    ($payload:ident, $name:literal, $verdict:ident, { $($field:literal: $value:expr),* }) => {
        impl Point for $payload {
            const NAME: &'static str = $name;
            type Verdict = $verdict;
            fn proceed() -> $verdict {
                $verdict::Proceed
            }
            fn to_value(&self) -> Value {
                let mut members = Map::new();
                $(if let Some(value) = $value(self) { members.insert($field.to_string(), value); })*
                Value::Object(members)
            }
            fn wrap(handler: Box<dyn crate::dispatch::Handle<Self>>) -> crate::dispatch::AnyHandler {
                crate::dispatch::AnyHandler::$payload(handler)
            }
        }
    };
    ($payload:ident, $name:literal, $verdict:ident, denies, $fields:tt) => {
        point!($payload, $name, $verdict, $fields);
        impl Denies for $payload {
            fn deny(reason: String) -> $verdict {
                $verdict::Deny(reason)
            }
        }
    };
}

fn text(value: &str) -> Option<Value> {
    Some(Value::String(value.to_string()))
}

fn read<T>(value: &Lazy<T>) -> Option<Value> {
    Some(Json::new(value.text().to_string()).value())
}

point!(ToolBefore, "tool.before", ToolBeforeVerdict, denies, {
    "tool": |payload: &ToolBefore| text(&payload.tool),
    "input": |payload: &ToolBefore| Some(payload.input.value())
});
point!(ToolAfter, "tool.after", ToolAfterVerdict, denies, {
    "tool": |payload: &ToolAfter| text(&payload.tool),
    "input": |payload: &ToolAfter| Some(payload.input.value()),
    "outcome": |payload: &ToolAfter| Some(payload.raw_outcome.value())
});
point!(ContextBuild, "context.build", ContextBuildVerdict, {
    "sections": |payload: &ContextBuild| read(&payload.sections),
    "recalled": |payload: &ContextBuild| read(&payload.recalled),
    "messages": |payload: &ContextBuild| read(&payload.messages),
    "budgetTokens": |payload: &ContextBuild| payload.budget_tokens.map(Value::from)
});
point!(MemoryRecall, "memory.recall", MemoryRecallVerdict, denies, {
    "query": |payload: &MemoryRecall| text(&payload.query),
    "entries": |payload: &MemoryRecall| read(&payload.entries)
});
point!(ProviderBefore, "provider.before", ProviderBeforeVerdict, denies, {
    "model": |payload: &ProviderBefore| text(&payload.model),
    "options": |payload: &ProviderBefore| Some(payload.options.value())
});

//! Rules: what the host applies with no call at all.

use serde_json::{Value, json};

/// A rule that the host applies with no call.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// Deny every call of these tools.
    Refuse {
        /// Tool names; `*` stands for any run of characters.
        tools: Vec<String>,
        /// Why, for the model and the user.
        reason: String,
    },
    /// Fill a field of the input where the call leaves it out.
    Default {
        /// The tool; `*` stands for any run of characters.
        tool: String,
        /// The field, as a JSON pointer (RFC 6901).
        pointer: String,
        /// Its value.
        value: Value,
    },
}

impl Rule {
    /// Deny every call of these tools.
    pub fn refuse<T: Into<String>>(tools: impl IntoIterator<Item = T>, reason: impl Into<String>) -> Rule {
        Rule::Refuse { tools: tools.into_iter().map(Into::into).collect(), reason: reason.into() }
    }

    /// Fill a field of the input where the call leaves it out.
    pub fn default(tool: impl Into<String>, pointer: impl Into<String>, value: impl Into<Value>) -> Rule {
        Rule::Default { tool: tool.into(), pointer: pointer.into(), value: value.into() }
    }

    pub(crate) fn to_value(&self) -> Value {
        match self {
            Rule::Refuse { tools, reason } => json!({"t": "refuse", "tools": tools, "reason": reason}),
            Rule::Default { tool, pointer, value } => {
                json!({"t": "default", "tool": tool, "pointer": pointer, "value": value})
            }
        }
    }
}

//! Interceptors by the point's name, on JSON values.
//!
//! ```
//! use std::sync::Arc;
//! use orrery_ext_api::intercept::{InterceptFilter, InterceptMode, InterceptorHandler, VerdictWire};
//! use orrery_ext_api::{Error, ExtCtx, Site, serde_json::Value};
//!
//! struct NoForcePush;
//!
//! impl InterceptorHandler for NoForcePush {
//!     async fn run(&self, _at: Site, payload: Value) -> VerdictWire {
//!         let command = payload["input"]["command"].as_str().unwrap_or_default();
//!         if command.contains("push --force") {
//!             return VerdictWire::deny("push a new branch instead");
//!         }
//!         VerdictWire::Proceed
//!     }
//! }
//!
//! fn register(ctx: &mut ExtCtx) -> Result<(), Error> {
//!     ctx.interceptor(
//!         "no-force-push",
//!         "tool.before",
//!         InterceptMode::Gate,
//!         InterceptFilter { tools: vec!["builtin.bash".into()], agents: vec![] },
//!         Arc::new(NoForcePush),
//!     )?;
//!     Ok(())
//! }
//! ```

use std::future::Future;

use serde_json::Value;

use crate::site::Site;

/// What an interceptor may answer, and what its failure means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterceptMode {
    /// Allows or denies. Where it does not answer, the call is denied.
    Gate,
    /// May change the payload, or deny. Where it does not answer, the call is denied.
    Rewrite,
    /// May change the payload and nothing else. Where it does not answer, it is skipped.
    RewriteOnly,
}

impl InterceptMode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            InterceptMode::Gate => "gate",
            InterceptMode::Rewrite => "rewrite",
            InterceptMode::RewriteOnly => "rewrite-only",
        }
    }
}

/// Which calls an interceptor is asked about. Empty means every one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterceptFilter {
    /// Tool names; `*` stands for any run of characters.
    pub tools: Vec<String>,
    /// Agents: `main`, or the names of personas; `*` as in tools.
    pub agents: Vec<String>,
}

impl InterceptFilter {
    /// Every call.
    pub fn all() -> InterceptFilter {
        InterceptFilter::default()
    }

    /// Calls of these tools.
    pub fn tools<T: Into<String>>(tools: impl IntoIterator<Item = T>) -> InterceptFilter {
        InterceptFilter { tools: tools.into_iter().map(Into::into).collect(), agents: Vec::new() }
    }

    /// The same, narrowed to these agents.
    pub fn agents<T: Into<String>>(self, agents: impl IntoIterator<Item = T>) -> InterceptFilter {
        InterceptFilter { agents: agents.into_iter().map(Into::into).collect(), ..self }
    }
}

/// What an interceptor answers, as it crosses to the host.
#[derive(Clone, Debug, PartialEq)]
pub enum VerdictWire {
    /// No objection, no change.
    Proceed,
    /// Refused. The text is shown to the model and to the user.
    Deny(String),
    /// The payload goes on changed: the whole payload, or the field that may be changed alone.
    Rewrite(Value),
    /// This outcome stands in the tool's place, at `tool.before`.
    Handled(Value),
    /// The interceptor failed: its mode decides what happens.
    Fail(String),
}

impl VerdictWire {
    /// Refused, with this reason.
    pub fn deny(reason: impl Into<String>) -> VerdictWire {
        VerdictWire::Deny(reason.into())
    }

    /// The interceptor failed, for this reason.
    pub fn fail(reason: impl Into<String>) -> VerdictWire {
        VerdictWire::Fail(reason.into())
    }
}

/// An interceptor on JSON values. Write the method as `async fn run(&self, at: Site, payload: Value) -> VerdictWire`.
///
/// There is nothing to wait for in a sandbox: a future that is not ready when it is first asked is a mistake, and panics.
pub trait InterceptorHandler {
    /// Answer. `payload` is the point's payload as one object.
    fn run(&self, at: Site, payload: Value) -> impl Future<Output = VerdictWire>;
}

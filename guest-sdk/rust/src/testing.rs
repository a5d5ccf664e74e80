//! Run an extension's logic in `cargo test`, without a host.
//!
//! ```
//! use orrery_ext_api::prelude::*;
//! use orrery_ext_api::testing::{Asked, Harness};
//! use orrery_ext_api::serde_json::json;
//!
//! fn register(ctx: &mut ExtCtx) -> Result<(), Error> {
//!     ctx.gate("quiet", Filter::tools(["builtin.bash"]), |_at, call: &ToolBefore| {
//!         Ok(if call.input.str("/command").as_deref() == Some("yes") { Gate::deny("too loud") } else { Gate::Proceed })
//!     })
//! }
//!
//! let harness = Harness::new(register, json!({})).unwrap();
//! let answer = harness.ask("quiet", json!({"tool": "builtin.bash", "input": {"command": "yes"}}));
//! assert_eq!(answer, Ok(Asked::Deny("too loud".into())));
//! ```

use std::cell::Cell;

use serde_json::Value;

use crate::context::{ExtCtx, Mode};
use crate::dispatch::{Answer, AnyHandler};
use crate::error::Error;
use crate::json::{Json, Lazy};
use crate::log::Level;
use crate::payload::{ContextBuild, MemoryRecall, ProviderBefore, ToolAfter, ToolBefore};
use crate::site::Site;

/// What an interceptor answered, its texts read.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// No objection, no change.
    Proceed,
    /// Refused.
    Deny(String),
    /// A rewrite, as the host gets it: an object with the field that changes, or with `edits`.
    Rewrite(Value),
    /// An outcome in the tool's place.
    Handled(Value),
}

/// An extension under test.
pub struct Harness {
    register: fn(&mut ExtCtx) -> Result<(), Error>,
    settings: String,
    registration: Value,
    site: Cell<Option<Site>>,
}

impl Harness {
    /// Register an extension with these settings. The error is the one that the host would report.
    pub fn new(register: fn(&mut ExtCtx) -> Result<(), Error>, settings: Value) -> Result<Harness, Error> {
        let mut ctx = ExtCtx::registering(settings.to_string());
        register(&mut ctx)?;
        let Mode::Registering { interceptors, rules, watchers } = ctx.into_mode() else {
            return Err(Error::new("nothing was registered"));
        };
        let registration = serde_json::json!({"interceptors": interceptors, "rules": rules, "watchers": watchers});
        Ok(Harness { register, settings: settings.to_string(), registration, site: Cell::new(None) })
    }

    /// What was registered, as the host gets it.
    pub fn registration(&self) -> &Value {
        &self.registration
    }

    /// Where the next question comes from; without it, from agent `main`.
    pub fn at(&self, site: Site) -> &Harness {
        self.site.set(Some(site));
        self
    }

    /// Ask an interceptor about a payload, at the point where it is registered. Panics when there is no such interceptor.
    pub fn ask(&self, interceptor: &str, payload: Value) -> Result<Asked, Error> {
        let site = self.site.take().unwrap_or_else(|| Site { agent: "main".into(), ..Site::default() });
        let text = |name: &str| payload[name].as_str().unwrap_or_default().to_string();
        let json = |name: &str| Json::from(payload[name].clone());
        let answer = match self.find(interceptor) {
            AnyHandler::ToolBefore(handler) => {
                handler.handle(site, ToolBefore { tool: text("tool"), input: json("input") })
            }
            AnyHandler::ToolAfter(handler) => handler.handle(
                site,
                ToolAfter { tool: text("tool"), input: json("input"), raw_outcome: json("outcome") },
            ),
            AnyHandler::ContextBuild(handler) => handler.handle(
                site,
                ContextBuild {
                    sections: Lazy::from(payload["sections"].clone()),
                    recalled: Lazy::from(payload["recalled"].clone()),
                    messages: Lazy::from(payload["messages"].clone()),
                    budget_tokens: payload["budgetTokens"].as_u64(),
                },
            ),
            AnyHandler::MemoryRecall(handler) => handler.handle(
                site,
                MemoryRecall { query: text("query"), entries: Lazy::from(payload["entries"].clone()) },
            ),
            AnyHandler::ProviderBefore(handler) => {
                handler.handle(site, ProviderBefore { model: text("model"), options: json("options") })
            }
            AnyHandler::Watcher(_) => panic!("{interceptor} is a watcher"),
        }?;
        let read = |text: String| Json::new(text).value();
        Ok(match answer {
            Answer::Proceed => Asked::Proceed,
            Answer::Deny(reason) => Asked::Deny(reason),
            Answer::Rewrite(text) => Asked::Rewrite(read(text)),
            Answer::Handled(text) => Asked::Handled(read(text)),
        })
    }

    /// Tell a watcher of an event. Panics when there is no such watcher.
    pub fn tell(&self, watcher: &str, event: Value) {
        match self.find(watcher) {
            AnyHandler::Watcher(handler) => handler(&Json::from(event)),
            _ => panic!("{watcher} is an interceptor"),
        }
    }

    /// The lines that were logged on this thread since this was last asked.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn logged(&self) -> Vec<(Level, String)> {
        crate::log::take()
    }

    /// The lines that were logged: none, the host has them.
    #[cfg(target_arch = "wasm32")]
    pub fn logged(&self) -> Vec<(Level, String)> {
        Vec::new()
    }

    fn find(&self, name: &str) -> AnyHandler {
        let mut ctx = ExtCtx::looking(self.settings.clone(), name.to_string());
        let registered = (self.register)(&mut ctx);
        match (registered, ctx.into_mode()) {
            (Ok(()), Mode::Looking { found: Some(handler), .. }) => handler,
            (Err(error), _) => panic!("register: {error}"),
            _ => panic!("nothing is registered under the name {name}"),
        }
    }
}

//! From the host's calls to an extension's handlers, and back. Not part of the interface: `export!` uses it.
#![allow(missing_docs)]

use std::future::Future;
use std::marker::PhantomData;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use serde_json::{Value, json};

use crate::bindings::exports::orrery::interceptors::extension as wit;
use crate::context::{ExtCtx, Mode};
use crate::error::Error;
use crate::intercept::{InterceptorHandler, VerdictWire};
use crate::json::{Json, Lazy};
use crate::payload::{ContextBuild, Denies, MemoryRecall, Point, ProviderBefore, ToolAfter, ToolBefore};
use crate::site::Site;
use crate::verdict::{
    ContextBuildVerdict, Gate, MemoryRecallVerdict, ProviderBeforeVerdict, ToolAfterVerdict, ToolBeforeVerdict,
};

/// What `export!` makes of a function.
pub trait Extension {
    fn register(ctx: &mut ExtCtx) -> Result<(), Error>;
}

/// The four answers with their texts, before they become the point's own type.
#[derive(Debug)]
pub enum Answer {
    Proceed,
    Deny(String),
    Rewrite(String),
    Handled(String),
}

/// A handler of one point.
pub trait Handle<P> {
    fn handle(&self, at: Site, payload: P) -> Result<Answer, Error>;
}

pub enum AnyHandler {
    ToolBefore(Box<dyn Handle<ToolBefore>>),
    ToolAfter(Box<dyn Handle<ToolAfter>>),
    ContextBuild(Box<dyn Handle<ContextBuild>>),
    MemoryRecall(Box<dyn Handle<MemoryRecall>>),
    ProviderBefore(Box<dyn Handle<ProviderBefore>>),
    Watcher(Box<dyn Fn(&Json)>),
}

pub trait IntoAnswer {
    fn into_answer(self) -> Answer;
}

impl<P: Point, F> Handle<P> for F
where
    F: Fn(&Site, &P) -> Result<P::Verdict, Error>,
    P::Verdict: IntoAnswer,
{
    fn handle(&self, at: Site, payload: P) -> Result<Answer, Error> {
        Ok(self(&at, &payload)?.into_answer())
    }
}

pub struct Gated<F>(pub F);

impl<P: Denies, F: Fn(&Site, &P) -> Result<Gate, Error>> Handle<P> for Gated<F> {
    fn handle(&self, at: Site, payload: P) -> Result<Answer, Error> {
        Ok(match (self.0)(&at, &payload)? {
            Gate::Proceed => Answer::Proceed,
            Gate::Deny(reason) => Answer::Deny(reason),
        })
    }
}

pub struct Wire<H>(pub Arc<H>);

impl<P: Point, H: InterceptorHandler> Handle<P> for Wire<H> {
    fn handle(&self, at: Site, payload: P) -> Result<Answer, Error> {
        match ready(self.0.run(at, payload.to_value())) {
            VerdictWire::Proceed => Ok(Answer::Proceed),
            VerdictWire::Deny(reason) => Ok(Answer::Deny(reason)),
            VerdictWire::Rewrite(value) => Ok(Answer::Rewrite(value.to_string())),
            VerdictWire::Handled(value) => Ok(Answer::Handled(value.to_string())),
            VerdictWire::Fail(reason) => Err(Error::new(reason)),
        }
    }
}

/// What a future gives that has nothing to wait for.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a handler waits, and there is nothing in a sandbox to wait for"),
    }
}

macro_rules! verdicts {
    ($($verdict:ident { $($arm:pat => $answer:expr),* $(,)? })*) => {
        $(impl IntoAnswer for $verdict {
            fn into_answer(self) -> Answer {
                match self { $verdict::Proceed => Answer::Proceed, $($arm => $answer),* }
            }
        })*
    };
}

verdicts! {
    ToolBeforeVerdict {
        ToolBeforeVerdict::Deny(reason) => Answer::Deny(reason),
        ToolBeforeVerdict::Rewrite(input) => Answer::Rewrite(member("input", &input)),
        ToolBeforeVerdict::Handled(outcome) => Answer::Handled(outcome.to_value().to_string()),
    }
    ToolAfterVerdict {
        ToolAfterVerdict::Deny(reason) => Answer::Deny(reason),
        ToolAfterVerdict::Rewrite(outcome) => Answer::Rewrite(member("outcome", &outcome.to_value())),
    }
    ContextBuildVerdict {
        ContextBuildVerdict::Edits(edits) => Answer::Rewrite(json!({"edits": edits}).to_string()),
    }
    MemoryRecallVerdict {
        MemoryRecallVerdict::Deny(reason) => Answer::Deny(reason),
        MemoryRecallVerdict::Keep(ids) => Answer::Rewrite(
            member("entries", &ids.into_iter().map(|id| json!({"id": id})).collect()),
        ),
    }
    ProviderBeforeVerdict {
        ProviderBeforeVerdict::Deny(reason) => Answer::Deny(reason),
        ProviderBeforeVerdict::Rewrite(options) => Answer::Rewrite(member("options", &options)),
    }
}

fn member(name: &str, value: &Value) -> String {
    let text = value.to_string();
    let mut object = String::with_capacity(text.len() + name.len() + 5);
    object.push_str("{\"");
    object.push_str(name);
    object.push_str("\":");
    object.push_str(&text);
    object.push('}');
    object
}

/// What an extension registers, as JSON.
pub fn registration<E: Extension>(settings: String) -> Result<String, String> {
    let mut ctx = ExtCtx::registering(settings);
    E::register(&mut ctx).map_err(Error::into_text)?;
    match ctx.into_mode() {
        Mode::Registering { interceptors, rules, watchers } => {
            Ok(json!({"interceptors": interceptors, "rules": rules, "watchers": watchers}).to_string())
        }
        Mode::Looking { .. } => Err("nothing was registered".to_string()),
    }
}

pub fn handler<E: Extension>(settings: String, name: String) -> Result<AnyHandler, String> {
    let mut ctx = ExtCtx::looking(settings, name);
    E::register(&mut ctx).map_err(Error::into_text)?;
    match ctx.into_mode() {
        Mode::Looking { found: Some(handler), .. } => Ok(handler),
        Mode::Looking { name, .. } => Err(format!("nothing is registered under the name `{name}`")),
        Mode::Registering { .. } => Err("nothing was looked for".to_string()),
    }
}

/// The component that `export!` exports.
pub struct Exported<E>(PhantomData<E>);

macro_rules! asked {
    ($handler:expr, $point:ident, $at:expr, $payload:expr) => {
        match $handler? {
            AnyHandler::$point(handler) => handler.handle($at.into(), $payload).map_err(Error::into_text),
            _ => Err("is not registered at this point".to_string()),
        }
    };
}

impl<E: Extension> wit::Guest for Exported<E> {
    fn register(settings: String) -> Result<String, String> {
        registration::<E>(settings)
    }

    fn tool_before(
        interceptor: String,
        settings: String,
        at: wit::Site,
        payload: wit::ToolBeforePayload,
    ) -> Result<wit::ToolBeforeVerdict, String> {
        let payload = ToolBefore { tool: payload.tool, input: Json::new(payload.input) };
        Ok(match asked!(handler::<E>(settings, interceptor), ToolBefore, at, payload)? {
            Answer::Proceed => wit::ToolBeforeVerdict::Proceed,
            Answer::Deny(reason) => wit::ToolBeforeVerdict::Deny(reason),
            Answer::Rewrite(text) => wit::ToolBeforeVerdict::Rewrite(text),
            Answer::Handled(text) => wit::ToolBeforeVerdict::Handled(text),
        })
    }

    fn tool_after(
        interceptor: String,
        settings: String,
        at: wit::Site,
        payload: wit::ToolAfterPayload,
    ) -> Result<wit::ToolAfterVerdict, String> {
        let payload = ToolAfter {
            tool: payload.tool,
            input: Json::new(payload.input),
            raw_outcome: Json::new(payload.outcome),
        };
        match asked!(handler::<E>(settings, interceptor), ToolAfter, at, payload)? {
            Answer::Proceed => Ok(wit::ToolAfterVerdict::Proceed),
            Answer::Deny(reason) => Ok(wit::ToolAfterVerdict::Deny(reason)),
            Answer::Rewrite(text) => Ok(wit::ToolAfterVerdict::Rewrite(text)),
            Answer::Handled(_) => Err(NOT_HANDLED.to_string()),
        }
    }

    fn context_build(
        interceptor: String,
        settings: String,
        at: wit::Site,
        payload: wit::ContextBuildPayload,
    ) -> Result<wit::ContextBuildVerdict, String> {
        let payload = ContextBuild {
            sections: Lazy::new(payload.sections),
            recalled: Lazy::new(payload.recalled),
            messages: Lazy::new(payload.messages),
            budget_tokens: payload.budget_tokens,
        };
        match asked!(handler::<E>(settings, interceptor), ContextBuild, at, payload)? {
            Answer::Proceed => Ok(wit::ContextBuildVerdict::Proceed),
            Answer::Rewrite(text) => Ok(wit::ContextBuildVerdict::Rewrite(text)),
            Answer::Deny(reason) => Err(format!("nothing can be denied at context.build: {reason}")),
            Answer::Handled(_) => Err(NOT_HANDLED.to_string()),
        }
    }

    fn memory_recall(
        interceptor: String,
        settings: String,
        at: wit::Site,
        payload: wit::MemoryRecallPayload,
    ) -> Result<wit::MemoryRecallVerdict, String> {
        let payload = MemoryRecall { query: payload.query, entries: Lazy::new(payload.entries) };
        match asked!(handler::<E>(settings, interceptor), MemoryRecall, at, payload)? {
            Answer::Proceed => Ok(wit::MemoryRecallVerdict::Proceed),
            Answer::Deny(reason) => Ok(wit::MemoryRecallVerdict::Deny(reason)),
            Answer::Rewrite(text) => Ok(wit::MemoryRecallVerdict::Rewrite(text)),
            Answer::Handled(_) => Err(NOT_HANDLED.to_string()),
        }
    }

    fn provider_before(
        interceptor: String,
        settings: String,
        at: wit::Site,
        payload: wit::ProviderBeforePayload,
    ) -> Result<wit::ProviderBeforeVerdict, String> {
        let payload = ProviderBefore { model: payload.model, options: Json::new(payload.options) };
        match asked!(handler::<E>(settings, interceptor), ProviderBefore, at, payload)? {
            Answer::Proceed => Ok(wit::ProviderBeforeVerdict::Proceed),
            Answer::Deny(reason) => Ok(wit::ProviderBeforeVerdict::Deny(reason)),
            Answer::Rewrite(text) => Ok(wit::ProviderBeforeVerdict::Rewrite(text)),
            Answer::Handled(_) => Err(NOT_HANDLED.to_string()),
        }
    }

    fn watch(watcher: String, settings: String, event: String) {
        if let Ok(AnyHandler::Watcher(handler)) = handler::<E>(settings, watcher) {
            handler(&Json::new(event));
        }
    }
}

const NOT_HANDLED: &str = "only a call at tool.before can be handled";

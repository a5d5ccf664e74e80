//! The conformance extension; see the README beside the languages.

use std::sync::Arc;

use orrery_ext_api::intercept::{InterceptMode, InterceptorHandler, VerdictWire};
use orrery_ext_api::prelude::*;
use orrery_ext_api::serde_json::{Value, json};

struct Asynchronous;

impl InterceptorHandler for Asynchronous {
    async fn run(&self, at: Site, payload: Value) -> VerdictWire {
        let tool = async { payload["tool"].as_str().unwrap_or_default().to_string() }.await;
        VerdictWire::deny(format!("{tool} at {}/{}/{}/{}", at.session, at.turn, at.pass, at.call_id.unwrap_or_default()))
    }
}

fn register(ctx: &mut ExtCtx) -> Result<(), Error> {
    if ctx.settings().has("/wrong") {
        return Err(Error::new("the settings are wrong"));
    }
    let word = ctx.settings().str("/word").unwrap_or_default().into_owned();
    ctx.gate("proceed", only("proceed"), |_at, _call: &ToolBefore| Ok(Gate::Proceed))?;
    ctx.gate("deny", only("deny"), |_at, _call: &ToolBefore| Ok(Gate::deny("because é漢🚀")))?;
    ctx.gate("settings", only("settings"), move |_at, _call: &ToolBefore| Ok(Gate::deny(word.clone())))?;
    ctx.gate("error", only("error"), |_at, _call: &ToolBefore| Err(Error::new("it failed")))?;
    ctx.gate("log", only("log"), |_at, _call: &ToolBefore| {
        log::warn("a line");
        Ok(Gate::Proceed)
    })?;
    ctx.gate("after", only("after"), |_at, _call: &ToolAfter| Ok(Gate::deny("withheld")))?;
    ctx.rewrite("set", only("set"), |_at, call: &ToolBefore| Ok(ToolBeforeVerdict::Rewrite(call.input.with("/x", 1)?)))?;
    ctx.rewrite("same", only("same"), |_at, call: &ToolBefore| Ok(ToolBeforeVerdict::Rewrite(call.input.value())))?;
    ctx.rewrite("handle", only("handle"), |_at, _call: &ToolBefore| {
        Ok(ToolBeforeVerdict::Handled(Outcome::ok(json!({"canned": true}))))
    })?;
    ctx.rewrite("outcome", only("outcome"), |_at, call: &ToolAfter| {
        let mut outcome = call.outcome()?;
        outcome.members_mut().insert("value".into(), "changed".into());
        Ok(ToolAfterVerdict::Rewrite(outcome))
    })?;
    ctx.rewrite_only("quiet", only("quiet"), |_at, _call: &ToolBefore| Err(Error::new("it failed")))?;
    ctx.rewrite("context", Filter::all(), |_at, context: &ContextBuild| {
        let id = context.sections.first().map(|section| section.id.clone()).unwrap_or_default();
        Ok(ContextBuildVerdict::Edits(vec![
            Edit::ReplaceSection { id, text: "new".into() },
            Edit::AddSection { id: "added".into(), text: "more".into(), before: None },
        ]))
    })?;
    ctx.rewrite("recall", Filter::all(), |_at, recalled: &MemoryRecall| {
        Ok(MemoryRecallVerdict::Keep(recalled.entries.iter().rev().map(|entry| entry.id.clone()).collect()))
    })?;
    ctx.rewrite("options", Filter::all(), |_at, request: &ProviderBefore| {
        Ok(ProviderBeforeVerdict::Rewrite(request.options.with("/temperature", 0)?))
    })?;
    ctx.interceptor("async", "tool.before", InterceptMode::Gate, only("async"), Arc::new(Asynchronous))?;
    ctx.rule(Rule::refuse(["ruled"], "by rule"));
    ctx.rule(Rule::default("filled", "/timeout", 5));
    ctx.watcher("watch", &["tool.before"], Filter::tools(["watched"]), |event| {
        log::info(&format!("saw {}", event.str("/decision/decision").unwrap_or_default()));
    })
}

fn only(tool: &str) -> Filter {
    Filter::tools([tool])
}

orrery_ext_api::export!(register);

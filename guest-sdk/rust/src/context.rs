//! What an extension says when it registers.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::dispatch::{AnyHandler, Gated, Wire};
use crate::error::Error;
use crate::intercept::{InterceptFilter, InterceptMode, InterceptorHandler};
use crate::json::Json;
use crate::payload::{ContextBuild, Denies, MemoryRecall, Point, ProviderBefore, ToolAfter, ToolBefore};
use crate::rule::Rule;
use crate::site::Site;
use crate::verdict::Gate;

/// What an extension is given to register with: its settings, and the ways to add interceptors, rules and watchers.
pub struct ExtCtx {
    settings: Json,
    mode: Mode,
}

pub(crate) enum Mode {
    /// Write down what is registered.
    Registering { interceptors: Vec<Value>, rules: Vec<Value>, watchers: Vec<Value> },
    /// Find the handler of one name, and keep only it.
    Looking { name: String, found: Option<AnyHandler> },
}

impl ExtCtx {
    pub(crate) fn registering(settings: String) -> ExtCtx {
        let mode = Mode::Registering { interceptors: Vec::new(), rules: Vec::new(), watchers: Vec::new() };
        ExtCtx { settings: Json::new(settings), mode }
    }

    pub(crate) fn looking(settings: String, name: String) -> ExtCtx {
        ExtCtx { settings: Json::new(settings), mode: Mode::Looking { name, found: None } }
    }

    pub(crate) fn into_mode(self) -> Mode {
        self.mode
    }

    /// The settings: the manifest's `[settings]`, overridden by the user's.
    pub fn settings(&self) -> &Json {
        &self.settings
    }

    /// The settings as a type of your own. The error says which setting does not fit.
    pub fn settings_as<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.settings.parse().map_err(|error| Error::new(format!("settings: {error}")))
    }

    /// Add a gate: it allows or denies. An error when the name is empty.
    pub fn gate<P: Denies + 'static>(
        &mut self,
        name: &str,
        filter: InterceptFilter,
        handler: impl Fn(&Site, &P) -> Result<Gate, Error> + 'static,
    ) -> Result<(), Error> {
        self.add(name, P::NAME, InterceptMode::Gate, filter, || P::wrap(Box::new(Gated(handler))))
    }

    /// Add a rewrite: it may change the payload, and deny where the point allows it.
    pub fn rewrite<P: Point + 'static>(
        &mut self,
        name: &str,
        filter: InterceptFilter,
        handler: impl Fn(&Site, &P) -> Result<P::Verdict, Error> + 'static,
    ) -> Result<(), Error> {
        self.add(name, P::NAME, InterceptMode::Rewrite, filter, || P::wrap(Box::new(handler)))
    }

    /// Add a rewrite-only: it may change the payload and nothing else, and is skipped when it fails.
    ///
    /// `None` is no change.
    pub fn rewrite_only<P: Point + 'static>(
        &mut self,
        name: &str,
        filter: InterceptFilter,
        handler: impl Fn(&Site, &P) -> Result<Option<P::Verdict>, Error> + 'static,
    ) -> Result<(), Error> {
        self.add(name, P::NAME, InterceptMode::RewriteOnly, filter, || {
            P::wrap(Box::new(move |at: &Site, payload: &P| {
                Ok(handler(at, payload)?.unwrap_or_else(P::proceed))
            }))
        })
    }

    /// Add an interceptor by its point's name, on JSON values. An error when there is no such point.
    pub fn interceptor<H: InterceptorHandler + 'static>(
        &mut self,
        name: &str,
        point: &str,
        mode: InterceptMode,
        filter: InterceptFilter,
        handler: Arc<H>,
    ) -> Result<(), Error> {
        let wrap = |handler| match point {
            ToolBefore::NAME => Ok(ToolBefore::wrap(Box::new(Wire(handler)))),
            ToolAfter::NAME => Ok(ToolAfter::wrap(Box::new(Wire(handler)))),
            ContextBuild::NAME => Ok(ContextBuild::wrap(Box::new(Wire(handler)))),
            MemoryRecall::NAME => Ok(MemoryRecall::wrap(Box::new(Wire(handler)))),
            ProviderBefore::NAME => Ok(ProviderBefore::wrap(Box::new(Wire(handler)))),
            _ => Err(Error::new(format!("{name}: there is no point `{point}`"))),
        };
        let handler = wrap(handler)?;
        self.add(name, point, mode, filter, || handler)
    }

    /// Add a rule.
    pub fn rule(&mut self, rule: Rule) {
        if let Mode::Registering { rules, .. } = &mut self.mode {
            rules.push(rule.to_value());
        }
    }

    /// Add a watcher: it is told of what was asked and decided at these points (none: every one), and can only log.
    ///
    /// The event is an object with `site`, `payload` and `decision`.
    pub fn watcher(
        &mut self,
        name: &str,
        points: &[&str],
        filter: InterceptFilter,
        handler: impl Fn(&Json) + 'static,
    ) -> Result<(), Error> {
        match &mut self.mode {
            Mode::Registering { watchers, .. } => {
                let mut members = filter_members(name, filter)?;
                members.insert("points".to_string(), points.iter().copied().map(Value::from).collect());
                watchers.push(Value::Object(members));
            }
            Mode::Looking { name: wanted, found } if wanted == name => {
                *found = Some(AnyHandler::Watcher(Box::new(handler)));
            }
            Mode::Looking { .. } => {}
        }
        Ok(())
    }

    fn add(
        &mut self,
        name: &str,
        point: &str,
        mode: InterceptMode,
        filter: InterceptFilter,
        handler: impl FnOnce() -> AnyHandler,
    ) -> Result<(), Error> {
        match &mut self.mode {
            Mode::Registering { interceptors, .. } => {
                let mut members = filter_members(name, filter)?;
                members.insert("point".to_string(), point.into());
                members.insert("mode".to_string(), mode.name().into());
                interceptors.push(Value::Object(members));
            }
            Mode::Looking { name: wanted, found } => {
                if wanted == name {
                    *found = Some(handler());
                }
            }
        }
        Ok(())
    }
}

fn filter_members(name: &str, filter: InterceptFilter) -> Result<Map<String, Value>, Error> {
    if name.is_empty() {
        return Err(Error::new("an interceptor needs a name"));
    }
    let mut members = Map::new();
    members.insert("name".to_string(), name.into());
    members.insert("tools".to_string(), filter.tools.into());
    members.insert("agents".to_string(), filter.agents.into());
    Ok(members)
}

//! What the probe was asked, in one form for all points.

use serde_json::{Map, Value, json};

use crate::actions::{Answer, act};
use crate::exports::orrery::interceptors::extension::Site;
use crate::parsed;

/// One call: where, by which name, about what.
pub struct Asked {
    pub point: &'static str,
    name: String,
    pub settings: Value,
    pub site: Value,
    pub payload: Value,
}

impl Asked {
    /// A call at one of the five points.
    pub fn at<const N: usize>(
        point: &'static str,
        interceptor: &str,
        settings: &str,
        at: &Site,
        fields: [(&str, Value); N],
    ) -> Result<Asked, String> {
        let fields = fields
            .into_iter()
            .filter(|(_, value)| !value.is_null() || point != "context.build");
        let payload: Map<String, Value> = fields
            .map(|(name, value)| (name.to_string(), value))
            .collect();
        let site = json!({
            "session": at.session, "turn": at.turn, "pass": at.pass, "agent": at.agent, "call": at.call_id,
        });
        Ok(Asked {
            point,
            name: interceptor.to_string(),
            settings: parsed(settings)?,
            site,
            payload: payload.into(),
        })
    }

    /// The call of `register`.
    pub fn register(settings: &str) -> Result<Asked, String> {
        let (site, payload) = (Value::Null, Value::Null);
        Ok(Asked {
            point: "register",
            name: String::new(),
            settings: parsed(settings)?,
            site,
            payload,
        })
    }

    /// A call of `watch`.
    pub fn watch(watcher: &str, settings: &str, event: Value) -> Result<Asked, String> {
        let site = event["site"].clone();
        Ok(Asked {
            point: "watch",
            name: watcher.to_string(),
            settings: parsed(settings)?,
            site,
            payload: event,
        })
    }

    /// Do what the settings say for this name; else what the input's member `probe` says; else proceed.
    pub fn answer(&self) -> Result<Answer, String> {
        let told = self.settings["do"]
            .get(&self.name)
            .or_else(|| self.payload["input"].get("probe"));
        told.map_or(Ok(Answer::Proceed), |action| act(self, action))
    }

    /// The field that a rewrite may change at this point.
    pub fn rewritable(&self) -> Option<&'static str> {
        match self.point {
            "tool.before" => Some("input"),
            "tool.after" => Some("outcome"),
            "memory.recall" => Some("entries"),
            "provider.before" => Some("options"),
            _ => None,
        }
    }
}

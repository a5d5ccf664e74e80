//! Where a call happens.

use crate::bindings::exports::orrery::interceptors::extension as wit;

/// Where a call happens. The same at every point of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// The session, as the harness named it.
    pub session: String,
    /// The turn within the session, counted from 1.
    pub turn: u32,
    /// The request to the model within the turn, counted from 1; 0 before the first.
    pub pass: u32,
    /// Who acts: `main`, or the name of a persona.
    pub agent: String,
    /// The model's id of the tool call, at `tool.before` and `tool.after`.
    pub call_id: Option<String>,
}

impl From<wit::Site> for Site {
    fn from(site: wit::Site) -> Site {
        Site { session: site.session, turn: site.turn, pass: site.pass, agent: site.agent, call_id: site.call_id }
    }
}

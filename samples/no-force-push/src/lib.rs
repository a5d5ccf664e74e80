//! Refuses git pushes that overwrite or delete what is on the remote.

mod git;
mod judge;
mod settings;
mod shell;
mod wrappers;

use orrery_ext_api::prelude::*;
use settings::Settings;

fn register(ctx: &mut ExtCtx) -> Result<(), Error> {
    let settings: Settings = ctx.settings_as()?;
    ctx.gate("no-force-push", Filter::tools(["builtin.bash"]), move |_at, call: &ToolBefore| {
        // A call without a command runs nothing.
        let Some(command) = call.input.str("/command") else { return Ok(Gate::Proceed) };
        Ok(match judge::judge(&command, &settings) {
            Some(why) => Gate::deny(format!("{why}; push to a new branch instead")),
            None => Gate::Proceed,
        })
    })
}

orrery_ext_api::export!(register);

#[cfg(test)]
mod tests;

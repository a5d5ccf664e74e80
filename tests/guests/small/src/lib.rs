//! The smallest gate: denies one string.

use orrery_ext_api::prelude::*;
fn register(ctx: &mut ExtCtx) -> Result<(), Error> {
    ctx.gate("small", Filter::tools(["builtin.bash"]), |_at, call: &ToolBefore| {
        let c = call.input.str("/command").unwrap_or_default();
        Ok(if c.contains("push --force") { Gate::deny("no") } else { Gate::Proceed })
    })
}
orrery_ext_api::export!(register);

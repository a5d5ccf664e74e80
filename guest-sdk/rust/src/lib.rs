//! Write extensions for AI agents: gates, rewrites, rules and watchers.
//!
//! An extension is a component that is asked at points of an agent's loop: before and after a tool is called, while the
//! context is built, when memory is recalled, before a request is sent. It holds nothing, sees only what it is asked about,
//! and every call runs in a fresh instance.
//!
//! ```
//! use orrery_ext_api::prelude::*;
//!
//! fn register(ctx: &mut ExtCtx) -> Result<(), Error> {
//!     ctx.gate("no-force-push", Filter::tools(["builtin.bash"]), |_at, call: &ToolBefore| {
//!         let command = call.input.str("/command").unwrap_or_default();
//!         Ok(if command.contains("push --force") { Gate::deny("push a new branch instead") } else { Gate::Proceed })
//!     })
//! }
//!
//! orrery_ext_api::export!(register);
//! # fn main() {}
//! ```
//!
//! There are two layers over the same calls. The typed one ([`ExtCtx::gate`], [`ExtCtx::rewrite`],
//! [`ExtCtx::rewrite_only`]) has a payload and a verdict type for each point, so that an answer that a point does not allow
//! cannot be written. The other one ([`ExtCtx::interceptor`]) takes the point's name and works on JSON values.

#![deny(missing_docs)]

mod context;
#[doc(hidden)]
pub mod dispatch;
mod error;
pub mod intercept;
mod json;
pub mod log;
mod payload;
mod rule;
mod scan;
mod site;
pub mod testing;
mod verdict;

#[doc(hidden)]
#[allow(missing_docs, unsafe_code)] // generated
pub mod bindings {
    wit_bindgen::generate!({
        path: "wit",
        world: "orrery-extension",
        pub_export_macro: true,
        export_macro_name: "export_component",
        default_bindings_module: "orrery_ext_api::bindings",
    });
}

pub use context::ExtCtx;
pub use error::Error;
pub use intercept::InterceptFilter as Filter;
pub use json::{Json, Lazy};
pub use payload::{ContextBuild, Denies, Entry, MemoryRecall, Point, ProviderBefore, Section, ToolAfter, ToolBefore};
pub use rule::Rule;
pub use serde_json;
pub use site::Site;
pub use verdict::{
    ContextBuildVerdict, Edit, Gate, MemoryRecallVerdict, Outcome, ProviderBeforeVerdict, ToolAfterVerdict,
    ToolBeforeVerdict,
};

/// Everything an extension usually needs.
pub mod prelude {
    pub use crate::{
        ContextBuild, ContextBuildVerdict, Edit, Entry, Error, ExtCtx, Filter, Gate, Json, MemoryRecall,
        MemoryRecallVerdict, Outcome, ProviderBefore, ProviderBeforeVerdict, Rule, Section, Site, ToolAfter,
        ToolAfterVerdict, ToolBefore, ToolBeforeVerdict, log,
    };
}

/// Make this crate an extension: `export!(register)`, once, with a function
/// `fn register(ctx: &mut ExtCtx) -> Result<(), Error>`.
///
/// The function is called when the extension is loaded, and again in the fresh instance of every call, where it leads to
/// the handler that is asked. It must say the same each time, and it is best quick.
#[macro_export]
macro_rules! export {
    ($register:path) => {
        #[doc(hidden)]
        struct OrreryExtension;

        impl $crate::dispatch::Extension for OrreryExtension {
            fn register(ctx: &mut $crate::ExtCtx) -> ::core::result::Result<(), $crate::Error> {
                $register(ctx)
            }
        }

        // So that a native build, which exports nothing, does not call it all unused.
        #[cfg(not(target_arch = "wasm32"))]
        const _: fn(&mut $crate::ExtCtx) -> ::core::result::Result<(), $crate::Error> =
            <OrreryExtension as $crate::dispatch::Extension>::register;

        #[cfg(target_arch = "wasm32")]
        const _: () = {
            type Exported = $crate::dispatch::Exported<OrreryExtension>;
            $crate::bindings::export_component!(Exported with_types_in $crate::bindings);
        };
    };
}

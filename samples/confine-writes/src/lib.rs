//! Keeps file writes inside listed folders, and writes paths without detours.

mod paths;

use orrery_ext_api::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    folders: Vec<String>,
    pointer: String,
}

fn register(ctx: &mut ExtCtx) -> Result<(), Error> {
    let settings: Settings = ctx.settings_as()?;
    let mut folders = Vec::new();
    for folder in &settings.folders {
        folders.push(paths::normal(folder).map_err(|why| Error::new(format!("settings: folders: `{folder}` {why}")))?);
    }
    ctx.rewrite(
        "confine-writes",
        Filter::tools(["builtin.write", "builtin.edit"]),
        move |_at, call: &ToolBefore| {
            let Some(path) = call.input.str(&settings.pointer) else {
                return Ok(ToolBeforeVerdict::deny(format!("the call names no file at {}", settings.pointer)));
            };
            let normal = match paths::normal(&path) {
                Ok(normal) => normal,
                Err(why) => return Ok(ToolBeforeVerdict::deny(format!("`{path}` {why}"))),
            };
            if !folders.iter().any(|folder| paths::within(&normal, folder)) {
                let allowed = settings.folders.join(", ");
                let allowed = if allowed.is_empty() { "no folder".to_string() } else { allowed };
                return Ok(ToolBeforeVerdict::deny(format!("`{path}` is outside of {allowed}")));
            }
            if normal == path {
                return Ok(ToolBeforeVerdict::Proceed);
            }
            Ok(ToolBeforeVerdict::Rewrite(call.input.with(&settings.pointer, normal)?))
        },
    )
}

orrery_ext_api::export!(register);

#[cfg(test)]
mod tests {
    use orrery_ext_api::serde_json::{Value, json};
    use orrery_ext_api::testing::{Asked, Harness};

    fn ask(folders: Value, path: Value) -> Asked {
        let harness = Harness::new(super::register, json!({"folders": folders, "pointer": "/path"})).unwrap();
        harness.ask("confine-writes", json!({"tool": "builtin.write", "input": {"path": path, "content": "x"}})).unwrap()
    }

    fn denied(folders: Value, path: &str) -> bool {
        matches!(ask(folders, path.into()), Asked::Deny(_))
    }

    #[test]
    fn paths_outside_are_denied_however_they_are_written() {
        for path in ["../x", "src/../../x", "/etc/passwd", "src2/x", "docs", "~/x", "C:\\x", "src\\..\\..\\x", "a\0b", ""] {
            assert!(denied(json!(["src", "docs/out"]), path), "{path}");
        }
        assert!(denied(json!([]), "x"));
        assert!(matches!(ask(json!(["."]), json!(5)), Asked::Deny(_)));
    }

    #[test]
    fn paths_inside_go_on_without_detours() {
        assert_eq!(ask(json!(["src"]), json!("src/a.rs")), Asked::Proceed);
        assert_eq!(
            ask(json!(["src"]), json!("./src//b/../a.rs")),
            Asked::Rewrite(json!({"input": {"path": "src/a.rs", "content": "x"}}))
        );
        assert_eq!(ask(json!(["."]), json!("deep/er/x")), Asked::Proceed);
        assert_eq!(ask(json!(["/srv/out"]), json!("/srv/out/x")), Asked::Proceed);
        assert!(denied(json!(["/srv/out"]), "/srv/outer/x"));
    }
}

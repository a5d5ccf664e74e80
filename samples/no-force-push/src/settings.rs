//! What may be set.

use serde::Deserialize;

/// The settings; `orrery.toml` says what each means.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, crate = "serde")]
pub struct Settings {
    pub protected: Vec<String>,
    pub allow_with_lease: bool,
    pub deny_delete: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { protected: Vec::new(), allow_with_lease: true, deny_delete: true }
    }
}

impl Settings {
    /// Whether a branch or tag, as a refspec names it, is protected.
    pub fn protects(&self, target: &str) -> bool {
        let name = target.strip_prefix("refs/heads/").or_else(|| target.strip_prefix("refs/tags/")).unwrap_or(target);
        // `HEAD` and `@` are whatever is checked out; a pattern of the refspec may take in anything.
        let unknown = matches!(name, "" | "HEAD" | "@") || name.contains('*') || name.contains(crate::shell::UNKNOWN);
        self.protected.is_empty() || unknown || self.protected.iter().any(|pattern| matches(pattern, name))
    }
}

/// Whether a pattern with `*` matches the whole name.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(found) = rest.find(part) else { return false };
        rest = &rest[found + part.len()..];
    }
    rest.ends_with(last)
}

//! Paths as text: no file is looked at, there is none here.

/// The path without `.`, `..` and doubled slashes. The error says what is wrong with it.
pub fn normal(path: &str) -> Result<String, &'static str> {
    if path.is_empty() {
        return Err("is empty");
    }
    if path.contains(|char: char| char.is_control()) {
        return Err("has a control character in it");
    }
    // Some file systems take it for a slash. Whoever checks must not read a path differently from whoever opens it.
    if path.contains('\\') {
        return Err("has a backslash in it");
    }
    if path.starts_with('~') {
        return Err("starts with ~, which some tools take for a home folder");
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return Err("leads out of the folder it begins in");
                }
            }
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    Ok(match (path.starts_with('/'), joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_string(),
        (false, false) => joined,
    })
}

/// Whether a normal path lies in a normal folder.
pub fn within(path: &str, folder: &str) -> bool {
    if folder == "." {
        return !path.starts_with('/') && path != ".";
    }
    if folder == "/" {
        return path.starts_with('/') && path != "/";
    }
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

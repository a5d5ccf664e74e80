//! Lines for the host's log, marked with the extension's name.
//!
//! Lines are cut at 4 KiB; after as many lines as the host allows in one call the rest is dropped and counted.

#[cfg(target_arch = "wasm32")]
use crate::bindings::orrery::interceptors::log as host;

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// For whoever writes the extension.
    Debug,
    /// Worth knowing.
    Info,
    /// Something is not as it should be.
    Warn,
    /// Something failed.
    Error,
}

/// Write a line at the level `debug`.
pub fn debug(message: &str) {
    write(Level::Debug, message);
}

/// Write a line at the level `info`.
pub fn info(message: &str) {
    write(Level::Info, message);
}

/// Write a line at the level `warn`.
pub fn warn(message: &str) {
    write(Level::Warn, message);
}

/// Write a line at the level `error`.
pub fn error(message: &str) {
    write(Level::Error, message);
}

#[cfg(target_arch = "wasm32")]
fn write(level: Level, message: &str) {
    let level = match level {
        Level::Debug => host::Level::Debug,
        Level::Info => host::Level::Info,
        Level::Warn => host::Level::Warn,
        Level::Error => host::Level::Error,
    };
    host::write(level, message);
}

#[cfg(not(target_arch = "wasm32"))]
fn write(level: Level, message: &str) {
    LINES.with_borrow_mut(|lines| lines.push((level, message.to_string())));
}

#[cfg(not(target_arch = "wasm32"))]
thread_local! {
    static LINES: std::cell::RefCell<Vec<(Level, String)>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// What this thread logged since the last time, where there is no host: in tests.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn take() -> Vec<(Level, String)> {
    LINES.take()
}

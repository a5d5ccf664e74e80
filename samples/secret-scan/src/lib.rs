//! Finds tokens, private keys and passwords in text, by the shapes that their issuers gave them.
//!
//! Every rule begins with letters that such a secret always begins with, so that one pass over the text is enough.
//! Nothing is guessed from how random a word looks: commit hashes and UUIDs are not secrets.

mod shapes;

use shapes::{SHAPES, Shape};

/// Where a secret stands in a text, in bytes, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    pub start: usize,
    pub end: usize,
    pub kind: &'static str,
}

/// What is looked for besides the shapes of tokens.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Passwords in addresses: `https://user:password@host`.
    pub url_passwords: bool,
}

/// The secrets in a text, in order, none within another.
pub fn find(text: &str, options: Options) -> Vec<Hit> {
    let bytes = text.as_bytes();
    let mut hits = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match hit_at(bytes, at, options) {
            Some(hit) => {
                at = hit.end;
                hits.push(hit);
            }
            None => at += 1,
        }
    }
    hits
}

/// Whether there is a secret in a text.
pub fn contains(text: &str, options: Options) -> bool {
    let bytes = text.as_bytes();
    (0..bytes.len()).any(|at| hit_at(bytes, at, options).is_some())
}

/// The text with every secret replaced by `[redacted:KIND]`, or `None` when there is none.
pub fn redact(text: &str, options: Options) -> Option<String> {
    let hits = find(text, options);
    if hits.is_empty() {
        return None;
    }
    let mut clean = String::with_capacity(text.len());
    let mut from = 0;
    for hit in hits {
        clean.push_str(&text[from..hit.start]);
        clean.push_str(&replacement(hit.kind));
        from = hit.end;
    }
    clean.push_str(&text[from..]);
    Some(clean)
}

/// What stands in a secret's place.
pub fn replacement(kind: &str) -> String {
    format!("[redacted:{kind}]")
}

/// The bytes that a secret may begin with.
const FIRST: [bool; 256] = {
    let mut first = [false; 256];
    let others = b"-e0123456789:BbAaSs";
    let mut index = 0;
    while index < others.len() {
        first[others[index] as usize] = true;
        index += 1;
    }
    index = 0;
    while index < SHAPES.len() {
        first[SHAPES[index].prefix.as_bytes()[0] as usize] = true;
        index += 1;
    }
    first
};

fn hit_at(bytes: &[u8], at: usize, options: Options) -> Option<Hit> {
    // Nearly every byte ends here, or at the word boundary: a payload of megabytes is scanned within the deadline.
    if !FIRST[usize::from(bytes[at])] {
        return None;
    }
    match bytes[at] {
        b'-' => private_key(bytes, at),
        b'e' if bytes[at..].starts_with(b"eyJ") => jwt(bytes, at).or_else(|| shape(bytes, at)),
        b'0'..=b'9' => bot_token(bytes, at),
        b':' if options.url_passwords && bytes[at..].starts_with(b"://") => url_password(bytes, at),
        b'B' | b'b' => bearer(bytes, at).or_else(|| shape(bytes, at)),
        b'A' | b'a' | b'S' | b's' => labelled(bytes, at).or_else(|| shape(bytes, at)),
        _ => shape(bytes, at),
    }
}

/// Whether a word begins here: the character before is none of a word, or is an escape such as `\n` in quoted text.
fn begins(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|index| bytes[index]) else { return true };
    if !before.is_ascii_alphanumeric() && before != b'_' {
        return true;
    }
    at >= 2 && bytes[at - 2] == b'\\' && matches!(before, b'n' | b'r' | b't')
}

/// How many of the bytes from here on belong to a class.
fn run(bytes: &[u8], at: usize, class: impl Fn(u8) -> bool) -> usize {
    bytes[at.min(bytes.len())..].iter().take_while(|byte| class(**byte)).count()
}

fn shape(bytes: &[u8], at: usize) -> Option<Hit> {
    if !begins(bytes, at) {
        return None;
    }
    let first = bytes[at];
    SHAPES.iter().filter(|shape| shape.prefix.as_bytes()[0] == first).find_map(|shape| matched(shape, bytes, at))
}

fn matched(shape: &Shape, bytes: &[u8], at: usize) -> Option<Hit> {
    if !bytes[at..].starts_with(shape.prefix.as_bytes()) {
        return None;
    }
    let from = at + shape.prefix.len();
    let length = run(bytes, from, |byte| shape.class.has(byte));
    // A longer word is another kind of thing where the length is fixed.
    if length < shape.least || length > shape.most {
        return None;
    }
    let mut end = from + length;
    // A full stop or a hyphen that ends a sentence is not part of it.
    while matches!(bytes[end - 1], b'.' | b'-') {
        end -= 1;
    }
    Some(Hit { start: at, end, kind: shape.kind })
}

fn base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// A JSON Web Token: three parts, of which the first two are JSON objects in base64 (RFC 7519).
fn jwt(bytes: &[u8], at: usize) -> Option<Hit> {
    if !begins(bytes, at) {
        return None;
    }
    let header = run(bytes, at, base64url);
    let payload_at = at + header + 1;
    if header < 10 || bytes.get(at + header) != Some(&b'.') || !bytes.get(payload_at..)?.starts_with(b"eyJ") {
        return None;
    }
    let payload = run(bytes, payload_at, base64url);
    let mut end = payload_at + payload;
    if bytes.get(end) == Some(&b'.') {
        end += 1 + run(bytes, end + 1, base64url);
    }
    (payload >= 8).then_some(Hit { start: at, end, kind: "jwt" })
}

/// A private key in PEM (RFC 7468) or OpenSSH's form, to its end or to the end of the text.
fn private_key(bytes: &[u8], at: usize) -> Option<Hit> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    if !bytes[at..].starts_with(BEGIN) {
        return None;
    }
    let label_at = at + BEGIN.len();
    let label = run(bytes, label_at, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    let text = &bytes[label_at..label_at + label];
    if !bytes[label_at + label..].starts_with(b"-----") || !text.windows(11).any(|part| part == b"PRIVATE KEY") {
        return None;
    }
    const END: &[u8] = b"-----END ";
    let body = label_at + label + 5;
    let end = bytes[body..].windows(END.len()).position(|part| part == END).map(|found| {
        let label_at = body + found + END.len();
        let label = run(bytes, label_at, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
        (label_at + label + 5).min(bytes.len())
    });
    Some(Hit { start: at, end: end.unwrap_or(bytes.len()), kind: "private-key" })
}

/// A Telegram bot's token: digits, a colon, and 35 characters of which the first two are fixed.
fn bot_token(bytes: &[u8], at: usize) -> Option<Hit> {
    if !begins(bytes, at) {
        return None;
    }
    let digits = run(bytes, at, |byte| byte.is_ascii_digit());
    let secret = at + digits + 1;
    if !(8..=11).contains(&digits) || bytes.get(secret - 1) != Some(&b':') || !bytes.get(secret..)?.starts_with(b"AA") {
        return None;
    }
    let length = run(bytes, secret, base64url);
    (33..=40).contains(&length).then_some(Hit { start: at, end: secret + length, kind: "telegram-token" })
}

/// The password in `scheme://user:password@host`.
fn url_password(bytes: &[u8], at: usize) -> Option<Hit> {
    let start = at + 3;
    let length = run(bytes, start, |byte| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'\\'));
    let authority = &bytes[start..start + length];
    let sign = authority.iter().rposition(|byte| *byte == b'@')?;
    let colon = authority[..sign].iter().position(|byte| *byte == b':')?;
    let password = &authority[colon + 1..sign];
    // What a template or a former redaction left there is no password.
    let blank = password.is_empty() || password[0] == b'$' || password[0] == b'[' || password.iter().all(|byte| *byte == b'*');
    (!blank).then_some(Hit { start: start + colon + 1, end: start + sign, kind: "url-password" })
}

/// `Bearer` or `Basic` and what follows it (RFC 6750, RFC 7617).
fn bearer(bytes: &[u8], at: usize) -> Option<Hit> {
    if !begins(bytes, at) {
        return None;
    }
    let scheme = [&b"bearer "[..], b"basic "]
        .into_iter()
        .find(|scheme| bytes.get(at..at + scheme.len()).is_some_and(|word| word.eq_ignore_ascii_case(scheme)))?;
    let start = at + scheme.len();
    let length = run(bytes, start, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'+' | b'/' | b'-' | b'='));
    let value = &bytes[start..start + length];
    // Words of a sentence have no digits among them.
    let random = value.iter().any(u8::is_ascii_digit) || value.contains(&b'=');
    (length >= 16 && random).then_some(Hit { start, end: start + length, kind: "authorization" })
}

/// Secrets that have no shape of their own, behind the names that they are always given.
fn labelled(bytes: &[u8], at: usize) -> Option<Hit> {
    const LABELS: &[(&[u8], usize, &str)] = &[
        (b"aws_secret_access_key", 40, "aws-secret"),
        (b"aws_session_token", 100, "aws-session"),
        (b"secretaccesskey", 40, "aws-secret"),
        (b"sessiontoken", 100, "aws-session"),
        (b"accountkey", 40, "azure-key"),
        (b"sharedaccesskey", 40, "azure-key"),
        (b"sharedaccesssignature", 40, "azure-key"),
    ];
    let (label, least, kind) = LABELS
        .iter()
        .find(|(label, _, _)| bytes.get(at..at + label.len()).is_some_and(|word| word.eq_ignore_ascii_case(label)))?;
    let mut start = at + label.len();
    start += run(bytes, start, |byte| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'\\'));
    if !matches!(bytes.get(start), Some(b'=' | b':')) {
        return None;
    }
    start += 1;
    start += run(bytes, start, |byte| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'\\'));
    let length = run(bytes, start, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
    (length >= *least).then_some(Hit { start, end: start + length, kind })
}

#[cfg(test)]
mod tests;

//! Finding values in a JSON text without reading the rest of it.
//!
//! The texts come from the host, which has read and checked them: here only their structure is followed. A text that
//! is no JSON ends the call with a panic, never with a wrong answer.

use std::borrow::Cow;

/// The text of the value at a pointer (RFC 6901), or `None` where there is none.
pub(crate) fn find<'a>(text: &'a str, pointer: &str) -> Option<&'a str> {
    assert!(
        pointer.is_empty() || pointer.starts_with('/'),
        "the JSON pointer {pointer:?} does not start with `/`"
    );
    let mut scan = Scan { text, at: 0 };
    for token in pointer.split('/').skip(1) {
        scan.space();
        match scan.peek() {
            b'{' => scan.enter_member(token)?,
            b'[' => scan.enter_item(token)?,
            _ => return None,
        }
    }
    scan.space();
    let start = scan.at;
    scan.skip_value();
    Some(&text[start..scan.at])
}

/// The string that a JSON text is, without its quotes and escapes; `None` when it is another kind of value.
pub(crate) fn string(text: &str) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    Some(if inner.contains('\\') { Cow::Owned(unescape(inner)) } else { Cow::Borrowed(inner) })
}

/// The texts of an array's items; `None` when the text is another kind of value.
pub(crate) fn items(text: &str) -> Option<Vec<&str>> {
    let mut scan = Scan { text, at: 0 };
    let mut items = Vec::new();
    if scan.peek() != b'[' {
        return None;
    }
    while scan.next_item() {
        let start = scan.at;
        scan.skip_value();
        items.push(&text[start..scan.at]);
    }
    Some(items)
}

/// Every string in a JSON text, in order: values and names of members.
pub(crate) fn strings(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let mut scan = Scan { text, at: 0 };
    std::iter::from_fn(move || {
        scan.at += text[scan.at..].find('"')?;
        let start = scan.at;
        scan.skip_string();
        string(&text[start..scan.at])
    })
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    fn peek(&self) -> u8 {
        match self.text.as_bytes().get(self.at) {
            Some(&byte) => byte,
            None => panic!("a JSON text ends too early"),
        }
    }

    fn space(&mut self) {
        while matches!(self.text.as_bytes().get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// From an opening bracket or from the end of an item, to the next item. False at the closing bracket.
    fn next_item(&mut self) -> bool {
        self.space();
        if self.peek() == b']' || self.peek() == b'}' {
            return false;
        }
        self.at += 1;
        self.space();
        !matches!(self.peek(), b']' | b'}')
    }

    /// From an object's brace to the value of the member that a pointer's token names.
    fn enter_member(&mut self, token: &str) -> Option<()> {
        while self.next_item() {
            let start = self.at;
            self.skip_string();
            let name = string(&self.text[start..self.at]).unwrap_or_default();
            self.space();
            self.at += 1;
            if is_token(&name, token) {
                return Some(());
            }
            self.space();
            self.skip_value();
        }
        None
    }

    /// From an array's bracket to the item that a pointer's token counts, without leading zeros.
    fn enter_item(&mut self, token: &str) -> Option<()> {
        let wanted: usize = token.parse().ok()?;
        if !token.starts_with(|first: char| first.is_ascii_digit()) || (token.len() > 1 && token.starts_with('0')) {
            return None;
        }
        let mut index = 0;
        while self.next_item() {
            if index == wanted {
                return Some(());
            }
            self.skip_value();
            index += 1;
        }
        None
    }

    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                b'"' => self.skip_string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1).expect("a JSON value is missing");
                    self.at += 1;
                }
                _ if depth > 0 => self.at += 1,
                _ => self.skip_word(),
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// A number, `true`, `false` or `null`.
    fn skip_word(&mut self) {
        let start = self.at;
        let word = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        self.at += self.text.as_bytes()[self.at..].iter().take_while(word).count();
        assert!(self.at > start, "a JSON value is missing");
    }

    fn skip_string(&mut self) {
        assert!(self.peek() == b'"', "a JSON string is missing");
        self.at += 1;
        loop {
            match self.peek() {
                b'"' => break self.at += 1,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }
}

/// Whether a pointer's token, with its `~0` and `~1`, names a member.
fn is_token(name: &str, token: &str) -> bool {
    if !token.contains('~') {
        return name == token;
    }
    name == token.replace("~1", "/").replace("~0", "~")
}

fn unescape(inner: &str) -> String {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(escape) = rest.find('\\') {
        text.push_str(&rest[..escape]);
        let kind = rest.as_bytes()[escape + 1];
        rest = &rest[escape + 2..];
        match kind {
            b'b' => text.push('\u{8}'),
            b'f' => text.push('\u{c}'),
            b'n' => text.push('\n'),
            b'r' => text.push('\r'),
            b't' => text.push('\t'),
            b'u' => rest = unescape_unit(rest, &mut text),
            _ => text.push(kind as char),
        }
    }
    text.push_str(rest);
    text
}

/// One `\u` escape or a surrogate pair of two, from behind the `u`; what follows it.
fn unescape_unit<'a>(rest: &'a str, text: &mut String) -> &'a str {
    let unit = |from: &str| u32::from_str_radix(&from[..4], 16).expect("four digits follow \\u");
    let high = unit(rest);
    if !(0xD800..0xDC00).contains(&high) {
        text.push(char::from_u32(high).expect("half a surrogate pair"));
        return &rest[4..];
    }
    let low = rest[4..].strip_prefix("\\u").map(unit).filter(|low| (0xDC00..0xE000).contains(low));
    let low = low.expect("half a surrogate pair");
    text.push(char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)).expect("a code point"));
    &rest[10..]
}

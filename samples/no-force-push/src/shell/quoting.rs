//! Words: quotation, escapes, and what is expanded within them.

use super::{EMPTY, MAX_DEPTH, Raw, Reader, Script, UNKNOWN};

impl Reader<'_> {
    pub(super) fn word(&mut self) -> Raw {
        let mut raw = Raw::new();
        while let Some(char) = self.peek() {
            match char {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '\r' if matches!(self.ahead(1), None | Some('\n')) => break,
                _ => self.at += 1,
            }
            match char {
                '\'' => self.single(&mut raw),
                '"' => self.double(&mut raw),
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(escaped) => raw.push((escaped, true)),
                },
                '$' => self.dollar(&mut raw, false),
                '`' => {
                    self.backticks();
                    raw.push((UNKNOWN, false));
                }
                _ => raw.push((char, false)),
            }
        }
        raw
    }

    fn single(&mut self, raw: &mut Raw) {
        let start = raw.len();
        while let Some(char) = self.next() {
            if char == '\'' {
                break;
            }
            raw.push((char, true));
        }
        if raw.len() == start {
            raw.push((EMPTY, true));
        }
    }

    fn double(&mut self, raw: &mut Raw) {
        let start = raw.len();
        while let Some(char) = self.next() {
            match char {
                '"' => break,
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(escaped @ ('$' | '`' | '"' | '\\')) => raw.push((escaped, true)),
                    Some(other) => raw.extend([('\\', true), (other, true)]),
                },
                '$' => self.dollar(raw, true),
                '`' => {
                    self.backticks();
                    raw.push((UNKNOWN, true));
                }
                _ => raw.push((char, true)),
            }
        }
        if raw.len() == start {
            raw.push((EMPTY, true));
        }
    }

    /// What follows a dollar sign.
    pub(super) fn dollar(&mut self, raw: &mut Raw, quoted: bool) {
        match self.peek() {
            Some('\'') if !quoted => {
                self.at += 1;
                self.ansi(raw);
            }
            Some('"') if !quoted => {
                self.at += 1;
                self.double(raw);
            }
            Some('(') => {
                self.at += 1;
                self.substitution();
                raw.push((UNKNOWN, quoted));
            }
            Some('{') => {
                self.at += 1;
                self.parameter();
                raw.push((UNKNOWN, quoted));
            }
            Some(char) if char == '_' || char.is_ascii_alphanumeric() || "@*#?-$!".contains(char) => {
                self.at += 1;
                if char == '_' || char.is_ascii_alphabetic() {
                    while self.peek().is_some_and(|char| char == '_' || char.is_ascii_alphanumeric()) {
                        self.at += 1;
                    }
                }
                raw.push((UNKNOWN, quoted));
            }
            _ => raw.push(('$', quoted)),
        }
    }

    /// `${…}`: what it is worth is not known, but what it runs is.
    fn parameter(&mut self) {
        let start = self.at;
        let mut open = 1_usize;
        while let Some(char) = self.next() {
            match char {
                '\\' => self.at += 1,
                '{' => open += 1,
                '}' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                }
                _ => {}
            }
        }
        let inner: String = self.chars[start..self.at.min(self.chars.len())].iter().collect();
        if inner.contains("$(") || inner.contains('`') {
            self.expanded(&inner);
        }
    }

    /// The script in a substitution, from behind its parenthesis.
    pub(super) fn substitution(&mut self) {
        if self.depth >= MAX_DEPTH {
            self.at = self.chars.len();
            return;
        }
        let mut inner = Reader {
            chars: self.chars,
            at: self.at,
            script: Script::default(),
            heredocs: Vec::new(),
            depth: self.depth + 1,
        };
        inner.commands(true);
        self.at = inner.at;
        self.script.nested.push(inner.script);
    }

    pub(super) fn backticks(&mut self) {
        let mut inner = String::new();
        while let Some(char) = self.next() {
            match char {
                '`' => break,
                '\\' if matches!(self.peek(), Some('`' | '\\' | '$')) => inner.extend(self.next()),
                _ => inner.push(char),
            }
        }
        if self.depth < MAX_DEPTH {
            let chars: Vec<char> = inner.chars().collect();
            let mut reader = Reader {
                chars: &chars,
                at: 0,
                script: Script::default(),
                heredocs: Vec::new(),
                depth: self.depth + 1,
            };
            reader.commands(false);
            self.script.nested.push(reader.script);
        }
    }

    /// `$'…'`: C's escapes.
    fn ansi(&mut self, raw: &mut Raw) {
        let start = raw.len();
        while let Some(char) = self.next() {
            match char {
                '\'' => break,
                '\\' => {
                    let escaped = self.escape();
                    raw.extend(escaped.map(|char| (char, true)));
                }
                _ => raw.push((char, true)),
            }
        }
        if raw.len() == start {
            raw.push((EMPTY, true));
        }
    }

    fn escape(&mut self) -> Option<char> {
        let digits = |reader: &mut Self, base: u32, most: usize| {
            let start = reader.at;
            while reader.at - start < most && reader.peek().is_some_and(|char| char.is_digit(base)) {
                reader.at += 1;
            }
            let text: String = reader.chars[start..reader.at].iter().collect();
            u32::from_str_radix(&text, base).ok().and_then(char::from_u32)
        };
        Some(match self.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'e' | 'E' => '\u{1b}',
            'x' => digits(self, 16, 2)?,
            'u' => digits(self, 16, 4)?,
            'U' => digits(self, 16, 8)?,
            '0'..='7' => {
                self.at -= 1;
                digits(self, 8, 3)?
            }
            other => other,
        })
    }
}

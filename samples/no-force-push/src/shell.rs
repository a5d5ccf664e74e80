//! Reads a shell script far enough to know which commands it runs, with which words.
//!
//! Quoting, expansions of braces, here-documents and substitutions are followed as POSIX sh and bash do. Control flow is
//! not: every command counts, whichever branch it stands in. What only a running shell knows, such as the value of a
//! variable, is the character `UNKNOWN` in a word.

/// Stands in a word for what cannot be known without running the script.
pub const UNKNOWN: char = '\u{0}';

/// One command: its words, and what it reads where that stands in the script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    pub words: Vec<String>,
    /// The text of a here-document or a here-string.
    pub stdin: Option<String>,
    /// Whether it reads what the command before it writes.
    pub piped: bool,
}

/// The commands of a script in order, and the scripts within it that are run while its words are expanded.
#[derive(Debug, Default)]
pub struct Script {
    pub commands: Vec<Command>,
    pub nested: Vec<Script>,
}

/// Read a script. Anything is a script: what a shell would refuse is read as far as it goes.
pub fn read(text: &str) -> Script {
    let chars: Vec<char> = text.chars().collect();
    let mut reader = Reader { chars: &chars, at: 0, script: Script::default(), heredocs: Vec::new(), depth: 0 };
    reader.commands(false);
    reader.script
}

/// A word while it is read: each character, and whether it was quoted.
type Raw = Vec<(char, bool)>;

struct Heredoc {
    delimiter: String,
    quoted: bool,
    strip_tabs: bool,
    command: usize,
}

struct Reader<'a> {
    chars: &'a [char],
    at: usize,
    script: Script,
    heredocs: Vec<Heredoc>,
    depth: usize,
}

/// How deep substitutions may nest. What lies deeper is not followed.
const MAX_DEPTH: usize = 24;

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn ahead(&self, offset: usize) -> Option<char> {
        self.chars.get(self.at + offset).copied()
    }

    fn next(&mut self) -> Option<char> {
        let char = self.peek();
        self.at += usize::from(char.is_some());
        char
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = text.chars().enumerate().all(|(offset, char)| self.ahead(offset) == Some(char));
        if found {
            self.at += text.chars().count();
        }
        found
    }

    /// Commands up to the end, or with `inner` up to the parenthesis that closes a substitution.
    fn commands(&mut self, inner: bool) {
        let mut command = Command::default();
        let mut open = 0_usize;
        loop {
            self.blanks();
            let Some(char) = self.peek() else { break };
            match char {
                '\n' => {
                    self.at += 1;
                    self.finish(&mut command, false);
                    self.bodies();
                }
                '#' => self.skip_comment(),
                '(' => {
                    self.at += 1;
                    open += 1;
                    self.finish(&mut command, false);
                }
                ')' => {
                    self.at += 1;
                    if inner && open == 0 {
                        break;
                    }
                    open = open.saturating_sub(1);
                    self.finish(&mut command, false);
                }
                ';' => {
                    self.at += 1;
                    self.finish(&mut command, false);
                }
                '&' if self.ahead(1) == Some('>') => {
                    self.at += 1;
                    self.redirection(&mut command);
                }
                '&' => {
                    self.at += 1;
                    self.finish(&mut command, false);
                }
                '|' => {
                    self.at += 1;
                    let piped = !self.eat("|");
                    self.eat("&");
                    self.finish(&mut command, piped);
                }
                '<' | '>' if self.ahead(1) == Some('(') => {
                    self.at += 2;
                    self.substitution();
                    command.words.push(UNKNOWN.to_string());
                }
                '<' | '>' => self.redirection(&mut command),
                _ => self.take_word(&mut command),
            }
        }
        self.finish(&mut command, false);
        if !inner {
            self.bodies();
        }
    }

    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r' | '\u{c}' | '\u{b}') => self.at += 1,
                Some('\\') if self.ahead(1) == Some('\n') => self.at += 2,
                Some('\\') if self.ahead(1) == Some('\r') && self.ahead(2) == Some('\n') => self.at += 3,
                _ => return,
            }
        }
    }

    fn skip_comment(&mut self) {
        while self.peek().is_some_and(|char| char != '\n') {
            self.at += 1;
        }
    }

    /// End a command; the next one reads from it when `piped`.
    fn finish(&mut self, command: &mut Command, piped: bool) {
        let done = std::mem::take(command);
        // An empty one still counts where a here-document waits for it, or where a pipe goes on after a group.
        if !done.words.is_empty() || done.stdin.is_some() || done.piped || self.waiting() {
            self.script.commands.push(done);
        }
        command.piped = piped;
    }

    fn waiting(&self) -> bool {
        self.heredocs.iter().any(|heredoc| heredoc.command == self.script.commands.len())
    }

    fn take_word(&mut self, command: &mut Command) {
        let raw = self.word();
        // Digits right before a redirection are its descriptor.
        let descriptor = !raw.is_empty() && raw.iter().all(|(char, quoted)| char.is_ascii_digit() && !quoted);
        if descriptor && matches!(self.peek(), Some('<' | '>')) {
            return;
        }
        command.words.extend(expand_braces(&raw));
    }

    fn redirection(&mut self, command: &mut Command) {
        if self.eat("<<<") {
            self.blanks();
            let word = plain(&self.word());
            command.stdin = Some(word + "\n");
            return;
        }
        if self.eat("<<") {
            let strip_tabs = self.eat("-");
            self.blanks();
            let raw = self.word();
            let quoted = raw.iter().any(|(_, quoted)| *quoted);
            let command = self.script.commands.len();
            self.heredocs.push(Heredoc { delimiter: plain(&raw), quoted, strip_tabs, command });
            return;
        }
        while matches!(self.peek(), Some('<' | '>' | '&' | '|')) {
            self.at += 1;
        }
        self.blanks();
        self.word();
    }

    /// The bodies of the here-documents whose lines follow.
    fn bodies(&mut self) {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let mut body = String::new();
            while self.at < self.chars.len() {
                let end = self.chars[self.at..].iter().position(|char| *char == '\n');
                let line: String = self.chars[self.at..end.map_or(self.chars.len(), |end| self.at + end)].iter().collect();
                self.at += end.map_or(self.chars.len() - self.at, |end| end + 1);
                let line = if heredoc.strip_tabs { line.trim_start_matches('\t') } else { &line };
                if line.trim_end_matches('\r') == heredoc.delimiter {
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            if !heredoc.quoted {
                self.expanded(&body);
            }
            if let Some(command) = self.script.commands.get_mut(heredoc.command) {
                command.stdin = Some(body);
            }
        }
    }

    /// Scripts that run while a text is expanded as in double quotes.
    fn expanded(&mut self, text: &str) {
        let chars: Vec<char> = text.chars().collect();
        let mut reader = Reader {
            chars: &chars,
            at: 0,
            script: Script::default(),
            heredocs: Vec::new(),
            depth: self.depth,
        };
        let mut ignored = Raw::new();
        while let Some(char) = reader.next() {
            match char {
                '\\' => reader.at += 1,
                '$' => reader.dollar(&mut ignored, true),
                '`' => reader.backticks(),
                _ => {}
            }
        }
        self.script.nested.append(&mut reader.script.nested);
    }

    fn word(&mut self) -> Raw {
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
    fn dollar(&mut self, raw: &mut Raw, quoted: bool) {
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
    fn substitution(&mut self) {
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

    fn backticks(&mut self) {
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

/// Stands for an empty quotation, so that `""` is a word.
const EMPTY: char = '\u{1}';

fn plain(raw: &[(char, bool)]) -> String {
    raw.iter().map(|(char, _)| *char).filter(|char| *char != EMPTY).collect()
}

/// The words that unquoted braces make: `{-f,origin}` is two.
fn expand_braces(raw: &[(char, bool)]) -> Vec<String> {
    expand(raw, 0).iter().map(|word| plain(word)).collect()
}

const MAX_WORDS: usize = 256;

fn expand(raw: &[(char, bool)], depth: usize) -> Vec<Raw> {
    let Some((open, close, commas)) = braces(raw) else { return vec![raw.to_vec()] };
    if depth > 8 {
        return vec![raw.to_vec()];
    }
    let mut words = Vec::new();
    let mut start = open + 1;
    for end in commas.into_iter().chain([close]) {
        let mut word = raw[..open].to_vec();
        word.extend_from_slice(&raw[start..end]);
        word.extend_from_slice(&raw[close + 1..]);
        words.extend(expand(&word, depth + 1));
        start = end + 1;
        if words.len() > MAX_WORDS {
            break;
        }
    }
    words
}

/// The first group of unquoted braces with a comma in it: where it opens, closes, and its own commas.
fn braces(raw: &[(char, bool)]) -> Option<(usize, usize, Vec<usize>)> {
    let at = |index: usize, char: char| raw[index] == (char, false);
    for open in (0..raw.len()).filter(|index| at(*index, '{')) {
        let (mut depth, mut commas) = (0_usize, Vec::new());
        for index in open..raw.len() {
            if at(index, '{') {
                depth += 1;
            } else if at(index, ',') && depth == 1 {
                commas.push(index);
            } else if at(index, '}') {
                depth -= 1;
                if depth == 0 {
                    if commas.is_empty() {
                        break;
                    }
                    return Some((open, index, commas));
                }
            }
        }
    }
    None
}

//! Reads a shell script far enough to know which commands it runs, with which words.
//!
//! Quoting, expansions of braces, here-documents and substitutions are followed as POSIX sh and bash do. Control flow is
//! not: every command counts, whichever branch it stands in. What only a running shell knows, such as the value of a
//! variable, is the character `UNKNOWN` in a word.

mod braces;
mod quoting;

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
        command.words.extend(braces::expand_braces(&raw));
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
}

/// Stands for an empty quotation, so that `""` is a word.
const EMPTY: char = '\u{1}';

fn plain(raw: &[(char, bool)]) -> String {
    raw.iter().map(|(char, _)| *char).filter(|char| *char != EMPTY).collect()
}

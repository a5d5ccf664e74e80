//! Whether a script pushes with force, whatever it wraps the push in.

use crate::git::{self, Git};
use crate::settings::Settings;
use crate::shell::{self, Command, Script, UNKNOWN};
use crate::wrappers::{is_assignment, is_reserved, skip_options, unwrap};

/// How deep scripts may nest in scripts. What lies deeper is refused: nobody needs it, and nobody can read it.
const MAX_DEPTH: usize = 16;

/// Why a command line must not run, or `None`.
pub fn judge(text: &str, settings: &Settings) -> Option<String> {
    Judge { settings }.text(text, 0)
}

struct Judge<'a> {
    settings: &'a Settings,
}

impl Judge<'_> {
    fn text(&self, text: &str, depth: usize) -> Option<String> {
        if depth > MAX_DEPTH {
            return Some(format!("scripts nest deeper than {MAX_DEPTH} levels"));
        }
        self.script(&shell::read(text), depth)
    }

    fn script(&self, script: &Script, depth: usize) -> Option<String> {
        let mut before: Option<&Command> = None;
        for command in &script.commands {
            let piped = before.filter(|_| command.piped).and_then(output);
            let stdin = command.stdin.clone().or(piped);
            if let Some(reason) = self.words(&command.words, stdin.as_deref(), depth) {
                return Some(reason);
            }
            before = Some(command);
        }
        script.nested.iter().find_map(|nested| self.script(nested, depth + 1))
    }

    /// Judge one command with what it reads.
    fn words(&self, words: &[String], stdin: Option<&str>, depth: usize) -> Option<String> {
        let mut words = words;
        loop {
            while let Some(word) = words.first().filter(|word| is_reserved(word) || is_assignment(word)) {
                // `function f { …`: the name is no command.
                words = &words[if word == "function" { 2.min(words.len()) } else { 1 }..];
            }
            let name = base_name(words.first()?);
            match unwrap(name, words) {
                Some(inner) => words = inner,
                None => return self.command(name, &words[1..], stdin, depth),
            }
            if name == "flock" {
                // `flock FILE -c SCRIPT`
                if let Some(script) = words.iter().position(|word| word == "-c").and_then(|at| words.get(at + 1)) {
                    return self.text(script, depth + 1);
                }
            }
        }
    }

    fn command(&self, name: &str, rest: &[String], stdin: Option<&str>, depth: usize) -> Option<String> {
        match name {
            "git" | "git.exe" => self.git(rest, depth),
            "git-push" => self.git(&[&["push".to_string()], rest].concat(), depth),
            "env" => self.env(rest, stdin, depth),
            "xargs" | "parallel" => self.xargs(rest, stdin, depth),
            "eval" => self.text(&rest.join(" "), depth + 1),
            "trap" => self.text(skip_options(rest, &[]).first()?, depth + 1),
            "watch" => self.text(&skip_options(rest, &["-n", "--interval", "-q"]).join(" "), depth + 1),
            "ssh" => {
                let with_value = ["-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-e", "-m", "-w"];
                self.text(&skip_options(rest, &with_value).get(1..)?.join(" "), depth + 1)
            }
            "su" | "script" => {
                let at = rest.iter().position(|word| word == "-c" || word == "--command")?;
                self.text(rest.get(at + 1)?, depth + 1)
            }
            "source" | "." if rest.first().is_some_and(|file| file == "/dev/stdin") => self.text(stdin?, depth + 1),
            "make" | "gmake" => self.make(rest, stdin, depth),
            "find" | "fd" => self.find(rest, depth),
            _ if is_shell(name) => self.shell(rest, stdin, depth),
            _ if is_interpreter(name) => self.interpreter(name, rest, stdin, depth),
            _ => None,
        }
    }

    fn git(&self, rest: &[String], depth: usize) -> Option<String> {
        match git::judge(rest, self.settings) {
            Git::Refused(reason) => Some(reason),
            Git::Runs(script) => self.text(&script, depth + 1),
            Git::RunsWords(words) => self.words(&words, None, depth + 1),
            Git::Fine => None,
        }
    }

    fn env(&self, rest: &[String], stdin: Option<&str>, depth: usize) -> Option<String> {
        let mut at = 0;
        while let Some(word) = rest.get(at) {
            let split = word.strip_prefix("--split-string=").or_else(|| word.strip_prefix("-S").filter(|text| !text.is_empty()));
            if let Some(text) = split {
                return self.text(&format!("{text} {}", rest[at + 1..].join(" ")), depth + 1);
            }
            match word.as_str() {
                "-S" | "--split-string" => return self.text(&rest.get(at + 1..)?.join(" "), depth + 1),
                "-u" | "-C" | "--unset" | "--chdir" => at += 2,
                "--" => at += 1,
                word if word.starts_with('-') || is_assignment(word) => at += 1,
                _ => break,
            }
        }
        self.words(rest.get(at..)?, stdin, depth + 1)
    }

    /// `xargs` appends what it reads; what that is is known where the script says it.
    fn xargs(&self, rest: &[String], stdin: Option<&str>, depth: usize) -> Option<String> {
        let with_value = ["-I", "-n", "-P", "-L", "-d", "-a", "-s", "-E", "-j", "--max-args", "--max-procs", "--delimiter", "--replace"];
        let command = skip_options(rest, &with_value);
        let read: Vec<String> = stdin.unwrap_or_default().split_whitespace().map(str::to_string).collect();
        let mut words = command.to_vec();
        let place = rest.iter().position(|word| word == "-I").and_then(|at| rest.get(at + 1));
        match place {
            Some(place) => {
                let text = read.join(" ");
                words.iter_mut().for_each(|word| *word = word.replace(place.as_str(), &text));
            }
            None => words.extend(read.into_iter().filter(|word| word != ":::")),
        }
        words.retain(|word| word != ":::");
        self.words(&words, None, depth + 1)
    }

    fn shell(&self, rest: &[String], stdin: Option<&str>, depth: usize) -> Option<String> {
        let mut at = 0;
        while let Some(word) = rest.get(at).filter(|word| word.starts_with(['-', '+']) && word.len() > 1) {
            if word == "--" {
                at += 1;
                break;
            }
            let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
            if letters.is_some_and(|letters| letters.contains('c')) {
                let script = rest[at + 1..].iter().find(|word| !word.starts_with('-'))?;
                return self.text(script, depth + 1);
            }
            let takes_value = matches!(word.as_str(), "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file");
            at += if takes_value { 2 } else { 1 };
        }
        let reads_stdin = rest.get(at).is_none_or(|file| file == "/dev/stdin" || file == "-")
            || rest[..at].iter().any(|word| word == "-s");
        if reads_stdin { self.text(stdin?, depth + 1) } else { None }
    }

    fn make(&self, rest: &[String], stdin: Option<&str>, depth: usize) -> Option<String> {
        let from_stdin = rest.iter().enumerate().any(|(index, word)| {
            matches!(word.as_str(), "-f-" | "--file=-" | "--makefile=-" | "-f/dev/stdin")
                || word == "-f" && rest.get(index + 1).is_some_and(|file| file == "-" || file == "/dev/stdin")
        });
        let text = stdin.filter(|_| from_stdin)?;
        // Recipes are the lines that begin with a tab, or stand behind a rule's semicolon; `@`, `-`, `+` are make's.
        text.lines().find_map(|line| {
            let recipe = line.strip_prefix('\t').or_else(|| line.split_once(';').map(|(_, recipe)| recipe))?;
            self.text(recipe.trim_start_matches(['@', '-', '+', ' ']), depth + 1)
        })
    }

    fn find(&self, rest: &[String], depth: usize) -> Option<String> {
        let runs = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
        rest.iter().enumerate().filter(|(_, word)| runs.contains(&word.as_str())).find_map(|(index, _)| {
            let words = &rest[index + 1..];
            let end = words.iter().position(|word| word == ";" || word == "+").unwrap_or(words.len());
            self.words(&words[..end], None, depth + 1)
        })
    }

    /// A program in another language: every string in it may be a command, and a row of strings its words.
    fn interpreter(&self, name: &str, rest: &[String], stdin: Option<&str>, depth: usize) -> Option<String> {
        let awk = name.contains("awk");
        let code = if awk {
            skip_options(rest, &["-F", "-v", "-f"]).first().map(String::as_str)
        } else {
            let flag = rest.iter().position(|word| matches!(word.as_str(), "-c" | "-e" | "-E" | "-r" | "--eval" | "-p" | "-ne" | "-pe"));
            match flag {
                Some(at) => rest.get(at + 1).map(String::as_str),
                None if rest.iter().all(|word| word.starts_with('-')) => stdin,
                None => None,
            }
        }?;
        let (texts, rows) = strings_in(code);
        texts.iter().find_map(|text| self.text(text, depth + 1)).or_else(|| {
            rows.iter().find_map(|row| self.words(row, None, depth + 1))
        })
    }
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "mksh" | "ash" | "fish" | "rbash" | "yash")
}

fn is_interpreter(name: &str) -> bool {
    let name = name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    matches!(name, "python" | "pypy" | "perl" | "ruby" | "node" | "nodejs" | "deno" | "bun" | "php" | "lua" | "awk" | "gawk" | "mawk" | "nawk" | "osascript")
}

/// What a command writes, where the script says it.
fn output(command: &Command) -> Option<String> {
    let mut words = &command.words[..];
    while words.first().is_some_and(|word| is_reserved(word) || is_assignment(word)) {
        words = &words[1..];
    }
    let name = base_name(words.first()?);
    let rest = &words[1..];
    let text = match name {
        "echo" => {
            let flags = rest.iter().take_while(|word| matches!(word.as_str(), "-n" | "-e" | "-E" | "-ne" | "-en")).count();
            let escapes = rest[..flags].iter().any(|flag| flag.contains('e'));
            let text = rest[flags..].join(" ");
            if escapes { unescape(&text) } else { text }
        }
        "printf" => printf(rest),
        "cat" | "tee" if rest.is_empty() || rest.iter().all(|word| word == "-") => command.stdin.clone()?,
        _ => return None,
    };
    Some(text.replace(UNKNOWN, " "))
}

fn unescape(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")
}

fn printf(rest: &[String]) -> String {
    let Some((format, values)) = rest.split_first() else { return String::new() };
    let mut values = values.iter();
    let mut text = String::new();
    let mut chars = format.chars().peekable();
    while let Some(char) = chars.next() {
        if char != '%' {
            text.push(char);
        } else if chars.next_if_eq(&'%').is_some() {
            text.push('%');
        } else {
            while chars.next_if(|char| !char.is_ascii_alphabetic()).is_some() {}
            chars.next();
            text.push_str(values.next().map(String::as_str).unwrap_or_default());
        }
    }
    for value in values {
        text.push(' ');
        text.push_str(value);
    }
    unescape(&text)
}

/// The string literals in a program, and the rows of them that only commas separate.
fn strings_in(code: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let (mut texts, mut rows): (Vec<String>, Vec<Vec<String>>) = (Vec::new(), Vec::new());
    let mut row: Vec<String> = Vec::new();
    let mut chars = code.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' | '\'' | '`' => {
                let mut text = String::new();
                while let Some(inner) = chars.next() {
                    match inner {
                        '\\' => text.extend(chars.next()),
                        inner if inner == char => break,
                        inner => text.push(inner),
                    }
                }
                texts.push(text.clone());
                row.push(text);
            }
            ',' | ' ' | '\t' | '\n' => {}
            _ => rows.extend(Some(std::mem::take(&mut row)).filter(|row| row.len() > 1)),
        }
    }
    rows.extend(Some(row).filter(|row| row.len() > 1));
    (texts, rows)
}

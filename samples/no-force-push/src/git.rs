//! What a git command does to the remote.

use crate::settings::Settings;
use crate::shell::UNKNOWN;

/// What a git command is: a push that must not be made, another command that it runs, or nothing of concern.
#[derive(Debug, PartialEq)]
pub enum Git {
    Refused(String),
    Runs(String),
    RunsWords(Vec<String>),
    Fine,
}

/// Options of git itself that take a value in the next word.
const GLOBAL_WITH_VALUE: &[&str] =
    &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env", "--attr-source"];

/// Judge a git command from behind the word `git`.
pub fn judge(words: &[String], settings: &Settings) -> Git {
    let mut aliases: Vec<(String, String)> = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        let config = match word.as_str() {
            "-c" => words.get(at + 1).cloned(),
            _ => None,
        };
        if let Some((key, value)) = config.as_deref().and_then(|config| config.split_once('=')) {
            let key = key.to_ascii_lowercase();
            if let Some(name) = key.strip_prefix("alias.") {
                aliases.push((name.to_string(), value.to_string()));
            } else if key.starts_with("remote.") && key.ends_with(".push") && value.starts_with('+')
                || key.starts_with("remote.") && key.ends_with(".mirror") && value != "false"
            {
                return Git::Refused(format!("`-c {key}={value}` makes a push overwrite"));
            }
        }
        at += if GLOBAL_WITH_VALUE.contains(&word.as_str()) { 2 } else { 1 };
    }
    let Some(command) = words.get(at) else { return Git::Fine };
    let rest = &words[at + 1..];
    if let Some((_, value)) = aliases.iter().rev().find(|(name, _)| name == command) {
        let rest = rest.join(" ");
        return match value.strip_prefix('!') {
            Some(script) => Git::Runs(format!("{script} {rest}")),
            None => Git::Runs(format!("git {value} {rest}")),
        };
    }
    match command.as_str() {
        "push" => Push::read(rest).judge(settings),
        "submodule" if rest.iter().any(|word| word == "foreach") => {
            let from = rest.iter().position(|word| word == "foreach").unwrap_or(0);
            Git::Runs(rest[from + 1..].iter().filter(|word| !word.starts_with("--")).cloned().collect::<Vec<_>>().join(" "))
        }
        "rebase" => match value_of(rest, "-x", "--exec") {
            Some(script) => Git::Runs(script),
            None => Git::Fine,
        },
        "bisect" if rest.first().is_some_and(|word| word == "run") => Git::RunsWords(rest[1..].to_vec()),
        _ => Git::Fine,
    }
}

fn value_of(words: &[String], short: &str, long: &str) -> Option<String> {
    for (index, word) in words.iter().enumerate() {
        if word == short || word == long {
            return words.get(index + 1).cloned();
        }
        if let Some(value) = word.strip_prefix(long).and_then(|rest| rest.strip_prefix('=')) {
            return Some(value.to_string());
        }
        if let Some(value) = word.strip_prefix(short).filter(|value| !value.is_empty() && !word.starts_with("--")) {
            return Some(value.to_string());
        }
    }
    None
}

/// The long options of `git push`, and whether each takes a value in the next word.
const LONG: &[(&str, bool)] = &[
    ("all", false),
    ("atomic", false),
    ("branches", false),
    ("delete", false),
    ("dry-run", false),
    ("exec", true),
    ("follow-tags", false),
    ("force", false),
    ("force-if-includes", false),
    ("force-with-lease", false),
    ("ipv4", false),
    ("ipv6", false),
    ("mirror", false),
    ("porcelain", false),
    ("progress", false),
    ("prune", false),
    ("push-option", true),
    ("quiet", false),
    ("receive-pack", true),
    ("recurse-submodules", true),
    ("repo", true),
    ("set-upstream", false),
    ("signed", false),
    ("tags", false),
    ("thin", false),
    ("verbose", false),
    ("verify", false),
];

#[derive(Debug, Default)]
struct Push {
    force: bool,
    lease: bool,
    delete: bool,
    mirror: bool,
    prune: bool,
    dry_run: bool,
    help: bool,
    everything: bool,
    repo: bool,
    positional: Vec<String>,
}

impl Push {
    /// Read the words behind `push` as git's option parser does: options anywhere, abbreviated, combined, negated.
    fn read(words: &[String]) -> Push {
        let mut push = Push::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                push.positional.extend(words.cloned());
                break;
            }
            if let Some(long) = word.strip_prefix("--") {
                let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                if push.long(name) && value.is_none() {
                    words.next();
                }
            } else if word.starts_with('-') && word.len() > 1 {
                if push.short(&word[1..]) {
                    words.next();
                }
            } else {
                push.positional.push(word.clone());
            }
        }
        push
    }

    /// Take a long option; whether its value is the next word.
    fn long(&mut self, name: &str) -> bool {
        let (name, on) = match name.strip_prefix("no-") {
            Some(rest) if name != "no-verify" => (rest, false),
            _ => (name, true),
        };
        // A unique abbreviation counts; `--forc`, which git finds ambiguous, is taken for the worst it could be.
        let full = LONG
            .iter()
            .find(|(long, _)| *long == name)
            .or_else(|| LONG.iter().find(|(long, _)| !name.is_empty() && long.starts_with(name)));
        let Some((full, takes_value)) = full else { return false };
        match *full {
            "force" => self.force = on,
            "force-with-lease" => self.lease = on,
            "delete" => self.delete = on,
            "mirror" => self.mirror = on,
            "prune" => self.prune = on,
            "dry-run" => self.dry_run = on,
            "all" | "branches" => self.everything = on,
            "repo" => self.repo = on,
            _ => {}
        }
        *takes_value && on
    }

    /// Take combined short options; whether the last one's value is the next word.
    fn short(&mut self, letters: &str) -> bool {
        for (index, letter) in letters.char_indices() {
            match letter {
                'f' => self.force = true,
                'd' => self.delete = true,
                'n' => self.dry_run = true,
                'h' => self.help = true,
                'o' => return index + 1 == letters.len(),
                _ => {}
            }
        }
        false
    }

    fn judge(&self, settings: &Settings) -> Git {
        if self.dry_run || self.help {
            return Git::Fine;
        }
        let refspecs = if self.repo { &self.positional[..] } else { self.positional.get(1..).unwrap_or_default() };
        if self.mirror {
            return Git::Refused("`--mirror` overwrites and deletes what is on the remote".into());
        }
        if self.prune && settings.deny_delete {
            return Git::Refused("`--prune` deletes what is on the remote".into());
        }
        let forced = self.force || self.lease && !settings.allow_with_lease;
        let mut protected = false;
        for refspec in refspecs {
            let (plus, plain) = refspec.strip_prefix('+').map_or((false, refspec.as_str()), |plain| (true, plain));
            let target = plain.split_once(':').map_or(plain, |(_, target)| target);
            if !settings.protects(target) {
                continue;
            }
            protected = true;
            if plus {
                return Git::Refused(format!("`{refspec}` overwrites what is on the remote"));
            }
            let deletes = self.delete || plain.len() > 1 && plain.starts_with(':');
            if deletes && settings.deny_delete {
                let what = if target.contains(UNKNOWN) { "a branch" } else { target };
                return Git::Refused(format!("it deletes {what} on the remote"));
            }
        }
        // Without a refspec, or with all branches, what is pushed is not known; it may be a protected one.
        if forced && (protected || refspecs.is_empty() || self.everything) {
            let option = if self.force { "`--force`" } else { "`--force-with-lease`" };
            return Git::Refused(format!("{option} overwrites what is on the remote"));
        }
        Git::Fine
    }
}

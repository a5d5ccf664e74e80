//! Commands that run other commands, and where among their words the other one begins.

/// A command whose options come before the command that it runs.
struct Wrapper {
    names: &'static [&'static str],
    /// Options that take a value in the next word.
    with_value: &'static [&'static str],
    /// How many words stand between the options and the command.
    operands: usize,
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["sudo"],
        with_value: &[
            "-u", "-g", "-h", "-p", "-C", "-T", "-r", "-t", "-D", "-R", "-U", "-a", "-c", "--user", "--group", "--host",
            "--prompt", "--chdir", "--chroot", "--role", "--type", "--close-from", "--command-timeout", "--other-user",
        ],
        operands: 0,
    },
    Wrapper { names: &["doas"], with_value: &["-u", "-C", "-a"], operands: 0 },
    Wrapper { names: &["command", "builtin", "nohup", "setsid", "unbuffer", "catchsegv", "coproc", "pkexec"], with_value: &[], operands: 0 },
    Wrapper { names: &["exec"], with_value: &["-a"], operands: 0 },
    Wrapper { names: &["nice"], with_value: &["-n", "--adjustment"], operands: 0 },
    Wrapper { names: &["ionice"], with_value: &["-c", "-n", "--class", "--classdata"], operands: 0 },
    Wrapper { names: &["chrt"], with_value: &[], operands: 1 },
    Wrapper { names: &["taskset"], with_value: &[], operands: 1 },
    Wrapper { names: &["timeout"], with_value: &["-k", "-s", "--kill-after", "--signal"], operands: 1 },
    Wrapper { names: &["time"], with_value: &["-f", "-o", "--format", "--output"], operands: 0 },
    Wrapper { names: &["stdbuf"], with_value: &["-i", "-o", "-e", "--input", "--output", "--error"], operands: 0 },
    Wrapper { names: &["strace", "ltrace"], with_value: &["-e", "-o", "-s", "-p", "-u", "-E"], operands: 0 },
    Wrapper { names: &["chroot"], with_value: &[], operands: 1 },
    Wrapper { names: &["unshare", "fakeroot", "proxychains", "proxychains4", "torsocks", "dbus-run-session"], with_value: &[], operands: 0 },
    Wrapper { names: &["busybox", "toybox"], with_value: &[], operands: 0 },
    Wrapper { names: &["caffeinate"], with_value: &["-t", "-w"], operands: 0 },
    Wrapper { names: &["flock"], with_value: &["-w", "-E", "--timeout", "--conflict-exit-code"], operands: 1 },
    Wrapper { names: &["runuser"], with_value: &["-u", "-g", "-G"], operands: 0 },
];

/// The words of the command that a wrapper runs, or `None` when the command is no wrapper.
///
/// `words[0]` is `name`. Empty when the wrapper runs nothing.
pub fn unwrap<'a>(name: &str, words: &'a [String]) -> Option<&'a [String]> {
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&name))?;
    // `command -v git` and `-V` only tell about it.
    if name == "command" && words.get(1).is_some_and(|word| word.starts_with('-') && word.contains(['v', 'V'])) {
        return Some(&[]);
    }
    let rest = skip_options(&words[1..], wrapper.with_value);
    Some(rest.get(wrapper.operands..).unwrap_or_default())
}

/// The words behind the options. `--` ends them.
pub fn skip_options<'a>(words: &'a [String], with_value: &[&str]) -> &'a [String] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word == "--" {
            return &words[at + 1..];
        }
        if !word.starts_with('-') || word == "-" {
            break;
        }
        at += if with_value.contains(&word.as_str()) { 2 } else { 1 };
    }
    words.get(at..).unwrap_or_default()
}

/// Words that open or join compound commands, behind which a command begins.
pub fn is_reserved(word: &str) -> bool {
    matches!(
        word,
        "if" | "then" | "elif" | "else" | "fi" | "while" | "until" | "do" | "done" | "{" | "}" | "!" | "esac" | "time" | "function"
    )
}

/// Whether a word sets a variable: `NAME=value`.
pub fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.chars().all(|char| char == '_' || char.is_ascii_alphanumeric())
    })
}

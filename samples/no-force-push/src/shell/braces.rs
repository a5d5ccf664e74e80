//! Expansion of braces: one word may be several.

use super::{Raw, plain};

/// The words that unquoted braces make: `{-f,origin}` is two.
pub(super) fn expand_braces(raw: &[(char, bool)]) -> Vec<String> {
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

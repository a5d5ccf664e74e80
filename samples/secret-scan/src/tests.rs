use super::*;

const ALL: Options = Options { url_passwords: true };

/// Made up, and written in pieces so that no scanner takes this file for a leak.
fn token(prefix: &str, length: usize) -> String {
    let letters = "A1b2C3d4E5f6G7h8I9j0";
    prefix.to_string() + &letters.chars().cycle().take(length).collect::<String>()
}

fn hex(prefix: &str, length: usize) -> String {
    prefix.to_string() + &"0a1b2c3d4e5f".chars().cycle().take(length).collect::<String>()
}

fn upper(prefix: &str, length: usize) -> String {
    prefix.to_string() + &"A1B2C3D4".chars().cycle().take(length).collect::<String>()
}

fn kinds(text: &str) -> Vec<&'static str> {
    find(text, ALL).iter().map(|hit| hit.kind).collect()
}

#[test]
fn every_shape_is_found_in_a_sentence_in_quotes_and_behind_an_escape() {
    for shape in SHAPES {
        let length = shape.least.max(12).min(shape.most);
        let secret = match shape.class {
            shapes::Class::Hex => hex(shape.prefix, length),
            shapes::Class::Upper => upper(shape.prefix, length),
            _ => token(shape.prefix, length),
        };
        for text in [format!("use {secret}."), format!("\"{secret}\""), format!("a\\n{secret}\\nb"), format!("x={secret}")] {
            let clean = redact(&text, ALL).unwrap_or_else(|| panic!("{text} is not found"));
            assert!(!clean.contains(&secret), "{clean}");
            assert_eq!(kinds(&text).len(), 1, "{text}");
        }
        assert!(!contains(&format!("x{secret}"), Options { url_passwords: false }) || shape.prefix.len() < 4, "{secret}");
    }
}

#[test]
fn keys_tokens_and_passwords_without_a_fixed_prefix() {
    let header = token("eyJ", 20);
    let jwt = format!("{header}.{}.{}", token("eyJ", 30), token("", 43));
    assert_eq!(kinds(&format!("Cookie: s={jwt}; x")), ["jwt"]);
    let key = format!("-----BEGIN RSA {}-----\nMIIB\nAAAA\n-----END RSA {0}-----", "PRIVATE KEY");
    assert_eq!(redact(&format!("a\n{key}\nb"), ALL).as_deref(), Some("a\n[redacted:private-key]\nb"));
    assert_eq!(redact(&key.replace('\n', "\\n"), ALL).as_deref(), Some("[redacted:private-key]"));
    assert_eq!(redact(&key[..40], ALL).as_deref(), Some("[redacted:private-key]"));
    assert_eq!(redact("postgres://app:hunter2@db/x", ALL).as_deref(), Some("postgres://app:[redacted:url-password]@db/x"));
    assert_eq!(kinds(&format!("Authorization: Bearer {}", token("", 24))), ["authorization"]);
    assert_eq!(kinds(&format!("aws_secret_access_key = {}", token("", 40))), ["aws-secret"]);
    assert_eq!(kinds(&format!("AccountKey={}==;", token("", 86))), ["azure-key"]);
    assert_eq!(kinds(&format!("12345678:{}", token("AA", 33))), ["telegram-token"]);
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA",
        "https://example.test/a@b:c",
        "postgres://app:$PASSWORD@db/x",
        "bearer of bad newsletters everywhere",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAB",
        "task-runner-sk-learn",
        "ghp_ is how they begin",
        "",
    ] {
        assert_eq!(redact(text, ALL), None, "{text}");
    }
}

#[test]
fn a_long_text_takes_linear_time() {
    for part in ["-----BEGIN ", "eyJ", "://a:", "Bearer ", "1", "ghp_"] {
        contains(&part.repeat(200_000), ALL);
    }
}

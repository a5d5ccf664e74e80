use orrery_ext_api::serde_json::json;
use orrery_ext_api::testing::{Asked, Harness};

use crate::judge::judge;
use crate::settings::Settings;

fn refused(command: &str) -> bool {
    judge(command, &Settings::default()).is_some()
}

#[test]
fn a_forced_push_is_found_in_whatever_it_is_wrapped() {
    for command in [
        "git push --force",
        "git push -uf origin main",
        "git push origin +main",
        "git -C repo -c user.name=x push -f",
        "FOO=1 sudo -u bot git push -f",
        "timeout -k 5 20 git push --force",
        "true && (cd x; git push -f)",
        "bash -lc 'git push -f'",
        "eval \"git push -f\"",
        "echo $(git push -f)",
        "sh <<'EOF'\ngit push -f\nEOF",
        "cat <<EOF\n$(git push -f)\nEOF",
        "echo push -f | xargs git",
        "git push {-f,origin,main}",
        "g''it push $'\\055f'",
        "python3 -c \"import subprocess; subprocess.run(['git', 'push', '-f'])\"",
        "git -c alias.p='push -f' p",
    ] {
        assert!(refused(command), "{command}");
    }
}

#[test]
fn what_only_mentions_it_is_fine() {
    for command in [
        "git push origin main",
        "echo 'git push --force'",
        "git commit -m 'git push -f'",
        "# git push -f",
        "cat > notes <<'EOF'\ngit push -f\nEOF",
        "git push --force-with-lease",
        "git push -o -f origin main",
        "git stash push -f",
        "command -v git push -f",
        "",
        "(((((",
        "'",
    ] {
        assert!(!refused(command), "{command}");
    }
}

#[test]
fn settings_narrow_and_widen() {
    let protected = Settings { protected: vec!["main".into(), "release/*".into()], ..Settings::default() };
    assert!(judge("git push -f origin main", &protected).is_some());
    assert!(judge("git push origin +HEAD:refs/heads/release/1", &protected).is_some());
    assert!(judge("git push -f origin feature", &protected).is_none());
    assert!(judge("git push -f", &protected).is_some());
    let strict = Settings { allow_with_lease: false, ..Settings::default() };
    assert!(judge("git push --force-with-lease origin main", &strict).is_some());
    let loose = Settings { deny_delete: false, ..Settings::default() };
    assert!(judge("git push origin :old", &loose).is_none());
}

#[test]
fn deep_nesting_ends() {
    assert!(refused(&format!("sh -c '{}git push -f'", "eval ".repeat(40))));
    let deep = "$(".repeat(10_000);
    judge(&deep, &Settings::default());
}

#[test]
fn the_extension_denies_with_a_reason() {
    let harness = Harness::new(crate::register, json!({})).unwrap();
    let answer = harness.ask("no-force-push", json!({"tool": "builtin.bash", "input": {"command": "git push -f"}}));
    assert_eq!(
        answer,
        Ok(Asked::Deny("`--force` overwrites what is on the remote; push to a new branch instead".into()))
    );
    assert!(Harness::new(crate::register, json!({"protectd": []})).is_err());
}

//! The crate of one's own, built and run from outside the workspace.

use std::path::Path;
use std::process::{Command, Output};

const CRATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/own-recipe");

/// Copies the crate, as somebody would who begins with it.
fn copied(to: &Path) {
    for file in [".cargo/config.toml", "Cargo.toml", "src/main.rs", "src/tests.rs"] {
        let target = to.join(file);
        std::fs::create_dir_all(target.parent().expect("it has one")).expect("a directory can be made");
        let text = std::fs::read_to_string(Path::new(CRATE).join(file)).expect("it is there");
        let here = format!("path = {:?}", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(target, text.replace("path = \"../..\"", &here)).expect("it can be written");
    }
    // The versions that everything else here is tested with.
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock");
    std::fs::copy(lock, to.join("Cargo.lock")).expect("it can be copied");
}

fn cargo(dir: &Path, arguments: &str) -> (Option<i32>, String) {
    // Beside what this test was built with, so that a second run has little to build.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-recipe");
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments.split_whitespace()).current_dir(dir).env("CARGO_TARGET_DIR", target);
    command.env("CARGO_INCREMENTAL", "0"); // built once, and twice the disk otherwise
    for set in ["RUSTFLAGS", "RUSTDOCFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        command.env_remove(set);
    }
    let Output { status, stdout, stderr } = command.output().expect("cargo starts");
    (status.code(), String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
}

#[test]
fn a_crate_of_ones_own_gets_the_whole_command() {
    let dir = tempfile::tempdir().expect("a directory");
    copied(dir.path());
    let (status, text) = cargo(dir.path(), "run --quiet -- check my-lock");
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("violated (") && text.contains("no-waiter-stuck"), "{text}");
    let (status, text) = cargo(dir.path(), "run --quiet -- run my-lock --seeds 50");
    assert_eq!(status, Some(1), "{text}");
    let replay =
        text.lines().rev().find_map(|line| line.split_once(" replay my-lock --seed ")).expect("a command");
    let (status, text) = cargo(dir.path(), &format!("run --quiet -- replay my-lock --seed {}", replay.1));
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("my-lock") && text.contains("BROKEN"), "{text}");
    let (status, text) = cargo(dir.path(), "run --quiet -- judge my-lock lock --seeds 50");
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("my-lock: no-waiter-stuck is broken in the model"), "{text}");
    assert!(!text.contains("\nlock: "), "{text}");
    let few = "--seeds 5 --max-states 8000 --occasions 1 --at-least 0";
    let (status, text) = cargo(dir.path(), &format!("run --quiet -- mutate my-lock {few}"));
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("the recipe itself breaks no-waiter-stuck, which kills nothing"), "{text}");
    assert!(text.contains("killed       exclusion-among-live-sessions"), "{text}");
    let (status, text) = cargo(dir.path(), "test --quiet");
    assert_eq!(status, Some(0), "{text}");
}

#[test]
fn it_is_as_short_as_the_readme_says() {
    let lines = include_str!("../examples/own-recipe/src/main.rs").lines().count();
    assert!(lines < 64, "{lines} lines");
    let readme = include_str!("../../README.md");
    assert!(readme.contains(&format!("a whole one, {lines} lines of Rust")), "{lines} lines");
}

//! The crate of one's own, built and run from outside the workspace.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A new crate, as somebody gets it who begins.
fn written(to: &Path) -> PathBuf {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zoocheck"));
    let status = command.args(["new", "my-lock"]).current_dir(to).status().expect("the command starts");
    assert!(status.success());
    // The versions that everything else here is tested with.
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock");
    std::fs::copy(lock, to.join("my-lock/Cargo.lock")).expect("it can be copied");
    to.join("my-lock")
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
    let dir = written(dir.path());
    let (status, text) = cargo(&dir, "run --quiet -- check my-lock");
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("violated (") && text.contains("no-waiter-stuck"), "{text}");
    let (status, text) = cargo(&dir, "run --quiet -- run my-lock --seeds 50");
    assert_eq!(status, Some(1), "{text}");
    let replay =
        text.lines().rev().find_map(|line| line.split_once(" replay my-lock --seed ")).expect("a command");
    let (status, text) = cargo(&dir, &format!("run --quiet -- replay my-lock --seed {}", replay.1));
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("my-lock") && text.contains("BROKEN"), "{text}");
    let (status, text) = cargo(&dir, "run --quiet -- judge my-lock lock --seeds 50");
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("my-lock: no-waiter-stuck is broken in the model"), "{text}");
    assert!(!text.contains("\nlock: "), "{text}");
    let few = "--seeds 5 --max-states 8000 --occasions 1 --at-least 0";
    let (status, text) = cargo(&dir, &format!("run --quiet -- mutate my-lock {few}"));
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("the recipe itself breaks no-waiter-stuck, which kills nothing"), "{text}");
    assert!(text.contains("killed       exclusion-among-live-sessions"), "{text}");
    let (status, text) = cargo(&dir, "test --quiet");
    assert_eq!(status, Some(0), "{text}");
}

#[test]
fn it_is_as_short_as_the_readme_says() {
    let lines = include_str!("../examples/own-recipe/src/main.rs").lines().count();
    assert!(lines < 64, "{lines} lines");
    let readme = include_str!("../../README.md");
    assert!(readme.contains(&format!("a whole one, {lines} lines of Rust")), "{lines} lines");
}

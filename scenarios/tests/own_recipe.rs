//! The crate of one's own: compiled outside the workspace, and run as an example within.
#![cfg(feature = "run")]

use std::path::Path;
use std::process::{Command, Output};

fn output(command: &mut Command) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    (status.code(), String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
}

/// Checks a crate, and does not build it, since that takes as long as zoocheck itself.
fn compiles(dir: &Path) {
    // The versions that everything else here is tested with.
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock");
    std::fs::copy(lock, dir.join("Cargo.lock")).expect("it can be copied");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["check", "--quiet", "--all-targets"]);
    // Kept beside what this test was built with, so that a second run has little to do.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-recipe");
    cargo.current_dir(dir).env("CARGO_TARGET_DIR", target).env("CARGO_INCREMENTAL", "0");
    for set in ["RUSTFLAGS", "RUSTDOCFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        cargo.env_remove(set);
    }
    let (status, text) = output(&mut cargo);
    assert_eq!((status, text.as_str()), (Some(0), ""));
}

/// As somebody gets it who begins, with the features that it asks for. What it does is tried with the same source as an
/// example of this crate.
#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn a_new_crate_compiles_outside_the_workspace() {
    let dir = tempfile::tempdir().expect("a directory");
    let new = ["new", "my-lock"];
    let (status, text) =
        output(Command::new(env!("CARGO_BIN_EXE_zoocheck")).args(new).current_dir(dir.path()));
    assert_eq!(status, Some(0), "{text}");
    compiles(&dir.path().join("my-lock"));

    // The model checker alone, which needs no madsim and no cfg.
    let alone = dir.path().join("alone");
    std::fs::create_dir_all(alone.join("src")).expect("folders");
    let main = "fn main() -> std::process::ExitCode {\n    zoocheck::Catalogue::default().main()\n}\n";
    std::fs::write(alone.join("src/main.rs"), main).expect("it is written");
    let manifest = format!(
        "[package]\nname = \"alone\"\nedition = \"2024\"\n\n\
         [dependencies]\nzoocheck = {{ path = {:?}, default-features = false }}\n",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::write(alone.join("Cargo.toml"), manifest).expect("it is written");
    compiles(&alone);
}

/// Runs the example.
fn own(arguments: &str) -> (Option<i32>, String) {
    let example = Path::new(env!("CARGO_BIN_EXE_zoocheck")).with_file_name("examples/own-recipe");
    assert!(example.exists(), "cargo test -p zoocheck builds {}", example.display());
    output(Command::new(example).args(arguments.split(' ')))
}

#[test]
fn a_crate_of_ones_own_gets_the_whole_command() {
    let (status, text) = own("check my-lock");
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("violated (") && text.contains("no-waiter-stuck"), "{text}");
    let (status, text) = own("run my-lock --seeds 50");
    assert_eq!(status, Some(1), "{text}");
    let replay =
        text.lines().rev().find_map(|line| line.split_once(" replay my-lock --seed ")).expect("a command");
    let (status, text) = own(&format!("replay my-lock --seed {}", replay.1));
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("my-lock") && text.contains("BROKEN"), "{text}");
    let (status, text) = own("judge my-lock try-lock --seeds 50");
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("my-lock: no-waiter-stuck is broken in the model"), "{text}");
    assert!(!text.contains("\ntry-lock: "), "{text}");
    let (status, text) = own("mutate my-lock --seeds 5 --max-states 8000 --occasions 1 --at-least 0");
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("the recipe itself breaks no-waiter-stuck, which kills nothing"), "{text}");
    assert!(text.contains("killed       exclusion-among-live-sessions"), "{text}");
}

#[test]
fn it_is_as_short_as_the_readme_says() {
    let lines = include_str!("../examples/own-recipe/src/main.rs").lines().count();
    assert!(lines < 64, "{lines} lines");
    let readme = include_str!("../../README.md");
    assert!(readme.contains(&format!("a whole one, {lines} lines of Rust")), "{lines} lines");
}

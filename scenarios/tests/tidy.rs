//! What every file and every crate of the workspace must keep to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates, by directory and name, and which of the workspace's crates each may know.
pub const ARROWS: [(&str, &str, &[&str]); 16] = [
    ("sim/api", "zk-api", &[]),
    ("sim/proto", "zk-proto", &["zk-api"]),
    ("sim/wire", "zk-wire", &["zk-api", "zk-proto"]),
    ("sim/invariants", "zk-invariants", &["zk-api", "zk-proto"]),
    ("sim/cluster", "zk-cluster", &["zk-api", "zk-proto"]),
    (
        "sim/simulator",
        "zk-simulator",
        &["zk-api", "zk-cluster", "zk-harness", "zk-invariants", "zk-proto", "zk-wire"],
    ),
    ("sim/serve", "zk-serve", &["zk-api", "zk-cluster", "zk-proto", "zk-invariants", "zk-wire"]),
    ("sim/conform", "zk-conform", &["zk-api"]),
    ("recipes", "zk-recipes", &["zk-api"]),
    ("recipes/harness", "zk-harness", &["zk-api", "zk-recipes"]),
    ("recipes/catalogue", "zk-catalogue", &["zk-api", "zk-harness", "zk-recipes"]),
    ("recipes/live", "zk-live", &["zk-api"]),
    ("recipes/hosted", "zk-hosted", &["zk-api", "zk-harness", "zk-proto", "zk-wire"]),
    ("model", "zk-model", &["zk-api", "zk-cluster", "zk-harness", "zk-proto"]),
    ("reports", "zk-reports", &[]),
    (
        "scenarios",
        "zoocheck",
        &[
            "zk-api",
            "zk-catalogue",
            "zk-conform",
            "zk-harness",
            "zk-hosted",
            "zk-live",
            "zk-model",
            "zk-proto",
            "zk-reports",
            "zk-serve",
            "zk-simulator",
        ],
    ),
];

/// Crates whose code must be a function of its arguments.
const PURE: [&str; 8] = [
    "sim/api",
    "sim/proto",
    "sim/wire",
    "sim/invariants",
    "sim/cluster",
    "recipes",
    "recipes/harness",
    "recipes/catalogue",
];

/// What would make it something else.
const IMPURE: [&str; 12] = [
    "HashMap",
    "HashSet",
    "Instant",
    "SystemTime",
    "thread",
    "rand",
    "println",
    "eprintln",
    "dbg",
    "TcpStream",
    "File",
    "RandomState",
];

const MOST_LINES: usize = 600;

/// How wide a line of comment is at most. The formatter sees to code and leaves comments as they are.
const WIDEST: usize = 120;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Rust files below a directory, but not those of a crate inside it.
pub fn rust_files(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if !path.join("Cargo.toml").exists() && !path.ends_with("target") {
                rust_files(&path, out);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

fn files_of(crate_dir: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    rust_files(&root().join(crate_dir), &mut files);
    assert!(!files.is_empty(), "{crate_dir} has no Rust files");
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).expect("UTF-8"))).collect()
}

fn manifest(crate_dir: &str) -> toml::Table {
    let text = fs::read_to_string(root().join(crate_dir).join("Cargo.toml")).expect("a manifest");
    text.parse().expect("TOML")
}

/// What a crate's code, tests and build script depend on.
fn dependencies(manifest: &toml::Table, sections: &[&str]) -> BTreeSet<String> {
    let tables = sections.iter().filter_map(|section| manifest.get(*section)?.as_table());
    tables.flat_map(|table| table.keys().cloned()).collect()
}

const ALL: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Whether a word stands in a line of code. Comments and texts may say what code may not.
fn says(line: &str, word: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let outside: String = code.split('"').step_by(2).collect::<Vec<_>>().join(" ");
    outside.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

#[test]
fn the_workspace_has_these_crates_and_no_others() {
    let workspace = manifest(".");
    let members = workspace["workspace"]["members"].as_array().expect("members");
    let members: BTreeSet<&str> = members.iter().map(|member| member.as_str().expect("a path")).collect();
    assert_eq!(members, ARROWS.iter().map(|(dir, _, _)| *dir).collect());
    for (dir, name, _) in ARROWS {
        assert_eq!(manifest(dir)["package"]["name"].as_str(), Some(name));
    }
}

#[test]
fn arrows_between_crates_point_one_way() {
    let names: BTreeSet<&str> = ARROWS.iter().map(|(_, name, _)| *name).collect();
    for (dir, name, allowed) in ARROWS {
        for dependency in dependencies(&manifest(dir), &["dependencies", "build-dependencies"]) {
            let is_allowed = !names.contains(dependency.as_str()) || allowed.contains(&dependency.as_str());
            assert!(is_allowed, "{name} must not know {dependency}");
        }
    }
}

#[test]
fn engines_are_known_to_one_crate_each() {
    for (dir, name, _) in ARROWS {
        let all = dependencies(&manifest(dir), &ALL);
        assert_eq!(all.contains("madsim"), name == "zk-simulator", "{name} and madsim");
        assert_eq!(all.contains("stateright"), name == "zk-model", "{name} and stateright");
    }
}

#[test]
fn pure_crates_are_without_clock_chance_threads_and_output() {
    for dir in PURE {
        // Whoever waits for a step that never ends is outside of all that is pure, and stands where both engines find
        // it.
        let files = files_of(dir).into_iter().filter(|(path, _)| !path.ends_with("harness/src/pulse.rs"));
        for (path, text) in files {
            // Tests may write files and start threads.
            let is_test = path.components().any(|part| part.as_os_str() == "tests");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for (number, line) in code.lines().enumerate().filter(|_| !is_test) {
                for word in IMPURE {
                    // Those of a process on trial are a number.
                    let is_number = word == "thread" && !says(line, "std") && !line.contains("thread::");
                    let is_said = says(line, word) && !is_number;
                    assert!(!is_said, "{}:{}: {word}", path.display(), number + 1);
                }
            }
        }
    }
}

#[test]
fn no_file_is_longer_or_wider_than_a_reader_bears_and_nothing_is_left_to_do() {
    let mut long = BTreeMap::new();
    for (dir, _, _) in ARROWS {
        for (path, text) in files_of(dir) {
            let lines = text.lines().count();
            if lines > MOST_LINES {
                long.insert(path.clone(), lines);
            }
            for word in ["todo", "unimplemented", "TODO", "FIXME"] {
                // In comments as well: only texts may say it.
                let found = text.lines().position(|line| says(&line.replace("//", " "), word));
                assert!(found.is_none(), "{}:{}: {word}", path.display(), found.unwrap_or(0) + 1);
            }
            // A row of a table is one line.
            let is_comment = |line: &str| line.starts_with("//") && !line.contains(" |");
            let is_wide = |line: &str| is_comment(line.trim_start()) && line.chars().count() > WIDEST;
            let found = text.lines().position(is_wide);
            assert!(found.is_none(), "{}:{}: too wide", path.display(), found.unwrap_or(0) + 1);
        }
    }
    assert!(long.is_empty(), "more than {MOST_LINES} lines: {long:?}");
}

#[test]
fn every_crate_keeps_to_the_workspaces_lints() {
    for (dir, name, _) in ARROWS {
        assert_eq!(manifest(dir)["lints"]["workspace"].as_bool(), Some(true), "{name}");
    }
}

#[test]
fn the_tidy_test_sees_code_and_not_texts() {
    assert!(says("let now = Instant::now();", "Instant"));
    assert!(!says("let text = \"Instant\"; // Instant", "Instant"));
    assert!(!says("let operand = 3;", "rand"));
}

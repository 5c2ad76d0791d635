//! Runs interaction scripts: commands, and below them everything they made happen.
//!
//! A script is a text of blocks with empty lines between them. A block is comment lines (`# …`), one or more
//! command lines, a line `----`, and the expected log: what the commands printed, in order.
//!
//! ```text
//! # A second create of one path is refused.
//! create /a
//! create /a
//! ----
//! 0:1 created /a
//! 0:2 NodeExists
//! ```
//!
//! A command line is a word and its arguments. An argument in double quotes may have spaces or be empty.
//! With `UPDATE_TESTDATA=1` in the environment the logs are rewritten in place of being compared; read the
//! difference before you commit it.

use std::fs;
use std::path::Path;

/// Runs every `*.txt` of a folder below `testdata/`, each on a fresh driver; the folder must have one.
///
/// `run` carries out one command and gives its log: lines, of which empty ones are dropped. Panics with all
/// differences if there is one, naming file and line.
pub fn run_dir<D>(folder: &str, fresh: impl Fn() -> D, run: impl Fn(&mut D, &str, &[&str]) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.retain(|path| path.extension().is_some_and(|ext| ext == "txt"));
    files.sort();
    assert!(!files.is_empty(), "{}: no scripts", folder.display());
    let update = std::env::var_os("UPDATE_TESTDATA").is_some_and(|value| value == "1");
    let mut wrong = String::new();
    for file in files {
        let script = fs::read_to_string(&file).expect("a readable script");
        let mut driver = fresh();
        let happened = replay(&script, |command, args| run(&mut driver, command, args));
        if update {
            if happened != script {
                fs::write(&file, &happened).expect("a writable script");
            }
        } else if let Some(difference) = difference(&script, &happened) {
            wrong.push_str(&format!("{}:{difference}\n", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{wrong}(UPDATE_TESTDATA=1 rewrites the expectations)");
}

/// The script again, with what really happened below its commands.
pub fn replay(script: &str, mut run: impl FnMut(&str, &[&str]) -> String) -> String {
    let mut out = String::new();
    let mut log: Vec<String> = Vec::new();
    let mut expecting = false;
    for line in script.lines().map(str::trim_end) {
        if expecting && !line.is_empty() {
            continue;
        }
        expecting = false;
        out.push_str(line);
        out.push('\n');
        if line == "----" {
            expecting = true;
            for line in log.drain(..) {
                out.push_str(&line);
                out.push('\n');
            }
        } else if !line.is_empty() && !line.starts_with('#') {
            let words = words(line);
            let (command, args) = words.split_first().expect("a line that is not empty has a word");
            let said = run(command, args);
            log.extend(said.lines().map(str::trim_end).filter(|l| !l.is_empty()).map(str::to_owned));
        }
    }
    assert!(log.is_empty(), "commands without a ---- below them, which said:\n{}", log.join("\n"));
    out
}

/// The first line at which two texts differ, as `line: expected …, found …`.
fn difference(expected: &str, found: &str) -> Option<String> {
    let (mut left, mut right) = (expected.lines(), found.lines());
    for number in 1.. {
        match (left.next(), right.next()) {
            (None, None) => break,
            (a, b) if a.map(str::trim_end) == b => {}
            (a, b) => {
                let show = |line: Option<&str>| line.map_or("the end".to_owned(), |l| format!("{l:?}"));
                return Some(format!("{number}: expected {}, found {}", show(a), show(b)));
            }
        }
    }
    None
}

/// Splits at spaces, but not within double quotes, which are taken off.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or_else(|| panic!("no closing quote: {line}")),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word);
        rest = after.trim_start();
    }
    words
}

#[test]
fn a_log_that_differs_is_found_and_rewritten() {
    let script = "# says its words\nsay a \"b c\"\nsay \"\"\n----\nwrong\n\nsay d\n----\n";
    let say = |command: &str, args: &[&str]| format!("{command} {args:?}\n");
    let happened = replay(script, say);
    let expected = "# says its words\nsay a \"b c\"\nsay \"\"\n----\n\
                    say [\"a\", \"b c\"]\nsay [\"\"]\n\nsay d\n----\nsay [\"d\"]\n";
    assert_eq!(happened, expected);
    assert_eq!(
        difference(script, &happened).unwrap(),
        "5: expected \"wrong\", found \"say [\\\"a\\\", \\\"b c\\\"]\""
    );
    assert_eq!(replay(&happened, say), happened);
    assert_eq!(difference(&happened, &happened), None);
}

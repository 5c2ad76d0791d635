//! What README.md shows is so: each of its commands is run, in a small size where it would take long, and prints what
//! the page says that it prints. The commands of ARCHITECTURE.md are run as well.

use crate::common::{command, needs, ran};
use std::os::unix::fs::symlink;
use std::path::Path;

const README: &str = include_str!("../../README.md");
const ARCHITECTURE: &str = include_str!("../../ARCHITECTURE.md");

/// Its commands, each with what makes it small here and its exit status. What is cut short is undecided, or not as
/// expected.
const COMMANDS: &[(&str, &str, i32)] = &[
    ("list", "", 0),
    ("compare lock try-lock lock/simple", "--seeds 2 --max-states 500", 3),
    ("judge lock", "--seeds 1 --max-states 500", 1),
    ("judge lock/simple --herd=10,100", "", 0),
    ("explain S-070", "", 0),
    ("run my.py:worker --promises fair-lock=/lock --seeds 1000", "--seeds 2", 0),
    ("replay my.py:worker --promises fair-lock=/lock --set observers=0 --seed 109", "", 1),
    ("check my.py:worker --promises fair-lock=/lock --drops 0 --expiries 0 --lag 0", "--max-states 200", 3),
    ("replay lock/java --seed 0 --promise no-failure", "", 1),
    ("shrink lock/java --seed 0 -o small.toml", "", 1),
    ("replay small.toml", "", 1),
    ("check lock --clients 3 --expiries 1 --drops 1 --crashes 1", "--max-states 500", 3),
    ("check ensemble --servers 3 --txns 1 --crashes 1 --elections 1", "--max-states 500", 3),
    ("check ensemble --whole-servers --asks multis", "--max-states 500", 3),
    ("run scenarios/suite/drops.toml", "--seeds 2", 0),
    ("run scenarios/suite/ensemble.toml", "--seeds 1", 0),
    ("mutate lock", "--seeds 1 --max-states 200 --occasions 1", 3),
    ("mutants", "canary --max-states 100 --seeds 1", 0),
    ("fuzz", "--programs 2", 0),
    ("scenario explain faults", "", 0),
    ("schema zoocheck-sweep/3", "", 0),
];

/// The commands within the sentences of ARCHITECTURE.md, likewise.
const COMMANDS_OF_THE_MAP: &[(&str, &str, i32)] = &[
    ("run lock --seeds 100", "--seeds 2", 0),
    ("check lock", "--max-states 500", 3),
    ("fuzz", "--programs 2", 0),
    ("judge lock", "--seeds 1 --max-states 500", 1),
];

/// Run by other tests, and in CI: it goes on until it is stopped, or makes a crate that is built then.
const ELSEWHERE: [&str; 2] = ["explore lock/simple", "new my-lock"];

/// The blocks of code of the page: the language, and the text.
fn blocks() -> impl Iterator<Item = (&'static str, &'static str)> {
    README.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'))
}

/// The commands of a block, without what is said beside them.
fn commands() -> impl Iterator<Item = &'static str> {
    let lines = blocks().flat_map(|(_, text)| text.lines());
    lines.filter_map(|line| {
        let words = line.strip_prefix("$ ").unwrap_or(line).strip_prefix("zoocheck ")?;
        Some(words.split("  ").next().unwrap_or(words))
    })
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A folder with what the page's reader has.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    symlink(env!("CARGO_MANIFEST_DIR"), folder.path().join("scenarios")).expect("a link");
    let (_, program) = blocks().find(|(language, _)| *language == "python").expect("a program");
    std::fs::write(folder.path().join("my.py"), program).expect("it is written");
    folder
}

/// One of its commands; gives what it prints.
fn run(folder: &Path, words: &str, small: &str, expected: i32) -> String {
    // An option that is there already is given once, in its small size.
    let (name, _) = small.split_once(' ').unwrap_or((small, ""));
    let given = match words.split_once(name) {
        Some((before, _)) if !name.is_empty() => before,
        _ => words,
    };
    let ran = ran(command(folder).args(given.split_whitespace()).args(small.split_whitespace()));
    assert_eq!(ran.status, expected, "{words} {small}: {}{}", ran.stdout, ran.stderr);
    ran.stdout
}

#[test]
fn every_command_of_the_readme_is_run() {
    let named = commands().filter(|words| !ELSEWHERE.contains(words));
    let tested = COMMANDS.iter().map(|(words, ..)| *words);
    assert_eq!(named.collect::<Vec<_>>(), tested.collect::<Vec<_>>());
    let has_kazoo = needs::python("kazoo, greenlet").is_some();
    let folder = folder();
    let all = COMMANDS.iter().filter(|(words, ..)| has_kazoo || !words.contains("my.py"));
    all.for_each(|(words, small, status)| drop(run(folder.path(), words, small, *status)));
}

#[test]
fn every_command_of_the_map_is_run() {
    let quoted = ARCHITECTURE.split('`').skip(1).step_by(2);
    let named = quoted.filter_map(|text| text.strip_prefix("zoocheck "));
    let tested = COMMANDS_OF_THE_MAP.iter().map(|(words, ..)| *words);
    assert_eq!(named.collect::<Vec<_>>(), tested.collect::<Vec<_>>());
    let folder = folder();
    COMMANDS_OF_THE_MAP
        .iter()
        .for_each(|(words, small, status)| drop(run(folder.path(), words, small, *status)));
}

#[test]
fn what_the_readme_shows_of_an_output_is_printed() {
    let folder = folder();
    let (_, first) = blocks().next().expect("a counterexample");
    let printed = words(&run(folder.path(), "check lock/simple", "", 1));
    assert!(
        printed.contains(&words(first)),
        "README.md: the first example is not what is printed:\n{printed}"
    );
    let (_, shrunk) = blocks().find(|(_, text)| text.contains("shrink lock/java")).expect("one");
    let printed = words(&run(folder.path(), "shrink lock/java --seed 0 -o small.toml", "", 1));
    let shown: Vec<&str> = shrunk.lines().filter(|line| !line.starts_with("$ ")).collect();
    assert!(
        printed.contains(&words(&shown.join(" "))),
        "README.md: shrink does not print what it shows:\n{printed}"
    );
}

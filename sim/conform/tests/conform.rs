//! The comparison itself: scripts with their transcripts, random scripts, and differences that are planted.

use crate::common::plant::{Plant, plant};
use crate::common::{Ours, ours, real, side};
use std::fs;
use std::path::{Path, PathBuf};
use zk_conform::hunt::{Hunt, Tally, hunt};
use zk_conform::script::{Script, parse};
use zk_conform::side::Side;

/// Nothing is removed while a test runs.
const NEVER_MS: u32 = 100_000_000;
const OFTEN_MS: u32 = 300;
const AT_ONCE_MS: u32 = 1;

fn scripts(folder: &str) -> Vec<(PathBuf, Script)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(folder);
    let entries = fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "txt")).collect();
    files.sort();
    assert!(!files.is_empty(), "no scripts in {}", folder.display());
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("text");
        let script = parse(&text).unwrap_or_else(|bad| panic!("{}: {bad}", path.display()));
        (path, script)
    };
    files.into_iter().map(read).collect()
}

/// Runs the scripts of a folder; what is told must be what stands in them. `UPDATE_TESTDATA=1` rewrites them.
fn follow(folder: &str, side: &mut Side) {
    let mut wrong = Vec::new();
    for (path, mut script) in scripts(folder) {
        let told = side.run(&script, side.era()).expect("the server is there");
        for (step, lines) in script.steps.iter_mut().zip(told) {
            if step.expected != lines {
                wrong.push(format!(
                    "{}: {}\n expected {:#?}\n told {lines:#?}",
                    path.display(),
                    step.action,
                    step.expected
                ));
                step.expected = lines;
            }
        }
        if std::env::var_os("UPDATE_TESTDATA").is_some() {
            fs::write(&path, script.to_string()).expect("the script is ours");
            wrong.clear();
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}\n(UPDATE_TESTDATA=1 rewrites them)", side.name, wrong.join("\n"));
}

#[test]
fn scripts_go_with_us_as_they_are_written() {
    let server = ours(NEVER_MS);
    follow("", &mut server.side("ours"));
    server.assert_sound();
    let server = ours(OFTEN_MS);
    follow("removal", &mut server.side("ours"));
    server.assert_sound();
}

/// What is removed while the step before the wait still goes on is told where the script waits for it.
#[test]
fn what_is_removed_at_once_is_told_where_it_is_awaited() {
    let server = ours(AT_ONCE_MS);
    let mut side = server.side("ours");
    for _ in 0..5 {
        follow("removal", &mut side);
    }
    server.assert_sound();
}

#[test]
fn scripts_go_with_a_real_zookeeper_as_they_are_written() {
    for (check_ms, folder) in [(NEVER_MS, ""), (OFTEN_MS, "removal")] {
        let Some((_server, address)) = real(check_ms) else { return };
        follow(folder, &mut side("real", address));
    }
}

#[test]
fn random_scripts_go_with_us_as_with_a_real_zookeeper() {
    let Some((_server, address)) = real(NEVER_MS) else { return };
    let server = ours(NEVER_MS);
    let mut left = side("real", address);
    let what = Hunt { first_seed: 0, operations: 3000, differences: 1, one_in_expires: 20 };
    let tally = hunt(&mut left, &mut server.side("ours"), &what, &mut |_| ());
    assert!(tally.found.is_empty(), "{}", tally.found[0].difference);
    assert_eq!(tally.cut_short, None);
    server.assert_sound();
}

#[test]
fn two_of_us_do_not_differ() {
    let (one, other) = (ours(NEVER_MS), ours(NEVER_MS));
    let what = Hunt { first_seed: 1000, operations: 1500, differences: 1, one_in_expires: 30 };
    let tally = hunt(&mut one.side("one"), &mut other.side("other"), &what, &mut |_| ());
    assert!(tally.found.is_empty(), "{}", tally.found[0].difference);
    assert!(tally.operations >= 1500 && tally.cut_short.is_none());
    one.assert_sound();
}

#[test]
fn behind_the_last_seed_comes_the_first() {
    let (one, other) = (ours(NEVER_MS), ours(NEVER_MS));
    let what = Hunt { first_seed: u64::MAX, operations: 100, differences: 1, one_in_expires: 0 };
    let tally = hunt(&mut one.side("one"), &mut other.side("other"), &what, &mut |_| ());
    assert!(tally.operations >= 100 && tally.found.is_empty() && tally.cut_short.is_none());
}

/// Hunts for what is planted.
fn planted(what: Plant) -> (Tally, [Ours; 2]) {
    let servers = [ours(NEVER_MS), ours(NEVER_MS)];
    let proxy = plant(servers[1].address, what).expect("loopback has a free port");
    let (mut left, mut right) = (servers[0].side("ours"), side("planted", proxy));
    let hunted = Hunt { first_seed: 0, operations: 20_000, differences: 1, one_in_expires: 0 };
    (hunt(&mut left, &mut right, &hunted, &mut |_| ()), servers)
}

/// The difference found, shrunk to a few steps; what each told in the step where they differ.
fn shrunk(what: Plant, steps: usize) -> [String; 2] {
    let (tally, _servers) = planted(what);
    let [found] = &tally.found[..] else {
        panic!("{what:?} was not found in {} operations", tally.operations)
    };
    let script = &found.difference.script;
    assert!(script.steps.len() <= steps, "{what:?} in {} steps:\n{script}", script.steps.len());
    // Read back, it is the same.
    assert_eq!(parse(&script.to_string()).as_ref(), Ok(script));
    found.difference.told.each_ref().map(|told| told.last().map(|lines| lines.join("\n")).unwrap_or_default())
}

#[test]
fn an_event_behind_its_answer_is_found_and_shrunk() {
    // A connection, a watch, and a change of its own.
    let [ours, planted] = shrunk(Plant::EventAfterItsAnswer, 5);
    assert!(ours.starts_with("a event ") || ours[1..].starts_with(" event "), "{ours}");
    let (mut ours, mut planted): (Vec<_>, Vec<_>) = (ours.lines().collect(), planted.lines().collect());
    assert_ne!(ours, planted);
    ours.sort_unstable();
    planted.sort_unstable();
    assert_eq!(ours, planted, "the same lines in another order");
}

#[test]
fn a_stat_that_is_off_by_one_is_found_and_shrunk() {
    let [ours, planted] = shrunk(Plant::StatOffByOne, 5);
    let (cut, told) = (ours.find(" cv=").expect("a Stat"), planted.find(" cv=").expect("a Stat"));
    assert_eq!(ours[..cut], planted[..told]);
    assert_ne!(ours, planted);
}

#[test]
fn a_wrong_error_of_two_is_found_and_shrunk() {
    let [ours, planted] = shrunk(Plant::WrongErrorFirst, 5);
    assert!(ours.contains("InvalidAcl") && planted.contains("NodeExists"), "{ours} | {planted}");
}

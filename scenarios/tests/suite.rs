//! Every scenario file is what it says it is.
#![cfg(feature = "run")]

use crate::common::zoocheck;
use std::fs;

fn files() -> Vec<String> {
    let dir = format!("{}/suite", env!("CARGO_MANIFEST_DIR"));
    let entries = fs::read_dir(dir).expect("the suite").map(|entry| entry.expect("an entry").file_name());
    let names = entries.map(|name| name.into_string().expect("UTF-8"));
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".toml")).collect();
    names.sort();
    assert!(names.len() >= 6);
    names
}

#[test]
fn the_lock_holds_in_every_scenario() {
    for name in files() {
        let ran = zoocheck(&format!("run suite/{name} --seeds 8"));
        assert!(matches!(ran.status, 0 | 3), "{name}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_disk_that_lost_something_silently_is_why_an_invariant_may_break() {
    let ran = zoocheck("run suite/disks.toml --seeds 60 -v");
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "as expected: this assumption failed: no disk silently loses what was durable (disk-intact)";
    assert!(ran.status == 0 && text.contains(why), "{}", ran.stdout);
}

/// Some promises took a right recipe for a broken one only where servers lag, or only with administrators.
#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn every_right_recipe_holds_in_every_scenario() {
    let catalogue = zoocheck::Catalogue::default();
    let right = catalogue.trials().iter().filter(|trial| trial.about.breaks.is_none());
    for trial in right {
        for name in files() {
            let recipe = trial.about.name;
            let ran = zoocheck(&format!("run {recipe} --scenario suite/{name} --seeds 12"));
            assert!(matches!(ran.status, 0 | 3), "{recipe} in {name}: {}{}", ran.stdout, ran.stderr);
        }
    }
}

/// What no recipe asks keeps the invariants as well.
#[test]
fn servers_keep_the_invariants_in_every_scenario_whatever_they_are_asked() {
    for name in files() {
        let ran = zoocheck(&format!("run requests --scenario suite/{name} --seeds 6"));
        assert!(matches!(ran.status, 0 | 3), "{name}: {}{}", ran.stdout, ran.stderr);
    }
}

/// Faults ended in this seed as a leader with no number left in its epoch waited for what it had proposed. It found
/// numbers again, and proposed what a session asked later in the place of what had come to nothing.
#[test]
fn nothing_takes_the_place_of_what_a_worn_out_epoch_has_lost() {
    let ran = zoocheck("replay requests --scenario suite/everything.toml --seed 257");
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn every_scenario_says_what_it_is_for() {
    for name in files() {
        let text = fs::read_to_string(format!("{}/suite/{name}", env!("CARGO_MANIFEST_DIR"))).expect("UTF-8");
        assert!(text.starts_with("# "), "{name} begins with its purpose");
        assert!(text.contains("\nabout = "), "{name}");
    }
}

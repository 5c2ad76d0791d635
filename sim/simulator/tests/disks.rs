//! Disks that rot, fail, fill up, and lose what was not synced.

use crate::common::published;
use std::collections::{BTreeMap, BTreeSet};
use zk_harness::promise::Assumption;
use zk_proto::mutant::Mutant;
use zk_simulator::schedule::TimedFault;
use zk_simulator::{
    CRASH_WAYS, DiskCrash, Fault, Faults, Run, RunOptions, Scenario, Schedule, run, run_schedule,
};

fn broken(run: &Run) -> Vec<String> {
    let broken = run.violations.iter().filter(|violation| violation.violated_assumption.is_none());
    broken.map(|violation| format!("{}: {}", violation.promise, violation.what)).collect()
}

/// Three servers, and little else than what goes wrong with their disks.
fn three() -> Scenario {
    let faults = Faults {
        disk_rot: 8,
        disk_errors: 6,
        disk_full: 3,
        disk_reorder: true,
        server_crashes: 6,
        server_down_ms: [50, 3000],
        leader_crashes: 3,
        link_breaks: 2,
        slow_syncs: 4,
        ..Faults::none()
    };
    Scenario { observers: 0, clients: 3, rounds: 3, work_ms: [0, 1500], faults, ..Scenario::default() }
}

/// Whether a disk silently lost what was durable.
const LOST: &str = "disk-intact failed: a server's disk silently lacked what was durable";

/// What was broken as expected. That must have a reason.
fn expected(run: &Run) -> Vec<&'static str> {
    let expected = run
        .violations
        .iter()
        .filter(|violation| violation.violated_assumption == Some(Assumption::DiskIntact));
    let expected: Vec<_> = expected.map(|violation| violation.promise).collect();
    assert!(expected.is_empty() || run.sometimes.contains_key(LOST), "seed {}: {expected:?}", run.seed);
    expected
}

#[test]
fn what_was_acknowledged_survives_unless_a_disk_silently_loses_it() {
    let lock = published("lock");
    let (mut reached, mut found_as_expected) = (BTreeMap::new(), BTreeSet::new());
    for seed in 0..150 {
        let run = run(&lock, &three(), seed, &RunOptions::default());
        assert_eq!(broken(&run), Vec::<String>::new(), "seed {seed}");
        found_as_expected.extend(expected(&run));
        for (case, times) in run.sometimes {
            *reached.entry(case).or_insert(0) += times;
        }
    }
    for case in [
        "bits of a disk rotted",
        "a disk was spared, or less than a quorum would have been whole",
        "too many disks were spoiled: nothing was promised, and nothing judged, from then on",
        "a server lacked nothing though its disk had rotten",
        "a server stayed out, as its disk had rotten",
        "a server that stayed out was given another's files",
        LOST,
        "server stopped: its disk was full",
        "server stopped: its disk failed",
        "a later part of a write survived an earlier one",
    ] {
        assert!(reached.contains_key(case), "{case}: {reached:#?}");
    }
    assert!(!found_as_expected.is_empty(), "what a disk loses can be missed");
}

#[test]
fn after_crashes_without_rot_no_break_is_expected() {
    let lock = published("lock");
    let mut scenario = three();
    scenario.faults.disk_rot = 0;
    for seed in 0..150 {
        let run = run(&lock, &scenario, seed, &RunOptions::default());
        assert_eq!((broken(&run), expected(&run)), (Vec::new(), Vec::new()), "seed {seed}");
    }
}

#[test]
fn a_server_that_takes_rot_for_the_end_of_its_log_is_found() {
    let lock = published("lock");
    let options = RunOptions { mutant: Some(Mutant::RotIsTheEnd), ..RunOptions::default() };
    let mut found = BTreeSet::new();
    for seed in 0..40 {
        let run = run(&lock, &three(), seed, &options);
        let owed = run.violations.iter().filter(|violation| violation.violated_assumption.is_none());
        found.extend(owed.filter(|_| run.deviations > 0).map(|violation| violation.promise));
    }
    assert_eq!(found, BTreeSet::from(["acknowledged-writes-survive"]));
}

#[test]
fn a_crash_at_every_operation_of_every_disk_loses_nothing() {
    let lock = published("lock");
    let short = Scenario { observers: 0, clients: 1, rounds: 1, work_ms: [0, 1], ..Scenario::default() };
    let short = short.without_faults();
    let operations = run(&lock, &short, 1, &RunOptions::default()).disk_ops;
    assert!(operations > 30, "{operations}");
    for after in 1..=operations {
        for way in 0..CRASH_WAYS {
            let crash_at = Some(DiskCrash { after, way });
            let run = run(&lock, &short, 1, &RunOptions { crash_at, ..RunOptions::default() });
            assert_eq!(broken(&run), Vec::<String>::new(), "after {after}, way {way}");
            assert_eq!(run.sometimes["crashed at an operation of the disk"], 1, "after {after}, way {way}");
        }
    }
}

/// A leader's snapshot that has rotten is passed over for an older one, and nobody notices what is missing then: the
/// server starts from less than it has acknowledged. Here each such snapshot is spoiled just after it came.
#[test]
fn a_leaders_snapshot_that_rots_is_lost_silently() {
    let lock = published("lock");
    let mut scenario = three();
    (scenario.faults.disk_rot, scenario.faults.disk_errors, scenario.faults.disk_full) = (0, 0, 0);
    let traced = RunOptions { trace: true, ..RunOptions::default() };
    let mut lost = Vec::new();
    for seed in 0..200 {
        let schedule = Schedule::draw(&scenario, seed);
        let plain = run_schedule(&lock, &scenario, seed, &schedule, &traced);
        let Some((server, at_ms)) = snapshot_of_a_leader(&plain) else { continue };
        // A log, the snapshot of nothing, and the leader's.
        let rot = Fault::DiskRot { server, file: 2, at_permille: 500, bytes: 1, spares: true, down_ms: 100 };
        let mut schedule = schedule;
        schedule.faults.push(TimedFault { at_ms, fault: rot });
        schedule.faults.sort_by_key(|fault| fault.at_ms);
        let run = run_schedule(&lock, &scenario, seed, &schedule, &traced);
        assert_eq!(broken(&run), Vec::<String>::new(), "seed {seed}");
        if run.sometimes.contains_key(LOST) {
            lost.push(seed);
        }
    }
    assert!(lost.len() >= 5, "{lost:?}");
}

/// The first server that has a snapshot from its leader on its disk, and when, a little later.
fn snapshot_of_a_leader(run: &Run) -> Option<(u8, u64)> {
    let mut lines = run.trace.iter();
    let got = lines.find(|line| line.contains(" Zab(Snap("))?;
    let server: u8 = got.split(' ').nth(1)?.strip_prefix('s')?.parse().ok()?;
    let there = format!(" s{server} Synced Snapshot(");
    let (time, _) = lines.find(|line| line.contains(&there))?.split_once("s ")?;
    let seconds: f64 = time.parse().ok()?;
    Some((server, (seconds * 1000.0) as u64 + 2))
}

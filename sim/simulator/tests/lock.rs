//! The lock and its variants under chaos.

use crate::common::published;
use std::collections::BTreeMap;
use zk_simulator::{RunOptions, Scenario, run};

#[test]
fn the_lock_keeps_its_promises_through_all_faults() {
    let lock = published("lock");
    let (mut tested, mut expected, mut long) = (BTreeMap::new(), 0, 0);
    let late = "exclusion-at-unfenced-resource";
    for seed in 0..100 {
        let run = run(&lock, &Scenario::default(), seed, &RunOptions::default());
        assert!(
            run.violations.iter().all(|v| v.violated_assumption.is_some()),
            "seed {seed}: {:?}",
            run.violations
        );
        long += run.sometimes.get("write travelled for longer than a session timeout").unwrap_or(&0);
        expected += u64::from(run.violations.iter().any(|v| v.promise == late));
        for (name, n) in run.tested {
            *tested.entry(name).or_insert(0) += n;
        }
    }
    assert!(tested.len() > 10 && tested.values().all(|n| *n > 0), "{tested:?}");
    // Where a holder acts after its session has ended, exclusion at the outside must break.
    assert!(expected >= 20 && long > 20, "{expected} of 100 seeds, {long} writes");
}

/// S-116: where a resource compares nothing, a dead holder's writes land behind the next one's, unless that one waits
/// for longer than they travel and processes stand still.
#[test]
fn behind_a_lock_delay_no_late_write_does_harm_to_a_resource_that_compares_nothing() {
    let late = |name, promise| {
        let trial = published(name);
        let late = (0..60).filter(|seed| {
            let run = run(&trial, &Scenario::default(), *seed, &RunOptions::default());
            assert!(
                run.violations.iter().all(|v| v.violated_assumption.is_some()),
                "{name}, {seed}: {:?}",
                run.violations
            );
            run.violations.iter().any(|v| v.promise == promise)
        });
        late.count()
    };
    assert!(late("chubby", "exclusion-at-unfenced-resource") >= 5);
    assert_eq!(late("chubby/lock-delay", "exclusion-behind-lock-delay"), 0);
}

/// Finds what a published variant is known to break, within so many seeds.
fn chaos_finds(name: &str, seeds: u64, faults: bool) {
    let trial = published(name);
    let promise = trial.about.breaks.expect("it is known to be wrong").promise;
    chaos_finds_that(name, promise, seeds, faults);
}

fn chaos_finds_that(name: &str, promise: &str, seeds: u64, faults: bool) {
    let trial = published(name);
    let all = Scenario::default();
    let scenario = if faults { all } else { all.without_faults() };
    let breaks = |seed| {
        let run = run(&trial, &scenario, seed, &RunOptions::default());
        run.violations.iter().any(|v| v.promise == promise && v.violated_assumption.is_none())
    };
    assert!((0..seeds).any(breaks), "{name}: {promise} held for {seeds} seeds");
}

#[test]
fn s_050_a_repeated_create_without_a_guid_waits_for_itself() {
    chaos_finds("lock/no-guid", 100, true);
}

#[test]
fn s_050_leaves_an_orphan_behind() {
    chaos_finds_that("lock/no-guid", "no-orphan-znode", 100, true);
}

#[test]
fn s_056_a_waiter_that_does_not_look_again_after_the_middle_one_expired_holds_as_well() {
    chaos_finds("lock/no-recheck", 100, true);
}

#[test]
fn s_057_a_waiter_that_does_not_loop_waits_for_a_znode_that_is_gone() {
    chaos_finds("lock/no-loop", 200, false);
}

#[test]
fn s_070_the_simple_lock_waits_for_a_znode_that_is_gone() {
    chaos_finds("lock/simple", 300, false);
}

#[test]
fn s_071_the_simple_lock_waits_for_its_own_znode_after_a_lost_answer() {
    chaos_finds("lock/simple-looped", 200, true);
}

#[test]
fn s_081_a_missing_predecessor_is_no_lock() {
    chaos_finds("lock/null-is-held", 200, true);
}

#[test]
fn s_082_a_notification_before_the_wait_is_lost() {
    chaos_finds("lock/java", 200, false);
}

#[test]
fn creates_that_are_in_flight_over_two_lost_connections_leave_no_orphan() {
    use zk_simulator::schedule::{Loss, RequestKind, TimedFault, When};
    use zk_simulator::{Fault, Schedule, run_schedule};
    let lose =
        Fault::Drop { client: 0, when: When::NextRequest(RequestKind::Create), what: Loss::AnswersLost };
    // So slow that who comes back and looks finds its first create done and its second not.
    let slow = Fault::SlowSync { server: 0, sync_ms: 130, for_ms: 5000 };
    let faults = [(100, slow), (100, lose.clone()), (101, lose)]
        .map(|(at_ms, fault)| TimedFault { at_ms, fault })
        .into();
    let (lock, schedule) = (published("lock"), Schedule { faults });
    for seed in 0..20 {
        let run = run_schedule(&lock, &Scenario::default(), seed, &schedule, &RunOptions::default());
        assert!(run.violations.is_empty(), "seed {seed}: {:?}", run.violations);
    }
}

#[test]
fn nobody_is_called_stuck_as_long_as_somebody_gets_ahead() {
    // Thirty hold one after another for half a second each, where eight seconds were to be enough.
    let alone = Scenario { servers: 1, observers: 0, ..Scenario::default() };
    let scenario = Scenario { clients: 30, rounds: 1, work_ms: [500, 500], ..alone };
    let scenario = Scenario { fault_seconds: 0, heal_seconds: 8, ..scenario.without_faults() };
    let after_all = run(&published("lock"), &scenario, 1, &RunOptions::default());
    assert!(after_all.violations.is_empty() && after_all.granted == 30, "{:?}", after_all.violations);
    assert!(after_all.virtual_ns > 15_000_000_000);
    // Who is stuck is told as soon as ever.
    let (simple, brief) = (published("lock/simple"), Scenario { work_ms: [1, 1], clients: 3, ..scenario });
    let mut runs = (0..300).map(|seed| run(&simple, &brief, seed, &RunOptions::default()));
    let is_stuck = |run: &zk_simulator::Run| run.violations.iter().any(|v| v.promise == "no-waiter-stuck");
    let stuck = runs.find(is_stuck).expect("one of them");
    assert!(stuck.virtual_ns < 10_000_000_000, "{}", stuck.virtual_ns);
}

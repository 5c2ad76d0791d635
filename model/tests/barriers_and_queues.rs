//! Barriers and queues hold with every kind of fault, in every run.

use crate::common::{run, trial};
use zk_harness::promise::Assumption;
use zk_harness::trial::Bounds;
use zk_model::{CheckConfig, Verdict};

/// Every run within these bounds keeps every promise.
fn holds(name: &str, bounds: Bounds) {
    let check = run(trial(name), &CheckConfig::new(bounds));
    assert_eq!(check.verdict, Verdict::Holds, "{name} at {bounds:?}");
}

/// Two clients, and one of each fault.
const FAULTY: Bounds = Bounds { expiries: 1, drops: 1, crashes: 1, ..Bounds::clients(2) };

#[test]
fn a_barrier_holds_with_every_fault_in_two_rounds_and_with_views_that_lag() {
    holds("barrier", Bounds { rounds: 2, lag: 1, ..FAULTY });
}

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn a_double_barrier_holds_with_every_fault_in_two_rounds() {
    // In the second round, members of the first one may still be leaving.
    holds("double-barrier", Bounds { rounds: 2, ..FAULTY });
    holds("double-barrier", Bounds { lag: 1, ..FAULTY });
}

#[test]
fn a_queue_holds_with_every_fault_and_with_views_that_lag() {
    for name in ["queue", "queue/at-most-once", "priority-queue"] {
        holds(name, FAULTY);
        holds(name, Bounds { drops: 1, lag: 1, ..Bounds::clients(2) });
    }
}

#[test]
fn two_consumers_hold_without_faults() {
    holds("queue", Bounds::clients(3));
    holds("queue/at-most-once", Bounds::clients(3));
}

#[test]
fn what_an_administrator_breaks_is_expected_and_nothing_else_is() {
    for name in ["queue", "queue/at-most-once", "priority-queue", "double-barrier", "barrier", "membership"] {
        let check = run(trial(name), &CheckConfig::new(Bounds { admin: 1, ..Bounds::clients(2) }));
        assert_eq!(check.verdict, Verdict::Holds, "{name}");
        let expected = check.promises.iter().filter_map(|promise| promise.expected.as_ref());
        let by_him =
            expected.filter(|found| found.violated_assumption == Some(Assumption::NoAdministrator)).count();
        // His deletion of a barrier is an opening like any other.
        assert_eq!(by_him > 0, name != "barrier", "{name}");
    }
}

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn a_double_barrier_owes_what_comes_after_the_round_in_which_an_administrator_has_deleted_a_members_znode() {
    for (name, bounds) in [
        ("double-barrier", Bounds { rounds: 2, admin: 1, ..Bounds::clients(2) }),
        ("double-barrier", Bounds { admin: 2, ..Bounds::clients(2) }),
        ("double-barrier/newcomers", Bounds { rounds: 2, admin: 1, ..Bounds::clients(2) }),
    ] {
        let check = run(trial(name), &CheckConfig::new(bounds));
        let broken = check.promises.iter().filter_map(|promise| promise.broken.as_ref());
        let broken: Vec<_> = broken.map(|found| (&found.what, &found.steps)).collect();
        assert!(check.verdict == Verdict::Holds, "{name} at {bounds:?}: {broken:#?}");
    }
}

//! The good lock holds, and no variant breaks what it is known to break at smaller bounds than its own. That each does
//! at its own, with the reductions that it allows, is judged with the whole catalogue in the tests of `scenarios`.

use crate::common::{broken, full, run, trial};
use std::sync::Arc;
use zk_harness::event::{End, Event, GroundTruth, Observation};
use zk_harness::promise::{Finding, Promise, Terms, Violation};
use zk_harness::trial::{Bounds, Trial};
use zk_harness::words::Word;
use zk_model::{CheckConfig, Engine, Verdict};

/// A search for one promise that was cut after another had broken once said "violated", of the other.
#[test]
fn the_promise_that_is_asked_for_is_the_one_that_is_told() {
    let asked = |promise: Option<&str>, max_states: Option<u64>| {
        let promise = promise.map(str::to_owned);
        run(trial("lock/no-recheck"), &CheckConfig { promise, max_states, ..full(3, 1, 0, 0) })
    };
    let violated = |promise| match asked(promise, None).verdict {
        Verdict::Violated { promise, steps } => (promise, steps),
        Verdict::Holds | Verdict::Undecided { .. } | Verdict::NotDetermined { .. } => panic!("it is broken"),
    };
    let exclusion = "exclusion-among-live-sessions";
    let (known, far) = violated(None);
    assert_eq!(known, exclusion);
    let examples = asked(None, None).promises;
    let example = examples.iter().find(|report| report.name == exclusion).expect("it is promised");
    assert_eq!(example.broken.as_ref().map(|example| example.steps.len()), Some(far as usize));
    // Another promise breaks before it.
    let (other, near) = violated(Some("fifo"));
    assert_eq!(other, "fifo");
    assert!(near < far, "{near} {far}");
    // That it does is no answer to who asks for what never breaks, or has not broken yet.
    let never = asked(Some("no-panic"), None);
    assert_eq!(never.verdict, Verdict::Holds);
    let states = (0..).map(|doubled| 100 << doubled);
    let cut = states.map(|max| asked(Some(exclusion), Some(max))).find(|check| !broken(check).is_empty());
    let cut = cut.expect("fifo breaks");
    assert!(!broken(&cut).contains(&exclusion), "{:?}", broken(&cut));
    assert!(matches!(cut.verdict, Verdict::Undecided { .. }), "{:?}", cut.verdict);
    // Stateright's search ends with the first break.
    let config =
        CheckConfig { promise: Some("no-panic".into()), engine: Engine::Stateright, ..full(3, 1, 0, 0) };
    let first = run(trial("lock/no-recheck"), &config);
    assert!(matches!(first.verdict, Verdict::Undecided { .. }), "{:?}", first.verdict);
}

/// Put to the test by a session, and broken by what is said in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct NobodySays;

impl Promise for NobodySays {
    fn terms(&self) -> Terms {
        Terms::of("nobody-says").about("Nobody says anything.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(GroundTruth::SessionOpened { .. }) => found.push(Finding::Tested),
            Event::Observed { .. } => {
                found.push(Finding::Broken(Violation::new("somebody does".into(), None)));
            }
            Event::Is(_) => {}
        }
    }
}

/// What code says as it begins is one step with its session.
#[test]
fn all_that_a_step_breaks_is_told_whatever_it_has_put_to_the_test_before() {
    let trial = Trial::new("says", |_, probe, _| async move {
        probe.observe(Observation::note(Word::own("says"), "it", 0));
        End::Done
    });
    let trial = trial.opts_out(&zk_harness::promises::STANDARD).promises(|| vec![Box::new(NobodySays)]);
    assert_eq!(broken(&run(Arc::new(trial), &full(1, 0, 0, 0))), ["nobody-says"]);
}

/// The bounds with one of their numbers less.
fn smaller(bounds: Bounds) -> Vec<Bounds> {
    let less = |change: &dyn Fn(&mut Bounds)| {
        let mut bounds = bounds;
        change(&mut bounds);
        bounds
    };
    let all = [
        less(&|b| b.clients = b.clients.saturating_sub(1).max(1)),
        less(&|b| b.rounds = b.rounds.saturating_sub(1).max(1)),
        less(&|b| b.expiries = b.expiries.saturating_sub(1)),
        less(&|b| b.drops = b.drops.saturating_sub(1)),
        less(&|b| b.crashes = b.crashes.saturating_sub(1)),
        less(&|b| b.pauses = b.pauses.saturating_sub(1)),
        less(&|b| b.restarts = b.restarts.saturating_sub(1)),
        less(&|b| b.lag = b.lag.saturating_sub(1)),
        less(&|b| b.effects = false),
    ];
    all.into_iter().filter(|less| *less != bounds).collect()
}

#[test]
fn no_variant_breaks_its_promise_at_smaller_bounds() {
    let mut wrong = Vec::new();
    for trial in zk_catalogue::trials() {
        let about = trial.about;
        let Some(breaks) = about.breaks else { continue };
        for bounds in smaller(about.bounds) {
            let check = run(trial.clone(), &CheckConfig::new(bounds));
            if broken(&check).contains(&breaks.promise) {
                wrong.push(format!("{} at {bounds:?}", about.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn the_lock_holds_with_every_fault_and_with_effects() {
    for effects in [false, true] {
        let mut config = full(2, 1, 1, 1);
        config.effects = effects;
        config.bounds.restarts = 1;
        let check = run(trial("lock"), &config);
        assert_eq!(check.verdict, Verdict::Holds);
        for (what, count) in check.sometimes {
            let out_of_bounds = ["paused", "old state", "administrator"].iter().any(|no| what.contains(no));
            assert!(count > 0 || out_of_bounds, "never happened: {what}");
        }
    }
}

#[test]
fn the_lock_holds_with_pauses_and_old_reads() {
    let bounds = Bounds { expiries: 1, pauses: 1, lag: 1, effects: true, ..Bounds::clients(2) };
    let check = run(trial("lock"), &CheckConfig::new(bounds));
    assert_eq!(check.verdict, Verdict::Holds);
    for (what, count) in check.sometimes {
        let out_of_bounds =
            ["dropped", "crashed", "another life", "administrator"].iter().any(|no| what.contains(no));
        assert!(count > 0 || out_of_bounds, "never happened: {what}");
    }
}

/// Where a sync may be stale, one create may be lost; where it is not, two.
#[test]
fn the_lock_finds_lost_creates_on_servers_that_lag() {
    for (drops, stale_syncs) in [(1, true), (2, false)] {
        let mut config = CheckConfig::new(Bounds { drops, lag: 1, ..Bounds::clients(2) });
        config.stale_syncs = stale_syncs;
        let check = run(trial("lock"), &config);
        assert_eq!(check.verdict, Verdict::Holds, "drops {drops}");
        let old = check.sometimes.iter().find(|(what, _)| what.contains("old state"));
        assert!(old.is_some_and(|(_, count)| *count > 0), "no read was old");
    }
}

#[test]
fn writing_after_the_session_has_ended_breaks_the_unfenced_resource_as_expected() {
    let mut config = full(2, 1, 0, 0);
    config.effects = true;
    let check = run(trial("lock"), &config);
    assert_eq!(check.verdict, Verdict::Holds);
    let report = |name| check.promises.iter().find(|promise| promise.name == name).expect("it is promised");
    let unfenced = report("exclusion-at-unfenced-resource");
    assert!(unfenced.expected.is_some() && unfenced.broken.is_none());
    let fenced = report("exclusion-at-fenced-resource");
    assert!(fenced.expected.is_none() && fenced.broken.is_none() && fenced.tested > 0);
}

//! What makes a search smaller or faster changes no verdict: for the lock and every variant.

use crate::common::{broken, full, run, same_kind, trial};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use zk_harness::common::{AnyProbe, AnyZooKeeper};
use zk_harness::event::Observation;
use zk_harness::trial::{Bounds, Code, FoundBy, Trial};
use zk_harness::words::Word;
use zk_model::{Check, CheckConfig, Engine, Verdict};

/// The lock and its variants, each at bounds that show its defect, and what a full search finds there.
fn all() -> impl Iterator<Item = (Arc<Trial>, CheckConfig, &'static Check)> {
    let of_models = zk_catalogue::lock::trials()
        .into_iter()
        .map(Arc::new)
        .filter(|trial| trial.found_by != FoundBy::Chaos);
    of_models.map(|trial| {
        let config = CheckConfig::new(trial.about.bounds);
        let plain = plain(&trial, &config);
        (trial, config, plain)
    })
}

/// What most tests here compare with: each is searched once, by whichever test needs it first.
fn plain(trial: &Arc<Trial>, config: &CheckConfig) -> &'static Check {
    static ALL: Mutex<BTreeMap<&str, &OnceLock<Check>>> = Mutex::new(BTreeMap::new());
    let mut all = ALL.lock().expect("nothing panics in it");
    let found = *all.entry(trial.about.name).or_insert_with(|| Box::leak(Box::default()));
    drop(all);
    found.get_or_init(|| run(trial.clone(), config))
}

fn changed(config: &CheckConfig, change: impl Fn(&mut CheckConfig)) -> CheckConfig {
    let mut config = config.clone();
    change(&mut config);
    config
}

#[test]
fn without_its_memory_the_search_finds_the_same_states() {
    for (trial, config) in [(trial("lock"), full(2, 1, 1, 0)), (trial("lock/simple"), full(2, 1, 0, 0))] {
        let with = run(trial.clone(), &config);
        let without = run(trial, &changed(&config, |config| config.memo = false));
        assert_eq!((with.states, with.transitions), (without.states, without.transitions));
        assert_eq!(with.verdict, without.verdict);
    }
}

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn stateright_finds_the_same_states_and_the_same_verdict() {
    for (trial, config, own) in all() {
        let other = run(trial, &changed(&config, |config| config.engine = Engine::Stateright));
        assert!(same_kind(&own.verdict, &other.verdict), "{:?} {:?}", own.verdict, other.verdict);
        if own.verdict == Verdict::Holds {
            assert_eq!(own.states, other.states);
        }
    }
    let config = full(2, 1, 1, 1);
    let own = run(trial("lock"), &config);
    let other = run(trial("lock"), &changed(&config, |config| config.engine = Engine::Stateright));
    assert_eq!((own.verdict, own.states), (other.verdict, other.states));
}

/// The promises that are broken where they are owed are the same with the change as without.
fn changes_no_verdict(change: impl Fn(&mut CheckConfig) + Copy) {
    changes_no_verdict_but(&[], change);
}

fn changes_no_verdict_but(not: &[&str], change: impl Fn(&mut CheckConfig) + Copy) {
    for (trial, config, plain) in all() {
        let name = trial.about.name;
        if not.contains(&name) {
            continue;
        }
        let other = run(trial, &changed(&config, change));
        assert!(same_kind(&plain.verdict, &other.verdict), "{name}: {:?} {:?}", plain.verdict, other.verdict);
        let known = zk_catalogue::trials().iter().find_map(|trial| {
            let about = trial.about;
            about.breaks.filter(|_| about.name == name)
        });
        if let Some(breaks) = known {
            assert!(broken(&other).contains(&breaks.promise), "{name} breaks {:?}", broken(&other));
        }
    }
}

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn checkpoints_change_no_verdict() {
    changes_no_verdict(|config| config.keys = false);
}

#[test]
fn symmetry_changes_no_verdict() {
    // Whose names put processes into an order is not the same with others' names.
    changes_no_verdict_but(&["lock/name-order"], |config| config.reductions.symmetry = true);
}

/// There is nobody to take it for.
#[test]
fn symmetry_merges_nothing_of_one_process() {
    for name in ["lock/simple", "queue", "two-phase-commit"] {
        let config = CheckConfig::new(Bounds { restarts: 1, ..full(1, 1, 1, 1).bounds });
        let states = |symmetry| {
            run(trial(name), &changed(&config, |config| config.reductions.symmetry = symmetry)).states
        };
        assert_eq!(states(true), states(false), "{name}");
    }
}

#[test]
fn eager_delivery_changes_no_verdict() {
    changes_no_verdict(|config| config.reductions.eager = true);
}

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn true_zxids_change_no_verdict() {
    changes_no_verdict(|config| config.true_zxids = true);
}

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn reductions_reduce() {
    let config = full(3, 1, 0, 0);
    let states = |change: fn(&mut CheckConfig)| run(trial("lock"), &changed(&config, change)).states;
    let plain = states(|_| ());
    assert!(states(|config| config.keys = false) > 2 * plain);
    assert!(states(|config| config.true_zxids = true) > plain);
    assert!(states(|config| config.reductions.eager = true) * 5 < plain);
    assert!(states(|config| config.reductions.symmetry = true) * 5 < plain);
}

#[test]
fn a_search_that_is_cut_is_undecided() {
    let cut = |change: fn(&mut CheckConfig)| run(trial("lock"), &changed(&full(2, 1, 0, 0), change)).verdict;
    let says = |verdict: Verdict, what: &str| match verdict {
        Verdict::Undecided { ran_out } => assert!(ran_out.contains(what), "{ran_out}"),
        Verdict::Holds | Verdict::Violated { .. } | Verdict::NotDetermined { .. } => {
            panic!("{verdict:?} though it was cut")
        }
    };
    says(cut(|config| config.max_states = Some(100)), "states");
    says(cut(|config| config.max_depth = Some(5)), "depth");
    // Time is looked at now and then, so the search must be long enough.
    let config = changed(&full(2, 1, 1, 1), |config| config.time_limit = Some(Duration::ZERO));
    says(run(trial("lock"), &config).verdict, "time");
    let config = changed(&full(2, 1, 1, 1), |config| config.max_memory = Some(1_000_000));
    says(run(trial("lock"), &config).verdict, "memory: 1 MB");
    let full = run(trial("lock"), &full(2, 1, 0, 0));
    let enough = cut(|config| config.max_depth = Some(100));
    assert_eq!((full.verdict, enough), (Verdict::Holds, Verdict::Holds));
}

#[test]
fn a_search_as_deep_as_its_deepest_state_judges_that_one_at_rest() {
    let config = full(2, 1, 0, 0);
    let within = |max_depth| {
        let check = run(trial("lock"), &CheckConfig { max_depth, ..config.clone() });
        let tested: Vec<_> = check.promises.iter().map(|report| (report.name, report.tested)).collect();
        (check.verdict, check.states, check.depth, check.sometimes, tested)
    };
    let all = within(None);
    assert_eq!(within(Some(all.2)), all);
}

#[test]
fn a_violation_is_found_in_as_few_steps_as_there_are() {
    for (trial, config, plain) in all().filter(|(trial, ..)| trial.about.breaks.is_some()) {
        let name = trial.about.name;
        let Verdict::Violated { promise, steps } = &plain.verdict else { panic!("{name} is broken") };
        let shallow = changed(&config, |config| config.max_depth = Some(*steps - 1));
        let check = run(trial, &shallow);
        let broken = broken(&check);
        assert!(!broken.contains(&&**promise), "{name} breaks {broken:?} in less than {steps} steps");
    }
}

/// The same, whose actors do something more as they begin.
fn beginning(trial: &Trial, with: fn(&AnyZooKeeper, &AnyProbe)) -> Arc<Trial> {
    let (mut more, before) = (trial.clone(), trial.clone());
    more.code = Code::Actor(Arc::new(move |zk, probe, role| {
        with(&zk, &probe);
        before.actor(zk, probe, role)
    }));
    Arc::new(more)
}

/// Processes that look at their sessions begin in two ways, and others in one: that could be wrong.
#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn a_beginning_without_a_session_changes_no_verdict_of_who_does_not_look() {
    let mut more = 0;
    for (trial, config, plain) in all() {
        let about = trial.about;
        let other = run(beginning(&trial, |zk, _| _ = zk.session()), &config);
        let name = about.name;
        assert!(same_kind(&plain.verdict, &other.verdict), "{name}: {:?} {:?}", plain.verdict, other.verdict);
        assert!(about.breaks.is_none_or(|breaks| broken(&other).contains(&breaks.promise)), "{name}");
        more += u32::from(plain.verdict == Verdict::Holds && plain.states < other.states);
    }
    assert!(more > 0);
}

/// Of these, some processes say nothing as they begin.
const SILENT: [&str; 8] = [
    "two-phase-commit",
    "two-phase-commit/silent",
    "two-phase-commit/no-recovery",
    "two-phase-commit/ephemeral-vote",
    "two-phase-commit/cleanup-is-abort",
    "two-phase-commit/stale-decision",
    "membership/kept",
    "membership/watch-not-rearmed",
];

/// Who says something as it begins may begin at any time, and others before anything else: that could be wrong.
#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn who_says_nothing_at_first_may_as_well_begin_at_once() {
    for name in SILENT {
        let about = trial(name).about;
        let bounds = match about.breaks {
            Some(_) => about.bounds,
            None => Bounds { lag: 1, ..Bounds::clients(2) },
        };
        let config = CheckConfig {
            promise: about.breaks.map(|breaks| breaks.promise.to_owned()),
            ..CheckConfig::new(bounds)
        };
        let plain = run(trial(name), &config);
        let late = run(
            beginning(&trial(name), |_, probe| {
                probe.observe(Observation::note(Word::own("has begun"), "", 0))
            }),
            &config,
        );
        assert!(same_kind(&plain.verdict, &late.verdict), "{name}: {:?} {:?}", plain.verdict, late.verdict);
        assert_eq!(broken(&plain), broken(&late), "{name}");
        assert!(plain.states < late.states, "{name}: they began at once all the same");
    }
}

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn watches_that_nobody_counts_change_no_verdict_of_a_commitment() {
    let kinds = zk_catalogue::two_phase_commit::trials().into_iter().map(Arc::new);
    let mut fewer = 0;
    for trial in kinds {
        assert!(!trial.counts_wakes);
        let about = trial.about;
        // Right ones are explored to the end.
        let crashes = if about.breaks.is_some() { about.bounds.crashes } else { 0 };
        let config = CheckConfig::new(Bounds { crashes, ..Bounds::clients(2) });
        let (without, with) =
            (run(trial.clone(), &config), run(Arc::new((*trial).clone().counts_wakes(true)), &config));
        assert_eq!(without.verdict, with.verdict, "{}", about.name);
        fewer += u32::from(without.states < with.states);
    }
    assert!(fewer > 0);
}

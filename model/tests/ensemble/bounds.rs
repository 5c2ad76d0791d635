//! Small bounds explored to their end, beside stateright's search.

use crate::ensemble::{bounds, explore, explore_with};
use std::sync::Arc;
use zk_model::ensemble::{
    EnsembleBounds, EnsembleConfig, Level, PeerNode, Tune, check_ensemble, names, second_opinion,
};
use zk_model::{Check, Verdict};
use zk_proto::mutant::Mutant;
use zk_proto::zab::PeerConfig;

#[test]
fn both_searches_find_the_same_states_and_the_same_verdict() {
    let all = [
        (Level::Election, bounds(3, 0, 0, 0)),
        (Level::Whole, bounds(2, 1, 1, 1)),
        (Level::Whole, EnsembleBounds { timeouts: 1, breaks: 1, ..bounds(2, 1, 0, 1) }),
        (Level::Synchronisation, EnsembleBounds { past: 1, ..bounds(2, 1, 1, 1) }),
        (Level::Synchronisation, EnsembleBounds { observers: 1, ..bounds(2, 1, 0, 0) }),
        (Level::Broadcast, EnsembleBounds { partitions: 1, ..bounds(3, 1, 0, 1) }),
    ];
    for (level, bounds) in all {
        let config = EnsembleConfig::new(level, bounds);
        let ours = explore(level, bounds);
        assert_eq!(ours.verdict, Verdict::Holds, "{level:?} {bounds:?}");
        assert_eq!(second_opinion::<PeerNode>(&config), (ours.states, None), "{level:?} {bounds:?}");
    }
}

#[test]
fn two_threads_find_what_one_finds() {
    for (tune, bounds) in [
        (None, bounds(2, 1, 1, 1)),
        (Some(Mutant::EpochAtUpToDate), bounds(3, 1, 1, 1)),
        (None, EnsembleBounds { partitions: 1, ..bounds(3, 1, 0, 1) }),
    ] {
        let checked = |threads| {
            let tune = Tune(Arc::new(move |config: &mut PeerConfig| config.mutant = tune));
            let config = EnsembleConfig { threads, tune, ..EnsembleConfig::new(Level::Whole, bounds) };
            let check = check_ensemble::<PeerNode>(&config, &mut |_| ());
            (check.verdict, check.states, check.transitions, check.depth, check.sometimes)
        };
        let one = checked(1);
        assert!(one.1 > 100 && checked(2) == one, "{one:?}");
    }
}

#[test]
fn two_servers_survive_a_crash_at_every_moment_from_the_start() {
    let check = explore(Level::Whole, bounds(2, 1, 1, 1));
    assert_eq!(check.verdict, Verdict::Holds);
    for name in
        ["a server crashed", "a crash left a part of a write, or all of it", "a second epoch was established"]
    {
        let reached = check.sometimes.iter().any(|(case, times)| *case == name && *times > 0);
        assert!(reached, "{name}: {:?}", check.sometimes);
    }
}

#[test]
fn every_invariant_is_put_to_the_test() {
    let checks = [
        explore(Level::Whole, bounds(2, 2, 1, 1)),
        explore(Level::Synchronisation, EnsembleBounds { past: 1, ..bounds(2, 1, 1, 1) }),
    ];
    for name in names::<PeerNode>() {
        let tested = |check: &Check| check.promises.iter().any(|it| it.name == name && it.tested > 0);
        assert!(checks.iter().any(tested), "{name}");
    }
}

#[test]
fn a_search_that_is_cut_short_is_undecided_and_says_nothing_of_progress() {
    let mut config = EnsembleConfig::new(Level::Whole, bounds(2, 1, 1, 1));
    config.max_depth = Some(5);
    let check = explore_with::<PeerNode>(&config);
    assert_eq!(check.verdict, Verdict::Undecided { ran_out: "depth 5".into() });
    let unchecked = check.promises.iter().filter(|report| report.unchecked.is_some()).count();
    assert_eq!(unchecked, 2);
    // Memory is looked at now and then, so the search must be long enough.
    config = EnsembleConfig::new(Level::Whole, bounds(3, 1, 1, 1));
    config.max_memory = Some(1_000_000);
    let check = explore_with::<PeerNode>(&config);
    assert_eq!(check.verdict, Verdict::Undecided { ran_out: "memory: 1 MB".into() });
}

#[test]
fn a_search_ends_as_it_finds_as_many_states_as_it_may() {
    let config = EnsembleConfig::new(Level::Whole, bounds(2, 1, 1, 1));
    let with = |most, threads| {
        let config = EnsembleConfig { max_states: Some(most), threads, ..config.clone() };
        explore_with::<PeerNode>(&config)
    };
    let all = explore_with::<PeerNode>(&config).states;
    let found = |most| {
        let check = with(most, 1);
        assert_eq!(check.verdict, Verdict::Undecided { ran_out: format!("states: {most}") });
        assert_eq!(with(most, 2).states, check.states, "{most}, with two threads");
        check.states
    };
    for most in [1, 2, 10, 100, all - 1, all] {
        let filled = found(most);
        // What the last state leads to is all found.
        assert!((most..most + 10).contains(&filled), "{filled} of {most}");
        assert_eq!(found(filled), filled);
    }
    assert_eq!((with(all + 1, 1).verdict, with(all + 1, 1).states), (Verdict::Holds, all));
}

#[test]
fn a_search_as_deep_as_its_deepest_state_is_exhaustive_and_one_step_less_is_not() {
    // Nothing can happen any more where it is deepest.
    let config = EnsembleConfig::new(Level::Whole, bounds(2, 1, 0, 0));
    let within = |max_depth| explore_with::<PeerNode>(&EnsembleConfig { max_depth, ..config.clone() });
    let told = |check: &Check| {
        let tested: Vec<_> = check.promises.iter().map(|report| (report.name, report.tested)).collect();
        (check.verdict.clone(), check.states, check.transitions, check.depth, tested)
    };
    let all = within(None);
    assert!(all.verdict == Verdict::Holds && all.depth > 1, "{:?}", all.verdict);
    assert_eq!(told(&within(Some(all.depth))), told(&all));
    let (least, ran_out) = (all.depth - 1, format!("depth {}", all.depth - 1));
    let cut = within(Some(least));
    assert_eq!((cut.verdict, cut.depth), (Verdict::Undecided { ran_out }, least));
    assert!(cut.states < all.states);
}

#[test]
fn the_same_bounds_give_the_same_states_every_time() {
    let count = || explore(Level::Synchronisation, EnsembleBounds { past: 1, ..bounds(2, 1, 1, 1) }).states;
    assert_eq!(count(), count());
}

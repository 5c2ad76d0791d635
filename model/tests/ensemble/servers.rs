//! Whole servers: what holds of them, and which invariant their planted bugs break.

use crate::ensemble::{bounds, broken, explore_with};
use std::sync::Arc;
use zk_model::ensemble::{
    BROKEN_WITHOUT, EnsembleConfig, Level, Merges, PLANTED, SERVICE_ALLOWS, ServerNode, Traces, Tune, Work,
    names, second_opinion,
};
use zk_model::trace_validation::Restriction;
use zk_model::{Check, Verdict};
use zk_proto::mutant::Mutant;
use zk_proto::zab::PeerConfig;

/// The same for every bug, smallest first.
fn models() -> Vec<EnsembleConfig> {
    let mut models = Vec::new();
    for txns in [1, 2, 3] {
        for &work in Work::ALL {
            models.push(EnsembleConfig { work, ..EnsembleConfig::new(Level::Whole, bounds(2, txns, 0, 0)) });
        }
    }
    let snapshots = EnsembleConfig::new(Level::Whole, bounds(1, 2, 1, 1));
    models.push(EnsembleConfig { snapshots: true, ..snapshots });
    // A learner that lacks anything gets a snapshot.
    let tune = Tune(Arc::new(|peer: &mut PeerConfig| peer.diff_max = 0));
    let three = EnsembleConfig::new(Level::Synchronisation, bounds(3, 2, 0, 0));
    models.push(EnsembleConfig { tune, work: Work::Multis, ..three });
    models
}

fn with_bug(config: &EnsembleConfig, mutant: Mutant) -> EnsembleConfig {
    let Tune(usual) = config.tune.clone();
    let tune = Tune(Arc::new(move |peer: &mut PeerConfig| {
        usual(peer);
        peer.mutant = Some(mutant);
    }));
    EnsembleConfig { tune, max_states: Some(60_000), ..config.clone() }
}

fn times(check: &Check, case: &str) -> u64 {
    check.sometimes.iter().find(|(name, _)| *name == case).map_or(0, |(_, times)| *times)
}

#[test]
fn whole_servers_hold_in_small_bounds_and_every_invariant_of_theirs_is_put_to_the_test() {
    let (last, all) = models().split_last().map(|(last, all)| (last.clone(), all.to_vec())).expect("some");
    let crash = EnsembleConfig::new(Level::Whole, bounds(2, 1, 1, 1));
    let crash = EnsembleConfig { traces: Traces::Judged(None), ..crash };
    let checks: Vec<Check> = all.iter().chain([&crash]).map(explore_with::<ServerNode>).collect();
    for check in &checks {
        assert_eq!(check.verdict, Verdict::Holds, "{:?}", broken(check));
    }
    // Of the largest, as much as the bugs are given.
    let check = explore_with::<ServerNode>(&EnsembleConfig { max_states: Some(60_000), ..last });
    assert_eq!(broken(&check), []);
    for name in names::<ServerNode>() {
        let tested = |check: &Check| check.promises.iter().any(|it| it.name == name && it.tested > 0);
        assert!(checks.iter().any(tested), "{name}");
    }
}

#[test]
fn each_bug_of_a_server_that_needs_no_time_is_found_by_name() {
    for (mutant, name) in [
        (Mutant::LogNotSynced, "StandsOnQuorum"),
        (Mutant::LeaderCountsAnew, "CountersAscend"),
        (Mutant::MultiInPart, "MultiIsAtomic"),
        (Mutant::CloseLooksAtApplied, "EphemeralsHaveSessions"),
        (Mutant::ReplayCountsAgain, "StatesAgree"),
        (Mutant::RestoreKeepsZnodes, "StatesAgree"),
        (Mutant::MoveNotChecked, "SessionOrder"),
        (Mutant::ClientGoesBack, "ZxidsNeverGoBack"),
        (Mutant::ReadOvertakesWrite, "AnsweredInOrder"),
        (Mutant::AnswerTellsLater, "AnsweredStands"),
        (Mutant::WatchAfterAnswer, "WatchBeforeAnswer"),
        (Mutant::WatchFiresTwice, "WatchBeforeAnswer"),
        (Mutant::WatchLost, "WatchBeforeAnswer"),
        (Mutant::SetWatchesForgets, "WatchBeforeAnswer"),
    ] {
        let mut found = models().into_iter().filter_map(|config| {
            let check = explore_with::<ServerNode>(&with_bug(&config, mutant));
            matches!(check.verdict, Verdict::Violated { .. }).then_some(check)
        });
        let check = found.next().unwrap_or_else(|| panic!("{} is not found", mutant.name()));
        let names: Vec<&str> = broken(&check).iter().map(|(name, _)| *name).collect();
        assert!(names.contains(&name), "{}: {names:?}", mutant.name());
        assert!(times(&check, PLANTED) > 0 && times(&check, BROKEN_WITHOUT) == 0, "{}", mutant.name());
    }
}

#[test]
fn both_searches_find_the_same_states_of_whole_servers() {
    let config = EnsembleConfig::new(Level::Whole, bounds(2, 1, 1, 1));
    let ours = explore_with::<ServerNode>(&config);
    assert_eq!(second_opinion::<ServerNode>(&config), (ours.states, None));
}

#[test]
fn whole_servers_hold_without_merging() {
    for merges in [Merges::NONE, Merges { learners: false, ..Merges::ALL }] {
        let config = EnsembleConfig::new(Level::Broadcast, bounds(2, 1, 1, 1));
        let check = explore_with::<ServerNode>(&EnsembleConfig { merges, liveness: false, ..config });
        assert_eq!(check.verdict, Verdict::Holds, "{merges:?}: {:?}", broken(&check));
    }
}

/// Of the first models, what two servers show their client.
fn judged(restriction: Option<Restriction>) -> impl Iterator<Item = Check> {
    let models = models().into_iter().filter(|config| config.bounds.servers == 2);
    models.map(move |config| {
        explore_with::<ServerNode>(&EnsembleConfig { traces: Traces::Judged(restriction), ..config })
    })
}

#[test]
fn service_allows_all_that_whole_servers_show_their_client() {
    for check in judged(None) {
        assert_eq!(check.verdict, Verdict::Holds, "{:?}", broken(&check));
        let asked = check.promises.iter().find(|report| report.name == SERVICE_ALLOWS).map(|it| it.tested);
        assert!(asked > Some(0));
    }
}

#[test]
fn a_service_that_is_too_narrow_is_rejected() {
    for restriction in [Restriction::NoLag, Restriction::AnswersNeverLost, Restriction::LostAnswersBind] {
        let rejects = |check: Check| broken(&check).iter().any(|(name, _)| *name == SERVICE_ALLOWS);
        assert!(judged(Some(restriction)).any(rejects), "{restriction:?}");
    }
}

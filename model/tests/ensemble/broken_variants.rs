//! Ensembles that are wrong on purpose, each caught by name.

use crate::ensemble::wrong_servers::{Deaf, EarlySync};
use crate::ensemble::{bounds, broken, explore_with};
use std::sync::Arc;
use zk_model::Verdict;
use zk_model::ensemble::{
    EnsembleBounds, EnsembleConfig, Level, PROGRESS_POSSIBLE, PeerNode, STANDS_ON_QUORUM, Tune,
};
use zk_proto::server::ServerId;
use zk_proto::zab::PeerConfig;

/// The first server believes that it is alone.
pub fn loner(config: &mut PeerConfig) {
    if config.id == ServerId(1) {
        config.voters = [ServerId(1)].into();
    }
}

pub fn tuned(level: Level, bounds: EnsembleBounds, tune: fn(&mut PeerConfig)) -> EnsembleConfig {
    EnsembleConfig { tune: Tune(Arc::new(tune)), ..EnsembleConfig::new(level, bounds) }
}

#[test]
fn a_disk_that_lies_is_caught_where_what_stands_is_on_no_quorum() {
    let check = explore_with::<EarlySync>(&EnsembleConfig::new(Level::Broadcast, bounds(2, 1, 0, 0)));
    assert!(broken(&check).iter().any(|(name, _)| *name == STANDS_ON_QUORUM), "{:?}", broken(&check));
}

#[test]
fn two_ensembles_in_one_are_caught_by_the_second_leader_of_an_epoch() {
    let check = explore_with::<PeerNode>(&tuned(Level::Whole, bounds(3, 0, 0, 0), loner));
    assert!(broken(&check).iter().any(|(name, _)| *name == "Leadership1"), "{:?}", broken(&check));
    let report =
        check.promises.iter().find(|report| report.name == "Leadership1").expect("it is an invariant");
    let steps = &report.broken.as_ref().expect("it is broken").steps;
    assert!(steps.iter().any(|step| step.contains("has decided to lead")), "{steps:#?}");
}

#[test]
fn a_leader_that_may_never_propose_is_no_progress() {
    let tune = |config: &mut PeerConfig| config.last_counter = 0;
    let check = explore_with::<PeerNode>(&tuned(Level::Whole, bounds(2, 1, 0, 1), tune));
    assert_eq!(broken(&check).iter().map(|(name, _)| *name).collect::<Vec<_>>(), [PROGRESS_POSSIBLE]);
}

#[test]
fn a_server_that_hears_nobody_is_no_progress_for_two_and_none_is_lost_for_three() {
    let names = |servers| {
        let check = explore_with::<Deaf<false>>(&EnsembleConfig::new(Level::Whole, bounds(servers, 1, 0, 0)));
        broken(&check).iter().map(|(name, _)| *name).collect::<Vec<_>>()
    };
    assert_eq!(names(2), [PROGRESS_POSSIBLE]);
    assert_eq!(names(3), [""; 0]);
}

/// What was proposed is to be delivered as well.
#[test]
fn a_leader_that_hears_no_acknowledgement_is_no_progress() {
    let check = explore_with::<Deaf<true>>(&EnsembleConfig::new(Level::Broadcast, bounds(2, 1, 0, 0)));
    assert_eq!(broken(&check).iter().map(|(name, _)| *name).collect::<Vec<_>>(), [PROGRESS_POSSIBLE]);
}

#[test]
fn an_epoch_that_wears_out_is_followed_by_another() {
    let tune = |config: &mut PeerConfig| config.last_counter = 1;
    let check = explore_with::<PeerNode>(&tuned(Level::Broadcast, bounds(2, 2, 0, 1), tune));
    assert_eq!(check.verdict, Verdict::Holds, "{:?}", broken(&check));
    assert!(
        check.sometimes.iter().any(|(case, times)| *case == "a second epoch was established" && *times > 0)
    );
}

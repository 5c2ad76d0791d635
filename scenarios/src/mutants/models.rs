//! The small models that every bug is given.

use std::sync::Arc;
use zk_model::Verdict;
use zk_model::ensemble::{
    BROKEN_WITHOUT, EnsembleBounds, EnsembleConfig, Level, NO_FAIR_CYCLE, PLANTED, PROGRESS_POSSIBLE,
    PeerNode, STANDS_ON_QUORUM, Tune, check_ensemble,
};
use zk_proto::mutant::Mutant;
use zk_proto::zab::PeerConfig;
use zk_reports::ModelKill;

/// The bounds that are explored, smallest first. None is made for a mutant: what is set up otherwise than usual is so
/// for all.
pub(super) fn models() -> Vec<(&'static str, EnsembleConfig)> {
    let bounds = |servers, txns, crashes, elections| EnsembleBounds {
        txns,
        crashes,
        elections,
        ..EnsembleBounds::servers(servers)
    };
    let whole = Level::Whole;
    let synchronisation = Level::Synchronisation;
    let usual = |_: &mut PeerConfig| ();
    // A learner that lacks anything gets a snapshot, and an epoch is soon at its end.
    let impatient = |peer: &mut PeerConfig| (peer.diff_max, peer.last_counter) = (0, 1);
    let config = |level, bounds, tune: fn(&mut PeerConfig)| EnsembleConfig {
        tune: Tune(Arc::new(tune)),
        ..EnsembleConfig::new(level, bounds)
    };
    vec![
        ("2 voters, 1 transaction, 1 crash, 1 election", config(whole, bounds(2, 1, 1, 1), usual)),
        (
            "2 voters, snapshots and short epochs, 2 transactions, 1 crash, 1 election",
            config(whole, bounds(2, 2, 1, 1), impatient),
        ),
        (
            "2 voters and an observer, 1 transaction, 1 broken link",
            config(whole, EnsembleBounds { observers: 1, breaks: 1, ..bounds(2, 1, 0, 1) }, usual),
        ),
        (
            "2 voters with a past of 2, 1 crash, 1 election",
            config(synchronisation, EnsembleBounds { past: 2, ..bounds(2, 0, 1, 1) }, usual),
        ),
        (
            "2 voters with a past of 2, snapshots and short epochs, 1 broken link, 1 election",
            config(synchronisation, EnsembleBounds { past: 2, breaks: 1, ..bounds(2, 0, 0, 1) }, impatient),
        ),
        (
            "3 voters of which two stand for an epoch, 1 transaction, 1 election",
            config(Level::Rivals, bounds(3, 1, 0, 1), usual),
        ),
        ("3 voters, 1 transaction, 1 crash, 1 election", config(whole, bounds(3, 1, 1, 1), usual)),
        (
            "3 voters with a past of 1, 1 crash, 1 election",
            config(synchronisation, EnsembleBounds { past: 1, ..bounds(3, 0, 1, 1) }, usual),
        ),
        (
            "3 voters, snapshots and short epochs, 1 transaction, 1 crash, 1 election",
            config(whole, bounds(3, 1, 1, 1), impatient),
        ),
    ]
}

/// The first of the models in which something is broken after the mutant's mark.
pub(super) fn explore(
    models: &[(&'static str, EnsembleConfig)],
    max_states: u64,
    mutant: Option<Mutant>,
) -> Option<ModelKill> {
    models.iter().find_map(|(bounds, config)| {
        let Tune(usual) = config.tune.clone();
        let tune = Tune(Arc::new(move |peer: &mut PeerConfig| {
            usual(peer);
            peer.mutant = mutant;
        }));
        let config = EnsembleConfig { tune, max_states: Some(max_states), ..config.clone() };
        let check = check_ensemble::<PeerNode>(&config, &mut |_| ());
        let Verdict::Violated { steps, .. } = check.verdict else { return None };
        let times =
            |case| check.sometimes.iter().find(|(name, _)| *name == case).map_or(0, |(_, times)| *times);
        let is_marked = mutant.is_none() || times(PLANTED) > 0 && times(BROKEN_WITHOUT) == 0;
        let broken = check.promises.iter().filter(|promise| promise.broken.is_some());
        let names: Vec<&str> = broken.map(|promise| in_worlds_words(promise.name)).collect();
        let expected = mutant.is_some_and(|mutant| names.iter().any(|name| mutant.family().contains(name)));
        is_marked.then(|| ModelKill {
            bounds: (*bounds).into(),
            invariants: names.iter().map(|name| (*name).to_owned()).collect(),
            expected,
            steps,
            states: check.states,
        })
    })
}

/// What the models call by other names.
fn in_worlds_words(name: &'static str) -> &'static str {
    match name {
        PROGRESS_POSSIBLE | NO_FAIR_CYCLE => "liveness",
        STANDS_ON_QUORUM => "CommittedIsOnAQuorum",
        other => other,
    }
}

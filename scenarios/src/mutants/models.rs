//! The small models that every bug is given.

use std::sync::Arc;
use zk_model::ensemble::{
    ANSWERED_STANDS, BROKEN_WITHOUT, COUNTERS_ASCEND, EPHEMERALS_HAVE_SESSIONS, EQUAL_TREES, EnsembleBounds,
    EnsembleConfig, IN_ORDER, Level, MULTI_IS_ATOMIC, NEVER_BACK, NO_FAIR_CYCLE, PLANTED, PROGRESS_POSSIBLE,
    SESSION_ORDER, STANDS_ON_QUORUM, STATES_AGREE, Tune, WATCH_FIRST, Work, check_nodes,
};
use zk_model::{Check, Verdict};
use zk_proto::mutant::Mutant;
use zk_proto::zab::PeerConfig;
use zk_reports::ModelKill;

/// Something to be explored.
pub(super) struct Bounds {
    pub(super) name: &'static str,
    config: EnsembleConfig,
    /// Whether the servers have trees, sessions and a client. For a bug of a peer that is needless, for one of a server
    /// it must be.
    pub(super) is_whole: bool,
}

/// The bounds that are explored, smallest first. None is made for a mutant: what is set up otherwise than usual is so
/// for all.
pub(super) fn models() -> Vec<Bounds> {
    let of_peers = peers().into_iter().map(|(name, config)| Bounds { name, config, is_whole: false });
    let of_servers = servers().into_iter().map(|(name, config)| Bounds { name, config, is_whole: true });
    of_peers.chain(of_servers).collect()
}

fn servers() -> Vec<(&'static str, EnsembleConfig)> {
    let config = |level, servers, txns, crashes, elections, work| {
        let bounds = EnsembleBounds { txns, crashes, elections, ..EnsembleBounds::servers(servers) };
        EnsembleConfig { work, ..EnsembleConfig::new(level, bounds) }
    };
    let two = |work| config(Level::Whole, 2, 3, 0, 0, work);
    let alone = config(Level::Whole, 1, 2, 1, 1, Work::Counters);
    // A learner that lacks anything gets a snapshot.
    let tune = Tune(Arc::new(|peer: &mut PeerConfig| peer.diff_max = 0));
    let three = config(Level::Synchronisation, 3, 2, 0, 0, Work::Multis);
    vec![
        ("2 whole servers asked for counters, 3 requests", two(Work::Counters)),
        ("2 whole servers asked for multis, 3 requests", two(Work::Multis)),
        ("2 whole servers asked for sessions, 3 requests", two(Work::Sessions)),
        ("2 whole servers asked for watches, 3 requests", two(Work::Watches)),
        (
            "1 whole server with snapshots of its own, 2 requests, 1 crash, 1 election",
            EnsembleConfig { snapshots: true, ..alone },
        ),
        (
            "3 whole servers that send snapshots, asked for multis, 2 requests",
            EnsembleConfig { tune, ..three },
        ),
    ]
}

fn peers() -> Vec<(&'static str, EnsembleConfig)> {
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
            config(Level::CompetingLeaders, bounds(3, 1, 0, 1), usual),
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
pub(super) fn explore<'a>(
    models: impl IntoIterator<Item = &'a Bounds>,
    max_states: u64,
    mutant: Option<Mutant>,
) -> Option<ModelKill> {
    models.into_iter().find_map(|bounds| {
        let Tune(usual) = bounds.config.tune.clone();
        let tune = Tune(Arc::new(move |peer: &mut PeerConfig| {
            usual(peer);
            peer.mutant = mutant;
        }));
        let config = EnsembleConfig { tune, max_states: Some(max_states), ..bounds.config.clone() };
        let check = check_nodes(bounds.is_whole, &config, &mut |_| ());
        kill(bounds, mutant, &check)
    })
}

/// What a search has found, if that is the mutant's doing.
fn kill(bounds: &Bounds, mutant: Option<Mutant>, check: &Check) -> Option<ModelKill> {
    let Verdict::Violated { steps, .. } = check.verdict else { return None };
    let times = |case| check.sometimes.iter().find(|(name, _)| *name == case).map_or(0, |(_, times)| *times);
    let is_marked = mutant.is_none() || times(PLANTED) > 0 && times(BROKEN_WITHOUT) == 0;
    let broken = check.promises.iter().filter(|promise| promise.broken.is_some());
    let mut names: Vec<&str> =
        broken.map(|promise| in_the_simulators_words(promise.name, bounds.is_whole)).collect();
    names.dedup();
    let expected = mutant.is_some_and(|mutant| names.iter().any(|name| mutant.family().contains(name)));
    is_marked.then(|| ModelKill {
        bounds: bounds.name.into(),
        invariants: names.iter().map(|name| (*name).to_owned()).collect(),
        expected,
        steps,
        states: check.states,
    })
}

/// What the models call by other names.
fn in_the_simulators_words(name: &'static str, is_whole: bool) -> &'static str {
    match name {
        PROGRESS_POSSIBLE | NO_FAIR_CYCLE => "liveness",
        STANDS_ON_QUORUM => "CommittedIsOnAQuorum",
        STATES_AGREE | EQUAL_TREES if is_whole => "servers-agree",
        EPHEMERALS_HAVE_SESSIONS => "ephemerals-of-dead-sessions-gone",
        MULTI_IS_ATOMIC => "multi-is-atomic",
        SESSION_ORDER | IN_ORDER => "session-fifo",
        // The reference would have given another name, another zxid.
        COUNTERS_ASCEND | ANSWERED_STANDS => "answers-match-reference",
        NEVER_BACK => "zxids-never-go-back",
        WATCH_FIRST => "watch-before-answer",
        other => other,
    }
}

//! With and without each merging, right and broken ensembles get the same verdict.

use crate::ensemble::broken_variants::{loner, tuned};
use crate::ensemble::wrong_servers::EarlySync;
use crate::ensemble::{bounds, broken, explore_with};
use zk_model::Verdict;
use zk_model::ensemble::{EnsembleBounds, EnsembleConfig, Judged, Level, Merges, PeerNode};

/// All of them, none, and each one off.
fn merges() -> [Merges; 6] {
    let all = Merges::ALL;
    [
        all,
        Merges::NONE,
        Merges { datagrams: false, ..all },
        Merges { dials: false, ..all },
        Merges { timers: false, ..all },
        Merges { learners: false, ..all },
    ]
}

/// The verdict with everything merged, and that it is the same without.
fn agreed<N: Judged>(config: &EnsembleConfig) -> Vec<&'static str> {
    let mut verdicts = merges().into_iter().map(|merges| {
        // A link that is refused may be asked for again and again, faster than time passes: that is no livelock.
        let liveness = merges.dials;
        let check = explore_with::<N>(&EnsembleConfig { merges, liveness, ..config.clone() });
        assert!(!matches!(check.verdict, Verdict::Undecided { .. }), "{merges:?}: {:?}", check.verdict);
        (merges, broken(&check).into_iter().map(|(name, _)| name).collect::<Vec<_>>(), check.states)
    });
    let (_, first, fewest) = verdicts.next().expect("there are six");
    for (merges, broken, states) in verdicts {
        assert_eq!(broken.is_empty(), first.is_empty(), "{merges:?}: {broken:?}, {first:?}");
        assert!(states >= fewest || !first.is_empty(), "{merges:?}: {states} are fewer than {fewest}");
    }
    first
}

#[test]
fn what_holds_holds_without_merging() {
    let small = [
        (Level::Election, bounds(3, 0, 0, 0)),
        (Level::Whole, bounds(2, 1, 1, 1)),
        (Level::Whole, EnsembleBounds { breaks: 1, timeouts: 1, ..bounds(2, 1, 0, 1) }),
        (Level::Synchronisation, bounds(3, 1, 0, 0)),
        (Level::Synchronisation, EnsembleBounds { past: 1, ..bounds(2, 1, 0, 1) }),
        (Level::Broadcast, EnsembleBounds { partitions: 1, ..bounds(2, 1, 0, 1) }),
    ];
    for (level, bounds) in small {
        let none: [&str; 0] = [];
        assert_eq!(agreed::<PeerNode>(&EnsembleConfig::new(level, bounds)), none, "{level:?} {bounds:?}");
    }
}

#[test]
fn what_breaks_breaks_without_merging() {
    assert!(!agreed::<EarlySync>(&EnsembleConfig::new(Level::Broadcast, bounds(2, 1, 0, 0))).is_empty());
    assert!(
        !agreed::<EarlySync>(&EnsembleConfig::new(Level::Synchronisation, bounds(3, 1, 0, 0))).is_empty()
    );
    assert!(!agreed::<PeerNode>(&tuned(Level::Whole, bounds(3, 0, 0, 0), loner)).is_empty());
}

#[test]
fn learners_that_go_first_leave_fewer_states() {
    let count = |learners| {
        let config = EnsembleConfig::new(Level::Synchronisation, bounds(3, 1, 0, 0));
        explore_with::<PeerNode>(&EnsembleConfig { merges: Merges { learners, ..Merges::ALL }, ..config })
            .states
    };
    let (with, without) = (count(true), count(false));
    assert!(with * 2 < without, "{with} of {without}");
}

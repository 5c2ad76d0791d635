//! A ghost history that forgets what nobody needs any more judges as one that keeps everything.

use crate::zab::chaos::Run;
use crate::zab::rig::Rig;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use zk_api::Zxid;
use zk_cluster::peer::BarePeer;
use zk_proto::mutant::Mutant;
use zk_proto::zab::{Peer, invariants};

/// What is broken by name.
fn broken(rig: &Rig) -> BTreeSet<&'static str> {
    let peers: Vec<&Peer> = rig.nodes.values().filter_map(|node| node.peer.as_ref()).collect();
    invariants::check_all(&peers, &rig.ghost).into_iter().map(|broken| broken.invariant).collect()
}

/// The least that any peer's state shows, or will when it starts. A snapshot that is being written is not there yet.
fn shown_everywhere(rig: &Rig) -> Option<Zxid> {
    let shows = |node: &BarePeer| match &node.peer {
        Some(peer) => Some(peer.history().base()).filter(|base| *base <= peer.durable()),
        None => Some(node.disk.base),
    };
    rig.nodes.values().map(shows).min().flatten()
}

/// Steps two runs of a seed, of which one forgets, until something breaks. Gives what does, and how much was forgotten.
fn compare(seed: u64, mutant: Option<Mutant>) -> (BTreeSet<&'static str>, usize) {
    let (mut keeps, mut forgets) = (Run::new(seed, mutant), Run::new(seed, mutant));
    forgets.rig.ghost.remember();
    let mut forgotten = 0;
    for step in 0..keeps.steps {
        // A planted bug may end a run.
        let acts = || {
            let action = keeps.choose();
            keeps.rig.act(action);
            forgets.rig.act(action);
        };
        if catch_unwind(AssertUnwindSafe(acts)).is_err() {
            break;
        }
        let found = broken(&keeps.rig);
        assert_eq!(broken(&forgets.rig), found, "seed {seed}, {mutant:?}, step {step}");
        if !found.is_empty() {
            return (found, forgotten);
        }
        if let Some(shown) = shown_everywhere(&forgets.rig) {
            let ghost = &mut forgets.rig.ghost;
            let before = ghost.committed.len();
            ghost.forget_before(shown);
            forgotten += before - ghost.committed.len();
        }
    }
    (BTreeSet::new(), forgotten)
}

#[test]
fn a_history_that_forgets_finds_what_a_whole_one_finds() {
    let mut forgotten = 0;
    for seed in 0..100 {
        let (found, count) = compare(seed, None);
        assert!(found.is_empty(), "seed {seed}: {found:?}");
        forgotten += count;
    }
    assert!(forgotten > 250, "{forgotten}");
    // Finds of runs that had forgotten something by then.
    let mut finds = BTreeSet::new();
    for mutant in Mutant::ALL {
        for seed in 0..12 {
            let (found, count) = compare(seed, Some(mutant));
            finds.extend(found.into_iter().filter(|_| count > 0));
        }
    }
    for name in ["CommittedIsOnAQuorum", "EpochHasHistory", "DeliveredStands", "DurableIsOnDisk"] {
        assert!(finds.contains(name), "{name}: {finds:?}");
    }
}

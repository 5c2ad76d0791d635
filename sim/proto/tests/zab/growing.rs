//! The check that goes on where it was says what the one says that looks at everything, and a ghost history that
//! remembers what it found says what one says that looks anew.

use crate::zab::chaos::Run;
use crate::zab::rig::Rig;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use zk_proto::mutant::Mutant;
use zk_proto::zab::Peer;
use zk_proto::zab::invariants::{self, growing::Checker};

fn peers(rig: &Rig) -> Vec<&Peer> {
    rig.nodes.values().filter_map(|node| node.peer.as_ref()).collect()
}

/// Checks a run in each way, every so many steps. Counts what was broken by name.
fn compare(seed: u64, mutant: Option<Mutant>, every: u64, broken: &mut BTreeMap<&'static str, u64>) {
    let (mut run, mut remembers) = (Run::new(seed, mutant), Run::new(seed, mutant));
    remembers.rig.ghost.remember();
    let mut checker = Checker::default();
    for step in 0..run.steps {
        // A planted bug may end a run.
        let acts = || {
            let action = run.choose();
            run.rig.act(action);
            remembers.rig.act(action);
        };
        if catch_unwind(AssertUnwindSafe(acts)).is_err() {
            return;
        }
        if step % every != 0 {
            continue;
        }
        let at = format!("seed {seed}, {mutant:?}, step {step}");
        let all = invariants::check_all(&peers(&run.rig), &run.rig.ghost);
        assert_eq!(checker.check_all(&peers(&run.rig), &run.rig.ghost), all, "{at}");
        assert_eq!(
            invariants::check_all(&peers(&remembers.rig), &remembers.rig.ghost),
            all,
            "{at}, remembered"
        );
        all.iter().for_each(|found| *broken.entry(found.invariant).or_default() += 1);
    }
}

#[test]
fn the_check_that_goes_on_finds_what_the_whole_one_finds() {
    let mut broken = BTreeMap::new();
    for seed in 0..100 {
        compare(seed, None, 1 + seed % 3 * 20, &mut broken);
    }
    assert!(broken.is_empty(), "{broken:?}");
    for (at, mutant) in Mutant::ALL.into_iter().enumerate() {
        for seed in 0..25 {
            compare(seed, Some(mutant), 1 + (seed + at as u64) % 3 * 20, &mut broken);
        }
    }
    // What is taken to follow from what was seen before is broken as well.
    for name in ["Integrity", "LocalPrimaryOrder", "Agreement", "TotalOrder", "DeliveredStands"]
        .into_iter()
        .chain(["PrimaryIntegrity", "CommittedIsOnAQuorum", "EpochHasHistory"])
        .chain(["AcknowledgedIsDurable", "DurableIsOnDisk"])
    {
        assert!(broken.contains_key(name), "{name}: {broken:?}");
    }
}

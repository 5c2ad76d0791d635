//! A ghost history that remembers what it found says what one says that looks anew.

use super::*;
use crate::zab::message::Snapshot;
use crate::zab::tests::sample::{following, looking, txn, txns};

const ME: ServerId = ServerId(1);
const LAST: Zxid = Zxid::new(2, 1);

/// A peer all of whose log was found on its disk.
fn found() -> (Peer, Ghost) {
    let peer = following(ME.0, 3, 2, &[(1, 1), (1, 2), (2, 1)]);
    let mut ghost = Ghost::default();
    ghost.remember();
    ghost.started(&peer);
    ghost.committed = txns(&[(1, 1), (1, 2)]).into_iter().map(|txn| (txn.zxid, txn)).collect();
    ghost.sent(&peer, &Packet::Ack { zxid: LAST });
    assert_eq!(ghost.found.0.as_ref().and_then(|found| found.get(&ME)).map(|found| found.count), Some(3));
    (peer, ghost)
}

/// Whether the log is on the disk behind `change`, by what is remembered and by a look at everything.
fn still(change: impl FnOnce(&mut Peer, &mut Ghost)) -> bool {
    let (mut peer, mut ghost) = found();
    change(&mut peer, &mut ghost);
    let last = peer.history().last();
    let remembered = ghost.is_on_disk(&peer, last);
    ghost.found.0 = None;
    assert_eq!(remembered, ghost.is_on_disk(&peer, last));
    remembered
}

fn writes(write: Write) -> impl FnOnce(&mut Peer, &mut Ghost) {
    move |_, ghost| {
        ghost.writes(ME, &write);
        ghost.written(ME);
    }
}

#[test]
fn a_disk_that_is_rewritten_is_looked_at_anew() {
    let to = Zxid::new(1, 1);
    assert!(!still(writes(Write::Truncate { to })));
    assert!(!still(writes(Write::Restart(Snapshot { zxid: to, image: Arc::new([]) }))));
    assert!(!still(
        |_, ghost| ghost.stopped(ME, &RecoveredHistory { log: txns(&[(1, 1)]), ..Default::default() })
    ));
    assert!(!still(|_, ghost| ghost.started(&looking(ME.0, &[(1, 1)]))));
    assert!(!still(|_, ghost| ghost.forget_before(Zxid::new(1, 2))));
}

#[test]
fn a_log_that_is_rewritten_is_looked_at_anew() {
    assert!(!still(|peer, _| {
        peer.own.history.truncate(Zxid::new(1, 1));
        txns(&[(1, 3), (2, 1)]).into_iter().for_each(|txn| peer.own.history.append(txn));
    }));
    assert!(!still(|peer, _| {
        peer.own.history.restart_at(Zxid::ZERO);
        txns(&[(1, 1), (1, 3), (2, 1)]).into_iter().for_each(|txn| peer.own.history.append(txn));
    }));
}

#[test]
fn what_is_only_added_to_and_forgotten_stays_found() {
    assert!(still(|peer, _| peer.own.history.trim(Zxid::new(1, 1))));
    assert!(!still(|peer, _| peer.own.history.append(txn((2, 2)))));
    assert!(still(|peer, ghost| {
        peer.own.history.append(txn((2, 2)));
        writes(Write::Append(txns(&[(2, 2)])))(peer, ghost);
    }));
    // What came before was found.
    let (mut peer, mut ghost) = found();
    peer.own.history.append(txn((2, 2)));
    ghost.disks.get_mut(&ME).expect("it has one").log.clear();
    assert!(ghost.is_on_disk(&peer, LAST), "nothing is compared that was");
}

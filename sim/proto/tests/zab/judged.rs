//! Small histories made by hand, and what invariants say of them: looked at as a whole, and as they grow.

use crate::zab::alone::{looking, txn};
use zk_api::Zxid;
use zk_proto::server::ServerId;
use zk_proto::zab::Note;
use zk_proto::zab::ghost::Ghost;
use zk_proto::zab::invariants::{self, growing::Checker};

const ME: ServerId = ServerId(1);

/// What is broken by name, in either way.
fn broken(checker: &mut Checker, ghost: &Ghost) -> Vec<&'static str> {
    let all = invariants::check_all(&[], ghost);
    assert_eq!(checker.check_all(&[], ghost), all);
    all.into_iter().map(|broken| broken.invariant).collect()
}

#[test]
fn a_state_shown_in_the_place_of_what_was_delivered_is_looked_at_anew() {
    let (proposed, stands) = (txn((1, 1), 1), txn((1, 1), 2));
    let (mut ghost, mut checker) = (Ghost::default(), Checker::default());
    ghost.broadcast.insert(1, vec![proposed.clone()]);
    ghost.committed.insert(stands.zxid, stands);
    ghost.deliver(ME, &proposed);
    assert_eq!(broken(&mut checker, &ghost), ["DeliveredStands"]);
    ghost.show(ME, Zxid::new(1, 1));
    assert_eq!(broken(&mut checker, &ghost), ["Integrity", "LocalPrimaryOrder"]);
}

#[test]
fn another_transaction_that_stands_in_the_place_of_the_last_is_looked_at_anew() {
    let (first, second) = (txn((1, 1), 1), txn((1, 1), 2));
    let (mut ghost, mut checker) = (Ghost::default(), Checker::default());
    let peer = looking(3, None);
    ghost.broadcast.insert(1, vec![first.clone()]);
    ghost.note(&peer, &Note::Committed(first.clone()));
    ghost.deliver(ME, &first);
    assert!(broken(&mut checker, &ghost).is_empty());
    ghost.note(&peer, &Note::Committed(second));
    assert_eq!(broken(&mut checker, &ghost), ["DeliveredStands"]);
}

#[test]
fn what_the_only_leader_had_not_delivered_is_not_taken_for_delivered() {
    let first = txn((1, 1), 1);
    let (mut ghost, mut checker) = (Ghost::default(), Checker::default());
    ghost.broadcast.insert(1, vec![first.clone()]);
    ghost.committed.insert(first.zxid, first.clone());
    ghost.delivered_before.insert(2, Vec::new());
    ghost.deliver(ME, &first);
    assert_eq!(broken(&mut checker, &ghost), ["PrimaryIntegrity"]);
}

#[test]
fn two_that_deliver_nothing_in_common_do_not_agree_and_two_orders_of_the_same_do() {
    let delivers = |mine: &[u32], theirs: &[u32]| {
        let mut ghost = Ghost::default();
        for (server, counters) in [(ME, mine), (ServerId(2), theirs)] {
            counters.iter().for_each(|counter| ghost.deliver(server, &txn((1, *counter), 0)));
        }
        invariants::agreement(&[], &ghost)
    };
    assert!(delivers(&[1], &[2]).is_err());
    assert_eq!(delivers(&[1, 2], &[2, 1]), Ok(()));
}

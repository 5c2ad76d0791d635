//! What breaks the promises of queues, and what is expected.

mod taken_once;

use super::super::Undisturbed;
use super::super::testing::*;
use super::*;
use crate::event::End;
use Delivery::{AtLeastOnce, AtMostOnce};
use zk_api::Zxid;

const ITEMS: &str = "/queue/items";

fn item(n: u8) -> String {
    format!("{ITEMS}/item-{n}")
}
/// Item `n`, with the payload `n`.
fn put(n: u8) -> Event {
    put_as(n, n)
}
fn put_as(n: u8, payload: u8) -> Event {
    written(&item(n), &payload.to_string(), 0, SessionId::NONE)
}
fn written(path: &str, data: &str, by: u16, owner: SessionId) -> Event {
    let (path, data, by, mzxid) = (path.into(), data.into(), session(by), Zxid::new(1, 1));
    Event::Is(GroundTruth::NodeWritten { path, by, owner, data, mzxid })
}
fn gone(n: u8) -> Event {
    deleted(&item(n), 1, 9)
}
fn asks(p: u16) -> Event {
    notes(p, "asks", ITEMS)
}
fn takes(p: u16, n: u8) -> Event {
    notes(p, "takes", &item(n))
}
fn worked_off(p: u16, n: u8) -> Event {
    notes(p, "has worked off", &item(n))
}
fn rest(unfinished: &[u16], items: &[u8]) -> Rest {
    let unfinished = unfinished.iter().map(|p| actor(*p)).collect();
    let nodes = items.iter().map(|n| (item(*n).as_str().into(), SessionId::NONE)).collect();
    Rest { unfinished, nodes, ..Rest::default() }
}

/// With the end of a session it asked no more, though its client had another one.
#[test]
fn who_waits_on_in_another_session_while_an_item_is_there_breaks_it() {
    let waits = |events| resting(QueueProgress::of(ITEMS, AtLeastOnce), events, &rest(&[1], &[1])).len();
    let renewed = vec![opened(1), asks(1), closed(1), opened(1), put(1)];
    assert_eq!(waits(renewed.clone()), 1);
    assert_eq!(waits([renewed, vec![takes(1, 1)]].concat()), 0);
    // It was taken in turn, and again when its taker had crashed.
    let again = [vec![opened(1), put(1), put(2), asks(1), closed(1), opened(1), takes(1, 1)], vec![asks(2)]];
    let then = vec![takes(2, 2), asks(3), takes(3, 1)];
    assert_eq!(broken_by(&findings(TakesInOrder::of(ITEMS), [again.concat(), then].concat())), []);
}

#[test]
fn an_item_that_vanishes_without_being_worked_off_breaks_it() {
    let lost = |delivery, events| resting(NothingLost::of(ITEMS, delivery), events, &rest(&[], &[]));
    let found = lost(AtLeastOnce, vec![opened(1), put(1), asks(1), takes(1, 1), gone(1)]);
    assert_eq!(broken_by(&found), [("/queue/items/item-1 is lost", None)]);
    assert_eq!(lost(AtLeastOnce, vec![put(1), takes(1, 1), worked_off(1, 1)]), []);
    assert_eq!(lost(AtMostOnce, vec![put(1), asks(1), takes(1, 1)]), []);
    let stays = resting(NothingLost::of(ITEMS, AtLeastOnce), vec![put(1)], &rest(&[], &[1]));
    assert_eq!(stays, []);
}

/// What was put next into a znode was taken for what it had held before.
#[test]
fn what_is_written_over_before_anybody_took_it_is_lost() {
    let job = |payload: u8| notes(0, "puts", &payload.to_string());
    let judge = |delivery, then: Vec<Event>, there: &[u8]| {
        let both = vec![opened(1), job(1), job(2), put_as(1, 1)];
        broken_by(&resting(NothingLost::of(ITEMS, delivery), [both, then].concat(), &rest(&[], there))).len()
    };
    let once = || vec![takes(1, 1), worked_off(1, 1), gone(1)];
    for delivery in [AtLeastOnce, AtMostOnce] {
        assert_eq!(judge(delivery, [vec![put_as(1, 2)], once()].concat(), &[]), 1);
        assert_eq!(judge(delivery, [vec![gone(1), put_as(1, 2)], once()].concat(), &[]), 1, "made anew");
        assert_eq!(judge(delivery, vec![put_as(1, 2)], &[1]), 1, "the other one is there");
        // It was taken, though that is told only when the next one is there.
        assert_eq!(judge(delivery, [once(), vec![put_as(1, 2)], once()].concat(), &[]), 0);
        let late = [vec![gone(1), put_as(1, 2)], once(), once()].concat();
        assert_eq!(judge(delivery, late, &[]), 0);
        assert_eq!(judge(delivery, [vec![gone(1), put_as(1, 2)], once()].concat(), &[1]), 0);
        // It was moved; nobody has put it; or it is the same.
        assert_eq!(judge(delivery, [vec![put_as(3, 1), put_as(1, 2)], once()].concat(), &[3]), 0);
        assert_eq!(judge(delivery, [vec![put_as(1, 9)], once()].concat(), &[]), 0);
        assert_eq!(judge(delivery, [vec![gone(1), put_as(1, 1)], once()].concat(), &[]), 0);
        // The first was taken; the second was moved, and taken there.
        let elsewhere = vec![takes(1, 3), worked_off(1, 3), gone(3)];
        let moved = [vec![put_as(1, 2)], once(), vec![put_as(3, 2)], elsewhere].concat();
        assert_eq!(judge(delivery, moved, &[]), 0);
        let untold = vec![put_as(1, 2), worked_off(1, 1), gone(1)];
        assert_eq!(judge(delivery, [once(), untold].concat(), &[]), 0, "that it takes it is not told");
    }
    let unsaid = vec![put_as(2, 7), job(8), put_as(2, 8), takes(1, 2), worked_off(1, 2), gone(2)];
    assert_eq!(resting(NothingLost::of(ITEMS, AtLeastOnce), unsaid, &rest(&[], &[])), []);
    let again = vec![job(1), put_as(1, 1), job(1), job(2), put_as(1, 2), job(1), notes(0, "has put", "1")];
    assert_eq!(broken_by(&findings(NothingLost::of(ITEMS, AtLeastOnce), again)).len(), 1, "it is not there");
    let removed = [vec![put_as(1, 2)], vec![deleted(&item(1), ADMIN, NOBODY)]].concat();
    assert_eq!(judge(AtLeastOnce, removed, &[]), 2);
}

#[test]
fn to_say_that_something_was_put_that_never_was_there_breaks_it() {
    let judged = |events| findings(NothingLost::of(ITEMS, AtLeastOnce), events);
    let (puts, has_put) = (notes(0, "puts", "7"), notes(0, "has put", "7"));
    let found = judged(vec![puts.clone(), has_put.clone()]);
    assert_eq!(
        broken_by(&found),
        [("p0 says that it has put 7, and no item has had that data since it began to", None)]
    );
    // It may have been taken long since.
    assert_eq!(judged(vec![puts.clone(), put(7), gone(7), has_put.clone()]), []);
    assert_eq!(broken_by(&judged(vec![puts.clone(), put_as(7, 8), has_put.clone()])).len(), 1);
    assert_eq!(judged(vec![puts.clone(), put(7)]), []);
    // Another has put the same, and it is there still.
    let twice = |gone| [vec![put(7)], gone, vec![puts.clone(), has_put.clone()]].concat();
    assert_eq!(judged(twice(vec![])), []);
    assert_eq!(broken_by(&judged(twice(vec![gone(7)]))).len(), 1);
}

#[test]
fn with_each_death_of_one_who_asks_one_item_may_be_lost_if_that_is_declared() {
    let events = vec![opened(1), put(1), asks(1), gone(1), crashed(1)];
    let lost = |delivery| resting(NothingLost::of(ITEMS, delivery), events.clone(), &rest(&[], &[]));
    assert_eq!(lost(AtMostOnce), []);
    assert_eq!(broken_by(&lost(AtLeastOnce)).len(), 1);
}

#[test]
fn taking_the_older_one_later_breaks_it() {
    let events = vec![put(1), put(2), asks(1), takes(1, 2), asks(1), takes(1, 1)];
    let found = findings(TakesInOrder::of(ITEMS), events);
    let what = "p1 takes /queue/items/item-1 only after one that comes behind it";
    assert_eq!(broken_by(&found), [(what, None)]);
}

#[test]
fn of_those_of_one_priority_the_older_comes_first_though_all_came_after_one_had_asked() {
    let events = vec![asks(1), put(1), put(2), takes(1, 2), asks(1), takes(1, 1)];
    assert_eq!(broken_by(&findings(TakesInOrder::of(ITEMS), events)).len(), 1);
}

/// Whoever said once that it asks, before its loop, was judged by its first item alone.
#[test]
fn who_asks_once_takes_each_in_order() {
    let found = |then: Vec<Event>| {
        let events = [vec![put(1), put(2), put(3)], then].concat();
        broken_by(&findings(TakesInOrder::of(ITEMS), events)).len()
    };
    assert_eq!(found(vec![asks(1), takes(1, 1), takes(1, 2), takes(1, 3)]), 0);
    assert_eq!(found(vec![asks(1), takes(1, 3), takes(1, 2), takes(1, 1)]), 2);
    assert_eq!(found(vec![asks(1), takes(1, 1), takes(1, 3), takes(1, 2)]), 1);
    assert_eq!(found(vec![takes(1, 3), takes(1, 2), takes(1, 1)]), 2, "it never tells that it asks");
    assert_eq!(found(vec![takes(1, 1), takes(1, 2), takes(1, 3)]), 0);
    assert_eq!(found(vec![asks(2), takes(2, 2), takes(1, 1), takes(1, 3)]), 0, "it may have had it for long");
    let two = |then: Vec<Event>| found([vec![asks(1), asks(2)], then].concat());
    assert_eq!(two(vec![takes(2, 1), takes(1, 3), takes(2, 2)]), 0, "it may have had it");
    assert_eq!(two(vec![takes(2, 1), takes(1, 3), asks(2), takes(2, 2)]), 1, "it asks for another");
    assert_eq!(two(vec![takes(1, 3), takes(2, 2), takes(1, 1)]), 1);
    // What one that has died may have had is not judged, and what it cannot have had is.
    assert_eq!(two(vec![takes(2, 1), takes(1, 3), finished(2), takes(1, 2)]), 0);
    assert_eq!(two(vec![takes(2, 1), takes(1, 3), finished(1), takes(2, 2)]), 0);
    assert_eq!(found(vec![asks(2), takes(2, 1), finished(2), asks(1), takes(1, 3), takes(1, 2)]), 1);
    // It may have claimed one more, which nobody else gets until its session is over.
    assert_eq!(found(vec![asks(2), takes(2, 1), crashed(2), asks(1), takes(1, 3), takes(1, 2)]), 0);
}

#[test]
fn one_who_asked_meanwhile_may_have_the_older_one() {
    let events = vec![put(1), put(2), asks(1), asks(2), takes(2, 2), takes(1, 1)];
    assert_eq!(broken_by(&findings(TakesInOrder::of(ITEMS), events)), []);
    let asked_anew = vec![put(1), put(2), asks(1), asks(2), takes(2, 2), asks(1), takes(1, 1)];
    assert_eq!(broken_by(&findings(TakesInOrder::of(ITEMS), asked_anew)).len(), 1);
}

/// One that ends while it asks may have taken an item, and so one before it; one that does not ask has taken none.
#[test]
fn whoever_ends_without_asking_changes_no_order() {
    let found = |asks_too: &[Event]| {
        let before = [vec![put(1), put(2), asks(1)], asks_too.to_vec()].concat();
        let then = vec![takes(1, 2), finished(2), asks(1), takes(1, 1)];
        broken_by(&findings(TakesInOrder::of(ITEMS), [before, then].concat())).len()
    };
    assert_eq!((found(&[]), found(&[asks(2)])), (1, 0));
}

#[test]
fn what_is_more_important_comes_first_if_it_was_there_when_one_asked() {
    let says = |n: u8, priority| {
        let what = crate::event::Observation::note(crate::words::PUTS, &n.to_string(), priority);
        Event::Observed { actor: actor(0), what }
    };
    let both = [says(1, 9), says(2, 3)];
    let there = [both.to_vec(), vec![put(1), put(2), asks(1), takes(1, 1), asks(1), takes(1, 2)]].concat();
    assert_eq!(broken_by(&findings(TakesInOrder::of(ITEMS), there)).len(), 1);
    let late = [both.to_vec(), vec![put(1), asks(1), put(2), takes(1, 1), asks(1), takes(1, 2)]].concat();
    assert_eq!(broken_by(&findings(TakesInOrder::of(ITEMS), late)), []);
}

#[test]
fn what_is_skipped_for_ever_breaks_it_and_what_comes_later_does_not() {
    let skipped = |then: Vec<Event>, items| {
        let events = [vec![put(1), put(2), put(3), asks(1)], then].concat();
        resting(TakesInOrder::of(ITEMS), events, &rest(&[], items)).len()
    };
    assert_eq!(skipped(vec![takes(1, 1)], &[2, 3]), 0);
    assert_eq!(skipped(vec![takes(1, 1), asks(1), takes(1, 2), asks(1), takes(1, 3)], &[]), 0);
    let second = || vec![takes(1, 2), gone(2)];
    assert_eq!((skipped(second(), &[1, 3]), skipped([second(), vec![gone(1)]].concat(), &[3])), (1, 0));
}

#[test]
fn what_was_gone_when_another_was_taken_may_be_taken_later() {
    let found = |gone: Vec<Event>| {
        let asked = [vec![put(1), put(2), asks(1), asks(2)], gone, vec![takes(2, 2)]].concat();
        broken_by(&findings(TakesInOrder::of(ITEMS), [asked, vec![asks(1), takes(1, 1)]].concat())).len()
    };
    assert_eq!((found(vec![gone(1)]), found(vec![])), (0, 1));
}

#[test]
fn what_one_who_died_as_it_asked_may_have_had_is_not_judged() {
    let found = |dies: Event| {
        let events = [vec![put(1), put(2), asks(1), asks(2), takes(1, 2), dies], vec![asks(3), takes(3, 1)]];
        broken_by(&findings(TakesInOrder::of(ITEMS), events.concat())).len()
    };
    assert_eq!([closed(2), crashed(2), closed(1), crashed(4)].map(found), [0, 0, 1, 1]);
}

#[test]
fn waiting_while_an_item_is_there_breaks_it() {
    let found = resting(QueueProgress::of(ITEMS, AtLeastOnce), vec![asks(1), put(1)], &rest(&[1], &[1]));
    assert_eq!(broken_by(&found), [("p1 waits for ever though /queue/items/item-1 is there", None)]);
    let empty =
        resting(QueueProgress::of(ITEMS, AtLeastOnce), vec![asks(1), put(1), gone(1)], &rest(&[1], &[]));
    assert_eq!(empty, []);
}

/// Any quiet rest was a test of it, and a trial whose actors return at once was green.
#[test]
fn progress_takes_somebody_who_asks_and_takes_an_item() {
    let found = |events| findings(QueueProgress::of(ITEMS, AtLeastOnce), events);
    assert_eq!(found(vec![put(1), asks(1), takes(1, 1)]), [Finding::Tested]);
    assert_eq!(found(vec![put(1), takes(1, 1)]), []);
    assert_eq!(found(vec![put(1), asks(1)]), []);
}

#[test]
fn an_order_takes_two_items_at_a_time() {
    let found = |events| findings(TakesInOrder::of(ITEMS), events);
    assert_eq!(found(vec![put(1), put(2), asks(1), takes(1, 1)]), [Finding::Tested]);
    assert_eq!(found(vec![put(1), asks(1), takes(1, 1), put(2)]), []);
    assert_eq!(found(vec![put(1), put(2), asks(1), gone(2), takes(1, 1)]), []);
}

/// What is expected after an administrator has changed something: of the first, and of what is broken anyhow.
fn which_are_expected(judge: impl Promise, change: Event, then: Vec<Event>, rest: &Rest) -> Vec<bool> {
    let mut judge = Undisturbed::of(judge).sparing(ITEMS);
    let mut found = Vec::new();
    for event in [(0..3).map(opened).collect(), vec![change], then].concat() {
        judge.see(&event, &mut found);
    }
    judge.at_rest(rest, &mut found);
    broken_by(&found).iter().map(|(_, is_expected)| is_expected.is_some()).collect()
}

fn claim(n: u8) -> String {
    format!("{ITEMS}/claim-of-item-{n}")
}

/// Of item 1 or a claim to it; of another; and of a consumer's place.
fn changes() -> [(Event, bool); 5] {
    let place = "/queue/takers/a-taker-0000000001";
    let his = |path: &str, owner| deleted(path, ADMIN, owner);
    [
        (his(&claim(1), 1), true),
        (his(&item(1), NOBODY), true),
        (his(&claim(2), 1), false),
        (his(&item(9), NOBODY), false),
        (his(place, 1), false),
    ]
}

#[test]
fn what_becomes_of_an_item_after_its_change_is_expected_and_of_no_other() {
    for (change, is_expected) in changes() {
        let twice = vec![put(1), takes(1, 1), takes(2, 1)];
        let by = |judge, then| which_are_expected(judge, change.clone(), then, &rest(&[], &[]));
        assert_eq!(by(TakenOnce::of(ITEMS, AtMostOnce), twice), [is_expected], "{change:?}");
        let disorder = vec![put(1), put(2), asks(1), takes(1, 2), asks(1), takes(1, 1)];
        let found = which_are_expected(TakesInOrder::of(ITEMS), change.clone(), disorder, &rest(&[], &[]));
        assert_eq!(found, [is_expected], "{change:?}");
        let waits = which_are_expected(
            QueueProgress::of(ITEMS, AtLeastOnce),
            change.clone(),
            vec![asks(1), put(1)],
            &rest(&[1], &[1]),
        );
        assert_eq!(waits, [is_expected], "{change:?}");
        let lost = which_are_expected(
            NothingLost::of(ITEMS, AtLeastOnce),
            change.clone(),
            vec![put(1)],
            &rest(&[], &[]),
        );
        assert_eq!(lost, [is_expected], "{change:?}");
    }
}

#[test]
fn one_that_waits_beside_an_item_that_was_changed_and_another_is_not_expected() {
    let both = vec![asks(1), put(1), put(2)];
    let change = deleted(&claim(1), ADMIN, 2);
    assert_eq!(
        which_are_expected(QueueProgress::of(ITEMS, AtLeastOnce), change, both, &rest(&[1], &[1, 2])),
        [true, false]
    );
}

/// With the end of a session it asked no more, and what was lost with it later was one too many.
#[test]
fn who_asks_on_in_another_session_may_lose_an_item_with_each() {
    let asks_on = [opened(1), put(1), put(2), put(3), asks(1), gone(1), closed(1)];
    let lost = |then: Vec<Event>| {
        let events = [asks_on.to_vec(), then].concat();
        broken_by(&resting(NothingLost::of(ITEMS, AtMostOnce), events, &rest(&[], &[3]))).len()
    };
    assert_eq!(lost(vec![opened_anew(1), gone(2), crashed(1)]), 0);
    assert_eq!(lost(vec![gone(2), crashed(1)]), 2, "it had no other one");
    let dies = vec![opened(1), put(1), put(2), asks(1), gone(1), gone(2), crashed(1), closed(1)];
    let found = resting(NothingLost::of(ITEMS, AtMostOnce), dies, &rest(&[], &[]));
    assert_eq!(broken_by(&found).len(), 2, "its session ends with it, though later");
    let renewed = vec![opened(1), put(1), asks(1), gone(1), opened_anew(1), closed(1)];
    let found = resting(NothingLost::of(ITEMS, AtMostOnce), renewed, &rest(&[], &[]));
    assert_eq!(found, [], "its client had opened the next one before");
    assert_eq!(lost(vec![opened_anew(1), gone(2)]), 2, "it lives");
    assert_eq!(lost(vec![opened_anew(1), takes(1, 3), gone(2), crashed(1)]), 2, "it asks no more");
}

#[test]
fn what_an_administrator_takes_out_does_not_use_up_what_a_death_may_cost() {
    let judge = || NothingLost::of(ITEMS, AtMostOnce);
    let dies = vec![put(1), put(2), asks(1), gone(2), crashed(1)];
    let lost = |more: Vec<Event>| {
        let then = [dies.clone(), vec![deleted(&item(1), ADMIN, NOBODY)], more].concat();
        which_are_expected(judge(), deleted(&item(9), ADMIN, NOBODY), then, &rest(&[], &[]))
    };
    assert_eq!(lost(vec![]), [true]);
    assert_eq!(lost(vec![put(3), gone(3)]), [false, false, true]);
}

#[test]
fn a_put_that_was_none_is_expected_after_a_change_of_the_producers_own_znode() {
    let then = || vec![notes(0, "puts", "7"), notes(0, "has put", "7")];
    let by = |owner| {
        let change = written("/queue/putters/x", "unlock", ADMIN, session(owner));
        which_are_expected(NothingLost::of(ITEMS, AtLeastOnce), change, then(), &rest(&[], &[]))
    };
    assert_eq!(by(0), [true]);
    assert_eq!(by(1), [false]);
}

/// A log, in which a consumer's mark says how far it has come, was a queue in which it waits though items are there.
#[test]
fn who_waits_beside_what_was_worked_off_waits_for_another() {
    let waits = |then: Vec<Event>, items: &[u8]| {
        let events = [vec![put(1), asks(1), takes(1, 1)], then].concat();
        resting(QueueProgress::of(ITEMS, AtLeastOnce), events, &rest(&[1], items)).len()
    };
    let taken = vec![put(1), asks(1), takes(1, 1), asks(1)];
    let once = resting(QueueProgress::of(ITEMS, AtMostOnce), taken, &rest(&[1], &[1]));
    assert_eq!(broken_by(&once), [], "it was given, and is given at most once");
    let before = waits(vec![], &[1]);
    assert_eq!(waits(vec![worked_off(1, 1), asks(1)], &[1]), before);
    assert_eq!(waits(vec![asks(1)], &[1]), before + 1);
    assert_eq!(waits(vec![worked_off(1, 1), asks(1), gone(1), put(1)], &[1]), before + 1);
}

/// What a consumer had moved to where it keeps its own was an item that nobody took in its turn.
#[test]
fn what_was_taken_and_is_put_elsewhere_is_not_to_be_taken_in_turn() {
    let moved = |times: usize| {
        let puts = |payload| vec![notes(0, "puts", payload), notes(0, "has put", payload)];
        let puts = [vec![puts("1"); times].concat(), puts("2")].concat();
        let moves = vec![put(1), asks(1), takes(1, 1), put_as(3, 1), gone(1), put(2)];
        let then = vec![asks(1), takes(1, 2), gone(2)];
        resting(TakesInOrder::of(ITEMS), [puts, moves, then].concat(), &rest(&[], &[3])).len()
    };
    assert_eq!((moved(1), moved(2)), (0, 1), "if it was put twice, it may be another one");
}

/// A consumer's mark in an item was another item, which was lost, or taken out of turn, in a right queue.
#[test]
fn an_item_that_is_given_other_data_is_the_same_one() {
    let (marked, asks_twice) = (put_as(1, 9), vec![asks(1), asks(2)]);
    let marks =
        [vec![put(1), marked.clone(), put(2)], asks_twice, vec![takes(1, 1), marked.clone()]].concat();
    let again = vec![takes(2, 2), closed(1), asks(3), takes(3, 1)];
    assert_eq!(broken_by(&findings(TakesInOrder::of(ITEMS), [marks, again].concat())), []);
    let lost = |then: Vec<Event>| {
        let events = [vec![opened(1), put(1), takes(1, 1), worked_off(1, 1)], then, vec![gone(1)]].concat();
        resting(NothingLost::of(ITEMS, AtLeastOnce), events, &rest(&[], &[])).len()
    };
    assert_eq!((lost(vec![marked]), lost(vec![gone(1), put(1)])), (0, 1), "put anew it is another one");
    let puts = vec![notes(0, "puts", "9"), put(1), put_as(1, 9), notes(0, "has put", "9")];
    assert_eq!(findings(NothingLost::of(ITEMS, AtLeastOnce), puts), [], "it was there");
    let twice = vec![put(1), put_as(1, 9), put_as(2, 9), takes(1, 1), takes(2, 2)];
    let taken_twice = |events| broken_by(&findings(TakenOnce::of(ITEMS, AtLeastOnce), events)).len();
    assert_eq!(taken_twice([vec![notes(0, "puts", "9")], twice.clone()].concat()), 1);
    assert_eq!(taken_twice(twice), 0, "what nobody puts is a mark, which two items may have");
}

/// Heartbeats below an item were lost with it.
#[test]
fn what_is_below_an_item_is_none() {
    let beat = format!("{}/beat", item(1));
    let beats = written(&beat, "0", 1, SessionId::NONE);
    let done = vec![takes(1, 1), worked_off(1, 1), deleted(&beat, 1, 9), gone(1)];
    let events = [vec![opened(1), asks(1), put(1), beats], done].concat();
    let lost = resting(NothingLost::of(ITEMS, AtLeastOnce), events.clone(), &rest(&[], &[]));
    assert_eq!(broken_by(&lost), []);
    assert_eq!(broken_by(&findings(TakesInOrder::of(ITEMS), events)), []);
    // It was there before, and goes on beside what is made below it then.
    let folder = written(&format!("{ITEMS}/folder"), "", 1, SessionId::NONE);
    let within = written(&format!("{ITEMS}/folder/1"), "1", 1, SessionId::NONE);
    let lost = resting(NothingLost::of(ITEMS, AtLeastOnce), vec![folder, within], &rest(&[], &[]));
    assert_eq!(broken_by(&lost), [("/queue/items/folder/1 is lost", None)]);
}

/// Who could not do it, and put it back to the end of the line in one transaction, had lost it.
#[test]
fn an_item_that_stands_for_one_that_is_gone_is_not_lost() {
    let puts = |times: usize| vec![[notes(0, "puts", "1"), notes(0, "has put", "1")]; times].concat();
    let lost = |times, events: &[Event], there: &[u8]| {
        let events = [vec![opened(1)], puts(times), events.to_vec()].concat();
        broken_by(&resting(NothingLost::of(ITEMS, AtLeastOnce), events, &rest(&[], there))).len()
    };
    let again = [put(1), gone(1), put_as(2, 1)];
    let worked = [takes(1, 2), worked_off(1, 2), gone(2)];
    assert_eq!((lost(1, &again, &[2]), lost(1, &again, &[])), (0, 1));
    assert_eq!(lost(1, &[&again[..], &worked].concat(), &[]), 0);
    assert_eq!(lost(1, &[put(1), put_as(2, 1), gone(1)], &[2]), 0, "in either order");
    assert_eq!(lost(2, &again, &[2]), 1, "it was put twice, and is there once");
    assert_eq!(lost(1, &[&again[..], &[gone(2), put_as(3, 1)]].concat(), &[3]), 0);
    assert_eq!(lost(0, &again, &[2]), 1, "nobody says how often it was put");
    let other = [notes(0, "puts", "2"), put(1), gone(1), put_as(2, 2)];
    assert_eq!(lost(1, &other, &[2]), 1, "another one does not stand for it");
}

/// Who asked on in another session, took what comes first there, and died, was not known to have had it.
#[test]
fn what_one_takes_that_asks_on_in_another_session_is_not_judged_when_it_dies() {
    let judge = |end: Vec<Event>| {
        let asked =
            vec![opened(1), opened(2), opened(3), put(1), asks(1), closed(1), opened(1), put(2), put(3)];
        let skips = vec![asks(2), takes(2, 3)];
        let events = [asked, skips, end, vec![asks(3), takes(3, 2)]].concat();
        broken_by(&findings(TakesInOrder::of(ITEMS), events)).len()
    };
    assert_eq!((judge(vec![]), judge(vec![crashed(1)]), judge(vec![crashed(2)])), (1, 0, 1));
}

#[test]
fn an_item_lies_below_has_data_and_is_no_ephemeral_but_for_what_its_owner_puts() {
    let waits = |path: &str, data, by, owner| {
        let events =
            vec![opened(0), opened(1), asks(1), notes(0, "puts", "1"), written(path, data, by, owner)];
        resting(QueueProgress::of(ITEMS, AtLeastOnce), events, &rest(&[1], &[])).len()
    };
    let one = item(1);
    assert_eq!((waits(&one, "1", 0, SessionId::NONE), waits(&one, "1", 0, session(0))), (1, 1));
    assert_eq!(waits("/queue/items/claim", "p0", 0, session(0)), 0, "a mark of its own");
    // It was an item, and lost with the mark.
    assert_eq!(waits("/queue/items/claim", "1", 1, session(1)), 0, "a mark that says what was taken");
    assert_eq!((waits(&claim(1), "unlock", ADMIN, session(1)), waits(&one, "", 0, SessionId::NONE)), (0, 0));
    assert_eq!((waits("/queue/a", "1", 0, SessionId::NONE), waits(ITEMS, "1", 0, SessionId::NONE)), (0, 0));
}

#[test]
fn who_has_ended_waits_for_no_item() {
    let live = Rest { sessions: vec![(session(1), actor(1))], ..Rest::default() };
    let events = vec![opened(1), asks(1), finished(1), put(1)];
    assert_eq!(resting(QueueProgress::of(ITEMS, AtLeastOnce), events, &live), []);
}

#[test]
fn an_item_is_settled_once_when_it_is_worked_off_or_given() {
    let found = |delivery, events| findings(NothingLost::of(ITEMS, delivery), events);
    let taken = || vec![put(1), asks(1), takes(1, 1)];
    let worked = || [taken(), vec![worked_off(1, 1), worked_off(1, 1)]].concat();
    assert_eq!((found(AtMostOnce, taken()), found(AtLeastOnce, taken())), (vec![Finding::Tested], vec![]));
    for delivery in [AtMostOnce, AtLeastOnce] {
        assert_eq!(found(delivery, worked()), [Finding::Tested]);
        assert_eq!(found(delivery, worked()[1..].to_vec()), [], "it was never there");
    }
}

#[test]
fn what_an_administrator_deletes_is_lost_unless_it_is_worked_off() {
    let lost = |then: Vec<Event>| {
        let events = [vec![put(1), takes(1, 1), deleted(&item(1), ADMIN, NOBODY)], then].concat();
        resting(NothingLost::of(ITEMS, AtLeastOnce), events, &rest(&[], &[])).len()
    };
    assert_eq!((lost(vec![]), lost(vec![worked_off(1, 1)])), (1, 0));
}

#[test]
fn a_death_costs_an_item_if_that_one_asked_and_had_none_yet() {
    let lost = |then: &[Event]| {
        let events = [&[opened(1), put(1), asks(1)], then].concat();
        resting(NothingLost::of(ITEMS, AtMostOnce), events, &rest(&[], &[])).len()
    };
    assert_eq!(lost(&[gone(1), closed(1)]), 0);
    assert_eq!(lost(&[vanished(&item(1), NOBODY), closed(1)]), 0, "no administrator deleted it");
    assert_eq!(lost(&[gone(1), closed(2)]), 1);
    assert_eq!(lost(&[gone(1), finished(1), closed(1)]), 1, "it was done, and had none");
    assert_eq!(lost(&[gone(1), takes(1, 1), put(2), gone(2), closed(1)]), 1, "it had the other");
}

/// What such a thread lost was forgiven, and in what order it took was not judged.
#[test]
fn a_thread_that_goes_on_when_the_main_one_has_failed_asks_on() {
    let failed = || Event::Is(GroundTruth::Finished { actor: actor(1), end: End::Failed });
    let asks = || by_thread(1, asks(1));
    let lost = |asks: Event| {
        let (mut promise, mut found) = (NothingLost::of(ITEMS, AtMostOnce), Vec::new());
        let events = [opened(1), put(1), asks, failed(), gone(1)];
        events.iter().for_each(|event| promise.see(event, &mut found));
        promise.at_rest(&rest(&[], &[]), &mut found);
        found.len()
    };
    assert_eq!((lost(asks()), lost(notes(1, "asks", ITEMS))), (1, 0));
    let events = vec![put(1), put(2), asks(), failed(), by_thread(1, takes(1, 2)), gone(2)];
    assert_eq!(resting(TakesInOrder::of(ITEMS), events, &rest(&[], &[1])).len(), 1);
}

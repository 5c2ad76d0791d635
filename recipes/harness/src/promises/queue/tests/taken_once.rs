//! Who takes what another has taken.

use super::*;
use crate::event::Observation;
use crate::words;

#[test]
fn two_takers_of_one_payload_break_it() {
    let twice = vec![put(1), put_as(2, 1), takes(1, 1), takes(2, 2)];
    for delivery in [AtMostOnce, AtLeastOnce] {
        let found = findings(TakenOnce::of(ITEMS, delivery), twice.clone());
        let what = "p2 takes /queue/items/item-2, whose payload p1 has taken";
        assert_eq!(broken_by(&found), [(what, None)]);
    }
}

#[test]
fn who_is_given_what_is_not_in_the_item_breaks_it() {
    let given = |about: &str| {
        let events = vec![put(1), put(2), asks(1), takes(1, 1), notes(1, "is given", about)];
        broken_by(&findings(TakenOnce::of(ITEMS, AtLeastOnce), events))
            .first()
            .map(|(what, _)| what.to_string())
    };
    assert_eq!(given("/queue/items/item-1: 1"), None);
    let [lost, exchanged] = ["", "2"].map(|payload| given(&format!("/queue/items/item-1: {payload}")));
    assert_eq!(lost.as_deref(), Some("p1 is given '' for what is in /queue/items/item-1"));
    assert_eq!(exchanged.as_deref(), Some("p1 is given '2' for what is in /queue/items/item-1"));
    assert_eq!(given("/queue/others/item-1: 2"), None);
}

/// Jobs that are all called the same were one, taken again and again, in a right queue.
#[test]
fn what_was_put_twice_may_be_taken_twice() {
    let puts = |p, times| vec![vec![notes(p, "puts", "1"), notes(p, "has put", "1")]; times].concat();
    let items = || vec![put(1), put_as(2, 1), put_as(3, 1)];
    let taken = |told: Vec<Event>, takers: &[(u16, u8)]| {
        let takes = takers.iter().map(|(p, n)| takes(*p, *n));
        let events = [told, items()].concat().into_iter().chain(takes).collect();
        broken_by(&findings(TakenOnce::of(ITEMS, AtLeastOnce), events)).len()
    };
    let both: [(u16, u8); 2] = [(1, 1), (2, 2)];
    assert_eq!((taken(puts(0, 1), &both), taken(puts(0, 2), &both)), (1, 0));
    assert_eq!(taken(puts(0, 2), &[(1, 1), (2, 1)]), 1, "one item twice");
    let crashed = |delivery| {
        let events = vec![opened(1), put(1), takes(1, 1), crashed(1), takes(2, 1)];
        broken_by(&findings(TakenOnce::of(ITEMS, delivery), events)).len()
    };
    assert_eq!((crashed(AtLeastOnce), crashed(AtMostOnce)), (0, 1), "its taker has crashed");
    let marked = vec![put(1), takes(1, 1), put_as(1, 9), takes(2, 1)];
    assert_eq!(
        broken_by(&findings(TakenOnce::of(ITEMS, AtLeastOnce), marked)).len(),
        1,
        "and marked between"
    );
    assert_eq!(taken(puts(0, 2), &[(1, 1), (2, 2), (3, 3)]), 1);
    // Another one may have begun; and who only tries again puts once.
    let tries = |p: u16| vec![notes(p, "puts", "1"), notes(p, "puts", "1")];
    assert_eq!((taken([tries(0), puts(4, 1)].concat(), &both), taken(tries(0), &both)), (0, 1));
}

#[test]
fn what_a_dead_one_had_may_be_taken_again_if_that_is_declared() {
    let again = vec![put(1), takes(1, 1), closed(1), takes(2, 1)];
    assert_eq!(broken_by(&findings(TakenOnce::of(ITEMS, AtLeastOnce), again.clone())), []);
    assert_eq!(broken_by(&findings(TakenOnce::of(ITEMS, AtMostOnce), again)).len(), 1);
}

/// A right queue over a client that renews its session was broken by it.
#[test]
fn what_an_ended_session_has_taken_may_be_taken_again_though_its_taker_goes_on() {
    let renewed = |by| Event::Is(GroundTruth::SessionOpened { session: session(by), actor: actor(1) });
    let found = |delivery, between: Vec<Event>| {
        let events = [vec![opened(1), opened(2), put(1), takes(1, 1)], between, vec![takes(2, 1)]].concat();
        broken_by(&findings(TakenOnce::of(ITEMS, delivery), events)).len()
    };
    assert_eq!(found(AtLeastOnce, vec![renewed(7)]), 1, "the former session lives");
    for ends in [vec![closed(1), renewed(7)], vec![renewed(7), closed(1)]] {
        assert_eq!(found(AtLeastOnce, ends.clone()), 0);
        assert_eq!(found(AtMostOnce, ends.clone()), 1);
        assert_eq!(found(AtLeastOnce, [ends, vec![takes(1, 1)]].concat()), 1, "it has taken it anew");
    }
    let anew = vec![renewed(7), takes(1, 1), closed(1)];
    assert_eq!(found(AtLeastOnce, anew), 2, "from itself, and in the session that lives");
}

#[test]
fn the_end_of_one_gives_nothing_back_that_another_has_taken_nor_takes_what_it_says_later() {
    let found = |delivery, then: Vec<Event>| {
        broken_by(&findings(TakenOnce::of(ITEMS, delivery), [vec![put(1)], then].concat())).len()
    };
    assert_eq!(found(AtLeastOnce, vec![takes(2, 1), closed(1), takes(3, 1)]), 1);
    let late = || vec![closed(1), takes(2, 1), takes(1, 1)];
    assert_eq!((found(AtLeastOnce, late()), found(AtMostOnce, late())), (0, 1));
}

/// Who could not do it, and let another one have it, had it for good.
#[test]
fn who_is_done_with_what_it_has_not_worked_off_gives_it_back() {
    let done = |p| notes(p, "is done with", &item(1));
    let found = |delivery, then: Vec<Event>| {
        let taken = vec![put(1), takes(1, 1)];
        broken_by(&findings(TakenOnce::of(ITEMS, delivery), [taken, then].concat())).len()
    };
    assert_eq!(found(AtLeastOnce, vec![done(1), takes(2, 1)]), 0);
    assert_eq!(found(AtLeastOnce, vec![done(1), takes(1, 1), worked_off(1, 1), done(1)]), 0);
    assert_eq!(found(AtLeastOnce, vec![worked_off(1, 1), done(1), takes(2, 1)]), 1);
    assert_eq!(found(AtLeastOnce, vec![done(2), takes(2, 1)]), 1, "another has not given it back");
    assert_eq!(found(AtLeastOnce, vec![notes(1, "is done with", &item(2)), takes(2, 1)]), 1);
    assert_eq!(found(AtMostOnce, vec![done(1), takes(2, 1)]), 1, "it is given at most once");
}

/// Who removed nothing of what it had worked off had it done again by whoever came after it.
#[test]
fn what_was_worked_off_is_taken_no_more_whatever_becomes_of_its_taker() {
    let done = |p| vec![worked_off(p, 1), notes(p, "is done with", &item(1))];
    let found = |puts: usize, then: [Vec<Event>; 3]| {
        let puts = vec![vec![notes(0, "puts", "1"), notes(0, "has put", "1")]; puts].concat();
        let taken = vec![opened(1), put(1), takes(1, 1)];
        let events = [puts, taken, then.concat()].concat();
        broken_by(&findings(TakenOnce::of(ITEMS, AtLeastOnce), events)).len()
    };
    for end in [closed(1), crashed(1)] {
        assert_eq!(found(1, [done(1), vec![end.clone()], vec![takes(2, 1)]]), 1);
        // It had yet to remove it.
        assert_eq!(found(1, [vec![worked_off(1, 1)], vec![end.clone()], vec![takes(2, 1)]]), 0);
        // It was put once more, by the name that it had before.
        let again = vec![gone(1), put(1), takes(2, 1)];
        assert_eq!([1, 2].map(|puts| found(puts, [done(1), vec![end.clone()], again.clone()])), [1, 0]);
    }
}

/// A place for one job, which is used for one after the other, was one job that was taken again and again.
#[test]
fn another_that_is_put_by_the_same_name_is_another_item() {
    let taken = |second: &str, between: Vec<Event>| {
        let puts = |payload| vec![notes(0, "puts", payload), notes(0, "has put", payload)];
        let events = [puts("1"), puts("2"), vec![put(1), takes(1, 1)], between];
        let next = written(&item(1), second, 0, SessionId::NONE);
        let events = [events.concat(), vec![next, takes(2, 1)]].concat();
        broken_by(&findings(TakenOnce::of(ITEMS, AtLeastOnce), events)).len()
    };
    assert_eq!(taken("2", vec![gone(1)]), 0);
    assert_eq!(taken("2", vec![]), 1, "it was given other data");
    assert_eq!((taken("1", vec![gone(1)]), taken("mine", vec![gone(1)])), (1, 1), "nobody has put that");
}

/// The next job was in the slot when it was told that the former one was taken, and was taken for that.
#[test]
fn who_deletes_an_item_takes_what_was_in_it_though_it_says_so_when_another_has_its_name() {
    let job = |payload: u8| notes(0, "puts", &payload.to_string());
    let judge = |delivery, then: Vec<Event>| {
        let both = vec![opened(0), opened(1), opened(2), job(1), job(2), put_as(1, 1)];
        broken_by(&findings(TakenOnce::of(ITEMS, delivery), [both, then].concat())).len()
    };
    let (next, deletes) = (|| put_as(1, 2), |p| deleted(&item(1), p, NOBODY));
    let late = || vec![deletes(1), next(), takes(1, 1)];
    for delivery in [AtMostOnce, AtLeastOnce] {
        assert_eq!(judge(delivery, [late(), vec![takes(1, 1)]].concat()), 0);
        assert_eq!(judge(delivery, [late(), vec![takes(2, 1)]].concat()), 0);
        assert_eq!(judge(delivery, [late(), vec![takes(1, 1), takes(2, 1)]].concat()), 1);
        assert_eq!(judge(delivery, [late(), vec![takes(2, 1), takes(1, 1)]].concat()), 1);
        assert_eq!(judge(delivery, vec![deletes(1), next(), takes(2, 1), takes(2, 1)]), 1, "another's");
        assert_eq!(judge(delivery, vec![takes(1, 1), deletes(1), next(), takes(1, 1), takes(2, 1)]), 1);
        assert_eq!(judge(delivery, vec![deletes(1), takes(1, 1), next(), takes(1, 1), takes(2, 1)]), 1);
        assert_eq!(judge(delivery, vec![takes(1, 1), deletes(1), takes(2, 1)]), 1, "it is the same");
        assert_eq!(judge(delivery, vec![takes(1, 1), deletes(1), next(), takes(1, 1)]), 0);
        let another_dies = vec![deletes(1), crashed(0), next(), takes(1, 1), takes(2, 1)];
        assert_eq!(judge(delivery, another_dies), 0);
    }
}

/// What was refused was put once more, and could be taken twice.
#[test]
fn what_a_producer_gives_up_is_not_put() {
    let puts = |what| Event::Observed { actor: actor(0), what };
    let refused = || {
        let why = "another was first".into();
        let (begins, has) =
            (Observation::begins(words::PUTS, "1", 0), Observation::ends(words::HAS_PUT, "1", 0));
        let refused = Observation::GivesUp { lock: "1".into(), why };
        vec![puts(begins.clone()), puts(has), puts(begins), puts(refused)]
    };
    let twice = vec![put(1), takes(1, 1), put_as(2, 1), takes(2, 2)];
    let broken = |events| broken_by(&findings(TakenOnce::of(ITEMS, AtLeastOnce), events)).len();
    assert_eq!(broken([refused(), twice.clone()].concat()), 1);
    assert_eq!(broken([refused()[..3].to_vec(), twice].concat()), 0, "it may have been put");
}

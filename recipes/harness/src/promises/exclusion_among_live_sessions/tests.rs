//! Who holds a lock while another one does.

use super::super::testing::*;
use super::*;

fn judge(events: Vec<Event>) -> Vec<Finding> {
    findings(ExclusionAmongLiveSessions::of(LOCK), events)
}

#[test]
fn two_live_holders_break_it() {
    let found = judge(vec![opened(0), opened(1), attempts(0), attempts(1), granted(0), granted(1)]);
    assert_eq!(found[0], Finding::Tested);
    assert_eq!(broken_by(&found), [("p1 holds /lock while p0 still holds it", None)]);
}

#[test]
fn two_threads_of_a_session_are_two_holders_and_end_with_it() {
    let both = vec![opened(0), opened(1), granted(0), by_thread(1, granted(0))];
    assert_eq!(broken_by(&judge(both.clone())), [("p0/1 holds /lock while p0 still holds it", None)]);
    let next = |end: Event| judge([both.clone(), vec![end, granted(1)]].concat());
    for (end, breaks) in [(closed(0), 1), (crashed(0), 1), (finished(0), 2)] {
        assert_eq!(broken_by(&next(end)).len(), breaks, "the other goes on when the main one has ended");
    }
    assert_eq!(broken_by(&next(by_thread(1, leaves(0)))).len(), 2);
    let after = judge(vec![opened(0), closed(0), granted(0), by_thread(1, granted(0))]);
    assert_eq!(broken_by(&after), []);
}

/// A session that its client had given up for dead, and that lived on, was taken for the one by which it held.
#[test]
fn who_loses_the_session_by_which_it_holds_holds_no_more_though_a_former_one_lives() {
    let of_last = |expired| GroundTruth::SessionClosed { session: session(7), actor: actor(0), expired };
    let before = vec![opened(0), opened(1), opened_anew(0), attempts(0), granted(0), attempts(1)];
    let next = |ends: Vec<Event>| broken_by(&judge([before.clone(), ends, vec![granted(1)]].concat())).len();
    let ends = Event::Is(of_last(true));
    assert_eq!((next(vec![]), next(vec![closed(0)]), next(vec![ends.clone()])), (1, 1, 0));
    assert_eq!(next(vec![ends, granted(0)]), 0, "it does not know yet");
}

/// Whoever took the lock in a function that it called within it held nothing any more when that had ended.
#[test]
fn who_takes_what_it_has_once_more_has_it_until_the_outer_section_ends() {
    let outer = || vec![opened(0), opened(1), created("/lock/a-0000000000", 0), attempts(0), enters(0)];
    let next = |inner: Vec<Event>| broken_by(&judge([outer(), inner, vec![granted(1)]].concat())).len();
    let whole = || vec![attempts(0), granted(0), enters(0), leaves(0), released(0)];
    let inner = [
        whole(),
        [whole(), whole()].concat(),
        vec![attempts(0), enters(0), leaves(0)],
        vec![attempts(0), enters(0), released(0)],
        vec![attempts(0), gives_up(0)],
        vec![attempts(0), enters(0), attempts(0), enters(0), leaves(0), released(0), leaves(0)],
        vec![attempts(0), enters(0), leaves(0), attempts(0), enters(0), released(0)],
        // It asks twice for the inner one, and tells of something else about the lock meanwhile.
        vec![
            attempts(0),
            attempts(0),
            notes(0, "stops", LOCK),
            enters(0),
            notes(0, "stops", LOCK),
            leaves(0),
        ],
    ];
    for inner in inner {
        assert_eq!(next(inner.clone()), 1, "{inner:?}");
        if *inner.last().unwrap() != leaves(0) {
            assert_eq!(next([inner.clone(), vec![released(0)]].concat()), 0, "{inner:?}");
        }
        for ends in [vec![leaves(0), released(0)], vec![leaves(0)], vec![crashed(0)]] {
            assert_eq!(next([inner.clone(), ends].concat()), 0, "{inner:?}");
        }
    }
    // It has another znode, by which it has it anew; or has lost what it had with its session.
    let anew = created("/lock/a-0000000001", 0);
    assert_eq!(next(vec![attempts(0), anew, enters(0), leaves(0), released(0)]), 0);
    for lost in [
        vec![opened_anew(0), attempts(0)],
        vec![opened_anew(0), attempts(0), closed(0), enters(0), leaves(0), released(0)],
        vec![attempts(0), opened_anew(0), closed(0), gives_up(0)],
        vec![attempts(0), opened_anew(0), enters(0), closed(0), leaves(0), released(0)],
        vec![attempts(0), enters(0), closed(0), opened_anew(0), enters(0), leaves(0)],
        vec![attempts(0), enters(0), opened_anew(0), enters(0), closed(0), leaves(0), released(0)],
    ] {
        assert_eq!(next(lost.clone()), 0, "{lost:?}");
    }
    // What another of its threads takes is no matter of this one's.
    let beside = || vec![by_thread(1, attempts(0)), created("/lock/a-0000000001", 0)];
    let within = [vec![attempts(0), enters(0)], beside(), vec![leaves(0), released(0)]].concat();
    assert_eq!(next(within.clone()), 1);
    assert_eq!(next([within, vec![leaves(0), released(0)]].concat()), 0);
    let another_dies = [outer(), vec![attempts(0), enters(0), crashed(1), leaves(0), granted(2)]];
    assert_eq!(broken_by(&judge(another_dies.concat())).len(), 1);
}

#[test]
fn sharers_hold_it_together_and_nobody_holds_it_alone_beside_them() {
    let both = vec![opened(0), opened(1), attempts(0), attempts(1), shares(0), enters(0), shares(1)];
    let found = judge([both.clone(), vec![enters(1), granted(2)]].concat());
    assert_eq!(found.len(), 1, "those who share it do not exclude each other");
    assert_eq!(broken_by(&found), [("p2 holds /lock while p1 still shares it", None)]);
    let found = judge(vec![granted(0), shares(1)]);
    assert_eq!(broken_by(&found), [("p1 shares /lock while p0 still holds it", None)]);
    assert_eq!(judge(vec![granted(0), shares(1), enters(1)]), found, "it is told once");
}

/// Who asked for more than its share had nothing any more, and whoever entered beside it was right.
#[test]
fn who_asks_for_more_than_its_share_has_it_until_it_leaves() {
    let reads = || vec![opened(0), opened(1), created("/lock/a-0000000000", 0), attempts(0), shares(0)];
    let next = |then: Vec<Event>, last: Event| broken_by(&judge([reads(), then, vec![last]].concat())).len();
    let asks = || vec![attempts(0)];
    assert_eq!((next(asks(), granted(1)), next(asks(), shares(1))), (1, 0));
    let refused = || vec![attempts(0), gives_up(0)];
    assert_eq!((next(refused(), granted(1)), next(refused(), shares(1))), (1, 0));
    let left = [refused(), vec![leaves(0)]].concat();
    assert_eq!(next(left, granted(1)), 0);
    let within = [attempts(0), shares(0), attempts(0), granted(0)].to_vec();
    for upgraded in [vec![attempts(0), granted(0)], vec![attempts(0), enters(0)], within] {
        assert_eq!(next(upgraded.clone(), shares(1)), 1, "{upgraded:?}");
        let back = [upgraded.clone(), vec![shares(0)]].concat();
        assert_eq!((next(back.clone(), shares(1)), next(back, granted(1))), (0, 1), "{upgraded:?}");
        assert_eq!(next([upgraded, vec![leaves(0)]].concat(), shares(1)), 0);
    }
    let inner = || vec![attempts(0), shares(0), enters(0), leaves(0), released(0)];
    assert_eq!((next(inner(), granted(1)), next(inner(), shares(1))), (1, 0));
    assert_eq!(next([inner(), vec![leaves(0)]].concat(), granted(1)), 0);
    // By a place of its own, it has given up the share, as far as anybody knows.
    let anew = created("/lock/a-0000000001", 0);
    assert_eq!(next(vec![attempts(0), anew], granted(1)), 0);
    assert_eq!(next(vec![attempts(0), opened_anew(0)], granted(1)), 0);
}

/// A holder that asked once more held nothing until it was granted that.
#[test]
fn who_asks_for_what_it_holds_holds_it_meanwhile() {
    let holds = || vec![opened(0), opened(1), created("/lock/a-0000000000", 0), attempts(0), granted(0)];
    let next = |then: Vec<Event>| broken_by(&judge([holds(), then, vec![granted(1)]].concat())).len();
    assert_eq!(next(vec![attempts(0)]), 1);
    assert_eq!(next(vec![attempts(0), attempts(0)]), 1);
    assert_eq!(next(vec![attempts(0), created("/lock/a-0000000001", 0)]), 0);
    let anothers = || vec![attempts(0), opened(2), created("/lock/a-0000000001", 2)];
    assert_eq!(next(anothers()), 1);
    assert_eq!(next([anothers(), vec![enters(0), leaves(0)]].concat()), 1);
}

#[test]
fn who_makes_do_with_a_share_lets_others_share() {
    assert_eq!(broken_by(&judge(vec![granted(0), shares(0), shares(1)])), []);
    let again = judge(vec![granted(0), shares(0), shares(1), granted(0)]);
    assert_eq!(broken_by(&again), [("p0 holds /lock while p1 still shares it", None)]);
}

#[test]
fn a_holder_whose_session_has_ended_does_not_count() {
    let found = judge(vec![opened(0), opened(1), granted(0), closed(0), granted(1), enters(0)]);
    assert_eq!(broken_by(&found), []);
}

/// Whether its client has opened another session before that or after it.
#[test]
fn who_holds_by_a_session_that_has_ended_does_not_count_however_its_client_goes_on() {
    let new = || Event::Is(GroundTruth::SessionOpened { session: session(7), actor: actor(0) });
    let holds = || vec![opened(0), opened(1), attempts(0), granted(0)];
    let then = || vec![attempts(1), granted(1)];
    for renewed in [vec![new(), closed(0)], vec![closed(0), new()]] {
        assert_eq!(broken_by(&judge([holds(), renewed, then()].concat())), []);
    }
    let again = vec![new(), attempts(0), granted(0), closed(0)];
    assert_eq!(broken_by(&judge([holds(), again, then()].concat())).len(), 1, "it holds by the new one");
}

#[test]
fn how_one_client_goes_on_does_not_matter_to_how_others_stand() {
    let anew = |p: u16| {
        let session = session(20 + p);
        Event::Is(GroundTruth::SessionOpened { session, actor: actor(p) })
    };
    let both = || vec![opened(0), opened(1), granted(0), attempts(1), anew(0), anew(1)];
    let next = |then: Vec<Event>| broken_by(&judge([both(), then, vec![granted(2)]].concat())).len();
    assert_eq!(next(vec![closed(1)]), 1);
    assert_eq!(next(vec![closed(1), closed(0)]), 0);
    assert_eq!(next(vec![crashed(1), closed(0)]), 0);
}

#[test]
fn what_is_told_of_another_lock_does_not_count() {
    let lock = || "/other".into();
    let granted_other = Observation::Granted { lock: lock(), node: "/other/n".into(), token: None };
    let other = |what| Event::Observed { actor: actor(0), what };
    assert_eq!(broken_by(&judge(vec![other(granted_other.clone()), granted(1)])), []);
    // Nor does it give back what an administrator has taken.
    let loses = || vec![opened(0), opened(1), granted(0), deleted("/lock/a-lock-0000000000", ADMIN, 0)];
    let excused = |then: Vec<Event>| {
        let found = judge([loses(), then, vec![granted(1)]].concat());
        broken_by(&found)[0].1.is_some()
    };
    let attempts_other = || other(Observation::Attempts { lock: lock() });
    assert!(excused(vec![attempts_other(), other(granted_other), enters(0), created("/lock/x/n", 0)]));
    assert!(!excused(vec![attempts(0), enters(0)]), "it has begun anew");
}

/// The holder's znode is `B`; `A` is behind it.
#[test]
fn what_an_administrator_takes_is_a_claim_if_nobody_else_has_it_for_sure() {
    let [a, b] = ["/lock/a-lock-0000000000", "/lock/a-lock-0000000001"];
    let last = |events: Vec<Event>| {
        let found = judge([vec![opened(0), opened(1), opened(2)], events].concat());
        broken_by(&found).last().unwrap().1.is_some()
    };
    let gone = |node, p| deleted(node, ADMIN, p);
    assert!(!last(vec![granted_as(1, b, None), attempts(0), gone(a, 0), granted_as(0, a, None)]));
    let both = vec![granted_as(1, b, None), attempts(0), gone(b, 1), gone(a, 0)];
    let then = vec![granted_as(2, "/lock/a-lock-0000000002", None), granted_as(0, a, None)];
    assert!(last([both, then].concat()), "it was the next one, and did not know");
    let waits = vec![attempts(1), attempts(0), gone(a, 0), granted_as(1, b, None), granted_as(0, a, None)];
    assert!(last(waits), "nobody had it");
    let elsewhere = vec![granted_as(0, a, None), gone("/other/n", 0), granted_as(1, b, None)];
    assert!(!last(elsewhere));
    let by_third = vec![attempts(2), gone("/lock/a-lock-0000000002", 2), granted(0), granted_as(1, b, None)];
    assert!(!last(by_third), "neither has lost anything");
    let another_ends = vec![granted_as(0, a, None), gone(a, 0), closed(2), granted_as(1, b, None)];
    assert!(last(another_ends));
    // The other one was no lock.
    let info = deleted("/lock/info", 1, 0);
    assert!(last(vec![granted_as(0, a, None), gone(a, 0), info, granted_as(1, b, None)]));
    // It went with the session that it was of.
    let renewed = vec![created(a, 0), opened_anew(0), vanished(a, 0), closed(0), granted(1)];
    assert!(!last([renewed, vec![granted_as(0, a, None)]].concat()));
}

/// What it had lost in a session that has ended.
#[test]
fn a_loss_is_of_the_session_in_which_it_was() {
    let [a, of_thread] = ["/lock/a-lock-0000000000", "/lock/a-lock-0000000001"];
    let loses = vec![opened(0), opened(1), by_thread(1, attempts(0)), deleted(a, ADMIN, 0), closed(0)];
    let anew = vec![opened_anew(0), by_thread(2, granted_as(0, of_thread, None)), granted(1)];
    let (mut promise, mut found) = (ExclusionAmongLiveSessions::of(LOCK), Vec::new());
    [loses, anew].concat().iter().for_each(|event| promise.see(event, &mut found));
    assert_eq!(broken_by(&found)[0].1, None);
}

/// Who finds its znode gone, makes it again in its next session, and goes on in the section held nothing any more.
#[test]
fn who_takes_its_place_again_holds_it_again() {
    const NODE: &str = "/lock/a-0000000000";
    let again_at = |path: &str| {
        let (path, by, czxid) = (path.into(), session(7), zk_api::Zxid::new(1, 2));
        Event::Is(GroundTruth::NodeCreated { path, by, owner: by, czxid })
    };
    let holds = |node| vec![opened(0), opened(1), attempts(0), created(node, 0), granted(0), enters(0)];
    let renewed = |node| vec![closed(0), vanished(node, 0), granted(1), opened_anew(0)];
    let judge = |events: &[Vec<Event>]| broken_by(&judge(events.concat())).len();
    let of_another = Event::Observed { actor: actor(0), what: Observation::Leaves { lock: "/b".into() } };
    let goes_on = |then: Vec<Event>| judge(&[holds(NODE), renewed(NODE), then, vec![again_at(NODE)]]);
    assert_eq!(goes_on(vec![]), 1);
    let before = vec![opened_anew(0), closed(0), vanished(NODE, 0), granted(1)];
    assert_eq!(judge(&[holds(NODE), before, vec![again_at(NODE)]]), 1, "it had opened another one before");
    let next = [holds(NODE), vec![closed(0), vanished(NODE, 0), opened_anew(0), again_at(NODE)]].concat();
    assert_eq!(judge(&[next.clone(), vec![granted(1)]]), 1);
    assert_eq!(judge(&[next, vec![leaves(0), granted(1)]]), 0);
    assert_eq!(goes_on(vec![of_another]), 1);
    let by_a_thread = || {
        holds(NODE).into_iter().map(|event| match event {
            Event::Observed { .. } => by_thread(1, event),
            event => event,
        })
    };
    let main_ends = [by_a_thread().collect(), renewed(NODE), vec![finished(0), again_at(NODE)]];
    assert_eq!(judge(&main_ends), 1, "its thread goes on");
    let gone_before = [holds(NODE), vec![deleted(NODE, 0, 0)], renewed(NODE), vec![again_at(NODE)]];
    assert_eq!(judge(&gone_before), 0, "it did not go with the session");
    for ends in [leaves(0), released(0), gives_up(0), attempts(0), finished(0), crashed(0)] {
        assert_eq!(goes_on(vec![ends.clone()]), 0, "{ends:?}");
    }
    assert_eq!(judge(&[holds(NODE), renewed(NODE), vec![again_at("/lock/a-0000000001")]]), 0);
    // A name that is not of a line is of another attempt, or says that it is there.
    assert_eq!(judge(&[holds("/lock/p0"), renewed("/lock/p0"), vec![again_at("/lock/p0")]]), 0);
    let waits = vec![opened(0), opened(1), attempts(0), created(NODE, 0)];
    assert_eq!(judge(&[waits.clone(), renewed(NODE), vec![again_at(NODE)]]), 0);
    for late in [granted(0), shares(0), enters(0)] {
        let dies = vec![closed(0), vanished(NODE, 0), late, granted(1), opened_anew(0), again_at(NODE)];
        assert_eq!(judge(&[waits.clone(), dies]), 1, "it had been granted it");
    }
    let share = vec![closed(0), vanished(NODE, 0), shares(0), enters(0), shares(1), opened_anew(0)];
    assert_eq!(judge(&[waits.clone(), share, vec![again_at(NODE)]]), 0, "it enters with its share");
    let gave_back = [holds(NODE), vec![leaves(0), deleted(NODE, 0, 0)], renewed(NODE)];
    assert_eq!(judge(&[gave_back.concat(), vec![again_at(NODE)]]), 0);
}

#[test]
fn as_many_may_hold_it_as_there_are_permits() {
    let judge = |events: Vec<Event>| {
        let opened = (0..4).map(opened).collect::<Vec<_>>();
        findings(ExclusionAmongLiveSessions::of_permits(LOCK, 2), [opened, events].concat())
    };
    let name = |permits| ExclusionAmongLiveSessions::of_permits(LOCK, permits).terms().name;
    assert_eq!([1, 2].map(name), ["exclusion-among-live-sessions", "at-most-n-hold"]);
    let both = || vec![attempts(0), attempts(1), granted(0), granted(1)];
    assert_eq!(judge(both()), [], "there is one for each");
    let another = judge([vec![attempts(2)], both(), vec![leaves(0), granted(2)]].concat());
    assert_eq!(another, [Finding::Tested, Finding::Tested], "another one asks as well");
    let shared = judge(vec![attempts(0), attempts(1), attempts(2), shares(0), shares(1)]);
    assert_eq!(shared, another);
    let what = "p2 holds /lock, which 2 may hold at a time, while p0 and p1 still hold it";
    for third in [granted(2), shares(2), enters(2)] {
        assert_eq!(broken_by(&judge([both(), vec![third]].concat())), [(what, None)]);
    }
    assert_eq!(broken_by(&judge(vec![shares(0), shares(1), shares(2)])), [(what, None)]);
    let what = "p3 holds /lock, which 2 may hold at a time, while p0, p1 and p2 still hold it";
    assert_eq!(broken_by(&judge([both(), vec![granted(2), granted(3)]].concat()))[1].0, what);
    for ends in [leaves(0), released(0), closed(0), crashed(0)] {
        assert_eq!(broken_by(&judge([both(), vec![ends, granted(2)]].concat())), []);
    }
    // An administrator has taken it from one of them, or from one that may have been granted it by then.
    let gone = |p| deleted("/lock/a-lock-0000000000", ADMIN, p);
    let excused = |then: Vec<Event>| broken_by(&judge(then))[0].1.is_some();
    assert!(excused([both(), vec![gone(0), granted(2)]].concat()));
    assert!(!excused([both(), vec![granted(2), gone(0)]].concat()));
    let waits = |holders: &[u16]| {
        let hold = holders.iter().map(|p| granted(*p)).collect::<Vec<_>>();
        let (loses, then) = (vec![attempts(3), gone(3)], vec![granted(0), granted(1), granted(3)]);
        excused([hold, loses, then].concat())
    };
    assert_eq!([&[][..], &[0], &[0, 1]].map(waits), [true, true, false]);
}

#[test]
fn a_crashed_holder_does_not_count() {
    let found = judge(vec![opened(0), granted(0), crashed(0), granted(1)]);
    assert_eq!(broken_by(&found), []);
}

#[test]
fn one_after_the_other_is_a_test_it_passes() {
    let found = judge(vec![attempts(0), attempts(1), granted(0), leaves(0), granted(1), leaves(1)]);
    assert_eq!(found, [Finding::Tested]);
}

#[test]
fn a_holder_whose_znode_an_administrator_deletes_violates_an_assumption() {
    let events =
        vec![opened(0), opened(1), granted(0), deleted("/lock/a-lock-0000000000", 99, 0), granted(1)];
    let found = judge([events, vec![opened(2), granted(2)]].concat());
    let what = "p2 holds /lock while p1 still holds it";
    assert_eq!(broken_by(&found)[0].1, Some(Assumption::NoAdministrator));
    assert_eq!(broken_by(&found)[1], (what, None), "p1 has lost nothing");
}

#[test]
fn a_waiter_whose_znode_is_deleted_just_before_its_grant_violates_an_assumption_until_it_has_a_new_znode() {
    let loses = vec![opened(0), opened(1), attempts(0), deleted("/lock/a-lock-0000000000", 99, 0)];
    let both = vec![granted(1), granted(0)];
    let found = judge([loses.clone(), both.clone()].concat());
    assert_eq!(broken_by(&found)[0].1, Some(Assumption::NoAdministrator));
    let anew = vec![created("/lock/a-lock-0000000002", 0)];
    assert_eq!(broken_by(&judge([loses, anew, both].concat()))[0].1, None);
}

/// The next one was blamed if it was granted the lock before that was told to be released.
#[test]
fn who_deletes_the_znode_that_it_holds_by_has_given_it_back_unless_it_is_inside() {
    let node = "/lock/a-lock-0000000000";
    let next = |how: Event, then: Vec<Event>| {
        let holds = vec![opened(0), opened(1), attempts(0), created(node, 0), how];
        broken_by(&judge([holds, then, vec![granted_as(1, "/lock/b-lock-0000000001", None)]].concat())).len()
    };
    for how in [granted(0), shares_as(0, node, None)] {
        assert_eq!(next(how.clone(), vec![]), 1);
        assert_eq!(next(how.clone(), vec![deleted(node, 0, 0)]), 0);
        assert_eq!(next(how.clone(), vec![enters(0), deleted(node, 0, 0)]), 1, "it is inside");
        assert_eq!(next(how.clone(), vec![deleted(node, 1, 0)]), 1, "by another");
        assert_eq!(next(how.clone(), vec![deleted("/lock/x", 0, 0)]), 1, "another one");
        assert_eq!(next(how, vec![deleted(node, 0, 0), enters(0)]), 1, "it goes in without it");
    }
    let by_its_znode = vec![deleted(node, 0, 0), granted(0)];
    assert_eq!(next(granted(0), by_its_znode), 1, "it is granted it once more");
    let other = |thread| by_thread(thread, granted_as(0, "/lock/c-lock-0000000002", None));
    assert_eq!(next(granted(0), vec![other(1), deleted(node, 0, 0)]), 2, "its thread has another one");
}

#[test]
fn a_holder_whose_znode_another_actor_deletes_is_none() {
    let events = vec![opened(0), opened(1), granted(0), deleted("/lock/a-lock-0000000000", 1, 0), granted(1)];
    assert_eq!(broken_by(&judge(events))[0].1, None);
}

/// A section within another one, for which nobody had asked, ended the outer one.
#[test]
fn who_has_left_a_section_within_another_one_is_inside_still() {
    let node = "/lock/a-lock-0000000000";
    let next = |then: Vec<Event>| {
        let holds = vec![opened(0), opened(1), attempts(0), created(node, 0), granted(0), enters(0)];
        broken_by(&judge([holds, then, vec![granted_as(1, "/lock/b-lock-0000000001", None)]].concat())).len()
    };
    for again in [vec![enters(0)], vec![granted(0), enters(0)]] {
        let inner = [again, vec![leaves(0)]].concat();
        assert_eq!(next(inner.clone()), 1);
        assert_eq!(next([inner.clone(), inner.clone()].concat()), 1);
        assert_eq!(next([inner.clone(), vec![leaves(0)]].concat()), 0);
        assert_eq!(next([inner.clone(), vec![released(0)]].concat()), 0);
        assert_eq!(next([inner.clone(), vec![closed(0), vanished(node, 0)]].concat()), 0);
    }
    let asks = vec![attempts(0), granted(0), enters(0), leaves(0)];
    assert_eq!(next(asks.clone()), 1);
    assert_eq!(next([asks, vec![leaves(0)]].concat()), 0, "it is one section, and not two");
    let anew = vec![leaves(0), released(0), attempts(0), granted(0), enters(0), leaves(0)];
    assert_eq!(next(anew), 0);
}

/// It was taken for one that waits, though it had not left.
#[test]
fn who_is_inside_and_asks_by_another_znode_is_inside_still() {
    let [first, second] = ["/lock/a-lock-0000000000", "/lock/a-lock-0000000001"];
    let next = |how: Vec<Event>, then: Vec<Event>| {
        let asks = vec![opened(0), opened(1), attempts(0), created(first, 0)];
        let again = vec![attempts(0), created(second, 0)];
        let gets = vec![granted_as(1, "/lock/b-lock-0000000001", None)];
        broken_by(&judge([asks, how, again, then, gets].concat())).len()
    };
    let gives_back = || vec![deleted(first, 0, 0)];
    assert_eq!(next(vec![granted(0), enters(0)], gives_back()), 1);
    assert_eq!(next(vec![granted(0), enters(0), leaves(0)], gives_back()), 0);
    assert_eq!(next(vec![granted(0), enters(0)], vec![leaves(0), deleted(first, 0, 0)]), 0);
    assert_eq!(next(vec![granted(0)], gives_back()), 0);
    let gets_it = vec![leaves(0), deleted(first, 0, 0), granted_as(0, second, None), enters(0)];
    assert_eq!(next(vec![granted(0), enters(0)], gets_it.clone()), 1);
    assert_eq!(next(vec![granted(0), enters(0)], [gets_it, vec![leaves(0)]].concat()), 0);
    // It gives the other up, and is inside by the first.
    let gives_up = || vec![deleted(second, 0, 0), gives_up(0), deleted(first, 0, 0)];
    for is_in in [vec![granted(0), enters(0)], vec![enters(0)]] {
        assert_eq!(next(is_in.clone(), gives_up()), 1);
        assert_eq!(next(is_in.clone(), [vec![attempts(0)], gives_up()].concat()), 1);
        assert_eq!(next(is_in, [gives_up(), vec![leaves(0)]].concat()), 0);
    }
}

/// Whoever closed its session within its section was as little of a holder as one whose session had expired.
#[test]
fn who_closes_its_session_inside_is_inside_until_it_leaves() {
    let next = |then: Vec<Event>| {
        let before = vec![opened(0), opened(1), attempts(0), granted(0), enters(0)];
        broken_by(&judge([before, then, vec![attempts(1), granted(1)]].concat())).len()
    };
    assert_eq!(next(vec![closes(0)]), 1);
    assert_eq!(next(vec![closes(0), opened_anew(0)]), 1);
    assert_eq!(next(vec![closes(0), opened_anew(0), attempts(0)]), 0);
    for over in [leaves(0), released(0), finished(0), crashed(0)] {
        assert_eq!(next(vec![closes(0), over.clone()]), 0, "{over:?}");
    }
    assert_eq!(next(vec![closed(0)]), 0, "to expire is no doing of its own");
    assert_eq!(next(vec![leaves(0), closes(0)]), 0);
}

/// To tell of the release was to be outside, though it worked on and left only then.
#[test]
fn who_tells_of_its_release_inside_is_inside_until_it_leaves() {
    let next = |then: Vec<Event>| {
        let before = vec![opened(0), opened(1), attempts(0), granted(0), enters(0), released(0)];
        let found = judge([before, then].concat());
        broken_by(&found).into_iter().map(|(what, _)| what.to_owned()).collect::<Vec<_>>()
    };
    let meanwhile = || vec![attempts(1), granted(1)];
    let what = "p0 was inside /lock until it left, and p1 has had it meanwhile";
    assert_eq!(next([meanwhile(), vec![leaves(0)]].concat()), [what]);
    assert_eq!(next([meanwhile(), vec![leaves(1), released(1), leaves(0)]].concat()), [what]);
    let none: [&str; 0] = [];
    assert_eq!(next([vec![leaves(0)], meanwhile()].concat()), none);
    assert_eq!(next([meanwhile(), vec![leaves(1), attempts(0), enters(0), leaves(0)]].concat()), none);
    for over in [closed(0), crashed(0), finished(0)] {
        assert_eq!(next([meanwhile(), vec![over, leaves(0)]].concat()), none);
    }
    let by = |word: fn(u16) -> Event| {
        vec![opened(0), opened(1), shares(0), enters(0), released(0), word(1), leaves(0)]
    };
    assert_eq!((broken_by(&judge(by(shares))).len(), broken_by(&judge(by(granted))).len()), (0, 1));
    // Who has lost it knows that it does not hold it, and leaves.
    let lost = vec![
        opened(0),
        opened(1),
        created("/lock/a-1", 0),
        granted(0),
        enters(0),
        deleted("/lock/a-1", 1, 0),
    ];
    let lost = judge([lost, vec![released(0), granted(1), leaves(0)]].concat());
    assert_eq!(broken_by(&lost), []);
}

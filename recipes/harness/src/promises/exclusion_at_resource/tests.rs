//! Whose writes come too late, and which of those are expected.

use super::super::testing::*;
use super::*;
use Resource::{Fenced, Unfenced};

const FENCED: &str = "a write of p0 was accepted at the fenced resource after a later holder's";
const UNFENCED: &str = "a write of p0 was accepted at the unfenced resource after a later holder's";
const CHECKED: &str = "a write of p0 was accepted at the checked resource after a later holder's";

/// p0 writes, p1 is granted the lock and writes, p0 writes again.
fn aba(resource: Resource, last_accepted: bool, before_p1: Vec<Event>) -> Vec<Event> {
    let mut events = vec![opened(0), opened(1), attempts(0), granted(0), wrote(resource, 0, true)];
    events.extend(before_p1);
    events.extend([attempts(1), granted(1), wrote(resource, 1, true), wrote(resource, 0, last_accepted)]);
    events
}

#[test]
fn a_write_by_turns_breaks_it_at_the_fenced_resource() {
    let found = findings(ExclusionAtResource::fenced(LOCK), aba(Fenced, true, vec![closed(0)]));
    assert_eq!(broken_by(&found), [(FENCED, None)], "a dead session violates no assumption here");
}

#[test]
fn a_late_write_that_is_refused_is_a_test_it_passes() {
    let found = findings(ExclusionAtResource::fenced(LOCK), aba(Fenced, false, vec![closed(0)]));
    assert_eq!(found, [Finding::Tested, Finding::Tested]);
}

#[test]
fn a_write_by_turns_of_a_live_session_is_a_defect_at_the_unfenced_resource() {
    let found = findings(ExclusionAtResource::unfenced(LOCK), aba(Unfenced, true, vec![]));
    assert_eq!(broken_by(&found), [(UNFENCED, None)]);
}

/// What a thread wrote that was granted nothing itself was never late.
#[test]
fn a_thread_writes_by_the_last_grant_of_its_process() {
    let helps = || by_thread(1, wrote(Unfenced, 0, true));
    let found = |then: &[Event]| {
        let before = [opened(0), opened(1), attempts(0), granted(0), helps(), attempts(1), granted(1)];
        let found = findings(ExclusionAtResource::unfenced(LOCK), [&before, then].concat());
        broken_by(&found).into_iter().map(|(what, failed)| (what.to_owned(), failed)).collect::<Vec<_>>()
    };
    let what = UNFENCED.to_owned();
    let late = [wrote(Unfenced, 1, true), helps()];
    assert_eq!(found(&late), [(what.clone(), None)]);
    assert_eq!(found(&[helps(), wrote(Unfenced, 1, true)]), [], "before the later holder's first");
    let outlives = [closed(0), wrote(Unfenced, 1, true), helps()];
    assert_eq!(found(&outlives), [(what, Some(Assumption::NoActionAfterSessionEnd))]);
    let again = [wrote(Unfenced, 1, true), attempts(0), granted(0), helps()];
    assert_eq!(found(&again), []);
}

/// Who told that it entered, and of no grant, had no place among the holders, and two who wrote by turns held.
#[test]
fn who_enters_what_it_asks_for_is_granted_it() {
    let told = |tells: [fn(u16) -> Event; 2]| {
        let before =
            vec![opened(0), opened(1), attempts(0), tells[0](0), wrote(Unfenced, 0, true), attempts(1)];
        let by_turns = vec![tells[1](1), wrote(Unfenced, 1, true), wrote(Unfenced, 0, true)];
        let found = findings(ExclusionAtResource::unfenced(LOCK), [before, by_turns].concat());
        broken_by(&found).into_iter().map(|(what, _)| what.to_owned()).collect::<Vec<_>>()
    };
    let [has, is_in]: [fn(u16) -> Event; 2] = [granted, enters];
    assert_eq!([[is_in, is_in], [has, is_in], [is_in, has]].map(told), [[UNFENCED]; 3]);
    let in_turn = |p| [attempts(p), enters(p), wrote(Unfenced, p, true), leaves(p), released(p)];
    let rounds = [vec![opened(0), opened(1)], [in_turn(0), in_turn(1), in_turn(0)].concat()].concat();
    let found = findings(ExclusionAtResource::unfenced(LOCK), rounds);
    assert_eq!(found, [Finding::Tested, Finding::Tested]);
    let unasked = vec![opened(0), opened(1), enters(0), enters(1), wrote(Unfenced, 0, true)];
    assert_eq!(findings(ExclusionAtResource::unfenced(LOCK), unasked), [], "nobody knows whose turn it is");
}

#[test]
fn a_late_write_of_an_ended_session_is_expected_at_the_unfenced_resource() {
    let found = findings(ExclusionAtResource::unfenced(LOCK), aba(Unfenced, true, vec![closed(0)]));
    assert_eq!(broken_by(&found), [(UNFENCED, Some(Assumption::NoActionAfterSessionEnd))]);
}

#[test]
fn a_late_write_of_a_session_that_was_renewed_is_expected_until_the_next_grant() {
    let renewed = vec![closed(0), opened_anew(0)];
    let makes_do = [renewed.clone(), vec![shares(0)]].concat();
    for renewed in [renewed.clone(), makes_do] {
        let found = findings(ExclusionAtResource::unfenced(LOCK), aba(Unfenced, true, renewed));
        assert_eq!(broken_by(&found), [(UNFENCED, Some(Assumption::NoActionAfterSessionEnd))]);
    }
    let again = [renewed, vec![granted(0), granted(1), wrote(Unfenced, 1, true)]].concat();
    let found = findings(ExclusionAtResource::unfenced(LOCK), aba(Unfenced, true, again));
    assert_eq!(broken_by(&found), [(UNFENCED, None)]);
}

/// What another thread was granted by the next session made it pass for a grant by that, and a session that its client
/// had given up for dead, and that lived, for the one by which it was granted.
#[test]
fn a_late_write_is_expected_by_the_session_of_its_own_grant() {
    let judge = |before: Vec<Event>| {
        broken_by(&findings(ExclusionAtResource::unfenced(LOCK), aba(Unfenced, true, before)))[0].1
    };
    let other = vec![closed(0), opened_anew(0), by_thread(1, attempts(0)), by_thread(1, granted(0))];
    assert_eq!(judge(other), Some(Assumption::NoActionAfterSessionEnd));
    let next = Event::Is(GroundTruth::SessionOpened { session: session(50), actor: actor(0) });
    assert_eq!(judge(vec![closed(0), opened_anew(0), next]), Some(Assumption::NoActionAfterSessionEnd));
    // From outside, nobody knows of any.
    let outside = aba(Unfenced, true, vec![]).split_off(2);
    let found = findings(ExclusionAtResource::unfenced(LOCK), outside);
    assert_eq!(broken_by(&found), [(UNFENCED, None)]);
}

/// Two live sessions of one process are two chances, and a former one that ends later has ended all the same.
#[test]
fn a_late_write_beside_another_session_is_expected_once_the_former_one_has_ended() {
    let next = Event::Is(GroundTruth::SessionOpened { session: session(50), actor: actor(0) });
    let judge = |before: Vec<Event>| {
        broken_by(&findings(ExclusionAtResource::unfenced(LOCK), aba(Unfenced, true, before)))[0].1
    };
    assert_eq!(judge(vec![next.clone()]), None);
    assert_eq!(judge(vec![next.clone(), closed(0)]), Some(Assumption::NoActionAfterSessionEnd));
    assert_eq!(judge(vec![next.clone(), closed(0), attempts(0), granted(0)]), None);
    let alone = vec![opened(0), granted(0), wrote(Unfenced, 0, true), next, closed(0)];
    let other = vec![opened(1), granted(1), wrote(Unfenced, 1, true), wrote(Unfenced, 0, true)];
    let found = findings(ExclusionAtResource::unfenced(LOCK), [alone, other].concat());
    assert_eq!(broken_by(&found), [(UNFENCED, Some(Assumption::NoActionAfterSessionEnd))]);
}

#[test]
fn a_crash_alone_violates_no_assumption_while_the_session_lives() {
    let found = findings(ExclusionAtResource::unfenced(LOCK), aba(Unfenced, true, vec![crashed(0)]));
    assert_eq!(broken_by(&found), [(UNFENCED, None)]);
}

#[test]
fn a_late_write_before_the_next_holders_first_does_no_harm() {
    let events = vec![opened(0), opened(1), granted(0), wrote(Fenced, 0, true), closed(0), granted(1)];
    let events = [events, vec![wrote(Fenced, 0, true), wrote(Fenced, 1, true)]].concat();
    assert_eq!(broken_by(&findings(ExclusionAtResource::fenced(LOCK), events)), []);
}

#[test]
fn a_first_write_after_a_later_holders_breaks_it_and_the_later_holder_is_not_blamed() {
    let events = vec![opened(0), opened(1), granted(0), closed(0), granted(1), wrote(Unfenced, 1, true)];
    let events = [events, vec![wrote(Unfenced, 0, true), wrote(Unfenced, 1, true)]].concat();
    let found = findings(ExclusionAtResource::unfenced(LOCK), events);
    assert_eq!(broken_by(&found), [(UNFENCED, Some(Assumption::NoActionAfterSessionEnd))]);
}

#[test]
fn who_learns_of_its_grant_after_its_end_counts_as_the_earlier_holder() {
    let before = vec![opened(0), opened(1), opened(2), granted(2), wrote(Unfenced, 2, true), leaves(2)];
    let dies = vec![attempts(0), closed(0), granted(1), wrote(Unfenced, 1, true), granted(0)];
    let writes = vec![wrote(Unfenced, 0, true), wrote(Unfenced, 1, true)];
    let events = [before, dies, writes].concat();
    let found = findings(ExclusionAtResource::unfenced(LOCK), events);
    assert_eq!(broken_by(&found), [(UNFENCED, Some(Assumption::NoActionAfterSessionEnd))]);
}

#[test]
fn a_thread_that_asks_on_when_the_main_one_has_ended_is_the_earlier_holder_as_well() {
    let write = Event::Is(GroundTruth::Wrote {
        resource: Unfenced,
        actor: actor(0).of_thread(1),
        token: None,
        accepted: true,
    });
    let asks = vec![opened(0), opened(1), opened(2), by_thread(1, attempts(0)), finished(0)];
    let dies = vec![granted(2), wrote(Unfenced, 2, true), leaves(2), closed(0), granted(1)];
    let writes = vec![wrote(Unfenced, 1, true), by_thread(1, granted(0)), write, wrote(Unfenced, 1, true)];
    let found = findings(ExclusionAtResource::unfenced(LOCK), [asks, dies, writes].concat());
    let what = UNFENCED.replace("p0", "p0/1");
    assert_eq!(broken_by(&found), [(&*what, Some(Assumption::NoActionAfterSessionEnd))]);
}

#[test]
fn who_died_as_it_asked_puts_nothing_to_the_test_until_it_learns_of_a_grant() {
    let dies = vec![opened(0), opened(1), attempts(0), closed(0)];
    let alone = [dies, vec![attempts(1), granted(1), wrote(Fenced, 1, true)]].concat();
    assert_eq!(findings(ExclusionAtResource::fenced(LOCK), alone.clone()), []);
    let learns = [alone, vec![granted(0), wrote(Fenced, 1, true)]].concat();
    assert_eq!(findings(ExclusionAtResource::fenced(LOCK), learns), [Finding::Tested]);
}

/// Where one that has asked again dies then, it may have been granted it once more, unless it knew that it was not.
#[test]
fn the_late_write_of_one_that_asks_no_more_is_not_that_of_a_later_grant() {
    for ends in [vec![gives_up(0)], vec![crashed(0)], vec![finished(0)]] {
        let again = vec![attempts(0), attempts(1), granted(1), wrote(Fenced, 1, true)];
        let late = [ends, vec![closed(0), wrote(Fenced, 0, true)]].concat();
        let held = vec![opened(0), opened(1), attempts(0), granted(0), wrote(Fenced, 0, true)];
        let found = findings(ExclusionAtResource::fenced(LOCK), [held, again, late].concat());
        assert_eq!(broken_by(&found), [(FENCED, None)]);
    }
}

#[test]
fn who_is_granted_it_once_more_before_it_writes_is_the_later_holder() {
    let events = vec![granted(1), granted(0), granted(1), wrote(Fenced, 1, true), wrote(Fenced, 0, true)];
    let found = findings(ExclusionAtResource::fenced(LOCK), events);
    assert_eq!(broken_by(&found), [(FENCED, None)]);
}

/// Only the one that had lost its znode had its place, and what the other wrote was not judged.
#[test]
fn of_two_threads_that_ask_and_die_the_one_that_has_lost_nothing_is_the_earlier_holder_as_well() {
    let write =
        GroundTruth::Wrote { resource: Fenced, actor: actor(0).of_thread(1), token: None, accepted: true };
    let loses =
        vec![opened(0), opened(1), by_thread(2, attempts(0)), deleted("/lock/x-lock-0000000009", 1, 0)];
    let dies = vec![by_thread(1, attempts(0)), closed(0), attempts(1), granted(1), wrote(Fenced, 1, true)];
    let late = vec![by_thread(1, granted(0)), Event::Is(write)];
    let found = findings(ExclusionAtResource::fenced(LOCK), [loses, dies, late].concat());
    assert_eq!(broken_by(&found), [(&*FENCED.replace("p0", "p0/1"), None)]);
}

#[test]
fn who_learns_of_its_grant_after_its_end_may_be_the_last_holder_all_the_same() {
    let before = vec![opened(0), opened(1), granted(1), wrote(Fenced, 1, true), leaves(1)];
    let dies = vec![attempts(0), closed(0), granted(0), wrote(Fenced, 0, true)];
    // Whether it has held it before or not.
    for earlier in [vec![], vec![granted(0), wrote(Fenced, 0, true), leaves(0)]] {
        let events = [earlier, before.clone(), dies.clone()].concat();
        assert_eq!(broken_by(&findings(ExclusionAtResource::fenced(LOCK), events)), []);
    }
}

#[test]
fn a_live_holder_whose_znode_an_administrator_deletes_breaks_as_expected() {
    let found = findings(
        ExclusionAtResource::unfenced(LOCK),
        aba(Unfenced, true, vec![deleted("/lock/a-lock-0000000000", 99, 0)]),
    );
    assert_eq!(broken_by(&found), [(UNFENCED, Some(Assumption::NoAdministrator))]);
}

#[test]
fn who_lost_its_znode_before_a_grant_and_dies_after_it_was_the_earlier_holder() {
    let loses = vec![opened(0), opened(1), attempts(0), deleted("/lock/a-lock-0000000000", 99, 0)];
    let writes = vec![granted(0), wrote(Unfenced, 0, true), wrote(Unfenced, 1, true)];
    for dies in [vec![closed(0)], vec![]] {
        let late = [vec![granted_as(1, "/lock/b-lock-0000000001", None)], dies].concat();
        let events = [loses.clone(), late, writes.clone()].concat();
        assert_eq!(broken_by(&findings(ExclusionAtResource::unfenced(LOCK), events)), []);
    }
}

#[test]
fn a_dead_session_violates_no_assumption_where_a_check_was_to_help() {
    let found = findings(ExclusionAtResource::checked(LOCK), aba(Unfenced, true, vec![closed(0)]));
    assert_eq!(broken_by(&found), [(CHECKED, None)]);
}

#[test]
fn behind_a_lock_delay_a_write_after_the_end_of_a_session_is_late_only_once_the_delay_has_passed() {
    let tells = |word, millis| {
        let what = Observation::note(word, LOCK, millis);
        Event::Observed { actor: actor(1), what }
    };
    let (waits, has_waited) =
        (|| tells(words::WAITS_FOR_DELAY, 9), |millis| tells(words::HAS_WAITED, millis));
    let late = |between| {
        let found = findings(
            ExclusionAtResource::delayed(LOCK, Duration::from_millis(9)),
            aba(Unfenced, true, between),
        );
        broken_by(&found) == [(UNFENCED, Some(Assumption::NoActionAfterSessionEnd))]
    };
    assert!(late(vec![closed(0), waits(), has_waited(9)]));
    for too_soon in [
        vec![closed(0)],
        vec![closed(0), waits()],
        vec![closed(0), waits(), has_waited(8)],
        vec![closed(0), has_waited(9)],
        vec![waits(), closed(0), has_waited(9)],
        vec![waits(), has_waited(9)],
    ] {
        assert!(!late(too_soon.clone()), "{too_soon:?}");
    }
    // Its client may have opened another session, which what it was granted before is not of.
    let anew = || opened_anew(0);
    for renewed in [
        vec![closed(0), anew(), waits(), has_waited(9)],
        vec![closed(0), waits(), anew(), has_waited(9)],
        vec![closed(0), waits(), has_waited(9), anew()],
        vec![anew(), closed(0), waits(), has_waited(9)],
    ] {
        assert!(late(renewed.clone()), "{renewed:?}");
    }
    let ends = GroundTruth::SessionClosed { session: session(7), actor: actor(0), expired: true };
    for by_the_new_one in [
        vec![closed(0), anew(), granted(0), waits(), has_waited(9)],
        vec![closed(0), waits(), anew(), granted(0), has_waited(9)],
        vec![closed(0), waits(), has_waited(9), anew(), granted(0), Event::Is(ends)],
    ] {
        assert!(!late(by_the_new_one.clone()), "{by_the_new_one:?}");
    }
}

#[test]
fn sharers_do_not_contradict_each_other() {
    let shared = Resource::FencedShared;
    let both = vec![opened(0), opened(1), shares(0), shares(1), wrote(shared, 1, true)];
    let found = |last: Vec<Event>| {
        let all = [both.clone(), vec![wrote(shared, 0, true)], last].concat();
        findings(ExclusionAtResource::fenced(LOCK), all)
    };
    assert_eq!(found(vec![]), [], "nor put it to the test");
    assert_eq!(found(vec![opened(2), granted(2), wrote(Fenced, 2, true)]), [Finding::Tested]);
}

#[test]
fn a_sharer_after_a_later_writer_and_a_writer_after_a_later_sharer_break_it() {
    let shared = Resource::FencedShared;
    let reader_first = vec![shares(0), granted(1), wrote(Fenced, 1, true), wrote(shared, 0, true)];
    let writer_first = vec![granted(0), shares(1), wrote(shared, 1, true), wrote(Fenced, 0, true)];
    for events in [reader_first, writer_first] {
        let found = findings(ExclusionAtResource::fenced(LOCK), events);
        assert_eq!(broken_by(&found), [(FENCED, None)]);
    }
}

#[test]
fn who_holds_it_alone_after_it_has_shared_it_is_no_sharer_any_more() {
    let shared = Resource::FencedShared;
    let events = vec![shares(0), granted(0), shares(1), wrote(shared, 1, true), wrote(Fenced, 0, true)];
    let found = findings(ExclusionAtResource::fenced(LOCK), events);
    assert_eq!(broken_by(&found), [(FENCED, None)]);
}

/// The dead one kept others from writing, by a grant of which it had told as if it were new.
#[test]
fn who_holds_it_alone_after_it_has_died_as_a_sharer_keeps_its_place() {
    let died = vec![opened(0), opened(1), shares(0), closed(0), granted(1), wrote(Unfenced, 1, true)];
    let writes = vec![granted(0), wrote(Unfenced, 0, true), wrote(Unfenced, 1, true)];
    let found = findings(ExclusionAtResource::unfenced(LOCK), [died, writes].concat());
    assert_eq!(broken_by(&found), [(UNFENCED, Some(Assumption::NoActionAfterSessionEnd))]);
}

#[test]
fn who_makes_do_with_a_share_keeps_its_place_unless_it_asks_for_it() {
    let shared = Resource::FencedShared;
    for dies in [vec![], vec![closed(0)]] {
        let before = [vec![opened(0), opened(1), granted(0), wrote(Fenced, 0, true)], dies].concat();
        let write = vec![wrote(Fenced, 1, true)];
        for [early, late] in [[vec![shares(0)], write.clone()], [write, vec![shares(0)]]] {
            let after = [vec![granted(1)], early, late, vec![wrote(shared, 0, true)]].concat();
            let found = findings(ExclusionAtResource::fenced(LOCK), [before.clone(), after].concat());
            assert_eq!(broken_by(&found), [(FENCED, None)]);
        }
    }
    let asks = vec![shares(0), granted(1), wrote(Fenced, 1, true), attempts(0), shares(0)];
    let found = findings(ExclusionAtResource::fenced(LOCK), [asks, vec![wrote(shared, 0, true)]].concat());
    assert_eq!(found, [Finding::Tested, Finding::Tested]);
}

#[test]
fn a_new_grant_lets_an_actor_write_again() {
    let events = vec![granted(0), wrote(Unfenced, 0, true), granted(1), wrote(Unfenced, 1, true), granted(0)];
    let events = [events, vec![wrote(Unfenced, 0, true), wrote(Fenced, 1, true)]].concat();
    let found = findings(ExclusionAtResource::unfenced(LOCK), events);
    assert_eq!(broken_by(&found), []);
}

/// Nobody was blamed who forgets the lock on one of its ways.
#[test]
fn a_write_by_one_that_never_had_the_lock_breaks_it_while_another_holds_it() {
    let both = || vec![opened(0), opened(1)];
    let judge = |promise: ExclusionAtResource, then: Vec<Event>| {
        let found = findings(promise, [both(), then, vec![wrote(Unfenced, 0, true)]].concat());
        broken_by(&found).first().map(|(what, assumption)| ((*what).to_owned(), *assumption))
    };
    let what = |kind| {
        format!(
            "a write of p0, which was never granted /lock, was accepted at the {kind} resource while p1 holds /lock"
        )
    };
    let breaks = |then| judge(ExclusionAtResource::unfenced(LOCK), then);
    let held = || vec![attempts(1), granted(1), enters(1), wrote(Unfenced, 1, true)];
    let asks = || [held(), vec![attempts(0)]].concat();
    for then in [held(), asks(), vec![enters(1)], [asks(), vec![closed(0)]].concat()] {
        assert_eq!(breaks(then.clone()), Some((what("unfenced"), None)), "{then:?}");
    }
    assert_eq!(judge(ExclusionAtResource::checked(LOCK), held()), Some((what("checked"), None)));
    // Nobody has it any more, alone; or the writer has had it before.
    for ends in [leaves(1), released(1), closed(1), crashed(1), finished(1)] {
        assert_eq!(breaks([held(), vec![ends]].concat()), None);
    }
    assert_eq!(breaks(vec![shares(1)]), None);
    for had in [granted(0), shares(0), enters(0)] {
        assert_eq!(breaks(vec![had, leaves(0), attempts(1), granted(1)]), None);
    }
    // Its thread writes for another one.
    let handed_over = vec![by_thread(1, granted(0)), by_thread(1, leaves(0)), granted(1)];
    let mut promise = ExclusionAtResource::unfenced(LOCK);
    let mut found = Vec::new();
    let writes = vec![wrote(Unfenced, 0, true)];
    [both(), handed_over, writes].concat().iter().for_each(|event| promise.see(event, &mut found));
    assert_eq!(broken_by(&found), []);
}

/// The next holder of a lease that is taken over by a write to its znode was blamed if the former one had a slow
/// answer.
#[test]
fn who_was_written_over_before_it_tells_of_its_grant_was_the_earlier_holder() {
    const NODE: &str = "/lock/holder";
    let grant = |p, token| granted_as(p, "", Some(token));
    let both = || vec![opened(0), opened(1), attempts(0), attempts(1)];
    let fenced = |then: Vec<Event>| {
        let writes = vec![wrote(Fenced, 0, true), wrote(Fenced, 1, true)];
        broken_by(&findings(ExclusionAtResource::fenced(LOCK), [both(), then, writes].concat())).len()
    };
    let over = || vec![sets(NODE, 0, 2), sets(NODE, 1, 3), grant(1, 3)];
    let with = |then: Vec<Event>| [over(), then].concat();
    assert_eq!(fenced(with(vec![grant(0, 2)])), 0);
    assert_eq!(fenced(with(vec![closed(0), grant(0, 2)])), 0, "nor does it come behind it by its death");
    assert_eq!(fenced(with(vec![wrote(Fenced, 1, true), grant(0, 2)])), 1, "it is late itself");
    // What is not its own writing of that attempt, or waited for something after it, says nothing of when it was
    // granted it.
    let woken = |p: u16| fired(NODE, zk_api::EventType::NodeDataChanged, &[p]);
    for then in [
        vec![grant(0, 3)],
        vec![granted(0)],
        vec![attempts(0), grant(0, 2)],
        vec![gives_up(0), attempts(0), grant(0, 2)],
        vec![grant(0, 2), attempts(0), grant(0, 2)],
        vec![grant(0, 2), leaves(0), attempts(0), sets(NODE, 0, 4), closed(0)],
        vec![woken(0), grant(0, 2)],
        vec![sets(NODE, 0, 4), grant(0, 2)],
    ] {
        assert_eq!(fenced(with(then.clone())), 1, "{then:?}");
    }
    assert_eq!(fenced(with(vec![woken(1), grant(0, 2)])), 0);
    assert_eq!(
        fenced([vec![sets(NODE, 0, 2), woken(0)], over()[1..].to_vec(), vec![grant(0, 2)]].concat()),
        0
    );
    let another = Event::Observed { actor: actor(0), what: Observation::Attempts { lock: "/b".into() } };
    assert_eq!(fenced(with(vec![another, grant(0, 2)])), 0, "it is another lock that it asks for");
    assert_eq!(fenced(with(vec![shares_as(0, "", Some(2))])), 0, "or a share");
    for paths in [["/b", "/b"], ["/lock/a", "/lock/b"]] {
        let [first, second] = paths;
        let writes = vec![sets(first, 0, 2), sets(second, 1, 3), grant(1, 3), grant(0, 2)];
        assert_eq!(fenced(writes), 1, "{paths:?}");
    }
    // Three, one after the other.
    let three =
        vec![opened(2), attempts(2), sets(NODE, 0, 2), sets(NODE, 2, 3), sets(NODE, 1, 4), grant(1, 4)];
    let then = vec![grant(2, 3), wrote(Fenced, 2, true), wrote(Fenced, 1, true)];
    assert_eq!(broken_by(&findings(ExclusionAtResource::fenced(LOCK), [both(), three, then].concat())), []);
    let by_number = |p| format!("/lock/n-000000000{p}");
    let in_line = vec![sets(&by_number(0), 0, 2), sets(&by_number(1), 1, 3), grant(1, 3), grant(0, 2)];
    assert_eq!(fenced(in_line), 1, "each has its own, and they were granted it in another order");
    // Where no tokens are compared, what it had written by an earlier grant may still be on its way.
    let again =
        vec![granted(0), leaves(0), granted(1), wrote(Unfenced, 1, true), attempts(0), sets(NODE, 0, 2)];
    let late = [both(), again, vec![sets(NODE, 1, 3), wrote(Unfenced, 0, true)]].concat();
    assert_eq!(broken_by(&findings(ExclusionAtResource::unfenced(LOCK), late)).len(), 1);
}

/// It was excused as if its session had expired.
#[test]
fn who_closes_its_session_and_writes_on_is_not_excused() {
    let found = |end: Vec<Event>| {
        let found = findings(ExclusionAtResource::unfenced(LOCK), aba(Unfenced, true, end));
        broken_by(&found).into_iter().map(|(_, failed)| failed).collect::<Vec<_>>()
    };
    let expected = Some(Assumption::NoActionAfterSessionEnd);
    assert_eq!(found(vec![closed(0)]), [expected]);
    assert_eq!(found(vec![closes(0)]), [None]);
    assert_eq!(found(vec![closes(0), opened_anew(0)]), [None]);
    assert_eq!(found(vec![finished(0), closes(0)]), [expected], "nobody waits for what it has sent");
}

use super::super::testing::*;
use super::*;
use crate::event::Observation;

const B: &str = "/barrier";

fn says(p: u16, what: &str) -> Event {
    notes(p, what, B)
}
/// Arrives, and has registered.
fn arrives(p: u16) -> Vec<Event> {
    vec![says(p, "arrives at"), created(&format!("/barrier/p{p}"), p)]
}
fn passes(p: u16) -> Vec<Event> {
    vec![says(p, "passes")]
}
fn leaves(p: u16) -> Vec<Event> {
    vec![says(p, "asks to leave"), deleted(&format!("/barrier/p{p}"), p, p), says(p, "has left")]
}
fn both() -> Vec<Event> {
    [vec![opened(0), opened(1)], arrives(0), arrives(1)].concat()
}
fn with(events: &[Vec<Event>]) -> Vec<Event> {
    [both(), events.concat()].concat()
}

#[test]
fn passing_with_too_few_breaks_it() {
    let events = [vec![opened(0), opened(1)], arrives(0), vec![says(1, "arrives at")], passes(0)].concat();
    let found = findings(EntersTogether::of(B), events);
    assert_eq!(broken_by(&found), [("p0 passes /barrier with 1 of 2", None)]);
}

/// Who had made two, by a create that it did twice, was registered no more when it had deleted one of them.
#[test]
fn who_has_another_znode_is_registered_still() {
    const SECOND: &str = "/barrier/p1-again";
    let both = |deletes: &[&str]| {
        let gone = deletes.iter().map(|path| deleted(path, 1, 1)).collect();
        let events = with(&[vec![created(SECOND, 1)], gone, passes(0)]);
        broken_by(&findings(EntersTogether::of(B), events)).len()
    };
    assert_eq!((both(&[SECOND]), both(&["/barrier/p1"]), both(&[SECOND, "/barrier/p1"])), (0, 0, 1));
}

/// Members whose znodes outlive their sessions passed a barrier with nobody.
#[test]
fn who_has_made_a_znode_that_outlives_it_is_registered() {
    let lasting = |p: u16| {
        let (path, by, owner) = (format!("/barrier/p{p}").as_str().into(), session(p), SessionId::NONE);
        let czxid = zk_api::Zxid::new(1, 1);
        vec![says(p, "arrives at"), Event::Is(GroundTruth::NodeCreated { path, by, owner, czxid })]
    };
    let found = |second: Vec<Event>| {
        let events = [vec![opened(0), opened(1)], lasting(0), second, passes(0)].concat();
        broken_by(&findings(EntersTogether::of(B), events)).len()
    };
    assert_eq!((found(lasting(1)), found(vec![says(1, "arrives at")])), (0, 1));
    // An ephemeral one stands for it once it has one.
    let gone = [lasting(1), vec![created("/barrier/e1", 1), deleted("/barrier/e1", 1, 1)]].concat();
    assert_eq!(found(gone), 1);
}

#[test]
fn the_second_round_is_counted_anew() {
    let rounds = [passes(0), passes(1), leaves(0), leaves(1), arrives(0)];
    let alone = findings(EntersTogether::of(B), [with(&rounds), passes(0)].concat());
    assert_eq!(broken_by(&alone), [("p0 passes /barrier with 1 of 2", None)]);
    let together = findings(EntersTogether::of(B), [with(&rounds), arrives(1), passes(0)].concat());
    assert_eq!(together, [Finding::Tested, Finding::Tested]);
}

#[test]
fn one_that_died_after_it_was_registered_counts_and_one_that_gave_up_does_not() {
    let died = with(&[vec![closed(1)], passes(0)]);
    assert_eq!(findings(EntersTogether::of(B), died), [Finding::Tested]);
    let gave_up = with(&[vec![says(1, "gives up")], passes(0)]);
    assert_eq!(broken_by(&findings(EntersTogether::of(B), gave_up)).len(), 1);
}

#[test]
fn who_has_died_counts_for_the_round_that_it_was_registered_for_and_no_other() {
    // Its znode goes with its session, whichever is told first.
    let died = with(&[vec![vanished("/barrier/p1", 1), closed(1)], passes(0)]);
    assert_eq!(findings(EntersTogether::of(B), died), [Finding::Tested]);
    let first = [vec![closed(1)], passes(0), leaves(0)].concat();
    let next = [arrives(0), vec![opened(2)], arrives(2), vec![says(2, "gives up")], passes(0)].concat();
    let found = findings(EntersTogether::of(B), with(&[first, next]));
    assert_eq!(broken_by(&found), [("p0 passes /barrier with 1 of 2", None)]);
}

#[test]
fn who_has_passed_or_is_in_a_round_that_runs_does_not_gather() {
    // Its znode is there only when it has passed already.
    let early = [vec![opened(0), opened(1), says(0, "arrives at")], passes(0)].concat();
    let late = [vec![created("/barrier/p0", 0)], arrives(1), passes(1)].concat();
    let found = findings(EntersTogether::of(B), [early, late].concat());
    assert_eq!(broken_by(&found)[1..], [("p1 passes /barrier with 1 of 2", None)]);
    let found = findings(EntersTogether::of(B), with(&[passes(0), leaves(0), arrives(0), passes(0)]));
    assert_eq!(broken_by(&found), [("p0 passes /barrier with 1 of 2", None)]);
}

#[test]
fn leaving_while_another_is_inside_or_has_yet_to_pass_breaks_it() {
    let inside = findings(LeavesTogether::of(B), with(&[passes(0), passes(1), leaves(0)]));
    assert_eq!(broken_by(&inside), [("p0 has left /barrier while p1 has not asked to", None)]);
    let late = findings(LeavesTogether::of(B), with(&[passes(0), leaves(0), passes(1)]));
    assert_eq!(broken_by(&late).len(), 2);
    assert_eq!(broken_by(&late)[1], ("p1 passes /barrier though p0 has left already", None));
}

#[test]
fn one_that_leaves_late_is_not_held_to_the_next_round() {
    let others = vec![opened(2), says(1, "asks to leave"), says(1, "has left")];
    let next = [arrives(1), arrives(2), passes(1)].concat();
    let first = with(&[passes(0), passes(1), vec![says(0, "asks to leave")], others]);
    let found = findings(LeavesTogether::of(B), [first, next, vec![says(0, "has left")]].concat());
    assert_eq!(broken_by(&found), []);
}

#[test]
fn the_dead_keep_nobody_from_leaving() {
    for death in [closed(1), crashed(1)] {
        let found = findings(LeavesTogether::of(B), with(&[passes(0), passes(1), vec![death], leaves(0)]));
        assert_eq!(broken_by(&found), []);
    }
}

/// One member alone put them to the test, and so did any quiet rest: `barrier-opens` held where nobody came.
#[test]
fn they_take_two_members_and_rounds_that_do_not_mix_take_two_rounds() {
    let tests = |events: &[Vec<Event>]| {
        let all = events.concat();
        [
            findings(EntersTogether::of(B), all.clone()),
            findings(LeavesTogether::of(B), all.clone()),
            findings(RoundsDoNotMix::of(B), all.clone()),
            findings(BarrierOpens::of(B), all),
        ]
        .map(|found| (found.len(), broken_by(&found).len()))
    };
    let one = |what| Event::Observed { actor: actor(0), what: Observation::note(Word::own(what), B, 1) };
    let registers = vec![opened(0), one("arrives at"), created("/barrier/p0", 0)];
    let goes = vec![one("passes"), one("asks to leave"), deleted("/barrier/p0", 0, 0), one("has left")];
    let alone = [registers, goes].concat();
    assert_eq!(tests(&[alone.clone(), alone]), [(0, 0); 4]);
    let [asks, gone] = ["asks to leave", "has left"].map(|what| vec![says(0, what), says(1, what)]);
    let round = [passes(0), passes(1), asks, gone];
    assert_eq!(tests(&[both(), round.concat()]), [(1, 0), (2, 0), (0, 0), (3, 0)]);
    let twice = [both(), round.concat(), arrives(0), arrives(1), passes(0)];
    assert_eq!(tests(&twice), [(2, 0), (2, 0), (1, 0), (4, 0)]);
}

#[test]
fn a_round_that_begins_within_another_breaks_it() {
    let found =
        findings(RoundsDoNotMix::of(B), with(&[passes(0), passes(1), leaves(0), arrives(0), passes(0)]));
    assert_eq!(broken_by(&found), [("p0 begins a round at /barrier while p1 is in another", None)]);
}

#[test]
fn waiting_with_enough_others_breaks_it_and_waiting_for_others_does_not() {
    let rest = |unfinished: &[u16]| Rest {
        unfinished: unfinished.iter().map(|p| actor(*p)).collect(),
        ..Rest::default()
    };
    let found = resting(BarrierOpens::of(B), both(), &rest(&[0, 1]));
    let what = "p0 waits for ever at /barrier to enter, with enough others";
    assert_eq!(broken_by(&found)[0], (what, None));
    let alone = resting(BarrierOpens::of(B), with(&[vec![closed(1)]]), &rest(&[0]));
    assert_eq!(alone, []);
    let left = with(&[passes(0), passes(1), leaves(1), vec![says(0, "asks to leave")]]);
    let found = resting(BarrierOpens::of(B), left, &rest(&[0]));
    assert_eq!(
        broken_by(&found),
        [("p0 waits for ever at /barrier to leave, and nobody of its round is inside", None)]
    );
}

/// What is found where all these wait at rest, who live.
fn waiting(events: Vec<Event>, actors: &[u16]) -> Vec<Finding> {
    let unfinished: Vec<_> = actors.iter().map(|p| actor(*p)).collect();
    let sessions = actors.iter().map(|p| (session(*p), actor(*p))).collect();
    resting(BarrierOpens::of(B), events, &Rest { unfinished, sessions, ..Rest::default() })
}

#[test]
fn waiting_for_those_inside_breaks_nothing_and_for_those_of_another_round_does() {
    let asks = |p| vec![says(p, "asks to leave")];
    // One is inside: of the round that the other leaves, or of the one before that for which enough have come.
    assert_eq!(waiting(with(&[passes(0), passes(1), asks(0)]), &[0, 1]), []);
    let round = with(&[passes(0), passes(1), leaves(0), arrives(0), vec![opened(2)], arrives(2)]);
    assert_eq!(waiting(round, &[0, 1, 2]), []);
    // p2 begins another round with p1, which has left, and p0 is forgotten in the first one.
    let next = [vec![opened(2)], leaves(1), arrives(1), arrives(2), passes(2)].concat();
    let found = waiting(with(&[passes(0), passes(1), asks(0), next, passes(1)]), &[0, 1, 2]);
    let what = "p0 waits for ever at /barrier to leave, and nobody of its round is inside";
    assert_eq!(broken_by(&found), [(what, None)]);
}

#[test]
fn who_leaves_or_is_late_for_a_round_that_runs_is_not_one_of_enough_to_enter() {
    let early = [vec![opened(0), opened(1), says(0, "arrives at")], passes(0)].concat();
    let leaves = [vec![says(0, "asks to leave")], arrives(1)].concat();
    let what = "p0 waits for ever at /barrier to leave, and nobody of its round is inside";
    assert_eq!(broken_by(&waiting([early, leaves].concat(), &[0, 1])), [(what, None)]);
    let runs = with(&[passes(1), vec![crashed(1), opened(2)], arrives(2)]);
    let what = "p0 waits for ever at /barrier to enter a round that runs";
    assert_eq!(broken_by(&waiting(runs, &[0, 2])), [(what, None)]);
}

/// With a second member of a process, nothing was judged any more.
#[test]
fn two_threads_of_a_process_are_two_members() {
    let other = |what| by_thread(1, says(0, what));
    let second = || created("/barrier/x", 0);
    let two = |more: &[Event]| {
        let before = [vec![opened(0), opened(1)], arrives(0)].concat();
        findings(EntersTogether::of(B), [&before, more].concat())
    };
    let too_few = |who| [(format!("{who} passes /barrier with 1 of 2"), None)];
    let alone = two(&[other("arrives at"), says(0, "passes")]);
    assert_eq!(broken_by(&alone), too_few("p0").each_ref().map(|(what, why)| (&**what, *why)));
    assert_eq!(two(&[other("arrives at"), second(), says(0, "passes")]), [Finding::Tested]);
    assert_eq!(two(&[other("arrives at"), second(), other("passes")]), [Finding::Tested]);
    // The thread has made its znode first: it is no less registered than the one that has come before it.
    let early =
        [vec![opened(0), opened(1), says(0, "arrives at"), other("arrives at"), second()], arrives(1)]
            .concat();
    assert_eq!(findings(EntersTogether::of(B), [early, vec![other("passes")]].concat()), [Finding::Tested]);
    let both_die = [other("arrives at"), second(), closed(0)];
    let next = [vec![opened(2)], arrives(1), arrives(2), passes(1), passes(2), leaves(1)].concat();
    assert_eq!(two(&[&both_die[..], &next].concat()), [Finding::Tested]);
    // Both leave by a znode each.
    let through = [
        vec![other("arrives at"), second(), says(0, "passes"), other("passes"), says(0, "asks to leave")],
        vec![other("asks to leave"), deleted("/barrier/x", 0, 0), deleted("/barrier/p0", 0, 0)],
        vec![says(0, "has left"), other("has left")],
    ];
    let before = [vec![opened(0), opened(1)], arrives(0)].concat();
    let found = findings(LeavesTogether::of(B), [before.clone(), through.concat()].concat());
    assert_eq!(found, [Finding::Tested, Finding::Tested]);
    let leaves_alone = [&through[0][..], &[deleted("/barrier/p0", 0, 0), says(0, "has left")]].concat();
    let found = findings(LeavesTogether::of(B), [before, leaves_alone].concat());
    assert_eq!(broken_by(&found), [("p0 has left /barrier while p0/1 has not asked to", None)]);
}

#[test]
fn one_that_comes_twice_is_one() {
    let twice = [vec![opened(0), opened(1)], arrives(0), arrives(0), passes(0)].concat();
    let found = findings(EntersTogether::of(B), twice);
    assert_eq!(broken_by(&found), [("p0 passes /barrier with 1 of 2", None)]);
}

const HIS: Option<Assumption> = Some(Assumption::NoAdministrator);

fn deletes_externally(p: u16) -> Vec<Event> {
    vec![deleted(&format!("/barrier/p{p}"), ADMIN, p)]
}
fn assumption(judge: impl Promise, events: &[Vec<Event>]) -> Option<Assumption> {
    broken_by(&findings(judge, with(events))).last().expect("it breaks").1
}

#[test]
fn who_passes_without_one_whose_znode_was_deleted_is_expected_to_in_that_round_alone() {
    assert_eq!(assumption(EntersTogether::of(B), &[deletes_externally(1), passes(0)]), HIS);
    assert_eq!(assumption(EntersTogether::of(B), &[deletes_externally(1), vec![closed(1)], passes(0)]), HIS);
    assert_eq!(
        assumption(EntersTogether::of(B), &[deletes_externally(1), passes(1), vec![closed(1)], passes(0)]),
        HIS
    );
    assert_eq!(
        assumption(
            EntersTogether::of(B),
            &[deletes_externally(1), vec![closed(1)], passes(0), leaves(0), arrives(0), passes(0)]
        ),
        None
    );
    // It is registered anew, and counts.
    let again = with(&[deletes_externally(1), vec![created("/barrier/p1", 1)], passes(0)]);
    assert_eq!(findings(EntersTogether::of(B), again), [Finding::Tested]);
    // Inside, which keeps nobody from entering; and in the round after that.
    let first = [passes(0), passes(1), deletes_externally(1), leaves(0), leaves(1), arrives(0)];
    assert_eq!(assumption(EntersTogether::of(B), &[first.concat(), passes(0)]), None);
    let first =
        [deletes_externally(1), vec![created("/barrier/p1", 1)], passes(0), passes(1), leaves(0), leaves(1)];
    assert_eq!(assumption(EntersTogether::of(B), &[first.concat(), arrives(0), passes(0)]), None);
}

#[test]
fn who_lost_its_znode_and_registers_anew_is_in_the_next_round() {
    let missed =
        [passes(0), deletes_externally(1), leaves(0), arrives(0), vec![created("/barrier/p1", 1)]].concat();
    let found = findings(EntersTogether::of(B), with(&[missed.clone(), passes(1), passes(0)]));
    assert_eq!(found, [Finding::Tested, Finding::Tested]);
    assert_eq!(assumption(LeavesTogether::of(B), &[missed, passes(1), passes(0), leaves(0)]), None);
}

#[test]
fn who_leaves_behind_one_whose_znode_was_deleted_is_expected_to_and_behind_another_is_not() {
    let inside = [passes(0), passes(1)].concat();
    assert_eq!(assumption(LeavesTogether::of(B), &[inside.clone(), deletes_externally(1), leaves(0)]), HIS);
    assert_eq!(assumption(LeavesTogether::of(B), &[inside.clone(), deletes_externally(0), leaves(0)]), None);
    let third = [vec![opened(2)], arrives(2), passes(0), passes(1), passes(2)].concat();
    assert_eq!(assumption(LeavesTogether::of(B), &[third.clone(), deletes_externally(1), leaves(0)]), None);
    // It has made another one as it was inside, and is in that round still.
    let again = [deletes_externally(1), vec![created("/barrier/p1", 1)]].concat();
    assert_eq!(assumption(LeavesTogether::of(B), &[third, again, leaves(1)]), None);
    let late = [deletes_externally(1), passes(0), leaves(0), passes(1)].concat();
    assert_eq!(broken_by(&findings(LeavesTogether::of(B), with(&[late]))), []);
    assert_eq!(
        assumption(LeavesTogether::of(B), &[passes(0), deletes_externally(1), leaves(0), passes(1)]),
        HIS
    );
}

#[test]
fn a_round_may_begin_beside_one_whose_znode_was_deleted_and_beside_no_other() {
    let next = [leaves(0), arrives(0), passes(0)].concat();
    let inside = [passes(0), passes(1)].concat();
    assert_eq!(
        assumption(RoundsDoNotMix::of(B), &[inside.clone(), deletes_externally(1), next.clone()]),
        HIS
    );
    assert_eq!(assumption(RoundsDoNotMix::of(B), &[inside, deletes_externally(0), next]), None);
    let late = [deletes_externally(1), passes(0), passes(1)];
    assert_eq!(assumption(RoundsDoNotMix::of(B), &late), HIS);
    let alone = with(&[deletes_externally(0), passes(0)]);
    assert_eq!(findings(RoundsDoNotMix::of(B), alone), [], "which follows no other");
    // Who gathers as one that lost its znode to him comes late is in the next round.
    let counted = with(&[deletes_externally(0), passes(0), leaves(0), arrives(0), passes(1), passes(0)]);
    for found in [findings(RoundsDoNotMix::of(B), counted.clone()), findings(EntersTogether::of(B), counted)]
    {
        assert_eq!(broken_by(found.get(1..).unwrap_or_default()), []);
    }
}

#[test]
fn who_waits_is_expected_to_with_one_whose_znode_was_deleted_since_it_came() {
    let rest = Rest { unfinished: vec![actor(0), actor(1)], ..Rest::default() };
    let waits = |events: &[_]| broken_by(&resting(BarrierOpens::of(B), with(events), &rest))[0].1;
    assert_eq!(waits(&[deletes_externally(1)]), HIS);
    // As it leaves, for one that missed the round and is there again.
    let half = vec![says(0, "asks to leave"), deleted("/barrier/p0", 0, 0)];
    assert_eq!(waits(&[passes(0), half, deletes_externally(1), vec![created("/barrier/p1", 1)]]), HIS);
    let round =
        [deletes_externally(1), vec![created("/barrier/p1", 1)], passes(0), passes(1), leaves(0), leaves(1)]
            .concat();
    assert_eq!(waits(&[round, arrives(0), arrives(1)]), None);
}

#[test]
fn all_is_expected_after_a_change_of_what_is_no_members_and_nothing_after_a_write_to_a_members() {
    let writes_by = |p, path: &str, owner| {
        let (path, by, mzxid) = (path.into(), session(p), zk_api::Zxid::new(1, 9));
        Event::Is(GroundTruth::NodeWritten { path, by, owner, data: "".into(), mzxid })
    };
    let writes = |path, owner| writes_by(ADMIN, path, owner);
    let late = |change| assumption(LeavesTogether::of(B), &[vec![change], passes(0), passes(1), leaves(0)]);
    assert_eq!(late(writes(B, SessionId::NONE)), HIS);
    assert_eq!(late(deleted("/barrier/ready", ADMIN, NOBODY)), HIS);
    assert_eq!(late(writes("/barrier/p1", session(1))), None);
    assert_eq!(late(deleted("/elsewhere", ADMIN, NOBODY)), None);
    // Nor after what members do, or the server by itself.
    assert_eq!(late(writes_by(1, B, SessionId::NONE)), None);
    assert_eq!(late(deleted("/barrier/ready", 1, NOBODY)), None);
    assert_eq!(late(vanished("/barrier/ready", NOBODY)), None);
}

/// Opens the next session.
fn opens_next(p: u16) -> Event {
    Event::Is(GroundTruth::SessionOpened { session: session(50 + p), actor: actor(p) })
}
/// Its session has ended; in the next one it makes its znode again.
fn renews(p: u16) -> Vec<Event> {
    vec![closed(p), opens_next(p), created_in_next(p)]
}
fn created_in_next(p: u16) -> Event {
    let (next, path) = (session(50 + p), zk_api::Text::from(format!("/barrier/p{p}")));
    let made = GroundTruth::NodeCreated { path, by: next, owner: next, czxid: zk_api::Zxid::new(1, 9) };
    Event::Is(made)
}

/// A right barrier over a client that renews its session was broken by it.
#[test]
fn who_registers_again_in_a_new_session_gathers_as_before() {
    let judged = |events: Vec<Event>| findings(EntersTogether::of(B), events);
    let opens = vec![opened(0), opened(1)];
    // It is there as the other one comes, whether it was registered before its session ended or not.
    let registered = [opens.clone(), arrives(0), renews(0), arrives(1), passes(1)].concat();
    assert_eq!(judged(registered), [Finding::Tested]);
    let unregistered =
        [opens.clone(), vec![says(0, "arrives at")], renews(0), arrives(1), passes(0)].concat();
    assert_eq!(judged(unregistered), [Finding::Tested]);
    // Twice is not two.
    let alone = [opens, arrives(0), renews(0), passes(0)].concat();
    assert_eq!(broken_by(&judged(alone)), [("p0 passes /barrier with 1 of 2", None)]);
    let gone = vec![deleted("/barrier/p1", 1, 1), says(1, "gives up")];
    let left = with(&[renews(0), gone.clone(), passes(0)]);
    assert_eq!(broken_by(&judged(left)), [("p0 passes /barrier with 1 of 2", None)]);
    // Nor is it one less if it makes it once more.
    let again = [vec![opened(0), opened(1)], arrives(0), renews(0)].concat();
    let again = [again, vec![deleted("/barrier/p0", 50, 50), created_in_next(0)], arrives(1)].concat();
    assert_eq!(judged([again, passes(1)].concat()), [Finding::Tested]);
    // Nor is it two if it says that it arrives anew.
    let anew = vec![closed(0), opens_next(0), says(0, "arrives at"), created_in_next(0)];
    let again = [vec![opened(0), opened(1)], arrives(0), anew, arrives(1)].concat();
    assert_eq!(judged([again.clone(), passes(1)].concat()), [Finding::Tested]);
    let found = judged([again, gone, passes(0)].concat());
    assert_eq!(broken_by(&found), [("p0 passes /barrier with 1 of 2", None)]);
}

#[test]
fn who_registers_again_when_a_round_has_begun_may_be_in_that_one_or_the_next() {
    let late = with(&[vec![closed(0)], passes(1), renews(0), passes(0), leaves(1), arrives(1), passes(1)]);
    assert_eq!(findings(EntersTogether::of(B), late), [Finding::Tested]);
    let rest = Rest { unfinished: vec![actor(0), actor(1)], ..Rest::default() };
    let waits = with(&[vec![closed(0)], passes(1), renews(0), leaves(1), arrives(1)]);
    assert_eq!(resting(BarrierOpens::of(B), waits, &rest), []);
    // So may be who was in that one as its session ended.
    let next = [leaves(1), arrives(1), passes(1)].concat();
    let in_it = with(&[passes(1), renews(0), next.clone()]);
    assert_eq!(findings(EntersTogether::of(B), in_it), [Finding::Tested]);
    let one = "p1 passes /barrier with 1 of 2";
    // Who has come to its end is in none, though its znode is made by then.
    let ended = vec![closed(0), opens_next(0)];
    let late = with(&[ended, passes(1), vec![finished(0), created_in_next(0)], next]);
    assert_eq!(broken_by(&findings(EntersTogether::of(B), late)), [(one, None)]);
    // Who says again that it arrives is in the next one.
    let arrives_in_next = vec![says(0, "arrives at"), created_in_next(0)];
    let anew = vec![closed(0), opens_next(0)];
    let next = [leaves(1), arrives(1), passes(0), passes(1), leaves(1)].concat();
    let found = findings(LeavesTogether::of(B), with(&[anew, passes(1), arrives_in_next, next]));
    assert_eq!(broken_by(&found), [("p1 has left /barrier while p0 has not asked to", None)]);
}

/// A right barrier was broken by the end of a session that its client had given up for another, and a wrong one held.
#[test]
fn the_end_of_a_session_is_not_that_of_a_member_by_another_one() {
    let both = vec![opened(0), opened(1), opens_next(0), says(0, "arrives at"), created_in_next(0)];
    // What was left of the former one is removed, or goes with it.
    let removes = vec![deleted("/barrier/left", 0, 0), closed(0)];
    for [before, after] in [[vec![closed(0)], vec![]], [vec![], removes]] {
        let events = [both.clone(), before, arrives(1), after].concat();
        let enters = [events.clone(), passes(1)].concat();
        assert_eq!(findings(EntersTogether::of(B), enters), [Finding::Tested]);
        let leaves = [events, passes(0), passes(1), leaves(1)].concat();
        let found = findings(LeavesTogether::of(B), leaves);
        assert_eq!(broken_by(&found), [("p1 has left /barrier while p0 has not asked to", None)]);
    }
    // Who is registered by the one that has ended has fallen, though it has another.
    let falls = with(&[vec![opens_next(0), closed(0)], passes(1), leaves(1)]);
    assert_eq!(findings(EntersTogether::of(B), falls.clone()), [Finding::Tested]);
    assert_eq!(broken_by(&findings(LeavesTogether::of(B), falls)), []);
    // Who is not registered yet may be by the other.
    let comes = vec![opened(0), opened(1), says(0, "arrives at"), opens_next(0), closed(0)];
    let comes = [comes, vec![created_in_next(0)], arrives(1), passes(0)].concat();
    assert_eq!(findings(EntersTogether::of(B), comes), [Finding::Tested]);
}

#[test]
fn who_has_passed_and_makes_a_znode_in_a_new_session_is_no_member_by_it() {
    let third = [vec![opened(2)], arrives(2), passes(0), passes(1), passes(2)].concat();
    let found = findings(LeavesTogether::of(B), with(&[third, renews(0), leaves(1)]));
    assert_eq!(broken_by(&found), [("p1 has left /barrier while p2 has not asked to", None)]);
}

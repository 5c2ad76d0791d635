//! Runs of wrong recipes over which promises once were green, and runs of right ones that they took for broken. Each
//! test bears the number of its row in the list of them, P2 to P16.

use zk_api::{EventType, SessionId, Zxid};
use zk_harness::event::{ActorId, End, Event, GroundTruth, Observation, Resource};
use zk_harness::promise::{AnyPromise, Assumption, Finding, Rest};
use zk_harness::promises::{
    EntersTogether, ExclusionAmongLiveSessions, ExclusionAtResource, NoForeignDelete, NoWaiterStuck,
    NothingLost, OneWokenPerDeletion, RevocationHeeded, SequencerNamesAHolder, SessionEndNoticed,
    SharersMeet, TakesInOrder, TrySucceedsUncontended,
};
use zk_harness::words::{self, Word};
use zk_recipes::queue::Delivery;

const LOCK: &str = "/lock";
const ITEMS: &str = "/queue/items";
const BARRIER: &str = "/barrier";
/// An administrator's session.
const ADMIN: u16 = 99;

fn actor(process: u16) -> ActorId {
    ActorId { process, life: 0, thread: 0 }
}
fn session(process: u16) -> SessionId {
    SessionId::new(i64::from(process) + 1)
}
fn says(process: u16, what: Observation) -> Event {
    Event::Observed { actor: actor(process), what }
}
fn notes(process: u16, what: &str, about: &str, number: i64) -> Event {
    says(process, Observation::note(Word::own(what), about, number))
}
fn opened(process: u16) -> Event {
    Event::Is(GroundTruth::SessionOpened { session: session(process), actor: actor(process) })
}
fn closed(process: u16) -> Event {
    Event::Is(GroundTruth::SessionClosed { session: session(process), actor: actor(process), expired: true })
}
fn told(process: u16) -> Event {
    Event::Is(GroundTruth::LearnsExpiry { actor: actor(process) })
}
fn ends(process: u16, end: End) -> Event {
    Event::Is(GroundTruth::Finished { actor: actor(process), end })
}
fn attempts(process: u16) -> Event {
    says(process, Observation::Attempts { lock: LOCK.into() })
}
fn node(process: u16) -> String {
    format!("{LOCK}/lock-000000000{process}")
}
fn granted(process: u16) -> Event {
    says(process, Observation::Granted { lock: LOCK.into(), node: node(process).into(), token: None })
}
fn enters(process: u16) -> Event {
    says(process, Observation::Enters { lock: LOCK.into() })
}
fn leaves(process: u16) -> Event {
    says(process, Observation::Leaves { lock: LOCK.into() })
}
fn released(process: u16) -> Event {
    says(process, Observation::Released { lock: LOCK.into() })
}
fn wrote(process: u16) -> Event {
    let (resource, actor) = (Resource::Unfenced, actor(process));
    Event::Is(GroundTruth::Wrote { resource, actor, token: None, accepted: true })
}
fn created(path: &str, by: u16) -> Event {
    let (path, by) = (path.into(), session(by));
    Event::Is(GroundTruth::NodeCreated { path, by, owner: by, czxid: Zxid::new(1, 1) })
}
fn written(path: &str, by: u16, data: &str) -> Event {
    let (path, by, mzxid) = (path.into(), session(by), Zxid::new(1, 1));
    Event::Is(GroundTruth::NodeWritten { path, by, owner: SessionId::NONE, data: data.into(), mzxid })
}
fn deleted(path: &str, by: u16, owner: u16) -> Event {
    let (path, by, owner) = (path.into(), session(by), session(owner));
    Event::Is(GroundTruth::NodeDeleted { path, by, owner, zxid: None })
}
fn deleted_with_session(path: &str, owner: u16) -> Event {
    let (path, by, owner) = (path.into(), SessionId::NONE, session(owner));
    Event::Is(GroundTruth::NodeDeleted { path, by, owner, zxid: None })
}
fn fired(path: &str, kind: EventType, woken: &[u16]) -> Event {
    Event::Is(GroundTruth::Fired {
        path: path.into(),
        kind,
        woken: woken.iter().map(|p| actor(*p)).collect(),
    })
}

/// What is broken in a run that comes to this rest, and which assumption is violated.
fn broken_at(
    promise: impl AnyPromise + Clone,
    events: &[&[Event]],
    rest: &Rest,
) -> Vec<(String, Option<Assumption>)> {
    let (mut promise, mut found) = (promise, Vec::new());
    for event in events.concat() {
        promise.see(&event, &mut found);
    }
    promise.at_rest(rest, &mut found);
    let breaks = found.into_iter().filter_map(|finding| match finding {
        Finding::Broken(violation) => Some((violation.what, violation.violated_assumption)),
        Finding::Tested => None,
    });
    breaks.collect()
}

fn broken(promise: impl AnyPromise + Clone, events: &[&[Event]]) -> Vec<(String, Option<Assumption>)> {
    broken_at(promise, events, &Rest::default())
}

fn owed(what: &str) -> Vec<(String, Option<Assumption>)> {
    vec![(what.into(), None)]
}

fn waits(process: u16) -> Rest {
    let sessions = vec![(session(process), actor(process))];
    Rest { unfinished: vec![actor(process)], sessions, ..Rest::default() }
}

#[test]
fn p2_a_write_that_nobody_waits_for_is_late_after_the_release_too() {
    let late = "a write of p0 was accepted at the unfenced resource after a later holder's";
    let before = [opened(0), opened(1), attempts(0), granted(0), leaves(0), released(0)];
    let next = [attempts(1), granted(1), wrote(1)];
    let judge = || ExclusionAtResource::unfenced(LOCK);
    assert_eq!(broken(judge(), &[&before, &next, &[wrote(0)]]), owed(late));
    // The same after it has written once.
    assert_eq!(broken(judge(), &[&before, &[wrote(0)], &next, &[wrote(0)]]), owed(late));
    assert_eq!(broken(judge(), &[&before, &[wrote(0)], &next]), []);
}

#[test]
fn p3_a_waiter_whose_znode_was_deleted_had_no_claim_beside_a_holder() {
    let both = [opened(0), opened(1), attempts(0), granted(0), enters(0), attempts(1)];
    let loses = [created(&node(1), 1), deleted(&node(1), ADMIN, 1)];
    let judge = |events: &[&[Event]]| broken(ExclusionAmongLiveSessions::of(LOCK), events);
    let enters = [granted(1)];
    assert_eq!(judge(&[&both, &loses, &enters]), owed("p1 holds /lock while p0 still holds it"));
    // Who lost what it held is.
    let holder = [deleted(&node(0), ADMIN, 0)];
    let his = |found: Vec<(String, Option<Assumption>)>| found[0].1 == Some(Assumption::NoAdministrator);
    assert!(his(judge(&[&both, &holder, &enters])));
    assert!(his(judge(&[&both, &holder, &loses, &enters])));
    // And who may have been granted it already, and has not said so.
    let first = [opened(0), opened(1), attempts(0), attempts(1), deleted(&node(0), ADMIN, 0)];
    assert!(his(judge(&[&first, &[granted(1), granted(0)]])));
}

#[test]
fn p4_who_has_gone_before_the_others_came_is_not_with_them() {
    let comes = |process| {
        [
            opened(process),
            notes(process, "arrives at", BARRIER, 2),
            created(&format!("{BARRIER}/p{process}"), process),
        ]
    };
    let passes = [notes(1, "passes", BARRIER, 2)];
    let judge = |events: &[&[Event]]| broken(EntersTogether::of(BARRIER), events);
    let alone = owed("p1 passes /barrier with 1 of 2");
    assert_eq!(judge(&[&comes(0), &[closed(0)], &comes(1), &passes]), alone);
    // Nor with one that comes after it has gone, though a third one was there in between.
    assert_eq!(judge(&[&comes(0), &comes(1), &[closed(0)], &passes]), []);
}

#[test]
fn p5_the_end_of_a_session_is_noticed_by_who_holds_and_who_waits() {
    let holds = [opened(0), attempts(0), granted(0), enters(0), closed(0), told(0)];
    let judge = |events: &[&[Event]]| broken(SessionEndNoticed::default(), events);
    let noticed = [leaves(0), ends(0, End::SessionLost)];
    // A write that was on its way may arrive.
    assert_eq!(judge(&[&holds, &[wrote(0)], &noticed]), []);
    let writes = "p0 goes on writing though its session is over";
    assert_eq!(judge(&[&holds, &[wrote(0), wrote(0)], &noticed]), owed(writes));
    let again = "p0 goes on though its session is over";
    let next = [leaves(0), released(0), attempts(0), granted(0), enters(0), leaves(0)];
    assert_eq!(judge(&[&holds, &next, &next, &[ends(0, End::SessionLost)]]), owed(again));
    let renewed = [Event::Is(GroundTruth::SessionOpened { session: session(8), actor: actor(0) })];
    assert_eq!(judge(&[&holds, &renewed, &next, &next, &[wrote(0), wrote(0), ends(0, End::Done)]]), []);
}

#[test]
fn p6_who_waits_while_nobody_has_died_is_stuck() {
    let stuck = owed("p1 waits for ever");
    let all = NoWaiterStuck::while_all_live();
    assert_eq!(broken_at(all.clone(), &[&[opened(0), opened(1), ends(0, End::Done)]], &waits(1)), stuck);
    assert_eq!(broken_at(all.clone(), &[&[opened(0), opened(1), closed(0)]], &waits(1)), []);
    let crashed = [Event::Is(GroundTruth::Crashed { actor: actor(0) })];
    assert_eq!(broken_at(all.clone(), &[&crashed], &waits(1)), []);
    assert_eq!(broken_at(all, &[&[ends(0, End::SessionLost)]], &waits(1)), []);
}

#[test]
fn p6_barriers_and_queues_and_groups_promise_that_nobody_is_stuck() {
    for name in ["barrier", "double-barrier", "queue", "membership", "configuration"] {
        let all = zk_catalogue::trials();
        let trial = all.iter().find(|trial| trial.about.name == name).expect("it is there");
        let names: Vec<_> = trial.owed().iter().map(|promise| promise.name()).collect();
        assert!(names.contains(&"no-waiter-stuck"), "{name}: {names:?}");
    }
}

#[test]
fn p8_an_item_that_is_skipped_for_ever_is_not_taken_in_order() {
    let item = |nth: u16| format!("{ITEMS}/item-000000000{nth}");
    let takes = |nth: u16| {
        [
            notes(1, "asks", ITEMS, 0),
            deleted(&item(nth), 1, ADMIN),
            notes(1, "takes", &item(nth), 0),
            notes(1, "has worked off", &item(nth), 0),
        ]
    };
    let put = [opened(0), opened(1), written(&item(1), 0, "a"), written(&item(2), 0, "b")];
    let judge = |events: &[&[Event]]| broken(TakesInOrder::of(ITEMS), events);
    let skipped = format!("{} is there still, though one that it comes before was taken", item(1));
    assert_eq!(judge(&[&put, &takes(2)]), owed(&skipped));
    assert_eq!(judge(&[&put, &takes(1)]), []);
}

#[test]
fn p9_who_asks_gets_none_and_is_done_has_fallen_to_nothing() {
    let item = format!("{ITEMS}/item-0000000001");
    let put = [opened(0), opened(1), notes(0, "puts", "a", 0), written(&item, 0, "a")];
    let gone = [notes(1, "asks", ITEMS, 0), deleted(&item, 1, ADMIN)];
    let judge = |end| broken(NothingLost::of(ITEMS, Delivery::AtMostOnce), &[&put, &gone, &[end]]);
    assert_eq!(judge(ends(1, End::Done)), owed(&format!("{item} is lost")));
    assert_eq!(judge(ends(1, End::SessionLost)), []);
    assert_eq!(judge(closed(1)), []);
}

#[test]
fn p10_a_release_that_nobody_was_woken_for_is_no_answer_to_a_request() {
    let asked = [opened(0), opened(2), attempts(0), granted(0), written(&node(0), 2, "unlock")];
    let told = [fired(&node(0), EventType::NodeDataChanged, &[0])];
    let tested = |events: &[&[Event]]| {
        let (mut promise, mut found) = (RevocationHeeded::of(LOCK), Vec::new());
        events
            .concat()
            .iter()
            .for_each(|event| zk_harness::promise::Promise::see(&mut promise, event, &mut found));
        found.contains(&Finding::Tested)
    };
    let gives_back = [deleted(&node(0), 0, 0)];
    assert!(!tested(&[&asked, &gives_back]));
    assert!(tested(&[&asked, &told, &gives_back]));
}

#[test]
fn p12_a_reader_that_waits_for_readers_breaks_it_though_two_have_met() {
    let name = |process: u16, kind: &str| format!("{LOCK}/{process}-{kind}-0000000000");
    let shares = |process: u16| {
        let node = name(process, "read").into();
        [
            opened(process),
            attempts(process),
            created(&name(process, "read"), process),
            says(process, Observation::Shares { lock: LOCK.into(), node, token: None }),
        ]
    };
    let two = [shares(0), shares(1)].concat();
    let third = |kind| [opened(2), attempts(2), created(&name(2, kind), 2)];
    let gone = name(0, "read");
    let woken = [leaves(0), deleted(&gone, 0, 0), fired(&gone, EventType::NodeDeleted, &[2])];
    let judge = |events: &[&[Event]]| broken(SharersMeet::of(LOCK, "-write-"), events);
    let waits = format!("p2 waits for {}, which only shares the lock as well", name(0, "read"));
    assert_eq!(judge(&[&two, &third("read"), &woken]), owed(&waits));
    assert_eq!(judge(&[&two, &third("write"), &woken]), []);
}

#[test]
fn p13_who_only_tries_does_not_wait() {
    let judge = |events: &[&[Event]]| broken(TrySucceedsUncontended::of(LOCK), events);
    let both = [opened(0), opened(1), attempts(0), attempts(1), created(&node(0), 0), created(&node(1), 1)];
    let woken = [granted(0), leaves(0), fired(&node(0), EventType::NodeDeleted, &[1]), granted(1)];
    assert_eq!(judge(&[&both, &woken]), owed("p1 only tries to take /lock, and waits"));
    let gives_up = says(1, Observation::GivesUp { lock: LOCK.into(), why: "held".into() });
    assert_eq!(judge(&[&both, &[granted(0), gives_up, leaves(0), released(0)]]), []);
}

#[test]
fn p14_a_sequencer_whose_lock_is_held_is_not_refused() {
    let of = |what| notes(0, what, "/lock/a-write-0000000000", 1);
    let held = [opened(0), created("/lock/a-write-0000000000", 0), of("presents")];
    let judge = |events: &[&[Event]]| broken(SequencerNamesAHolder::of(LOCK, "-write-"), events);
    let what = "p0 was refused with /lock/a-write-0000000000, which held the lock so all the time";
    assert_eq!(judge(&[&held, &[of("is refused with")]]), owed(what));
    let gone = [deleted("/lock/a-write-0000000000", 0, 0), of("is refused with")];
    assert_eq!(judge(&[&held, &gone]), []);
}

#[test]
fn p11_a_herd_is_one_by_whatever_it_is_woken() {
    let events = [EventType::NodeCreated, EventType::NodeDataChanged, EventType::NodeDeleted];
    for kind in events {
        let herd = [fired(LOCK, kind, &[0, 1])];
        assert_eq!(broken(OneWokenPerDeletion::of(LOCK), &[&herd]).len(), 1, "{kind:?}");
    }
}

#[test]
fn p15_the_end_of_a_session_that_lives_is_not_believed() {
    let lives = [opened(0), attempts(0), ends(0, End::SessionLost)];
    let judge = |events: &[&[Event]]| broken(SessionEndNoticed::default(), events);
    assert_eq!(judge(&[&lives]), owed("p0 takes its session for over, which lives"));
    assert_eq!(judge(&[&lives[..2], &[closed(0)], &lives[2..]]), []);
    assert_eq!(judge(&[&lives[..2], &[told(0)], &lives[2..]]), []);
}

#[test]
fn p16_who_has_left_zookeeper_may_go_on_by_itself() {
    let done = [opened(0), attempts(0), granted(0), leaves(0), released(0)];
    let end = [closed(0), told(0), ends(0, End::Done)];
    assert_eq!(broken(SessionEndNoticed::default(), &[&done, &end]), []);
    // It works on what it has taken, and has nothing there any more.
    let takes = [opened(0), says(0, Observation::begins(words::TAKES, ITEMS, 0))];
    assert_eq!(broken(SessionEndNoticed::default(), &[&takes, &end]), []);
    let holds = "p0 takes itself for done though its session is over";
    assert_eq!(broken(SessionEndNoticed::default(), &[&done[..3], &end]), owed(holds));
    let gone = [deleted_with_session(&node(0), 0)];
    assert_eq!(broken(SessionEndNoticed::default(), &[&takes, &gone, &end]), owed(holds));
}

#[test]
fn p16_who_deletes_what_an_administrator_has_deleted_before_takes_it_for_its_own() {
    let own = |process| created(LOCK, process);
    let loses = [opened(0), opened(1), attempts(0), own(0), granted(0), deleted(LOCK, ADMIN, 0)];
    let deletes = [attempts(1), own(1), granted(1), deleted(LOCK, 0, 1)];
    let found = broken(NoForeignDelete::of(LOCK), &[&loses, &deletes]);
    assert!(
        found.iter().all(|(_, assumption)| *assumption == Some(Assumption::NoAdministrator)),
        "{found:?}"
    );
}

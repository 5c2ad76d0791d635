//! What a break comes to, by who is known to have lived.

use super::*;
use zk_harness::event::End;
use zk_harness::promises;
use zk_reports::Answer;
use zk_reports::LiveReport;

const LOCK: &str = "/lock";

fn actor(process: u16) -> ActorId {
    ActorId { process, life: 0, thread: 0 }
}

fn says(process: u16, what: Observation) -> Event {
    Event::Observed { actor: actor(process), what }
}

fn asks(process: u16) -> Event {
    says(process, Observation::Attempts { lock: LOCK.into() })
}

fn granted(process: u16, token: u32) -> Event {
    let (lock, node) = (LOCK.into(), format!("/lock/lock-{token:010}").into());
    says(process, Observation::Granted { lock, node, token: Some(Zxid::new(1, token)) })
}

fn leaves(process: u16) -> Event {
    says(process, Observation::Leaves { lock: LOCK.into() })
}

fn finished(process: u16) -> Event {
    Event::Is(GroundTruth::Finished { actor: actor(process), end: End::Done })
}

/// Three clients with a session each.
fn monitor() -> Monitor {
    let monitor = Monitor::new(promises::of_fenced_lock(LOCK), false);
    for process in 0..3 {
        monitor.begins(actor(process), SessionId::new(i64::from(process) + 1));
    }
    monitor
}

fn see(monitor: &Monitor, events: impl IntoIterator<Item = Event>) {
    for event in events {
        monitor.see(&event);
    }
}

fn write(monitor: &Monitor, process: u16) -> Vec<ActorId> {
    monitor.wrote(actor(process), Resource::Unfenced, None).1
}

fn result<'a>(outcome: &'a Outcome, name: &str) -> &'a LivePromise {
    outcome.promises.iter().find(|result| result.name == name).expect("a promise of that name")
}

/// p0 holds and writes; p1 is granted the lock and writes; p0 writes again.
fn by_turns(monitor: &Monitor) -> Vec<ActorId> {
    see(monitor, [asks(0), asks(1), granted(0, 5)]);
    write(monitor, 0);
    see(monitor, [granted(1, 6)]);
    write(monitor, 1);
    write(monitor, 0)
}

const UNFENCED: &str = "exclusion-at-unfenced-resource";
const AMONG_LIVE: &str = "exclusion-among-live-sessions";

#[test]
fn a_break_is_a_defect_if_everybody_concerned_lived_on() {
    let monitor = monitor();
    assert_eq!(by_turns(&monitor), [actor(0), actor(1), actor(2)], "their proofs of life are wanted");
    for process in 0..3 {
        monitor.lived(actor(process), monitor.seen());
    }
    let outcome = monitor.finish();
    let unfenced = result(&outcome, UNFENCED);
    assert_eq!((unfenced.verdict, unfenced.broken, unfenced.expected), (Some(Verdict::Broken), 1, 0));
    let first = unfenced.first.as_ref().expect("it was seen");
    assert_eq!(first.what, "a write of p0 was accepted at the unfenced resource after a later holder's");
    let last = first.timeline.last().expect("lines");
    assert!(last.contains("a write of p0 reaches the unfenced resource"), "{last}");
    assert_eq!(result(&outcome, AMONG_LIVE).broken, 1);
    let answer = LiveReport::answer_of(&outcome.promises, &outcome.invariants, false);
    assert_eq!(answer, Answer::Broken);
}

#[test]
fn a_break_is_expected_if_somebody_concerned_is_not_known_to_have_lived_on() {
    for (dead, lived) in [(0, [1, 2]), (1, [0, 2])] {
        let monitor = monitor();
        by_turns(&monitor);
        for process in lived {
            monitor.lived(actor(process), monitor.seen());
        }
        // Its last proof of life is too old.
        monitor.lived(actor(dead), monitor.seen() - 1);
        let outcome = monitor.finish();
        let unfenced = result(&outcome, UNFENCED);
        assert_eq!((unfenced.verdict, unfenced.expected), (Some(Verdict::BrokenAsExpected), 1));
        assert_eq!(unfenced.assumptions, ["everybody concerned is known to have had a live session"]);
        let what = &unfenced.first_expected.as_ref().expect("it was seen").what;
        assert!(what.ends_with(&format!("whether the session of p{dead} lived then")), "{what}");
        assert_eq!(result(&outcome, AMONG_LIVE).broken, 1, "all are known to have lived when both held it");
    }
}

#[test]
fn who_had_ended_before_the_grant_has_no_part_in_it_and_who_ended_after_it_has() {
    let monitor = monitor();
    see(&monitor, [finished(2)]);
    assert_eq!(by_turns(&monitor), [actor(0), actor(1)]);
    see(&monitor, [leaves(1), finished(1)]);
    assert_eq!(write(&monitor, 0), [actor(0), actor(1)], "it has ended since p0 was granted the lock");
}

#[test]
fn proofs_are_asked_for_only_where_something_broke() {
    let monitor = monitor();
    see(&monitor, [asks(0), granted(0, 5)]);
    assert_eq!(write(&monitor, 0), []);
    assert_eq!(monitor.see(&leaves(0)), []);
    assert_eq!(monitor.rounds_done(0), 1);
}

#[test]
fn what_is_not_judged_is_neither_held_nor_broken() {
    let monitor = monitor();
    see(&monitor, [asks(0), asks(1), granted(0, 5), leaves(0), granted(1, 6), leaves(1)]);
    let outcome = monitor.finish();
    for name in ["fifo", "one-woken-per-deletion", "no-foreign-delete"] {
        let result = result(&outcome, name);
        assert_eq!((result.verdict, result.tested), (None, 0), "{name}");
    }
    // Nothing was written, and nothing was looked at.
    assert_eq!(result(&outcome, UNFENCED).verdict, Some(Verdict::NeverTested));
    let answer = LiveReport::answer_of(&outcome.promises, &outcome.invariants, false);
    assert_eq!(answer, Answer::Undecided);
}

#[test]
fn what_is_left_at_rest_is_judged_as_it_is() {
    let monitor = monitor();
    see(&monitor, [asks(0), finished(1), finished(2)]);
    let nodes = vec![("/lock/a-lock-0000000001".into(), SessionId::new(2))];
    let sessions = vec![(SessionId::new(1), actor(0)), (SessionId::new(2), actor(1))];
    monitor.at_rest(&Rest { unfinished: monitor.unfinished(), nodes, sessions, ..Rest::default() });
    let outcome = monitor.finish();
    let first = |name| result(&outcome, name).first.as_ref().expect("it is broken").what.clone();
    assert_eq!(first("no-waiter-stuck"), "p0 waits for ever");
    let orphan = "/lock/a-lock-0000000001 is left of p1, which does not try any more";
    assert_eq!(first("no-orphan-znode"), orphan);
}

#[test]
fn nothing_counts_after_the_end_and_a_panic_is_a_break() {
    let monitor = monitor();
    monitor.panicked(actor(1), "boom");
    monitor.end();
    by_turns(&monitor);
    let outcome = monitor.finish();
    assert_eq!(outcome.happened.writes, 0);
    let no_panic = &outcome.invariants[0];
    assert_eq!((no_panic.verdict, no_panic.tested), (Some(Verdict::Broken), 3));
    assert_eq!(no_panic.first.as_ref().expect("it was seen").what, "p1 panicked: boom");
}

#[cfg(feature = "serve")]
#[test]
fn where_ends_are_told_a_break_is_a_defect_unless_one_was_told_before_it() {
    for (dead, broken) in [(None, 1), (Some(0), 0)] {
        let monitor = Monitor::new(promises::of_fenced_lock(LOCK), true);
        for process in 0..3 {
            monitor.begins(actor(process), SessionId::new(i64::from(process) + 1));
        }
        see(&monitor, [asks(0), asks(1), granted(0, 5)]);
        if let Some(process) = dead {
            let session = SessionId::new(i64::from(process) + 1);
            let closed = GroundTruth::SessionClosed { session, actor: actor(process), expired: true };
            see(&monitor, [Event::Is(closed)]);
        }
        write(&monitor, 0);
        see(&monitor, [granted(1, 6)]);
        write(&monitor, 1);
        assert_eq!(write(&monitor, 0), [], "nobody is asked for a proof");
        // What is looked at meanwhile changes nothing.
        monitor.copy().at_rest(&Rest { unfinished: vec![actor(1)], ..Rest::default() });
        let outcome = monitor.finish();
        assert_eq!(result(&outcome, AMONG_LIVE).broken, broken);
        let unfenced = result(&outcome, UNFENCED);
        assert_eq!((unfenced.broken, unfenced.expected), (broken, 1 - broken));
        assert_eq!(result(&outcome, "no-waiter-stuck").broken, 0);
        assert_eq!(outcome.happened.sessions_lost, 1 - broken);
    }
}

//! `session-end-noticed`.

use super::findings::broken;
use super::no_failure::{OPEN, OVER};
use crate::context::{RunningThreads, within};
use crate::event::{ActorId, End, Event, GroundTruth, Observation};
use crate::promise::{Finding, Promise, Rest, Terms};
use crate::words;
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{SessionId, Text};

/// An actor that is told that its session is over ends: it neither goes on waiting, nor goes on working, nor ends as if
/// all were done. And an actor that ends for this reason was told so.
///
/// Only a process that ends in this way can begin anew with another session; one that goes on waiting waits for
/// something that no server will ever tell it. An actor that is told while it ends anyhow is not judged, nor is one
/// that ends after it was through with what it did, or works on by itself at something that takes no znode of its own.
/// What was under way when the actor was told may still be done: a write, and what an earlier answer has begun. Whoever
/// is inside by what it has lost is to leave, though its client has another session: there it begins and writes no more
/// than that either.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SessionEndNoticed {
    /// Whose the sessions are of those who have not ended, and whether they live.
    sessions: BTreeMap<SessionId, (ActorId, bool)>,
    /// Who was told and has not ended yet; and whether it may end as if all were done: it was through with all it did
    /// by then, or did something of its own.
    told: BTreeMap<ActorId, bool>,
    /// Which of their threads have begun something since.
    began: BTreeSet<ActorId>,
    /// And which have written.
    wrote: BTreeSet<ActorId>,
    /// Whose last word was that it asks for something or has it, or that it is through with something.
    said: BTreeMap<ActorId, Said>,
    /// What processes have or have begun, and are not through with.
    open: BTreeMap<(ActorId, Text), Open>,
    /// Who was told, has another session, and is inside by what it had lost; and what that was.
    is_stale: BTreeSet<(ActorId, Text)>,
    /// Who has lost an ephemeral znode with its session.
    lost: BTreeSet<ActorId>,
    /// Whose code has ended: nobody is left to notice what becomes of its session, or of one that it is given later;
    /// but for its other threads, which may go on.
    ended: BTreeMap<ActorId, bool>,
    running: RunningThreads,
    /// Who is in the midst of nothing may end as if all were done.
    of_midst: bool,
}

/// What somebody has said last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Said {
    Asks,
    IsThrough,
}

/// How somebody is in the midst of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Open {
    Has,
    /// So many times, one within another.
    IsIn(u8),
    HasBegun,
    /// What it is to tell the end of, and which takes no znode of its own.
    Tries,
    /// By watches, which end with its session, and so does all that they would have told.
    Follows,
}

impl SessionEndNoticed {
    /// For trials in which a silent actor need not be in the midst of anything: it may be through.
    pub fn of_midst() -> Self {
        SessionEndNoticed { of_midst: true, ..SessionEndNoticed::default() }
    }

    fn hear(&mut self, actor: ActorId, what: &Observation, found: &mut Vec<Finding>) {
        let process = actor.main();
        let about = (process, what.subject().clone());
        self.leaves_stale(&about, what);
        let (begins, said) = match what {
            Observation::Enters { .. } => {
                let times = match self.open.get(&about) {
                    Some(Open::IsIn(times)) => times.saturating_add(1),
                    _ => 1,
                };
                self.open.insert(about, Open::IsIn(times));
                (true, None)
            }
            Observation::Begins { .. } => {
                self.open.entry(about).or_insert(Open::HasBegun);
                (true, None)
            }
            Observation::Granted { .. } | Observation::Shares { .. } => {
                self.open.entry(about).or_insert(Open::Has);
                (false, Some(Said::Asks))
            }
            Observation::Attempts { .. } => (false, Some(Said::Asks)),
            // From the section within another, or from that, or it was never told that it entered.
            Observation::Leaves { .. } => {
                match self.open.get_mut(&about) {
                    Some(Open::IsIn(times)) if *times > 1 => *times -= 1,
                    _ => drop(self.open.remove(&about)),
                }
                (false, self.said.get(&process).copied().filter(|said| *said == Said::Asks))
            }
            Observation::Released { .. } | Observation::GivesUp { .. } | Observation::Ends { .. } => {
                self.open.remove(&about);
                (false, Some(Said::IsThrough))
            }
            // It does something else since, or is through with what it has begun by a word that begins nothing else.
            Observation::Notes { .. } => {
                match what.word() {
                    word if OPEN.contains(&word) => {
                        // Who tries something else has left the former as it is.
                        self.open.retain(|(other, _), open| *other != process || *open != Open::Tries);
                        self.open.entry(about).or_insert(Open::Tries);
                    }
                    words::FOLLOWS => drop(self.open.entry(about).or_insert(Open::Follows)),
                    words::IS_THROUGH_WITH => self.open.retain(|(other, path), open| {
                        *other != process || *open != Open::Follows || !within(&about.1, path)
                    }),
                    word if OVER.contains(&word) => drop(self.open.remove(&about)),
                    _ => {}
                }
                (false, self.said.get(&process).copied().filter(|said| *said != Said::IsThrough))
            }
        };
        match said {
            Some(said) => drop(self.said.insert(process, said)),
            None => drop(self.said.remove(&process)),
        }
        // Who says so after it was told is none that passes for done.
        let is_inside = self.is_inside(process);
        if let (Observation::GivesUp { .. }, false, Some(may_end)) =
            (what, is_inside, self.told.get_mut(&process))
        {
            *may_end = true;
        }
        if begins && self.told.contains_key(&process) && !self.began.insert(actor) {
            found.push(broken(format!("{actor} goes on though its session is over"), None));
        }
    }

    /// Who leaves, stops, or begins anew what it was inside by goes on without it.
    fn leaves_stale(&mut self, about: &(ActorId, Text), what: &Observation) {
        let is_over = match what {
            Observation::Enters { .. } | Observation::Begins { .. } => false,
            Observation::Notes { .. } => what.word() == words::STOPS,
            _ => true,
        };
        if is_over && self.is_stale.remove(about) && self.is_stale.iter().all(|(other, _)| *other != about.0)
        {
            self.is_told_no_more(about.0);
        }
    }

    fn is_told_no_more(&mut self, process: ActorId) -> Option<bool> {
        self.began.retain(|thread| thread.main() != process);
        self.wrote.retain(|thread| thread.main() != process);
        self.lost.remove(&process);
        self.told.remove(&process)
    }

    /// What it was told and did does not matter any more.
    fn forgets(&mut self, actor: ActorId) -> Option<bool> {
        self.sessions.retain(|_, (other, _)| *other != actor);
        self.said.remove(&actor);
        self.open.retain(|(process, _), _| *process != actor);
        self.is_stale.retain(|(process, _)| *process != actor);
        self.is_told_no_more(actor)
    }

    /// It goes on in another session, and is inside by nothing if it was told that the one was over and has lost what
    /// it had.
    fn renews(&mut self, actor: ActorId) {
        if self.told.contains_key(&actor) && self.lost.contains(&actor) {
            let is_in = |open: &Open| matches!(open, Open::IsIn(_));
            let inside = self.open.iter().filter(|((process, _), open)| *process == actor && is_in(open));
            self.is_stale.extend(inside.map(|(about, _)| about.clone()));
        }
        if self.is_stale.iter().any(|(process, _)| *process == actor) {
            // Nor has it lost anything by the new session; and to end is not to go on.
            self.lost.remove(&actor);
            self.told.insert(actor, true);
            return self.sessions.retain(|_, (other, _)| *other != actor);
        }
        let (said, open) = (self.said.get(&actor).copied(), self.open.clone());
        self.forgets(actor);
        self.said.extend(said.map(|said| (actor, said)));
        self.open = open;
    }

    fn is(&self, process: ActorId, how: Open) -> bool {
        self.open.iter().any(|((other, _), open)| *other == process && *open == how)
    }

    fn is_inside(&self, process: ActorId) -> bool {
        self.open.iter().any(|((other, _), open)| *other == process && *open != Open::Tries)
    }

    fn finishes(&mut self, actor: ActorId, end: End, found: &mut Vec<Finding>) {
        let lives = self.sessions.values().any(|other| *other == (actor, true));
        let threads_go_on = !end.leaves_nothing_running() && self.running.any_of(actor);
        self.ended.insert(actor, threads_go_on);
        let may_notice = threads_go_on && self.is(actor, Open::Follows);
        let in_midst = !threads_go_on && self.is(actor, Open::Tries);
        let told = if threads_go_on { self.told.get(&actor).copied() } else { self.forgets(actor) };
        let finding = match (told, end) {
            (Some(_), End::SessionLost | End::Failed) => Finding::Tested,
            (Some(may_end), End::Done) if in_midst || !may_end && !may_notice => {
                broken(format!("{actor} takes itself for done though its session is over"), None)
            }
            (None, End::SessionLost) if lives => {
                broken(format!("{actor} takes its session for over, which lives"), None)
            }
            (Some(_), End::Done) | (Some(_), End::Exited) | (None, _) => return,
        };
        found.push(finding);
    }
}

impl Promise for SessionEndNoticed {
    fn terms(&self) -> Terms {
        Terms::of("session-end-noticed")
            .about("Whoever is told that its session is over ends, and neither goes on nor passes for done.")
            .tested_when("Somebody that was told of the end of its session comes to its end.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        self.running.see(event);
        match event {
            Event::Observed { actor, what } => self.hear(*actor, what, found),
            Event::Is(GroundTruth::LearnsExpiry { actor }) => {
                let known = self.sessions.len();
                self.sessions.retain(|_, (other, _)| other != actor);
                if self.sessions.len() == known {
                    return;
                }
                let is_inside = self.is_inside(*actor);
                let may_end = match self.said.get(actor) {
                    _ if self.is(*actor, Open::Follows) => false,
                    Some(Said::Asks) => self.of_midst && !self.lost.contains(actor),
                    _ if is_inside => !self.lost.contains(actor),
                    Some(Said::IsThrough) => true,
                    None => self.of_midst,
                };
                self.told.insert(*actor, may_end);
            }
            Event::Is(GroundTruth::Wrote { actor, .. }) => {
                if self.told.contains_key(&actor.main()) && !self.wrote.insert(*actor) {
                    found.push(broken(format!("{actor} goes on writing though its session is over"), None));
                }
            }
            Event::Is(GroundTruth::SessionOpened { session, actor })
                if self.ended.get(actor).is_none_or(|threads_go_on| *threads_go_on) =>
            {
                // Its client may have renewed it.
                self.renews(*actor);
                self.sessions.insert(*session, (*actor, true));
            }
            Event::Is(GroundTruth::SessionClosed { session, .. }) => {
                self.sessions.entry(*session).and_modify(|(_, lives)| *lives = false);
            }
            Event::Is(GroundTruth::NodeDeleted { by: SessionId::NONE, owner, .. }) => {
                self.lost.extend(self.sessions.get(owner).map(|(actor, _)| *actor));
            }
            Event::Is(GroundTruth::Finished { actor, end }) => self.finishes(*actor, *end, found),
            Event::Is(GroundTruth::Crashed { actor }) => drop(self.forgets(*actor)),
            Event::Is(_) => {}
        }
    }

    fn at_rest(&self, _rest: &Rest, found: &mut Vec<Finding>) {
        let waits = |actor| broken(format!("{actor} waits on though its session is over"), None);
        // What the threads wait for that go on, only they can tell.
        found.extend(self.told.keys().filter(|actor| !self.ended.contains_key(actor)).map(waits));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::event::Resource;
    use crate::words::Word;

    fn learns(p: u16) -> Event {
        Event::Is(GroundTruth::LearnsExpiry { actor: actor(p) })
    }

    fn ends(p: u16, end: End) -> Event {
        Event::Is(GroundTruth::Finished { actor: actor(p), end })
    }

    #[test]
    fn waiting_on_breaks_it() {
        let mut promise = SessionEndNoticed::default();
        let mut found = Vec::new();
        [opened(0), learns(0)].iter().for_each(|event| promise.see(event, &mut found));
        promise.at_rest(&Rest::default(), &mut found);
        assert_eq!(broken_by(&found), [("p0 waits on though its session is over", None)]);
    }

    #[test]
    fn passing_for_done_breaks_it() {
        let found = findings(SessionEndNoticed::default(), vec![opened(0), learns(0), ends(0, End::Done)]);
        assert_eq!(broken_by(&found), [("p0 takes itself for done though its session is over", None)]);
    }

    #[test]
    fn who_says_nothing_of_it_may_be_through_where_that_is_not_known() {
        let told = |before: Vec<Event>| {
            let events = [vec![opened(0)], before, vec![learns(0), ends(0, End::Done)]].concat();
            broken_by(&findings(SessionEndNoticed::of_midst(), events)).len()
        };
        assert_eq!((told(vec![]), told(vec![attempts(0)])), (0, 0));
        assert_eq!(told(vec![enters(0), vanished("/lock/p0", 0)]), 1, "it is inside, and has lost its znode");
    }

    /// A note of its own excused it, and so did one of another thread.
    #[test]
    fn to_note_something_in_the_midst_is_not_to_be_through() {
        let broken = |note: Event| {
            let before = vec![opened(0), enters(0), note, vanished("/lock/p0", 0), learns(0)];
            let events = [before, vec![ends(0, End::Done)]].concat();
            broken_by(&findings(SessionEndNoticed::of_midst(), events)).len()
        };
        assert_eq!(broken(notes(0, "progress", "/x")), 1);
        assert_eq!(broken(by_thread(1, notes(0, "progress", "/x"))), 1);
        assert_eq!(broken(leaves(0)), 0);
    }

    /// To be through with anything excused it: with a task, another lock, or the section within this one.
    #[test]
    fn to_be_through_with_something_within_is_not_to_be_through() {
        let broken = |before: &[Event]| {
            let end = [vanished("/lock/p0", 0), learns(0), ends(0, End::Done)];
            said_in(SessionEndNoticed::of_midst(), &[before, &end]).len()
        };
        let (task, other) = ("/task/1", Text::from("/other"));
        let begins = |actor| Event::Observed { actor, what: Observation::begins(words::TAKES, task, 0) };
        let is_done =
            |actor| Event::Observed { actor, what: Observation::ends(words::IS_DONE_WITH, task, 0) };
        let (main, thread) = (actor(0), actor(0).of_thread(1));
        let tries = |what| Event::Observed { actor: main, what };
        let gives_up_other = [
            tries(Observation::Attempts { lock: other.clone() }),
            tries(Observation::GivesUp { lock: other.clone(), why: "".into() }),
        ];
        let has_other = [
            tries(Observation::Enters { lock: other.clone() }),
            tries(Observation::Released { lock: other }),
        ];
        let inner: [&[Event]; 5] = [
            &[begins(main), is_done(main)],
            &[begins(thread), is_done(thread)],
            &[enters(0), leaves(0)],
            &gives_up_other,
            &has_other,
        ];
        for inner in inner {
            for has in [granted(0), enters(0)] {
                let within = [&[has], inner].concat();
                let is_inside = inner.len() == 2 && inner[0] == enters(0) && within[0] == granted(0);
                assert_eq!(broken(&within), usize::from(!is_inside), "{within:?}");
                assert_eq!(broken(&[&within[..], &[released(0)]].concat()), 0);
            }
            assert_eq!(broken(inner), 0);
        }
        let puts = Event::Observed { actor: main, what: Observation::begins(words::PUTS, "pay", 0) };
        let has_put = [puts, notes(0, "has put", "pay")];
        assert_eq!([broken(&has_put[..1]), broken(&has_put)], [1, 0]);
    }

    /// It ended as done, and nobody looked at what it followed any more.
    #[test]
    fn who_follows_something_loses_it_with_its_session() {
        for promise in [SessionEndNoticed::default, SessionEndNoticed::of_midst] {
            let told = |before: &[Event]| {
                let end = [learns(0), ends(0, End::Done)];
                said_in(promise(), &[&[notes(0, "follows", "/c/a"), released(0)], before, &end]).len()
            };
            let through = |path: &'static str| notes(0, "is through with", path);
            assert_eq!(told(&[]), 1);
            assert_eq!(told(&[notes(0, "sees", "/c{a=1}"), released(0)]), 1);
            assert_eq!(told(&[through("/c/b"), through("/d"), released(0)]), 1);
            assert_eq!([told(&[through("/c/a"), released(0)]), told(&[through("/c"), released(0)])], [0, 0]);
            let tries = |words: &[&str]| words.iter().map(|word| notes(0, word, "/b")).collect::<Vec<_>>();
            let waits = |then: &[&str]| told(&[vec![through("/c")], tries(then), vec![released(0)]].concat());
            assert_eq!([waits(&["comes to"]), waits(&["comes to", "passes"])], [1, 0]);
            let mut may_notice = promise();
            let events =
                [opened(0), by_thread(1, notes(0, "follows", "/c/a")), learns(0), ends(0, End::Done)];
            let mut found = Vec::new();
            events.iter().for_each(|event| may_notice.see(event, &mut found));
            assert_eq!(found, [], "a thread that goes on may notice");
        }
    }

    /// With another session of its client, who was inside by what it had lost could work on there.
    #[test]
    fn who_is_inside_by_what_it_has_lost_is_to_leave_though_its_client_has_another_session() {
        let told = |then: &[Event]| {
            let before = [granted(0), enters(0), vanished("/lock/p0", 0), learns(0), opened_anew(0)];
            said_in(SessionEndNoticed::of_midst(), &[&before, then])
        };
        let task = |what: Word<'static>| Observation::begins(what, "/task/1", 0);
        let works = || {
            let [takes, is_done] = [task(words::TAKES), Observation::ends(words::IS_DONE_WITH, "/task/1", 0)]
                .map(|what| Event::Observed { actor: actor(0), what });
            [takes, is_done]
        };
        let wrong = ["p0 goes on though its session is over"];
        assert_eq!(told(&works()), [""; 0], "it was under way");
        assert_eq!(told(&[works(), works()].concat()), wrong);
        let writes = || wrote(Resource::Unfenced, 0, true);
        assert_eq!(told(&[writes(), writes()]), ["p0 goes on writing though its session is over"]);
        let stops = Event::Observed { actor: actor(0), what: Observation::note(words::STOPS, LOCK, 0) };
        for leaves in [leaves(0), released(0), gives_up(0), attempts(0), stops] {
            let then = [vec![leaves], works().to_vec(), works().to_vec(), vec![writes(), writes()]].concat();
            assert_eq!(told(&[&works()[..], &then].concat()), [""; 0]);
        }
        assert_eq!(told(&[ends(0, End::Done)]), [""; 0], "it does not go on");
        // A member joins again, and who has lost nothing is inside by what it has.
        let is_in = |what: Event| {
            let before = [what, vanished("/lock/p0", 0), learns(0), opened_anew(0)];
            said_in(SessionEndNoticed::of_midst(), &[&before, &[works(), works()].concat()])
        };
        let member = Observation::begins(words::IS_A_MEMBER_BY, "/group/p0", 0);
        assert_eq!(is_in(Event::Observed { actor: actor(0), what: member }), [""; 0]);
        let kept = [enters(0), learns(0), opened_anew(0)];
        let kept = said_in(SessionEndNoticed::of_midst(), &[&kept, &[works(), works()].concat()]);
        assert_eq!(kept, [""; 0]);
    }

    /// What outlived the main thread could work on without a session.
    #[test]
    fn a_thread_that_outlives_the_main_one_is_to_notice_as_well() {
        let told = |then: &[Event]| {
            let before = [by_thread(1, attempts(0)), ends(0, End::Done)];
            said_in(SessionEndNoticed::of_midst(), &[&before, then])
        };
        let (enters, leaves) = (|| by_thread(1, enters(0)), || by_thread(1, leaves(0)));
        let wrong = ["p0/1 goes on though its session is over"];
        assert_eq!(told(&[learns(0), enters(), leaves(), enters()]), wrong);
        assert_eq!(told(&[learns(0), enters(), leaves()]), [""; 0], "it was under way");
        assert_eq!(told(&[learns(0), opened_anew(0), enters(), leaves(), enters()]), [""; 0]);
        let alone = [ends(0, End::Done), learns(0), enters(), leaves(), enters()];
        assert_eq!(said_in(SessionEndNoticed::of_midst(), &[&alone]), [""; 0], "it was not known before");
        let mut promise = SessionEndNoticed::of_midst();
        let mut found = Vec::new();
        let waits = [opened(0), by_thread(1, attempts(0)), ends(0, End::Done), learns(0)];
        waits.iter().for_each(|event| promise.see(event, &mut found));
        promise.at_rest(&Rest::default(), &mut found);
        assert_eq!(found, []);
    }

    #[test]
    fn to_give_up_once_it_was_told_is_not_to_pass_for_done() {
        let broken = |before: &[Event], then: &[Event]| {
            let loses = [vanished("/lock/p0", 0), learns(0)];
            let events = [before, &loses, then, &[ends(0, End::Done)]];
            said_in(SessionEndNoticed::of_midst(), &events).len()
        };
        assert_eq!(broken(&[attempts(0)], &[]), 1);
        assert_eq!(broken(&[attempts(0)], &[gives_up(0)]), 0);
        assert_eq!(broken(&[enters(0)], &[leaves(0), released(0)]), 1, "as if nothing had happened");
        let task = Observation::begins(words::TAKES, "/task/1", 0);
        let begins = Event::Observed { actor: actor(0), what: task };
        assert_eq!(broken(&[begins, attempts(0)], &[gives_up(0)]), 1, "it is in the midst of another thing");
    }

    #[test]
    fn a_session_that_is_opened_after_the_end_is_nobodys_to_notice() {
        let mut promise = SessionEndNoticed::default();
        let mut found = Vec::new();
        [ends(0, End::Done), opened(0), learns(0)].iter().for_each(|event| promise.see(event, &mut found));
        promise.at_rest(&Rest::default(), &mut found);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn an_end_is_a_test_it_passes_and_who_is_done_before_is_not_judged() {
        let lost = [opened(0), learns(0), ends(0, End::SessionLost)];
        let events = [lost.to_vec(), vec![opened(1), ends(1, End::Done), learns(1), crashed(2)]].concat();
        let mut promise = SessionEndNoticed::default();
        let mut found = Vec::new();
        events.iter().for_each(|event| promise.see(event, &mut found));
        promise.at_rest(&Rest::default(), &mut found);
        assert_eq!(found, [Finding::Tested]);
    }

    fn said_in(promise: SessionEndNoticed, events: &[&[Event]]) -> Vec<String> {
        let before = [opened(0), opened(1)];
        let found = findings(promise, [&[&before[..]], events].concat().concat());
        broken_by(&found).into_iter().map(|(what, _)| what.to_owned()).collect()
    }

    /// Two threads that had begun one thing each by then broke it.
    #[test]
    fn one_thing_that_a_thread_begins_and_writes_was_under_way_and_a_second_one_was_not() {
        let told = |then: &[Event]| said_in(SessionEndNoticed::default(), &[&[learns(0)], then]);
        let writes = |p| wrote(Resource::Unfenced, p, true);
        let lives = [enters(1), enters(1), writes(1), writes(1)];
        assert_eq!(told(&[&[attempts(0), enters(0), attempts(0), writes(0)], &lives[..]].concat()), [""; 0]);
        assert_eq!(told(&[1, 2].map(|thread| by_thread(thread, enters(0)))), [""; 0]);
        assert_eq!(told(&[enters(0), leaves(0), enters(0)]), ["p0 goes on though its session is over"]);
        assert_eq!(told(&[writes(0), writes(0)]), ["p0 goes on writing though its session is over"]);
    }

    #[test]
    fn who_was_through_or_works_on_by_itself_may_end_as_if_all_were_done() {
        let told = |before: &[Event]| {
            let end = [learns(0), ends(0, End::Done)];
            [SessionEndNoticed::default(), SessionEndNoticed::of_midst()]
                .map(|promise| said_in(promise, &[before, &end]).len())
        };
        let (hums, loses) = (|p| notes(p, "hums", "/tune"), |p| vanished("/lock/it", p));
        for asks in [attempts(0), granted(0), shares(0)] {
            assert_eq!(told(std::slice::from_ref(&asks)), [1, 0]);
            assert_eq!(told(&[asks.clone(), hums(0), loses(0)]), [1, 1], "it goes on asking");
            for through in [released(0), gives_up(0)] {
                assert_eq!(told(&[asks.clone(), loses(0), through.clone()]), [0, 0]);
                assert_eq!(told(&[through.clone(), hums(1)]), [0, 0], "it is another that says more");
                assert_eq!(told(&[through, hums(0)]), [1, 0], "it does something else since");
            }
        }
        assert_eq!(told(&[enters(0), loses(1), deleted("/lock/it", 0, 0)]), [0, 0]);
        assert_eq!(told(&[enters(0), loses(0)]), [1, 1]);
    }

    #[test]
    fn to_end_for_the_end_of_a_session_that_lives_breaks_it() {
        let ended = |before: Event, end| said_in(SessionEndNoticed::default(), &[&[before, ends(0, end)]]);
        let what = "p0 takes its session for over, which lives";
        assert_eq!(ended(closed(1), End::SessionLost), [what]);
        assert_eq!(ended(closed(0), End::SessionLost), [""; 0], "nobody need have told it");
        assert_eq!([End::Done, End::Failed].map(|end| ended(closed(1), end).len()), [0; 2]);
    }

    #[test]
    fn with_another_session_nothing_is_left_of_the_former_one_but_what_it_is_in_the_midst_of() {
        let renewed = |before: &[Event], then: &[Event]| {
            said_in(SessionEndNoticed::default(), &[before, &[learns(0), opened(0)], then])
        };
        let (writes, done) = (wrote(Resource::Unfenced, 0, true), ends(0, End::Done));
        assert_eq!(renewed(&[], std::slice::from_ref(&done)), [""; 0]);
        assert_eq!(renewed(&[], &[learns(0), done.clone()]).len(), 1, "it is told of the other one's end");
        assert_eq!(renewed(&[released(0)], &[learns(0), done.clone()]), [""; 0]);
        assert_eq!(renewed(&[enters(0), vanished("/lock/it", 0)], &[learns(0), done]), [""; 0]);
        let goes_on = [enters(0), writes];
        let once_each = [&[learns(0)], &goes_on[..], &[opened(0), learns(0)], &goes_on];
        assert_eq!(said_in(SessionEndNoticed::default(), &once_each), [""; 0]);
        let rested =
            resting(SessionEndNoticed::default(), vec![opened(0), learns(0), opened(0)], &Rest::default());
        assert_eq!(rested, []);
    }

    #[test]
    fn what_somebody_has_said_and_done_is_forgotten_with_its_end() {
        for end in [ends(0, End::SessionLost), crashed(0)] {
            let after = |does: &[Event]| {
                let mut promise = SessionEndNoticed::default();
                let all = [&[opened(0)], does, std::slice::from_ref(&end)].concat();
                all.iter().for_each(|event| promise.see(event, &mut Vec::new()));
                promise
            };
            let goes_on = [enters(0), wrote(Resource::Unfenced, 0, true)];
            let all = [&[vanished("/lock/it", 0), learns(0)], &goes_on[..]].concat();
            assert_eq!(after(&all), after(&[]));
        }
    }
}

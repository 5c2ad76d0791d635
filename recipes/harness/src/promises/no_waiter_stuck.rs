//! `no-waiter-stuck`.

use super::findings::broken_for;
use crate::event::{ActorId, End, Event, GroundTruth, Observation};
use crate::promise::{Assumption, Finding, Promise, Rest, Subject, Terms, Violation};
use crate::words;
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{SessionId, Text};

/// When faults are over and nothing moves any more, every actor with a live session has come to its end. What its other
/// threads wait for then, only they can tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoWaiterStuck {
    /// Who has asked for a lock and was not granted it yet, or has begun something and not ended it.
    waiting: BTreeMap<(ActorId, Text), Waits>,
    /// Whether somebody has died, if that is to count.
    deaths: Option<Deaths>,
    /// The sessions of actors, if that is to count: all others are administrators'.
    sessions: BTreeSet<SessionId>,
    /// Who has something, if he is not to wait for ever who has: he may be meant to stay.
    staying: Option<BTreeMap<(ActorId, Text), Stays>>,
    /// Its author has not said who is meant to wait.
    is_unsaid: bool,
}

/// What somebody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Waits {
    /// To be granted it.
    ToHave,
    /// To end it.
    ToEnd,
}

/// Why somebody may stay.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stays {
    /// It was granted it, is in it, or is a member.
    Has,
    /// It has begun it by a word of its own, which may mean anything.
    Says(Text),
}

/// The promise as it begins.
#[expect(non_upper_case_globals, reason = "trials name it as if it had no state")]
pub const NoWaiterStuck: NoWaiterStuck = NoWaiterStuck {
    waiting: BTreeMap::new(),
    deaths: None,
    sessions: BTreeSet::new(),
    staying: None,
    is_unsaid: false,
};

impl NoWaiterStuck {
    /// For recipes in which each waits for what others do, and for ever for one that has died: it is owed as long as
    /// everybody lives, no session expires, and no administrator deletes an actor's znode. Who alone has died, and goes on
    /// in another session, is owed it all the same.
    pub fn while_all_live() -> Self {
        NoWaiterStuck { deaths: Some(Deaths::default()), ..NoWaiterStuck::default() }
    }

    /// As [`while_all_live`](Self::while_all_live), but an actor that was granted something or has begun something, and
    /// is not done with it, is meant to stay: a leader, or a member. What the library has words for comes to an end.
    /// Whoever asks for a lock may wait for ever as long as somebody else stays in it.
    pub fn but_who_stays() -> Self {
        NoWaiterStuck { staying: Some(BTreeMap::new()), ..NoWaiterStuck::while_all_live() }
    }

    /// For trials that do not list it. As [`but_who_stays`](Self::but_who_stays), but it is left open whether those are
    /// meant to wait that have begun something by a word of their own, or ask for a lock that nobody alive has.
    pub(super) fn standard() -> Self {
        NoWaiterStuck { is_unsaid: true, ..NoWaiterStuck::but_who_stays() }
    }

    /// Takes note; gives whether another waits for what somebody is done with.
    fn hear(&mut self, actor: ActorId, what: &Observation) -> bool {
        let about = (actor, what.subject().clone());
        let word = what.word();
        let stays = match what {
            Observation::Granted { .. } | Observation::Shares { .. } | Observation::Enters { .. } => {
                Some(Stays::Has)
            }
            Observation::Begins { .. } if word == words::IS_A_MEMBER_BY => Some(Stays::Has),
            Observation::Begins { .. } if !word.is_of_the_library() => Some(Stays::Says(word.text().into())),
            _ => None,
        };
        if let Some(staying) = &mut self.staying {
            match (what, &stays) {
                (
                    Observation::Released { .. } | Observation::GivesUp { .. } | Observation::Ends { .. },
                    _,
                ) => {
                    staying.remove(&about);
                }
                (_, Some(Stays::Has)) => drop(staying.insert(about.clone(), Stays::Has)),
                (_, Some(says)) => drop(staying.entry(about.clone()).or_insert_with(|| says.clone())),
                (_, None) => {}
            }
        }
        let (waits, is_done) = match what {
            Observation::Begins { .. } if self.staying.is_some() && stays.is_some() => return false,
            Observation::Attempts { .. } => (Some(Waits::ToHave), false),
            Observation::Begins { .. } => (Some(Waits::ToEnd), false),
            Observation::Granted { .. }
            | Observation::Shares { .. }
            | Observation::Enters { .. }
            | Observation::GivesUp { .. } => (None, false),
            Observation::Released { .. } | Observation::Ends { .. } => (None, true),
            Observation::Leaves { .. } | Observation::Notes { .. } => return false,
        };
        match waits {
            Some(waits) => self.waiting.insert(about, waits),
            None => self.waiting.remove(&about),
        };
        is_done && self.waiting.keys().any(|(_, waits_for)| waits_for == what.subject())
    }

    /// Those are gone; puts nothing to the test.
    fn forgets(&mut self, is_gone: impl Fn(ActorId) -> bool) -> bool {
        self.waiting.retain(|(other, _), _| !is_gone(*other));
        if let Some(staying) = &mut self.staying {
            staying.retain(|(other, _), _| !is_gone(*other));
        }
        false
    }

    /// Who asks for a lock that somebody else stays in, whose session lives and who does not wait, or waits so itself.
    fn behind_who_stays(&self, rest: &Rest) -> BTreeSet<&(ActorId, Text)> {
        let Some(staying) = &self.staying else { return BTreeSet::new() };
        let mut behind = BTreeSet::new();
        loop {
            let goes_on = |actor: ActorId| {
                let mut waits = self.waiting.keys().filter(|(other, _)| other.main() == actor.main());
                lives(rest, actor) && waits.all(|about| behind.contains(about))
            };
            let stays = |(_, lock): &(ActorId, Text)| {
                staying.keys().any(|(other, has)| has == lock && goes_on(*other))
            };
            let asks = self.waiting.iter().filter(|(_, waits)| **waits == Waits::ToHave);
            let asks = asks.map(|(about, _)| about);
            let more: Vec<_> = asks.filter(|about| !behind.contains(about) && stays(about)).collect();
            if more.is_empty() {
                return behind;
            }
            behind.extend(more);
        }
    }

    /// Whether an administrator deletes an actor's znode: others may wait for it for ever.
    fn is_robbed(&self, event: &Event) -> bool {
        match event {
            Event::Is(GroundTruth::NodeDeleted { by, owner, .. }) => {
                ![*by, *owner].contains(&SessionId::NONE) && !self.sessions.contains(by)
            }
            Event::Is(_) | Event::Observed { .. } => false,
        }
    }
}

/// Who has died: others may wait for it for ever. To close one's own session is not to die, nor is to come to an end because
/// of that, which may be told before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Deaths {
    certain: Certain,
    /// Who has come to an end as its session was over.
    lost: BTreeSet<ActorId>,
    /// Who has closed its session.
    closed: BTreeSet<ActorId>,
}

/// Who has died for certain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Certain {
    #[default]
    Nobody,
    /// This one, which may go on in another session.
    One(ActorId),
    Several,
}

impl Deaths {
    pub(super) fn see(&mut self, event: &Event) {
        let Event::Is(truth) = event else { return };
        match (truth, self.certain) {
            (_, Certain::Several) => {}
            (
                GroundTruth::SessionClosed { actor, expired: true, .. }
                | GroundTruth::LearnsExpiry { actor }
                | GroundTruth::Crashed { actor }
                | GroundTruth::Finished { actor, end: End::Failed },
                Certain::Nobody,
            ) => *self = Deaths { certain: Certain::One(*actor), ..Deaths::default() },
            (
                GroundTruth::SessionClosed { actor, expired: true, .. }
                | GroundTruth::LearnsExpiry { actor }
                | GroundTruth::Crashed { actor }
                | GroundTruth::Finished { actor, end: End::SessionLost | End::Failed },
                Certain::One(one),
            ) if *actor != one => self.are_several(),
            (_, Certain::One(_)) => {}
            (GroundTruth::SessionClosed { actor, .. }, Certain::Nobody) => drop(self.closed.insert(*actor)),
            (GroundTruth::Finished { actor, end: End::SessionLost }, Certain::Nobody) => {
                self.lost.insert(*actor);
            }
            (GroundTruth::SessionOpened { actor, .. }, Certain::Nobody) => drop(self.closed.remove(actor)),
            _ => {}
        }
    }

    fn are_several(&mut self) {
        *self = Deaths { certain: Certain::Several, ..Deaths::default() };
    }

    /// Whether there are any.
    pub(super) fn any(&self) -> bool {
        self.certain != Certain::Nobody || !self.lost.is_subset(&self.closed)
    }

    /// Whether this one may wait for ever for another. For nobody does who died itself, alone, and has another session.
    fn excuse(&self, actor: ActorId) -> bool {
        self.any() && self.certain != Certain::One(actor.main())
    }
}

impl Promise for NoWaiterStuck {
    fn terms(&self) -> Terms {
        Terms::of("no-waiter-stuck")
            .about(match self.deaths {
                _ if self.is_unsaid => {
                    "At rest, no actor whose session lives still waits, nor does a thread of it by what it has told. \
                     It is left open whether one may that asks for a lock which nobody alive has, or that has begun \
                     something by a word of its own; whoever else waits when another has died is excused."
                }
                None => "At rest, no actor whose session lives still waits, nor does a thread of it by what it has told.",
                Some(_) => {
                    "At rest, no actor whose session lives still waits, nor does a thread of it by what it has told. \
                     Whoever waits when another has died is excused, as it may wait for that one."
                }
            })
            .assumes(if self.is_unsaid { &[Assumption::NobodyMeantToWait] } else { &[] })
            .tested_when("Somebody is done with what another still waits for (it releases a lock that another asks for, or ends what another has begun about the same thing), or a change wakes somebody that watches for it.")
            // It looks at what is left at rest, and hears of who asks and who is done.
            .judged_from_outside()
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let is_robbed = self.is_robbed(event);
        if let Some(deaths) = &mut self.deaths {
            deaths.see(event);
            if is_robbed {
                deaths.are_several();
            }
        }
        let is_tested = match event {
            Event::Observed { actor, what } => self.hear(*actor, what),
            Event::Is(GroundTruth::Fired { woken, .. }) => !woken.is_empty(),
            Event::Is(GroundTruth::SessionOpened { session, .. }) => {
                if self.deaths.is_some() {
                    self.sessions.insert(*session);
                }
                false
            }
            // Its other threads go on.
            Event::Is(GroundTruth::Finished { actor, .. } | GroundTruth::ThreadEnded { actor }) => {
                self.forgets(|other| other == *actor)
            }
            Event::Is(GroundTruth::Crashed { actor }) => self.forgets(|other| other.main() == *actor),
            Event::Is(_) => false,
        };
        found.extend(is_tested.then_some(Finding::Tested));
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<Finding>) {
        let behind = self.behind_who_stays(rest);
        // Whoever waits may do so for any of these.
        let mut there: BTreeSet<ActorId> = rest.unfinished.iter().copied().collect();
        there.extend(rest.sessions.iter().map(|(_, actor)| *actor));
        let there = Vec::from_iter(there);
        let alone = there.iter().filter(|actor| !rest.unfinished.contains(actor) && lives(rest, **actor));
        for process in rest.unfinished.iter().chain(alone) {
            let is_of = |about: &(ActorId, Text)| about.0.main() == *process;
            let all: Vec<_> = self.waiting.iter().filter(|(about, _)| is_of(about)).collect();
            let waits: Vec<_> = all.iter().filter(|(about, _)| !behind.contains(about)).collect();
            let stays: Vec<_> = self.staying.iter().flatten().filter(|(about, _)| is_of(about)).collect();
            let is_owed = !self.deaths.as_ref().is_some_and(|deaths| deaths.excuse(*process));
            let is_unfinished = rest.unfinished.contains(process);
            if is_owed && is_unfinished && (!waits.is_empty() || all.is_empty() && stays.is_empty()) {
                found.push(broken_for(format!("{process} waits for ever"), &there));
            } else if is_owed && !waits.is_empty() {
                found.extend(waits.iter().map(|((actor, subject), _)| {
                    let what = format!(
                        "{actor} waits for {subject} for ever, though its process's main thread has ended"
                    );
                    broken_for(what, &there)
                }));
            } else if self.is_unsaid {
                let asks = waits.iter().find(|(_, waits)| **waits == Waits::ToHave);
                let says = match (is_owed && all.is_empty(), &*stays) {
                    (true, [((actor, subject), Stays::Says(word)), others @ ..])
                        if others.iter().all(|(_, stays)| **stays != Stays::Has) =>
                    {
                        Some(format!("{actor} waits on: it {word} {subject}"))
                    }
                    _ => None,
                };
                let asks =
                    asks.map(|((actor, lock), _)| format!("{actor} waits on for {lock}, which nobody has"));
                found.extend(asks.or(says).map(|what| open_for(what, &there)));
            }
        }
    }
}

/// Broken, unless that is meant.
fn open_for(what: String, actors: &[ActorId]) -> Finding {
    let about = Subject::Actors(actors.into());
    Finding::Broken(Violation { what, violated_assumption: Some(Assumption::NobodyMeantToWait), about })
}

/// Whether its process goes on, or its session.
fn lives(rest: &Rest, actor: ActorId) -> bool {
    let main = actor.main();
    rest.unfinished.contains(&main) || rest.sessions.iter().any(|(_, other)| *other == main)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn an_actor_that_waits_at_rest_breaks_it() {
        let mut found = Vec::new();
        let rest = Rest { unfinished: vec![actor(1)], ..Rest::default() };
        NoWaiterStuck.at_rest(&rest, &mut found);
        assert_eq!(broken_by(&found), [("p1 waits for ever", None)]);
    }

    /// With the main thread's end all others were forgotten, and a lost wake-up in one of them held.
    #[test]
    fn a_thread_that_waits_on_when_the_main_one_has_ended_breaks_it() {
        let asks = Event::Observed {
            actor: actor(0).of_thread(1),
            what: Observation::Attempts { lock: LOCK.into() },
        };
        let rest = |session| Rest { sessions: vec![session], ..Rest::default() };
        let stuck = |events, rest: &Rest| broken_by(&resting(NoWaiterStuck, events, rest)).len();
        let lives = rest((session(0), actor(0)));
        assert_eq!(stuck(vec![asks.clone(), finished(0)], &lives), 1);
        assert_eq!(stuck(vec![finished(0), asks.clone()], &lives), 1);
        assert_eq!(stuck(vec![attempts(0), finished(0)], &lives), 0, "the main one has told by its end");
        assert_eq!(
            stuck(vec![asks.clone(), finished(0)], &rest((session(1), actor(1)))),
            0,
            "its session is over"
        );
        let crashed = Event::Is(GroundTruth::Crashed { actor: actor(0) });
        assert_eq!(stuck(vec![asks.clone(), crashed], &lives), 0);
        let whole = Rest { unfinished: vec![actor(0)], ..lives };
        assert_eq!(stuck(vec![asks], &whole), 1, "once, of the process");
    }

    /// One session's end excused everybody, and whose it was.
    #[test]
    fn who_alone_has_died_and_lives_on_is_owed_it_and_no_other() {
        let stuck = |died: &[u16], unfinished: u16| {
            let died = died.iter().flat_map(|p| [opened(*p), closed(*p), opened(*p)]).collect();
            let rest = Rest { unfinished: vec![actor(unfinished)], ..Rest::default() };
            resting(NoWaiterStuck::but_who_stays(), died, &rest).len()
        };
        assert_eq!((stuck(&[], 1), stuck(&[1], 1), stuck(&[1, 1], 1)), (1, 1, 1));
        assert_eq!((stuck(&[0], 1), stuck(&[1, 0], 1), stuck(&[0, 1], 1)), (0, 0, 0));
        let (learns, ends) = (GroundTruth::LearnsExpiry { actor: actor(0) }, |end| {
            Event::Is(GroundTruth::Finished { actor: actor(0), end })
        });
        for another in [Event::Is(learns), crashed(0), ends(End::SessionLost), ends(End::Failed)] {
            let both = vec![opened(1), closed(1), opened(1), another.clone()];
            let rest = Rest { unfinished: vec![actor(1)], ..Rest::default() };
            assert_eq!(resting(NoWaiterStuck::but_who_stays(), both, &rest), [], "{another:?}");
        }
    }

    #[test]
    fn who_has_something_may_stay_and_nobody_else() {
        let rest = Rest { unfinished: vec![actor(0), actor(1), actor(2)], ..Rest::default() };
        let begins = Event::Observed {
            actor: actor(0),
            what: Observation::begins(crate::words::Word::own("leads"), LOCK, 0),
        };
        let stuck = |events| {
            let found = resting(NoWaiterStuck::but_who_stays(), events, &rest);
            broken_by(&found).into_iter().map(|(what, _)| what.to_owned()).collect::<Vec<_>>()
        };
        let said = vec![begins.clone(), attempts(1)];
        assert_eq!(stuck(said), ["p2 waits for ever"], "it has said nothing");
        assert_eq!(stuck(vec![begins, attempts(1), granted(1)]), ["p2 waits for ever"]);
        assert_eq!(stuck(vec![attempts(1), granted(1), released(1)]).len(), 3);
        let adds = |actor| Event::Observed { actor, what: Observation::begins(words::ADDS, LOCK, 1) };
        assert_eq!(stuck(vec![adds(actor(1))]).len(), 3, "to add is to come to an end");
    }

    /// Followers of a leader for life were stuck.
    #[test]
    fn who_asks_may_wait_behind_who_stays_and_for_nobody_else() {
        const OTHER: &str = "/other";
        let asks = |p, lock: &str| Event::Observed {
            actor: actor(p),
            what: Observation::Attempts { lock: lock.into() },
        };
        let has = |p, lock: &str| Event::Observed {
            actor: actor(p),
            what: Observation::Enters { lock: lock.into() },
        };
        let stuck = |events: Vec<Event>, live: &[u16]| {
            let unfinished = live.iter().map(|p| actor(*p)).collect();
            let rest = Rest { unfinished, ..Rest::default() };
            let found = resting(NoWaiterStuck::but_who_stays(), events, &rest);
            let named = broken_by(&found).into_iter().map(|(what, _)| what[..2].to_owned());
            named.collect::<Vec<_>>()
        };
        let all = [0, 1, 2];
        let line = || vec![has(0, LOCK), asks(1, LOCK), asks(2, LOCK)];
        assert_eq!(stuck(line(), &all), [""; 0]);
        assert_eq!(stuck([line(), vec![closed(0)]].concat(), &[1, 2]), [""; 0], "it may be its turn");
        assert_eq!(stuck([line(), vec![released(0)]].concat(), &[1, 2]), ["p1", "p2"]);
        assert_eq!(stuck([line(), vec![closes(0)]].concat(), &[1, 2]), ["p1", "p2"], "it has gone");
        let adds = Event::Observed { actor: actor(1), what: Observation::begins(words::ADDS, LOCK, 1) };
        assert_eq!(stuck(vec![has(0, LOCK), adds], &[0, 1]), ["p1"], "it asks for nothing");
        // One behind another, and in a circle.
        let chain = || vec![has(0, LOCK), asks(1, LOCK), has(1, OTHER), asks(2, OTHER)];
        assert_eq!(stuck(chain(), &all), [""; 0]);
        assert_eq!(stuck([chain(), vec![asks(0, OTHER)]].concat(), &all), ["p0", "p1", "p2"]);
    }

    /// Any deletion of another's znode was an excuse, and so was the end of a session that its own client had closed, and
    /// the end of an actor for that.
    #[test]
    fn what_the_recipes_own_people_do_is_no_excuse() {
        let rest = Rest { unfinished: vec![actor(1)], ..Rest::default() };
        let ending = |event, end| {
            let ends = Event::Is(GroundTruth::Finished { actor: actor(0), end });
            let events = vec![opened(0), opened(1), event, ends];
            broken_by(&resting(NoWaiterStuck::while_all_live(), events, &rest)).len()
        };
        let stuck = |event| ending(event, End::Done);
        let own = [deleted("/b/p0", 1, 0), deleted("/b/p0", 0, 0), vanished("/b/p0", 0), closes(0)];
        assert_eq!(own.map(stuck), [1; 4]);
        assert_eq!([deleted("/b/p0", ADMIN, 0), closed(0)].map(stuck), [0; 2]);
        assert_eq!(stuck(deleted("/b", ADMIN, NOBODY)), 1, "nobody is waited for by that");
        let ends = [End::SessionLost, End::Failed];
        assert_eq!(ends.map(|end| ending(closes(0), end)), [1, 0]);
        assert_eq!(ends.map(|end| ending(closes(1), end)), [0; 2], "it is another's");
        let lost = Event::Is(GroundTruth::Finished { actor: actor(0), end: End::SessionLost });
        let rested = |events| {
            broken_by(&resting(NoWaiterStuck::while_all_live(), [vec![opened(0)], events].concat(), &rest))
                .len()
        };
        assert_eq!(rested(vec![lost.clone(), closes(0)]), 1, "its close was under way");
        assert_eq!(rested(vec![closes(0), opened(0), lost]), 0, "it was another session's");
        let learns = Event::Is(GroundTruth::LearnsExpiry { actor: actor(0) });
        assert_eq!(rested(vec![learns]), 0, "nobody may have seen more of it");
    }

    /// Any quiet rest was a test of it, and a trial whose actors return at once was green.
    #[test]
    fn it_takes_one_that_waits_and_another_that_lets_it_go_on() {
        assert_eq!(resting(NoWaiterStuck, vec![opened(0), finished(0)], &Rest::default()), []);
        let alone = vec![attempts(0), granted(0), released(0)];
        assert_eq!(findings(NoWaiterStuck, [alone, vec![attempts(1)]].concat()), []);
        let waits = vec![attempts(0), granted(0), attempts(1), released(0)];
        assert_eq!(findings(NoWaiterStuck, waits), [Finding::Tested]);
        let woken = vec![fired("/a", zk_api::EventType::NodeCreated, &[1])];
        assert_eq!(findings(NoWaiterStuck, woken), [Finding::Tested]);
        let votes = |p| Event::Observed {
            actor: actor(p),
            what: Observation::begins(crate::words::Word::own("votes"), "/tx/1", 0),
        };
        let learns = |p| Event::Observed {
            actor: actor(p),
            what: Observation::ends(crate::words::COMMITS, "/tx/1", 0),
        };
        assert_eq!(findings(NoWaiterStuck, vec![votes(0), learns(0), votes(1), learns(1)]), []);
        let both = vec![votes(0), votes(1), learns(0), learns(1)];
        assert_eq!(findings(NoWaiterStuck, both), [Finding::Tested]);
    }

    /// Who had been granted a lock and given it up was taken for one that stays.
    #[test]
    fn who_has_given_up_does_not_stay() {
        let rest = Rest { unfinished: vec![actor(0)], ..Rest::default() };
        let stuck = |events| broken_by(&resting(NoWaiterStuck::but_who_stays(), events, &rest)).len();
        assert_eq!(stuck(vec![attempts(0), granted(0)]), 0);
        assert_eq!(stuck(vec![attempts(0), granted(0), gives_up(0)]), 1);
        let leads = crate::words::Word::own("leads");
        let [begins, ends] = [Observation::begins(leads, LOCK, 0), Observation::ends(leads, LOCK, 0)]
            .map(|what| Event::Observed { actor: actor(0), what });
        assert_eq!((stuck(vec![begins.clone()]), stuck(vec![begins, ends])), (0, 1));
    }

    #[test]
    fn who_stays_for_one_thing_and_waits_for_another_is_stuck() {
        let rest = Rest { unfinished: vec![actor(0)], ..Rest::default() };
        let begins = |what, about: &str| Event::Observed {
            actor: actor(0),
            what: Observation::begins(what, about, 0),
        };
        let stuck = |then: &[Event]| {
            let leads = begins(crate::words::Word::own("leads"), "/lead");
            let events = [&[leads], then].concat();
            broken_by(&resting(NoWaiterStuck::but_who_stays(), events, &rest)).len()
        };
        assert_eq!(stuck(&[]), 0);
        assert_eq!(stuck(&[begins(words::IS_A_MEMBER_BY, "/group/p0")]), 0);
        assert_eq!((stuck(&[attempts(0)]), stuck(&[begins(words::ADDS, "/count")])), (1, 1));
    }

    /// A lost wake-up was excused where it was told by a word of one's own, and a lock that died with its holder.
    #[test]
    fn what_its_author_alone_can_say_is_left_open() {
        let says = |p, word| Event::Observed {
            actor: actor(p),
            what: Observation::begins(crate::words::Word::own(word), LOCK, 0),
        };
        let comes = Event::Observed { actor: actor(1), what: Observation::begins(words::COMES_TO, LOCK, 0) };
        let stuck = |promise: NoWaiterStuck, events: Vec<Event>, sessions: &[u16]| {
            let unfinished = sessions.iter().filter(|p| **p > 0).map(|p| actor(*p)).collect();
            let sessions = sessions.iter().map(|p| (session(*p), actor(*p))).collect();
            let found = resting(promise, events, &Rest { unfinished, sessions, ..Rest::default() });
            let told =
                broken_by(&found).into_iter().map(|(what, failed)| (what.to_owned(), failed.is_some()));
            told.collect::<Vec<_>>()
        };
        let left_open = |events: Vec<Event>, sessions: &[u16]| {
            assert_eq!(stuck(NoWaiterStuck::but_who_stays(), events.clone(), sessions), []);
            stuck(NoWaiterStuck::standard(), events, sessions)
        };
        let waits = || vec![says(1, "waits at")];
        assert_eq!(left_open(waits(), &[1]), [("p1 waits on: it waits at /lock".to_owned(), true)]);
        assert_eq!(left_open([waits(), vec![granted(1)]].concat(), &[1]), [], "it has it");
        assert_eq!(left_open(vec![granted(1), says(1, "leads")], &[1]), []);
        let elsewhere = Observation::begins(crate::words::Word::own("waits at"), "/a", 0);
        let elsewhere = Event::Observed { actor: actor(1), what: elsewhere };
        assert_eq!(left_open(vec![elsewhere.clone(), granted(1)], &[1]), [], "it has something else");
        let behind = vec![granted(0), elsewhere, attempts(1)];
        assert_eq!(left_open(behind, &[0, 1]), [], "it waits for who has the lock");
        assert_eq!(left_open([waits(), vec![closed(2)]].concat(), &[1]), [], "it may wait for who has died");
        let thread = vec![by_thread(1, says(0, "waits at")), finished(0)];
        assert_eq!(left_open(thread, &[0]), [("p0/1 waits on: it waits at /lock".to_owned(), true)]);
        // Who has died may have had it.
        let asks = || vec![attempts(1), closed(2)];
        assert_eq!(left_open(asks(), &[1]), [("p1 waits on for /lock, which nobody has".to_owned(), true)]);
        assert_eq!(left_open([asks(), vec![granted(0)]].concat(), &[0, 1]), [], "it waits for who has it");
        assert_eq!(left_open(vec![comes, closed(2)], &[1]), [], "it may be the one who was to come");
        assert_eq!(
            stuck(NoWaiterStuck::standard(), vec![attempts(1)], &[1]),
            [("p1 waits for ever".to_owned(), false)]
        );
    }

    #[test]
    fn a_thread_that_has_ended_stays_for_nothing() {
        let rest = Rest { unfinished: vec![actor(0)], ..Rest::default() };
        let leads = || by_thread(1, granted(0));
        let ends = Event::Is(GroundTruth::ThreadEnded { actor: actor(0).of_thread(1) });
        let stuck = |events| broken_by(&resting(NoWaiterStuck::but_who_stays(), events, &rest)).len();
        assert_eq!((stuck(vec![leads()]), stuck(vec![leads(), ends])), (0, 1));
    }

    #[test]
    fn a_thread_may_wait_for_one_that_has_died() {
        let asks = by_thread(1, attempts(0));
        let rest = Rest { sessions: vec![(session(0), actor(0))], ..Rest::default() };
        let stuck = |died| {
            let events = vec![opened(0), opened(1), asks.clone(), finished(0), died];
            broken_by(&resting(NoWaiterStuck::while_all_live(), events, &rest)).len()
        };
        assert_eq!((stuck(closes(1)), stuck(closed(1))), (1, 0));
    }

    #[test]
    fn nothing_is_a_test_of_it_but_who_is_done_or_a_change_that_wakes() {
        let leads = Observation::begins(crate::words::Word::own("leads"), "/lead", 0);
        let said =
            [attempts(0), attempts(1), granted(0), enters(0), leaves(0), gives_up(0), notes(0, "hums", LOCK)];
        let ends = [finished(0), closed(0), crashed(1), fired(LOCK, zk_api::EventType::NodeCreated, &[])];
        let leads = [opened(0), Event::Observed { actor: actor(0), what: leads }];
        let all = [&leads[..], &said, &ends].concat();
        for promise in [NoWaiterStuck, NoWaiterStuck::while_all_live(), NoWaiterStuck::but_who_stays()] {
            assert_eq!(findings(promise, all.clone()), []);
        }
    }
}

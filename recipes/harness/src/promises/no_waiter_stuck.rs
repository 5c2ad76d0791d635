//! `no-waiter-stuck`.

use super::findings::broken_for;
use crate::event::{ActorId, End, Event, GroundTruth, Observation};
use crate::promise::{Assumption, Finding, Promise, Rest, Subject, Terms, Violation, Watch};
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
    /// It was granted it.
    Has,
    /// It is inside, so many times; it may have told that it was granted it.
    IsIn { has: bool, times: u8 },
    /// It was granted it and has left its section, and it has not told that it holds it no more.
    HasLeft,
    /// It is a member.
    IsMember,
    /// It has begun it by a word of its own, which may mean anything.
    Says(Text),
}

impl Stays {
    /// What is so once it has told this.
    fn after(before: Option<Stays>, what: &Observation) -> Option<Stays> {
        let word = what.word();
        match (what, before) {
            (Observation::Granted { .. } | Observation::Shares { .. }, Some(Stays::IsIn { times, .. })) => {
                Some(Stays::IsIn { has: true, times })
            }
            (Observation::Granted { .. } | Observation::Shares { .. }, _) => Some(Stays::Has),
            (Observation::Enters { .. }, Some(Stays::IsIn { has, times })) => {
                Some(Stays::IsIn { has, times: times.saturating_add(1) })
            }
            (Observation::Enters { .. }, before) => {
                let has = matches!(before, Some(Stays::Has | Stays::HasLeft));
                Some(Stays::IsIn { has, times: 1 })
            }
            (Observation::Leaves { .. }, Some(Stays::IsIn { has, times })) if times > 1 => {
                Some(Stays::IsIn { has, times: times - 1 })
            }
            (Observation::Leaves { .. }, Some(Stays::IsIn { has: true, .. } | Stays::Has)) => {
                Some(Stays::HasLeft)
            }
            (Observation::Leaves { .. }, Some(Stays::IsIn { has: false, .. })) => None,
            (Observation::Attempts { .. }, Some(Stays::HasLeft)) => None,
            (Observation::Released { .. } | Observation::GivesUp { .. } | Observation::Ends { .. }, _) => {
                None
            }
            (Observation::Begins { .. }, _) if word == words::IS_A_MEMBER_BY => Some(Stays::IsMember),
            (Observation::Begins { .. }, None) if !word.is_of_the_library() => {
                Some(Stays::Says(word.text().into()))
            }
            (_, before) => before,
        }
    }
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
    /// everybody lives, no session expires, and no administrator deletes an actor's znode. Who alone has died, and goes
    /// on in another session, is owed it all the same.
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
    /// meant to wait that have begun something by a word of their own, ask for a lock that nobody alive has, or have
    /// one and watch for something.
    pub(super) fn standard() -> Self {
        NoWaiterStuck { is_unsaid: true, ..NoWaiterStuck::but_who_stays() }
    }

    /// Takes note; gives whether another waits for what somebody is done with.
    fn hear(&mut self, actor: ActorId, what: &Observation) -> bool {
        let about = (actor, what.subject().clone());
        if let Some(staying) = &mut self.staying
            && let Some(stays) = Stays::after(staying.remove(&about), what)
        {
            staying.insert(about.clone(), stays);
        }
        let is_own_to_stay = match what {
            Observation::Begins { .. } => {
                what.word() == words::IS_A_MEMBER_BY || !what.word().is_of_the_library()
            }
            _ => false,
        };
        let (waits, is_done) = match what {
            Observation::Begins { .. } if self.staying.is_some() && is_own_to_stay => return false,
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

/// Who has died: others may wait for it for ever. To close one's own session is not to die, nor is to come to an end
/// because of that, which may be told before.
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
                     It is left open whether one may that asks for a lock which nobody alive has, that has one and is \
                     out of its section or watches something beside its own znodes and the lock's children, or that has \
                     begun something by a word of its own; whoever else waits when another has died is excused."
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
            let is_unfinished = rest.unfinished.contains(process);
            // Who has no session any more, and looks for none, hears of nobody.
            let is_cut_off = is_unfinished && rest.sessions.iter().all(|(_, actor)| actor != process);
            let is_owed = is_cut_off || !self.deaths.as_ref().is_some_and(|deaths| deaths.excuse(*process));
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
                let asks =
                    asks.map(|((actor, lock), _)| format!("{actor} waits on for {lock}, which nobody has"));
                let open = || (is_owed && all.is_empty()).then(|| stays_for(rest, *process, &stays))?;
                found.extend(asks.or_else(open).map(|what| open_for(what, &there)));
            }
        }
    }
}

/// Why one that stays may not be meant to: all that it has said may mean that it waits, or it has a lock and watches
/// for what does not come. By its own znodes it learns that it was robbed, and by the lock's children that it has it.
fn stays_for(rest: &Rest, process: ActorId, stays: &[(&(ActorId, Text), &Stays)]) -> Option<String> {
    let watches_for = |lock: &Text| {
        let is_own = |path: &Text| rest.owned().any(|(own, actor)| own == path && actor == process);
        let is_for_lock = |watch: &Watch| watch.of_children && watch.path == *lock;
        let mut watches = rest.watches.iter().filter(|watch| watch.actor == process);
        watches.find(|watch| !is_for_lock(watch) && !is_own(&watch.path))
    };
    let has = |why: &Stays| matches!(why, Stays::Has | Stays::IsIn { .. });
    let waits_in = stays.iter().filter(|(_, why)| has(why)).find_map(|((actor, lock), _)| {
        let Watch { path, of_children, .. } = watches_for(lock)?;
        let what = if *of_children { "the children of " } else { "" };
        Some(format!("{actor} waits on: it has {lock} and watches {what}{path}"))
    });
    let has_left = || {
        let ((actor, lock), _) = stays.iter().find(|(_, why)| **why == Stays::HasLeft)?;
        Some(format!(
            "{actor} waits on: it has left the section of {lock}, and has not said that it released it"
        ))
    };
    let ((actor, subject), why) = stays.first()?;
    match why {
        Stays::Says(word) if stays.iter().all(|(_, why)| matches!(why, Stays::Says(_))) => {
            Some(format!("{actor} waits on: it {word} {subject}"))
        }
        _ => waits_in.or_else(has_left),
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
mod tests;

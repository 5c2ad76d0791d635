//! What promises know of a run in common: who is alive, who stands how to the lock, and who lost which znode to whom.
//!
//! A violated assumption is one rule. Whoever has lost a claim to an administrator may break promises by it, as
//! expected; nobody is given a right that nobody had.

use crate::event::{ActorId, Event, GroundTruth, Observation};
use crate::standing::{Standing, Standings};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{SessionId, Text, Zxid, sequence_of};

/// Whose the live sessions are, and which actors' claims do not count, or not as defects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SessionTracker {
    lock: &'static str,
    /// How many may hold it at a time.
    pub(crate) permits: usize,
    pub(crate) live: BTreeMap<SessionId, ActorId>,
    /// All that were ever opened, and whose: what a session asked for may be done when its end was told already.
    pub(crate) opened: BTreeMap<SessionId, ActorId>,
    /// Whose session has ended.
    ended: BTreeSet<ActorId>,
    /// Who crashed while their session lives.
    crashed: BTreeSet<ActorId>,
    pub(crate) standing: Standings,
    /// Whose znodes another has deleted, and what that took: who has made no new one beside it since,
    /// and has not begun another attempt or been granted the lock by another.
    deleted_externally: BTreeMap<(ActorId, Text), Loss>,
    /// Who asks in several threads. Which of them a znode stands for, nobody knows: so a new one, or another attempt,
    /// is no sign that who lost one has it.
    pub(crate) threaded: BTreeSet<ActorId>,
}

/// What somebody has lost with its znode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Loss {
    /// By another actor, which violates no assumption.
    ToAnActor,
    /// By an administrator: a place in the line behind somebody who held the lock.
    OfItsPlace,
    /// By an administrator: the lock, or a place that may have been the first one.
    OfTheLock,
}

impl SessionTracker {
    pub(crate) fn of(lock: &'static str) -> SessionTracker {
        SessionTracker { lock, permits: 1, ..SessionTracker::default() }
    }

    /// Takes note; gives who dies of it: by the end of the session, or by a crash.
    pub(crate) fn see(&mut self, event: &Event) -> Option<ActorId> {
        let truth = match event {
            Event::Is(truth) => truth,
            Event::Observed { actor, what } => {
                if actor.thread > 0 {
                    self.threaded.insert(actor.main());
                }
                self.hear(*actor, what);
                return None;
            }
        };
        match truth {
            GroundTruth::SessionOpened { session, actor } => {
                self.standing.opens_session(*actor, *session);
                self.live.insert(*session, *actor);
                self.opened.insert(*session, *actor);
                // Its client has renewed it.
                self.ended.remove(actor);
            }
            GroundTruth::SessionClosed { session, actor, expired } => {
                self.live.remove(session);
                // One that its client has given up may live longer than the one that it has now.
                if self.live.contains_key(&self.standing.newest(*actor)) {
                    self.standing.forgets_former(*actor, *session);
                    return None;
                }
                self.ended.insert(*actor);
                self.crashed.remove(actor);
                self.threaded.remove(actor);
                self.standing.ends_session(*actor, *expired);
                self.deleted_externally.retain(|(victim, _), _| victim != actor);
                return Some(*actor);
            }
            GroundTruth::Crashed { actor } => {
                if !self.ended.contains(actor) {
                    self.crashed.insert(*actor);
                }
                self.standing.forgets(|other| other.main() == *actor);
                return Some(*actor);
            }
            // Its other threads go on.
            GroundTruth::Finished { actor, .. } | GroundTruth::ThreadEnded { actor } => {
                self.standing.forgets(|other| other == *actor);
            }
            GroundTruth::NodeCreated { path, by, .. } if within(self.lock, path) => {
                if let Some(actor) = self.live.get(by).copied() {
                    self.standing.asks_anew(actor);
                    self.forgets_deletions(actor, |node| parent(node) == parent(path));
                }
            }
            GroundTruth::NodeDeleted { path, by, .. } => {
                if let Some(process) = self.live.get(by) {
                    self.standing.gives_back(*process, path);
                }
                if let Some(actor) = self.loser(truth) {
                    let loss = match self.victim(truth) {
                        None => Loss::ToAnActor,
                        Some(actor) if self.has_claim(actor) => Loss::OfTheLock,
                        Some(_) => Loss::OfItsPlace,
                    };
                    self.deleted_externally.insert((actor, path.clone()), loss);
                }
            }
            _ => {}
        }
        None
    }

    fn hear(&mut self, actor: ActorId, what: &Observation) {
        let by_another = match what {
            Observation::Attempts { lock } => **lock == *self.lock,
            Observation::Granted { lock, node, .. } | Observation::Shares { lock, node, .. } => {
                **lock == *self.lock && !self.lost_to_another(actor, node)
            }
            Observation::Enters { .. }
            | Observation::Leaves { .. }
            | Observation::Released { .. }
            | Observation::GivesUp { .. }
            | Observation::Notes { .. }
            | Observation::Begins { .. }
            | Observation::Ends { .. } => false,
        };
        if by_another {
            self.forgets_deletions(actor.main(), |_| true);
        }
        if **what.subject() == *self.lock && (!self.is_dead(actor) || self.standing.get(actor).is_some()) {
            self.standing.hear(actor, what);
        }
    }

    /// Whether it has the lock, or nobody else has it alone: then it may be the next one, and have been granted it by
    /// now.
    fn has_claim(&self, actor: ActorId) -> bool {
        let has = |(other, how): (ActorId, Standing)| other.main() == actor && how != Standing::Waits;
        let holds = |(other, how): &(ActorId, Standing)| {
            *how == Standing::Holds && !self.lost_to_administrator(*other)
        };
        self.standing.iter().any(has) || self.standing.iter().filter(holds).count() < self.permits
    }

    /// How the threads of a process stand to the lock. Which of several something concerns, nobody knows.
    pub(crate) fn standings(&self, process: ActorId) -> impl Iterator<Item = Standing> {
        self.standing.iter().filter(move |(actor, _)| actor.main() == process).map(|(_, how)| how)
    }

    /// How many of them ask for it.
    pub(crate) fn asking(&self, process: ActorId) -> usize {
        self.standings(process).filter(|how| *how == Standing::Waits).count()
    }

    /// One thread has one znode at a time.
    fn forgets_deletions(&mut self, actor: ActorId, of: impl Fn(&Text) -> bool) {
        if !self.threaded.contains(&actor) {
            self.deleted_externally.retain(|(victim, node), _| *victim != actor || !of(node));
        }
    }

    /// Whose session has ended, or who crashed: what he says of the lock does not count.
    pub(crate) fn is_dead(&self, actor: ActorId) -> bool {
        self.has_ended(actor) || self.crashed.contains(&actor.main())
    }

    /// Whose session has ended, which a crash does not bring about at once.
    pub(crate) fn has_ended(&self, actor: ActorId) -> bool {
        self.ended.contains(&actor.main())
    }

    /// Whose znode an administrator has deleted.
    pub(crate) fn lost_to_administrator(&self, actor: ActorId) -> bool {
        self.deleted_externally
            .iter()
            .any(|((victim, _), loss)| *victim == actor.main() && *loss != Loss::ToAnActor)
    }

    /// Who has lost by it a claim to the lock: what comes of that is expected.
    pub(crate) fn lost_its_claim(&self, actor: ActorId) -> bool {
        self.deleted_externally
            .iter()
            .any(|((victim, _), loss)| *victim == actor.main() && *loss == Loss::OfTheLock)
    }

    /// Who has lost any znode by the hand of another.
    pub(crate) fn lost_a_znode(&self, actor: ActorId) -> bool {
        self.deleted_externally.keys().any(|(victim, _)| *victim == actor)
    }

    /// Whether it was this znode that another has deleted: another one may stand for the attempt as well.
    pub(crate) fn lost_to_another(&self, actor: ActorId, node: &Text) -> bool {
        self.deleted_externally.contains_key(&(actor.main(), node.clone()))
    }

    /// Whether a session is, or was, an actor's.
    pub(crate) fn knows(&self, session: SessionId) -> bool {
        self.opened.contains_key(&session)
    }

    /// Who loses a contender's znode by this, by the hand of another.
    pub(crate) fn loser(&self, truth: &GroundTruth) -> Option<ActorId> {
        match truth {
            GroundTruth::NodeDeleted { path, by, owner, .. }
                if *by != SessionId::NONE && by != owner && within(self.lock, path) =>
            {
                self.live.get(owner).copied()
            }
            _ => None,
        }
    }

    /// The same, by the hand of somebody who is no actor.
    pub(crate) fn victim(&self, truth: &GroundTruth) -> Option<ActorId> {
        match truth {
            GroundTruth::NodeDeleted { by, .. } if !self.knows(*by) => self.loser(truth),
            _ => None,
        }
    }
}

/// Who has written what as it asks for the lock: if its token is of that, it was granted the lock by it. Another one
/// may write that over before it tells so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Overwritten(BTreeMap<ActorId, Written>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Written {
    path: Text,
    zxid: Zxid,
    is_over: bool,
}

impl Overwritten {
    /// Takes note, after the tracker; gives whose writing is written over.
    pub(crate) fn see(&mut self, event: &Event, tracker: &SessionTracker) -> Option<ActorId> {
        match event {
            // What has a number is nobody else's.
            Event::Is(GroundTruth::NodeWritten { path, by, mzxid, .. })
                if within(tracker.lock, path) && sequence_of(path).is_none() =>
            {
                let writer = tracker.live.get(by).copied();
                let is_lost = |(other, it): &(&ActorId, &mut Written)| {
                    it.path == *path && !it.is_over && Some(**other) != writer
                };
                let lost = self.0.iter_mut().find(is_lost).map(|(loser, it)| {
                    it.is_over = true;
                    *loser
                });
                if let Some(writer) = writer.filter(|writer| tracker.asking(*writer) > 0) {
                    self.0.insert(writer, Written { path: path.clone(), zxid: *mzxid, is_over: false });
                }
                return lost;
            }
            // It has waited for something since, and was not granted it by that.
            Event::Is(GroundTruth::Fired { woken, .. }) => {
                self.0.retain(|actor, it| !(it.is_over && woken.contains(actor)));
            }
            Event::Is(GroundTruth::SessionClosed { actor, .. } | GroundTruth::Crashed { actor }) => {
                self.0.remove(actor);
            }
            Event::Observed {
                actor,
                what: Observation::Attempts { lock } | Observation::GivesUp { lock, .. },
            } if **lock == *tracker.lock => {
                self.0.remove(&actor.main());
            }
            Event::Is(_) | Event::Observed { .. } => {}
        }
        None
    }

    pub(crate) fn has_lost(&self, process: ActorId) -> bool {
        self.0.get(&process).is_some_and(|it| it.is_over)
    }

    /// Who is granted the lock asks no more. Gives whether the token says that it was granted it before it was written
    /// over.
    pub(crate) fn tells(&mut self, actor: ActorId, token: Option<Zxid>) -> bool {
        self.0.remove(&actor.main()).is_some_and(|it| it.is_over && Some(it.zxid) == token)
    }
}

/// Which threads beside the main ones have told something, and have not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct RunningThreads(BTreeSet<ActorId>);

impl RunningThreads {
    pub(crate) fn see(&mut self, event: &Event) {
        match event {
            Event::Observed { actor, .. } if actor.thread > 0 => drop(self.0.insert(*actor)),
            Event::Is(GroundTruth::ThreadEnded { actor }) => drop(self.0.remove(actor)),
            Event::Is(GroundTruth::SessionClosed { actor, .. } | GroundTruth::Crashed { actor }) => {
                self.0.retain(|thread| thread.main() != *actor);
            }
            Event::Observed { .. } | Event::Is(_) => {}
        }
    }

    pub(crate) fn any(&self) -> bool {
        !self.0.is_empty()
    }

    pub(crate) fn any_of(&self, process: ActorId) -> bool {
        self.0.iter().any(|thread| thread.main() == process)
    }

    /// Whether a thread ends with its process's code, or has ended before. How it did, nobody knows before.
    pub(crate) fn end_with(&self, process: ActorId, thread: ActorId) -> bool {
        thread.main() == process && !self.0.contains(&thread)
    }
}

/// What a znode is a child of.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Whether a path lies below `lock`.
pub(crate) fn below(lock: &str, path: &str) -> bool {
    path.len() > lock.len() && within(lock, path)
}

/// The last part of a path.
pub(crate) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Whether a path is `lock` or lies below it.
pub(crate) fn within(lock: &str, path: &str) -> bool {
    path.strip_prefix(lock).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

//! The sessions there are, whose they are, and what their clients are in the midst of.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use zk_api::{SessionId, Text};
use zk_trials::event::{ActorId, Observation};

/// What is known of clients.
pub(super) struct Who {
    sessions: BTreeMap<SessionId, Session>,
    /// How many sessions each client has had.
    lives: BTreeMap<u16, u16>,
    /// Who has asked for a lock and was not granted it yet.
    waiting: BTreeSet<(ActorId, Text)>,
    /// Who has entered or begun something, and not left or ended it.
    midst: BTreeSet<(ActorId, Text)>,
    finished: BTreeSet<ActorId>,
    /// When anybody last said anything.
    heard: Instant,
}

struct Session {
    timeout: Duration,
    /// Whether it has expired, or was closed.
    ended: Option<bool>,
    /// Who has it, once that one has said something.
    actor: Option<ActorId>,
}

impl Default for Who {
    fn default() -> Who {
        Who {
            sessions: BTreeMap::new(),
            lives: BTreeMap::new(),
            waiting: BTreeSet::new(),
            midst: BTreeSet::new(),
            finished: BTreeSet::new(),
            heard: Instant::now(),
        }
    }
}

impl Who {
    pub(super) fn opened(&mut self, session: SessionId, timeout: Duration) {
        self.sessions.insert(session, Session { timeout, ended: None, actor: None });
    }

    /// Gives whose it was, if that one has said anything.
    pub(super) fn closed(&mut self, session: SessionId, expired: bool) -> Option<ActorId> {
        let known = self.sessions.get_mut(&session)?;
        known.ended = Some(expired);
        let actor = known.actor?;
        self.forget(actor);
        Some(actor)
    }

    /// Whose session it is: that of a client with this number, or with the next one that nobody has. `begins` is called
    /// if it says something for the first time, and learns whether its session has ended.
    pub(super) fn actor(
        &mut self,
        session: SessionId,
        client: Option<u16>,
        begins: &mut dyn FnMut(ActorId, Option<bool>),
    ) -> Result<ActorId, String> {
        self.heard = Instant::now();
        let next = (0..).find(|number| !self.lives.contains_key(number));
        let Some(known) = self.sessions.get_mut(&session) else {
            return Err(format!("{session} was never a session here; GET /sessions lists them"));
        };
        let actor = match known.actor {
            Some(actor) => actor,
            None => {
                let process = client.or(next).ok_or("there are too many clients")?;
                let lives = self.lives.entry(process).or_default();
                let life =
                    u8::try_from(*lives).map_err(|_| format!("client {process} has had 256 sessions"))?;
                *lives += 1;
                let actor = ActorId { process, life, thread: 0 };
                known.actor = Some(actor);
                begins(actor, known.ended);
                actor
            }
        };
        match self.finished.contains(&actor) {
            true => Err(format!("{actor} has finished already")),
            false => Ok(actor),
        }
    }

    /// Takes note of what somebody whose session lives is about.
    pub(super) fn hears(&mut self, actor: ActorId, what: &Observation) {
        if !self.open().iter().any(|(_, other)| *other == actor.main()) {
            return;
        }
        let about = (actor, what.subject().clone());
        match what {
            Observation::Attempts { .. } => {
                self.waiting.insert(about);
            }
            Observation::Granted { .. }
            | Observation::Shares { .. }
            | Observation::Enters { .. }
            | Observation::Begins { .. } => {
                self.waiting.remove(&about);
                self.midst.insert(about);
            }
            Observation::Leaves { .. } | Observation::Ends { .. } => {
                self.midst.remove(&about);
            }
            Observation::Released { .. } | Observation::GivesUp { .. } => {
                self.waiting.remove(&about);
                self.midst.remove(&about);
            }
            Observation::Notes { .. } => {}
        }
    }

    pub(super) fn finishes(&mut self, actor: ActorId) {
        self.finished.insert(actor.main());
        self.forget(actor.main());
    }

    fn forget(&mut self, actor: ActorId) {
        self.waiting.retain(|(other, _)| other.main() != actor);
        self.midst.retain(|(other, _)| other.main() != actor);
    }

    pub(super) fn timeout(&self, session: SessionId) -> Duration {
        self.sessions.get(&session).map_or(Duration::ZERO, |session| session.timeout)
    }

    /// The live sessions of those who have said something.
    pub(super) fn open(&self) -> Vec<(SessionId, ActorId)> {
        let open = self.sessions.iter().filter(|(_, session)| session.ended.is_none());
        open.filter_map(|(id, session)| Some((*id, session.actor?))).collect()
    }

    /// Of these, those whose code has not come to its end.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = (ActorId, SessionId)> {
        let open = self.open().into_iter().map(|(session, actor)| (actor, session));
        open.filter(|(actor, _)| !self.finished.contains(actor))
    }

    /// One that has entered or begun something, and what.
    pub(super) fn midst(&self) -> Option<&(ActorId, Text)> {
        self.midst.first()
    }

    /// Who waits for a lock.
    pub(super) fn waiting(&self) -> Vec<ActorId> {
        let waiting: BTreeSet<ActorId> = self.waiting.iter().map(|(actor, _)| actor.main()).collect();
        waiting.into_iter().collect()
    }

    /// For how long nobody has said anything.
    pub(super) fn silence(&self) -> Duration {
        self.heard.elapsed()
    }

    /// The sessions of all who have said something, by their names.
    pub(super) fn names(&self) -> BTreeMap<String, String> {
        let named = self.sessions.iter().filter_map(|(id, session)| Some((session.actor?, id)));
        named.map(|(actor, id)| (actor.to_string(), id.to_string())).collect()
    }
}

//! The sessions there are, whose they are, and what their clients are in the midst of.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use zk_api::{SessionId, Text};
use zk_trials::event::{ActorId, End, Observation};

/// What is known of clients.
pub(super) struct Who {
    sessions: BTreeMap<SessionId, Session>,
    /// How many sessions each client has had.
    lives: BTreeMap<u16, u16>,
    /// Who has asked for a lock and was not granted it yet.
    waiting: BTreeSet<(ActorId, Text)>,
    /// Who has entered or begun something, and not left or ended it.
    midst: BTreeSet<(ActorId, Text)>,
    /// Whose code has come to its end, in this order.
    finished: Vec<(ActorId, End)>,
    /// Whose process is gone. Their sessions may live on for a while.
    gone: BTreeSet<ActorId>,
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
            finished: Vec::new(),
            gone: BTreeSet::new(),
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
        match self.has_finished(actor) {
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

    pub(super) fn finishes(&mut self, actor: ActorId, end: End) {
        self.finished.push((actor.main(), end));
        self.forget(actor.main());
    }

    fn has_finished(&self, actor: ActorId) -> bool {
        self.finished.iter().any(|(other, _)| *other == actor)
    }

    /// Which ends a client's code has come to.
    pub(super) fn ends_of(&self, client: u16) -> Vec<End> {
        let of = self.finished.iter().filter(|(actor, _)| actor.process == client);
        of.map(|(_, end)| *end).collect()
    }

    /// A client's process is gone. Gives those of its lives whose code had not come to its end: in one, mostly.
    pub(super) fn is_gone(&mut self, client: u16) -> Vec<ActorId> {
        let open: Vec<ActorId> = self.open().into_iter().map(|(_, actor)| actor).collect();
        let lost: Vec<ActorId> = open.into_iter().filter(|actor| actor.process == client).collect();
        lost.iter().for_each(|actor| self.forget(*actor));
        self.gone.extend(lost.iter().copied());
        lost.into_iter().filter(|actor| !self.has_finished(*actor)).collect()
    }

    /// The session that a client has now.
    pub(super) fn session_of(&self, client: u16) -> Option<SessionId> {
        let mut all = self.sessions.iter().filter(|(_, session)| session.ended.is_none());
        let is_it = |actor: ActorId| actor.process == client && !self.gone.contains(&actor);
        all.rfind(|(_, session)| session.actor.is_some_and(is_it)).map(|(id, _)| *id)
    }

    /// Whether a client has ever said anything.
    pub(super) fn has_spoken(&self, client: u16) -> bool {
        self.lives.contains_key(&client)
    }

    /// Whether a client is in the midst of something.
    pub(super) fn is_in_midst(&self, client: u16) -> bool {
        self.midst.iter().any(|(actor, _)| actor.process == client)
    }

    /// Whether a session's znodes may go by themselves, or by somebody who says nothing: then others may wait for that.
    pub(super) fn may_go(&self, session: SessionId) -> bool {
        self.sessions.get(&session).is_some_and(|known| match known.actor {
            Some(actor) => known.ended.is_some() || self.gone.contains(&actor),
            None => true,
        })
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
        open.filter(|(actor, _)| !self.has_finished(*actor) && !self.gone.contains(actor))
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

//! The sessions there are, whose they are, and what their clients are in the midst of.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use zk_api::{SessionId, Text};
use zk_harness::event::{ActorId, End, Observation};

/// What is known of clients.
#[derive(Default)]
pub(crate) struct Who {
    sessions: BTreeMap<SessionId, Session>,
    /// How many lives each client has had.
    lives: BTreeMap<u16, u16>,
    /// All numbers below this one are some client's.
    next: u16,
    /// Who has asked for a lock and was not granted it yet.
    waiting: BTreeSet<(ActorId, Text)>,
    /// Who has entered or begun something, and not left or ended it.
    midst: BTreeSet<(ActorId, Text)>,
    /// Lives that began beside a former one of the same client, whose session had not ended, and have begun nothing
    /// themselves. Either the client uses both sessions, or it has given up the former one and goes on.
    beside: BTreeSet<ActorId>,
    /// Whose code has come to its end, in this order.
    finished: Vec<(ActorId, End)>,
    /// Whose process is gone. Their sessions may live on for a while.
    gone: BTreeSet<ActorId>,
    /// When anybody last said anything.
    heard: Option<Instant>,
}

struct Session {
    timeout: Duration,
    /// Whether it has expired, or was closed.
    ended: Option<bool>,
    /// Who has it, once that one has said something.
    actor: Option<ActorId>,
}

impl Who {
    pub(super) fn opened(&mut self, session: SessionId, timeout: Duration) {
        self.sessions.insert(session, Session { timeout, ended: None, actor: None });
    }

    /// How many sessions there have been.
    pub(crate) fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Gives whose it was, if that one has said anything.
    pub(super) fn closed(&mut self, session: SessionId, expired: bool) -> Option<ActorId> {
        let known = self.sessions.get_mut(&session)?;
        known.ended = Some(expired);
        known.actor
    }

    /// Whose session it is: that of a client with this number, or with the next one that nobody has. `begins` is called
    /// if it says something for the first time, and learns whether its session has ended.
    ///
    /// A client that says something with another session goes on with what it was about, if its former one has ended:
    /// client libraries renew sessions by themselves.
    pub(super) fn actor(
        &mut self,
        session: SessionId,
        client: Option<u16>,
        begins: &mut dyn FnMut(ActorId, Option<bool>),
    ) -> Result<ActorId, String> {
        self.heard = Some(Instant::now());
        let Some(known) = self.sessions.get(&session) else {
            return Err(format!("{session} was never a session here; GET /sessions lists them"));
        };
        let (ended, actor) = (known.ended, known.actor);
        if let (Some(number), Some(actor)) = (client, actor.filter(|actor| Some(actor.process) != client)) {
            return Err(format!("client: {session} is of client {} already, not of {number}", actor.process));
        }
        let actor = match actor.or_else(|| self.renews(client?)) {
            Some(actor) => actor,
            None => self.begins_life(client)?,
        };
        if let Some(known) = self.sessions.get_mut(&session).filter(|known| known.actor.is_none()) {
            known.actor = Some(actor);
            begins(actor, ended);
        }
        match self.has_finished(actor) {
            true => Err(format!("{actor} has finished already")),
            false => Ok(actor),
        }
    }

    /// A client whose sessions have all ended, and that goes on.
    fn renews(&self, client: u16) -> Option<ActorId> {
        let life = self.lives.get(&client)?.checked_sub(1)?;
        let actor = ActorId { process: client, life: u8::try_from(life).ok()?, thread: 0 };
        let goes_on = !self.has_finished(actor) && !self.gone.contains(&actor) && !self.has_session(actor);
        goes_on.then_some(actor)
    }

    /// The least number that nobody has, if there is one.
    fn next(&mut self) -> Option<u16> {
        let next = (self.next..=u16::MAX).find(|number| !self.lives.contains_key(number))?;
        self.next = next;
        Some(next)
    }

    fn begins_life(&mut self, client: Option<u16>) -> Result<ActorId, String> {
        let process = client.or_else(|| self.next()).ok_or("there are too many clients")?;
        let lives = self.lives.entry(process).or_default();
        let life = u8::try_from(*lives).map_err(|_| format!("client {process} has had 256 lives"))?;
        *lives += 1;
        let actor = ActorId { process, life, thread: 0 };
        let former = ActorId { life: life.saturating_sub(1), ..actor };
        if life > 0 && !self.has_finished(former) && !self.gone.contains(&former) && self.has_session(former)
        {
            self.beside.insert(actor);
        }
        Ok(actor)
    }

    /// Takes note of what somebody is about.
    pub(super) fn hears(&mut self, actor: ActorId, what: &Observation) {
        let about = (actor, what.subject().clone());
        if matches!(what, Observation::Attempts { .. } | Observation::Begins { .. }) {
            self.beside.remove(&actor.main());
        }
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
    pub(crate) fn ends_of(&self, client: u16) -> Vec<End> {
        let of = self.finished.iter().filter(|(actor, _)| actor.process == client);
        of.map(|(_, end)| *end).collect()
    }

    /// A client's process is gone. Gives those of its lives whose code had not come to its end: in one, mostly.
    pub(super) fn is_gone(&mut self, client: u16) -> Vec<ActorId> {
        let all = self.sessions.values().filter_map(|session| session.actor);
        let lost: BTreeSet<ActorId> = all.filter(|actor| actor.process == client).collect();
        lost.iter().for_each(|actor| self.forget(*actor));
        let lost = lost.into_iter().filter(|actor| self.gone.insert(*actor));
        let lost: Vec<ActorId> = lost.collect();
        lost.into_iter().filter(|actor| !self.has_finished(*actor)).collect()
    }

    /// Whether somebody has said something with this session.
    pub(super) fn is_heard(&self, session: SessionId) -> bool {
        self.sessions.get(&session).is_some_and(|known| known.actor.is_some())
    }

    /// The session that a client has now.
    pub(crate) fn session_of(&self, client: u16) -> Option<SessionId> {
        let mut all = self.sessions.iter().filter(|(_, session)| session.ended.is_none());
        let is_it = |actor: ActorId| actor.process == client && !self.gone.contains(&actor);
        all.rfind(|(_, session)| session.actor.is_some_and(is_it)).map(|(id, _)| *id)
    }

    /// Whether all sessions that a client has told of have ended, one of them by expiry.
    pub(crate) fn has_expired(&self, client: u16) -> bool {
        let of = |session: &&Session| session.actor.is_some_and(|actor| actor.process == client);
        let mut ends = self.sessions.values().filter(of).map(|session| session.ended);
        ends.clone().all(|ended| ended.is_some()) && ends.any(|ended| ended == Some(true))
    }

    /// Whether a client has ever said anything.
    pub(crate) fn has_spoken(&self, client: u16) -> bool {
        self.lives.contains_key(&client)
    }

    /// Whether a client is in the midst of something.
    pub(crate) fn is_in_midst(&self, client: u16) -> bool {
        self.midst.iter().any(|(actor, _)| actor.process == client)
    }

    /// Whether a session's znodes may go by themselves, or by somebody who says nothing: then others may wait for that.
    pub(super) fn may_go(&self, session: SessionId) -> bool {
        self.sessions.get(&session).is_some_and(|known| match known.actor {
            Some(actor) => known.ended.is_some() || self.gone.contains(&actor),
            None => true,
        })
    }

    /// Whose this session is, if what that one is about was said with another session, or by another.
    pub(super) fn is_beside(&self, session: SessionId) -> Option<ActorId> {
        let actor = self.sessions.get(&session)?.actor?;
        self.beside.contains(&actor).then_some(actor)
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

    fn has_session(&self, actor: ActorId) -> bool {
        self.open().iter().any(|(_, other)| *other == actor.main())
    }

    /// Whether the session of somebody has expired that has not come to its end, and may have another one soon.
    pub(super) fn may_renew(&self) -> bool {
        let expired = self.sessions.values().filter(|session| session.ended == Some(true));
        let mut actors = expired.filter_map(|session| session.actor);
        actors.any(|actor| self.renews(actor.process) == Some(actor))
    }

    /// Of these, those whose code has not come to its end.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = (ActorId, SessionId)> {
        let open = self.open().into_iter().map(|(session, actor)| (actor, session));
        open.filter(|(actor, _)| !self.has_finished(*actor) && !self.gone.contains(actor))
    }

    /// One that has entered or begun something, and what.
    pub(super) fn midst(&self) -> Option<&(ActorId, Text)> {
        self.midst.iter().find(|(actor, _)| self.has_session(*actor))
    }

    /// Who waits for a lock.
    pub(super) fn waiting(&self) -> Vec<ActorId> {
        let waiting: BTreeSet<ActorId> = self.waiting.iter().map(|(actor, _)| actor.main()).collect();
        waiting.into_iter().filter(|actor| self.has_session(*actor)).collect()
    }

    /// For how long nobody has said anything.
    pub(super) fn silence(&self) -> Duration {
        self.heard.map_or(Duration::MAX, |heard| heard.elapsed())
    }

    /// Whose the sessions are, of all who have said something.
    pub(super) fn names(&self) -> BTreeMap<String, String> {
        let named = self.sessions.iter().filter_map(|(id, session)| Some((id, session.actor?)));
        named.map(|(id, actor)| (id.to_string(), actor.to_string())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "/lock";

    /// Client 0 asks for a lock with its session 1, and says this with its session 2.
    fn two_sessions(former_ends: bool, says: &Observation) -> (Vec<ActorId>, Option<ActorId>) {
        let mut who = Who::default();
        let mut actors = Vec::new();
        let attempts = Observation::Attempts { lock: PATH.into() };
        for (id, what) in [(1, &attempts), (2, says)] {
            who.opened(SessionId::new(id), Duration::from_secs(4));
            let actor = who.actor(SessionId::new(id), Some(0), &mut |_, _| ()).expect("it may speak");
            who.hears(actor, what);
            actors.push(actor);
            if former_ends && id == 1 {
                who.closed(SessionId::new(id), true);
            }
        }
        (actors, who.is_beside(SessionId::new(2)))
    }

    /// The number of the 65,537th was looked for for ever, and nobody else was heard.
    #[test]
    fn one_client_more_than_there_are_numbers_is_refused() {
        let mut who = Who::default();
        let mut speaks = |id, client| {
            who.opened(SessionId::new(id), Duration::from_secs(4));
            who.actor(SessionId::new(id), client, &mut |_, _| ()).map(|actor| actor.process)
        };
        assert_eq!(speaks(1, Some(2)), Ok(2));
        let others = (2..=1 << 16).map(|id| speaks(id, None));
        assert!(others.eq((0..=u16::MAX).filter(|number| *number != 2).map(Ok)));
        assert_eq!(speaks(1 << 20, None), Err("there are too many clients".into()));
        assert_eq!(speaks(1 << 21, Some(7)), Ok(7), "it has a number");
    }

    fn granted() -> Observation {
        Observation::Granted { lock: PATH.into(), node: "/lock/a".into(), token: None }
    }

    /// Client 0 with so many sessions, one after the other, which says these with each.
    fn who(sessions: i64, all: &[Observation]) -> (Who, ActorId) {
        let (mut who, mut last) = (Who::default(), ActorId { process: 0, life: 0, thread: 0 });
        for id in 1..=sessions {
            who.opened(SessionId::new(id), Duration::from_secs(4));
            last = who.actor(SessionId::new(id), Some(0), &mut |_, _| ()).expect("it may speak");
            all.iter().for_each(|what| who.hears(last, what));
        }
        (who, last)
    }

    #[test]
    fn who_has_what_it_asked_for_waits_no_more_and_who_gave_it_back_is_through() {
        let lock = || PATH.into();
        let asks = Observation::Attempts { lock: lock() };
        let (is_waiting, is_in_midst) = (|who: &Who| who.waiting().len(), |who: &Who| who.midst().is_some());
        let told = |all: &[Observation]| {
            let (who, _) = who(1, all);
            (is_waiting(&who), is_in_midst(&who))
        };
        assert_eq!(told(std::slice::from_ref(&asks)), (1, false));
        assert_eq!(told(&[asks.clone(), granted()]), (0, true));
        assert_eq!(told(&[asks.clone(), granted(), Observation::Leaves { lock: lock() }]), (0, false));
        for over in
            [Observation::Released { lock: lock() }, Observation::GivesUp { lock: lock(), why: "".into() }]
        {
            assert_eq!(told(&[asks.clone(), granted(), over.clone()]), (0, false), "{over}");
            assert_eq!(told(&[asks.clone(), over.clone()]), (0, false), "{over}");
        }
        let (mut who, _) = who(1, &[asks]);
        who.closed(SessionId::new(1), true);
        assert_eq!(is_waiting(&who), 0, "its session is over");
    }

    #[test]
    fn whose_process_is_gone_is_about_nothing_and_may_leave_what_goes_by_itself() {
        let (mut who, actor) = who(1, &[granted()]);
        assert_eq!((who.unfinished().count(), who.may_go(SessionId::new(1))), (1, false));
        assert_eq!(who.is_gone(0), [actor]);
        assert_eq!((who.unfinished().count(), who.may_go(SessionId::new(1))), (0, true));
        assert_eq!(who.midst(), None);
        assert_eq!(who.is_gone(0), [], "it is told once");
        let (mut ended, _) = self::who(1, &[]);
        ended.closed(SessionId::new(1), true);
        assert!(ended.may_go(SessionId::new(1)));
        let (mut finished, actor) = self::who(1, &[]);
        finished.finishes(actor, End::Done);
        assert_eq!(finished.is_gone(0), [], "it had come to its end");
    }

    #[test]
    fn who_has_another_session_has_not_expired_and_renews_none() {
        let (mut who, _) = who(2, &[]);
        who.closed(SessionId::new(1), true);
        assert!(!who.has_expired(0), "it has another one");
        who.closed(SessionId::new(2), false);
        assert!(who.has_expired(0));
        for (expired, renews) in [(true, true), (false, false)] {
            let (mut who, _) = self::who(1, &[]);
            assert!(!who.may_renew(), "it has it");
            who.closed(SessionId::new(1), expired);
            assert_eq!((who.may_renew(), who.has_expired(0)), (renews, renews));
        }
    }

    #[test]
    fn of_a_session_beside_a_living_one_nobody_knows_what_it_is_about_until_it_begins_something() {
        let attempts = Observation::Attempts { lock: PATH.into() };
        let lives = |lives: [u8; 2]| lives.map(|life| ActorId { process: 0, life, thread: 0 }).to_vec();
        assert_eq!(two_sessions(true, &granted()), (lives([0, 0]), None), "a session that was renewed");
        let second = lives([0, 1])[1];
        assert_eq!(
            two_sessions(false, &granted()),
            (lives([0, 1]), Some(second)),
            "it goes on, or both are used"
        );
        assert_eq!(two_sessions(false, &attempts), (lives([0, 1]), None), "both are used");
    }
}

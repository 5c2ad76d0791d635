//! The steps of a record, taken by `Service`.

use super::client::{Client, Incoming, Sent, State};
use super::prophecy::{Commit, Prophecy};
use super::same::{Names, compared};
use super::verdict::{Accepted, Rejection, Restriction, Why};
use crate::message::Message;
use crate::service::{Order, Rules, Service};
use crate::symmetry::session_of;
use std::collections::BTreeMap;
use std::sync::Arc;
use zk_api::{ErrorCode, Request, Response, SessionId, Text, WatchedEvent, Zxid};
use zk_harness::event::ActorId;
use zk_proto::message::{ToClient, WatchList, Xid};
use zk_proto::prepare::acl;
use zk_proto::visible::{Cause, VisibleStep};
use zk_proto::watching::watches_in;

/// A session is named by a byte, and zero names none.
const SESSIONS_MAX: usize = 254;

/// The group of what a client is told of the time in which it was away.
const MISSED: usize = usize::MAX;

type Judged<T = ()> = Result<T, Rejection>;

/// `Service` on its way through a record.
pub struct Judge<'a> {
    steps: &'a [VisibleStep],
    at: usize,
    restriction: Option<Restriction>,
    rules: Rules,
    service: Arc<Service>,
    clients: Vec<Client>,
    by_session: BTreeMap<SessionId, usize>,
    later: Prophecy,
    /// How many of the record's transactions were taken.
    taken: usize,
    /// The record's zxids of those that are transactions of `Service` as well.
    done: Vec<Zxid>,
    names: Names,
    accepted: Accepted,
}

impl<'a> Judge<'a> {
    /// Before the first step of a record, with what there is by then.
    pub fn new(
        paths: &[Text],
        counters: &[(Text, i32)],
        steps: &'a [VisibleStep],
        restriction: Option<Restriction>,
    ) -> Judged<Judge<'a>> {
        let later = Prophecy::of(steps)?;
        if later.sessions.len() > SESSIONS_MAX {
            let what = format!("{} sessions, and at most {SESSIONS_MAX} can be named", later.sessions.len());
            return Err(Rejection { step: 0, why: Why::Record, what });
        }
        let actors: Vec<ActorId> =
            (0..later.sessions.len()).map(|n| ActorId { process: n as u16, life: 0, thread: 0 }).collect();
        let lag = if restriction == Some(Restriction::NoLag) { 0 } else { usize::MAX };
        let stale_syncs = restriction != Some(Restriction::NoStaleSyncs);
        let rules = Rules {
            lag,
            stale_syncs,
            goes_back: restriction != Some(Restriction::ViewsNeverGoBack),
            lost_answers_bind: restriction == Some(Restriction::LostAnswersBind),
            outlives: restriction != Some(Restriction::EndsAreKnownAtOnce),
            registers_late: restriction != Some(Restriction::WatchesComeAtOnce),
            counts_wakes: true,
            true_zxids: true,
            pzxids: true,
            symmetry: false,
            ranks: false,
        };
        let named = later.sessions.iter().copied().zip(actors.iter().map(|actor| session_of(*actor, 0, 0)));
        let names = Names { sessions: named.collect(), ..Names::default() };
        Ok(Judge {
            steps,
            at: 0,
            restriction,
            service: Service::new(paths, counters, &actors, &rules),
            rules,
            clients: later.sessions.iter().map(|session| Client::new(*session)).collect(),
            by_session: later.sessions.iter().copied().zip(0..).collect(),
            later,
            taken: 0,
            done: Vec::new(),
            names,
            accepted: Accepted::default(),
        })
    }

    /// All steps.
    pub fn run(mut self) -> Judged<Accepted> {
        let steps = self.steps;
        for (at, step) in steps.iter().enumerate() {
            self.at = at;
            self.step(step)?;
        }
        Ok(self.accepted)
    }

    fn step(&mut self, step: &VisibleStep) -> Judged {
        match step {
            VisibleStep::Begins { session } => {
                let me = self.client(*session)?;
                self.clients[me].state = State::Connected;
                Ok(())
            }
            VisibleStep::Sends { session, xid, request } => {
                let me = self.client(*session)?;
                let sent = Sent { xid: *xid, request: request.clone(), proven: Arc::default() };
                self.clients[me].queue.push_back(sent);
                Ok(())
            }
            VisibleStep::Gets { session, message } => {
                let me = self.client(*session)?;
                match message {
                    ToClient::Reply { xid, zxid, result } => self.gets_answer(me, *xid, *zxid, result),
                    ToClient::Event { zxid, event } => self.gets_event(me, *zxid, event),
                    ToClient::WatchesSet { .. } | ToClient::Connected(_) | ToClient::Pong { .. } => Ok(()),
                }
            }
            VisibleStep::Loses { session } => {
                let me = self.client(*session)?;
                self.loses(me)
            }
            VisibleStep::Connects { session, watches } => {
                let me = self.client(*session)?;
                self.connects(me, watches)
            }
            VisibleStep::Expires { session } => {
                let me = self.client(*session)?;
                self.expires(me)
            }
            VisibleStep::Ends { session } => {
                let me = self.client(*session)?;
                if self.clients[me].state == State::Connected && self.service.serves(me) {
                    self.loses(me)?;
                }
                self.clients[me].state = State::Over;
                Ok(())
            }
            VisibleStep::Commits { zxid, .. } => {
                while self.later.commits.get(self.taken).is_some_and(|commit| commit.zxid <= *zxid) {
                    self.takes_effect()?;
                }
                Ok(())
            }
        }
    }

    fn client(&self, session: SessionId) -> Judged<usize> {
        let none = || self.rejected(Why::Record, format!("session {session} has not begun"));
        self.by_session.get(&session).copied().ok_or_else(none)
    }

    fn rejected(&self, why: Why, what: String) -> Rejection {
        Rejection { step: self.at, why, what }
    }

    /// Gives the service an order, and puts what it sends into the inboxes.
    fn order(&mut self, order: &Order<'_>, xid: Option<Xid>, group: usize) {
        let served = self.service.step(order, &self.rules);
        self.service = served.service;
        self.accepted.stale_reads += usize::from(served.stale);
        for (to, post) in served.post {
            for incoming in &post.messages {
                let message = incoming.message.clone();
                let xid = xid.filter(|_| matches!(message, Message::Answer { .. }));
                if message != Message::Lost {
                    self.clients[to].inbox.push_back(Incoming { xid, group, message });
                }
            }
        }
    }

    /// How many transactions a client's view has.
    fn view(&self, me: usize) -> usize {
        self.done.len() - self.service.behind(me)
    }

    /// Of which of our transactions a server knows that is so far.
    fn place(&self, zxid: Zxid) -> usize {
        self.done.partition_point(|done| *done <= zxid)
    }

    /// A client's view is at least so far.
    fn catch_up(&mut self, me: usize, to: usize) {
        while self.service.lags(me) && self.view(me) < to {
            let group = self.view(me) + 1;
            self.order(&Order::CatchUp { client: me as u8 }, None, group);
        }
    }

    /// The next transaction takes effect.
    fn takes_effect(&mut self) -> Judged {
        let commit = self.later.commits[self.taken];
        for me in 0..self.clients.len() {
            self.answers_before(me, commit.zxid)?;
        }
        self.taken += 1;
        match commit.cause {
            // A model's sessions are open from the beginning.
            Cause::Opening => {}
            Cause::Upkeep => {
                let what = format!("{} is no client's, and models have none of these", commit.zxid);
                return Err(self.rejected(Why::Record, what));
            }
            Cause::Refused(_) => {
                if let Some(me) = self.by_session.get(&commit.session) {
                    self.clients[*me].queue.retain(|sent| sent.xid != commit.xid);
                }
            }
            // Of one that never began, no client knows, and nothing is its own.
            Cause::Expiry if !self.by_session.contains_key(&commit.session) => {}
            Cause::Expiry => self.expiry(&commit)?,
            Cause::Request => self.request(&commit)?,
        }
        // A view that its client never sees so old goes along. That of a new session may be older than the session:
        // its client, connected elsewhere before any answer, has seen nothing.
        for me in 0..self.clients.len() {
            if self.clients[me].is_over {
                continue;
            }
            let first = self.later.first_heard(self.clients[me].session);
            let place = first.map_or(usize::MAX, |first| self.place(first));
            self.catch_up(me, place);
        }
        Ok(())
    }

    /// The reads that the record's server answered before this transaction are answered before it here as well.
    fn answers_before(&mut self, me: usize, zxid: Zxid) -> Judged {
        let session = self.clients[me].session;
        while self.service.serves(me) && self.clients[me].ghosts.is_empty() {
            let Some(first) = self.clients[me].queue.front() else { break };
            let at = self.later.answered.get(&(session, first.xid));
            if first.request.is_write() || at.is_none_or(|at| *at >= zxid) {
                break;
            }
            self.read(me)?;
        }
        Ok(())
    }

    /// The first request of a client, which is a read, is served.
    fn read(&mut self, me: usize) -> Judged {
        while let Some(ghost) = self.clients[me].ghosts.front() {
            // What the former connection still carries comes first in a model. It was on its way by now.
            let xid = ghost.xid;
            self.hastens(me, xid)?;
        }
        let sent = self.clients[me].queue.pop_front().expect("a read is to be served");
        if !self.service.serves(me) {
            let what = format!("{} of a session that is over is served", sent.request.name());
            return Err(self.rejected(Why::ServedAfterTheEnd, what));
        }
        self.accepted.served_after_the_end += usize::from(self.clients[me].is_over);
        self.registers(me);
        let at = self.later.answered.get(&(self.clients[me].session, sent.xid)).copied();
        let place = at.map_or(0, |at| self.place(at));
        let syncs = matches!(sent.request, Request::Sync { .. }) && !self.rules.stale_syncs;
        self.catch_up(me, if syncs { usize::MAX } else { place });
        self.accepted.ahead += usize::from(at.is_some() && self.view(me) > place);
        let order = Order::Serve { client: me as u8, request: &sent.request };
        self.order(&order, Some(sent.xid), self.view(me));
        Ok(())
    }

    /// All takes effect up to a request that is still on its way.
    fn hastens(&mut self, me: usize, xid: Xid) -> Judged {
        let nth = self.later.takes_effect(self.clients[me].session, xid).expect("a ghost takes effect");
        while self.taken <= nth {
            self.takes_effect()?;
        }
        Ok(())
    }

    /// The news that a client is connected may be on its way when its session ends. What a client does when it has
    /// them is the same whether they came before that or after, and nobody else knows of them.
    fn connects_before(&mut self, me: usize) -> Judged {
        let client = &self.clients[me];
        let next = self.steps[self.at..].iter().find(|step| match step {
            VisibleStep::Connects { session, .. }
            | VisibleStep::Expires { session }
            | VisibleStep::Ends { session } => *session == client.session,
            VisibleStep::Begins { .. }
            | VisibleStep::Sends { .. }
            | VisibleStep::Gets { .. }
            | VisibleStep::Loses { .. }
            | VisibleStep::Commits { .. } => false,
        });
        if let (State::Disconnected, Some(VisibleStep::Connects { watches, .. })) = (client.state, next) {
            self.accepted.early_connects += 1;
            self.connects(me, watches)?;
            self.clients[me].connects_later = true;
        }
        Ok(())
    }

    /// A leader that has proposed a session's end tells its client before that is committed. Then the end, and all
    /// before it, was on its way.
    fn hastens_end(&mut self, me: usize) -> Judged {
        let session = self.clients[me].session;
        let ends = |commit: &Commit| commit.session == session && commit.cause == Cause::Expiry;
        if self.restriction != Some(Restriction::NoFalseExpiries) {
            // That it lives on, whatever is on its way, is what it may do.
            self.accepted.false_expiries += 1;
            return Ok(());
        }
        let lives = || format!("session {session} lives");
        let Some(at) = self.later.commits[self.taken..].iter().position(ends) else {
            return Err(self.rejected(Why::ExpiryThatWasNot, lives()));
        };
        self.accepted.early_ends += 1;
        for _ in 0..=at {
            let taken = self.takes_effect();
            taken.map_err(|why| {
                self.rejected(Why::ExpiryThatWasNot, format!("{}, and cannot have ended: {why}", lives()))
            })?;
        }
        Ok(())
    }

    /// A request of a client takes effect.
    fn request(&mut self, commit: &Commit) -> Judged {
        let me = self.client(commit.session)?;
        let xid = commit.xid;
        self.accepted.writes += 1;
        if self.clients[me].is_over {
            let what = format!("request {} of session {}, which is over", xid.0, commit.session);
            return Err(self.rejected(Why::LateRequest, what));
        }
        if self.clients[me].ghosts.front().is_some_and(|ghost| ghost.xid == xid) {
            let ghost = self.clients[me].ghosts.pop_front().expect("it was just seen");
            self.accepted.late_writes += 1;
            self.clients[me].is_over |= matches!(ghost.request, Request::CloseSession);
            let (request, identities) = (&ghost.request, &*ghost.proven);
            let order = Order::ServeLost { client: me as u8, request, identities };
            self.begin(commit.zxid);
            self.order(&order, None, self.done.len());
            return Ok(());
        }
        let Some(place) = self.clients[me].queue.iter().position(|sent| sent.xid == xid) else {
            let what =
                format!("request {} of session {} takes effect before it is sent", xid.0, commit.session);
            return Err(self.rejected(Why::LateRequest, what));
        };
        if !self.clients[me].ghosts.is_empty() {
            let what = format!("request {} overtakes one of the former connection", xid.0);
            return Err(self.rejected(Why::OvertakenRequest, what));
        }
        for _ in 0..place {
            if self.clients[me].queue[0].request.is_write() {
                let what = format!("request {} overtakes {}", xid.0, self.clients[me].queue[0].xid.0);
                return Err(self.rejected(Why::OvertakenRequest, what));
            }
            self.read(me)?;
        }
        let sent = self.clients[me].queue.pop_front().expect("it was just seen");
        self.registers(me);
        // Its server has applied all before it answers.
        self.catch_up(me, usize::MAX);
        self.clients[me].is_over |= matches!(sent.request, Request::CloseSession);
        let order = Order::Serve { client: me as u8, request: &sent.request };
        self.begin(commit.zxid);
        self.order(&order, Some(sent.xid), self.done.len());
        Ok(())
    }

    /// A transaction of the record becomes one of `Service`.
    fn begin(&mut self, zxid: Zxid) {
        self.done.push(zxid);
        self.names.zxids.insert(zxid, self.service.tree().last_zxid().next());
    }

    fn expiry(&mut self, commit: &Commit) -> Judged {
        let me = self.client(commit.session)?;
        if self.clients[me].is_over {
            let what = format!("session {} is over already", commit.session);
            return Err(self.rejected(Why::Record, what));
        }
        self.accepted.expiries += 1;
        let client = &self.clients[me];
        if self.restriction == Some(Restriction::NoExpiryBeforeAnswer)
            && (client.answers() > 0 || !client.queue.is_empty())
        {
            let what = format!("session {} expires, and not all that it asked is answered", commit.session);
            return Err(self.rejected(Why::ExpiryBeforeAnswer, what));
        }
        if !self.rules.outlives {
            self.connects_before(me)?;
            // What its server still tells it was before the end.
            let heard = self.later.last_heard(commit.session, commit.zxid);
            self.catch_up(me, self.place(heard));
        }
        self.begin(commit.zxid);
        self.order(&Order::Expire { client: me as u8 }, None, self.done.len());
        self.clients[me].ghosts.clear();
        self.clients[me].is_over = true;
        Ok(())
    }

    fn gets_answer(
        &mut self,
        me: usize,
        xid: Xid,
        zxid: Zxid,
        result: &Result<Response, ErrorCode>,
    ) -> Judged {
        while let Some(place) = self.clients[me].queue.iter().position(|sent| sent.xid == xid) {
            if self.clients[me].queue.iter().take(place + 1).any(|sent| sent.request.is_write()) {
                let what = format!("{result:?} is the answer to a write that has not taken effect");
                return Err(self.rejected(Why::DifferentAnswer, what));
            }
            self.read(me)?;
        }
        let Some(incoming) = self.clients[me].inbox.pop_front() else {
            let why = if !self.service.serves(me) { Why::ServedAfterTheEnd } else { Why::DifferentAnswer };
            return Err(self.rejected(why, format!("got {result:?}, and nothing was sent")));
        };
        let Message::Answer { answer, sets, .. } = &incoming.message else {
            let what = format!("got {result:?} before {:?}", incoming.message);
            return Err(self.rejected(Why::DifferentEvent, what));
        };
        let (theirs, ours) = (self.names.ours(result), compared(answer));
        if incoming.xid != Some(xid) || theirs != ours {
            let ahead = self.view(me) > self.place(zxid);
            let why = if ahead { Why::ViewGoesBack } else { Why::DifferentAnswer };
            let what =
                format!("got {theirs:?} for request {}, expected {ours:?} for {:?}", xid.0, incoming.xid);
            return Err(self.rejected(why, what));
        }
        self.accepted.answers += 1;
        let left = self.clients[me].answers();
        self.order(&Order::Hear { client: me as u8, left }, None, MISSED);
        let sets = sets.clone().filter(|sets| !self.clients[me].watches.contains(sets));
        self.clients[me].watches.extend(sets);
        Ok(())
    }

    fn gets_event(&mut self, me: usize, zxid: Option<Zxid>, event: &WatchedEvent) -> Judged {
        self.registers(me);
        let up_to = zxid.map_or(0, |zxid| self.place(zxid));
        self.catch_up(me, up_to);
        if !self.clients[me].take_event(event) {
            let sent: Vec<_> =
                self.clients[me].inbox.iter().map(|incoming| &incoming.message).take(2).collect();
            let why = match (self.service.serves(me), sent.is_empty()) {
                (false, true) => Why::ServedAfterTheEnd,
                (true, true) if zxid.is_some() && self.view(me) > up_to => Why::ViewGoesBack,
                _ => Why::DifferentEvent,
            };
            let what = format!("got {:?} of {} ({zxid:?}), expected {sent:?}", event.kind, event.path);
            return Err(self.rejected(why, what));
        }
        self.accepted.events += 1;
        self.clients[me].hears(event);
        Ok(())
    }

    fn loses(&mut self, me: usize) -> Judged {
        self.accepted.losses += 1;
        let session = self.clients[me].session;
        let mut ghosts = Vec::new();
        let mut cut_off = None;
        let mut proven = self.service.identities(me).clone();
        for sent in std::mem::take(&mut self.clients[me].queue) {
            if let Request::Auth { scheme, credentials } = &sent.request {
                proven = acl::prove(&proven, scheme, credentials, None).unwrap_or(proven);
            }
            if !sent.request.is_write() {
                continue;
            }
            let sent = Sent { proven: proven.clone(), ..sent };
            match (self.later.takes_effect(session, sent.xid), cut_off) {
                (Some(_), None) => ghosts.push(sent),
                (Some(_), Some(Xid(lost))) => {
                    let what = format!("request {} takes effect, and {lost} before it does not", sent.xid.0);
                    return Err(self.rejected(Why::OvertakenRequest, what));
                }
                (None, _) => cut_off = Some(sent.xid),
            }
        }
        let client = &mut self.clients[me];
        if self.restriction == Some(Restriction::AnswersNeverLost)
            && (client.answers() > 0 || !ghosts.is_empty())
        {
            let what = format!("session {session} loses its connection, and an answer with it");
            return Err(self.rejected(Why::LostAnswer, what));
        }
        client.ghosts.extend(ghosts);
        client.state = State::Disconnected;
        let lost = client.events();
        client.inbox.clear();
        let watches = client.watches.clone();
        let before = self.view(me);
        if self.service.serves(me) || self.service.can_go_back(me) {
            self.order(&Order::Cut { client: me as u8, lost, watches: &watches }, None, MISSED);
        }
        self.accepted.went_back += usize::from(self.view(me) < before);
        Ok(())
    }

    fn connects(&mut self, me: usize, watches: &WatchList) -> Judged {
        let session = self.clients[me].session;
        if std::mem::take(&mut self.clients[me].connects_later) {
            return Ok(());
        }
        if !self.service.serves(me) {
            let what = format!("session {session}, which is over");
            return Err(self.rejected(Why::ConnectedAfterTheEnd, what));
        }
        self.accepted.connected_after_the_end += usize::from(self.clients[me].is_over);
        if self.clients[me].state != State::Disconnected {
            let what = format!("session {session} is connected, and is not without a connection");
            return Err(self.rejected(Why::Record, what));
        }
        let watches = watches_in(watches);
        self.clients[me].registers_at = self.later.watched_at.get(&self.at).copied();
        self.clients[me].missed = self.later.missed.get(&self.at).cloned().unwrap_or_default();
        self.clients[me].state = State::Connected;
        self.clients[me].watches = watches.clone();
        // Its credentials it repeats in requests of the record.
        let (client, identities) = (me as u8, Some(Arc::default()));
        let order = Order::Reconnect { client, watches: &watches, nth: 0, identities };
        match self.rules.registers_late {
            true => self.order(&order, None, MISSED),
            false => self.takes_watches(me, &order),
        }
        Ok(())
    }

    /// The watches of a new connection come to its server, before all else that its client sends.
    fn registers(&mut self, me: usize) {
        if !self.service.registers(me) {
            return;
        }
        let before = self.view(me);
        self.takes_watches(me, &Order::Register { client: me as u8, nth: 0 });
        self.accepted.registered_late += usize::from(self.view(me) > before);
    }

    /// A server takes a new connection's watches, and is as far as it was in the record. Where the answer that says so
    /// is lost, it is as far as it need be to tell of all that came to the client of the time in which it was away.
    fn takes_watches(&mut self, me: usize, order: &Order<'_>) {
        if let Some(at) = self.clients[me].registers_at {
            self.catch_up(me, self.place(at));
            return self.order(order, None, MISSED);
        }
        let (service, client) = (self.service.clone(), self.clients[me].clone());
        loop {
            let (nearer, accepted) = (self.service.clone(), self.accepted);
            self.order(order, None, MISSED);
            if self.clients[me].expects_what_it_missed() {
                return;
            }
            self.clients[me] = client.clone();
            (self.service, self.accepted) = (nearer, accepted);
            if !self.service.lags(me) {
                break;
            }
            self.catch_up(me, self.view(me) + 1);
        }
        // No server tells all that.
        self.service = service;
        self.order(order, None, MISSED);
    }

    fn expires(&mut self, me: usize) -> Judged {
        let session = self.clients[me].session;
        if !self.clients[me].is_over {
            self.hastens_end(me)?;
        }
        if self.clients[me].state == State::Connected {
            let what = format!("session {session} is told on a connection that it has");
            return Err(self.rejected(Why::Record, what));
        }
        self.clients[me].state = State::Over;
        self.clients[me].queue.clear();
        self.clients[me].inbox.clear();
        Ok(())
    }
}

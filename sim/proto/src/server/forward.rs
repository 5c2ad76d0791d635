//! What a learner asks of its leader for its clients, and what comes of it.
//!
//! Whatever writes goes to the leader, in the order in which it came, and comes back as a transaction that
//! names the session and its request. Reads stay here.

use super::connection::{Early, Waiting};
use super::lead::Place;
use super::{Output, Server, ServerStep};
use crate::message::{Answer, Ask, ConnId, ConnectResponse, ForwardedWrite, Password, ToClient, ToPeer, Xid};
use crate::mutant::Mutant;
use crate::prepare::{Caller, prepare};
use crate::sessions::Session;
use crate::txn::TxnBody;
use crate::zab::message::LinkId;
use zk_api::{ErrorCode, Request, SessionId};

impl Server {
    /// Whether this server's requests go to a leader elsewhere.
    pub(super) fn is_learning(&self) -> bool {
        self.is_serving() && self.lead.is_none()
    }

    /// Asks the leader. Only called while this server learns.
    pub(super) fn ask(&mut self, ask: Ask, step: &mut ServerStep<'_>) {
        let link = self.peer.leader_link().expect("a learner that serves has a link");
        step.out.push(Output::SendPeer { link, message: ToPeer::Ask(ask) });
    }

    /// A write goes to the leader.
    pub(super) fn forward(
        &mut self,
        session: SessionId,
        xid: Xid,
        write: ForwardedWrite,
        step: &mut ServerStep<'_>,
    ) {
        self.forwarded.insert(session, xid);
        self.ask(Ask::Write { session, xid, write }, step);
    }

    /// Whom this learner has heard of since it was last asked: the leader watches over all sessions.
    pub(super) fn tell_touched(&mut self, link: LinkId, step: &mut ServerStep<'_>) {
        if self.is_learning() && !self.touched.is_empty() {
            let touched = std::mem::take(&mut self.touched);
            let sessions = self.touches_otherwise(touched, step).into_iter().collect();
            step.out.push(Output::SendPeer { link, message: ToPeer::Ask(Ask::Touch { sessions }) });
        }
    }

    /// A learner asks something of this server, which may lead no more.
    pub(super) fn learner_asks(&mut self, link: LinkId, ask: Ask, step: &mut ServerStep<'_>) {
        if self.lead.is_none() || !self.peer.serving_links().iter().any(|(serving, _)| *serving == link) {
            return;
        }
        match ask {
            Ask::Open { session, password, timeout_ms } => {
                self.open_for(link, session, password, timeout_ms, step);
            }
            Ask::Attach { conn, session, password, timeout_ms } => {
                let valid = self.attach_for(link, session, password, timeout_ms, step);
                let answer = Answer::Attached { conn, valid };
                step.out.push(Output::SendPeer { link, message: ToPeer::Answer(answer) });
            }
            Ask::Write { session, xid, write } => self.write_for(link, session, xid, write, step),
            Ask::Sync { conn } => {
                self.take_sync(Some(link), conn, step);
                self.answer_syncs(self.peer.committed(), step);
            }
            Ask::Follows { round } => self.follows(link, round, step),
            Ask::Touch { sessions } => {
                let lead = self.lead.as_mut().expect("it was just seen to lead");
                for (session, timeout_ms) in sessions {
                    lead.tracker.touch(session, timeout_ms);
                }
            }
        }
    }

    fn open_for(
        &mut self,
        link: LinkId,
        session: SessionId,
        password: Password,
        timeout_ms: u32,
        step: &mut ServerStep<'_>,
    ) {
        let Some(lead) = &mut self.lead else { return };
        // An identifier is only offered once.
        if lead.sessions.find(session).is_some() {
            return;
        }
        lead.tracker.track(session, timeout_ms);
        lead.owners.insert(session, Place::Learner(link));
        self.propose(session, Xid(0), TxnBody::CreateSession { timeout_ms, password }, step);
    }

    /// A client has come to a learner with a session: whether it is alive and the client's own.
    fn attach_for(
        &mut self,
        link: LinkId,
        session: SessionId,
        password: Password,
        timeout_ms: u32,
        step: &mut ServerStep<'_>,
    ) -> bool {
        let Some(lead) = &mut self.lead else { return false };
        let compares = |found: &Session| {
            found.password == password || self.config.deviates(Mutant::PasswordNotCompared, step.out)
        };
        let proven = lead.sessions.find(session).is_some_and(compares);
        // A session that is closing is not touched: it is as good as dead.
        if !proven || !lead.tracker.touch(session, timeout_ms) {
            return false;
        }
        lead.owners.insert(session, Place::Learner(link));
        // A connection to the leader itself ends; one to another learner is not even told.
        if let Some(former) = self.owners.get(&session).copied() {
            self.close(former, step);
        }
        true
    }

    /// A learner's client writes.
    ///
    /// Source: ZooKeeper 3.9, `SessionTrackerImpl.checkSession`: what comes from where a session is not
    /// attached any more is refused, and takes a zxid. The end of a session counts wherever it comes from.
    fn write_for(
        &mut self,
        link: LinkId,
        session: SessionId,
        xid: Xid,
        write: ForwardedWrite,
        step: &mut ServerStep<'_>,
    ) {
        let closes = matches!(write, ForwardedWrite::Request { request: Request::CloseSession, .. });
        if closes && xid == Xid(0) && self.deviates(Mutant::LearnerExpires, step) {
            return self.expire(session, step);
        }
        let Some(lead) = &mut self.lead else { return };
        let body = if lead.sessions.find(session).is_none() {
            TxnBody::Error(ErrorCode::SessionExpired)
        } else if !closes
            && !lead.is_owned_by(session, Place::Learner(link))
            && !self.config.deviates(Mutant::MoveNotChecked, step.out)
        {
            TxnBody::Error(ErrorCode::SessionMoved)
        } else {
            match write {
                ForwardedWrite::Request { request, identities } => {
                    let caller = Caller { session, identities: &identities };
                    let body = prepare(&lead.ahead, &self.config.tree, caller, &request);
                    self.config.prepares_otherwise(&lead.ahead, &self.tree, caller, &request, body, step.out)
                }
                ForwardedWrite::Malformed(code) => TxnBody::Error(code),
            }
        };
        if closes {
            lead.tracker.forget(session);
        }
        self.propose(session, xid, body, step);
    }

    /// The leader answers. Whoever asked may be gone.
    pub(super) fn leader_answers(&mut self, link: LinkId, answer: Answer, step: &mut ServerStep<'_>) {
        if !self.is_learning() || self.peer.leader_link() != Some(link) {
            return;
        }
        // Commits that were sent before may not be on this server's disk yet.
        let told = self.peer.committed();
        let overrules = matches!(answer, Answer::Attached { valid: false, .. })
            && self.deviates(Mutant::RefusalOverruled, step);
        match answer {
            Answer::Attached { conn, valid } if valid || overrules => {
                let Some(connection) = self.connections.get_mut(&conn) else { return };
                if let Some(Waiting::Connect { after, .. }) = connection.waiting.front_mut() {
                    *after = Some(told);
                }
                connection.joining = false;
                let early = std::mem::take(&mut connection.early);
                self.drain(conn, step);
                for early in early {
                    match early {
                        Early::Message(message) => self.received(conn, message, step),
                        Early::Refused { xid, code, takes_zxid } => {
                            self.refused(conn, xid, code, takes_zxid, step);
                        }
                    }
                }
            }
            Answer::Attached { conn, valid: _ } => {
                if self.connections.contains_key(&conn) {
                    self.refuse_session(conn, step);
                }
            }
            Answer::Synced { conn } => self.may_sync(conn, told, step),
            Answer::Asks { round } => self.ask(Ask::Follows { round }, step),
        }
    }

    /// The session is dead, or not the client's.
    pub(super) fn refuse_session(&mut self, conn: ConnId, step: &mut ServerStep<'_>) {
        let response = ConnectResponse { timeout_ms: 0, session: SessionId::NONE, password: [0; 16] };
        step.send(conn, ToClient::Connected(response));
        self.close(conn, step);
    }

    /// Notes that a session was heard of, and whether what came is to be looked at. The leader knows at once
    /// which sessions are ending, a learner only when they have ended.
    pub(super) fn touch(&mut self, session: SessionId, timeout_ms: u32) -> bool {
        match &mut self.lead {
            Some(lead) => lead.tracker.touch(session, timeout_ms),
            None => {
                self.touched.insert(session, timeout_ms);
                true
            }
        }
    }
}

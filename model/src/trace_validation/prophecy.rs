//! What a record says of later.

use super::verdict::{Rejection, Why};
use std::collections::BTreeMap;
use zk_api::{ErrorCode, Response, SessionId, WatchedEvent, Zxid};
use zk_proto::message::{ToClient, Xid};
use zk_proto::visible::{Cause, VisibleStep};

/// A transaction of the record.
#[derive(Clone, Copy, Debug)]
pub struct Commit {
    pub zxid: Zxid,
    pub session: SessionId,
    pub xid: Xid,
    pub cause: Cause,
}

/// What is known beforehand.
#[derive(Debug, Default)]
pub struct Prophecy {
    /// All transactions, in order.
    pub commits: Vec<Commit>,
    /// Which of them a request becomes.
    pub of_request: BTreeMap<(SessionId, Xid), usize>,
    /// Which of the requests are answered at last, and how far the server was.
    pub answered: BTreeMap<(SessionId, Xid), Zxid>,
    /// How far the server was that took the watches of a new connection, by the step of that connection.
    pub watched_at: BTreeMap<usize, Zxid>,
    /// What a client was told of the time in which it was away, by the step of its new connection.
    pub missed: BTreeMap<usize, Vec<WatchedEvent>>,
    /// How far the servers were that a session heard of, in order.
    pub heard: BTreeMap<SessionId, Vec<Zxid>>,
    /// The sessions of clients, in the order in which they begin.
    pub sessions: Vec<SessionId>,
}

impl Prophecy {
    /// Of a record.
    pub fn of(steps: &[VisibleStep]) -> Result<Prophecy, Rejection> {
        let mut it = Prophecy::default();
        let mut connects: BTreeMap<SessionId, usize> = BTreeMap::new();
        for (at, step) in steps.iter().enumerate() {
            match step {
                VisibleStep::Begins { session } => it.sessions.push(*session),
                VisibleStep::Connects { session, .. } => {
                    connects.insert(*session, at);
                }
                VisibleStep::Loses { session } => {
                    connects.remove(session);
                }
                VisibleStep::Gets { session, message } => it.gets(*session, message, &mut connects),
                VisibleStep::Commits { zxid, session, xid, cause } => {
                    let commit = Commit { zxid: *zxid, session: *session, xid: *xid, cause: *cause };
                    if it.commits.last().is_some_and(|last| last.zxid >= *zxid) {
                        let what = format!("transactions are not in order at {zxid}");
                        return Err(Rejection { step: at, why: Why::Record, what });
                    }
                    if matches!(cause, Cause::Request | Cause::Refused(_)) {
                        it.of_request.insert((*session, *xid), it.commits.len());
                    }
                    it.commits.push(commit);
                }
                VisibleStep::Sends { .. } | VisibleStep::Expires { .. } | VisibleStep::Ends { .. } => {}
            }
        }
        Ok(it)
    }

    fn gets(&mut self, session: SessionId, message: &ToClient, connects: &mut BTreeMap<SessionId, usize>) {
        let heard = match message {
            ToClient::Reply { xid, zxid, result } => {
                self.answered.insert((session, *xid), *zxid);
                // The answer to credentials says nothing of how far its server is.
                let says = !matches!(result, Ok(Response::Authenticated) | Err(ErrorCode::AuthFailed));
                says.then_some(*zxid)
            }
            ToClient::WatchesSet { zxid } => {
                if let Some(at) = connects.remove(&session) {
                    self.watched_at.insert(at, *zxid);
                }
                Some(*zxid)
            }
            ToClient::Event { zxid, event } => {
                if let (None, Some(at)) = (zxid, connects.get(&session)) {
                    self.missed.entry(*at).or_default().push(event.clone());
                }
                *zxid
            }
            ToClient::Connected(_) | ToClient::Pong { .. } => None,
        };
        self.heard.entry(session).or_default().extend(heard);
    }

    /// Whether a request takes effect.
    pub fn takes_effect(&self, session: SessionId, xid: Xid) -> Option<usize> {
        let nth = *self.of_request.get(&(session, xid))?;
        (self.commits[nth].cause == Cause::Request).then_some(nth)
    }

    /// How far the server was that was least far of those that a session hears of.
    pub fn first_heard(&self, session: SessionId) -> Option<Zxid> {
        self.heard.get(&session)?.iter().min().copied()
    }

    /// How far the furthest server was that a session ever hears of, among those that were not yet at `before`.
    pub fn last_heard(&self, session: SessionId, before: Zxid) -> Zxid {
        let heard = self.heard.get(&session).into_iter().flatten();
        heard.copied().filter(|zxid| *zxid < before).max().unwrap_or(Zxid::ZERO)
    }
}

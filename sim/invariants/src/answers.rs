//! Every answer is that of the reference.

use crate::executed::{Executed, Proven, What, own};
use crate::reference::{Asker, Own, Reference, proves};
use crate::{Invariant, Report, atomic};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use zk_api::{Acl, AclList, ErrorCode, Identity, Request, Response, SessionId, Text, Zxid};
use zk_proto::message::{ConnId, Xid};
use zk_proto::txn::{Txn, TxnBody};

/// An answer, or why there is none.
type Answer = Result<Response, ErrorCode>;

/// What was asked, and what is to be answered.
#[derive(Debug, Default)]
pub struct Answers {
    /// What servers got on each connection and have not answered.
    asked: BTreeMap<ConnId, VecDeque<Asked>>,
    /// Writes that servers got and that are not applied.
    writes: BTreeMap<(SessionId, Xid), Write>,
    /// What the reference answers to writes that are applied, while their connections are there.
    expected: BTreeMap<Zxid, (ConnId, Answer)>,
    /// The connections on which each session was asked for, once it was open. Leaders hear of them in any order.
    asked_on: BTreeMap<SessionId, BTreeSet<ConnId>>,
    /// What is proven on each connection.
    proven: BTreeMap<ConnId, Proven>,
    /// Who proves this `digest` identity is the super user.
    pub super_digest: Option<Text>,
}

#[derive(Debug)]
struct Asked {
    session: SessionId,
    xid: Xid,
    what: What,
    proven: Proven,
}

/// A write that is not applied.
#[derive(Debug)]
struct Write {
    conn: ConnId,
    what: What,
    /// What its asker had proven then.
    proven: Proven,
    is_proposed: bool,
}

const NAME: Invariant = Invariant::AnswersMatchReference;

impl Answers {
    pub fn arrived(&mut self, conn: ConnId, session: SessionId, xid: Xid, request: &Request) {
        if let Request::Auth { scheme, credentials } = request
            && let Ok(Some(who)) = proves(scheme, credentials)
        {
            if self.super_digest.as_ref() == Some(&who.id) {
                self.proves(conn, Identity::new("super", ""));
            }
            self.proves(conn, who);
        }
        self.asks(conn, session, xid, What::Request(request.clone()), request.is_write());
    }

    /// A request arrives that cannot be read.
    pub fn refused(&mut self, conn: ConnId, session: SessionId, xid: Xid, code: ErrorCode, takes_zxid: bool) {
        self.asks(conn, session, xid, What::Refused(code), takes_zxid);
    }

    fn asks(&mut self, conn: ConnId, session: SessionId, xid: Xid, what: What, is_write: bool) {
        let proven = self.proven.entry(conn).or_default().clone();
        if is_write {
            let write = Write { conn, what: what.clone(), proven: proven.clone(), is_proposed: false };
            self.writes.insert((session, xid), write);
        }
        self.asked.entry(conn).or_default().push_back(Asked { session, xid, what, proven });
    }

    /// Whom a client is taken for from now on.
    pub fn proves(&mut self, conn: ConnId, who: Identity) {
        let proven = self.proven.entry(conn).or_default();
        if !proven.contains(&who) {
            *proven = proven.iter().cloned().chain([who]).collect();
        }
    }

    /// Whether nothing that came on a connection waits for its answer.
    pub fn is_idle(&self, conn: ConnId) -> bool {
        self.asked.get(&conn).is_none_or(VecDeque::is_empty)
    }

    /// Whether a client may read what has this list.
    pub fn may_read(&self, conn: ConnId, acl: &AclList) -> bool {
        Reference::is_readable_by(self.proven.get(&conn).map_or(&[], |proven| proven), acl)
    }

    /// A server proposes a transaction.
    pub fn proposed(&mut self, txn: &Txn) {
        if let Some(write) = self.writes.get_mut(&(txn.session, txn.xid)) {
            write.is_proposed = true;
        }
    }

    /// What came on it and is not proposed by now will never be, unless it is on its way to a leader elsewhere.
    pub fn closed(&mut self, conn: ConnId, is_alone: bool) {
        self.proven.remove(&conn);
        for Asked { session, xid, .. } in self.asked.remove(&conn).unwrap_or_default() {
            if is_alone && self.writes.get(&(session, xid)).is_some_and(|write| !write.is_proposed) {
                self.writes.remove(&(session, xid));
            }
        }
        self.expected.retain(|_, (of, _)| *of != conn);
    }

    /// The only server has recovered: what it had proposed and does not know any more will never be applied.
    pub fn recovered(&mut self) {
        self.writes.clear();
    }

    /// Nothing more comes from this session.
    pub fn forget(&mut self, session: SessionId) {
        self.asked_on.remove(&session);
        let all = (session, Xid(i32::MIN))..=(session, Xid(i32::MAX));
        for key in self.writes.range(all).map(|(key, _)| *key).collect::<Vec<_>>() {
            self.writes.remove(&key);
        }
    }

    /// A transaction is first applied: the reference executes the request it comes from.
    pub fn applied(&mut self, reference: &mut Reference, txn: &Arc<Txn>, report: &mut Report) -> Executed {
        let zxid = txn.zxid;
        report.check(NAME, zxid > reference.zxid, || format!("{zxid} came after {}", reference.zxid));
        let own = own(txn);
        let write = if own.is_some() { None } else { self.writes.remove(&(txn.session, txn.xid)) };
        let refused = self.is_refused(reference, txn, write.as_ref());
        let (conn, asked) = match write {
            Some(Write { conn, what, proven, .. }) => (Some(conn), Some((what, proven)).filter(|_| !refused)),
            None => (None, None),
        };
        let executed = Executed { txn: txn.clone(), asked };
        if executed.asked.is_none() && own.is_none() && !refused {
            report.broken(NAME, format!("{zxid} is nobody's request: {:?}", txn.body));
        }
        if let Some((What::Request(request), _)) = &executed.asked {
            atomic::executed(request, txn, report);
        }
        if refused {
            report.case("write refused as its session had moved or ended");
        }
        match (executed.execute(reference), conn) {
            (Ok(Some(answer)), Some(conn)) if self.asked.contains_key(&conn) => {
                self.expected.insert(zxid, (conn, answer));
            }
            (Ok(_), _) => {}
            (Err(what), _) => report.broken(NAME, format!("{zxid}: {what}")),
        }
        if let Some(Own::Remove(_)) = own {
            report.case("container or TTL znode removed");
        }
        executed
    }

    /// Whether a transaction rightly says that a write came from where its session is no more, or of one that is
    /// no more at all.
    fn is_refused(&self, reference: &Reference, txn: &Txn, write: Option<&Write>) -> bool {
        match &txn.body {
            TxnBody::Error(ErrorCode::SessionMoved) => {
                let asked_on = self.asked_on.get(&txn.session);
                write.is_some_and(|write| {
                    asked_on.is_some_and(|conns| conns.iter().any(|conn| *conn != write.conn))
                })
            }
            TxnBody::Error(ErrorCode::SessionExpired) => !reference.is_open(txn.session),
            _ => false,
        }
    }

    /// A client asks for a session that it has on a connection.
    pub fn attaches(&mut self, conn: ConnId, session: SessionId) {
        self.asked_on.entry(session).or_default().insert(conn);
    }

    /// A server answers that has applied what the reference has. One that leads an epoch in which nothing has
    /// happened shows its beginning. Gives the request.
    pub fn answering(
        &mut self,
        (reference, begun): (&Reference, Zxid),
        conn: ConnId,
        xid: Xid,
        zxid: Zxid,
        answer: &Answer,
        report: &mut Report,
    ) -> Option<Request> {
        let first = self.asked.get_mut(&conn).and_then(VecDeque::pop_front);
        let Some(Asked { session, xid: asked, what, proven }) = first else {
            report.broken(NAME, format!("{conn:?}: an answer to {xid:?}, which was not asked"));
            return None;
        };
        if asked != xid {
            report.broken(NAME, format!("{conn:?}: an answer to {xid:?}, but {asked:?} is first"));
            return None;
        }
        let is_own = self.expected.get(&zxid).is_some_and(|(of, _)| *of == conn);
        let request = match what {
            What::Request(request) => request,
            What::Refused(code) => {
                if is_own {
                    self.expected.remove(&zxid);
                }
                report.check(NAME, *answer == Err(code), || {
                    format!("what cannot be read was answered {answer:?} at {zxid}, should be {code:?}")
                });
                report.case("unreadable request refused");
                return None;
            }
        };
        let now = reference.zxid.max(begun);
        let expected = if request.is_write() {
            if zxid > now {
                report.broken(NAME, format!("{request:?} was answered at {zxid}, when {now} was applied"));
            }
            let own = self.expected.remove(&zxid).filter(|_| is_own).map(|(_, answer)| answer);
            if own.is_none() {
                report.broken(NAME, format!("{request:?} was answered at {zxid}, which is not its own"));
            }
            own
        } else {
            let of_none = matches!(request, Request::Auth { .. }) && zxid == Zxid::ZERO;
            report.check(NAME, of_none || zxid == now, || {
                format!("an answer at {zxid}, when {now} was applied")
            });
            reference.read(Asker { session, proven: &proven }, &request)
        };
        if let Some(expected) = expected {
            let same = ordered(answer.clone()) == ordered(expected.clone());
            report.check(NAME, same, || {
                format!("{request:?} of {session} at {zxid}: got {answer:?}, should be {expected:?}")
            });
            if let Some(case) = case(&request, &expected) {
                report.case(case);
            }
        }
        Some(request)
    }
}

/// What is interesting about an answer that was compared, where that is not everyday.
fn case(request: &Request, answer: &Answer) -> Option<&'static str> {
    match (request, answer) {
        (Request::Auth { .. }, Ok(_)) => Some("credentials accepted"),
        (Request::Auth { .. }, Err(_)) => Some("credentials refused"),
        (Request::WhoAmI, Ok(Response::WhoAmI(who))) if !who.is_empty() => Some("told who it is"),
        (_, Err(ErrorCode::NoAuth)) => Some("permission refused"),
        (_, Err(ErrorCode::InvalidAcl)) => Some("access control list refused"),
        (Request::GetAcl { .. }, Ok(Response::Acl { acl, .. })) => {
            let hidden = |entry: &Acl| &*entry.who.scheme == "digest" && entry.who.id.ends_with(":x");
            acl.iter().any(hidden).then_some("hash hidden in an access control list")
        }
        _ => None,
    }
}

/// An answer with what comes in no specified order in order.
fn ordered(mut answer: Answer) -> Answer {
    match &mut answer {
        Ok(Response::Children { names, .. }) => names.sort(),
        Ok(Response::Ephemerals(paths)) => paths.sort(),
        Ok(Response::WhoAmI(who)) => who.sort(),
        Ok(Response::MultiRead(outcomes)) => {
            for outcome in outcomes {
                if let Ok(Response::Children { names, .. }) = outcome {
                    names.sort();
                }
            }
        }
        _ => {}
    }
    answer
}

#[cfg(test)]
mod tests;

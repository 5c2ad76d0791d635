//! Every answer is that of the reference.

use crate::atomic;
use crate::executed::{Executed, Proven, What, own};
use crate::reference::{Asker, Own, Reference, proves};
use crate::{Invariant, Report};
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
    /// The connections on which each session was asked for. Leaders hear of them in any order.
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
            (Ok(Some(answer)), Some(conn)) if !refused && self.asked.contains_key(&conn) => {
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

    /// A client asks for a session on a connection.
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
        let expected = if request.is_write() {
            let own = self.expected.remove(&zxid).filter(|_| is_own).map(|(_, answer)| answer);
            if own.is_none() {
                report.broken(NAME, format!("{request:?} was answered at {zxid}, which is not its own"));
            }
            own
        } else {
            let now = reference.zxid.max(begun);
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
mod tests {
    use super::*;
    use zk_api::{CreateMode, Data, Stat, StatFields, open_acl};
    use zk_proto::txn::NodeKind;

    const C: ConnId = ConnId(1);
    const S: SessionId = SessionId::new(5);

    fn z(counter: u32) -> Zxid {
        Zxid::new(1, counter)
    }

    fn txn(counter: u32, xid: i32, body: TxnBody) -> Txn {
        Txn { zxid: z(counter), session: S, xid: Xid(xid), time_ms: 1000, body }
    }

    fn atxn(counter: u32, xid: i32, body: TxnBody) -> Arc<Txn> {
        Arc::new(txn(counter, xid, body))
    }

    fn create() -> Request {
        let (path, data, acl) = ("/a".into(), Data::from("x"), open_acl());
        Request::Create { path, data, acl, mode: CreateMode::Ephemeral, stat: false }
    }

    /// A session that has asked for a znode, got it, and asks for more.
    fn history() -> (Answers, Reference, Report) {
        let (mut answers, mut reference, mut report) =
            (Answers::default(), Reference::new(), Report::default());
        let open = TxnBody::CreateSession { timeout_ms: 1, password: [0; 16] };
        answers.applied(&mut reference, &atxn(1, 0, open), &mut report);
        answers.arrived(C, S, Xid(1), &create());
        answers.arrived(C, S, Xid(2), &Request::Exists { path: "/a".into(), watch: false });
        let kind = NodeKind::Ephemeral(S);
        let made =
            TxnBody::Create { path: "/a".into(), data: "x".into(), acl: open_acl(), kind, parent_created: 1 };
        answers.applied(&mut reference, &atxn(2, 1, made), &mut report);
        (answers, reference, report)
    }

    fn created() -> Answer {
        Ok(Response::Created { path: "/a".into(), stat: None })
    }

    fn stat() -> Stat {
        Stat::from(StatFields {
            czxid: z(2),
            mzxid: z(2),
            pzxid: z(2),
            ctime_ms: 1000,
            mtime_ms: 1000,
            ephemeral_owner: S,
            data_length: 1,
            ..StatFields::default()
        })
    }

    #[test]
    fn right_answers_pass() {
        let (mut answers, reference, mut report) = history();
        assert_eq!(
            answers.answering((&reference, Zxid::ZERO), C, Xid(1), z(2), &created(), &mut report),
            Some(create())
        );
        let there = Ok(Response::Exists(Some(stat())));
        answers.answering((&reference, Zxid::ZERO), C, Xid(2), z(2), &there, &mut report);
        assert!(report.broken.is_empty(), "{report:?}");
    }

    #[test]
    fn a_stat_that_is_wrong_in_one_place_is_caught() {
        let (mut answers, reference, mut report) = history();
        answers.answering((&reference, Zxid::ZERO), C, Xid(1), z(2), &created(), &mut report);
        let wrong = Ok(Response::Exists(Some(Stat::from(StatFields { ctime_ms: 1001, ..stat().fields() }))));
        answers.answering((&reference, Zxid::ZERO), C, Xid(2), z(2), &wrong, &mut report);
        assert_eq!(report.broken[0].0, NAME);
    }

    #[test]
    fn a_wrong_error_is_caught() {
        let (mut answers, reference, mut report) = history();
        let wrong = Err(ErrorCode::NodeExists);
        answers.answering((&reference, Zxid::ZERO), C, Xid(1), z(2), &wrong, &mut report);
        assert_eq!(report.broken[0].0, NAME);
    }

    #[test]
    fn an_answer_from_before_the_last_transaction_is_caught() {
        let (mut answers, reference, mut report) = history();
        answers.answering((&reference, Zxid::ZERO), C, Xid(1), z(2), &created(), &mut report);
        answers.answering(
            (&reference, Zxid::ZERO),
            C,
            Xid(2),
            z(1),
            &Ok(Response::Exists(None)),
            &mut report,
        );
        assert!(report.broken.iter().all(|(name, _)| *name == NAME) && report.broken.len() == 2);
    }

    #[test]
    fn a_transaction_that_nobody_asked_for_is_caught() {
        let (mut answers, mut reference, mut report) = history();
        answers.applied(&mut reference, &atxn(3, 9, TxnBody::Delete { path: "/a".into() }), &mut report);
        assert_eq!(report.broken[0].0, NAME);
    }

    #[test]
    fn what_cannot_be_read_is_to_be_answered_with_its_error_and_may_take_a_zxid() {
        let (mut answers, mut reference, mut report) = history();
        answers.refused(C, S, Xid(3), ErrorCode::BadArguments, true);
        let failed = TxnBody::Error(ErrorCode::BadArguments);
        answers.applied(&mut reference, &atxn(3, 3, failed), &mut report);
        assert_eq!(reference.zxid, z(3));
        answers.answering((&reference, Zxid::ZERO), C, Xid(1), z(2), &created(), &mut report);
        answers.answering(
            (&reference, Zxid::ZERO),
            C,
            Xid(2),
            z(3),
            &Ok(Response::Exists(Some(stat()))),
            &mut report,
        );
        answers.answering(
            (&reference, Zxid::ZERO),
            C,
            Xid(3),
            z(3),
            &Err(ErrorCode::BadArguments),
            &mut report,
        );
        assert!(report.broken.is_empty() && answers.expected.is_empty(), "{report:?}");
        answers.refused(C, S, Xid(4), ErrorCode::BadArguments, false);
        answers.answering((&reference, Zxid::ZERO), C, Xid(4), z(3), &Err(ErrorCode::NoNode), &mut report);
        assert_eq!(report.broken[0].0, NAME);
    }

    #[test]
    fn the_super_user_is_whoever_proves_it() {
        let mut answers =
            Answers { super_digest: Some("super:D/InIHSb7yEEbrWz8b9l71RjZJU=".into()), ..Answers::default() };
        let auth = Request::Auth { scheme: "digest".into(), credentials: "super:test".into() };
        answers.arrived(C, S, Xid(1), &auth);
        assert!(answers.proven[&C].contains(&Identity::new("super", "")));
    }

    #[test]
    fn a_connection_that_is_gone_leaves_nothing_behind() {
        let (mut answers, _, _) = history();
        answers.arrived(C, S, Xid(3), &create());
        answers.closed(C, true);
        assert!(answers.asked.is_empty() && answers.expected.is_empty() && answers.writes.is_empty());
        // A write that is proposed may still be applied, which nobody will be told.
        answers.arrived(C, S, Xid(4), &create());
        answers.proposed(&txn(3, 4, TxnBody::Error(ErrorCode::NodeExists)));
        answers.closed(C, true);
        assert_eq!(answers.writes.len(), 1);
        answers.forget(S);
        assert!(answers.writes.is_empty());
    }

    #[test]
    fn a_session_that_expires_takes_its_ephemerals_with_it() {
        let (mut answers, mut reference, mut report) = history();
        let close = TxnBody::CloseSession { ephemerals: vec!["/a".into()], expired: true };
        answers.applied(&mut reference, &atxn(3, 0, close), &mut report);
        assert!(report.broken.is_empty() && reference.stat("/a").is_none());
        assert_eq!(reference.stat("/").map(|s| (s.cversion(), s.pzxid())), Some((1, z(3))));
    }
}

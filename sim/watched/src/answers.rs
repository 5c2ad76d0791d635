//! Every answer is that of the reference.

use crate::reference::{Asker, Own, Reference, proves};
use crate::{Invariant, Report};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use zk_api::{Acl, ErrorCode, Identity, Request, Response, SessionId, Zxid};
use zk_proto::message::{ConnId, Xid};
use zk_proto::txn::{Txn, TxnBody};

/// An answer, or why there is none.
type Answer = Result<Response, ErrorCode>;

/// What was asked, and what is to be answered.
#[derive(Debug, Default)]
pub struct Answers {
    /// What servers got on each connection and have not answered.
    asked: BTreeMap<ConnId, VecDeque<Asked>>,
    /// Writes that servers got and that are not applied, with what their askers had proven then.
    writes: BTreeMap<(SessionId, Xid), (Request, Proven)>,
    /// What the reference answers to writes that are applied.
    expected: BTreeMap<Zxid, Answer>,
    /// What is proven on each connection.
    proven: BTreeMap<ConnId, Proven>,
}

type Proven = Arc<[Identity]>;

#[derive(Debug)]
struct Asked {
    session: SessionId,
    xid: Xid,
    request: Request,
    proven: Proven,
}

const NAME: Invariant = Invariant::AnswersMatchReference;

impl Answers {
    pub fn arrived(&mut self, conn: ConnId, session: SessionId, xid: Xid, request: &Request) {
        let proven = self.proven.entry(conn).or_default();
        if let Request::Auth { scheme, credentials } = request
            && let Ok(Some(who)) = proves(scheme, credentials.bytes())
            && !proven.contains(&who)
        {
            *proven = proven.iter().cloned().chain([who]).collect();
        }
        let proven = proven.clone();
        if request.is_write() {
            self.writes.insert((session, xid), (request.clone(), proven.clone()));
        }
        let asked = Asked { session, xid, request: request.clone(), proven };
        self.asked.entry(conn).or_default().push_back(asked);
    }

    pub fn closed(&mut self, conn: ConnId) {
        self.asked.remove(&conn);
        self.proven.remove(&conn);
    }

    /// A transaction is applied: the reference executes the request it comes from.
    pub fn applied(&mut self, reference: &mut Reference, txn: &Txn, report: &mut Report) {
        let (zxid, time_ms, session) = (txn.zxid, txn.time_ms, txn.session);
        report.check(NAME, zxid > reference.zxid, || format!("{zxid} came after {}", reference.zxid));
        let own = match &txn.body {
            TxnBody::CreateSession { .. } => Some(Own::Open(session)),
            TxnBody::CloseSession { expired: true, .. } => Some(Own::Expire(session)),
            TxnBody::Delete { path } if session == SessionId::NONE => Some(Own::Remove(path)),
            _ => None,
        };
        if let Some(own) = own {
            let done = reference.own(zxid, time_ms, own);
            report.check(NAME, done.is_ok(), || format!("{zxid}: {}", done.clone().unwrap_err()));
            if let Own::Remove(_) = own {
                report.case("container or TTL znode removed");
            }
            return;
        }
        match self.writes.remove(&(session, txn.xid)) {
            Some((request, proven)) => {
                let asker = Asker { session, proven: &proven };
                let answer = reference.write(zxid, time_ms, asker, &request);
                self.expected.insert(zxid, answer);
            }
            None => report.broken(NAME, format!("{zxid} is nobody's request: {:?}", txn.body)),
        }
    }

    /// A server answers. Gives the request.
    pub fn answering(
        &mut self,
        reference: &Reference,
        conn: ConnId,
        xid: Xid,
        zxid: Zxid,
        answer: &Answer,
        report: &mut Report,
    ) -> Option<Request> {
        let first = self.asked.get_mut(&conn).and_then(VecDeque::pop_front);
        let Some(Asked { session, xid: asked, request, proven }) = first else {
            report.broken(NAME, format!("{conn:?}: an answer to {xid:?}, which was not asked"));
            return None;
        };
        if asked != xid {
            report.broken(NAME, format!("{conn:?}: an answer to {xid:?}, but {asked:?} is first"));
            return None;
        }
        let expected = if request.is_write() {
            let expected = self.expected.remove(&zxid);
            if expected.is_none() {
                report.broken(NAME, format!("{request:?} was answered at {zxid}, which is not its own"));
            }
            expected
        } else {
            let now = reference.zxid;
            report.check(NAME, zxid == now, || format!("an answer at {zxid}, when {now} was applied"));
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
    use zk_api::{CreateMode, Data, Stat, open_acl};
    use zk_proto::txn::NodeKind;

    const C: ConnId = ConnId(1);
    const S: SessionId = SessionId(5);

    fn z(counter: u32) -> Zxid {
        Zxid::new(1, counter)
    }

    fn txn(counter: u32, xid: i32, body: TxnBody) -> Txn {
        Txn { zxid: z(counter), session: S, xid: Xid(xid), time_ms: 1000, body }
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
        answers.applied(&mut reference, &txn(1, 0, open), &mut report);
        answers.arrived(C, S, Xid(1), &create());
        answers.arrived(C, S, Xid(2), &Request::Exists { path: "/a".into(), watch: false });
        let kind = NodeKind::Ephemeral(S);
        let made =
            TxnBody::Create { path: "/a".into(), data: "x".into(), acl: open_acl(), kind, parent_created: 1 };
        answers.applied(&mut reference, &txn(2, 1, made), &mut report);
        (answers, reference, report)
    }

    fn created() -> Answer {
        Ok(Response::Created { path: "/a".into(), stat: None })
    }

    fn stat() -> Stat {
        Stat {
            czxid: z(2),
            mzxid: z(2),
            pzxid: z(2),
            ctime_ms: 1000,
            mtime_ms: 1000,
            ephemeral_owner: S,
            data_length: 1,
            ..Stat::default()
        }
    }

    #[test]
    fn right_answers_pass() {
        let (mut answers, reference, mut report) = history();
        assert_eq!(answers.answering(&reference, C, Xid(1), z(2), &created(), &mut report), Some(create()));
        let there = Ok(Response::Exists(Some(stat())));
        answers.answering(&reference, C, Xid(2), z(2), &there, &mut report);
        assert!(report.broken.is_empty(), "{report:?}");
    }

    #[test]
    fn a_stat_that_is_wrong_in_one_place_is_caught() {
        let (mut answers, reference, mut report) = history();
        answers.answering(&reference, C, Xid(1), z(2), &created(), &mut report);
        let wrong = Ok(Response::Exists(Some(Stat { ctime_ms: 1001, ..stat() })));
        answers.answering(&reference, C, Xid(2), z(2), &wrong, &mut report);
        assert_eq!(report.broken[0].0, NAME);
    }

    #[test]
    fn a_wrong_error_is_caught() {
        let (mut answers, reference, mut report) = history();
        let wrong = Err(ErrorCode::NodeExists);
        answers.answering(&reference, C, Xid(1), z(2), &wrong, &mut report);
        assert_eq!(report.broken[0].0, NAME);
    }

    #[test]
    fn an_answer_from_before_the_last_transaction_is_caught() {
        let (mut answers, reference, mut report) = history();
        answers.answering(&reference, C, Xid(1), z(2), &created(), &mut report);
        answers.answering(&reference, C, Xid(2), z(1), &Ok(Response::Exists(None)), &mut report);
        assert!(report.broken.iter().all(|(name, _)| *name == NAME) && report.broken.len() == 2);
    }

    #[test]
    fn a_transaction_that_nobody_asked_for_is_caught() {
        let (mut answers, mut reference, mut report) = history();
        answers.applied(&mut reference, &txn(3, 9, TxnBody::Delete { path: "/a".into() }), &mut report);
        assert_eq!(report.broken[0].0, NAME);
    }

    #[test]
    fn a_session_that_expires_takes_its_ephemerals_with_it() {
        let (mut answers, mut reference, mut report) = history();
        let close = TxnBody::CloseSession { ephemerals: vec!["/a".into()], expired: true };
        answers.applied(&mut reference, &txn(3, 0, close), &mut report);
        assert!(report.broken.is_empty() && reference.stat("/a").is_none());
        assert_eq!(reference.stat("/").map(|s| (s.cversion, s.pzxid)), Some((1, z(3))));
    }
}

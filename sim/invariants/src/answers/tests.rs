//! Answers that are compared with the reference's.

use super::*;
use zk_api::{CreateMode, Data, Op, ReadOp, Stat, StatFields, open_acl};
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
    let (mut answers, mut reference, mut report) = (Answers::default(), Reference::new(), Report::default());
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
    answers.answering((&reference, Zxid::ZERO), C, Xid(2), z(1), &Ok(Response::Exists(None)), &mut report);
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
    answers.answering((&reference, Zxid::ZERO), C, Xid(3), z(3), &Err(ErrorCode::BadArguments), &mut report);
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

/// Which of a history's answers are wrong: what is asked third, and its answer.
fn is_wrong(request: &Request, zxid: Zxid, answer: &Answer) -> bool {
    let (mut answers, reference, mut report) = history();
    let at = (&reference, Zxid::ZERO);
    answers.answering(at, C, Xid(1), z(2), &created(), &mut report);
    answers.answering(at, C, Xid(2), z(2), &Ok(Response::Exists(Some(stat()))), &mut report);
    answers.arrived(C, S, Xid(3), request);
    answers.answering(at, C, Xid(3), zxid, answer, &mut report);
    !report.broken.is_empty()
}

#[test]
fn credentials_may_be_answered_without_a_zxid_and_nothing_else() {
    let auth = Request::Auth { scheme: "digest".into(), credentials: "ann:one".into() };
    let proven = Ok(Response::Authenticated);
    assert!(!is_wrong(&auth, Zxid::ZERO, &proven) && !is_wrong(&auth, z(2), &proven));
    assert!(is_wrong(&auth, z(1), &proven) && is_wrong(&auth, Zxid::ZERO, &Err(ErrorCode::AuthFailed)));
    let exists = Request::Exists { path: "/none".into(), watch: false };
    let none = Ok(Response::Exists(None));
    assert!(!is_wrong(&exists, z(2), &none) && is_wrong(&exists, Zxid::ZERO, &none));
}

#[test]
fn what_comes_in_no_order_may_come_in_any() {
    let list = Request::GetChildren { path: "/zookeeper".into(), watch: false, stat: false };
    let listed = |names: [&str; 2]| Response::Children { names: names.map(Text::from).into(), stat: None };
    let several = Request::MultiRead { ops: vec![ReadOp::GetChildren { path: "/zookeeper".into() }] };
    for names in [["config", "quota"], ["quota", "config"]] {
        assert!(!is_wrong(&list, z(2), &Ok(listed(names))));
        assert!(!is_wrong(&several, z(2), &Ok(Response::MultiRead(vec![Ok(listed(names))]))));
    }
    assert!(is_wrong(&list, z(2), &Ok(listed(["config", "other"]))));
}

#[test]
fn an_answer_is_one_to_what_was_asked_first_and_at_its_own_zxid() {
    let answered = |conn, xid, zxid| {
        let (mut answers, reference, mut report) = history();
        let at = (&reference, Zxid::ZERO);
        assert_eq!(
            answers.answering(at, conn, Xid(xid), zxid, &created(), &mut report).is_some(),
            conn == C && xid == 1
        );
        report.broken.into_iter().map(|(_, what)| what).collect::<Vec<_>>()
    };
    assert!(answered(C, 1, z(2)).is_empty());
    assert!(matches!(&answered(ConnId(2), 1, z(2))[..], [what] if what.contains("which was not asked")));
    assert!(matches!(&answered(C, 2, z(2))[..], [what] if what.contains("is first")));
    assert!(matches!(&answered(C, 1, z(1))[..], [what] if what.contains("which is not its own")));
}

#[test]
fn a_transaction_comes_once_and_from_a_request() {
    let applied = |counter, xid, body| {
        let (mut answers, mut reference, mut report) = history();
        answers.arrived(
            C,
            S,
            Xid(3),
            &Request::Multi { ops: vec![Op::Delete { path: "/a".into(), version: 0 }] },
        );
        answers.applied(&mut reference, &atxn(counter, xid, body), &mut report);
        report.broken.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    let delete = || TxnBody::Delete { path: "/a".into() };
    let multi = |ops| TxnBody::Multi { ops };
    assert_eq!(applied(3, 3, multi(vec![delete()])), []);
    assert_eq!(applied(2, 3, multi(vec![delete()])), [NAME]);
    assert_eq!(applied(3, 3, multi(vec![delete(), delete()])), [Invariant::MultiIsAtomic]);
    assert_eq!(applied(3, 9, TxnBody::Error(ErrorCode::NoNode)), [NAME], "nobody has asked for that");
    assert_eq!(
        applied(3, 0, TxnBody::CreateSession { timeout_ms: 1, password: [0; 16] }),
        [NAME],
        "it is open"
    );
}

#[test]
fn interesting_answers_and_transactions_are_counted() {
    let of = |request: Request, answer: Answer| case(&request, &answer);
    let auth = || Request::Auth { scheme: "digest".into(), credentials: "a:b".into() };
    assert_eq!(of(auth(), Ok(Response::Authenticated)), Some("credentials accepted"));
    assert_eq!(of(auth(), Err(ErrorCode::AuthFailed)), Some("credentials refused"));
    let who = |who: &[Identity]| of(Request::WhoAmI, Ok(Response::WhoAmI(who.into())));
    assert_eq!((who(&[]), who(&[Identity::new("ip", "a")])), (None, Some("told who it is")));
    let list = |scheme, id| {
        let acl: AclList = [Acl { perms: zk_api::Perms::READ, who: Identity::new(scheme, id) }].into();
        of(Request::GetAcl { path: "/a".into() }, Ok(Response::Acl { acl, stat: stat() }))
    };
    assert_eq!(list("digest", "ann:x"), Some("hash hidden in an access control list"));
    assert_eq!((list("digest", "ann:h"), list("ip", ":x")), (None, None));

    let (mut answers, mut reference, mut report) = history();
    let at = |reference: &Reference| (reference.clone(), Zxid::ZERO);
    let (shown, begun) = at(&reference);
    answers.answering((&shown, begun), C, Xid(1), z(2), &created(), &mut report);
    answers.answering((&shown, begun), C, Xid(2), z(2), &Ok(Response::Exists(Some(stat()))), &mut report);
    answers.refused(C, S, Xid(3), ErrorCode::BadArguments, false);
    answers.answering((&shown, begun), C, Xid(3), z(2), &Err(ErrorCode::BadArguments), &mut report);
    answers.arrived(C, S, Xid(4), &auth());
    answers.answering((&shown, begun), C, Xid(4), z(2), &Ok(Response::Authenticated), &mut report);
    answers.attaches(ConnId(2), S);
    answers.arrived(C, S, Xid(5), &create());
    answers.applied(&mut reference, &atxn(3, 5, TxnBody::Error(ErrorCode::SessionMoved)), &mut report);
    assert!(report.broken.is_empty(), "{report:?}");
    let (path, data, acl, mode) = ("/t".into(), Data::from("x"), open_acl(), CreateMode::PersistentTtl(1));
    answers.arrived(C, S, Xid(6), &Request::Create { path, data, acl, mode, stat: false });
    let (path, data, acl, kind) = ("/t".into(), Data::from("x"), open_acl(), NodeKind::Ttl(1));
    let made = TxnBody::Create { path, data, acl, kind, parent_created: 2 };
    answers.applied(&mut reference, &atxn(4, 6, made), &mut report);
    let removes = TxnBody::Delete { path: "/t".into() };
    let (zxid, session, xid, time_ms) = (z(5), SessionId::NONE, Xid(0), 2000);
    let removed = Txn { zxid, session, xid, time_ms, body: removes };
    answers.applied(&mut reference, &Arc::new(removed), &mut report);
    assert!(report.broken.is_empty(), "{report:?}");
    let cases = [
        "unreadable request refused",
        "credentials accepted",
        "write refused as its session had moved or ended",
        "container or TTL znode removed",
    ];
    assert_eq!(report.cases, cases.map(|case| (case, 1)).into());
}

#[test]
fn a_write_that_is_on_its_way_to_a_leader_elsewhere_may_be_applied_though_its_connection_is_gone() {
    let (mut answers, mut reference, mut report) = history();
    answers.arrived(C, S, Xid(3), &create());
    answers.closed(C, false);
    answers.applied(&mut reference, &atxn(3, 3, TxnBody::Error(ErrorCode::NodeExists)), &mut report);
    assert!(report.broken.is_empty() && answers.expected.is_empty(), "{report:?}");
}

//! What ZooKeeper's own ends take although it is not in the form that they send.

use zk_api::{
    AclList, CreateMode, Data, ErrorCode, MultiOutcome, Op, Request, Response, SessionId, Text, Zxid,
};
use zk_proto::message::{ConnectRequest, ConnectResponse, ToClient, ToServer, Xid};
use zk_wire::{ClientSide, Decoded, ServerSide, WireError};

/// Some fields one after the other.
fn frame(fields: &[&[u8]]) -> Vec<u8> {
    fields.concat()
}

fn int(n: i32) -> [u8; 4] {
    n.to_be_bytes()
}

const PATH: &[u8] = &[0, 0, 0, 2, b'/', b'a'];
const NULL: &[u8] = &[0xff; 4];

/// What a server makes of a request of this kind with these fields.
fn read(op: i32, fields: &[&[u8]]) -> Result<Request, ErrorCode> {
    let mut server = ServerSide::new();
    server.decode(&[0; 28]).expect("zeroes are a connect request");
    match server.decode(&[&frame(&[&int(1), &int(op)]), &frame(fields)[..]].concat()) {
        Ok(Decoded::Message(ToServer::Request { xid: Xid(1), request })) => Ok(request),
        Ok(Decoded::Refused { xid: Xid(1), op: refused, code, .. }) if refused == op => Err(code),
        other => panic!("neither a request nor refused: {other:?}"),
    }
}

/// What a client makes of an answer to `request` with these fields behind a header without error.
fn hear(request: Request, fields: &[&[u8]]) -> Result<Response, WireError> {
    let mut client = ClientSide::new();
    client.encode(&ToServer::Request { xid: Xid(1), request }, &mut Vec::new())?;
    client.decode(&[0; 20]).expect("zeroes are a connect response");
    match client.decode(&[&frame(&[&int(1), &[0; 8], &int(0)]), &frame(fields)[..]].concat())? {
        ToClient::Reply { xid: Xid(1), zxid: Zxid::ZERO, result } => Ok(result.expect("no error was told")),
        other => panic!("not an answer: {other:?}"),
    }
}

#[test]
fn any_byte_but_zero_is_true() {
    let exists = |watch| Ok(Request::Exists { path: "/a".into(), watch });
    assert_eq!(read(3, &[PATH, &[2]]), exists(true));
    assert_eq!(read(3, &[PATH, &[0]]), exists(false));
}

#[test]
fn what_stands_behind_a_record_is_ignored() {
    let request = read(2, &[PATH, &int(4), b"more"]);
    assert_eq!(request, Ok(Request::Delete { path: "/a".into(), version: 4 }));
    let sync = Request::Sync { path: "/a".into() };
    assert_eq!(hear(sync, &[PATH, b"more"]), Ok(Response::Synced { path: "/a".into() }));
}

#[test]
fn what_is_no_utf8_is_replaced() {
    let path = [0, 0, 0, 3, b'/', 0xff, b'x'];
    assert_eq!(read(9, &[&path]), Ok(Request::Sync { path: "/\u{fffd}x".into() }));
}

#[test]
fn the_flags_of_a_create_decide_its_mode_but_for_containers() {
    let (path, data, acl) = (Text::from("/a"), Data::NULL, AclList::default());
    let created = |mode, stat| {
        Ok(Request::Create { path: path.clone(), data: data.clone(), acl: acl.clone(), mode, stat })
    };
    // A null ACL is an empty one, which is as invalid.
    assert_eq!(read(1, &[PATH, NULL, NULL, &int(4)]), created(CreateMode::Persistent, false));
    assert_eq!(read(19, &[PATH, NULL, &int(0), &int(0)]), created(CreateMode::Container, true));
    // No time to live is an invalid one, which whoever carries the create out will find.
    assert_eq!(read(1, &[PATH, NULL, NULL, &int(5)]), created(CreateMode::PersistentTtl(-1), false));
    let ttl = (-1_i64).to_be_bytes();
    assert_eq!(read(21, &[PATH, NULL, NULL, &int(1), &ttl]), Err(ErrorCode::BadArguments));
    for flags in [-1, 7, i32::MIN] {
        assert_eq!(read(15, &[PATH, NULL, NULL, &int(flags)]), Err(ErrorCode::BadArguments));
    }
}

#[test]
fn within_a_multi_the_flags_decide_alone() {
    let made = |op: i32, flags: i32, ttl: &[u8]| {
        let create = [&int(op)[..], &[0], &int(-1), PATH, NULL, &int(0), &int(flags), ttl].concat();
        match read(14, &[&create, &int(-1), &[1], &int(-1)]) {
            Ok(Request::Multi { ops }) => match &ops[..] {
                [Op::Create { mode, stat, .. }] => Ok((*mode, *stat)),
                other => panic!("not one create: {other:?}"),
            },
            other => Err(other.expect_err("a multi or an error")),
        }
    };
    assert_eq!(made(1, 4, &[]), Ok((CreateMode::Container, true)));
    assert_eq!(made(15, 1, &[]), Ok((CreateMode::Ephemeral, true)));
    assert_eq!(made(1, 5, &[]), Err(ErrorCode::MarshallingError));
    let ttl = 9_i64.to_be_bytes();
    assert_eq!(made(21, 1, &ttl), Ok((CreateMode::Ephemeral, false)));
    assert_eq!(made(21, 5, &ttl), Ok((CreateMode::PersistentTtl(9), true)));
    // Refused as that operation's own error, as no time to live is.
    assert_eq!(made(21, 7, &ttl), Ok((CreateMode::PersistentTtl(0), true)));
}

/// Whether a request is refused with a zxid of its own.
fn takes_zxid(op: i32, fields: &[&[u8]]) -> bool {
    let mut server = ServerSide::new();
    server.decode(&[0; 28]).expect("zeroes are a connect request");
    match server.decode(&[&frame(&[&int(1), &int(op)]), &frame(fields)[..]].concat()) {
        Ok(Decoded::Refused { takes_zxid, .. }) => takes_zxid,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_write_that_can_be_read_takes_a_zxid_although_it_is_refused() {
    // A path that is null, and one that is cut off.
    assert!(takes_zxid(2, &[NULL, &int(4)]) && !takes_zxid(2, &[NULL]));
    assert!(takes_zxid(5, &[NULL, NULL, &int(4)]) && !takes_zxid(5, &[PATH]));
    assert!(takes_zxid(1, &[PATH, NULL, &int(0), &int(9)]));
    assert!(takes_zxid(14, &[]), "a multi is looked at later than the others");
    let create = [&int(1)[..], &[0], &int(-1), PATH, NULL, NULL, &int(0)].concat();
    assert!(!takes_zxid(14, &[&create]), "but for one without an ACL");
    assert!(!takes_zxid(4, &[NULL, &[0]]), "a read takes none");
}

#[test]
fn no_prefix_of_ephemerals_is_an_empty_one() {
    assert_eq!(read(103, &[NULL]), Ok(Request::GetEphemerals { prefix: "".into() }));
}

#[test]
fn a_password_of_another_length_is_nobodys() {
    for length in [0, 15, 17] {
        let mut server = ServerSide::new();
        let password = vec![9; length as usize];
        let connect = frame(&[&int(0), &[0; 8], &int(-5), &[1; 8], &int(length), &password]);
        let expected = ConnectRequest {
            last_zxid: Zxid::ZERO,
            timeout_ms: 0,
            session: SessionId::new(0x0101_0101_0101_0101),
            password: [0; 16],
        };
        assert_eq!(server.decode(&connect), Ok(Decoded::Message(ToServer::Connect(expected))));

        // A server that gives a session gives its password.
        let connected = |session: u8| frame(&[&int(0), &int(9), &[session; 8], &int(length), &password]);
        let malformed = Err(WireError::Malformed { what: "connect response" });
        assert_eq!(ClientSide::new().decode(&connected(1)), malformed);
        let dead = ConnectResponse { timeout_ms: 9, session: SessionId::NONE, password: [0; 16] };
        assert_eq!(ClientSide::new().decode(&connected(0)), Ok(ToClient::Connected(dead)));
    }
}

/// A multi of two operations.
fn multi() -> Request {
    let op = |version| Op::Check { path: "/a".into(), version };
    Request::Multi { ops: vec![op(0), op(1)] }
}

#[test]
fn a_multi_is_done_as_a_whole_or_not_at_all() {
    let checked = frame(&[&int(13), &[0], &int(0)]);
    let failed = frame(&[&int(-1), &[0], &int(-103), &int(-103)]);
    let end = frame(&[&int(-1), &[1], &int(-1)]);
    let malformed = Err(WireError::Malformed { what: "answer" });
    assert!(matches!(
        hear(multi(), &[&checked, &checked, &end]),
        Ok(Response::Multi(MultiOutcome::Applied(results))) if results.len() == 2
    ));
    assert_eq!(hear(multi(), &[&checked, &failed, &end]), malformed);
    // One result for each operation, no more and no less.
    assert_eq!(hear(multi(), &[&checked, &end]), malformed);
    assert_eq!(hear(multi(), &[&checked, &checked, &checked, &end]), malformed);
    let reads = Request::MultiRead { ops: vec![] };
    assert_eq!(hear(reads.clone(), &[&end]), Ok(Response::MultiRead(vec![])));
    assert_eq!(hear(reads, &[&failed, &end]), malformed);
}

#[test]
fn a_result_that_no_operation_has_has_no_form() {
    let mut server = ServerSide::new();
    let mut out = b"before".to_vec();
    let result = Ok(Response::MultiRead(vec![Ok(Response::Deleted)]));
    let reply = ToClient::Reply { xid: Xid(1), zxid: Zxid::ZERO, result };
    let refused = Err(WireError::Unencodable { what: "a result of multiRead" });
    assert_eq!((server.encode(&reply, &mut out), &out[..]), (refused, &b"before"[..]));
}

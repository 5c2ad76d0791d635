//! Whole conversations: whatever one end says, the other hears.

use crate::common::{
    Answer, connect_request, connect_response, event, exchange, request, watches, zxid, zxid_seen,
};
use proptest::collection::vec;
use proptest::prelude::*;
use zk_api::{
    CreateMode, ErrorCode, MultiOutcome, Op, OpResult, Request, Response, SessionId, Stat, WatchedEvent,
    Zxid, open_acl,
};
use zk_proto::message::{ConnectRequest, ConnectResponse, ToClient, ToServer, WatchList, Xid};
use zk_proto::server::{FRAME_BYTES_MAX, frame_bytes};
use zk_wire::total::canonical;
use zk_wire::{ClientSide, Decoded, Frames, Piece, ServerSide, WireError, xid};

/// What a client says, and what comes back for it.
#[derive(Clone, Debug)]
enum Turn {
    Request(Request, Zxid, Answer),
    SetWatches(Zxid, WatchList),
    Ping(Zxid),
    Event(Option<Zxid>, WatchedEvent),
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        4 => (exchange(), zxid()).prop_map(|((request, answer), zxid)| Turn::Request(request, zxid, answer)),
        1 => (zxid_seen(), watches()).prop_map(|(zxid, watches)| Turn::SetWatches(zxid, watches)),
        1 => zxid().prop_map(Turn::Ping),
        1 => event().prop_map(|(zxid, event)| Turn::Event(zxid, event)),
    ]
}

/// Carries bytes in pieces of some size and gives the frames that arrive.
fn carry(mut stream: Frames, bytes: &[u8], piece: usize) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    for part in bytes.chunks(piece) {
        stream.push(part);
        while let Some(piece) = stream.next_piece().expect("short frames") {
            match piece {
                Piece::Frame(frame) => frames.push(frame),
                Piece::Word(word) => panic!("{word:?} was not said"),
            }
        }
    }
    assert_eq!(stream.rest(), [0_u8; 0], "nothing is left over");
    frames
}

/// What the user hears: Stats that he did not ask for are dropped, and a znode that is not there is no error.
fn heard(request: &Request, answer: Answer) -> Answer {
    match (request, answer) {
        (Request::Exists { .. }, Err(ErrorCode::NoNode)) => Ok(Response::Exists(None)),
        (Request::Create { stat: asked, .. }, Ok(Response::Created { path, stat })) => {
            Ok(Response::Created { path, stat: stat.filter(|_| *asked) })
        }
        (Request::Multi { ops }, Ok(Response::Multi(MultiOutcome::Applied(mut results)))) => {
            for (op, result) in ops.iter().zip(&mut results) {
                if let (Op::Create { stat: false, .. }, OpResult::Created { stat, .. }) = (op, result) {
                    *stat = None;
                }
            }
            Ok(Response::Multi(MultiOutcome::Applied(results)))
        }
        (_, answer) => answer,
    }
}

/// The messages of the turns: what the client says; what the server says; what the client hears.
fn script(turns: &[Turn]) -> (Vec<ToServer>, Vec<ToClient>, Vec<ToClient>) {
    let (mut said, mut sent, mut expected) = (Vec::new(), Vec::new(), Vec::new());
    for (index, turn) in turns.iter().enumerate() {
        match turn.clone() {
            Turn::Request(request, zxid, answer) => {
                let repeated = matches!(request, Request::Auth { .. }) && index % 2 == 0;
                let xid = Xid(if repeated { xid::AUTH } else { index as i32 + 1 });
                sent.push(ToClient::Reply { xid, zxid, result: answer.clone() });
                expected.push(ToClient::Reply { xid, zxid, result: heard(&request, answer) });
                said.push(ToServer::Request { xid, request });
            }
            Turn::SetWatches(zxid, watches) => {
                said.push(ToServer::SetWatches { since: zxid, watches });
                sent.push(ToClient::WatchesSet { zxid });
                expected.push(ToClient::WatchesSet { zxid });
            }
            Turn::Ping(zxid) => {
                said.push(ToServer::Ping);
                sent.push(ToClient::Pong { zxid });
                expected.push(ToClient::Pong { zxid });
            }
            Turn::Event(zxid, event) => {
                sent.push(ToClient::Event { zxid, event: event.clone() });
                expected.push(ToClient::Event { zxid, event });
            }
        }
    }
    (said, sent, expected)
}

fn ends(old: bool) -> (ClientSide, ServerSide) {
    let client = if old { ClientSide::without_read_only_byte() } else { ClientSide::new() };
    (client, ServerSide::new())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_conversation_is_heard_as_it_was_said(
        request in connect_request(),
        response in connect_response(),
        old in any::<bool>(),
        turns in vec(turn(), 0..8),
        piece in 1_usize..64,
    ) {
        let (mut client, mut server) = ends(old);
        let (mut said, mut sent, mut expected) = script(&turns);
        said.insert(0, ToServer::Connect(request));
        sent.insert(0, ToClient::Connected(response.clone()));
        expected.insert(0, ToClient::Connected(response));

        let mut bytes = Vec::new();
        for message in &said {
            client.encode(message, &mut bytes).unwrap();
        }
        let frames = carry(Frames::of_client(), &bytes, piece);
        let arrived: Vec<_> = frames.iter().map(|frame| server.decode(frame).unwrap()).collect();
        let canonical: Vec<_> = said.into_iter().map(canonical).map(Decoded::Message).collect();
        prop_assert_eq!(arrived, canonical);

        bytes.clear();
        for message in &sent {
            server.encode(message, &mut bytes).unwrap();
        }
        let frames = carry(Frames::of_server(1 << 20), &bytes, piece);
        let arrived: Vec<_> = frames.iter().map(|frame| client.decode(frame).unwrap()).collect();
        prop_assert_eq!(arrived, expected);
    }

    #[test]
    fn a_request_is_as_long_as_the_server_counts_it(request in request()) {
        let mut bytes = Vec::new();
        ClientSide::new().encode(&ToServer::Request { xid: Xid(1), request: request.clone() }, &mut bytes).unwrap();
        prop_assert_eq!(bytes.len(), 4 + frame_bytes(&request));
    }
}

/// Both ends, after a handshake.
fn connected() -> (ClientSide, ServerSide) {
    let (mut client, mut server) = ends(false);
    let (timeout_ms, password) = (4000, [7; 16]);
    let request = ConnectRequest { last_zxid: Zxid::ZERO, timeout_ms, session: SessionId::NONE, password };
    let mut bytes = Vec::new();
    client.encode(&ToServer::Connect(request), &mut bytes).unwrap();
    server.decode(&bytes[4..]).unwrap();
    bytes.clear();
    let response = ConnectResponse { timeout_ms, session: SessionId::new(1), password };
    server.encode(&ToClient::Connected(response), &mut bytes).unwrap();
    client.decode(&bytes[4..]).unwrap();
    (client, server)
}

fn reply(xid: i32, result: Answer) -> ToClient {
    ToClient::Reply { xid: Xid(xid), zxid: Zxid::new(1, 1), result }
}

#[test]
fn an_answer_to_nothing_closes_the_connection() {
    let (mut client, mut server) = connected();
    let mut bytes = Vec::new();
    server.encode(&reply(5, Ok(Response::Deleted)), &mut bytes).unwrap();
    assert_eq!(client.decode(&bytes[4..]), Err(WireError::UnexpectedReply { xid: 5 }));
}

#[test]
fn refused_watches_close_the_connection() {
    let (mut client, mut server) = connected();
    let mut bytes = Vec::new();
    server.encode(&reply(xid::SET_WATCHES, Err(ErrorCode::NoAuth)), &mut bytes).unwrap();
    let refused = Err(WireError::WatchesRefused { code: ErrorCode::NoAuth });
    assert_eq!(client.decode(&bytes[4..]), refused);
}

#[test]
fn set_watches_is_answered_with_its_own_number() {
    let (_, mut server) = connected();
    // A client that numbers it as any other: xid 9, type 101, since 0, three empty lists.
    let frame = [[0, 0, 0, 9], [0, 0, 0, 101]].concat();
    let frame = [frame, vec![0; 8 + 3 * 4]].concat();
    assert!(matches!(server.decode(&frame), Ok(Decoded::Message(ToServer::SetWatches { .. }))));
    for expected in [9, xid::SET_WATCHES] {
        let mut bytes = Vec::new();
        server.encode(&ToClient::WatchesSet { zxid: Zxid::ZERO }, &mut bytes).unwrap();
        assert_eq!(bytes[4..8], i32::to_be_bytes(expected));
    }
}

#[test]
fn a_refused_request_keeps_its_place_among_those_of_its_number() {
    let (mut client, mut server) = connected();
    // Twice the same number: first an unknown operation, then a multi.
    server.decode(&[[0, 0, 0, 3], [0, 0, 0, 77]].concat()).unwrap();
    let mode = CreateMode::Container;
    let op = Op::Create { path: "/c".into(), data: "".into(), acl: open_acl(), mode, stat: true };
    let request = Request::Multi { ops: vec![op] };
    let mut bytes = Vec::new();
    client.encode(&ToServer::Request { xid: Xid(3), request }, &mut bytes).unwrap();
    server.decode(&bytes[4..]).unwrap();

    bytes.clear();
    server.encode(&reply(3, Err(ErrorCode::Unimplemented)), &mut bytes).unwrap();
    bytes.clear();
    let created = OpResult::Created { path: "/c".into(), stat: Some(Stat::default()) };
    let applied = Response::Multi(MultiOutcome::Applied(vec![created]));
    server.encode(&reply(3, Ok(applied)), &mut bytes).unwrap();
    // Behind length and header: the result's type is that of any create with a Stat.
    assert_eq!(bytes[20..24], [0, 0, 0, 15]);
}

#[test]
fn an_error_without_a_name_may_have_been_applied() {
    let (mut client, mut server) = connected();
    let mut bytes = Vec::new();
    let request = Request::Delete { path: "/a".into(), version: -1 };
    client.encode(&ToServer::Request { xid: Xid(1), request }, &mut bytes).unwrap();
    bytes.clear();
    server.encode(&reply(1, Err(ErrorCode::NoNode)), &mut bytes).unwrap();
    bytes[16..20].copy_from_slice(&i32::to_be_bytes(-13));
    assert_eq!(client.decode(&bytes[4..]), Ok(reply(1, Err(ErrorCode::SystemError))));
}

#[test]
fn a_request_that_is_too_long_is_found_by_the_server() {
    let (mut client, _) = connected();
    let request = |length: usize| {
        let data = vec![0; length].into();
        ToServer::Request { xid: Xid(1), request: Request::SetData { path: "/".into(), data, version: -1 } }
    };
    let around = 8 + 5 + 4 + 4;
    for (length, fits) in [(FRAME_BYTES_MAX - around, true), (FRAME_BYTES_MAX - around + 1, false)] {
        let mut bytes = Vec::new();
        client.encode(&request(length), &mut bytes).unwrap();
        let mut stream = Frames::of_client();
        stream.push(&bytes);
        let too_long =
            WireError::FrameLength { length: FRAME_BYTES_MAX as i64 + 1, max: FRAME_BYTES_MAX as u32 };
        match stream.next_piece() {
            Ok(Some(Piece::Frame(frame))) => assert!(fits && frame.len() == FRAME_BYTES_MAX),
            other => assert_eq!((other, fits), (Err(too_long), false)),
        }
    }
}

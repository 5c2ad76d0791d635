//! Frames written out in `testdata`, each with the message that it is, in both directions.

mod answers;
mod file;
mod requests;

use file::{Block, read};
use zk_api::{ErrorCode, SessionId, Zxid};
use zk_proto::message::{ConnectRequest, ConnectResponse, ToClient, ToServer, Xid};
use zk_wire::{ClientSide, Decoded, ServerSide, WireError};

const HANDSHAKE: &str = include_str!("../../testdata/handshake.txt");
const REQUESTS: &str = include_str!("../../testdata/requests.txt");
const REFUSED: &str = include_str!("../../testdata/refused.txt");
const ANSWERS: &str = include_str!("../../testdata/answers.txt");

/// Pairs the blocks of a file with what they should be, by name: none may be left over on either side.
fn paired<T>(file: &str, expected: Vec<(&str, T)>) -> Vec<(Block, T)> {
    let blocks = read(file);
    let names: Vec<&str> = blocks.iter().map(|block| &*block.name).collect();
    let wanted: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, wanted, "the file and the test list the same frames");
    blocks.into_iter().zip(expected.into_iter().map(|(_, message)| message)).collect()
}

fn password() -> [u8; 16] {
    std::array::from_fn(|at| at as u8 + 1)
}

fn new_session() -> ConnectRequest {
    let (last_zxid, session) = (Zxid::ZERO, SessionId::NONE);
    ConnectRequest { last_zxid, timeout_ms: 4000, session, password: [0; 16] }
}

/// Both ends of a connection whose handshake is done.
pub fn connected() -> (ClientSide, ServerSide) {
    let (mut client, mut server) = (ClientSide::new(), ServerSide::new());
    shake_hands(&mut client, &mut server);
    (client, server)
}

fn shake_hands(client: &mut ClientSide, server: &mut ServerSide) {
    let mut bytes = Vec::new();
    client.encode(&ToServer::Connect(new_session()), &mut bytes).unwrap();
    server.decode(&bytes[4..]).unwrap();
    bytes.clear();
    let response = ConnectResponse { timeout_ms: 4000, session: SessionId::new(1), password: [1; 16] };
    server.encode(&ToClient::Connected(response), &mut bytes).unwrap();
    client.decode(&bytes[4..]).unwrap();
}

#[test]
fn the_handshake_is_as_defined() {
    let taken_over = ConnectRequest {
        last_zxid: Zxid::new(5, 9),
        timeout_ms: 10_000,
        session: SessionId::new(0x1234_5678_90ab),
        password: password(),
    };
    let granted = |timeout_ms| ConnectResponse {
        timeout_ms,
        session: SessionId::new(0x1234_5678_90ab),
        password: password(),
    };
    let dead = ConnectResponse { timeout_ms: 0, session: SessionId::NONE, password: [0; 16] };
    let blocks = read(HANDSHAKE);
    let [new, old, connected, connected_old, refused] = &blocks[..] else { panic!("five frames") };

    for (asked, request, answers) in [
        (new, new_session(), vec![(connected, granted(4000)), (refused, dead)]),
        (old, taken_over, vec![(connected_old, granted(10_000))]),
    ] {
        let is_old = asked.name == "connect_of_an_old_client";
        for (answered, response) in answers {
            let mut client = if is_old { ClientSide::without_read_only_byte() } else { ClientSide::new() };
            let mut server = ServerSide::new();
            let (request, response) = (ToServer::Connect(request.clone()), ToClient::Connected(response));
            let mut bytes = Vec::new();
            client.encode(&request, &mut bytes).unwrap();
            asked.assert_is(&bytes);
            assert_eq!(server.decode(asked.frame()), Ok(Decoded::Message(request)), "{}", asked.name);
            bytes.clear();
            server.encode(&response, &mut bytes).unwrap();
            answered.assert_is(&bytes);
            assert_eq!(client.decode(answered.frame()), Ok(response), "{}", answered.name);
        }
    }
}

#[test]
fn requests_are_as_defined() {
    for (block, message) in paired(REQUESTS, requests::messages()) {
        let (mut client, mut server) = connected();
        let mut bytes = Vec::new();
        client.encode(&message, &mut bytes).unwrap();
        block.assert_is(&bytes);
        let read = server.decode(block.frame());
        assert_eq!(read, Ok(Decoded::Message(zk_wire::total::canonical(message))), "{}", block.name);
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_zookeepers_code() {
    let refused = [
        ("reconfig", ErrorCode::ReconfigDisabled),
        ("unknown_operation", ErrorCode::Unimplemented),
        ("create_session_without_a_timeout", ErrorCode::MarshallingError),
        ("check_outside_a_multi", ErrorCode::Unimplemented),
        ("truncated_body", ErrorCode::MarshallingError),
        ("text_longer_than_the_frame", ErrorCode::MarshallingError),
        ("add_watch_mode_7", ErrorCode::MarshallingError),
        ("flags_7", ErrorCode::BadArguments),
        ("ttl_of_a_mode_without", ErrorCode::BadArguments),
        ("watcher_type_6", ErrorCode::MarshallingError),
        ("multi_with_a_read", ErrorCode::MarshallingError),
        ("multi_read_with_a_write", ErrorCode::MarshallingError),
        ("multi_without_its_end", ErrorCode::MarshallingError),
        ("null_path", ErrorCode::MarshallingError),
    ];
    let (_, mut server) = connected();
    for (index, (block, expected)) in paired(REFUSED, refused.into()).into_iter().enumerate() {
        match server.decode(block.frame()) {
            Ok(Decoded::Refused { xid, code, .. }) => {
                assert_eq!((xid, code), (Xid(index as i32 + 1), expected), "{}", block.name);
            }
            other => panic!("{} was not refused: {other:?}", block.name),
        }
    }
}

#[test]
fn a_token_of_sasl_is_answered_with_none_and_only_a_token_is() {
    let (client, mut server) = connected();
    let frame = |token: &[u8]| [&[0, 0, 0, 9, 0, 0, 0, 102], token].concat();
    let sasl = server.decode(&frame(b"\0\0\0\x04abcd"));
    assert_eq!(sasl, Ok(Decoded::Sasl { xid: Xid(9) }));
    let mut bytes = Vec::new();
    server.encode_no_sasl(Xid(9), &mut bytes).unwrap();
    let header = [0, 0, 0, 20, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(bytes, [&header[..], &[0xff; 4]].concat());
    // Our own client never asks.
    assert_eq!(client.clone().decode(&bytes[4..]), Err(WireError::UnexpectedReply { xid: 9 }));
    for cut in [&[0xff; 4][..], b"\0\0\0\x09abc", b"\0\0", b""] {
        let malformed = Err(WireError::Malformed { what: "SASL token" });
        assert_eq!(server.clone().decode(&frame(cut)), malformed, "{cut:?}");
    }
}

/// Both ends, when the request of that name has come to the server.
fn asked(name: &str) -> (ClientSide, ServerSide) {
    let (mut client, mut server) = connected();
    if let Some((_, request)) = requests::messages().iter().find(|(asked, _)| *asked == name) {
        let mut bytes = Vec::new();
        client.encode(request, &mut bytes).unwrap();
        server.decode(&bytes[4..]).unwrap();
    }
    (client, server)
}

#[test]
fn answers_are_as_defined() {
    for (block, answer) in paired(ANSWERS, answers::messages()) {
        let (mut client, mut server) = asked(answer.to);
        let mut bytes = Vec::new();
        server.encode(&answer.sent, &mut bytes).unwrap();
        block.assert_is(&bytes);
        assert_eq!(client.decode(block.frame()), Ok(answer.heard), "{}", block.name);
    }
}

#[test]
fn an_answer_cut_anywhere_closes_the_connection() {
    for (block, answer) in paired(ANSWERS, answers::messages()) {
        let (client, _) = asked(answer.to);
        // The Stat that was not asked for is not read either.
        let unread = if block.name == "container_created" { 68 } else { 0 };
        for length in 0..block.frame().len() - unread {
            let read = client.clone().decode(&block.frame()[..length]);
            assert!(matches!(read, Err(WireError::Malformed { .. })), "{} cut to {length}", block.name);
        }
    }
}

//! Reading ends, whatever is read: bounded by proptest here, without bound under `fuzz`.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use zk_api::{ErrorCode, Zxid};
use zk_proto::message::{ToServer, WatchList, Xid};
use zk_wire::total::{every_request, hold};
use zk_wire::{ClientSide, Decoded, Frames, Piece, ServerSide, WireError};

/// Each request there is, as a frame without its length.
fn request_frames() -> Vec<Vec<u8>> {
    let frame = |(index, request)| {
        let mut bytes = Vec::new();
        let message = ToServer::Request { xid: Xid(index as i32 + 1), request };
        ClientSide::new().encode(&message, &mut bytes).expect("a short request");
        bytes.split_off(4)
    };
    every_request().into_iter().enumerate().map(frame).collect()
}

/// A frame of some bytes.
fn framed(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes(), bytes].concat()
}

/// A server whose handshake is done.
fn server() -> ServerSide {
    let mut server = ServerSide::new();
    server.decode(&[0; 44]).expect("zeroes are a connect request");
    server
}

/// One small change.
#[derive(Clone, Debug)]
enum Mutation {
    Set(Index, u8),
    Word(Index, i32),
    Cut(Index),
    Double(Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let telling = select(vec![-1, 0, 1, 4, 15, 19, 21, 255, i32::MAX, i32::MIN]);
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Set(at, byte)),
        (any::<Index>(), telling).prop_map(|(at, word)| Mutation::Word(at, word)),
        any::<Index>().prop_map(Mutation::Cut),
        any::<Index>().prop_map(Mutation::Double),
    ]
}

fn mutate(bytes: &mut Vec<u8>, mutation: &Mutation) {
    if bytes.is_empty() {
        return;
    }
    match mutation {
        Mutation::Set(at, byte) => *at.get_mut(bytes) = *byte,
        Mutation::Word(at, word) => {
            let at = at.index(bytes.len());
            let room = (bytes.len() - at).min(4);
            bytes[at..at + room].copy_from_slice(&word.to_be_bytes()[..room]);
        }
        Mutation::Cut(at) => bytes.truncate(at.index(bytes.len())),
        Mutation::Double(at) => bytes.extend_from_within(at.index(bytes.len())..),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_to_their_end(bytes in vec(any::<u8>(), 0..256)) {
        hold(&bytes);
        hold(&framed(&bytes));
    }

    #[test]
    fn damaged_requests_are_read_to_their_end(
        which in any::<Index>(),
        mutations in vec(mutation(), 0..4),
    ) {
        let frames = request_frames();
        let mut frame = which.get(&frames).clone();
        mutations.iter().for_each(|mutation| mutate(&mut frame, mutation));
        hold(&frame);
        // Behind a handshake, and before one that is whole.
        hold(&[framed(&[0; 44]), framed(&frame), framed(&frames[0])].concat());
    }

    /// The answer to the request `which`, with a body of small numbers, of which much can be read.
    #[test]
    fn damaged_answers_are_read_to_their_end(
        which in 1_i32..24,
        body in vec(select(vec![0, 0, 0, 0, 0, 1, 2, 4, 5, 13, 15, 19, 21, 255, b'/']), 0..200),
    ) {
        let header = [&which.to_be_bytes()[..], &[0; 12]].concat();
        hold(&[header.clone(), body.clone()].concat());
        hold(&[framed(&[0; 37]), framed(&[header, body].concat())].concat());
    }
}

#[test]
fn a_request_cut_anywhere_is_refused_in_its_place() {
    for (index, frame) in request_frames().into_iter().enumerate() {
        let name = every_request()[index].name();
        for length in 0..frame.len() {
            let mut server = server();
            let read = server.decode(&frame[..length]);
            let refused = Decoded::Refused {
                xid: Xid(index as i32 + 1),
                op: i32::from_be_bytes(frame[4..8].try_into().expect("four bytes")),
                code: ErrorCode::MarshallingError,
                takes_zxid: name == "multi",
            };
            match (length, name) {
                (..8, _) => assert_eq!(read, Err(WireError::Malformed { what: "request header" })),
                (_, "auth") => assert_eq!(read, Err(WireError::Malformed { what: "auth packet" })),
                _ => assert_eq!(read, Ok(refused), "{name} cut to {length}"),
            }
        }
    }
}

#[test]
fn a_handshake_cut_anywhere_closes_the_connection() {
    // Version, zxid, timeout, session, and a password of 16 bytes.
    let mut request = vec![0; 4 + 8 + 4 + 8];
    request.extend([0, 0, 0, 16]);
    request.extend([7; 16]);
    for length in 0..request.len() {
        let read = ServerSide::new().decode(&request[..length]);
        assert_eq!(read, Err(WireError::Malformed { what: "connect request" }), "cut to {length}");
    }
    assert!(ServerSide::new().decode(&request).is_ok());
}

#[test]
fn a_length_that_is_a_lie_costs_nothing() {
    let lie = i32::MAX.to_be_bytes();
    // A frame: nothing is set aside for it, whatever a client may be ready to take.
    let mut stream = Frames::of_server(u32::MAX);
    stream.push(&lie);
    assert_eq!((stream.next_piece(), stream.rest().len()), (Ok(None), 4));
    // A path, data, and the lists of an ACL and of watches.
    let head = |op: i32| [1_i32.to_be_bytes(), op.to_be_bytes()].concat();
    let path = [0, 0, 0, 1, b'/'];
    let frames = [
        [&head(4)[..], &lie].concat(),
        [&head(5)[..], &path, &lie].concat(),
        [&head(7)[..], &path, &lie].concat(),
        [&head(101)[..], &[0; 8], &lie].concat(),
    ];
    for frame in frames {
        let read = server().decode(&frame);
        assert!(matches!(read, Ok(Decoded::Refused { code: ErrorCode::MarshallingError, .. })), "{read:?}");
    }
}

#[test]
fn a_long_list_of_watches_is_sent_in_parts_that_fit() {
    let paths = |kind: &str| (0..9_000).map(|n| format!("/{kind}/{n:0100}").into()).collect();
    let watches = WatchList {
        data: paths("data"),
        exist: paths("exist"),
        child: paths("child"),
        persistent: paths("persistent"),
        recursive: paths("recursive"),
    };
    let message = ToServer::SetWatches { since: Zxid::new(1, 2), watches };
    let mut bytes = Vec::new();
    ClientSide::new().encode(&message, &mut bytes).unwrap();
    let mut stream = Frames::of_client();
    stream.push(&bytes);
    let (mut server, mut together) = (server(), WatchList::default());
    let mut count = 0;
    while let Some(piece) = stream.next_piece().expect("no part is too long") {
        let Piece::Frame(frame) = piece else { panic!("no word was said") };
        let Ok(Decoded::Message(ToServer::SetWatches { since, watches })) = server.decode(&frame) else {
            panic!("a part is a list of watches");
        };
        assert_eq!(since, Zxid::new(1, 2));
        together.data.extend(watches.data);
        together.exist.extend(watches.exist);
        together.child.extend(watches.child);
        together.persistent.extend(watches.persistent);
        together.recursive.extend(watches.recursive);
        count += 1;
    }
    assert_eq!(ToServer::SetWatches { since: Zxid::new(1, 2), watches: together }, message);
    assert!(count > 30, "{count} parts of nearly five million bytes");
}

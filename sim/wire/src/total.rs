//! What holds for any bytes whatever. The tests and the fuzz target share it.
//!
//! ```
//! use zk_api::Request;
//! use zk_proto::message::{ToServer, Xid};
//! use zk_wire::total::{canonical, every_request, hold};
//!
//! for byte in 0..=u8::MAX {
//!     hold(&[0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, byte, 0, 0, 0, 0]);
//! }
//! // Most requests come back as they were written.
//! let changed = every_request().into_iter().filter(|request| {
//!     let message = ToServer::Request { xid: Xid(1), request: request.clone() };
//!     canonical(message.clone()) != message
//! });
//! assert!(changed.into_iter().all(|request| matches!(request, Request::Create { .. } | Request::Multi { .. })));
//! ```

use crate::{ClientSide, Decoded, Frames, Piece, ServerSide, WireError};
use zk_api::{AddWatchMode, CreateMode, Data, Op, ReadOp, Request, WatcherKind, open_acl};
use zk_proto::message::{ToServer, Xid};

/// Reads `bytes` as what a client sends, and as what a server sends to a client that has asked everything
/// there is. Panics if a promise is broken; that reading never panics is the first of them:
///
/// - what a client said and could be read is, written and read again, the same;
/// - every step takes something away, so that reading ends.
///
/// They are taken for a whole stream, and for the one frame behind a handshake: so damage need not be undone
/// in the lengths of frames to go deep.
pub fn hold(bytes: &[u8]) {
    server_reads(ServerSide::new(), &frames(Frames::of_client(), bytes));
    server_reads(server(), &[bytes.to_vec()]);
    client_reads(client(), &frames(Frames::of_server(1 << 24), bytes));
    let mut connected = client();
    connected.decode(&NO_SESSION).expect("a connect response");
    client_reads(connected, &[bytes.to_vec()]);
}

/// A connect request of zeroes: for a new session, with a password of no bytes.
const NEW_SESSION: [u8; 28] = [0; 28];

/// A connect response of zeroes, likewise.
const NO_SESSION: [u8; 20] = [0; 20];

/// A server whose handshake is done.
fn server() -> ServerSide {
    let mut server = ServerSide::new();
    server.decode(&NEW_SESSION).expect("a connect request");
    server
}

fn server_reads(mut server: ServerSide, frames: &[Vec<u8>]) {
    for frame in frames {
        match server.decode(frame) {
            Ok(Decoded::Message(message)) => assert_eq!(again(&message), canonical(message)),
            Ok(Decoded::Refused { .. } | Decoded::Sasl { .. }) => {}
            Err(_) => return,
        }
    }
}

/// The message as it comes back when it is written and read again: containers and TTL znodes are always
/// created in the form that is answered with a Stat.
pub fn canonical(mut message: ToServer) -> ToServer {
    let answered_with_stat =
        |mode: CreateMode, stat: bool| stat || mode == CreateMode::Container || mode.ttl_ms().is_some();
    match &mut message {
        ToServer::Request { request: Request::Create { mode, stat, .. }, .. } => {
            *stat = answered_with_stat(*mode, *stat);
        }
        ToServer::Request { request: Request::Multi { ops }, .. } => {
            for op in ops {
                if let Op::Create { mode, stat, .. } = op {
                    *stat = answered_with_stat(*mode, *stat);
                }
            }
        }
        ToServer::Request { .. } | ToServer::Connect(_) | ToServer::SetWatches { .. } | ToServer::Ping => {}
    }
    message
}

/// A message of a client, written and read again. A long list of watches comes back in parts.
fn again(message: &ToServer) -> ToServer {
    let is_first = matches!(message, ToServer::Connect(_));
    let mut server = if is_first { ServerSide::new() } else { server() };
    let mut bytes = Vec::new();
    ClientSide::new().encode(message, &mut bytes).expect("what was read is not too long to be written");
    let whole = Frames::of_server(u32::MAX);
    let mut parts = frames(whole, &bytes).into_iter().map(|frame| match server.decode(&frame) {
        Ok(Decoded::Message(message)) => message,
        other => panic!("what was read is not read again: {other:?}"),
    });
    let mut first = parts.next().expect("a message is at least one frame");
    for part in parts {
        join(&mut first, part);
    }
    first
}

/// Puts a later part of a list of watches behind the earlier ones.
fn join(list: &mut ToServer, part: ToServer) {
    match (list, part) {
        (ToServer::SetWatches { watches, .. }, ToServer::SetWatches { watches: later, .. }) => {
            watches.data.extend(later.data);
            watches.exist.extend(later.exist);
            watches.child.extend(later.child);
            watches.persistent.extend(later.persistent);
            watches.recursive.extend(later.recursive);
        }
        (_, part) => panic!("only watches come in parts: {part:?}"),
    }
}

/// A client that has sent [`every_request`], each with its place among them as its xid, from one.
fn client() -> ClientSide {
    let mut client = ClientSide::new();
    let mut sent = Vec::new();
    for (index, request) in every_request().into_iter().enumerate() {
        let message = ToServer::Request { xid: Xid(index as i32 + 1), request };
        client.encode(&message, &mut sent).expect("a short request");
    }
    client
}

fn client_reads(mut client: ClientSide, frames: &[Vec<u8>]) {
    for frame in frames {
        if client.decode(frame).is_err() {
            return;
        }
    }
}

/// Cuts bytes into frames, up to the first that is not whole.
fn frames(mut stream: Frames, bytes: &[u8]) -> Vec<Vec<u8>> {
    stream.push(bytes);
    let mut frames = Vec::new();
    loop {
        let before = stream.rest().len();
        match stream.next_piece() {
            Ok(Some(piece)) => {
                assert!(stream.rest().len() < before, "a piece took nothing away");
                if let Piece::Frame(frame) = piece {
                    frames.push(frame);
                }
            }
            Ok(None) | Err(WireError::FrameLength { .. }) => return frames,
            Err(other) => panic!("a stream has no such error: {other}"),
        }
    }
}

/// A request of each kind, and of each form that an answer can have.
pub fn every_request() -> Vec<Request> {
    let path = || "/a".into();
    let create = |mode, stat| Request::Create { path: path(), data: Data::NULL, acl: open_acl(), mode, stat };
    let op = |mode, stat| Op::Create { path: path(), data: Data::NULL, acl: open_acl(), mode, stat };
    let ops = vec![
        op(CreateMode::Persistent, false),
        op(CreateMode::Ephemeral, true),
        op(CreateMode::Container, false),
        op(CreateMode::PersistentTtl(1), true),
        Op::Delete { path: path(), version: -1 },
        Op::SetData { path: path(), data: Data::NULL, version: -1 },
        Op::Check { path: path(), version: -1 },
    ];
    vec![
        create(CreateMode::Persistent, false),
        create(CreateMode::EphemeralSequential, true),
        create(CreateMode::Container, true),
        create(CreateMode::PersistentSequentialTtl(1), false),
        Request::Delete { path: path(), version: -1 },
        Request::Exists { path: path(), watch: false },
        Request::GetData { path: path(), watch: true },
        Request::SetData { path: path(), data: Data::NULL, version: -1 },
        Request::GetChildren { path: path(), watch: false, stat: false },
        Request::GetChildren { path: path(), watch: false, stat: true },
        Request::GetAcl { path: path() },
        Request::SetAcl { path: path(), acl: open_acl(), version: -1 },
        Request::Sync { path: path() },
        Request::Multi { ops },
        Request::MultiRead {
            ops: vec![ReadOp::GetData { path: path() }, ReadOp::GetChildren { path: path() }],
        },
        Request::AddWatch { path: path(), mode: AddWatchMode::Persistent },
        Request::RemoveWatches { path: path(), kind: WatcherKind::Any },
        Request::CheckWatches { path: path(), kind: WatcherKind::Data },
        Request::GetEphemerals { prefix: path() },
        Request::GetAllChildrenNumber { path: path() },
        Request::WhoAmI,
        Request::Auth { scheme: "digest".into(), credentials: "u:p".into() },
        Request::CloseSession,
    ]
}

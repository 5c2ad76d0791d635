//! ZooKeeper's client protocol, version 3.9: bytes to [messages](zk_proto::message) and back. Pure: no I/O.
//!
//! A connection is a stream of frames in each direction. [`Frames`] cuts what has come into frames; each end has a
//! codec for the rest of the connection's life, because the first frame is of a different kind than the later ones, and
//! only an end that knows what was asked can read an answer.
//!
//! | item | what it is |
//! |---|---|
//! | [`Frames`], [`Piece`] | a stream cut into frames, or a [`FourLetterWord`] in place of the first |
//! | [`ServerSide`], [`Decoded`] | the server's codec: reads requests, writes answers |
//! | [`ClientSide`] | the client's codec: writes requests, reads answers |
//! | [`OfProgram`] | the server's end of a connection, both ways, for programs that are simulated |
//! | [`Outstanding`], [`Asked`] | what was asked and is not answered |
//! | [`OpCode`] | the kinds of requests |
//! | [`WireError`] | why a connection must be closed |
//! | [`xid`] | the xids that are no request's number |
//! | [`total`] | what holds for any bytes whatever; shared by the tests and the fuzz target |
//!
//! Reading never panics and never allocates more than a small multiple of what is there. Bytes behind the
//! end of a record are ignored, as ZooKeeper ignores them.
//! Source: ZooKeeper 3.9, `zookeeper.jute`, and what was measured of real servers.
//!
//! A request and its answer, from end to end:
//!
//! ```
//! use zk_api::{ErrorCode, Request, Zxid};
//! use zk_proto::message::{ToClient, ToServer, Xid};
//! use zk_wire::{ClientSide, Decoded, Frames, Piece, ServerSide};
//!
//! let (mut client, mut server) = (ClientSide::new(), ServerSide::new());
//! # server.decode(&[0; 28])?;
//! # client.decode(&[0; 20])?;
//! let request = Request::Delete { path: "/a".into(), version: -1 };
//! let asks = ToServer::Request { xid: Xid(1), request };
//! let (mut up, mut down) = (Vec::new(), Vec::new());
//! client.encode(&asks, &mut up)?;
//! let mut frames = Frames::of_client();
//! frames.push(&up);
//! let Some(Piece::Frame(frame)) = frames.next_piece()? else { panic!("a whole frame was sent") };
//! assert_eq!(server.decode(&frame)?, Decoded::Message(asks));
//!
//! let answer = ToClient::Reply { xid: Xid(1), zxid: Zxid::new(1, 5), result: Err(ErrorCode::NoNode) };
//! server.encode(&answer, &mut down)?;
//! assert_eq!(client.decode(&down[4..])?, answer, "behind the four bytes of its length");
//! # Ok::<(), zk_wire::WireError>(())
//! ```

// The private modules, for whoever works on them:
//
// | module | what is in it |
// |---|---|
// | `frame`, `word` | `Frames`: a stream cut into frames, or a `FourLetterWord` in place of the first |
// | `server` | `ServerSide`: reads requests, writes answers; `Decoded` |
// | `client` | `ClientSide`: writes requests, reads answers |
// | `program` | `OfProgram`: both ways, for programs that are simulated |
// | `outstanding` | `Outstanding`, `Asked`: what was asked and is not answered |
// | `op` | `OpCode`: the kinds of requests |
// | `connect`, `request`, `multi`, `set_watches`, `reply`, `event` | one kind of record each, both ways |
// | `writes` | creates, both ways; how deletes and changes are written: as requests and within a multi |
// | `jute` | integers, texts, lists: what records are made of |
// | `error` | `WireError`: why a connection must be closed; `Refusal`: why a request is refused; the codes of errors |

mod client;
mod connect;
mod error;
mod event;
mod frame;
mod jute;
mod multi;
mod op;
mod outstanding;
mod program;
mod reply;
mod request;
mod server;
mod set_watches;
pub mod total;
mod word;
mod writes;
pub mod xid;

pub use client::ClientSide;
pub use error::WireError;
pub use frame::{Frames, Piece, REQUEST_BYTES_MAX};
pub use op::OpCode;
pub use outstanding::{Asked, Outstanding};
pub use program::OfProgram;
pub use server::{Decoded, ServerSide};
pub use word::FourLetterWord;

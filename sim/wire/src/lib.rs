//! ZooKeeper's client protocol, version 3.9: bytes to [messages](zk_proto::message) and back. Pure: no I/O.
//!
//! A connection is a stream of frames in each direction. [`Frames`] cuts what has come into frames; each end has a
//! codec for the rest of the connection's life, because the first frame is of a different kind than the later ones, and
//! only an end that knows what was asked can read an answer.
//!
//! | module | what is in it |
//! |---|---|
//! | `frame`, `word` | [`Frames`]: a stream cut into frames, or a [`FourLetterWord`] in place of the first |
//! | `server` | [`ServerSide`]: reads requests, writes answers; [`Decoded`] |
//! | `client` | [`ClientSide`]: writes requests, reads answers |
//! | `program` | [`OfProgram`]: both ways, for programs that are simulated |
//! | `outstanding` | [`Outstanding`], [`Asked`]: what was asked and is not answered |
//! | `op` | [`OpCode`]: the kinds of requests |
//! | `connect`, `request`, `multi`, `set_watches`, `reply`, `event` | one kind of record each, both ways |
//! | `jute` | integers, texts, lists: what records are made of |
//! | `error` | [`WireError`]: why a connection must be closed |
//! | [`total`] | what holds for any bytes whatever; shared by the tests and the fuzz target |
//!
//! Reading never panics and never allocates more than a small multiple of what is there. Bytes behind the
//! end of a record are ignored, as ZooKeeper ignores them.
//! Source: ZooKeeper 3.9, `zookeeper.jute`, and what was measured of real servers.

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

pub use client::ClientSide;
pub use error::WireError;
pub use frame::{Frames, Piece, REQUEST_BYTES_MAX};
pub use op::OpCode;
pub use outstanding::{Asked, Outstanding};
pub use program::OfProgram;
pub use server::{Decoded, ServerSide};
pub use word::FourLetterWord;

/// The xids that are no request's number.
///
/// Source: ZooKeeper 3.9, `ClientCnxn`.
pub mod xid {
    /// Of a watch event.
    pub const EVENT: i32 = -1;
    /// Of a ping and its answer.
    pub const PING: i32 = -2;
    /// Of credentials; an ordinary number does as well.
    pub const AUTH: i32 = -4;
    /// Of watches that are registered again.
    pub const SET_WATCHES: i32 = -8;
}

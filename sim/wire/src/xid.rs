//! The xids that are no request's number.
//!
//! Source: ZooKeeper 3.9, `ClientCnxn`.
//!
//! ```
//! use zk_proto::message::ToServer;
//! use zk_wire::{ClientSide, xid};
//!
//! let mut frame = Vec::new();
//! ClientSide::new().encode(&ToServer::Ping, &mut frame)?;
//! assert_eq!(frame[4..8], xid::PING.to_be_bytes(), "behind its length");
//! # Ok::<(), zk_wire::WireError>(())
//! ```

/// Of a watch event.
pub const EVENT: i32 = -1;
/// Of a ping and its answer.
pub const PING: i32 = -2;
/// Of credentials; an ordinary number does as well.
pub const AUTH: i32 = -4;
/// Of watches that are registered again.
pub const SET_WATCHES: i32 = -8;

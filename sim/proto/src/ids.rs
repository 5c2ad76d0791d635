//! What servers, connections and requests are called: data with nothing above it. They are public where they are used.

use std::fmt;

/// A server's place in the ensemble (`myid`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(pub u8);

/// A connection between a client and a server, named by whoever carries the messages. Never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u64);

impl fmt::Debug for ConnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

/// A client's number for a request. Counts up over the whole session, so `(session, xid)` names a request.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Xid(pub i32);

/// What proves that a client owns a session. Given by the leader as an input, never invented here.
pub type Password = [u8; 16];

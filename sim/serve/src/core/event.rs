//! What happens to servers and connections: next, at its time, when a server's process goes on, or at the next request
//! of a session.

use crate::fault::{Loss, RequestKind};
use crate::link::ClientLink;
use crate::message::ToCore;
use std::sync::Arc;
use zk_proto::message::ConnId;
use zk_proto::server::Event;

/// Something that happens to a server.
#[derive(Debug)]
pub(super) struct AddressedEvent {
    pub(super) to: u8,
    pub(super) event: Event,
    /// Whether it has come to the server's machine: what waits there has passed every cut.
    pub(super) is_here: bool,
}

/// What happens at its time.
#[derive(Debug)]
pub(super) enum Later {
    /// A server starts again.
    Up { server: u8 },
    /// Something happens to a server: what another one has sent is there, or its own disk has done something.
    Happens { from: Option<u8>, to: u8, event: Event },
    /// A call to another server is taken.
    Dialled { from: u8, to: u8 },
    /// Servers are not cut off from each other any more.
    PartitionEnds { cut: Vec<[u8; 2]> },
    /// Late frames are here.
    Frames { conn: ConnId, frames: Vec<Vec<u8>> },
    /// Late bytes are sent.
    Out { conn: ConnId, link: Arc<ClientLink>, bytes: Vec<u8> },
    /// A connection ends behind its late bytes.
    End { link: Arc<ClientLink> },
    /// Requests that were under way arrive.
    Arrive { conn: ConnId },
}

/// What has come to a server whose process stands still.
#[derive(Debug)]
pub(super) enum Held {
    /// From other servers, or the disk.
    Event(AddressedEvent),
    /// From a connection. Its frames wait with the connection, before this.
    Message(ToCore),
}

/// What waits for a session's next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Armed {
    /// Its connection drops.
    Lose(RequestKind, Loss),
    /// Whoever owns what it looks at ends.
    ExpireOwner,
}

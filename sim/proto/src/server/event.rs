//! What happens to a server, and what it wants done.

use crate::disk::{DiskOp, FileId};
use crate::ids::{ConnId, Password, ServerId, Xid};
use crate::message::{ConnectRequest, ToClient, ToPeer, ToServer};
use crate::txn::Txn;
use crate::zab;
use crate::zab::message::{LinkId, Notification};
use std::net::IpAddr;
use std::sync::Arc;
use zk_api::{ErrorCode, SessionId, Zxid};

/// What happened, and when by the server's own clock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    /// Milliseconds since the Unix epoch by this server's clock, which may jump.
    pub now_ms: i64,
    /// What happened.
    pub event: Event,
}

/// What can happen to a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A client's first message on a new connection, with the session to use if it asks for a new one:
    /// identifiers are inputs. Where clients have addresses, theirs is an identity of the scheme `ip`.
    Connecting {
        conn: ConnId,
        request: ConnectRequest,
        offer: (SessionId, Password),
        address: Option<IpAddr>,
    },
    /// A client's later message; a second `ToServer::Connect` is refused by closing.
    Received { conn: ConnId, message: ToServer },
    /// A later request that cannot be read, and what it is to be answered in its place. Where `takes_zxid`, it
    /// is a write that fails, which is a transaction like any other.
    Refused { conn: ConnId, xid: Xid, code: ErrorCode, takes_zxid: bool },
    /// A client's connection is gone.
    Dropped { conn: ConnId },
    /// A timer that was set has come.
    Timer(Timer),
    /// The disk has done a `Sync` or a `Replace`.
    Synced { file: FileId, ticket: u64 },
    /// Another server's datagram of the election arrived.
    Notified { from: ServerId, notification: Notification },
    /// A link that this server dialled is there.
    Dialled { link: LinkId, to: ServerId },
    /// A link that another server dialled is there.
    Accepted { link: LinkId, from: ServerId },
    /// Something came over a link.
    FromPeer { link: LinkId, message: ToPeer },
    /// The other end of a link has hung up, or it broke. Nothing more comes over it.
    Unlinked { link: LinkId },
    /// Ends a session as if it had been silent for its timeout (a fault).
    Expire { session: SessionId },
    /// This server's wall clock was set, and goes on from there. Without being told, a server takes a clock
    /// that is set forward for time that has passed, as after a pause, and sessions expire.
    ClockSet { by_ms: i64 },
}

/// A server's timers. Setting one again moves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// Looks for sessions that were silent for too long; by ticks.
    Sessions,
    /// Looks for empty containers and for TTL znodes whose time is up.
    Containers,
    /// Writes the next piece of a snapshot.
    Snapshot,
    /// One of the peer's.
    Zab(zab::Timer),
}

/// What a server wants done, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// Send to a client.
    Send { conn: ConnId, message: ToClient },
    /// Close a client's connection, after what was sent on it.
    Close { conn: ConnId },
    /// Work for the disk.
    Disk(DiskOp),
    /// Send a datagram to another server.
    Notify { to: ServerId, notification: Notification },
    /// Send over a link to another server.
    SendPeer { link: LinkId, message: ToPeer },
    /// Try to get a link to another server: `Event::Dialled` here and `Event::Accepted` there if it comes about.
    Dial { to: ServerId },
    /// Hang up a link, after what was sent. The other end hears `Event::Unlinked`, this one nothing more.
    Hang { link: LinkId },
    /// Fire `timer` so many milliseconds from now by this server's clock.
    SetTimer { timer: Timer, after_ms: u32 },
    /// Not for doing but for knowing: observers outside follow the transactions by it.
    Note(Note),
}

/// What observers follow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Note {
    /// The peer's: what was proposed, committed, and by whom.
    Zab(zab::Note),
    /// The peer's write is begun.
    Writes(zab::Write),
    /// It is on the disk.
    Written,
    /// It is applied to this server's tree. After a start, what was logged and not in a snapshot is applied again.
    Applied(Arc<Txn>),
    /// The leader's state, up to here, has taken the place of this server's.
    Restored(Zxid),
}

/// One step: when it is taken, and what it gives.
pub(super) struct ServerStep<'a> {
    pub(super) now_ms: i64,
    pub(super) out: &'a mut Vec<Output>,
}

impl ServerStep<'_> {
    pub(super) fn send(&mut self, conn: ConnId, message: ToClient) {
        self.out.push(Output::Send { conn, message });
    }

    pub(super) fn note(&mut self, note: Note) {
        self.out.push(Output::Note(note));
    }

    pub(super) fn set_timer(&mut self, timer: Timer, after_ms: u32) {
        self.out.push(Output::SetTimer { timer, after_ms });
    }
}

//! What happens to a peer, and what it wants done.

use super::message::{LinkId, Notification, Packet, Snapshot};
use crate::ids::{ServerId, Xid};
use crate::mutant::Mutant;
use crate::txn::{Txn, TxnBody};
use std::sync::Arc;
use zk_api::{SessionId, Zxid};

/// What a peer starts from: what it finds on its disk, all of it durable. Empty the first time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RecoveredHistory {
    /// The newest epoch it has promised to follow.
    pub accepted_epoch: u32,
    /// The newest epoch whose history it has. May be older than the log's last transactions, if it crashed
    /// while it caught up.
    pub current_epoch: u32,
    /// The last transaction of the snapshot that the log goes on from.
    pub base: Zxid,
    /// The transactions behind it, ascending.
    pub log: Vec<Arc<Txn>>,
}

/// A transaction that has no place in the order yet. The leader gives it one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Draft {
    /// As in [`Txn`].
    pub session: SessionId,
    /// As in [`Txn`].
    pub xid: Xid,
    /// As in [`Txn`].
    pub time_ms: i64,
    /// As in [`Txn`].
    pub body: TxnBody,
}

/// What can happen to a peer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A datagram of the election arrived.
    Notified { from: ServerId, notification: Notification },
    /// A link that this peer dialled is there.
    Dialled { link: LinkId, to: ServerId },
    /// A link that another peer dialled is there.
    Accepted { link: LinkId, from: ServerId },
    /// A packet arrived.
    Received { link: LinkId, packet: Packet },
    /// The other end has hung up, or the link broke. Nothing more comes over it.
    Unlinked { link: LinkId },
    /// A timer that was set has come.
    Timer(Timer),
    /// The write under way is durable.
    Written,
    /// Broadcast this. Ignored unless [`Peer::may_propose`](super::Peer::may_propose).
    Propose(Draft),
    /// The owner's answer to `Output::NeedSnapshot`: its state as delivered.
    Snapshot { link: LinkId, snapshot: Snapshot },
    /// The owner's disk has a snapshot that shows everything up to here, which was delivered. What it shows may
    /// be forgotten.
    Trimmed { to: Zxid },
}

/// A peer's timers. Setting one again moves it. One that comes when it is not wanted does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// A quorum agreed, and no better vote was heard for a while.
    Finalize,
    /// Says again for whom this peer is, as datagrams get lost.
    Notify,
    /// Time passes for those who wait for others.
    Tick,
}

/// What a peer wants done, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// Send a datagram.
    Notify { to: ServerId, notification: Notification },
    /// Send over a link.
    Send { link: LinkId, packet: Packet },
    /// Try to get a link to this peer: `Event::Dialled` here and `Event::Accepted` there if it comes about. If
    /// not, it is asked for again by ticks.
    Dial { to: ServerId },
    /// Hang up, after what was sent. The other end hears `Event::Unlinked`, this one nothing more.
    Hang { link: LinkId },
    /// Make this durable, then say `Event::Written`.
    Write(Write),
    /// Fire `timer` so many milliseconds from now.
    SetTimer { timer: Timer, after_ms: u32 },
    /// A learner needs the owner's state as delivered: answer with `Event::Snapshot`, before any later event
    /// or after some.
    NeedSnapshot { link: LinkId },
    /// Put this state in the place of the owner's: it is on disk, and newer.
    Restore(Snapshot),
    /// This transaction stands. In order, each once since the start; those up to the base were never told.
    Deliver(Arc<Txn>),
    /// What this peer is to its owner from now on. It starts as `Looking`, which is not told.
    Role(Role),
    /// Not for doing but for knowing: observers outside follow the history by it.
    Note(Note),
}

/// What a peer is to its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Looks for a leader, and may not serve.
    Looking,
    /// Has decided for a leader, maybe itself, and may not serve yet.
    Joining { leader: ServerId },
    /// Follows, and may serve.
    Following { leader: ServerId, epoch: u32 },
    /// Observes, and may serve.
    Observing { leader: ServerId, epoch: u32 },
    /// Leads, and may serve and propose.
    Leading { epoch: u32 },
}

/// What observers follow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Note {
    /// A quorum has promised to follow this peer in this epoch; its history is to be the epoch's first.
    Promised { epoch: u32 },
    /// A quorum has this leader's history on disk: it stands, and the epoch is established.
    Established { epoch: u32 },
    /// The leader proposed.
    Proposed(Arc<Txn>),
    /// A quorum has the proposal on disk.
    Committed(Arc<Txn>),
    /// This learner was told by its leader to cut these.
    Cut(Vec<Arc<Txn>>),
    /// Something came that no peer may send, in the state this one is in.
    Violated(Violation),
    /// A planted bug has made a difference just here.
    Deviated(Mutant),
}

/// What no peer may send. Found by the peer that gets it, which then turns away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Violation {
    /// A packet that nobody waits for.
    Message,
    /// A packet of discovery or of the beginning of synchronisation that comes in the wrong state.
    State,
    /// An acknowledgement of what was not sent, or of another epoch.
    Ack,
    /// A proposal that does not come next, or a cut where there is nothing, or of what stands.
    Proposal,
    /// A commit of what was not proposed, or out of order.
    Commit,
}

/// Something to be made durable. Its owner answers each with `Event::Written` when it is; there is never more
/// than one under way, so it needs no ticket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Write {
    /// Log these, in order. A crash before `Written` may leave the first few of them.
    Append(Vec<Arc<Txn>>),
    /// Cut the log behind this transaction. A crash before may leave the first few of what is cut.
    Truncate { to: Zxid },
    /// Put a snapshot with an empty log behind it in the place of everything logged. All or nothing.
    Restart(Snapshot),
    /// The newest epoch this peer has promised to follow. All or nothing.
    AcceptedEpoch(u32),
    /// The newest epoch whose history this peer has. All or nothing.
    CurrentEpoch(u32),
}

pub(super) type Out<'a> = &'a mut Vec<Output>;

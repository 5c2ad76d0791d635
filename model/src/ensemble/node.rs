//! What the model needs of a server: the boundary between an ensemble and what its members are.

use super::config::Setup;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;
use zk_api::Zxid;
use zk_proto::message::{ConnId, ToClient};
use zk_proto::server::ServerId;
use zk_proto::txn::Txn;
use zk_proto::zab::message::{LinkId, Notification};
use zk_proto::zab::{Output, Peer, RecoveredHistory, Timer};

/// Something that happens to a server that is up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event<P> {
    /// A datagram of the election arrived.
    Notified { from: ServerId, notification: Notification },
    /// A link that it dialled is there.
    Dialled { link: LinkId, to: ServerId },
    /// A link that another dialled is there.
    Accepted { link: LinkId, from: ServerId },
    /// A packet arrived.
    Received { link: LinkId, packet: P },
    /// The link is gone.
    Unlinked { link: LinkId },
    /// A timer that was set has come.
    Timer(Timer),
    /// The write under way is durable.
    Written,
    /// Its state as delivered is ready for the learner behind this link.
    Imaged { link: LinkId },
    /// A write of nobody's reaches it. The number tells writes apart.
    Propose { number: i64 },
    /// A client comes, who knows of all up to here.
    Connecting { conn: ConnId, last: Zxid },
    /// A client asks what it asks for the `number`th time.
    Asked { conn: ConnId, number: i64 },
    /// A client registers its watches again, who knows of all up to here.
    Watches { conn: ConnId, since: Zxid },
    /// A client's connection is gone.
    Dropped { conn: ConnId },
    /// The next piece of its own snapshot is due.
    Piece,
}

/// What a server wants done outside itself, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect<P> {
    /// Send a datagram.
    Notify { to: ServerId, notification: Notification },
    /// Send over a link.
    Send { link: LinkId, packet: P },
    /// Hang up.
    Hang { link: LinkId },
    /// Tell a client.
    Tell { conn: ConnId, message: ToClient },
    /// Close a client's connection.
    Close { conn: ConnId },
    /// Nothing to be done, but part of what ever happened.
    Told(Output),
}

/// A server with its disk, its timers and its owner's state; everything of it that is not in the network.
///
/// Two states are one if they are equal: whatever may change what it does later is in it, and nothing else.
pub trait Node: Clone + Eq + Hash + Debug + Send + Sync + 'static {
    /// What it sends over links.
    type Packet: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// Whether it has clients. Without any, what is proposed is of nobody's.
    const HAS_CLIENTS: bool = false;

    /// One that is switched off and finds this when it starts.
    fn off(setup: Setup, disk: RecoveredHistory) -> Self;

    /// Starts from its disk.
    fn start(&mut self, out: &mut Vec<Effect<Self::Packet>>);

    /// Takes a step. Only called while it is up.
    fn step(&mut self, event: &Event<Self::Packet>, out: &mut Vec<Effect<Self::Packet>>);

    /// In how many ways a crash can leave its disk; at least one. The last leaves the write under way done.
    fn outcomes(&self) -> usize;

    /// Goes down, and leaves its disk in this way.
    fn crash(&mut self, outcome: usize);

    /// Its part in Zab; `None` while it is down.
    fn peer(&self) -> Option<&Peer>;

    /// Whether a write is under way.
    fn is_writing(&self) -> bool;

    /// Whether a timer is set.
    fn is_set(&self, timer: Timer) -> bool;

    /// Forgets a timer that would do nothing.
    fn forget(&mut self, timer: Timer);

    /// The learners that wait for an image of its state.
    fn imaging(&self) -> Vec<LinkId>;

    /// Whether a transaction is on its disk, be it within a snapshot.
    fn has_on_disk(&self, txn: &Arc<Txn>) -> bool;

    /// Whether somebody's write may come to it now.
    fn takes_writes(&self) -> bool;

    /// Whether its own snapshot is to go on.
    fn is_snapshotting(&self) -> bool {
        false
    }

    /// Whether what its state shows is what stands, from the beginning.
    fn agrees(&self, stands: &BTreeMap<Zxid, Arc<Txn>>) -> Result<(), String>;
}

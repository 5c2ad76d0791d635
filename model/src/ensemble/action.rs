//! What can happen next, always in the same order.

use super::state::Left;
use zk_proto::server::ServerId;
use zk_proto::zab::Timer;
use zk_proto::zab::message::LinkId;

/// Something that can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// The oldest datagram from one server to another arrives.
    Datagram { from: ServerId, to: ServerId },
    /// A server gets the link that it asks for.
    Link { from: ServerId, to: ServerId },
    /// The next packet, or behind all of them the news that the link is gone, gets to an end.
    Packet { link: LinkId, end: usize },
    /// The write under way is durable.
    Written { server: ServerId },
    /// The owner's state is ready for a learner.
    Image { server: ServerId, link: LinkId },
    /// A client's write reaches the leader; or the client of whole servers asks this one for something, to which it
    /// may have to come first.
    Propose { server: ServerId },
    /// A server goes on with its own snapshot.
    Piece { server: ServerId },
    /// A server that is down starts.
    Restart { server: ServerId },
    /// Two servers hear of each other again.
    Mend { a: ServerId, b: ServerId },
    /// Nothing else can happen, and a server has waited long enough for better votes, or says again for whom it is.
    Fire { server: ServerId, timer: Timer },
    /// Nothing else can happen, and a server has waited as long as it may.
    Wait { server: ServerId },
    /// What is on its way over a torn link is lost, and its end is heard of.
    Lose { link: LinkId, end: usize },
    /// A timer comes, though something else could still happen.
    Early { server: ServerId, timer: Timer },
    /// A server crashes; its write under way ends as it may.
    Crash { server: ServerId, outcome: usize },
    /// A link breaks.
    Break { link: LinkId },
    /// Two servers hear nothing of each other from now on.
    Cut { a: ServerId, b: ServerId },
}

impl Action {
    /// What is left when it has happened; `None` if there was none left of it.
    pub fn spend(&self, mut left: Left) -> Option<Left> {
        let counter = match self {
            Action::Propose { .. } => &mut left.txns,
            Action::Crash { .. } => &mut left.crashes,
            Action::Break { .. } => &mut left.breaks,
            Action::Cut { .. } => &mut left.partitions,
            Action::Early { .. } => &mut left.timeouts,
            Action::Datagram { .. }
            | Action::Link { .. }
            | Action::Packet { .. }
            | Action::Written { .. }
            | Action::Image { .. }
            | Action::Restart { .. }
            | Action::Mend { .. }
            | Action::Fire { .. }
            | Action::Wait { .. }
            | Action::Piece { .. }
            | Action::Lose { .. } => return Some(left),
        };
        *counter = counter.checked_sub(1)?;
        Some(left)
    }

    /// A name in a few bits, the same for what is fairly treated as one: the arrivals at one end of whatever link
    /// between two servers, the writes of one server.
    pub fn label(&self) -> u16 {
        let timer = |timer: &Timer| match timer {
            Timer::Finalize => 0,
            Timer::Notify => 1,
            Timer::Tick => 2,
        };
        let (kind, a, b) = match self {
            Action::Datagram { from, to } => (0, from.0, to.0),
            Action::Link { from, to } => (1, from.0, to.0),
            Action::Packet { link, end } => (2 + *end as u16, (link.0 >> 16) as u8, (link.0 >> 8) as u8),
            Action::Written { server } => (4, server.0, 0),
            Action::Image { server, .. } => (5, server.0, 0),
            Action::Piece { server } => (5, server.0, 1),
            Action::Propose { server } => (6, server.0, 0),
            Action::Restart { server } => (7, server.0, 0),
            Action::Mend { a, b } => (8, a.0, b.0),
            Action::Fire { server, timer: which } => (9, server.0, timer(which)),
            Action::Wait { server } => (10, server.0, 0),
            Action::Lose { .. } => (11, 0, 0),
            Action::Early { server, timer: which } => (12, server.0, timer(which)),
            Action::Crash { server, .. } => (13, server.0, 0),
            Action::Break { .. } => (14, 0, 0),
            Action::Cut { a, b } => (15, a.0, b.0),
        };
        kind << 12 | u16::from(a & 0x3f) << 6 | u16::from(b & 0x3f)
    }
}

/// Whether an action of such a label is done now and then if it is possible again and again: the real count of ticks
/// goes on while a server waits, and is not begun anew because others come and go.
pub(super) fn is_patience(label: u16) -> bool {
    matches!(label >> 12, 9 | 10)
}

/// The id of a link: who dialled whom, and which of the links between them that anybody still knows of.
pub(super) fn link_id(from: ServerId, to: ServerId, nth: u64) -> LinkId {
    LinkId(u64::from(from.0) << 16 | u64::from(to.0) << 8 | nth)
}

//! What peers say to each other: notifications while they look for a leader, packets over a learner's link.
//!
//! ```
//! use zk_api::Zxid;
//! use zk_proto::server::ServerId;
//! use zk_proto::zab::message::Vote;
//!
//! let ahead = Vote { epoch: 2, zxid: Zxid::new(1, 1), leader: ServerId(1) };
//! let long = Vote { epoch: 1, zxid: Zxid::new(1, 9), leader: ServerId(3) };
//! assert!(ahead.beats(&long), "the epoch counts before the zxid");
//! ```

use crate::ids::ServerId;
use crate::txn::Txn;
use std::fmt;
use std::sync::Arc;
use zk_api::Zxid;

/// A link from a learner to its leader, named by whoever carries the packets. Never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u64);

impl fmt::Debug for LinkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "l{}", self.0)
    }
}

/// Who should lead, and why: how much of the history the candidate has.
///
/// Has no derived order: [`Vote::beats`] is the only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vote {
    /// The candidate's `currentEpoch`.
    pub epoch: u32,
    /// The last transaction of the candidate's log.
    pub zxid: Zxid,
    /// The candidate.
    pub leader: ServerId,
}

impl Vote {
    /// Whether this vote is the better one. A strict total order: by epoch, then zxid, then id. The zxid
    /// counts only among equal epochs, as who missed an epoch may have a long tail that nobody needs
    /// (ZOOKEEPER-1419).
    pub fn beats(&self, other: &Vote) -> bool {
        (self.epoch, self.zxid, self.leader) > (other.epoch, other.zxid, other.leader)
    }
}

/// What the sender of a notification is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stand {
    /// It looks for a leader.
    Looking,
    /// It has decided for another.
    Following,
    /// It has decided for itself.
    Leading,
}

/// A datagram of the election. May be lost, repeated, or overtaken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Notification {
    /// The round of elections the vote belongs to.
    pub round: u64,
    /// For whom the sender is. `None` from an observer, which only asks.
    pub vote: Option<Vote>,
    /// What the sender is doing.
    pub stand: Stand,
}

/// A state of the owner's, opaque here.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Snapshot {
    /// The last transaction it shows; it shows all before it, and nothing behind it.
    pub zxid: Zxid,
    /// The state.
    pub image: Arc<[u8]>,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Snapshot({}, {} bytes)", self.zxid, self.image.len())
    }
}

/// What goes over a learner's link, first in, first out per direction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Packet {
    /// Learner: I am here, and this is the newest epoch I have promised to follow.
    FollowerInfo { accepted_epoch: u32 },
    /// Leader: follow me in this epoch.
    LeaderInfo { epoch: u32 },
    /// Learner: I do, and this is my history. Without `current_epoch` the promise had been given before and
    /// does not count again.
    AckEpoch { current_epoch: Option<u32>, last: Zxid },
    /// Leader: your history begins mine; the rest of it follows.
    Diff,
    /// Leader: cut your log behind this transaction; the rest of mine follows.
    Trunc { to: Zxid },
    /// Leader: put this in the place of your history; the rest of mine follows.
    Snap(Snapshot),
    /// Leader: log this; before `NewLeader` as a part of the history, then to be acknowledged.
    Proposal(Arc<Txn>),
    /// Leader: that was the history of my epoch, and this is how much of it I know to stand.
    NewLeader { epoch: u32, committed: Zxid },
    /// Learner: I have it, and have taken the epoch for mine, on disk.
    AckNewLeader { epoch: u32 },
    /// Leader: a quorum has it. Serve; everything up to `committed` stands.
    UpToDate { committed: Zxid },
    /// Follower: I have everything up to here on disk.
    Ack { zxid: Zxid },
    /// Leader: this proposal stands.
    Commit { zxid: Zxid },
    /// Leader to an observer: this transaction stands.
    Inform(Arc<Txn>),
    /// Both: I am alive.
    Ping,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vote(epoch: u32, zxid: (u32, u32), leader: u8) -> Vote {
        Vote { epoch, zxid: Zxid::new(zxid.0, zxid.1), leader: ServerId(leader) }
    }

    #[test]
    fn a_vote_is_judged_by_epoch_then_zxid_then_id() {
        assert!(vote(2, (1, 1), 1).beats(&vote(1, (1, 9), 3)));
        assert!(vote(1, (1, 2), 1).beats(&vote(1, (1, 1), 3)));
        assert!(vote(1, (1, 1), 3).beats(&vote(1, (1, 1), 1)));
        assert!(!vote(1, (1, 1), 3).beats(&vote(1, (1, 1), 3)));
    }
}

//! Looking for a leader: everybody is for the best history it has heard of, until a quorum is for the same.
//!
//! That only makes it likely that one peer with a good history comes to lead. What is safe is decided later, by
//! promises on disk; so datagrams may be lost, and a peer may decide for one that does not lead.

use super::config::PeerConfig;
use super::message::Vote;
use crate::ids::ServerId;
use std::collections::{BTreeMap, BTreeSet};

/// A peer that looks for a leader. For whom it is itself is in the peer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Election {
    /// For whom the other voters are in this round, whether they still look or have decided.
    pub(super) votes: BTreeMap<ServerId, Vote>,
    /// What those say who have decided, in whatever round: a leader may be at work already.
    pub(super) decided: BTreeMap<ServerId, Decided>,
    /// A quorum agrees, and the wait for better votes has begun.
    pub(super) finalizing: bool,
}

/// What a peer says that has decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Decided {
    pub(super) leads: bool,
    pub(super) round: u64,
    pub(super) vote: Vote,
}

impl Election {
    /// A leader other than this peer that says it leads, with a quorum on its side. Others may remember this
    /// peer as the leader from its former life, which is over.
    pub(super) fn established(&self, config: &PeerConfig) -> Option<Decided> {
        let leaders = self.decided.iter().filter(|(server, said)| said.leads && said.vote.leader == **server);
        let mut leaders = leaders.map(|(_, said)| *said).filter(|said| said.vote.leader != config.id);
        leaders.find(|leader| {
            let side = self.decided.iter().filter(|(_, said)| said.vote.leader == leader.vote.leader);
            config.is_quorum(&side.map(|(server, _)| *server).collect())
        })
    }

    /// Who is for `vote`, this peer with them.
    pub(super) fn side(&self, me: ServerId, vote: Vote) -> BTreeSet<ServerId> {
        let agree = self.votes.iter().filter(|(_, their)| **their == vote);
        agree.map(|(server, _)| *server).chain([me]).collect()
    }
}

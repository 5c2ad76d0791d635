//! What can be seen of a peer from outside.

use super::leader::{Flight, LeaderPhase, Progress};
use super::message::{LinkId, Vote};
use super::{History, Peer, PeerConfig, Role, State, Violation, Write};
use crate::server::ServerId;
use crate::txn::Txn;
use std::collections::BTreeSet;
use std::sync::Arc;
use zk_api::Zxid;

impl Peer {
    /// How it is set up.
    pub fn config(&self) -> &PeerConfig {
        &self.config
    }

    /// The log in memory: what is on disk, or on its way there.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The log is on disk up to here.
    pub fn durable(&self) -> Zxid {
        self.storage.durable()
    }

    /// Everything up to here is known to stand.
    pub fn committed(&self) -> Zxid {
        self.committed
    }

    /// Everything up to here was delivered.
    pub fn delivered(&self) -> Zxid {
        self.delivered
    }

    /// The newest epoch this peer has promised to follow, on disk.
    pub fn accepted_epoch(&self) -> u32 {
        self.storage.accepted_epoch()
    }

    /// The newest epoch whose history this peer has, on disk.
    pub fn current_epoch(&self) -> u32 {
        self.storage.current_epoch()
    }

    /// What it is to its owner.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Whether it takes `a` for a better vote than `b`.
    pub fn prefers(&self, a: &Vote, b: &Vote) -> bool {
        self.config.prefers(a, b)
    }

    /// The write under way.
    pub fn writing(&self) -> Option<&Write> {
        self.storage.writing()
    }

    /// For whom it is, or was when it decided.
    pub fn vote(&self) -> Option<Vote> {
        self.vote
    }

    /// The round of elections it is in, or was in when it decided.
    pub fn round(&self) -> u64 {
        self.round
    }

    /// Whether it has decided for nobody.
    pub fn is_looking(&self) -> bool {
        matches!(self.state, State::Looking(_))
    }

    /// What others sent that nobody may send.
    pub fn violations(&self) -> &BTreeSet<Violation> {
        &self.violations
    }

    /// The epoch it leads, from a quorum's promises on.
    pub fn leads(&self) -> Option<u32> {
        match &self.state {
            State::Leading(leader) if leader.phase >= LeaderPhase::Synchronizing => Some(leader.epoch),
            State::Leading(_) | State::Settling | State::Looking(_) | State::Learning(_) => None,
        }
    }

    /// The epoch it leads, from a quorum's acknowledgements of its history on.
    pub fn has_established(&self) -> Option<u32> {
        self.leads().filter(|_| matches!(self.role, Role::Leading { .. }))
    }

    /// Whom it follows or observes in which epoch, from the end of its synchronisation on.
    pub fn follows(&self) -> Option<(ServerId, u32)> {
        match &self.state {
            State::Learning(learner) if learner.is_synced() => Some((learner.leader(), learner.epoch())),
            State::Learning(_) | State::Settling | State::Looking(_) | State::Leading(_) => None,
        }
    }

    /// The link to its leader, for what an owner has to say itself. First in, first out with the packets.
    pub fn leader_link(&self) -> Option<LinkId> {
        match &self.state {
            State::Learning(learner) => learner.link(),
            State::Settling | State::Looking(_) | State::Leading(_) => None,
        }
    }

    /// What this leader has proposed and no quorum is known to have, in order.
    pub fn in_flight(&self) -> impl DoubleEndedIterator<Item = &Arc<Txn>> {
        let flights = match &self.state {
            State::Leading(leader) => Some(leader.in_flight.iter()),
            State::Settling | State::Looking(_) | State::Learning(_) => None,
        };
        flights.into_iter().flatten().map(Flight::txn)
    }

    /// The links from learners that serve.
    pub fn serving_links(&self) -> Vec<(LinkId, ServerId)> {
        match &self.state {
            State::Leading(leader) => {
                let serving =
                    leader.learners.iter().filter(|(_, handler)| handler.phase == Progress::Serving);
                serving.map(|(link, handler)| (*link, handler.peer)).collect()
            }
            State::Settling | State::Looking(_) | State::Learning(_) => Vec::new(),
        }
    }
}

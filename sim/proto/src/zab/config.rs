//! Who votes in an ensemble, and how long anybody waits.

use super::event::{Note, Out, Output};
use crate::ids::ServerId;
use crate::mutant::{self, Mutant};
use std::collections::BTreeSet;

/// How a peer is set up. The voters and the observers are the same for all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PeerConfig {
    /// Its id, one of the voters or of the observers.
    pub id: ServerId,
    /// Who elects, promises and acknowledges. A quorum is more than half of them.
    pub voters: BTreeSet<ServerId>,
    /// Who only learns what stands.
    pub observers: BTreeSet<ServerId>,
    /// The length of a tick.
    pub tick_ms: u32,
    /// How long a leader may need until a quorum has its history, and a learner until it serves.
    pub init_limit_ticks: u32,
    /// How long the other end of a link may be silent.
    pub sync_limit_ticks: u32,
    /// How long a peer waits for better votes when a quorum agrees. Not at all when all voters do.
    pub finalize_ms: u32,
    /// How often a peer that looks for a leader says so.
    pub notify_ms: u32,
    /// A learner that lacks more transactions than this gets a snapshot.
    pub diff_max: u32,
    /// A leader whose zxid comes to this counter gives its epoch up.
    pub last_counter: u32,
    /// A bug that this peer is to have, in a build that [has them](crate::mutant::ARE_THERE).
    pub mutant: Option<Mutant>,
}

impl PeerConfig {
    /// One step of the owner may propose many; all must find a place.
    pub const LAST_COUNTER: u32 = u32::MAX - (1 << 24);

    /// ZooKeeper's own limits, with its default tick of two seconds.
    pub fn new(
        id: ServerId,
        voters: impl IntoIterator<Item = ServerId>,
        observers: impl IntoIterator<Item = ServerId>,
    ) -> PeerConfig {
        PeerConfig {
            id,
            voters: voters.into_iter().collect(),
            observers: observers.into_iter().collect(),
            tick_ms: 2000,
            init_limit_ticks: 10,
            sync_limit_ticks: 5,
            finalize_ms: 200,
            notify_ms: 1000,
            diff_max: 500,
            last_counter: PeerConfig::LAST_COUNTER,
            mutant: None,
        }
    }

    /// The same limits in time for a server with ticks of `tick_ms`. A peer's tick is half of it: a leader pings
    /// twice in a tick.
    pub fn for_server(
        id: ServerId,
        voters: impl IntoIterator<Item = ServerId>,
        observers: impl IntoIterator<Item = ServerId>,
        tick_ms: u32,
    ) -> PeerConfig {
        let usual = PeerConfig::new(id, voters, observers);
        PeerConfig {
            tick_ms: (tick_ms / 2).max(1),
            init_limit_ticks: usual.init_limit_ticks * 2,
            sync_limit_ticks: usual.sync_limit_ticks * 2,
            ..usual
        }
    }

    /// The bug that is planted. Without the feature it is a constant, and nothing of any bug is in the program.
    pub(crate) fn planted(&self) -> Option<Mutant> {
        if mutant::ARE_THERE { self.mutant } else { None }
    }

    /// Whether a server votes. An observer is in no quorum.
    pub fn is_voter(&self, server: ServerId) -> bool {
        self.voters.contains(&server)
    }

    /// Whether this peer votes.
    pub(super) fn votes(&self) -> bool {
        self.is_voter(self.id)
    }

    /// Whether more than half of the voters are among these.
    pub fn is_quorum(&self, servers: &BTreeSet<ServerId>) -> bool {
        servers.intersection(&self.voters).count() * 2 > self.voters.len()
    }

    /// The voters but for this peer.
    pub(super) fn other_voters(&self) -> impl Iterator<Item = ServerId> {
        self.voters.iter().copied().filter(|server| *server != self.id)
    }

    /// Whether this peer has that bug, which acts just here.
    pub(super) fn deviates(&self, mutant: Mutant, out: Out<'_>) -> bool {
        let deviates = self.planted() == Some(mutant);
        out.extend(deviates.then_some(Output::Note(Note::Deviated(mutant))));
        deviates
    }
}

//! What is looked at in every state.

use super::node::Node;
use super::peer_node::PeerNode;
use super::state::{Kind, State};
use crate::digest::{Digest, DigestMap, digest_all};
use zk_api::Zxid;
use zk_proto::zab::ghost::Ghost;
use zk_proto::zab::{Peer, Role, invariants};

/// What stands is on the disks of a quorum: each of its transactions, of some quorum.
pub const STANDS_ON_QUORUM: &str = "StandsOnQuorum";
/// What a server's state shows is what stands, from the beginning.
pub const STATES_AGREE: &str = "StatesAgree";

/// An invariant of nodes of one kind: its name, whether a state keeps it, and whether a state could break it at all.
pub type Invariant<N> = (&'static str, fn(&State<N>) -> Result<(), String>, fn(&State<N>) -> bool);

/// A node of which invariants speak.
pub trait Judged: Node {
    /// Those that speak of its kind alone, by name.
    const INVARIANTS: &'static [Invariant<Self>] = &[];
}

impl Judged for PeerNode {}

/// The names of all invariants: those over peers, those that need disks and states, and those of these servers alone.
pub fn names<N: Judged>() -> Vec<&'static str> {
    let own = N::INVARIANTS.iter().map(|(name, ..)| *name);
    invariants::ALL.iter().map(|(name, _)| *name).chain([STANDS_ON_QUORUM, STATES_AGREE]).chain(own).collect()
}

/// What was looked at before: links and datagrams are in no invariant.
#[derive(Debug, Default)]
pub(super) struct InvariantCheck {
    seen: DigestMap<Digest, ()>,
    /// How often each was put to the test, in different states of servers and history.
    pub(super) tested: Vec<u64>,
}

impl InvariantCheck {
    /// The invariants that a state breaks, by number, and how.
    pub(super) fn look<N: Judged>(&mut self, state: &State<N>) -> Vec<(usize, String)> {
        let nodes = state.nodes.iter().map(|node| node.digest);
        let all = nodes.chain([state.ghost.digest, state.client.digest]);
        let digest = digest_all(Kind::InvariantCheck as u64, all);
        if self.seen.insert(digest, ()).is_some() {
            return Vec::new();
        }
        let names = names::<N>();
        self.tested.resize(names.len(), 0);
        let peers: Vec<&Peer> = state.nodes.iter().filter_map(|node| node.peer()).collect();
        for (nth, tested) in self.tested.iter_mut().enumerate() {
            let own = N::INVARIANTS.iter().find(|(name, ..)| *name == names[nth]);
            let is_tested = match own {
                Some((.., is_tested)) => is_tested(state),
                None => is_tested(names[nth], &peers, &state.ghost),
            };
            *tested += u64::from(is_tested);
        }
        broken(state)
    }
}

/// The invariants that a state breaks, by number, and how.
pub fn broken<N: Judged>(state: &State<N>) -> Vec<(usize, String)> {
    let peers: Vec<&Peer> = state.nodes.iter().filter_map(|node| node.peer()).collect();
    let over_peers = invariants::ALL.iter().map(|(_, predicate)| predicate(&peers, &state.ghost));
    let all = over_peers
        .chain([stands_on_quorum(state), states_agree(state)])
        .chain(N::INVARIANTS.iter().map(|(_, look, _)| look(state)));
    all.enumerate().filter_map(|(nth, result)| Some((nth, result.err()?))).collect()
}

fn stands_on_quorum<N: Node>(state: &State<N>) -> Result<(), String> {
    let Some(peer) = state.nodes.iter().find_map(|node| node.peer()) else { return Ok(()) };
    let config = peer.config();
    for txn in state.ghost.committed.values() {
        let have = state.servers().filter(|server| state.node(*server).has_on_disk(txn));
        if !config.is_quorum(&have.collect()) {
            return Err(format!("{} stands, and not on a quorum's disks", txn.zxid));
        }
    }
    Ok(())
}

fn states_agree<N: Node>(state: &State<N>) -> Result<(), String> {
    for server in state.servers() {
        let agrees = state.node(server).agrees(&state.ghost.committed);
        agrees.map_err(|what| format!("server {}: {what}", server.0))?;
    }
    Ok(())
}

/// Whether a state could break an invariant at all: there is something that it speaks of.
fn is_tested(name: &str, peers: &[&Peer], ghost: &Ghost) -> bool {
    let delivering = || ghost.delivered.values().filter(|txns| !txns.is_empty()).count();
    let leading = |peer: &&Peer| peer.leads().is_some();
    match name {
        "Leadership1" => peers.iter().any(leading),
        "Leadership2" => !ghost.leaders.is_empty(),
        "PrefixConsistency" => peers.iter().filter(|peer| peer.delivered() > Zxid::ZERO).count() > 1,
        "Integrity" | "LocalPrimaryOrder" => delivering() > 0,
        "Agreement" | "TotalOrder" => delivering() > 1,
        "GlobalPrimaryOrder" => ghost
            .delivered
            .values()
            .any(|txns| txns.first().map(|txn| txn.zxid.epoch()) != txns.last().map(|txn| txn.zxid.epoch())),
        "PrimaryIntegrity" => !ghost.delivered_before.is_empty() && delivering() > 0,
        "CommittedLogMonotonicity" => ghost.most_delivered.values().any(|txns| !txns.is_empty()),
        "CommittedLogDurability" => !ghost.committed.is_empty(),
        "ProcessConsistency" => {
            peers.iter().any(|peer| peer.follows().is_some()) && peers.iter().any(leading)
        }
        "LeaderLogCompleteness" => {
            !ghost.committed.is_empty() && peers.iter().any(|peer| peer.has_established().is_some())
        }
        "InitialHistoryIntegrity" => ghost.initial.len() > 1,
        "VotesTotallyOrdered" => {
            let votes: Vec<_> = peers.iter().flat_map(|peer| peer.votes()).collect();
            votes.iter().any(|vote| *vote != votes[0])
        }
        "VoteIsDurable" => peers.iter().any(|peer| peer.is_looking() && peer.history().last() > Zxid::ZERO),
        STANDS_ON_QUORUM | STATES_AGREE => !ghost.committed.is_empty(),
        // Whoever has joined a leader may be sent what nobody may send.
        _ => peers.iter().any(|peer| peer.role() != Role::Looking),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::network::hear;
    use crate::ensemble::{EnsembleBounds, EnsembleConfig, Level, NEVER_BACK, ServerNode, ensemble_model};

    #[test]
    fn what_only_a_client_knows_is_looked_at() {
        let config = EnsembleConfig::new(Level::Broadcast, EnsembleBounds::servers(2));
        let mut state = ensemble_model::<ServerNode>(&config).starts.remove(0);
        let mut check = InvariantCheck::default();
        assert_eq!(check.look(&state), []);
        hear(&mut state, |client| _ = client.wrong.insert((NEVER_BACK, "it is told of less".to_owned())));
        let broken: Vec<_> = check.look(&state).iter().map(|(nth, _)| names::<ServerNode>()[*nth]).collect();
        assert_eq!(broken, [NEVER_BACK]);
    }
}

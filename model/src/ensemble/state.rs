//! A state of the model: servers, what is between them, what may still go wrong, and what ever happened.

use super::client::Client;
use super::config::EnsembleBounds;
use super::node::Node;
use crate::digest::{Digest, Digester, digest_of};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;
use zk_cluster::links::{self, Inbox};
use zk_proto::server::ServerId;
use zk_proto::zab::ghost::Ghost;
use zk_proto::zab::message::{LinkId, Notification};

/// A component of a state with its digest. Shared by all states that have it.
#[derive(Debug)]
pub struct Component<T> {
    value: T,
    /// What it is told from others by.
    pub digest: Digest,
}

impl<T: Hash> Component<T> {
    /// Works the digest out. `kind` keeps different kinds of components apart.
    pub fn new(kind: Kind, value: T) -> Arc<Component<T>> {
        let digest = digest_of(kind as u64, &value);
        Arc::new(Component { value, digest })
    }
}

impl<T> Deref for Component<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

/// Kinds of digests.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Node = 100,
    Link,
    Datagrams,
    Ghost,
    State,
    Event,
    InvariantCheck,
    Client,
}

/// A link between a learner and its leader.
pub type InboxLink<P> = links::PeerLink<Inbox<P>>;

/// What is on its way between two servers, by sender and receiver. No queue is empty.
pub type Datagrams = BTreeMap<(ServerId, ServerId), VecDeque<Notification>>;

/// How much may still happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Left {
    pub txns: u8,
    pub crashes: u8,
    pub breaks: u8,
    pub partitions: u8,
    pub timeouts: u8,
}

impl Left {
    /// Everything that the bounds allow.
    pub fn all(bounds: &EnsembleBounds) -> Left {
        let EnsembleBounds { txns, crashes, breaks, partitions, timeouts, .. } = *bounds;
        Left { txns, crashes, breaks, partitions, timeouts }
    }

    /// Whether nothing can go wrong any more.
    pub fn is_calm(&self) -> bool {
        self.crashes == 0 && self.breaks == 0 && self.partitions == 0 && self.timeouts == 0
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct State<N: Node> {
    /// Server 1 comes first.
    pub nodes: Vec<Arc<Component<N>>>,
    pub links: BTreeMap<LinkId, Arc<Component<InboxLink<N::Packet>>>>,
    pub datagrams: Arc<Component<Datagrams>>,
    /// Pairs that hear nothing of each other, the smaller id first.
    pub cut: BTreeSet<(ServerId, ServerId)>,
    pub left: Left,
    /// As it was at first, where servers have no clients.
    pub client: Arc<Component<Client>>,
    pub ghost: Arc<Component<Ghost>>,
    /// All of it in 64 bits.
    pub fingerprint: u64,
}

impl<N: Node> PartialEq for State<N> {
    fn eq(&self, other: &State<N>) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl<N: Node> Eq for State<N> {}

impl<N: Node> Hash for State<N> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.fingerprint);
    }
}

impl<N: Node> State<N> {
    /// A server of the ensemble.
    pub fn node(&self, server: ServerId) -> &Arc<Component<N>> {
        &self.nodes[usize::from(server.0) - 1]
    }

    pub(super) fn node_mut(&mut self, server: ServerId) -> &mut Arc<Component<N>> {
        &mut self.nodes[usize::from(server.0) - 1]
    }

    /// The servers' ids.
    pub fn servers(&self) -> impl Iterator<Item = ServerId> + use<N> {
        (1..=self.nodes.len() as u8).map(ServerId)
    }

    /// Whether a server is up.
    pub fn is_up(&self, server: ServerId) -> bool {
        self.node(server).peer().is_some()
    }

    /// Whether two servers hear nothing of each other.
    pub fn is_cut(&self, a: ServerId, b: ServerId) -> bool {
        !self.cut.is_empty() && self.cut.contains(&(a.min(b), a.max(b)))
    }

    /// Works the fingerprint out anew, of the components' digests.
    pub(super) fn seal(&mut self) {
        let mut digester = Digester::new(Kind::State as u64);
        self.nodes.iter().for_each(|node| digester.digest(node.digest));
        for (link, state) in &self.links {
            digester.word(link.0);
            digester.digest(state.digest);
        }
        digester.digest(self.datagrams.digest);
        self.cut.iter().for_each(|(a, b)| digester.word(u64::from(a.0) << 8 | u64::from(b.0)));
        self.left.hash(&mut digester);
        digester.digest(self.client.digest);
        digester.digest(self.ghost.digest);
        self.fingerprint = digester.end() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{EnsembleConfig, Level, PeerNode, ensemble_model};

    type Change = fn(&mut State<PeerNode>, [ServerId; 2]);

    #[test]
    fn states_are_told_apart_by_each_of_their_parts() {
        let bounds = EnsembleBounds { txns: 1, crashes: 1, ..EnsembleBounds::servers(2) };
        let model = ensemble_model::<PeerNode>(&EnsembleConfig::new(Level::Broadcast, bounds));
        let start = model.starts[0].clone();
        let [a, b] = [1, 2].map(ServerId);
        let changes: [(&str, Change); 7] = [
            ("nothing", |_, _| ()),
            ("a server", |state, [a, _]| *state.node_mut(a) = state.nodes[1].clone()),
            ("links", |state, _| state.links.clear()),
            ("datagrams", |state, ends| {
                let [a, b] = ends;
                let datagrams = [((a, b), VecDeque::new())].into();
                state.datagrams = Component::new(Kind::Datagrams, datagrams);
            }),
            ("cuts", |state, [a, b]| _ = state.cut.insert((a, b))),
            ("what is left", |state, _| state.left.crashes = 0),
            ("the client", |state, _| state.client = Component::new(Kind::Client, Client::new(true))),
        ];
        let mut seen = BTreeSet::new();
        for (what, change) in changes {
            let mut state = start.clone();
            change(&mut state, [a, b]);
            state.seal();
            assert!(seen.insert(state.fingerprint), "{what}");
        }
        let mut state = start;
        state.ghost = Component::new(Kind::Ghost, Ghost::default());
        state.seal();
        assert!(seen.insert(state.fingerprint), "the history");
    }
}

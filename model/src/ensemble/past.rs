//! How servers come up: from empty disks, or from what a past epoch has left on them.

use super::action::Action;
use super::client::Client;
use super::config::{LIMIT_TICKS, Setup, Traces};
use super::model::EnsembleModel;
use super::node::Node;
use super::state::{Component, Kind, Left, State};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zk_api::{SessionId, Zxid};
use zk_proto::message::Xid;
use zk_proto::server::ServerId;
use zk_proto::txn::{Txn, TxnBody};
use zk_proto::zab::ghost::Ghost;
use zk_proto::zab::{PeerConfig, RecoveredHistory};

/// Does the first of what is allowed until nothing of it is left.
pub(super) fn calmly<N: Node>(
    model: &EnsembleModel<N>,
    state: &mut State<N>,
    allowed: impl Fn(&Action) -> bool,
) {
    loop {
        let mut actions = Vec::new();
        let free = model.actions(state, &mut actions);
        let Some(action) = actions[..free].iter().find(|action| allowed(action)) else { return };
        *state = model.step(state, *action).expect("rounds are not bounded yet");
    }
}

/// Everybody decides for a leader, by datagrams alone.
pub(super) fn decide<N: Node>(model: &EnsembleModel<N>, state: &mut State<N>) {
    calmly(model, state, |action| matches!(action, Action::Datagram { .. } | Action::Fire { .. }));
}

/// An ensemble in which everybody starts from such a disk.
pub(super) fn switched_on<N: Node>(
    model: &EnsembleModel<N>,
    disks: &BTreeMap<ServerId, RecoveredHistory>,
    ghost: Ghost,
) -> State<N> {
    let bounds = &model.config.bounds;
    let voters: Vec<ServerId> = (1..=bounds.servers).map(ServerId).collect();
    let observers = bounds.servers + 1..=bounds.servers + bounds.observers;
    let observers: Vec<ServerId> = observers.map(ServerId).collect();
    let node = |id: &ServerId| {
        let mut config = PeerConfig::new(*id, voters.clone(), observers.clone());
        (config.init_limit_ticks, config.sync_limit_ticks) = (LIMIT_TICKS, LIMIT_TICKS);
        (model.config.tune.0)(&mut config);
        let setup = Setup {
            peer: config,
            work: model.config.work,
            snapshots: model.config.snapshots,
            traces: model.config.traces,
        };
        Component::new(Kind::Node, N::off(setup, disks.get(id).cloned().unwrap_or_default()))
    };
    let keeps = model.config.traces != Traces::Forgotten;
    let mut state = State {
        nodes: voters.iter().chain(&observers).map(node).collect(),
        links: BTreeMap::new(),
        datagrams: Component::new(Kind::Datagrams, BTreeMap::new()),
        cut: BTreeSet::new(),
        left: Left::all(bounds),
        client: Component::new(Kind::Client, Client::new(keeps)),
        ghost: Component::new(Kind::Ghost, ghost),
        fingerprint: 0,
    };
    // Nobody hears a datagram before it is up, and all are: so all are there before the first starts to send.
    let servers: Vec<ServerId> = state.servers().collect();
    for _ in 0..2 {
        servers.iter().for_each(|server| model.servers.restart(&mut state, *server));
    }
    state.seal();
    state
}

/// What an epoch has left behind in which nothing went wrong until all servers stopped at once.
pub(super) struct Past {
    pub(super) leader: ServerId,
    /// How many of the transactions each has on its disk; the leader has all.
    pub(super) logged: BTreeMap<ServerId, usize>,
    /// How many of them were committed: at most what a quorum has.
    pub(super) committed: usize,
    pub(super) txns: Vec<Arc<Txn>>,
}

pub(super) fn past_txn(counter: u32) -> Arc<Txn> {
    let (session, xid, time_ms) = (SessionId::NONE, Xid(0), -i64::from(counter));
    Arc::new(Txn {
        zxid: Zxid::new(1, counter),
        session,
        xid,
        time_ms,
        body: TxnBody::SetData { path: "/".into(), data: "past".into(), version: counter as i32 },
    })
}

impl Past {
    pub(super) fn start<N: Node>(&self, model: &EnsembleModel<N>) -> State<N> {
        let mut ghost = Ghost::default();
        let mut disks = BTreeMap::new();
        if !self.txns.is_empty() {
            ghost.leaders.insert(1, BTreeSet::from([self.leader]));
            ghost.initial.insert(1, Vec::new());
            ghost.broadcast.insert(1, self.txns.clone());
            ghost.delivered_before.insert(1, Vec::new());
            let committed = self.txns[..self.committed].iter();
            ghost.committed = committed.map(|txn| (txn.zxid, txn.clone())).collect();
            for (server, has) in &self.logged {
                let log = self.txns[..*has].to_vec();
                let (accepted_epoch, current_epoch, base) = (1, 1, Zxid::ZERO);
                disks.insert(*server, RecoveredHistory { accepted_epoch, current_epoch, base, log });
                let most = self.txns[..(*has).min(self.committed)].to_vec();
                ghost.most_delivered.insert(*server, most);
            }
        }
        switched_on(model, &disks, ghost)
    }
}

//! Servers that are wrong: one whose disk says that a write is durable before it is, and one that hears nobody, or
//! no acknowledgement.

use std::collections::BTreeMap;
use std::sync::Arc;
use zk_api::Zxid;
use zk_model::ensemble::{Effect, Event, Judged, Node, PeerNode, Setup};
use zk_proto::txn::Txn;
use zk_proto::zab::message::{LinkId, Packet};
use zk_proto::zab::{Peer, RecoveredHistory, Timer};

/// Its last write is on the disk only when the next one is done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EarlySync {
    setup: Setup,
    inner: PeerNode,
    /// What a crash leaves.
    durable: RecoveredHistory,
}

impl Node for EarlySync {
    type Packet = Packet;

    fn off(setup: Setup, disk: RecoveredHistory) -> EarlySync {
        EarlySync { inner: PeerNode::off(setup.clone(), disk.clone()), setup, durable: disk }
    }
    fn start(&mut self, out: &mut Vec<Effect<Packet>>) {
        self.inner.start(out);
    }
    fn step(&mut self, event: &Event<Packet>, out: &mut Vec<Effect<Packet>>) {
        if *event == Event::Written {
            self.durable = self.inner.disk().clone();
        }
        self.inner.step(event, out);
    }
    fn outcomes(&self) -> usize {
        1
    }
    fn crash(&mut self, _: usize) {
        self.inner = PeerNode::off(self.setup.clone(), self.durable.clone());
    }
    fn peer(&self) -> Option<&Peer> {
        self.inner.peer()
    }
    fn is_writing(&self) -> bool {
        self.inner.is_writing()
    }
    fn is_set(&self, timer: Timer) -> bool {
        self.inner.is_set(timer)
    }
    fn forget(&mut self, timer: Timer) {
        self.inner.forget(timer);
    }
    fn imaging(&self) -> Vec<LinkId> {
        self.inner.imaging()
    }
    fn has_on_disk(&self, txn: &Arc<Txn>) -> bool {
        self.durable.log.contains(txn)
    }
    fn takes_writes(&self) -> bool {
        self.inner.takes_writes()
    }
    fn agrees(&self, stands: &BTreeMap<Zxid, Arc<Txn>>) -> Result<(), String> {
        self.inner.agrees(stands)
    }
}

/// The last server hears no datagram of the election, or no acknowledgement of what it proposes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Deaf<const ACKS: bool>(PeerNode);

impl<const ACKS: bool> Node for Deaf<ACKS> {
    type Packet = Packet;

    fn off(setup: Setup, disk: RecoveredHistory) -> Deaf<ACKS> {
        Deaf(PeerNode::off(setup, disk))
    }
    fn start(&mut self, out: &mut Vec<Effect<Packet>>) {
        self.0.start(out);
    }
    fn step(&mut self, event: &Event<Packet>, out: &mut Vec<Effect<Packet>>) {
        let config = self.0.peer().expect("it is up").config();
        let is_last = config.voters.last() == Some(&config.id);
        let ignores = match event {
            Event::Notified { .. } => !ACKS,
            Event::Received { packet: Packet::Ack { .. }, .. } => ACKS,
            _ => false,
        };
        if !(is_last && ignores) {
            self.0.step(event, out);
        }
    }
    fn outcomes(&self) -> usize {
        self.0.outcomes()
    }
    fn crash(&mut self, outcome: usize) {
        self.0.crash(outcome);
    }
    fn peer(&self) -> Option<&Peer> {
        self.0.peer()
    }
    fn is_writing(&self) -> bool {
        self.0.is_writing()
    }
    fn is_set(&self, timer: Timer) -> bool {
        self.0.is_set(timer)
    }
    fn forget(&mut self, timer: Timer) {
        self.0.forget(timer);
    }
    fn imaging(&self) -> Vec<LinkId> {
        self.0.imaging()
    }
    fn has_on_disk(&self, txn: &Arc<Txn>) -> bool {
        self.0.has_on_disk(txn)
    }
    fn takes_writes(&self) -> bool {
        self.0.takes_writes()
    }
    fn agrees(&self, stands: &BTreeMap<Zxid, Arc<Txn>>) -> Result<(), String> {
        self.0.agrees(stands)
    }
}

impl Judged for EarlySync {}

impl<const ACKS: bool> Judged for Deaf<ACKS> {}

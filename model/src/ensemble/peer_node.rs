//! A bare Zab peer with an abstract disk, as a member of an ensemble.

use super::config::Setup;
use super::node::{Effect, Event, Node};
use std::collections::BTreeMap;
use std::sync::Arc;
use zk_api::{SessionId, Zxid};
use zk_cluster::peer::{BarePeer, entry};
use zk_proto::message::Xid;
use zk_proto::txn::{Txn, TxnBody};
use zk_proto::zab::message::{LinkId, Packet};
use zk_proto::zab::{self, Draft, Output, Peer, RecoveredHistory, Timer};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PeerNode(BarePeer);

impl Node for PeerNode {
    type Packet = Packet;

    fn off(setup: Setup, disk: RecoveredHistory) -> PeerNode {
        PeerNode(BarePeer::off(setup.peer, disk))
    }

    fn start(&mut self, out: &mut Vec<Effect<Packet>>) {
        let mut outputs = Vec::new();
        self.0.start(&mut outputs);
        follow(&mut self.0, outputs, out);
    }

    fn step(&mut self, event: &Event<Packet>, out: &mut Vec<Effect<Packet>>) {
        let event = in_zab(&mut self.0, event);
        let mut outputs = Vec::new();
        self.0.step(event, &mut outputs);
        follow(&mut self.0, outputs, out);
    }

    fn outcomes(&self) -> usize {
        self.0.outcomes()
    }

    fn crash(&mut self, outcome: usize) {
        self.0.crash(outcome);
    }

    fn peer(&self) -> Option<&Peer> {
        self.0.peer.as_ref()
    }

    fn is_writing(&self) -> bool {
        self.0.writing.is_some()
    }

    fn is_set(&self, timer: Timer) -> bool {
        self.0.timers.contains(&timer)
    }

    fn forget(&mut self, timer: Timer) {
        self.0.timers.remove(&timer);
    }

    fn imaging(&self) -> Vec<LinkId> {
        self.0.imaging.iter().copied().collect()
    }

    fn has_on_disk(&self, txn: &Arc<Txn>) -> bool {
        self.0.has_on_disk(txn)
    }

    fn takes_writes(&self) -> bool {
        self.0.peer.as_ref().is_some_and(Peer::may_propose)
    }

    fn agrees(&self, stands: &BTreeMap<Zxid, Arc<Txn>>) -> Result<(), String> {
        let mut stands = stands.values().map(|txn| entry(txn));
        match self.0.state.iter().find(|entry| stands.next() != Some(**entry)) {
            Some((zxid, _)) => Err(format!("it shows {zxid}, which does not stand there")),
            None => Ok(()),
        }
    }
}

impl PeerNode {
    /// What is durable.
    pub fn disk(&self) -> &RecoveredHistory {
        &self.0.disk
    }
}

fn in_zab(node: &mut BarePeer, event: &Event<Packet>) -> zab::Event {
    match event {
        Event::Notified { from, notification } => {
            zab::Event::Notified { from: *from, notification: *notification }
        }
        Event::Dialled { link, to } => zab::Event::Dialled { link: *link, to: *to },
        Event::Accepted { link, from } => zab::Event::Accepted { link: *link, from: *from },
        Event::Received { link, packet } => zab::Event::Received { link: *link, packet: packet.clone() },
        Event::Unlinked { link } => {
            // Nobody is there any more to be sent it.
            node.imaging.remove(link);
            zab::Event::Unlinked { link: *link }
        }
        Event::Timer(timer) => zab::Event::Timer(*timer),
        Event::Written => zab::Event::Written,
        Event::Imaged { link } => node.image(*link),
        Event::Propose { number } => {
            let (session, xid, time_ms) = (SessionId::NONE, Xid(0), *number);
            let body = TxnBody::Delete { path: "/".into() };
            zab::Event::Propose(Draft { session, xid, time_ms, body })
        }
        Event::Connecting { .. }
        | Event::Asked { .. }
        | Event::Watches { .. }
        | Event::Dropped { .. }
        | Event::Piece => unreachable!("a bare peer has neither clients nor snapshots of its own"),
    }
}

/// What is to be done outside its machine, and what is told of it: what was written, said over links, delivered or
/// noted.
fn follow(node: &mut BarePeer, outputs: Vec<Output>, out: &mut Vec<Effect<Packet>>) {
    for output in outputs {
        match output {
            Output::Notify { to, notification } => out.push(Effect::Notify { to, notification }),
            Output::Hang { link } => {
                node.imaging.remove(&link);
                out.push(Effect::Hang { link });
            }
            Output::Send { link, ref packet } => {
                out.push(Effect::Send { link, packet: packet.clone() });
                out.push(Effect::Told(output));
            }
            Output::Write(_) | Output::Restore(_) | Output::Deliver(_) | Output::Note(_) => {
                out.push(Effect::Told(output));
            }
            Output::SetTimer { .. } | Output::NeedSnapshot { .. } | Output::Dial { .. } | Output::Role(_) => {
            }
        }
    }
}

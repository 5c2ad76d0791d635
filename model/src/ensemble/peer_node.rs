//! A bare Zab peer with an abstract disk, and for a state the list of what was delivered.

use super::config::Setup;
use super::node::{Effect, Event, Node};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zk_api::{SessionId, Zxid};
use zk_proto::message::Xid;
use zk_proto::txn::{Txn, TxnBody};
use zk_proto::zab::message::{LinkId, Packet, Snapshot};
use zk_proto::zab::{self, Draft, Output, Peer, PeerConfig, RecoveredHistory, Timer, Write};

/// A transaction as the state shows it: its zxid, and the number that tells writes apart.
type Entry = (Zxid, i64);

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PeerNode {
    config: Arc<PeerConfig>,
    /// None while it is down.
    peer: Option<Peer>,
    /// What is durable.
    disk: RecoveredHistory,
    /// The state within the snapshot that the log goes on from.
    base: Vec<Entry>,
    /// The write under way.
    writing: Option<Write>,
    timers: BTreeSet<Timer>,
    imaging: BTreeSet<LinkId>,
    /// Everything delivered.
    state: Vec<Entry>,
}

impl Node for PeerNode {
    type Packet = Packet;

    fn off(setup: Setup, disk: RecoveredHistory) -> PeerNode {
        PeerNode {
            config: Arc::new(setup.peer),
            peer: None,
            disk,
            base: Vec::new(),
            writing: None,
            timers: BTreeSet::new(),
            imaging: BTreeSet::new(),
            state: Vec::new(),
        }
    }

    fn start(&mut self, out: &mut Vec<Effect<Packet>>) {
        // What is logged twice is passed over the second time, as ZooKeeper's replay does: a planted bug may do that.
        let mut last = self.disk.base;
        self.disk.log.retain(|txn| {
            let goes_on = txn.zxid > last;
            last = last.max(txn.zxid);
            goes_on
        });
        let (peer, outputs) = Peer::start(PeerConfig::clone(&self.config), self.disk.clone());
        self.peer = Some(peer);
        self.writing = None;
        self.timers.clear();
        self.imaging.clear();
        self.state = self.base.clone();
        self.follow(outputs, out);
    }

    fn step(&mut self, event: &Event<Packet>, out: &mut Vec<Effect<Packet>>) {
        let event = self.in_zab(event);
        let mut outputs = Vec::new();
        self.peer.as_mut().expect("only a server that is up takes steps").step(event, &mut outputs);
        self.follow(outputs, out);
    }

    fn outcomes(&self) -> usize {
        match &self.writing {
            None => 1,
            Some(Write::Append(txns)) => txns.len() + 1,
            Some(Write::Truncate { to }) => self.behind(*to) + 1,
            Some(Write::Restart(_) | Write::AcceptedEpoch(_) | Write::CurrentEpoch(_)) => 2,
        }
    }

    fn crash(&mut self, outcome: usize) {
        match self.writing.take() {
            Some(Write::Append(mut txns)) => {
                txns.truncate(outcome);
                self.write(&Write::Append(txns));
            }
            Some(Write::Truncate { .. }) => {
                let left = self.disk.log.len() - outcome;
                self.disk.log.truncate(left);
            }
            Some(write @ (Write::Restart(_) | Write::AcceptedEpoch(_) | Write::CurrentEpoch(_)))
                if outcome > 0 =>
            {
                self.write(&write);
            }
            Some(Write::Restart(_) | Write::AcceptedEpoch(_) | Write::CurrentEpoch(_)) | None => {}
        }
        self.peer = None;
        self.timers.clear();
        self.imaging.clear();
        self.state.clear();
    }

    fn peer(&self) -> Option<&Peer> {
        self.peer.as_ref()
    }

    fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    fn is_set(&self, timer: Timer) -> bool {
        self.timers.contains(&timer)
    }

    fn forget(&mut self, timer: Timer) {
        self.timers.remove(&timer);
    }

    fn imaging(&self) -> Vec<LinkId> {
        self.imaging.iter().copied().collect()
    }

    fn has_on_disk(&self, txn: &Arc<Txn>) -> bool {
        self.disk.log.contains(txn) || self.base.contains(&entry(txn))
    }

    fn takes_writes(&self) -> bool {
        self.peer.as_ref().is_some_and(Peer::may_propose)
    }

    fn agrees(&self, stands: &BTreeMap<Zxid, Arc<Txn>>) -> Result<(), String> {
        let mut stands = stands.values().map(|txn| entry(txn));
        match self.state.iter().find(|entry| stands.next() != Some(**entry)) {
            Some((zxid, _)) => Err(format!("it shows {zxid}, which does not stand there")),
            None => Ok(()),
        }
    }
}

impl PeerNode {
    /// What is durable.
    pub fn disk(&self) -> &RecoveredHistory {
        &self.disk
    }

    fn in_zab(&mut self, event: &Event<Packet>) -> zab::Event {
        match event {
            Event::Notified { from, notification } => {
                zab::Event::Notified { from: *from, notification: *notification }
            }
            Event::Dialled { link, to } => zab::Event::Dialled { link: *link, to: *to },
            Event::Accepted { link, from } => zab::Event::Accepted { link: *link, from: *from },
            Event::Received { link, packet } => zab::Event::Received { link: *link, packet: packet.clone() },
            Event::Unlinked { link } => {
                // Nobody is there any more to be sent it.
                self.imaging.remove(link);
                zab::Event::Unlinked { link: *link }
            }
            Event::Timer(timer) => {
                self.timers.remove(timer);
                zab::Event::Timer(*timer)
            }
            Event::Written => {
                let write = self.writing.take().expect("a write is under way");
                self.write(&write);
                zab::Event::Written
            }
            Event::Imaged { link } => {
                self.imaging.remove(link);
                let zxid = self.state.last().map_or(Zxid::ZERO, |(zxid, _)| *zxid);
                let snapshot = Snapshot { zxid, image: encode(&self.state) };
                zab::Event::Snapshot { link: *link, snapshot }
            }
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

    fn follow(&mut self, outputs: Vec<Output>, out: &mut Vec<Effect<Packet>>) {
        for output in outputs {
            match &output {
                Output::Notify { to, notification } => {
                    out.push(Effect::Notify { to: *to, notification: *notification });
                }
                Output::Send { link, packet } => {
                    out.push(Effect::Send { link: *link, packet: packet.clone() });
                }
                Output::Hang { link } => {
                    self.imaging.remove(link);
                    out.push(Effect::Hang { link: *link });
                }
                Output::Write(write) => {
                    assert!(self.writing.is_none(), "one write at a time");
                    self.writing = Some(write.clone());
                }
                Output::SetTimer { timer, .. } => {
                    self.timers.insert(*timer);
                }
                Output::NeedSnapshot { link } => {
                    self.imaging.insert(*link);
                }
                Output::Restore(snapshot) => self.state = decode(&snapshot.image),
                Output::Deliver(txn) => self.state.push(entry(txn)),
                // Who wants a link is seen from outside, and so is what it is.
                Output::Dial { .. } | Output::Role(_) | Output::Note(_) => {}
            }
            if is_history(&output) {
                out.push(Effect::Told(output));
            }
        }
    }

    /// Does a write to its end.
    fn write(&mut self, write: &Write) {
        match write {
            Write::Append(txns) => self.disk.log.extend(txns.iter().cloned()),
            Write::Truncate { to } => self.disk.log.truncate(self.disk.log.len() - self.behind(*to)),
            Write::Restart(snapshot) => {
                self.disk.base = snapshot.zxid;
                self.disk.log.clear();
                self.base = decode(&snapshot.image);
            }
            Write::AcceptedEpoch(epoch) => self.disk.accepted_epoch = *epoch,
            Write::CurrentEpoch(epoch) => self.disk.current_epoch = *epoch,
        }
    }

    /// How many transactions the log on the disk has behind this one.
    fn behind(&self, zxid: Zxid) -> usize {
        self.disk.log.iter().filter(|txn| txn.zxid > zxid).count()
    }
}

/// Whether it is a part of what ever happened: what was written, said over links, delivered or noted.
fn is_history(output: &Output) -> bool {
    match output {
        Output::Send { .. }
        | Output::Write(_)
        | Output::Restore(_)
        | Output::Deliver(_)
        | Output::Note(_) => true,
        Output::Notify { .. }
        | Output::Hang { .. }
        | Output::SetTimer { .. }
        | Output::NeedSnapshot { .. }
        | Output::Dial { .. }
        | Output::Role(_) => false,
    }
}

fn entry(txn: &Txn) -> Entry {
    (txn.zxid, txn.time_ms)
}

fn encode(state: &[Entry]) -> Arc<[u8]> {
    let words = state.iter().flat_map(|(zxid, number)| [zxid.to_i64(), *number]);
    words.flat_map(i64::to_be_bytes).collect()
}

fn decode(image: &[u8]) -> Vec<Entry> {
    let word = |bytes: &[u8]| i64::from_be_bytes(bytes.try_into().expect("eight bytes"));
    let entries = image.chunks_exact(16);
    entries.map(|bytes| (Zxid::from_i64(word(&bytes[..8])), word(&bytes[8..]))).collect()
}

//! A bare Zab peer and its machine: an abstract disk, and for a state the list of what was delivered.
//!
//! ```
//! use zk_cluster::peer::BarePeer;
//! use zk_proto::server::ServerId;
//! use zk_proto::zab::{Event, PeerConfig, RecoveredHistory, Role};
//!
//! let config = PeerConfig::new(ServerId(1), [ServerId(1)], []);
//! let mut machine = BarePeer::off(config, RecoveredHistory::default());
//! let mut out = Vec::new();
//! machine.start(&mut out);
//! assert_eq!(machine.outcomes(), 2, "a crash leaves its first write undone, or done");
//! while machine.writing.is_some() {
//!     machine.step(Event::Written, &mut out);
//! }
//! assert_eq!(machine.peer.as_ref().map(|peer| peer.role()), Some(Role::Leading { epoch: 1 }));
//! machine.crash(0);
//! assert_eq!(machine.disk.current_epoch, 1);
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;
use zk_api::Zxid;
use zk_proto::txn::Txn;
use zk_proto::zab::message::{LinkId, Snapshot};
use zk_proto::zab::{Event, Output, Peer, PeerConfig, RecoveredHistory, Timer, Write};

/// A transaction as the state shows it: its zxid, and the number that tells writes apart.
pub type Entry = (Zxid, i64);

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BarePeer {
    pub config: Arc<PeerConfig>,
    /// None while it is down.
    pub peer: Option<Peer>,
    /// What is durable.
    pub disk: RecoveredHistory,
    /// The state within the snapshot that the log goes on from.
    base: Vec<Entry>,
    /// The write under way.
    pub writing: Option<Write>,
    pub timers: BTreeSet<Timer>,
    /// The learners that wait for an image of its state.
    pub imaging: BTreeSet<LinkId>,
    /// Everything delivered.
    pub state: Vec<Entry>,
}

impl BarePeer {
    /// One that is switched off and finds this when it starts.
    pub fn off(config: PeerConfig, disk: RecoveredHistory) -> BarePeer {
        BarePeer {
            config: Arc::new(config),
            peer: None,
            disk,
            base: Vec::new(),
            writing: None,
            timers: BTreeSet::new(),
            imaging: BTreeSet::new(),
            state: Vec::new(),
        }
    }

    /// Starts from its disk.
    pub fn start(&mut self, out: &mut Vec<Output>) {
        self.down();
        self.disk = self.finds();
        self.state.clone_from(&self.base);
        let (peer, outputs) = Peer::start(PeerConfig::clone(&self.config), self.disk.clone());
        self.peer = Some(peer);
        self.follow(&outputs);
        out.extend(outputs);
    }

    /// What it finds on its disk when it starts. What is logged twice is passed over the second time, as ZooKeeper's
    /// replay does: a planted bug may do that.
    pub fn finds(&self) -> RecoveredHistory {
        let (mut found, mut last) = (self.disk.clone(), self.disk.base);
        found.log.retain(|txn| {
            let goes_on = txn.zxid > last;
            last = last.max(txn.zxid);
            goes_on
        });
        found
    }

    /// Takes a step, if it is up.
    pub fn step(&mut self, event: Event, out: &mut Vec<Output>) {
        match &event {
            Event::Timer(timer) => {
                self.timers.remove(timer);
            }
            Event::Written => {
                let write = self.writing.take().expect("a write is under way");
                self.write(write);
            }
            _ => {}
        }
        let mut outputs = Vec::new();
        if let Some(peer) = &mut self.peer {
            peer.step(event, &mut outputs);
        }
        self.follow(&outputs);
        out.extend(outputs);
    }

    /// Its state as delivered is ready for the learner behind this link.
    pub fn image(&mut self, link: LinkId) -> Event {
        self.imaging.remove(&link);
        Event::Snapshot { link, snapshot: Snapshot { zxid: self.shows(), image: encode(&self.state) } }
    }

    /// Writes a snapshot of its state, and removes the log that it shows. Gives where the log goes on from.
    pub fn trim(&mut self) -> Zxid {
        let shows = self.shows();
        self.base.clone_from(&self.state);
        self.disk.base = shows;
        self.disk.log.retain(|txn| txn.zxid > shows);
        shows
    }

    /// In how many ways a crash can leave its disk; at least one. The last leaves the write under way done.
    pub fn outcomes(&self) -> usize {
        match &self.writing {
            None => 1,
            Some(Write::Append(txns)) => txns.len() + 1,
            Some(Write::Truncate { to }) => self.behind(*to) + 1,
            Some(Write::Restart(_) | Write::AcceptedEpoch(_) | Write::CurrentEpoch(_)) => 2,
        }
    }

    /// Goes down, and leaves its disk in this way.
    pub fn crash(&mut self, outcome: usize) {
        match self.writing.take() {
            Some(Write::Append(mut txns)) => {
                txns.truncate(outcome);
                self.disk.log.extend(txns);
            }
            Some(Write::Truncate { .. }) => {
                let left = self.disk.log.len() - outcome;
                self.disk.log.truncate(left);
            }
            Some(write) if outcome > 0 => self.write(write),
            Some(Write::Restart(_) | Write::AcceptedEpoch(_) | Write::CurrentEpoch(_)) | None => {}
        }
        self.down();
    }

    /// What is on its disk, from the beginning.
    pub fn entries(&self) -> Vec<Entry> {
        self.base.iter().copied().chain(self.disk.log.iter().map(|txn| entry(txn))).collect()
    }

    /// Whether a transaction is on its disk, be it within a snapshot.
    pub fn has_on_disk(&self, txn: &Arc<Txn>) -> bool {
        self.disk.log.contains(txn) || self.base.contains(&entry(txn))
    }

    /// Does a write to its end.
    pub fn write(&mut self, write: Write) {
        match write {
            Write::Append(txns) => self.disk.log.extend(txns),
            Write::Truncate { to } => self.disk.log.truncate(self.disk.log.len() - self.behind(to)),
            Write::Restart(snapshot) => {
                self.disk.base = snapshot.zxid;
                self.disk.log.clear();
                self.base = decode(&snapshot.image);
            }
            Write::AcceptedEpoch(epoch) => self.disk.accepted_epoch = epoch,
            Write::CurrentEpoch(epoch) => self.disk.current_epoch = epoch,
        }
    }

    /// What is gone with the process.
    fn down(&mut self) {
        self.peer = None;
        self.writing = None;
        self.timers.clear();
        self.imaging.clear();
        self.state.clear();
    }

    /// Does what its peer wants done on its machine.
    fn follow(&mut self, outputs: &[Output]) {
        for output in outputs {
            match output {
                Output::Write(write) => {
                    let before = self.writing.replace(write.clone());
                    assert!(before.is_none(), "one write at a time");
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
                Output::Notify { .. }
                | Output::Send { .. }
                | Output::Hang { .. }
                | Output::Dial { .. }
                | Output::Role(_)
                | Output::Note(_) => {}
            }
        }
    }

    /// The last transaction that its state shows.
    fn shows(&self) -> Zxid {
        self.state.last().map_or(Zxid::ZERO, |(zxid, _)| *zxid)
    }

    /// How many transactions the log on the disk has behind this one.
    fn behind(&self, zxid: Zxid) -> usize {
        self.disk.log.iter().filter(|txn| txn.zxid > zxid).count()
    }
}

/// What its state makes of a transaction.
pub fn entry(txn: &Txn) -> Entry {
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

//! Zab: atomic broadcast between the servers of an ensemble, as a pure state machine.
//!
//! A [`Peer`] elects a leader, brings its history to where the leader's is, and from then on delivers what a
//! quorum has on disk, in one order everywhere. It knows nothing of clients, znodes or sessions: a transaction
//! is opaque but for its zxid. Its owner carries datagrams and links, writes to the disk, and keeps the state
//! that the delivered transactions make.
//!
//! | item | what it is |
//! |---|---|
//! | [`Peer`] | a member of an ensemble; [`PeerConfig`] says who votes, and how long anybody waits |
//! | [`message`] | notifications and packets |
//! | [`History`] | the log in memory |
//! | [`ghost`], [`invariants`] | what must always hold, over all peers and all that ever happened |
//!
//! **The order of writes.** A promise (`acceptedEpoch`) is on disk before it is given. A learner's history is on
//! disk before the epoch that it belongs to (`currentEpoch`), and both before the acknowledgement. A
//! transaction is on disk before it is acknowledged, and before it is delivered here. All writes go through one
//! queue, one at a time, and a peer that lost its leader lets the queue run empty before it votes: what it
//! votes for is what it would find after a crash.
//!
//! **No clock.** Limits are counted in fired ticks, so that a model has no time in its state.
//!
//! A peer that is alone is its own quorum. It leads when its writes are done, and delivers what it has proposed when
//! that is on its disk:
//!
//! ```
//! use zk_proto::server::ServerId;
//! use zk_proto::zab::{Event, Output, Peer, PeerConfig, RecoveredHistory, Role};
//! # use zk_api::{SessionId, Zxid};
//! # use zk_proto::{message::Xid, txn::TxnBody, zab::Draft};
//! # let (session, xid, body) = (SessionId::new(7), Xid(1), TxnBody::Delete { path: "/a".into() });
//! # let draft = Draft { session, xid, time_ms: 0, body };
//!
//! let config = PeerConfig::new(ServerId(1), [ServerId(1)], []);
//! let (mut peer, mut out) = Peer::start(config, RecoveredHistory::default());
//! while peer.writing().is_some() {
//!     peer.step(Event::Written, &mut out);
//! }
//! assert_eq!(peer.role(), Role::Leading { epoch: 1 });
//! peer.step(Event::Propose(draft), &mut out);
//! peer.step(Event::Written, &mut out);
//! let Some(Output::Deliver(txn)) = out.last() else { panic!("it is on the disk of a quorum") };
//! assert_eq!(txn.zxid, Zxid::new(1, 1));
//! ```

// The private modules, for whoever works on them:
//
// | file | what is in it |
// |---|---|
// | `event` | what happens to a peer, and what it wants done |
// | `config` | who votes, and how long anybody waits |
// | `election`, `looking` | looking for a leader, what is heard meanwhile and what is done: the best history wins |
// | `learner`, `learning` | following or observing: promise, catch up, acknowledge, deliver |
// | `leader`, `leading` | leading: a new epoch, promised and acknowledged by a quorum |
// | `sync` | how a learner is brought to the leader's history |
// | `broadcast` | proposals, acknowledgements, commits |
// | `history` | the log in memory |
// | `deviate` | what bugs that are planted need |
// | `storage` | what is on disk, and in which order it gets there |
// | `aside` | what is kept beside a value and makes no two of it that are the same |
// | `view` | what can be seen of a peer from outside |

mod aside;
mod broadcast;
mod config;
mod deviate;
mod election;
mod event;
pub mod ghost;
mod history;
pub mod invariants;
mod leader;
mod leading;
mod learner;
mod learning;
mod looking;
pub mod message;
#[cfg(test)]
mod sample;
mod storage;
mod sync;
mod view;

use crate::ids::ServerId;
pub use config::PeerConfig;
use election::Election;
use event::Out;
pub use event::{Draft, Event, Note, Output, RecoveredHistory, Role, Timer, Violation, Write};
pub use history::{History, Plan};
use leader::Leader;
use learner::Learner;
use message::{LinkId, Packet, Snapshot, Vote};
use std::collections::BTreeSet;
use std::sync::Arc;
use storage::Storage;
use zk_api::Zxid;

/// A member of an ensemble. See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    config: Arc<PeerConfig>,
    history: History,
    storage: Storage,
    /// Everything up to here is known to stand. Only grows.
    committed: Zxid,
    /// Everything up to here was delivered, or is in the state the owner started from or restored.
    /// delivered <= committed, delivered <= durable
    delivered: Zxid,
    /// The round of elections. Not kept over a restart: who begins again is told.
    round: u64,
    /// For whom this peer is; `None` for an observer that looks for a leader.
    vote: Option<Vote>,
    state: State,
    /// What the owner was told last.
    role: Role,
    violations: BTreeSet<Violation>,
}

/// What a peer is doing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum State {
    /// Lets its writes come to an end before it looks for a leader.
    Settling,
    Looking(Election),
    Learning(Learner),
    Leading(Leader),
}

impl Peer {
    /// Starts a peer from its disk, looking for a leader. Gives the peer and what to do before anything else.
    pub fn start(config: PeerConfig, disk: RecoveredHistory) -> (Peer, Vec<Output>) {
        assert!(
            config.mutant == config.planted(),
            "this build has no bugs to plant: it lacks the feature `mutants`"
        );
        let mut out = Vec::new();
        let disk = config.starts_from(disk, &mut out);
        let history = History::new(disk.base, disk.log);
        let mut peer = Peer {
            storage: Storage::new(disk.accepted_epoch, disk.current_epoch, &history),
            committed: history.base(),
            delivered: history.base(),
            history,
            config: Arc::new(config),
            round: 0,
            vote: None,
            state: State::Settling,
            role: Role::Looking,
            violations: BTreeSet::new(),
        };
        if !peer.refuses(&mut out) {
            peer.look(&mut out);
        }
        peer.storage.flush(&mut out);
        (peer, out)
    }

    /// From now on an epoch ends by [this counter](PeerConfig::last_counter).
    pub fn set_last_counter(&mut self, last_counter: u32) {
        Arc::make_mut(&mut self.config).last_counter = last_counter;
    }

    /// Takes what happened and adds what to do.
    pub fn step(&mut self, event: Event, out: &mut Vec<Output>) {
        match event {
            Event::Notified { from, notification } => self.notified(from, notification, out),
            Event::Dialled { link, to } => self.dialled(link, to, out),
            Event::Accepted { link, from } => self.accepted(link, from, out),
            Event::Received { link, packet } => self.received(link, packet, out),
            Event::Unlinked { link } => self.unlinked(link, out),
            Event::Timer(Timer::Finalize) => self.finalize(out),
            Event::Timer(Timer::Notify) => self.notify_again(out),
            Event::Timer(Timer::Tick) => self.tick(out),
            Event::Written => self.written(out),
            Event::Propose(draft) => self.propose(draft, out),
            Event::Snapshot { link, snapshot } => self.send_snapshot(link, snapshot, out),
            Event::Trimmed { to } => {
                assert!(to <= self.delivered, "a snapshot shows what was delivered");
                self.history.trim(to);
            }
        }
        self.storage.flush(out);
    }

    fn dialled(&mut self, link: LinkId, to: ServerId, out: Out<'_>) {
        match &self.state {
            State::Learning(learner) if learner.wants_link(to) => self.greet(link, out),
            // It has come too late, or a second time.
            State::Learning(_) | State::Leading(_) | State::Looking(_) | State::Settling => {
                out.push(Output::Hang { link });
            }
        }
    }

    fn accepted(&mut self, link: LinkId, from: ServerId, out: Out<'_>) {
        match &mut self.state {
            State::Leading(leader) => leader.linked(link, from),
            State::Learning(_) | State::Looking(_) | State::Settling => out.push(Output::Hang { link }),
        }
    }

    fn received(&mut self, link: LinkId, packet: Packet, out: Out<'_>) {
        match &self.state {
            State::Leading(leader) if leader.has(link) => self.learner_said(link, packet, out),
            State::Learning(learner) if learner.has(link) => self.leader_said(packet, out),
            // Was on its way when this end hung up.
            State::Leading(_) | State::Learning(_) | State::Looking(_) | State::Settling => {}
        }
    }

    fn unlinked(&mut self, link: LinkId, out: Out<'_>) {
        match &mut self.state {
            State::Leading(leader) => leader.unlinked(link),
            State::Learning(learner) if learner.has(link) => self.lost_leader(out),
            State::Learning(_) | State::Looking(_) | State::Settling => {}
        }
    }

    fn tick(&mut self, out: Out<'_>) {
        match &self.state {
            State::Leading(_) => self.tick_leader(out),
            State::Learning(_) => self.tick_learner(out),
            State::Looking(_) | State::Settling => {}
        }
    }

    fn set_tick(&self, out: Out<'_>) {
        out.push(Output::SetTimer { timer: Timer::Tick, after_ms: self.config.tick_ms });
    }

    fn written(&mut self, out: Out<'_>) {
        let Some(write) = self.storage.written() else { return };
        if let Write::Restart(snapshot) = &write {
            self.restore(snapshot.clone(), out);
        }
        match &self.state {
            State::Leading(_) => self.leader_written(&write, out),
            State::Learning(_) => self.learner_written(&write, out),
            State::Settling => self.look_when_settled(out),
            State::Looking(_) => {}
        }
        self.deliver(out);
    }

    /// A snapshot of the leader's is on disk.
    fn restore(&mut self, snapshot: Snapshot, out: Out<'_>) {
        self.committed = self.committed.max(snapshot.zxid);
        self.delivered = snapshot.zxid;
        out.push(Output::Restore(snapshot));
    }

    /// Turns away from a leader, or gives leading up: hangs up everywhere, and looks for a leader.
    fn leave(&mut self, out: Out<'_>) {
        match &self.state {
            State::Leading(leader) => out.extend(leader.links().map(|link| Output::Hang { link })),
            State::Learning(learner) => out.extend(learner.link().map(|link| Output::Hang { link })),
            State::Looking(_) | State::Settling => return,
        }
        self.leaves_otherwise(out);
        self.state = State::Settling;
        self.become_role(Role::Looking, out);
        self.look_when_settled(out);
    }

    /// A vote for what is on its way to the disk would be a vote for what a crash may take away, or that a
    /// later write finds in its place (ZOOKEEPER-2845, 4712).
    fn look_when_settled(&mut self, out: Out<'_>) {
        if self.settles_otherwise(out) {
            return;
        }
        if self.storage.is_idle() {
            self.look(out);
        }
    }

    /// Delivers what stands and is on this peer's own disk.
    fn deliver(&mut self, out: Out<'_>) {
        let up_to = self.deliverable();
        if self.delivers_otherwise(up_to, out) {
            return;
        }
        self.deliver_up_to(up_to, out);
    }

    fn deliver_up_to(&mut self, up_to: Zxid, out: Out<'_>) {
        for txn in self.history.between(self.delivered, up_to) {
            self.delivered = txn.zxid;
            out.push(Output::Deliver(txn.clone()));
        }
    }

    /// An owner's snapshot must never show what its own log may still lose.
    fn deliverable(&self) -> Zxid {
        self.committed.min(self.storage.durable())
    }

    fn become_role(&mut self, role: Role, out: Out<'_>) {
        if self.role != role {
            self.role = role;
            out.push(Output::Role(role));
        }
    }

    fn violated(&mut self, violation: Violation, out: Out<'_>) {
        self.violations.insert(violation);
        out.push(Output::Note(Note::Violated(violation)));
    }
}

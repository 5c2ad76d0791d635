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
// | `config` | who votes, and how long anybody waits |
// | `election` | looking for a leader: the best history wins |
// | `learner` | following or observing: promise, catch up, acknowledge, deliver |
// | `leader` | leading: a new epoch, promised and acknowledged by a quorum |
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
pub mod ghost;
mod history;
pub mod invariants;
mod leader;
mod learner;
pub mod message;
#[cfg(test)]
mod sample;
mod storage;
mod sync;
mod view;

use crate::message::Xid;
use crate::mutant::Mutant;
use crate::server::ServerId;
use crate::txn::{Txn, TxnBody};
pub use config::PeerConfig;
use election::Election;
pub use history::{History, Plan};
use leader::Leader;
use learner::Learner;
use message::{LinkId, Notification, Packet, Snapshot, Vote};
use std::collections::BTreeSet;
use std::sync::Arc;
use storage::Storage;
pub use storage::Write;
use zk_api::{SessionId, Zxid};

/// What a peer starts from: what it finds on its disk, all of it durable. Empty the first time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RecoveredHistory {
    /// The newest epoch it has promised to follow.
    pub accepted_epoch: u32,
    /// The newest epoch whose history it has. May be older than the log's last transactions, if it crashed
    /// while it caught up.
    pub current_epoch: u32,
    /// The last transaction of the snapshot that the log goes on from.
    pub base: Zxid,
    /// The transactions behind it, ascending.
    pub log: Vec<Arc<Txn>>,
}

/// A transaction that has no place in the order yet. The leader gives it one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Draft {
    /// As in [`Txn`].
    pub session: SessionId,
    /// As in [`Txn`].
    pub xid: Xid,
    /// As in [`Txn`].
    pub time_ms: i64,
    /// As in [`Txn`].
    pub body: TxnBody,
}

/// What can happen to a peer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A datagram of the election arrived.
    Notified { from: ServerId, notification: Notification },
    /// A link that this peer dialled is there.
    Dialled { link: LinkId, to: ServerId },
    /// A link that another peer dialled is there.
    Accepted { link: LinkId, from: ServerId },
    /// A packet arrived.
    Received { link: LinkId, packet: Packet },
    /// The other end has hung up, or the link broke. Nothing more comes over it.
    Unlinked { link: LinkId },
    /// A timer that was set has come.
    Timer(Timer),
    /// The write under way is durable.
    Written,
    /// Broadcast this. Ignored unless [`Peer::may_propose`].
    Propose(Draft),
    /// The owner's answer to `Output::NeedSnapshot`: its state as delivered.
    Snapshot { link: LinkId, snapshot: Snapshot },
    /// The owner's disk has a snapshot that shows everything up to here, which was delivered. What it shows may
    /// be forgotten.
    Trimmed { to: Zxid },
}

/// A peer's timers. Setting one again moves it. One that comes when it is not wanted does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// A quorum agreed, and no better vote was heard for a while.
    Finalize,
    /// Says again for whom this peer is, as datagrams get lost.
    Notify,
    /// Time passes for those who wait for others.
    Tick,
}

/// What a peer wants done, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// Send a datagram.
    Notify { to: ServerId, notification: Notification },
    /// Send over a link.
    Send { link: LinkId, packet: Packet },
    /// Try to get a link to this peer: `Event::Dialled` here and `Event::Accepted` there if it comes about. If
    /// not, it is asked for again by ticks.
    Dial { to: ServerId },
    /// Hang up, after what was sent. The other end hears `Event::Unlinked`, this one nothing more.
    Hang { link: LinkId },
    /// Make this durable, then say `Event::Written`.
    Write(Write),
    /// Fire `timer` so many milliseconds from now.
    SetTimer { timer: Timer, after_ms: u32 },
    /// A learner needs the owner's state as delivered: answer with `Event::Snapshot`, before any later event
    /// or after some.
    NeedSnapshot { link: LinkId },
    /// Put this state in the place of the owner's: it is on disk, and newer.
    Restore(Snapshot),
    /// This transaction stands. In order, each once since the start; those up to the base were never told.
    Deliver(Arc<Txn>),
    /// What this peer is to its owner from now on. It starts as `Looking`, which is not told.
    Role(Role),
    /// Not for doing but for knowing: observers outside follow the history by it.
    Note(Note),
}

/// What a peer is to its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Looks for a leader, and may not serve.
    Looking,
    /// Has decided for a leader, maybe itself, and may not serve yet.
    Joining { leader: ServerId },
    /// Follows, and may serve.
    Following { leader: ServerId, epoch: u32 },
    /// Observes, and may serve.
    Observing { leader: ServerId, epoch: u32 },
    /// Leads, and may serve and propose.
    Leading { epoch: u32 },
}

/// What observers follow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Note {
    /// A quorum has promised to follow this peer in this epoch; its history is to be the epoch's first.
    Promised { epoch: u32 },
    /// A quorum has this leader's history on disk: it stands, and the epoch is established.
    Established { epoch: u32 },
    /// The leader proposed.
    Proposed(Arc<Txn>),
    /// A quorum has the proposal on disk.
    Committed(Arc<Txn>),
    /// This learner was told by its leader to cut these.
    Cut(Vec<Arc<Txn>>),
    /// Something came that no peer may send, in the state this one is in.
    Violated(Violation),
    /// A planted bug has made a difference just here.
    Deviated(Mutant),
}

/// What no peer may send. Found by the peer that gets it, which then turns away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Violation {
    /// A packet that nobody waits for.
    Message,
    /// A packet of discovery or of the beginning of synchronisation that comes in the wrong state.
    State,
    /// An acknowledgement of what was not sent, or of another epoch.
    Ack,
    /// A proposal that does not come next, or a cut where there is nothing, or of what stands.
    Proposal,
    /// A commit of what was not proposed, or out of order.
    Commit,
}

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

type Out<'a> = &'a mut Vec<Output>;

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

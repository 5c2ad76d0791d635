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
// | `own` | what a peer has whatever it is doing, and what may come of what it does |
// | `election` | looking for a leader: the best history wins |
// | `learner`, `learning` | following or observing: promise, catch up, acknowledge, deliver |
// | `leader`, `leading` | leading: a new epoch, promised and acknowledged by a quorum; proposals and commits |
// | `history` | the log in memory |
// | `storage` | what is on disk, and in which order it gets there |
// | `aside` | what is kept beside a value and makes no two of it that are the same |
// | `deviate` | what bugs that are planted need |

mod aside;
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
pub mod message;
mod own;
mod storage;
#[cfg(test)]
mod tests;

use crate::ids::ServerId;
use crate::txn::Txn;
pub use config::PeerConfig;
use election::Election;
use event::Out;
pub use event::{Draft, Event, Note, Output, RecoveredHistory, Role, Timer, Violation, Write};
pub use history::{History, Plan};
use leader::{Leader, LeaderPhase};
use learner::{Learner, Phase};
use message::{LinkId, Notification, Packet, Stand, Vote};
use own::{Next, Own};
use std::collections::BTreeSet;
use std::sync::Arc;
use storage::Storage;
use zk_api::Zxid;

/// A member of an ensemble. See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    own: Own,
    state: State,
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
        let disk = deviate::starts_otherwise(&config, disk, &mut out);
        let history = History::new(disk.base, disk.log);
        let own = Own {
            storage: Storage::new(disk.accepted_epoch, disk.current_epoch, &history),
            committed: history.base(),
            delivered: history.base(),
            history,
            config: Arc::new(config),
            round: 0,
            vote: None,
            role: Role::Looking,
            violations: BTreeSet::new(),
        };
        let mut peer = Peer { own, state: State::Settling };
        if !deviate::refuses(&peer.own, &mut out) {
            peer.look(&mut out);
        }
        peer.own.storage.flush(&mut out);
        (peer, out)
    }

    /// From now on an epoch ends by [this counter](PeerConfig::last_counter), but for one whose numbers are used up:
    /// what was to be proposed since is lost, and nothing that was asked later may be proposed in its place.
    pub fn set_last_counter(&mut self, last_counter: u32) {
        let may_propose = self.may_propose();
        if let State::Leading(leader) = &mut self.state {
            leader.is_worn = leader.phase == LeaderPhase::Broadcasting && !may_propose;
        }
        Arc::make_mut(&mut self.own.config).last_counter = last_counter;
    }

    /// Takes what happened and adds what to do.
    pub fn step(&mut self, event: Event, out: &mut Vec<Output>) {
        match event {
            Event::Notified { from, notification } => self.notified(from, notification, out),
            Event::Dialled { link, to } => self.dialled(link, to, out),
            Event::Accepted { link, from } => self.accepted(link, from, out),
            Event::Received { link, packet } => self.received(link, packet, out),
            Event::Unlinked { link } => self.unlinked(link, out),
            Event::Timer(timer) => self.timer(timer, out),
            Event::Written => self.written(out),
            Event::Propose(draft) => {
                if let State::Leading(leader) = &mut self.state {
                    leader.propose(&mut self.own, draft, out);
                }
            }
            Event::Snapshot { link, snapshot } => {
                if let State::Leading(leader) = &mut self.state {
                    leader.send_snapshot(&self.own, link, snapshot, out);
                }
            }
            Event::Trimmed { to } => {
                assert!(to <= self.own.delivered, "a snapshot shows what was delivered");
                self.own.history.trim(to);
            }
        }
        self.own.storage.flush(out);
    }

    fn notified(&mut self, from: ServerId, notification: Notification, out: Out<'_>) {
        let own = &mut self.own;
        let is_known = own.config.is_voter(from) || own.config.observers.contains(&from);
        if !is_known || from == own.config.id {
            return;
        }
        let asks = notification.stand == Stand::Looking;
        match &mut self.state {
            State::Learning(_) if asks => own.notify(from, Stand::Following, out),
            State::Leading(_) if asks => own.notify(from, Stand::Leading, out),
            State::Looking(election) => {
                let next = election.weigh(own, from, notification, out);
                self.go_on(next, out);
            }
            State::Settling | State::Learning(_) | State::Leading(_) => {}
        }
    }

    fn dialled(&mut self, link: LinkId, to: ServerId, out: Out<'_>) {
        match &mut self.state {
            State::Learning(learner) if learner.wants_link(to) => learner.greet(&self.own, link, out),
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
        match &mut self.state {
            State::Leading(leader) if leader.has(link) => {
                let next = leader.hear(&mut self.own, link, packet, out);
                self.go_on(next, out);
            }
            State::Learning(learner) if learner.has(link) => {
                let next = learner.hear(&mut self.own, packet, out);
                self.go_on(next, out);
                self.deliver(out);
            }
            // Was on its way when this end hung up.
            State::Leading(_) | State::Learning(_) | State::Looking(_) | State::Settling => {}
        }
    }

    fn unlinked(&mut self, link: LinkId, out: Out<'_>) {
        match &mut self.state {
            State::Leading(leader) => leader.unlinked(link),
            State::Learning(learner) if learner.has(link) => {
                let next = learner.unlinked();
                self.go_on(next, out);
            }
            State::Learning(_) | State::Looking(_) | State::Settling => {}
        }
    }

    fn timer(&mut self, timer: Timer, out: Out<'_>) {
        let next = match (timer, &mut self.state) {
            (Timer::Finalize, State::Looking(election)) => election.finalize(&self.own),
            (Timer::Notify, State::Looking(election)) => {
                election.notify_again(&self.own, out);
                Next::GoesOn
            }
            (Timer::Tick, State::Leading(leader)) => leader.tick(&self.own, out),
            (Timer::Tick, State::Learning(learner)) => learner.tick(&self.own, out),
            (Timer::Finalize | Timer::Notify | Timer::Tick, _) => Next::GoesOn,
        };
        self.go_on(next, out);
    }

    fn written(&mut self, out: Out<'_>) {
        let Some(write) = self.own.storage.written() else { return };
        if let Write::Restart(snapshot) = &write {
            self.own.restore(snapshot.clone(), out);
        }
        match &mut self.state {
            State::Leading(leader) => {
                let next = leader.written(&mut self.own, &write, out);
                self.go_on(next, out);
            }
            State::Learning(learner) => learner.written(&mut self.own, &write, out),
            State::Settling => self.look_when_settled(out),
            State::Looking(_) => {}
        }
        self.deliver(out);
    }

    /// What comes of what has happened.
    fn go_on(&mut self, next: Next, out: Out<'_>) {
        match next {
            Next::GoesOn => {}
            Next::Decides { leader } => {
                self.own.become_role(Role::Joining { leader }, out);
                self.state = if leader == self.own.config.id {
                    State::Leading(Leader::lead(&mut self.own, out))
                } else {
                    State::Learning(Learner::join(leader, out))
                };
                self.own.set_tick(out);
            }
            Next::Serves(role) => {
                self.deliver(out);
                self.own.become_role(role, out);
                if let State::Leading(leader) = &mut self.state {
                    leader.let_all_serve(&self.own, out);
                }
            }
            Next::Commits => {
                self.deliver(out);
                if matches!(&self.state, State::Leading(leader) if leader.is_worn_out(&self.own)) {
                    self.leave(out);
                }
            }
            Next::Leaves => self.leave(out),
        }
    }

    /// Begins a new round of elections.
    fn look(&mut self, out: Out<'_>) {
        let (election, next) = Election::begin(&mut self.own, out);
        self.state = State::Looking(election);
        self.go_on(next, out);
    }

    /// Turns away from a leader, or gives leading up: hangs up everywhere, and looks for a leader.
    fn leave(&mut self, out: Out<'_>) {
        let shared = match &self.state {
            State::Leading(leader) => {
                out.extend(leader.learners.keys().map(|link| Output::Hang { link: *link }));
                leader.initial
            }
            State::Learning(learner) => {
                out.extend(learner.link.map(|link| Output::Hang { link }));
                if learner.is_synced() { learner.synced } else { self.own.history.last() }
            }
            State::Looking(_) | State::Settling => return,
        };
        deviate::leaves_otherwise(&mut self.own, shared, out);
        self.state = State::Settling;
        self.own.become_role(Role::Looking, out);
        self.look_when_settled(out);
    }

    /// A vote for what is on its way to the disk would be a vote for what a crash may take away, or that a
    /// later write finds in its place (ZOOKEEPER-2845, 4712).
    fn look_when_settled(&mut self, out: Out<'_>) {
        if deviate::stays(&self.own, out) {
            return;
        }
        if deviate::looks_unsettled(&mut self.own, out) || self.own.storage.is_idle() {
            self.look(out);
        }
    }

    /// Delivers what stands and is on this peer's own disk.
    fn deliver(&mut self, out: Out<'_>) {
        let serves = matches!(&self.state, State::Learning(learner) if learner.phase == Phase::Serving);
        if !deviate::delivers_otherwise(&mut self.own, serves, out) {
            self.own.deliver_up_to(self.own.deliverable(), out);
        }
    }

    /// How it is set up.
    pub fn config(&self) -> &PeerConfig {
        &self.own.config
    }

    /// The log in memory: what is on disk, or on its way there.
    pub fn history(&self) -> &History {
        &self.own.history
    }

    /// The log is on disk up to here.
    pub fn durable(&self) -> Zxid {
        self.own.storage.durable()
    }

    /// Everything up to here is known to stand.
    pub fn committed(&self) -> Zxid {
        self.own.committed
    }

    /// Everything up to here was delivered.
    pub fn delivered(&self) -> Zxid {
        self.own.delivered
    }

    /// The newest epoch this peer has promised to follow, on disk.
    pub fn accepted_epoch(&self) -> u32 {
        self.own.storage.accepted_epoch()
    }

    /// The newest epoch whose history this peer has, on disk.
    pub fn current_epoch(&self) -> u32 {
        self.own.storage.current_epoch()
    }

    /// What it is to its owner.
    pub fn role(&self) -> Role {
        self.own.role
    }

    /// Whether it takes `a` for a better vote than `b`.
    pub fn prefers(&self, a: &Vote, b: &Vote) -> bool {
        deviate::prefers(&self.own.config, a, b)
    }

    /// The write under way.
    pub fn writing(&self) -> Option<&Write> {
        self.own.storage.writing()
    }

    /// For whom it is, or was when it decided.
    pub fn vote(&self) -> Option<Vote> {
        self.own.vote
    }

    /// The round of elections it is in, or was in when it decided.
    pub fn round(&self) -> u64 {
        self.own.round
    }

    /// Whether it has decided for nobody.
    pub fn is_looking(&self) -> bool {
        matches!(self.state, State::Looking(_))
    }

    /// What others sent that nobody may send.
    pub fn violations(&self) -> &BTreeSet<Violation> {
        &self.own.violations
    }

    /// The votes this peer knows of: its own, and those it has heard.
    pub fn votes(&self) -> Vec<Vote> {
        let heard = match &self.state {
            State::Looking(election) => Some(election.votes()),
            State::Settling | State::Learning(_) | State::Leading(_) => None,
        };
        self.own.vote.into_iter().chain(heard.into_iter().flatten()).collect()
    }

    /// What it does as the leader, if it is one.
    fn leader(&self) -> Option<&Leader> {
        match &self.state {
            State::Leading(leader) => Some(leader),
            State::Settling | State::Looking(_) | State::Learning(_) => None,
        }
    }

    /// What it does as a learner, if it is one.
    fn learner(&self) -> Option<&Learner> {
        match &self.state {
            State::Learning(learner) => Some(learner),
            State::Settling | State::Looking(_) | State::Leading(_) => None,
        }
    }

    /// The epoch it leads, from a quorum's promises on.
    pub fn leads(&self) -> Option<u32> {
        self.leader().filter(|leader| leader.phase >= LeaderPhase::Synchronizing).map(|leader| leader.epoch)
    }

    /// The epoch it leads, from a quorum's acknowledgements of its history on.
    pub fn has_established(&self) -> Option<u32> {
        self.leads().filter(|_| matches!(self.own.role, Role::Leading { .. }))
    }

    /// Whom it follows or observes in which epoch, from the end of its synchronisation on.
    pub fn follows(&self) -> Option<(ServerId, u32)> {
        self.learner().filter(|learner| learner.is_synced()).map(|learner| (learner.leader, learner.epoch))
    }

    /// The link to its leader, for what an owner has to say itself. First in, first out with the packets.
    pub fn leader_link(&self) -> Option<LinkId> {
        self.learner().and_then(|learner| learner.link)
    }

    /// The zxid that the next proposal would get; `None` unless this peer may propose.
    pub fn next_zxid(&self) -> Option<Zxid> {
        self.leader().and_then(|leader| leader.next_zxid(self.own.history.last(), &self.own.config))
    }

    /// Whether this peer leads an established epoch whose counter is not at its end.
    pub fn may_propose(&self) -> bool {
        self.next_zxid().is_some()
    }

    /// What this leader has proposed and no quorum is known to have, in order.
    pub fn in_flight(&self) -> impl DoubleEndedIterator<Item = &Arc<Txn>> {
        self.leader().into_iter().flat_map(|leader| &leader.in_flight).map(|flight| &flight.txn)
    }

    /// The links from learners that serve.
    pub fn serving_links(&self) -> Vec<(LinkId, ServerId)> {
        self.leader().into_iter().flat_map(Leader::serving).collect()
    }
}

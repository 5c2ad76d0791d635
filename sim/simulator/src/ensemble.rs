//! The ensemble: what goes from server to server, who leads, and what always holds among them.

use crate::choices::{Stream, share};
use crate::clock::MS;
use crate::crossing::{Carried, Way};
use crate::event::SimEvent;
use crate::knowledge::Woken;
use crate::machine::{Machine, ServerHost};
use crate::network::Direction;
use crate::stage::{Phase, Stage};
use crate::trace_event::{Place, What};
use crate::watch::watch;
use std::sync::Arc;
use zk_api::Zxid;
use zk_cluster::cluster::Cluster;
use zk_proto::message::ToPeer;
use zk_proto::server::ServerId;
use zk_proto::txn::Txn;
use zk_proto::zab::Note;
use zk_proto::zab::invariants::Broken;
use zk_proto::zab::message::{LinkId, Notification, Packet};

/// A datagram that arrives once.
const OF_NO_NOTE: u64 = u64::MAX;

/// Of choices that are about leaders' states on links.
const STATES: u64 = 1 << 32;

/// The servers on their machines, and what is between them.
pub struct Ensemble {
    pub cluster: Cluster<Machine, Direction, SimEvent>,
}

impl Ensemble {
    /// Servers that have not started.
    pub fn new(hosts: Vec<ServerHost>) -> Ensemble {
        Ensemble { cluster: Cluster::new(hosts) }
    }

    /// A machine.
    pub fn host(&mut self, server: u8) -> &mut ServerHost {
        self.cluster.host(server)
    }

    /// The server that leads the newest epoch, as far as it knows itself.
    pub fn leader(&self) -> Option<u8> {
        self.cluster.leader().map(|(server, _)| server)
    }

    /// How long something travels from one server to another.
    fn peer_latency(&mut self, stage: &mut Stage<'_>, from: u8, to: u8) -> u64 {
        let [least, most] = stage.swarm.latency_ns;
        let link = 1 << 16 | u64::from(from) << 8 | u64::from(to);
        let x = stage.choices.below(Stream::Latency, link, 1 << 16);
        let spread = if stage.phase == Phase::Healed { (most - least) / 4 } else { most - least };
        let factor = self.host(from).own.lag_factor.max(self.host(to).own.lag_factor);
        (least + share(spread, x, stage.swarm.latency_power)) * u64::from(factor)
    }

    /// A datagram of the election.
    pub fn send_notification(&mut self, stage: &mut Stage<'_>, from: u8, to: u8, notification: Notification) {
        if self.cluster.is_cut(from, to) || self.host(to).server.is_none() {
            return;
        }
        let at = stage.now + self.peer_latency(stage, from, to);
        let pair = u64::from(from) << 8 | u64::from(to);
        let fate = match stage.phase {
            Phase::Faults => stage.choices.below(Stream::Datagram, pair, 16),
            Phase::Setup | Phase::Healed => OF_NO_NOTE,
        };
        if fate == 0 {
            return stage.once("datagram between servers lost");
        }
        if fate == 1 {
            // Nothing that is safe may rest on an election: what was said long ago may come again.
            let later = at + stage.choices.range(Stream::Datagram, pair, 0, 5000) * MS;
            stage.once("datagram between servers repeated");
            stage.queue.push(later, SimEvent::Notified { from, to, notification });
        }
        stage.queue.push(at, SimEvent::Notified { from, to, notification });
    }

    /// A server wants a link to another.
    pub fn dial(&mut self, stage: &mut Stage<'_>, from: u8, to: u8) {
        if self.cluster.links.dials(ServerId(from), ServerId(to)) {
            let at = stage.now + self.peer_latency(stage, from, to) + self.peer_latency(stage, to, from);
            let incarnation = self.host(from).starts;
            stage.queue.push(at, SimEvent::Linked { from, to, incarnation });
        }
    }

    /// A server says something over a link.
    pub fn send_to_peer(&mut self, stage: &mut Stage<'_>, from: u8, id: LinkId, message: ToPeer) {
        if matches!(message, ToPeer::Zab(_)) {
            self.checked(stage);
        }
        watch!(stage, invariants.peer_sends(from, id, &message));
        let Some(link) = self.cluster.links.link(id) else { return };
        let end = 1 - link.end_of(ServerId(from));
        if !link.open[1 - end] {
            return;
        }
        let to = link.ends[end].0;
        let at = stage.now + self.peer_latency(stage, from, to);
        let Some(link) = self.cluster.links.link(id) else { return };
        let (number, at) = link.to[end].send(at);
        let ends = [Place::Server(from), Place::Server(to)];
        let way = Way::ToPeer(id, end, number);
        stage.trace.sent(stage.now, way, ends, || Carried::ToPeer(message.clone()));
        let is_state = matches!(message, ToPeer::Zab(Packet::Snap(_)));
        stage.queue.push(at, SimEvent::AtPeer { link: id, end, number, message });
        if is_state {
            self.may_break_behind(stage, id, from, to);
        }
    }

    /// A learner that has got its leader's state lacks the rest of the history where the link breaks just there.
    fn may_break_behind(&mut self, stage: &mut Stage<'_>, id: LinkId, from: u8, to: u8) {
        let breaks = stage.phase == Phase::Faults && stage.scenario.faults.link_breaks > 0;
        let pair = STATES | u64::from(from) << 8 | u64::from(to);
        if breaks && stage.choices.below(Stream::Datagram, pair, 6) == 0 {
            stage.once("link broke behind a leader's state");
            self.end_of_link(stage, id, 0);
            self.end_of_link(stage, id, 1);
        }
    }

    /// A server hangs up; the other end hears of it behind all that was sent.
    pub fn hang(&mut self, stage: &mut Stage<'_>, from: u8, id: LinkId) {
        let Some(link) = self.cluster.links.link(id) else { return };
        let end = 1 - link.end_of(ServerId(from));
        self.cluster.links.close(ServerId(from), id);
        self.end_of_link(stage, id, end);
    }

    fn end_of_link(&mut self, stage: &mut Stage<'_>, id: LinkId, end: usize) {
        let Some(link) = self.cluster.links.link(id).filter(|link| link.open[end]) else { return };
        let (ServerId(from), ServerId(to)) = link.way_to(end);
        let at = stage.now + self.peer_latency(stage, from, to);
        let Some(link) = self.cluster.links.link(id) else { return };
        let at = link.to[end].end(at);
        stage.queue.push(at, SimEvent::LinkGone { link: id, end });
    }

    /// A server's machine is gone: of what it had sent to others, some may still arrive.
    pub fn break_links_of(&mut self, stage: &mut Stage<'_>, server: u8) {
        self.cluster.links.forget_dials(ServerId(server));
        for id in self.cluster.links.of(ServerId(server)) {
            let Some(link) = self.cluster.links.link(id) else { continue };
            let end = 1 - link.end_of(ServerId(server));
            let in_flight = link.to[end].in_flight();
            let kept = stage.choices.below(Stream::CrashLoss, 256 + u64::from(server), in_flight + 1);
            link.to[end].cut(kept);
            self.cluster.links.close(ServerId(server), id);
            self.end_of_link(stage, id, end);
        }
    }

    /// A link breaks under both ends, and takes along what is on its way.
    pub fn break_link(&mut self, stage: &mut Stage<'_>, id: LinkId) {
        let Some(link) = self.cluster.links.link(id) else { return };
        link.to.iter_mut().for_each(|direction| direction.cut(0));
        self.end_of_link(stage, id, 0);
        self.end_of_link(stage, id, 1);
    }

    /// A server's peer notes something.
    pub fn peer_notes(&mut self, stage: &mut Stage<'_>, id: u8, note: Note) {
        self.checked(stage);
        match note {
            Note::Proposed(txn) => {
                stage.note(Place::Server(id), &What::Propose(&txn));
                let now_ms = self.cluster.hosts[usize::from(id)].own.clock.steady_ms(stage.now);
                watch!(stage, invariants.proposed(id, &txn, now_ms));
                stage.expires_calmly(&txn);
                stage.knowledge.proposed(txn);
            }
            Note::Committed(txn) => {
                self.committed(stage, id, &txn, false);
                let is_due = stage.zab.commit();
                if stage.scenario.machines() > 1 && is_due {
                    self.check_ensemble(stage);
                }
            }
            Note::Established { epoch } => self.established(stage, id, epoch),
            Note::Deviated(_) => {
                stage.run.deviations += 1;
                stage.note(Place::Server(id), &What::PeerNotes(&note));
            }
            Note::Promised { .. } | Note::Cut(_) | Note::Violated(_) => {
                stage.note(Place::Server(id), &What::PeerNotes(&note));
                self.check_ensemble(stage);
            }
        }
    }

    /// A transaction is committed, by a quorum or by standing in the history of a leader.
    fn committed(&mut self, stage: &mut Stage<'_>, id: u8, txn: &Txn, recovered: bool) {
        if txn.zxid <= stage.knowledge.committed {
            return;
        }
        stage.note(Place::Server(id), &What::Commit { zxid: txn.zxid });
        watch!(stage, invariants.committed(txn, recovered));
        stage.visible.commits(txn);
        if let Some(truth) = stage.knowledge.commit(txn) {
            let actor = stage.knowledge.actor(txn.session);
            if actor.is_some_and(|actor| stage.knowledge.is_holding(actor)) {
                stage.once("session ended while its actor held the lock");
            }
            if actor.is_some_and(|actor| stage.knowledge.is_paused(actor.process)) {
                stage.once("pause outlived the session");
            }
            stage.establish(truth);
        }
    }

    /// A transaction is applied to a server's tree: the first time anywhere, elsewhere, or again after a start.
    pub fn applied(&mut self, stage: &mut Stage<'_>, id: u8, txn: &Arc<Txn>, woken: &mut Woken) {
        self.checked(stage);
        let is_first = txn.zxid > stage.knowledge.applied;
        stage.note(Place::Server(id), &What::Apply { zxid: txn.zxid });
        let truths = match is_first {
            true => stage.knowledge.apply(txn, woken),
            false => stage.knowledge.apply_elsewhere(txn.zxid, woken),
        };
        if let Some(server) = self.cluster.server(id) {
            watch!(stage, invariants.applied(id, txn, server.tree()));
        }
        for truth in truths {
            stage.establish(truth);
        }
    }

    /// A server begins to lead an epoch. What is in its history stands, and nothing else of what was proposed.
    fn established(&mut self, stage: &mut Stage<'_>, id: u8, epoch: u32) {
        let now_ms = self.cluster.hosts[usize::from(id)].own.clock.steady_ms(stage.now);
        let Some(server) = self.cluster.server(id) else { return };
        let history = server.peer().history();
        let last = history.last();
        // What came later is not lost because a leader of a past epoch does not know it.
        let is_newest = stage.zab.establish(epoch);
        let stand = if !is_newest {
            Vec::new()
        } else {
            stage.knowledge.established(|txn| {
                txn.zxid <= history.base()
                    || history.between(Zxid::ZERO, txn.zxid).last().is_some_and(|l| **l == *txn)
            })
        };
        stage.note(Place::Server(id), &What::Leads { epoch, last });
        watch!(stage, invariants.established(id, epoch, last, now_ms));
        if !is_newest {
            stage.once("leader of a past epoch established");
        }
        for txn in stand {
            stage.once("unacknowledged write recovered");
            self.committed(stage, id, &txn, true);
        }
        self.check_ensemble(stage);
    }

    /// A server has the state of its leader in the place of its own.
    pub fn restored(&mut self, stage: &mut Stage<'_>, id: u8, zxid: Zxid) {
        stage.once("server caught up by a snapshot");
        stage.note(Place::Server(id), &What::Restored { zxid });
        if let Some(server) = self.cluster.server(id) {
            watch!(stage, invariants.started(id, zxid, server.tree()));
        }
    }

    /// Whether a server has begun to serve, or has stopped.
    pub fn is_it_serving(&mut self, stage: &mut Stage<'_>, id: u8) {
        let Some(serves) = self.host(id).serves_anew() else { return };
        let Some(server) = self.cluster.server(id) else { return };
        if serves {
            watch!(stage, invariants.serves(id, server.tree()));
        } else {
            watch!(stage, invariants.stopped(id));
            stage.once("server lost its leader");
        }
        stage.note(Place::Server(id), &What::Serves { serves });
        self.check_ensemble(stage);
    }

    /// What must hold among servers. What is broken ends the run: what follows would only be its consequences.
    pub fn check_ensemble(&self, stage: &mut Stage<'_>) {
        if stage.scenario.machines() == 1
            || stage.over
            || stage.options.unchecked
            || stage.judge.has_violated_assumption
        {
            return;
        }
        let broken = stage.zab.check(&self.cluster.peers());
        for Broken { invariant: name, what } in broken {
            stage.note(Place::Simulation, &What::Broken { name });
            stage.over |= stage.judge.broken(stage.now, name, what) && !stage.options.beyond;
        }
    }

    /// A peer has done something.
    fn checked(&self, stage: &mut Stage<'_>) {
        if stage.options.check_always {
            self.check_ensemble(stage);
        }
    }

    /// Nothing gets through from one server to another for a while.
    pub fn partition(&mut self, stage: &mut Stage<'_>, cut: &[[u8; 2]], for_ms: u64) {
        self.cluster.cut(cut);
        stage.once("servers were partitioned");
        let cut = cut.to_vec();
        stage.queue.push(stage.now + for_ms * MS, SimEvent::PartitionEnds { cut });
    }

    /// That is over: what has waited arrives.
    pub fn partition_ends(&mut self, stage: &mut Stage<'_>, cut: &[[u8; 2]]) {
        for event in self.cluster.mend(cut) {
            stage.queue.push(stage.now, event);
        }
    }

    /// The process of a server stands still, and goes on as if nothing had been.
    pub fn pause_server(&mut self, stage: &mut Stage<'_>, id: u8, for_ms: u64) {
        let Some(host) = self.cluster.hosts.get_mut(usize::from(id)) else { return };
        if host.server.is_none() || host.own.held_back.is_some() {
            return;
        }
        host.own.held_back = Some(Vec::new());
        host.own.pauses += 1;
        let pause = host.own.pauses;
        let led = self.leader() == Some(id);
        stage.once(if led { "leader paused" } else { "server paused" });
        stage.queue.push(stage.now + for_ms * MS, SimEvent::ServerResumes { server: id, pause });
    }

    /// It goes on: its timers fire first, then it sees what the network and the disk have brought. Gives all that.
    pub fn server_resumes(&mut self, id: u8, pause: u32) -> impl Iterator<Item = SimEvent> + use<> {
        let own = &mut self.host(id).own;
        let held_back = if own.pauses == pause { own.held_back.take() } else { None };
        let is_timer = |event: &SimEvent| matches!(event, SimEvent::ServerTimer { .. });
        let (timers, others): (Vec<_>, Vec<_>) = held_back.into_iter().flatten().partition(is_timer);
        timers.into_iter().chain(others)
    }

    /// For a while, what goes from and to a server takes longer.
    pub fn lag(&mut self, stage: &mut Stage<'_>, id: u8, factor: u32, for_ms: u64) {
        let until_ns = stage.now + for_ms * MS;
        let Some(host) = self.cluster.hosts.get_mut(usize::from(id)) else { return };
        host.own.lag_factor = factor.max(1);
        host.own.lag_until_ns = until_ns;
        stage.queue.push(until_ns, SimEvent::LagEnds { server: id, until_ns });
    }

    /// That is over, unless another one has begun.
    pub fn lag_ends(&mut self, id: u8, until_ns: u64) {
        let host = self.host(id);
        if host.own.lag_until_ns == until_ns {
            host.own.lag_factor = 1;
        }
    }

    /// For a while, a server's disk takes so long for a sync.
    pub fn slow_sync(&mut self, stage: &mut Stage<'_>, server: u8, sync_ms: u64, for_ms: u64) {
        let until_ns = stage.now + for_ms * MS;
        if let Some(host) = self.cluster.hosts.get_mut(usize::from(server)) {
            host.own.slow_sync_ns = Some(sync_ms * MS);
            host.own.slow_until_ns = until_ns;
            stage.queue.push(until_ns, SimEvent::SlowSyncEnds { server, until_ns });
        }
    }

    /// A while of slow syncs ends, unless another one has begun.
    pub fn slow_sync_ends(&mut self, server: u8, until_ns: u64) {
        let host = &mut self.cluster.hosts[usize::from(server)];
        if host.own.slow_until_ns == until_ns {
            host.own.slow_sync_ns = None;
        }
    }
}

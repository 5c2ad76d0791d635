//! The ensemble: what goes from server to server, who leads, and what always holds among them.

use crate::choices::{Stream, share};
use crate::clock::MS;
use crate::crossing::{Carried, Way};
use crate::event::SimEvent;
use crate::network::Arrival;
use crate::simulation::{Phase, Simulation};
use crate::trace_event::{Place, What};
use crate::watch::watch;
use zk_api::Zxid;
use zk_proto::message::ToPeer;
use zk_proto::server::{Event, ServerId};
use zk_proto::zab::Note;
use zk_proto::zab::invariants::Broken;
use zk_proto::zab::message::{LinkId, Notification, Packet};

/// A datagram that arrives once.
const OF_NO_NOTE: u64 = u64::MAX;

/// Of choices that are about leaders' states on links.
const STATES: u64 = 1 << 32;

impl Simulation<'_> {
    /// How long something travels from one server to another.
    fn peer_latency(&mut self, from: u8, to: u8) -> u64 {
        let [least, most] = self.swarm.latency_ns;
        let link = 1 << 16 | u64::from(from) << 8 | u64::from(to);
        let x = self.choices.below(Stream::Latency, link, 1 << 16);
        let spread = if self.phase == Phase::Healed { (most - least) / 4 } else { most - least };
        let factor = self.host(from).own.lag_factor.max(self.host(to).own.lag_factor);
        (least + share(spread, x, self.swarm.latency_power)) * u64::from(factor)
    }

    /// A datagram of the election.
    pub fn send_notification(&mut self, from: u8, to: u8, notification: Notification) {
        if self.cluster.is_cut(from, to) || self.host(to).server.is_none() {
            return;
        }
        let at = self.now + self.peer_latency(from, to);
        let pair = u64::from(from) << 8 | u64::from(to);
        let fate = match self.phase {
            Phase::Faults => self.choices.below(Stream::Datagram, pair, 16),
            Phase::Setup | Phase::Healed => OF_NO_NOTE,
        };
        if fate == 0 {
            return self.once("datagram between servers lost");
        }
        if fate == 1 {
            // Nothing that is safe may rest on an election: what was said long ago may come again.
            let later = at + self.choices.range(Stream::Datagram, pair, 0, 5000) * MS;
            self.once("datagram between servers repeated");
            self.queue.push(later, SimEvent::Notified { from, to, notification });
        }
        self.queue.push(at, SimEvent::Notified { from, to, notification });
    }

    /// It arrives.
    pub fn notified(&mut self, from: u8, to: u8, notification: Notification) {
        if self.cluster.is_cut(from, to) || self.host(to).server.is_none() {
            return;
        }
        self.run.messages += 1;
        self.note(Place::Server(to), &What::Notified { from, notification: &notification });
        self.server_event(to, Event::Notified { from: ServerId(from), notification });
    }

    /// A server wants a link to another.
    pub fn dial(&mut self, from: u8, to: u8) {
        if self.cluster.links.dials(ServerId(from), ServerId(to)) {
            let at = self.now + self.peer_latency(from, to) + self.peer_latency(to, from);
            let incarnation = self.host(from).starts;
            self.queue.push(at, SimEvent::Linked { from, to, incarnation });
        }
    }

    /// It gets it, or not.
    pub fn linked(&mut self, from: u8, to: u8, incarnation: u32) {
        self.cluster.links.dialled(ServerId(from), ServerId(to));
        // Who stands still takes no calls.
        if self.host(to).own.held_back.is_some() || self.host(from).starts != incarnation {
            return;
        }
        let Some(link) = self.cluster.dialled(from, to) else { return };
        self.note(Place::Simulation, &What::Linked { link, from, to });
        self.server_event(to, Event::Accepted { link, from: ServerId(from) });
        if self.cluster.links.has(ServerId(from), link) {
            self.server_event(from, Event::Dialled { link, to: ServerId(to) });
        }
    }

    /// A server says something over a link.
    pub fn send_to_peer(&mut self, from: u8, id: LinkId, message: ToPeer) {
        if matches!(message, ToPeer::Zab(_)) {
            self.checked();
        }
        watch!(self.invariants, peer_sends(from, id, &message));
        let Some(link) = self.cluster.links.link(id) else { return };
        let end = 1 - link.end_of(ServerId(from));
        if !link.open[1 - end] {
            return;
        }
        let to = link.ends[end].0;
        let at = self.now + self.peer_latency(from, to);
        let Some(link) = self.cluster.links.link(id) else { return };
        let (number, at) = link.to[end].send(at);
        let ends = [Place::Server(from), Place::Server(to)];
        let way = Way::ToPeer(id, end, number);
        self.trace.sent(self.now, way, ends, || Carried::ToPeer(message.clone()));
        let is_state = matches!(message, ToPeer::Zab(Packet::Snap(_)));
        self.queue.push(at, SimEvent::AtPeer { link: id, end, number, message });
        if is_state {
            self.may_break_behind(id, from, to);
        }
    }

    /// A learner that has got its leader's state lacks the rest of the history where the link breaks just there.
    fn may_break_behind(&mut self, id: LinkId, from: u8, to: u8) {
        let breaks = self.phase == Phase::Faults && self.scenario.faults.link_breaks > 0;
        let pair = STATES | u64::from(from) << 8 | u64::from(to);
        if breaks && self.choices.below(Stream::Datagram, pair, 6) == 0 {
            self.once("link broke behind a leader's state");
            self.end_of_link(id, 0);
            self.end_of_link(id, 1);
        }
    }

    /// It arrives.
    pub fn at_peer(&mut self, id: LinkId, end: usize, number: u64, message: ToPeer) {
        let now = self.now;
        let Some(link) = self.cluster.links.link(id).filter(|link| link.open[end]) else { return };
        let (from, to) = link.way_to(end);
        if self.cluster.partitions.is_cut(from, to) {
            return self.cluster.partitions.stall(
                from,
                to,
                SimEvent::AtPeer { link: id, end, number, message },
            );
        }
        match link.to[end].arrive(number, now) {
            Arrival::Here => {}
            Arrival::Lost => return,
            Arrival::Later(at) => {
                return self.queue.push(at, SimEvent::AtPeer { link: id, end, number, message });
            }
        }
        self.trace.arrived(now, Way::ToPeer(id, end, number));
        self.happen(SimEvent::PeerReads { link: id, end, message });
    }

    /// A server reads what has arrived: at once, unless its process stands still.
    pub fn peer_reads(&mut self, id: LinkId, end: usize, message: ToPeer) {
        let now = self.now;
        let Some(link) = self.cluster.links.link(id).filter(|link| link.open[end]) else { return };
        let (ServerId(from), ServerId(to)) = link.way_to(end);
        self.run.messages += 1;
        self.note(Place::Server(to), &What::FromPeer { link: id, message: &message });
        let now_ms = self.host(to).own.clock.steady_ms(now);
        watch!(self.invariants, peer_reads(to, from, id, &message, now_ms));
        self.server_event(to, Event::FromPeer { link: id, message });
    }

    /// A server hangs up; the other end hears of it behind all that was sent.
    pub fn hang(&mut self, from: u8, id: LinkId) {
        let Some(link) = self.cluster.links.link(id) else { return };
        let end = 1 - link.end_of(ServerId(from));
        self.cluster.links.close(ServerId(from), id);
        self.end_of_link(id, end);
    }

    fn end_of_link(&mut self, id: LinkId, end: usize) {
        let Some(link) = self.cluster.links.link(id).filter(|link| link.open[end]) else { return };
        let (ServerId(from), ServerId(to)) = link.way_to(end);
        let at = self.now + self.peer_latency(from, to);
        let Some(link) = self.cluster.links.link(id) else { return };
        let at = link.to[end].end(at);
        self.queue.push(at, SimEvent::LinkGone { link: id, end });
    }

    /// The news that a link is gone arrives at an end.
    pub fn link_gone(&mut self, id: LinkId, end: usize) {
        let Some(link) = self.cluster.links.link(id).filter(|link| link.open[end]) else { return };
        let (from, to) = link.way_to(end);
        if self.cluster.partitions.is_cut(from, to) {
            return self.cluster.partitions.stall(from, to, SimEvent::LinkGone { link: id, end });
        }
        self.happen(SimEvent::PeerReadsEnd { link: id, end });
    }

    /// A server reads that a link is gone.
    pub fn peer_reads_end(&mut self, id: LinkId, end: usize) {
        let Some(server) = self.cluster.links.reader(id, end) else { return };
        self.cluster.links.close(server, id);
        self.note(Place::Server(server.0), &What::Unlinked { link: id });
        self.server_event(server.0, Event::Unlinked { link: id });
    }

    /// A server's machine is gone: of what it had sent to others, some may still arrive.
    pub fn break_links_of(&mut self, server: u8) {
        self.cluster.links.forget_dials(ServerId(server));
        for id in self.cluster.links.of(ServerId(server)) {
            let Some(link) = self.cluster.links.link(id) else { continue };
            let end = 1 - link.end_of(ServerId(server));
            let in_flight = link.to[end].in_flight();
            let kept = self.choices.below(Stream::CrashLoss, 256 + u64::from(server), in_flight + 1);
            link.to[end].cut(kept);
            self.cluster.links.close(ServerId(server), id);
            self.end_of_link(id, end);
        }
    }

    /// A link breaks under both ends, and takes along what is on its way.
    pub fn break_link(&mut self, id: LinkId) {
        let Some(link) = self.cluster.links.link(id) else { return };
        link.to.iter_mut().for_each(|direction| direction.cut(0));
        self.end_of_link(id, 0);
        self.end_of_link(id, 1);
    }

    /// The server that leads the newest epoch, as far as it knows itself.
    pub fn leader(&self) -> Option<u8> {
        self.cluster.leader().map(|(server, _)| server)
    }

    /// A server's peer notes something.
    pub fn peer_notes(&mut self, id: u8, note: Note) {
        self.checked();
        match note {
            Note::Proposed(txn) => {
                self.note(Place::Server(id), &What::Propose(&txn));
                let now_ms = self.cluster.hosts[usize::from(id)].own.clock.steady_ms(self.now);
                watch!(self.invariants, proposed(id, &txn, now_ms));
                self.expires_calmly(&txn);
                self.knowledge.proposed(txn);
            }
            Note::Committed(txn) => {
                self.committed(id, &txn, false);
                let is_due = self.zab.commit();
                if self.scenario.machines() > 1 && is_due {
                    self.check_ensemble();
                }
            }
            Note::Established { epoch } => self.established(id, epoch),
            Note::Deviated(_) => {
                self.run.deviations += 1;
                self.note(Place::Server(id), &What::PeerNotes(&note));
            }
            Note::Promised { .. } | Note::Cut(_) | Note::Violated(_) => {
                self.note(Place::Server(id), &What::PeerNotes(&note));
                self.check_ensemble();
            }
        }
    }

    /// A server begins to lead an epoch. What is in its history stands, and nothing else of what was proposed.
    fn established(&mut self, id: u8, epoch: u32) {
        let now_ms = self.cluster.hosts[usize::from(id)].own.clock.steady_ms(self.now);
        let Some(server) = self.cluster.server(id) else { return };
        let history = server.peer().history();
        let last = history.last();
        // What came later is not lost because a leader of a past epoch does not know it.
        let is_newest = self.zab.establish(epoch);
        let stand = if !is_newest {
            Vec::new()
        } else {
            self.knowledge.established(|txn| {
                txn.zxid <= history.base()
                    || history.between(Zxid::ZERO, txn.zxid).last().is_some_and(|l| **l == *txn)
            })
        };
        self.note(Place::Server(id), &What::Leads { epoch, last });
        watch!(self.invariants, established(id, epoch, last, now_ms));
        if !is_newest {
            self.once("leader of a past epoch established");
        }
        for txn in stand {
            self.once("unacknowledged write recovered");
            self.committed(id, &txn, true);
        }
        self.check_ensemble();
    }

    /// A server has the state of its leader in the place of its own.
    pub fn restored(&mut self, id: u8, zxid: Zxid) {
        self.once("server caught up by a snapshot");
        self.note(Place::Server(id), &What::Restored { zxid });
        if let Some(server) = self.cluster.server(id) {
            watch!(self.invariants, started(id, zxid, server.tree()));
        }
    }

    /// Whether a server has begun to serve, or has stopped.
    pub fn is_it_serving(&mut self, id: u8) {
        let Some(serves) = self.host(id).serves_anew() else { return };
        let Some(server) = self.cluster.server(id) else { return };
        if serves {
            watch!(self.invariants, serves(id, server.tree()));
        } else {
            watch!(self.invariants, stopped(id));
            self.once("server lost its leader");
        }
        self.note(Place::Server(id), &What::Serves { serves });
        self.check_ensemble();
    }

    /// What must hold among servers. What is broken ends the run: what follows would only be its consequences.
    pub fn check_ensemble(&mut self) {
        if self.scenario.machines() == 1
            || self.over
            || self.options.unchecked
            || self.judge.has_violated_assumption
        {
            return;
        }
        let broken = self.zab.check(&self.cluster.peers());
        for Broken { invariant: name, what } in broken {
            self.note(Place::Simulation, &What::Broken { name });
            self.over |= self.judge.broken(self.now, name, what) && !self.options.beyond;
        }
    }

    /// A peer has done something.
    pub fn checked(&mut self) {
        if self.options.check_always {
            self.check_ensemble();
        }
    }

    /// Nothing gets through from one server to another for a while.
    pub fn partition(&mut self, cut: &[[u8; 2]], for_ms: u64) {
        self.cluster.cut(cut);
        self.once("servers were partitioned");
        let cut = cut.to_vec();
        self.queue.push(self.now + for_ms * MS, SimEvent::PartitionEnds { cut });
    }

    /// That is over: what has waited arrives.
    pub fn partition_ends(&mut self, cut: &[[u8; 2]]) {
        for event in self.cluster.mend(cut) {
            self.queue.push(self.now, event);
        }
    }

    /// The process of a server stands still, and goes on as if nothing had been.
    pub fn pause_server(&mut self, id: u8, for_ms: u64) {
        let Some(host) = self.cluster.hosts.get_mut(usize::from(id)) else { return };
        if host.server.is_none() || host.own.held_back.is_some() {
            return;
        }
        host.own.held_back = Some(Vec::new());
        host.own.pauses += 1;
        let pause = host.own.pauses;
        let led = self.leader() == Some(id);
        self.once(if led { "leader paused" } else { "server paused" });
        self.queue.push(self.now + for_ms * MS, SimEvent::ServerResumes { server: id, pause });
    }

    /// It goes on: its timers fire first, then it sees what the network and the disk have brought.
    pub fn server_resumes(&mut self, id: u8, pause: u32) {
        let host = self.host(id);
        if host.own.pauses != pause {
            return;
        }
        let Some(held_back) = host.own.held_back.take() else { return };
        let is_timer = |event: &SimEvent| matches!(event, SimEvent::ServerTimer { .. });
        let (timers, others): (Vec<_>, Vec<_>) = held_back.into_iter().partition(is_timer);
        for event in timers.into_iter().chain(others) {
            self.happen(event);
            self.turn();
        }
    }

    /// Keeps what happens at a server whose process stands still. Gives it back if it does not.
    pub fn hold_back(&mut self, event: SimEvent) -> Option<SimEvent> {
        let server = match &event {
            SimEvent::AtServer { conn, .. } | SimEvent::ServerSees { conn } => {
                self.network.conn(*conn).map(|conn| conn.server)
            }
            SimEvent::PeerReads { link, end, .. } | SimEvent::PeerReadsEnd { link, end } => {
                self.cluster.links.link(*link).map(|link| link.ends[*end].0)
            }
            SimEvent::Notified { to, .. } => Some(*to),
            SimEvent::Linked { from, .. } => Some(*from),
            SimEvent::ServerTimer { server, .. } | SimEvent::DiskDone { server, .. } => Some(*server),
            _ => None,
        };
        let held_back =
            server.and_then(|server| self.cluster.hosts[usize::from(server)].own.held_back.as_mut());
        match held_back {
            Some(held_back) => {
                held_back.push(event);
                None
            }
            None => Some(event),
        }
    }

    /// For a while, what goes from and to a server takes longer.
    pub fn lag(&mut self, id: u8, factor: u32, for_ms: u64) {
        let until_ns = self.now + for_ms * MS;
        let Some(host) = self.cluster.hosts.get_mut(usize::from(id)) else { return };
        host.own.lag_factor = factor.max(1);
        host.own.lag_until_ns = until_ns;
        self.queue.push(until_ns, SimEvent::LagEnds { server: id, until_ns });
    }

    /// That is over, unless another one has begun.
    pub fn lag_ends(&mut self, id: u8, until_ns: u64) {
        let host = self.host(id);
        if host.own.lag_until_ns == until_ns {
            host.own.lag_factor = 1;
        }
    }
}

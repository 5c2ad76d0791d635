//! Servers on their machines: what comes to them, what they want done, and how they crash and start.

use crate::choices::Stream;
use crate::clock::MS;
use crate::conns::Conns;
use crate::crossing::Way;
use crate::disk_faults::{self, picks};
use crate::ensemble::Ensemble;
use crate::event::SimEvent;
use crate::executor::{Caught, quietly};
use crate::fault::Fault;
use crate::knowledge::Woken;
use crate::machine::ServerHost;
use crate::network::Arrival;
use crate::stage::{Phase, Stage};
use crate::trace_event::{Place, What};
use crate::watch::watch;
use zk_api::SessionId;
use zk_harness::pulse::Acting;
use zk_invariants::Invariant;
use zk_proto::disk::{DiskOp, FileId};
use zk_proto::message::{ConnId, Password, ToClient, ToPeer, ToServer};
use zk_proto::server::{Event, FRAME_BYTES_MAX, Input, Note, Output, ServerId, Timer, frame_bytes};
use zk_proto::zab::message::{LinkId, Notification};

/// All servers, and the connections to them.
pub struct Servers {
    pub ensemble: Ensemble,
    pub conns: Conns,
    server_out: Vec<Output>,
}

impl Servers {
    /// Servers that have not started, and no connections yet, of so many processes.
    pub fn new(hosts: Vec<ServerHost>, processes: u16) -> Servers {
        let (ensemble, conns) = (Ensemble::new(hosts), Conns::new(processes));
        Servers { ensemble, conns, server_out: Vec::new() }
    }

    /// Lets something happen, unless it happens at a server whose process stands still. Gives back what does not happen
    /// to servers.
    pub fn happen(&mut self, stage: &mut Stage<'_>, event: SimEvent) -> Option<SimEvent> {
        match self.hold_back(event)? {
            SimEvent::AtServer { conn, number, message } => self.at_server(stage, conn, number, message),
            SimEvent::ServerSees { conn } => self.server_sees(stage, conn),
            SimEvent::ServerTimer { server, incarnation, timer, generation } => {
                self.server_timer(stage, server, (incarnation, generation), timer);
            }
            SimEvent::DiskDone { server, incarnation, file, ticket } => {
                self.disk_done(stage, server, incarnation, file, ticket);
            }
            SimEvent::CrashServer { server, incarnation, down_ms } => {
                self.crash_mid_sync(stage, server, incarnation, down_ms);
            }
            SimEvent::ServerUp { server, incarnation } => self.server_up(stage, server, incarnation),
            SimEvent::Notified { from, to, notification } => self.notified(stage, from, to, notification),
            SimEvent::Linked { from, to, incarnation } => self.linked(stage, from, to, incarnation),
            SimEvent::AtPeer { link, end, number, message } => {
                self.at_peer(stage, link, end, number, message);
            }
            SimEvent::LinkGone { link, end } => self.link_gone(stage, link, end),
            SimEvent::PeerReads { link, end, message } => self.peer_reads(stage, link, end, message),
            SimEvent::PeerReadsEnd { link, end } => self.peer_reads_end(stage, link, end),
            SimEvent::PartitionEnds { cut } => self.ensemble.partition_ends(stage, &cut),
            SimEvent::LagEnds { server, until_ns } => self.ensemble.lag_ends(server, until_ns),
            SimEvent::SlowSyncEnds { server, until_ns } => self.ensemble.slow_sync_ends(server, until_ns),
            SimEvent::SlowLinkEnds { client, until_ns } => self.conns.slow_link_ends(client, until_ns),
            other => return Some(other),
        }
        None
    }

    /// Starts a server from its disk.
    pub fn start_server(&mut self, stage: &mut Stage<'_>, id: u8) {
        let now = stage.now;
        let former = stage.pulse.acts(Acting::Server(id));
        let host = &mut self.ensemble.cluster.hosts[usize::from(id)];
        let started = host.start(host.own.clock.now_ms(now));
        stage.pulse.acts(former);
        match started.map(|(_, out)| out) {
            Ok(mut out) => {
                disk_faults::starts(stage, id, &self.ensemble.host(id).disk);
                let Some(server) = self.ensemble.cluster.server(id) else { return };
                let zxid = server.tree().last_zxid();
                watch!(stage, invariants.started(id, zxid, server.tree()));
                watch!(stage, zab.started(server.peer()));
                stage.note(Place::Server(id), &What::Started { zxid });
                self.server_outputs(stage, id, &mut out);
            }
            Err(error) => disk_faults::stays_out(stage, id, self.ensemble.host(id), &error),
        }
    }

    /// A crash in the middle of a sync, unless the server has crashed before or faults are over.
    fn crash_mid_sync(&mut self, stage: &mut Stage<'_>, id: u8, incarnation: u32, down_ms: u64) {
        if self.ensemble.host(id).starts == incarnation && stage.phase == Phase::Faults {
            stage.once("crashed in the middle of a sync");
            self.crash_server(stage, id, down_ms);
        }
    }

    /// A crash, and the start after `down_ms`.
    pub fn crash_server(&mut self, stage: &mut Stage<'_>, id: u8, down_ms: u64) {
        let host = &mut self.ensemble.cluster.hosts[usize::from(id)];
        let choices = &mut stage.choices;
        let reorders = stage.scenario.faults.disk_reorder;
        let report = match host.own.crash_way.take() {
            Some(way) => host.crash(true, &mut picks(way)),
            None => host.crash(reorders, &mut |n| choices.below(Stream::Torn, id.into(), n)),
        };
        let Some(report) = report else { return };
        host.own.crash();
        let incarnation = host.starts;
        stage.note(Place::Server(id), &What::Down);
        if report.lost > 0 {
            stage.once("unsynced writes lost");
        }
        if report.reordered > 0 {
            stage.once("a later part of a write survived an earlier one");
        }
        if report.torn > 0 {
            stage.once("torn tail cut");
        }
        watch!(stage, invariants.stopped(id));
        for conn in self.conns.network.of_server(id) {
            self.conns.break_by_server(stage, conn);
        }
        self.ensemble.break_links_of(stage, id);
        stage.queue.push(stage.now + down_ms * MS, SimEvent::ServerUp { server: id, incarnation });
    }

    /// The same, now or in the middle of the next sync of its log, if there is such a server.
    pub fn crash(&mut self, stage: &mut Stage<'_>, server: u8, down_ms: u64, mid_sync: bool) {
        match self.ensemble.cluster.hosts.get_mut(usize::from(server)) {
            Some(host) if mid_sync => host.crash_at_sync_ms = Some(down_ms),
            Some(_) => self.crash_server(stage, server, down_ms),
            None => {}
        }
    }

    /// It is time for a server to start again.
    pub fn server_up(&mut self, stage: &mut Stage<'_>, id: u8, incarnation: u32) {
        let host = self.ensemble.host(id);
        if host.server.is_none() && host.starts == incarnation {
            stage.once("server restarted");
            self.start_server(stage, id);
        }
    }

    /// Somebody looks after a server that stays out, and gives it another disk if there can be one.
    pub fn give_new_disk(&mut self, stage: &mut Stage<'_>, id: u8) {
        if disk_faults::give_new(stage, &mut self.ensemble.cluster.hosts, id) {
            self.start_server(stage, id);
        }
    }

    /// Keeps what happens at a server whose process stands still. Gives it back if it does not.
    fn hold_back(&mut self, event: SimEvent) -> Option<SimEvent> {
        let server = match &event {
            SimEvent::AtServer { conn, .. } | SimEvent::ServerSees { conn } => {
                self.conns.network.conn(*conn).map(|conn| conn.server)
            }
            SimEvent::PeerReads { link, end, .. } | SimEvent::PeerReadsEnd { link, end } => {
                self.ensemble.cluster.links.link(*link).map(|link| link.ends[*end].0)
            }
            SimEvent::Notified { to, .. } => Some(*to),
            SimEvent::Linked { from, .. } => Some(*from),
            SimEvent::ServerTimer { server, .. } | SimEvent::DiskDone { server, .. } => Some(*server),
            _ => None,
        };
        let held_back =
            server.and_then(|server| self.ensemble.cluster.hosts[usize::from(server)].own.held_back.as_mut());
        match held_back {
            Some(held_back) => {
                held_back.push(event);
                None
            }
            None => Some(event),
        }
    }

    /// A message arrives at a server.
    fn at_server(&mut self, stage: &mut Stage<'_>, id: ConnId, number: u64, message: ToServer) {
        let now = stage.now;
        let Some(conn) = self.conns.network.conn(id) else { return };
        match conn.to_server.arrive(number, now) {
            Arrival::Here => {}
            Arrival::Lost => {
                if matches!(message, ToServer::Request { .. }) {
                    stage.once("request lost");
                }
                return;
            }
            Arrival::Later(at) => {
                stage.queue.push(at, SimEvent::AtServer { conn: id, number, message });
                return;
            }
        }
        if !conn.server_open {
            // The server's machine answers with a reset.
            self.conns.tell_client(stage, id);
            return;
        }
        let (actor, server, greeted, client_open) = (conn.actor, conn.server, conn.greeted, conn.client_open);
        let session = conn.session;
        conn.greeted = true;
        stage.run.messages += 1;
        stage.trace.arrived(now, Way::ToServer(id, number));
        stage.note(Place::Server(server), &What::ToServer { conn: id, message: &message });
        let now_ms = self.ensemble.host(server).own.clock.steady_ms(now);
        let event = match message {
            ToServer::Connect(request) if !greeted => {
                let session = stage.knowledge.offer(actor);
                let offer = (session, password(session.get()));
                watch!(stage, invariants.connecting(id, server, &request, offer, now_ms));
                Event::Connecting { conn: id, request, offer, address: None }
            }
            message => {
                if let ToServer::Request { request, .. } = &message
                    && request.is_write()
                    && !client_open
                {
                    stage.once("request arrived after its client knew of the loss");
                }
                watch!(stage, invariants.arrived(id, &message, now_ms));
                match &message {
                    ToServer::Request { request, .. } if frame_bytes(request) > FRAME_BYTES_MAX => {
                        stage.once("a request was longer than a server takes");
                        self.conns.owed.remove(&session);
                    }
                    _ => _ = self.conns.owed.entry(session).or_insert(now),
                }
                Event::Received { conn: id, message }
            }
        };
        self.server_event(stage, server, event);
        watch!(stage, invariants.read());
    }

    /// A server notices that a connection is closed.
    fn server_sees(&mut self, stage: &mut Stage<'_>, id: ConnId) {
        let Some(conn) = self.conns.network.conn(id) else { return };
        if !conn.server_open {
            return;
        }
        conn.server_open = false;
        let (server, greeted) = (conn.server, conn.greeted);
        self.conns.network.forget_closed(id);
        watch!(stage, invariants.closed(id));
        if greeted {
            stage.note(Place::Server(server), &What::Dropped { conn: id });
            self.server_event(stage, server, Event::Dropped { conn: id });
        }
    }

    /// A server's timer has come.
    fn server_timer(&mut self, stage: &mut Stage<'_>, id: u8, setting: (u32, u32), timer: Timer) {
        let (incarnation, generation) = setting;
        let host = self.ensemble.host(id);
        if host.starts == incarnation && host.own.is_last_setting(timer, generation) && host.server.is_some()
        {
            stage.note(Place::Server(id), &What::ServerTimer(timer));
            self.server_event(stage, id, Event::Timer(timer));
            let now_ms = self.ensemble.cluster.hosts[usize::from(id)].own.clock.steady_ms(stage.now);
            if timer == Timer::Sessions {
                watch!(stage, invariants.ticked(id, now_ms));
            }
        }
    }

    /// A notification arrives at a server.
    fn notified(&mut self, stage: &mut Stage<'_>, from: u8, to: u8, notification: Notification) {
        if self.ensemble.cluster.is_cut(from, to) || self.ensemble.host(to).server.is_none() {
            return;
        }
        stage.run.messages += 1;
        stage.note(Place::Server(to), &What::Notified { from, notification: &notification });
        self.server_event(stage, to, Event::Notified { from: ServerId(from), notification });
    }

    /// A server that has dialled another gets a link to it, or not.
    fn linked(&mut self, stage: &mut Stage<'_>, from: u8, to: u8, incarnation: u32) {
        self.ensemble.cluster.links.dialled(ServerId(from), ServerId(to));
        // Who stands still takes no calls.
        if self.ensemble.host(to).own.held_back.is_some() || self.ensemble.host(from).starts != incarnation {
            return;
        }
        let Some(link) = self.ensemble.cluster.dialled(from, to) else { return };
        stage.note(Place::Simulation, &What::Linked { link, from, to });
        self.server_event(stage, to, Event::Accepted { link, from: ServerId(from) });
        if self.ensemble.cluster.links.has(ServerId(from), link) {
            self.server_event(stage, from, Event::Dialled { link, to: ServerId(to) });
        }
    }

    /// What a server has sent over a link arrives at the other one's machine.
    fn at_peer(&mut self, stage: &mut Stage<'_>, id: LinkId, end: usize, number: u64, message: ToPeer) {
        let now = stage.now;
        let Some(link) = self.ensemble.cluster.links.link(id).filter(|link| link.open[end]) else { return };
        let (from, to) = link.way_to(end);
        if self.ensemble.cluster.partitions.is_cut(from, to) {
            return self.ensemble.cluster.partitions.stall(
                from,
                to,
                SimEvent::AtPeer { link: id, end, number, message },
            );
        }
        match link.to[end].arrive(number, now) {
            Arrival::Here => {}
            Arrival::Lost => return,
            Arrival::Later(at) => {
                return stage.queue.push(at, SimEvent::AtPeer { link: id, end, number, message });
            }
        }
        stage.trace.arrived(now, Way::ToPeer(id, end, number));
        self.happen(stage, SimEvent::PeerReads { link: id, end, message });
    }

    /// A server reads what has arrived: at once, unless its process stands still.
    fn peer_reads(&mut self, stage: &mut Stage<'_>, id: LinkId, end: usize, message: ToPeer) {
        let now = stage.now;
        let Some(link) = self.ensemble.cluster.links.link(id).filter(|link| link.open[end]) else { return };
        let (ServerId(from), ServerId(to)) = link.way_to(end);
        stage.run.messages += 1;
        stage.note(Place::Server(to), &What::FromPeer { link: id, message: &message });
        let now_ms = self.ensemble.host(to).own.clock.steady_ms(now);
        watch!(stage, invariants.peer_reads(to, from, id, &message, now_ms));
        self.server_event(stage, to, Event::FromPeer { link: id, message });
    }

    /// The news that a link is gone arrives at an end.
    fn link_gone(&mut self, stage: &mut Stage<'_>, id: LinkId, end: usize) {
        let Some(link) = self.ensemble.cluster.links.link(id).filter(|link| link.open[end]) else { return };
        let (from, to) = link.way_to(end);
        if self.ensemble.cluster.partitions.is_cut(from, to) {
            return self.ensemble.cluster.partitions.stall(from, to, SimEvent::LinkGone { link: id, end });
        }
        self.happen(stage, SimEvent::PeerReadsEnd { link: id, end });
    }

    /// A server reads that a link is gone.
    fn peer_reads_end(&mut self, stage: &mut Stage<'_>, id: LinkId, end: usize) {
        let Some(server) = self.ensemble.cluster.links.reader(id, end) else { return };
        self.ensemble.cluster.links.close(server, id);
        stage.note(Place::Server(server.0), &What::Unlinked { link: id });
        self.server_event(stage, server.0, Event::Unlinked { link: id });
    }

    /// A server's disk has done something.
    fn disk_done(&mut self, stage: &mut Stage<'_>, id: u8, incarnation: u32, file: FileId, ticket: u64) {
        let host = self.ensemble.host(id);
        if host.starts != incarnation || host.server.is_none() {
            return;
        }
        let length = host.disk.done(file, ticket);
        stage.note(Place::Server(id), &What::Synced { file, length: length as u64 });
        watch!(stage, invariants.synced(id, file, length));
        self.server_event(stage, id, Event::Synced { file, ticket });
    }

    /// Steps a server and does what it wants done.
    pub fn server_event(&mut self, stage: &mut Stage<'_>, id: u8, event: Event) {
        let now = stage.now;
        let mut out = std::mem::take(&mut self.server_out);
        let host = &mut self.ensemble.cluster.hosts[usize::from(id)];
        let now_ms = host.own.clock.now_ms(now);
        let Some(server) = &mut host.server else { return };
        let former = stage.pulse.acts(Acting::Server(id));
        let stepped = quietly(|| server.step(Input { now_ms, event }, &mut out));
        stage.pulse.acts(former);
        stage.invariants.report.tested(Invariant::NoPanic);
        match stepped {
            Ok(()) => self.server_outputs(stage, id, &mut out),
            Err(Caught::Panic(what)) => stage.panics(format!("s{id} panicked: {what}")),
            Err(Caught::Spin) => unreachable!("only tasks of clients spin"),
        }
        out.clear();
        self.server_out = out;
    }

    fn server_outputs(&mut self, stage: &mut Stage<'_>, id: u8, out: &mut Vec<Output>) {
        let mut woken = self.woken(out);
        for output in out.drain(..) {
            // What is on its way to the disk may get there.
            let is_writing = matches!(output, Output::Note(Note::Writes(_)));
            if self.ensemble.host(id).own.stops_ms.is_some() && !is_writing {
                continue;
            }
            if !stage.options.unchecked && !stage.judge.has_violated_assumption {
                let former = stage.pulse.acts(Acting::Invariants("history"));
                self.ensemble.cluster.tell(id, &output, stage.zab.history());
                stage.pulse.acts(former);
            }
            match output {
                Output::Send { conn, message } => self.conns.send_to_client(stage, conn, message),
                Output::Close { conn } => self.conns.close_by_server(stage, conn),
                Output::Disk(op) => self.disk_op(stage, id, op),
                Output::SetTimer { timer, after_ms } => self.set_server_timer(stage, id, timer, after_ms),
                Output::Note(Note::Zab(note)) => self.ensemble.peer_notes(stage, id, note),
                Output::Note(Note::Applied(txn)) => self.ensemble.applied(stage, id, &txn, &mut woken),
                Output::Note(Note::Restored(zxid)) => self.ensemble.restored(stage, id, zxid),
                Output::Note(Note::Writes(_) | Note::Written) => {}
                Output::Notify { to, notification } => {
                    self.ensemble.send_notification(stage, id, to.0, notification)
                }
                Output::SendPeer { link, message } => self.ensemble.send_to_peer(stage, id, link, message),
                Output::Dial { to } => self.ensemble.dial(stage, id, to.0),
                Output::Hang { link } => self.ensemble.hang(stage, id, link),
            }
        }
        if let Some(down_ms) = self.ensemble.host(id).own.stops_ms.take() {
            return self.crash_server(stage, id, down_ms);
        }
        self.ensemble.is_it_serving(stage, id);
    }

    /// Whose watches the changes of these outputs fire.
    fn woken(&mut self, out: &[Output]) -> Woken {
        let mut woken = Woken::new();
        if !out.iter().any(|output| matches!(output, Output::Note(Note::Applied(_)))) {
            return woken;
        }
        for output in out {
            if let Output::Send { conn, message: ToClient::Event { zxid: Some(zxid), event } } = output
                && let Some(conn) = self.conns.network.conn(*conn)
            {
                let actors = woken.entry((*zxid, event.path.clone(), event.kind)).or_default();
                if !actors.contains(&conn.actor) {
                    actors.push(conn.actor);
                }
            }
        }
        woken
    }

    fn set_server_timer(&mut self, stage: &mut Stage<'_>, id: u8, timer: Timer, after_ms: u32) {
        let host = self.ensemble.host(id);
        let (after, generation) = host.own.set_timer(timer, after_ms);
        let incarnation = host.starts;
        stage
            .queue
            .push(stage.now + after, SimEvent::ServerTimer { server: id, incarnation, timer, generation });
    }

    fn disk_op(&mut self, stage: &mut Stage<'_>, id: u8, op: DiskOp) {
        if disk_faults::refuses(stage, self.ensemble.host(id), &op) {
            return;
        }
        let length = self.ensemble.host(id).disk.length(op.file());
        watch!(stage, invariants.asked(id, &op, length));
        if let Some((file, ticket)) = op.ticket() {
            self.disk_busy(stage, id, file, ticket);
        }
        let host = self.ensemble.host(id);
        host.disk.ask(op);
        disk_faults::done(stage, host);
    }

    fn disk_busy(&mut self, stage: &mut Stage<'_>, id: u8, file: FileId, ticket: u64) {
        let usual = stage.choices.range(Stream::Sync, id.into(), MS / 20, 4 * MS);
        let now = stage.now;
        let host = self.ensemble.host(id);
        let (takes, done) = host.own.disk_syncs(now, usual);
        let incarnation = host.starts;
        if matches!(file, FileId::Log(_))
            && let Some(down_ms) = host.crash_at_sync_ms.take()
        {
            stage.queue.push(done - takes / 2, SimEvent::CrashServer { server: id, incarnation, down_ms });
        }
        stage.queue.push(done, SimEvent::DiskDone { server: id, incarnation, file, ticket });
    }

    /// Servers end a session although its client is well.
    pub fn expire_session(&mut self, stage: &mut Stage<'_>, session: SessionId) {
        watch!(stage, invariants.forces(Some(session)));
        for server in 0..stage.scenario.machines() {
            if self.ensemble.host(server).own.held_back.is_none() {
                self.server_event(stage, server, Event::Expire { session });
            }
        }
        watch!(stage, invariants.forces(None));
    }

    /// Something goes wrong with a disk.
    pub fn disk_fault(&mut self, stage: &mut Stage<'_>, fault: &Fault) {
        match *fault {
            Fault::DiskRot { server, file, at_permille, bytes, spares, down_ms } => {
                let rots = server < stage.scenario.machines() && {
                    let place = (file, at_permille, bytes);
                    disk_faults::rot(stage, &mut self.ensemble.cluster.hosts, server, place, spares)
                };
                if rots && down_ms > 0 {
                    self.crash_server(stage, server, down_ms);
                }
            }
            Fault::DiskError { server, down_ms } => {
                if let Some(host) = self.ensemble.cluster.hosts.get_mut(usize::from(server)) {
                    host.own.fails_next_ms = Some(down_ms);
                }
            }
            Fault::DiskFull { server, for_ms, down_ms } => {
                let until_ns = stage.now + for_ms * MS;
                if let Some(host) = self.ensemble.cluster.hosts.get_mut(usize::from(server)) {
                    (host.own.full_until_ns, host.own.full_down_ms) = (until_ns, down_ms);
                }
            }
            _ => {}
        }
    }
}

/// A session's password: no secret, but unlike any other's.
fn password(session: i64) -> Password {
    let mut password = [0x5a; 16];
    password[..8].copy_from_slice(&session.to_le_bytes());
    password
}

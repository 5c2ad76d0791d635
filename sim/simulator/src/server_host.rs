//! Servers on their machines: what comes to them, what they want done, and how they crash and start.

use crate::choices::Stream;
use crate::clock::MS;
use crate::crossing::{Carried, Way};
use crate::disk_faults::picks;
use crate::event::SimEvent;
use crate::executor::{Caught, quietly};
use crate::knowledge::Woken;
use crate::machine::ServerHost;
use crate::network::Arrival;
use crate::simulation::{Phase, Simulation};
use crate::trace_event::{Place, What};
use crate::watch::watch;
use std::sync::Arc;
use zk_invariants::Invariant;
use zk_proto::disk::{DiskOp, FileId};
use zk_proto::message::{ConnId, Password, ToClient, ToServer};
use zk_proto::server::{Event, FRAME_BYTES_MAX, Input, Note, Output, Timer, frame_bytes};
use zk_proto::txn::Txn;
use zk_trials::pulse::Acting;

impl Simulation<'_> {
    pub fn host(&mut self, server: u8) -> &mut ServerHost {
        self.cluster.host(server)
    }

    /// Starts a server from its disk.
    pub fn start_server(&mut self, id: u8) {
        let now = self.now;
        let former = self.pulse.acts(Acting::Server(id));
        let host = &mut self.cluster.hosts[usize::from(id)];
        let started = host.start(host.own.clock.now_ms(now));
        self.pulse.acts(former);
        match started.map(|(_, out)| out) {
            Ok(mut out) => {
                self.starts_from_disk(id);
                let Some(server) = self.cluster.server(id) else { return };
                let zxid = server.tree().last_zxid();
                watch!(self.invariants, started(id, zxid, server.tree()));
                watch!(self.zab, started(server.peer()));
                self.note(Place::Server(id), &What::Started { zxid });
                self.server_outputs(id, &mut out);
            }
            Err(error) => self.stays_out(id, &error),
        }
    }

    /// A crash in the middle of a sync, unless the server has crashed before or faults are over.
    pub fn crash_mid_sync(&mut self, id: u8, incarnation: u32, down_ms: u64) {
        if self.host(id).starts == incarnation && self.phase == Phase::Faults {
            self.once("crashed in the middle of a sync");
            self.crash_server(id, down_ms);
        }
    }

    /// A crash, and the start after `down_ms`.
    pub fn crash_server(&mut self, id: u8, down_ms: u64) {
        let host = &mut self.cluster.hosts[usize::from(id)];
        let choices = &mut self.choices;
        let reorders = self.scenario.faults.disk_reorder;
        let report = match host.own.crash_way.take() {
            Some(way) => host.crash(true, &mut picks(way)),
            None => host.crash(reorders, &mut |n| choices.below(Stream::Torn, id.into(), n)),
        };
        let Some(report) = report else { return };
        host.own.crash();
        let incarnation = host.starts;
        self.note(Place::Server(id), &What::Down);
        if report.lost > 0 {
            self.once("unsynced writes lost");
        }
        if report.reordered > 0 {
            self.once("a later part of a write survived an earlier one");
        }
        if report.torn > 0 {
            self.once("torn tail cut");
        }
        watch!(self.invariants, stopped(id));
        for conn in self.network.of_server(id) {
            self.break_by_server(conn);
        }
        self.break_links_of(id);
        self.queue.push(self.now + down_ms * MS, SimEvent::ServerUp { server: id, incarnation });
    }

    /// The server's machine is gone: of what it had sent, some may still arrive.
    fn break_by_server(&mut self, id: ConnId) {
        watch!(self.invariants, closed(id));
        let Some(conn) = self.network.conn(id) else { return };
        conn.server_open = false;
        let (process, in_flight) = (conn.actor.process, conn.to_client.in_flight());
        let kept = self.choices.below(Stream::CrashLoss, process.into(), in_flight + 1);
        let Some(conn) = self.network.conn(id) else { return };
        conn.to_client.cut(kept);
        self.tell_client(id);
        self.network.forget_closed(id);
    }

    /// It is time for a server to start again.
    pub fn server_up(&mut self, id: u8, incarnation: u32) {
        let host = self.host(id);
        if host.server.is_none() && host.starts == incarnation {
            self.once("server restarted");
            self.start_server(id);
        }
    }

    /// A message arrives at a server.
    pub fn at_server(&mut self, id: ConnId, number: u64, message: ToServer) {
        let now = self.now;
        let Some(conn) = self.network.conn(id) else { return };
        match conn.to_server.arrive(number, now) {
            Arrival::Here => {}
            Arrival::Lost => {
                if matches!(message, ToServer::Request { .. }) {
                    self.once("request lost");
                }
                return;
            }
            Arrival::Later(at) => {
                self.queue.push(at, SimEvent::AtServer { conn: id, number, message });
                return;
            }
        }
        if !conn.server_open {
            // The server's machine answers with a reset.
            self.tell_client(id);
            return;
        }
        let (actor, server, greeted, client_open) = (conn.actor, conn.server, conn.greeted, conn.client_open);
        let session = conn.session;
        conn.greeted = true;
        self.run.messages += 1;
        self.trace.arrived(now, Way::ToServer(id, number));
        self.note(Place::Server(server), &What::ToServer { conn: id, message: &message });
        let now_ms = self.host(server).own.clock.steady_ms(now);
        let event = match message {
            ToServer::Connect(request) if !greeted => {
                let session = self.knowledge.offer(actor);
                let offer = (session, password(session.get()));
                watch!(self.invariants, connecting(id, server, &request, offer, now_ms));
                Event::Connecting { conn: id, request, offer, address: None }
            }
            message => {
                if let ToServer::Request { request, .. } = &message
                    && request.is_write()
                    && !client_open
                {
                    self.once("request arrived after its client knew of the loss");
                }
                watch!(self.invariants, arrived(id, &message, now_ms));
                match &message {
                    ToServer::Request { request, .. } if frame_bytes(request) > FRAME_BYTES_MAX => {
                        self.once("a request was longer than a server takes");
                        self.owed.remove(&session);
                    }
                    _ => _ = self.owed.entry(session).or_insert(now),
                }
                Event::Received { conn: id, message }
            }
        };
        self.server_event(server, event);
        watch!(self.invariants, read());
    }

    /// A server notices that a connection is closed.
    pub fn server_sees(&mut self, id: ConnId) {
        let Some(conn) = self.network.conn(id) else { return };
        if !conn.server_open {
            return;
        }
        conn.server_open = false;
        let (server, greeted) = (conn.server, conn.greeted);
        self.network.forget_closed(id);
        watch!(self.invariants, closed(id));
        if greeted {
            self.note(Place::Server(server), &What::Dropped { conn: id });
            self.server_event(server, Event::Dropped { conn: id });
        }
    }

    /// A server's timer has come.
    pub fn server_timer(&mut self, id: u8, incarnation: u32, timer: Timer, generation: u32) {
        let host = self.host(id);
        if host.starts == incarnation && host.own.is_last_setting(timer, generation) && host.server.is_some()
        {
            self.note(Place::Server(id), &What::ServerTimer(timer));
            self.server_event(id, Event::Timer(timer));
            let now_ms = self.cluster.hosts[usize::from(id)].own.clock.steady_ms(self.now);
            if timer == Timer::Sessions {
                watch!(self.invariants, ticked(id, now_ms));
            }
        }
    }

    /// A server's disk has done something.
    pub fn disk_done(&mut self, id: u8, incarnation: u32, file: FileId, ticket: u64) {
        let host = self.host(id);
        if host.starts != incarnation || host.server.is_none() {
            return;
        }
        let length = host.disk.done(file, ticket);
        self.note(Place::Server(id), &What::Synced { file, length: length as u64 });
        watch!(self.invariants, synced(id, file, length));
        self.server_event(id, Event::Synced { file, ticket });
    }

    /// Steps a server and does what it wants done.
    pub fn server_event(&mut self, id: u8, event: Event) {
        let now = self.now;
        let mut out = std::mem::take(&mut self.server_out);
        let host = &mut self.cluster.hosts[usize::from(id)];
        let now_ms = host.own.clock.now_ms(now);
        let Some(server) = &mut host.server else { return };
        let former = self.pulse.acts(Acting::Server(id));
        let stepped = quietly(|| server.step(Input { now_ms, event }, &mut out));
        self.pulse.acts(former);
        self.invariants.report.tested(Invariant::NoPanic);
        match stepped {
            Ok(()) => self.server_outputs(id, &mut out),
            Err(Caught::Panic(what)) => {
                self.invariants.report.broken(Invariant::NoPanic, format!("s{id} panicked: {what}"));
                self.over = true;
            }
            Err(Caught::Spin) => unreachable!("only tasks of clients spin"),
        }
        out.clear();
        self.server_out = out;
    }

    fn server_outputs(&mut self, id: u8, out: &mut Vec<Output>) {
        let mut woken = self.woken(out);
        for output in out.drain(..) {
            // What is on its way to the disk may get there.
            let is_writing = matches!(output, Output::Note(Note::Writes(_)));
            if self.host(id).own.stops_ms.is_some() && !is_writing {
                continue;
            }
            if !self.options.unchecked && !self.judge.has_violated_assumption {
                let former = self.pulse.acts(Acting::Invariants("history"));
                self.cluster.tell(id, &output, self.zab.history());
                self.pulse.acts(former);
            }
            match output {
                Output::Send { conn, message } => self.send_to_client(conn, message),
                Output::Close { conn } => self.close_by_server(conn),
                Output::Disk(op) => self.disk_op(id, op),
                Output::SetTimer { timer, after_ms } => self.set_server_timer(id, timer, after_ms),
                Output::Note(Note::Zab(note)) => self.peer_notes(id, note),
                Output::Note(Note::Applied(txn)) => self.applied(id, &txn, &mut woken),
                Output::Note(Note::Restored(zxid)) => self.restored(id, zxid),
                Output::Note(Note::Writes(_) | Note::Written) => {}
                Output::Notify { to, notification } => self.send_notification(id, to.0, notification),
                Output::SendPeer { link, message } => self.send_to_peer(id, link, message),
                Output::Dial { to } => self.dial(id, to.0),
                Output::Hang { link } => self.hang(id, link),
            }
        }
        if let Some(down_ms) = self.host(id).own.stops_ms.take() {
            return self.crash_server(id, down_ms);
        }
        self.is_it_serving(id);
    }

    /// Whose watches the changes of these outputs fire.
    fn woken(&mut self, out: &[Output]) -> Woken {
        let mut woken = Woken::new();
        if !out.iter().any(|output| matches!(output, Output::Note(Note::Applied(_)))) {
            return woken;
        }
        for output in out {
            if let Output::Send { conn, message: ToClient::Event { zxid: Some(zxid), event } } = output
                && let Some(conn) = self.network.conn(*conn)
            {
                let actors = woken.entry((*zxid, event.path.clone(), event.kind)).or_default();
                if !actors.contains(&conn.actor) {
                    actors.push(conn.actor);
                }
            }
        }
        woken
    }

    fn set_server_timer(&mut self, id: u8, timer: Timer, after_ms: u32) {
        let host = self.host(id);
        let (after, generation) = host.own.set_timer(timer, after_ms);
        let incarnation = host.starts;
        self.queue
            .push(self.now + after, SimEvent::ServerTimer { server: id, incarnation, timer, generation });
    }

    fn disk_op(&mut self, id: u8, op: DiskOp) {
        if self.disk_refuses(id, &op) {
            return;
        }
        let length = self.host(id).disk.length(op.file());
        watch!(self.invariants, asked(id, &op, length));
        if let Some((file, ticket)) = op.ticket() {
            self.disk_busy(id, file, ticket);
        }
        self.host(id).disk.ask(op);
        self.disk_op_done(id);
    }

    fn disk_busy(&mut self, id: u8, file: FileId, ticket: u64) {
        let usual = self.choices.range(Stream::Sync, id.into(), MS / 20, 4 * MS);
        let now = self.now;
        let host = self.host(id);
        let (takes, done) = host.own.disk_syncs(now, usual);
        let incarnation = host.starts;
        if matches!(file, FileId::Log(_))
            && let Some(down_ms) = host.crash_at_sync_ms.take()
        {
            self.queue.push(done - takes / 2, SimEvent::CrashServer { server: id, incarnation, down_ms });
        }
        self.queue.push(done, SimEvent::DiskDone { server: id, incarnation, file, ticket });
    }

    fn send_to_client(&mut self, id: ConnId, message: ToClient) {
        watch!(self.invariants, answering(id, &message));
        let Some(conn) = self.network.conn(id) else { return };
        match &message {
            ToClient::Connected(response) => conn.session = response.session,
            ToClient::Reply { .. } | ToClient::WatchesSet { .. } | ToClient::Pong { .. } => {
                self.owed.remove(&conn.session);
            }
            ToClient::Event { .. } => {}
        }
        let (actor, server) = (conn.actor, conn.server);
        let at = self.now + self.latency(actor.process, server, false);
        let Some(conn) = self.network.conn(id) else { return };
        let (number, at) = conn.to_client.send(at);
        let ends = [Place::Server(server), Place::Client(actor)];
        self.trace.sent(self.now, Way::ToClient(id, number), ends, || Carried::ToClient(message.clone()));
        self.queue.push(at, SimEvent::AtClient { conn: id, number, message });
    }

    fn close_by_server(&mut self, id: ConnId) {
        watch!(self.invariants, closed(id));
        let Some(conn) = self.network.conn(id) else { return };
        conn.server_open = false;
        self.tell_client(id);
        self.network.forget_closed(id);
    }

    /// A transaction is committed, by a quorum or by standing in the history of a leader.
    pub fn committed(&mut self, id: u8, txn: &Txn, recovered: bool) {
        if txn.zxid <= self.knowledge.committed {
            return;
        }
        self.note(Place::Server(id), &What::Commit { zxid: txn.zxid });
        watch!(self.invariants, committed(txn, recovered));
        self.visible.commits(txn);
        if let Some(truth) = self.knowledge.commit(txn) {
            let actor = self.knowledge.actor(txn.session);
            if actor.is_some_and(|actor| self.knowledge.is_holding(actor)) {
                self.once("session ended while its actor held the lock");
            }
            if let Some(actor) = actor
                && self.processes[usize::from(actor.process)].held_back.is_some()
            {
                self.once("pause outlived the session");
            }
            self.establish(truth);
        }
    }

    /// A transaction is applied to a server's tree: the first time anywhere, elsewhere, or again after a start.
    fn applied(&mut self, id: u8, txn: &Arc<Txn>, woken: &mut Woken) {
        self.checked();
        let is_first = txn.zxid > self.knowledge.applied;
        self.note(Place::Server(id), &What::Apply { zxid: txn.zxid });
        let truths = match is_first {
            true => self.knowledge.apply(txn, woken),
            false => self.knowledge.apply_elsewhere(txn.zxid, woken),
        };
        if let Some(server) = self.cluster.server(id) {
            watch!(self.invariants, applied(id, txn, server.tree()));
        }
        for truth in truths {
            self.establish(truth);
        }
    }
}

/// A session's password: no secret, but unlike any other's.
fn password(session: i64) -> Password {
    let mut password = [0x5a; 16];
    password[..8].copy_from_slice(&session.to_le_bytes());
    password
}

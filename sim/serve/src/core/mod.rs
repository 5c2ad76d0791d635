//! The servers and everything that must happen in one order: their disks, their timers, their connections, what
//! goes between them, and their invariants. Synchronous and without sockets: time is an argument, and what
//! is to be sent goes into [`ClientLink`](crate::link::ClientLink)s.
//!
//! | file | what is in it |
//! |---|---|
//! | `mod` | [`Core`]: steps of the servers, what they want done, what happens at its time, faults |
//! | `stage` | what servers and connections share: the time, what is to happen, and who is told |
//! | `host` | one server and its machine |
//! | `ensemble` | all of them: what goes from server to server, who leads, and what always holds among them |
//! | `late` | what is late between two servers |
//! | `zab_watch` | what is followed to judge Zab by |
//! | `conn` | one connection, and its session |
//! | `conns` | all of them: frames become events, messages become frames, and connections end |
//! | `event` | what happens to servers and connections: next, at its time, or as a request comes |
//! | `faults` | which faults can be done |
//! | `show` | what is told of all this |

mod conn;
mod conns;
mod ensemble;
mod event;
mod faults;
mod host;
mod late;
mod show;
mod stage;
#[cfg(test)]
mod tests;
mod zab_watch;

use crate::fault::{Fault, When};
use crate::link::State;
use crate::listener::Entrance;
use crate::message::ToCore;
use crate::record::{Record, What};
use crate::time::{MS, Nanos, steady_ms};
use crate::verdict::Verdict;
use crate::{Options, words};
use conn::{ConnPhase, Fate, Latency, Stats};
use conns::Conns;
use ensemble::Ensemble;
use event::{AddressedEvent, Armed, Held, Later};
use faults::Possible;
use host::{Lag, Machine, SlowDisk, Totals};
use serde_json::Value;
use show::Shown;
use stage::Stage;
use std::panic::{AssertUnwindSafe, catch_unwind};
use zk_api::SessionId;
use zk_invariants::{Invariant, Invariants, Setup};
use zk_proto::message::ConnId;
use zk_proto::server::{Event, Input, Note, Output, Timer};
use zk_wire::FourLetterWord;

/// Servers behind their connections: one, or an ensemble.
pub(crate) struct Core {
    tick_ms: u32,
    stage: Stage,
    ensemble: Ensemble,
    conns: Conns,
    /// Servers that are wrong: they say something else.
    #[cfg(test)]
    plant: tests::Plant,
}

impl Core {
    /// Servers with empty disks, not started yet. `wall_ms` is the time at the start.
    pub(crate) fn new(options: &Options, entrances: Vec<Entrance>, record: Record, wall_ms: i64) -> Core {
        let servers = u8::try_from(entrances.len()).expect("there are few servers");
        let mut invariants =
            Invariants::new(Setup { voters: servers, tick_ms: options.tick_ms, ..Setup::default() });
        invariants.super_user(options.super_digest.as_deref().map(Into::into));
        let hosts = (0..servers)
            .zip(entrances)
            .map(|(id, entrance)| Machine::host(id, servers, options, entrance, wall_ms));
        Core {
            tick_ms: options.tick_ms,
            stage: Stage::new(invariants, record, options.observer.clone()),
            ensemble: Ensemble::new(hosts),
            conns: Conns::new(options.limits, wall_ms),
            #[cfg(test)]
            plant: Box::new(|_, _| {}),
        }
    }

    /// Starts all servers from their disks.
    pub(crate) fn start_all(&mut self, now: Nanos) {
        self.stage.now = now;
        self.ensemble.zab.ghost.remember();
        (0..self.ensemble.cluster.hosts.len() as u8).for_each(|id| self.start(id));
    }

    /// Starts a server from its disk.
    fn start(&mut self, id: u8) {
        let host = &mut self.ensemble.cluster.hosts[usize::from(id)];
        match host.start(host.own.now_ms(self.stage.now)) {
            Ok((server, mut out)) => {
                self.stage.invariants.started(id, server.tree().last_zxid(), server.tree());
                if server.peer().config().voters.len() > 1 {
                    self.ensemble.zab.ghost.started(server.peer());
                }
                self.stage.record.add_server(self.stage.now, self.ensemble.name_of(id), What::Started);
                self.outputs(id, &mut out);
                self.run();
            }
            Err(error) => {
                let what = format!("s{id} does not start: {error}");
                self.stage.invariants.report.broken(Invariant::AcknowledgedWritesSurvive, what);
            }
        }
    }

    /// A server serves from now on, or does no more.
    fn is_it_serving(&mut self, id: u8) {
        let Some(serves) = self.ensemble.host(id).serves_anew() else { return };
        self.ensemble.zab.is_due = true;
        if !serves {
            return self.stage.invariants.stopped(id);
        }
        let Some(server) = self.ensemble.cluster.server(id) else { return };
        self.stage.invariants.serves(id, server.tree());
        if self.ensemble.cluster.hosts.len() > 1 {
            return;
        }
        self.conns.start_alone(server.sessions());
    }

    /// Lets everything happen that follows.
    fn run(&mut self) {
        self.run_events();
        while let Some(conn) = self.stage.look_again.pop_front() {
            self.look(conn);
            self.run_events();
        }
        self.ensemble.check_ensemble(&mut self.stage);
    }

    /// Steps servers until nothing more happens.
    fn run_events(&mut self) {
        while let Some(addressed) = self.stage.events.pop_front() {
            if let Some(AddressedEvent { to, event, .. }) = self.ensemble.arrives(&mut self.stage, addressed)
            {
                self.step(to, event);
            }
        }
    }

    fn step(&mut self, id: u8, event: Event) {
        let host = &mut self.ensemble.cluster.hosts[usize::from(id)];
        if let Event::Synced { file, ticket } = &event {
            let length = host.disk.done(*file, *ticket);
            self.stage.invariants.synced(id, *file, length);
        }
        let (now_ms, ticks) = (host.own.now_ms(self.stage.now), event == Event::Timer(Timer::Sessions));
        let Some(server) = &mut host.server else { return };
        let mut out = Vec::new();
        let stepped = catch_unwind(AssertUnwindSafe(|| {
            server.step(Input { now_ms, event }, &mut out);
            #[cfg(test)]
            (self.plant)(id, &mut out);
        }));
        self.stage.invariants.report.tested(Invariant::NoPanic);
        match stepped {
            Ok(()) => {
                self.outputs(id, &mut out);
                if ticks {
                    self.stage.invariants.ticked(id, steady_ms(self.stage.now));
                }
            }
            Err(_) => {
                self.stage.invariants.report.broken(Invariant::NoPanic, format!("s{id} panicked"));
                self.crash(id);
            }
        }
        if std::mem::take(&mut self.ensemble.host(id).own.crash_now) {
            self.crash_mid_sync(id);
        }
    }

    /// Does what a server wants done.
    fn outputs(&mut self, id: u8, out: &mut Vec<Output>) {
        for output in out.drain(..) {
            if self.ensemble.is_ensemble() {
                self.ensemble.cluster.tell(id, &output, &mut self.ensemble.zab.ghost);
            }
            match output {
                Output::Send { conn, message } => {
                    self.conns.send(&mut self.stage, &mut self.ensemble, conn, message)
                }
                Output::Close { conn } => self.conns.closed_by_server(&mut self.stage, conn),
                Output::Disk(op) => self.ensemble.disk_op(&mut self.stage, id, op),
                Output::SetTimer { timer, after_ms } => {
                    self.ensemble.set_timer(&mut self.stage, id, timer, after_ms)
                }
                Output::Note(Note::Zab(note)) => self.ensemble.noted(&mut self.stage, id, note),
                Output::Note(Note::Applied(txn)) => {
                    if self.ensemble.applied(&mut self.stage, id, &txn) {
                        self.conns.applied(&mut self.stage, &mut self.ensemble, id, &txn);
                    }
                }
                Output::Note(Note::Restored(zxid)) => self.ensemble.restored(&mut self.stage, id, zxid),
                Output::Note(Note::Writes(_) | Note::Written) => {}
                Output::Notify { to, notification } => {
                    self.ensemble.notify(&mut self.stage, id, to.0, notification)
                }
                Output::SendPeer { link, message } => {
                    self.ensemble.send_to_peer(&mut self.stage, id, link, message)
                }
                Output::Dial { to } => self.ensemble.dial(&mut self.stage, id, to.0),
                Output::Hang { link } => self.ensemble.hang(&mut self.stage, id, link),
            }
        }
        self.is_it_serving(id);
    }

    /// A server's process is gone, with all its connections.
    fn crash(&mut self, id: u8) {
        let name = self.ensemble.name_of(id);
        let host = self.ensemble.host(id);
        // Torn and corrupt ends are the simulator's business; here they are cut clean.
        if host.crash(false, &mut |_| 0).is_none() {
            return;
        }
        host.own.crash();
        host.crash_at_sync_ms = None;
        self.stage.record.add_server(self.stage.now, name, What::Down);
        self.stage.events.retain(|addressed| addressed.to != id);
        self.stage.retain_later(|of, late| {
            let is_undone = of == Some(id);
            if let (true, Later::End { link }) = (is_undone, late) {
                link.turn(State::Aborted);
            }
            !is_undone
        });
        self.stage.invariants.stopped(id);
        self.conns.abort_all(&mut self.stage, id);
        // What the connections would have been told.
        self.stage.events.retain(|addressed| addressed.to != id);
        self.ensemble.break_links_of(&mut self.stage, id);
        self.ensemble.zab.is_due = true;
    }

    /// Does a fault, or says in a line why it cannot be done.
    pub(crate) fn fault(&mut self, now: Nanos, fault: &Fault) -> Result<(), String> {
        self.stage.now = now;
        Possible { ensemble: &self.ensemble, conns: &self.conns }.check(fault)?;
        self.stage.record.add_server(self.stage.now, None, What::Fault(Box::new(fault.clone())));
        match *fault {
            Fault::ServerCrash { server, down_ms, mid_sync } => {
                self.crash_or_arm(server, down_ms, mid_sync);
            }
            Fault::LeaderCrash { down_ms, mid_sync } => {
                self.crash_or_arm(self.ensemble.leading()?, down_ms, mid_sync);
            }
            Fault::ServerPause { server, for_ms } => self.pause(server, for_ms),
            Fault::LeaderPause { for_ms } => self.pause(self.ensemble.leading()?, for_ms),
            Fault::ServerStart { server } => {
                self.stage.retain_later(|_, late| !matches!(late, Later::Up { server: of } if *of == server));
                self.start(server);
            }
            Fault::ServerResume { server } => self.resume(server),
            Fault::Partition { ref cut, for_ms } => self.ensemble.partition(&mut self.stage, cut, for_ms),
            Fault::ServerLag { server, delay_ms, for_ms } => {
                self.ensemble.host(server).own.lag =
                    Lag { delay: delay_ms * MS, until: self.stage.now + for_ms * MS };
            }
            Fault::LinkBreak { between } => self.ensemble.break_links(&mut self.stage, between),
            Fault::Drop { session, when, what } => {
                for session in self.conns.targets(session)? {
                    match when {
                        When::Now => self.conns.strike(&mut self.stage, self.conns.conn_of(session)?, what),
                        When::NextRequest(kind) => self.conns.arm(session, Armed::Lose(kind, what))?,
                    }
                }
            }
            Fault::Expire { session } => {
                for session in self.conns.targets(session)? {
                    self.expire(session);
                }
            }
            Fault::ExpireOwner { reader } => {
                for session in self.conns.targets(reader)? {
                    self.conns.arm(session, Armed::ExpireOwner)?;
                }
            }
            Fault::SlowLink { session, delay_ms, for_ms } => {
                for session in self.conns.targets(session)? {
                    let id = self.conns.conn_of(session)?;
                    if let Some(conn) = self.conns.all.get_mut(&id) {
                        (conn.slow.delay, conn.slow.until) = (delay_ms * MS, self.stage.now + for_ms * MS);
                    }
                }
            }
            Fault::SlowSync { server, sync_ms, for_ms } => {
                let disk = &mut self.ensemble.host(server).own.slow_disk;
                *disk = SlowDisk { takes: sync_ms * MS, until: self.stage.now + for_ms * MS, ..*disk };
            }
            Fault::ClockJump { server, by_ms } => {
                self.ensemble.host(server).own.wall_ms += by_ms;
                self.stage.next(server, Event::ClockSet { by_ms });
            }
        }
        self.run();
        Ok(())
    }

    fn crash_or_arm(&mut self, server: u8, down_ms: u64, mid_sync: bool) {
        if mid_sync {
            self.ensemble.host(server).crash_at_sync_ms = Some(down_ms);
        } else {
            self.crash_for(server, down_ms);
        }
    }

    /// A server's process dies, and starts again after a while.
    fn crash_for(&mut self, server: u8, down_ms: u64) {
        self.crash(server);
        self.stage.later(self.stage.now + down_ms * MS, None, Later::Up { server });
    }

    /// It was to crash in the middle of a sync, which is now.
    fn crash_mid_sync(&mut self, server: u8) {
        if let Some(down_ms) = self.ensemble.host(server).crash_at_sync_ms.take() {
            self.crash_for(server, down_ms);
        }
    }

    /// Only a leader ends sessions; where there is none, nothing happens.
    fn expire(&mut self, session: SessionId) {
        let Some((leader, _)) = self.ensemble.cluster.leader() else { return };
        self.stage.invariants.forces(Some(session));
        self.stage.next(leader, Event::Expire { session });
        self.run_events();
        self.stage.invariants.forces(None);
    }

    fn pause(&mut self, server: u8, for_ms: u64) {
        self.ensemble.host(server).own.paused_until = Some(self.stage.now + for_ms * MS);
    }

    /// Looks at the frames of a connection, as far as their time has come.
    fn look(&mut self, id: ConnId) {
        let mark = self.conns.limits.stall_bytes();
        if self.is_held(id) {
            return;
        }
        while let Some(conn) = self.conns.all.get_mut(&id) {
            if conn.phase == ConnPhase::Connecting || matches!(conn.fate, Fate::Flying | Fate::Silent) {
                return;
            }
            if conn.held.is_empty() {
                if conn.fate == Fate::Dying {
                    self.conns.drop_conn(&mut self.stage, id, State::Aborted, "the answers are lost");
                }
                return;
            }
            if conn.slow.bytes_out >= mark || conn.link.stall(mark) {
                return;
            }
            let Some(frame) = conn.held.pop_front() else { return };
            if let Some((frame, ends)) = self.conns.strike_at(&mut self.stage, &self.ensemble, id, frame) {
                if let Some(owner) = ends {
                    self.expire(owner);
                }
                self.conns.frame(&mut self.stage, &mut self.ensemble, id, &frame);
            }
            self.run_events();
        }
    }

    /// An administrator's question, in place of the first frame. It is answered, and the connection ends.
    fn word(&mut self, id: ConnId, word: FourLetterWord) {
        let Some(conn) = self.conns.all.get_mut(&id) else { return };
        conn.stats.received += 1;
        let (server, link) = (conn.server, conn.link.clone());
        self.ensemble.host(server).own.stats.received += 1;
        let answer = words::answer(word, &self.show(self.stage.now).status(server));
        link.append(answer.as_bytes());
        match word {
            FourLetterWord::Srst => self.ensemble.host(server).own.stats = Totals::default(),
            FourLetterWord::Crst => {
                for conn in self.conns.all.values_mut().filter(|conn| conn.server == server) {
                    conn.stats = Stats { received: 0, sent: 0, latency: Latency::default(), ..conn.stats };
                }
            }
            _ => {}
        }
        self.ensemble.host(server).own.stats.sent += u64::from(!answer.is_empty());
        self.conns.drop_conn(&mut self.stage, id, State::Flushing, "answered");
        self.run();
    }

    /// A client's connection is gone.
    fn gone(&mut self, id: ConnId) {
        // What a fault has left on its way does not know.
        if let Some(conn) = self.conns.all.get(&id).filter(|conn| conn.fate != Fate::Flying) {
            self.ensemble.cluster.hosts[usize::from(conn.server)].own.stats.counts.lost += 1;
            self.conns.drop_conn(&mut self.stage, id, State::Flushing, "the client has gone");
            self.run();
        }
    }

    /// What has come is no frame, or one that is too long.
    fn malformed(&mut self, id: ConnId, why: &str) {
        self.conns.drop_conn(&mut self.stage, id, State::Flushing, why);
        self.run();
    }

    /// When something is to happen by itself.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.ensemble.next_due().into_iter().chain(self.stage.next_due()).min()
    }

    /// Lets happen what is due.
    pub(crate) fn pass(&mut self, now: Nanos) {
        self.stage.now = now;
        for id in 0..self.ensemble.cluster.hosts.len() as u8 {
            if self.ensemble.host(id).own.paused_until.is_some_and(|until| until <= now) {
                self.resume(id);
            }
        }
        while let Some((id, timer)) = self.ensemble.due_timer(self.stage.now, |_| true) {
            self.fire(id, timer);
        }
        while let Some(what) = self.stage.take_due() {
            self.happens(what);
        }
    }

    fn happens(&mut self, what: Later) {
        let goes_on = match what {
            Later::Up { server } => return self.start(server),
            Later::Happens { from, to, event } => {
                from.into_iter().for_each(|from| self.ensemble.landed(from, to));
                self.stage.next(to, event);
                true
            }
            Later::Dialled { from, to } => {
                self.ensemble.dialled(&mut self.stage, from, to);
                true
            }
            Later::PartitionEnds { cut } => {
                self.stage.events.extend(self.ensemble.cluster.mend(&cut));
                true
            }
            Later::Frames { conn, frames } => self.conns.here(&mut self.stage, conn, frames),
            Later::Out { conn, link, bytes } => self.conns.out(&mut self.stage, conn, &link, &bytes),
            Later::End { link } => return link.turn(State::Flushing),
            Later::Arrive { conn } => self.conns.arrive(&mut self.stage, conn),
        };
        if goes_on {
            self.run();
        }
    }

    /// A process goes on as if nothing had been. It finds its timers first, and a lot of what has come meanwhile.
    fn resume(&mut self, id: u8) {
        self.ensemble.host(id).own.paused_until = None;
        let is_of = |of: &u8| *of == id;
        while let Some((of, timer)) = self.ensemble.due_timer(self.stage.now, is_of) {
            self.fire(of, timer);
        }
        let conns = self.conns.all.iter().filter(|(_, conn)| conn.server == id);
        self.stage.look_again.extend(conns.map(|(id, _)| *id));
        self.run();
        // A crash takes what waits along.
        while let Some(held) = self.ensemble.host(id).own.held.pop_front() {
            match held {
                Held::Event(addressed) => {
                    self.stage.events.push_back(addressed);
                    self.run();
                }
                Held::Message(message) => self.take(self.stage.now, message),
            }
        }
    }

    fn fire(&mut self, id: u8, timer: Timer) {
        self.ensemble.host(id).own.timers.remove(&timer);
        self.stage.next(id, Event::Timer(timer));
        self.run();
    }

    /// Takes what a connection has to tell. What goes to a server whose process stands still waits; new connections
    /// and frames are taken all the same, and are not looked at.
    pub(crate) fn take(&mut self, now: Nanos, message: ToCore) {
        self.stage.now = now;
        let waits = match &message {
            ToCore::Word { conn, .. }
            | ToCore::Malformed { conn, .. }
            | ToCore::Late { conn }
            | ToCore::Gone { conn } => self.is_held(*conn).then_some(*conn),
            ToCore::Accepted { .. } | ToCore::Frames { .. } | ToCore::Room { .. } => None,
        };
        if let Some(server) = waits.and_then(|conn| self.conns.server_of(conn)) {
            self.ensemble.host(server).own.held.push_back(Held::Message(message));
            return;
        }
        match message {
            ToCore::Accepted { server, conn, link, peer } => {
                self.conns.accepted(&mut self.stage, &self.ensemble, server, conn, link, peer);
            }
            ToCore::Frames { conn, frames } => {
                if self.conns.frames(&mut self.stage, conn, frames) {
                    self.run();
                }
            }
            ToCore::Word { conn, word } => self.word(conn, word),
            ToCore::Malformed { conn, error } => self.malformed(conn, &error.to_string()),
            ToCore::Late { conn } => self.malformed(conn, "no first message in time"),
            // It reads again.
            ToCore::Room { conn } => {
                self.stage.look_again.push_back(conn);
                self.run();
            }
            ToCore::Gone { conn } => self.gone(conn),
        }
    }

    /// Whether the process of the server that a connection goes to stands still.
    pub(super) fn is_held(&self, conn: ConnId) -> bool {
        let server = self.conns.server_of(conn);
        server
            .is_some_and(|server| self.ensemble.cluster.hosts[usize::from(server)].own.paused_until.is_some())
    }

    /// What the invariants say so far.
    pub(crate) fn verdict(&mut self, now: Nanos) -> Verdict {
        // While it is down, there is no tree to be compared; it is when the server has recovered.
        let mut not_compared = Vec::new();
        for (id, host) in (0..).zip(&self.ensemble.cluster.hosts) {
            let Some(server) = host.server.as_ref().filter(|server| server.is_serving()) else {
                not_compared.push(id);
                continue;
            };
            let is_open = |session| server.sessions().find(session).is_some();
            self.stage.invariants.at_rest(id, server.tree(), is_open);
        }
        if self.ensemble.is_ensemble() {
            self.ensemble.zab.check(&self.ensemble.cluster.peers());
        }
        let zab =
            self.ensemble.is_ensemble().then_some((self.ensemble.zab.checks, &self.ensemble.zab.broken));
        let promises = self.stage.observer.as_ref().map(|observer| observer.judge(&self.show(now).moment()));
        let verdict = Verdict::new(&self.stage.invariants.report, zab, promises, self.stage.requests);
        Verdict { not_compared, ..verdict }
    }

    /// The last events.
    pub(crate) fn record(&self, n: usize) -> Vec<Value> {
        self.stage.record.last(n)
    }

    /// Ends it: connections break, and the record is written out.
    pub(crate) fn end(&mut self, now: Nanos) -> Verdict {
        self.stage.now = now;
        let verdict = self.verdict(now);
        (0..self.ensemble.cluster.hosts.len() as u8).for_each(|id| self.crash(id));
        Verdict { record_lacks: self.stage.record.close(), ..verdict }
    }

    /// The servers at a moment, to be told.
    pub(crate) fn show(&self, now: Nanos) -> Shown<'_> {
        let Core { stage, ensemble, conns, tick_ms, .. } = self;
        Shown { now, ensemble, conns, stage, tick_ms: *tick_ms }
    }

    /// How often each server has started, while it is up.
    pub(crate) fn up(&self) -> impl Iterator<Item = Option<u64>> {
        self.ensemble.cluster.hosts.iter().map(|host| host.server.is_some().then_some(host.starts.into()))
    }

    /// Whether all servers serve.
    pub(crate) fn all_serve(&self) -> bool {
        self.ensemble.all_serve()
    }

    /// Whether all processes have stopped for a while. Nothing is taken from connections then.
    pub(crate) fn is_paused(&self) -> bool {
        self.ensemble.cluster.hosts.iter().all(|host| host.own.paused_until.is_some())
    }
}

/// Whoever is connected learns that the servers are gone, however they went.
impl Drop for Core {
    fn drop(&mut self) {
        self.ensemble.cluster.hosts.iter().for_each(|host| host.own.gate.close());
        let late = self.stage.put_off().filter_map(|late| match late {
            Later::End { link } => Some(link.clone()),
            _ => None,
        });
        self.conns.links().chain(late).for_each(|link| link.turn(State::Aborted));
    }
}

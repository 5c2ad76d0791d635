//! Faults strike: at once, or as the next request of their kind arrives.

use super::Core;
use super::conn::{ConnPhase, Fate};
use super::event::{Armed, Later};
use super::host::{Lag, SlowDisk};
use crate::fault::{Fault, Loss, RequestKind, Target, When};
use crate::link::State;
use crate::record::What;
use crate::time::{MS, Nanos};
use std::collections::BTreeMap;
use std::sync::Arc;
use zk_api::SessionId;
use zk_proto::message::ConnId;
use zk_proto::server::Event;

/// So many faults may wait for one session's requests.
const MOST_ARMED: usize = 100;

/// Nothing takes longer than this, so that times can be added up.
const LONGEST_MS: u64 = 1000 * 60 * 60 * 24;

impl Core {
    /// Does a fault, or says in a line why it cannot be done.
    pub(crate) fn fault(&mut self, now: Nanos, fault: &Fault) -> Result<(), String> {
        self.is_possible(fault)?;
        self.check_targets(fault)?;
        self.record.add_server(now, None, What::Fault(Box::new(fault.clone())));
        match *fault {
            Fault::ServerCrash { server, down_ms, mid_sync } => {
                self.crash_or_arm(now, server, down_ms, mid_sync);
            }
            Fault::LeaderCrash { down_ms, mid_sync } => {
                self.crash_or_arm(now, self.leading()?, down_ms, mid_sync);
            }
            Fault::ServerPause { server, for_ms } => self.pause(now, server, for_ms),
            Fault::LeaderPause { for_ms } => self.pause(now, self.leading()?, for_ms),
            Fault::ServerStart { server } => {
                self.later.retain(|_, (_, late)| !matches!(late, Later::Up { server: of } if *of == server));
                self.start(now, server);
            }
            Fault::ServerResume { server } => self.resume(now, server),
            Fault::Partition { ref cut, for_ms } => self.partition(now, cut, for_ms),
            Fault::ServerLag { server, delay_ms, for_ms } => {
                self.host(server).own.lag = Lag { delay: delay_ms * MS, until: now + for_ms * MS };
            }
            Fault::LinkBreak { between } => self.break_links(now, between),
            Fault::Drop { session, when, what } => {
                for session in self.targets(session)? {
                    match when {
                        When::Now => self.strike(now, self.conn_of(session)?, what),
                        When::NextRequest(kind) => self.arm(session, Armed::Lose(kind, what))?,
                    }
                }
            }
            Fault::Expire { session } => {
                for session in self.targets(session)? {
                    self.expire(now, session);
                }
            }
            Fault::ExpireOwner { reader } => {
                for session in self.targets(reader)? {
                    self.arm(session, Armed::ExpireOwner)?;
                }
            }
            Fault::SlowLink { session, delay_ms, for_ms } => {
                for session in self.targets(session)? {
                    let id = self.conn_of(session)?;
                    if let Some(conn) = self.conns.get_mut(&id) {
                        (conn.slow.delay, conn.slow.until) = (delay_ms * MS, now + for_ms * MS);
                    }
                }
            }
            Fault::SlowSync { server, sync_ms, for_ms } => {
                let disk = &mut self.host(server).own.slow_disk;
                *disk = SlowDisk { takes: sync_ms * MS, until: now + for_ms * MS, ..*disk };
            }
            Fault::ClockJump { server, by_ms } => {
                self.host(server).own.wall_ms += by_ms;
                self.next(server, Event::ClockSet { by_ms });
            }
        }
        self.run(now);
        Ok(())
    }

    fn is_possible(&self, fault: &Fault) -> Result<(), String> {
        let times = match *fault {
            Fault::ServerCrash { down_ms, .. } | Fault::LeaderCrash { down_ms, .. } => {
                [("down-ms", down_ms), ("", 0)]
            }
            Fault::ServerPause { for_ms, .. }
            | Fault::LeaderPause { for_ms }
            | Fault::Partition { for_ms, .. }
            | Fault::Drop { what: Loss::InFlight { for_ms }, .. } => [("for-ms", for_ms), ("", 0)],
            Fault::SlowLink { delay_ms, for_ms, .. } | Fault::ServerLag { delay_ms, for_ms, .. } => {
                [("delay-ms", delay_ms), ("for-ms", for_ms)]
            }
            Fault::SlowSync { sync_ms, for_ms, .. } => [("sync-ms", sync_ms), ("for-ms", for_ms)],
            Fault::ClockJump { by_ms, .. } if by_ms.unsigned_abs() > LONGEST_MS => {
                return Err(format!("by-ms: {by_ms}; it must be from -{LONGEST_MS} to {LONGEST_MS}"));
            }
            Fault::ClockJump { .. }
            | Fault::ServerStart { .. }
            | Fault::ServerResume { .. }
            | Fault::LinkBreak { .. }
            | Fault::Drop { .. }
            | Fault::Expire { .. }
            | Fault::ExpireOwner { .. } => [("", 0); 2],
        };
        if let Some((name, ms)) = times.into_iter().find(|(_, ms)| *ms > LONGEST_MS) {
            return Err(format!("{name}: {ms}; it must be at most {LONGEST_MS}"));
        }
        self.check_server(fault)
    }

    /// Whether the servers that are meant are there, and can be struck now.
    fn check_server(&self, fault: &Fault) -> Result<(), String> {
        let strikes_processes = matches!(
            fault,
            Fault::ServerCrash { .. }
                | Fault::ServerPause { .. }
                | Fault::ServerResume { .. }
                | Fault::LeaderCrash { .. }
                | Fault::LeaderPause { .. }
        );
        let server = match *fault {
            Fault::ServerCrash { server, .. }
            | Fault::ServerPause { server, .. }
            | Fault::ServerStart { server }
            | Fault::ServerResume { server }
            | Fault::SlowSync { server, .. }
            | Fault::ClockJump { server, .. } => server,
            Fault::LeaderCrash { .. }
            | Fault::LeaderPause { .. }
            | Fault::Expire { .. }
            | Fault::ExpireOwner { .. } => self.leading()?,
            // A network works, or does not, without the servers.
            Fault::Partition { ref cut, .. } => {
                let several = self.check_several();
                return several.and_then(|()| cut.iter().try_for_each(|two| self.check_two("cut", two)));
            }
            Fault::LinkBreak { between } => return self.check_two("between", &between),
            Fault::ServerLag { server, .. } => return self.check_several().and(self.check_number(server)),
            // With several servers, connections may be to any of them.
            Fault::Drop { .. } | Fault::SlowLink { .. } if self.is_ensemble() => return Ok(()),
            Fault::Drop { .. } | Fault::SlowLink { .. } => 0,
        };
        self.check_number(server)?;
        let name = if self.is_ensemble() { format!("server {server}") } else { "the server".to_owned() };
        match (self.is_up(server), fault) {
            (true, Fault::ServerStart { .. }) => return Err(format!("{name} is up")),
            (false, Fault::ServerStart { .. }) => return Ok(()),
            (false, _) => return Err(format!("{name} is down")),
            (true, _) => {}
        }
        if self.cluster.hosts[usize::from(server)].own.paused_until.is_some() && !strikes_processes {
            return Err(format!("{name} is paused"));
        }
        Ok(())
    }

    /// Who leads. A server that is alone leads whenever it is up.
    fn leading(&self) -> Result<u8, String> {
        match self.cluster.leader() {
            Some((leader, _)) => Ok(leader),
            None if self.is_ensemble() => Err("no server leads now; GET /leader tells".into()),
            None => Ok(0),
        }
    }

    fn check_number(&self, server: u8) -> Result<(), String> {
        match self.cluster.hosts.len() - 1 {
            last if usize::from(server) <= last => Ok(()),
            0 => Err("server: expected 0; there is no other".into()),
            last => Err(format!("server: {server}; expected a number from 0 to {last}")),
        }
    }

    fn check_several(&self) -> Result<(), String> {
        match self.is_ensemble() {
            true => Ok(()),
            false => Err("there is one server, and nothing between servers".into()),
        }
    }

    fn check_two(&self, name: &str, [one, other]: &[u8; 2]) -> Result<(), String> {
        self.check_several()?;
        let last = self.cluster.hosts.len() - 1;
        match one != other && usize::from(*one.max(other)) <= last {
            true => Ok(()),
            false => Err(format!("{name}: [{one},{other}]; expected two numbers from 0 to {last}")),
        }
    }

    /// Whether whoever is meant is there.
    fn check_targets(&self, fault: &Fault) -> Result<(), String> {
        let (target, needs_connection) = match *fault {
            Fault::Drop { session, when, .. } => (session, when == When::Now),
            Fault::SlowLink { session, .. } => (session, true),
            Fault::Expire { session } => (session, false),
            Fault::ExpireOwner { reader } => (reader, false),
            Fault::ServerCrash { .. }
            | Fault::LeaderCrash { .. }
            | Fault::ServerPause { .. }
            | Fault::ServerStart { .. }
            | Fault::ServerResume { .. }
            | Fault::LeaderPause { .. }
            | Fault::Partition { .. }
            | Fault::ServerLag { .. }
            | Fault::LinkBreak { .. }
            | Fault::SlowSync { .. }
            | Fault::ClockJump { .. } => return Ok(()),
        };
        for session in self.targets(target)? {
            if needs_connection {
                self.conn_of(session)?;
            }
        }
        Ok(())
    }

    /// The sessions that are meant.
    fn targets(&self, target: Target) -> Result<Vec<SessionId>, String> {
        match target {
            // Those without a connection have nothing to lose; whoever wants them to end names them.
            Target::All => {
                // Its last connection is a session's own, as in `conn_of`.
                let of: BTreeMap<SessionId, ConnId> = self.connected().collect();
                let open = of.into_iter().filter(|(session, _)| self.sessions.contains_key(session));
                let by_conn: BTreeMap<ConnId, SessionId> =
                    open.map(|(session, conn)| (conn, session)).collect();
                Ok(by_conn.into_values().collect())
            }
            Target::Session(session) if self.sessions.contains_key(&session) => Ok(vec![session]),
            Target::Session(session) => Err(format!("{session}: no such session; GET /sessions lists them")),
        }
    }

    /// The sessions that have a connection, in order of their connections.
    pub(super) fn connected(&self) -> impl Iterator<Item = (SessionId, ConnId)> {
        self.conns.iter().filter_map(|(id, conn)| match conn.phase {
            ConnPhase::Connected(session) if session != SessionId::NONE => Some((session, *id)),
            ConnPhase::Connected(_) | ConnPhase::New | ConnPhase::Connecting => None,
        })
    }

    fn conn_of(&self, session: SessionId) -> Result<ConnId, String> {
        // Its last one: a server that it has left may not know yet.
        let found = self.connected().filter(|(of, _)| *of == session).last();
        found.map(|(_, id)| id).ok_or_else(|| format!("{session}: the session has no connection now"))
    }

    fn arm(&mut self, session: SessionId, armed: Armed) -> Result<(), String> {
        let waiting = self.armed.entry(session).or_default();
        if waiting.len() >= MOST_ARMED {
            return Err(format!("{session}: {MOST_ARMED} faults wait for its requests already"));
        }
        waiting.push(armed);
        Ok(())
    }

    fn pause(&mut self, now: Nanos, server: u8, for_ms: u64) {
        self.host(server).own.paused_until = Some(now + for_ms * MS);
    }

    fn crash_or_arm(&mut self, now: Nanos, server: u8, down_ms: u64, mid_sync: bool) {
        if mid_sync {
            self.host(server).crash_at_sync_ms = Some(down_ms);
        } else {
            self.crash_for(now, server, down_ms);
        }
    }

    /// A server's process dies, and starts again after a while.
    fn crash_for(&mut self, now: Nanos, server: u8, down_ms: u64) {
        self.crash(now, server);
        self.later(now + down_ms * MS, None, Later::Up { server });
    }

    /// It was to crash in the middle of a sync, which is now.
    pub(super) fn crash_mid_sync(&mut self, now: Nanos, server: u8) {
        if let Some(down_ms) = self.host(server).crash_at_sync_ms.take() {
            self.crash_for(now, server, down_ms);
        }
    }

    /// Only a leader ends sessions; where there is none, nothing happens.
    fn expire(&mut self, now: Nanos, session: SessionId) {
        let Some((leader, _)) = self.cluster.leader() else { return };
        self.invariants.forces(Some(session));
        self.next(leader, Event::Expire { session });
        self.run_events(now);
        self.invariants.forces(None);
    }

    /// A frame is about to be looked at: what has waited for it strikes. Gives the frame, unless it is lost or
    /// late by that.
    pub(super) fn strike_at(&mut self, now: Nanos, id: ConnId, frame: Vec<u8>) -> Option<Vec<u8>> {
        let conn = self.conns.get_mut(&id)?;
        let (ConnPhase::Connected(session), Fate::Well) = (conn.phase, conn.fate) else { return Some(frame) };
        let Some(waiting) = self.armed.get_mut(&session) else { return Some(frame) };
        let owner = self.cluster.server(conn.server).and_then(|server| {
            let path = path_read(&frame)?;
            server.tree().node(path)?.owner().filter(|owner| *owner != session)
        });
        let Some(at) = waiting.iter().position(|armed| match armed {
            Armed::Lose(kind, _) => kind.is(&frame),
            Armed::ExpireOwner => owner.is_some(),
        }) else {
            return Some(frame);
        };
        match (waiting.remove(at), owner) {
            (Armed::Lose(_, what), _) => {
                conn.held.push_front(frame);
                self.strike(now, id, what);
                // What is to arrive after all is looked at as what is held.
                None
            }
            (Armed::ExpireOwner, Some(owner)) => {
                self.expire(now, owner);
                Some(frame)
            }
            (Armed::ExpireOwner, None) => Some(frame),
        }
    }

    /// A connection drops.
    fn strike(&mut self, now: Nanos, id: ConnId, what: Loss) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        match what {
            Loss::RequestsLost => self.drop_conn(now, id, State::Aborted, "dropped, with its requests"),
            Loss::AnswersLost => {
                conn.link.turn(State::Aborted);
                conn.fate = Fate::Dying;
                self.look_again.push_back(id);
            }
            Loss::InFlight { for_ms } => {
                conn.link.turn(State::Aborted);
                conn.fate = Fate::Flying;
                let server = conn.server;
                self.later(now + for_ms * MS, Some(server), Later::Arrive { conn: id });
            }
            Loss::Silence => {
                conn.link.turn(State::Silent);
                self.silent.retain(|link| link.strong_count() > 0);
                self.silent.push(Arc::downgrade(&conn.link));
                conn.held.clear();
                conn.fate = Fate::Silent;
            }
        }
    }

    /// Requests that were under way arrive, on a connection that their client has lost.
    pub(super) fn arrive(&mut self, now: Nanos, id: ConnId) {
        if let Some(conn) = self.conns.get_mut(&id) {
            conn.fate = Fate::Dying;
            self.record.add(now, id, What::Arrived);
            self.look_again.push_back(id);
            self.run(now);
        }
    }
}

/// The path of a request that reads one, as it stands in its frame: xid, kind, length, path.
fn path_read(frame: &[u8]) -> Option<&str> {
    if !RequestKind::Read.is(frame) {
        return None;
    }
    let (length, rest) = frame.get(8..)?.split_first_chunk::<4>()?;
    let length = usize::try_from(i32::from_be_bytes(*length)).ok()?;
    std::str::from_utf8(rest.get(..length)?).ok()
}

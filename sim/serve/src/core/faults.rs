//! Faults strike: at once, or as the next request of their kind arrives.

use super::conns::{Fate, Stage};
use super::{Core, Later, MS, Nanos, SlowDisk};
use crate::fault::{Fault, Loss, RequestKind, Target, When};
use crate::link::State;
use crate::record::What;
use std::sync::Arc;
use zk_api::SessionId;
use zk_proto::message::ConnId;
use zk_proto::server::Event;

/// What waits for a session's next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Armed {
    /// Its connection drops.
    Lose(RequestKind, Loss),
    /// Whoever owns what it looks at ends.
    ExpireOwner,
}

/// So many faults may wait for one session's requests.
const MOST_ARMED: usize = 100;

/// Nothing takes longer than this, so that times can be added up.
const LONGEST_MS: u64 = 1000 * 60 * 60 * 24;

impl Core {
    /// Does a fault, or says in a line why it cannot be done.
    pub(crate) fn fault(&mut self, now: Nanos, fault: &Fault) -> Result<(), String> {
        self.is_possible(fault)?;
        self.check_targets(fault)?;
        self.record.add_fault(now, fault);
        match *fault {
            Fault::ServerCrash { down_ms, mid_sync: true, .. } => self.crash_at_sync_ms = Some(down_ms),
            Fault::ServerCrash { down_ms, mid_sync: false, .. } => self.crash_for(now, down_ms),
            Fault::ServerPause { for_ms } => self.paused_until = Some(now + for_ms * MS),
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
            Fault::SlowSync { sync_ms, for_ms, .. } => {
                self.slow_disk = SlowDisk { takes: sync_ms * MS, until: now + for_ms * MS, ..self.slow_disk };
            }
            Fault::ClockJump { by_ms } => {
                self.wall_ms += by_ms;
                self.events.push_back(Event::ClockSet { by_ms });
            }
        }
        self.run(now);
        Ok(())
    }

    fn is_possible(&self, fault: &Fault) -> Result<(), String> {
        if let Fault::ServerCrash { server: 1.., .. } | Fault::SlowSync { server: 1.., .. } = fault {
            return Err("server: expected 0; there is no other".into());
        }
        let times = match *fault {
            Fault::ServerCrash { down_ms, .. } => [("down-ms", down_ms), ("", 0)],
            Fault::ServerPause { for_ms } => [("for-ms", for_ms), ("", 0)],
            Fault::Drop { what: Loss::InFlight { for_ms }, .. } => [("for-ms", for_ms), ("", 0)],
            Fault::SlowLink { delay_ms, for_ms, .. } => [("delay-ms", delay_ms), ("for-ms", for_ms)],
            Fault::SlowSync { sync_ms, for_ms, .. } => [("sync-ms", sync_ms), ("for-ms", for_ms)],
            Fault::ClockJump { by_ms } if by_ms.unsigned_abs() > LONGEST_MS => {
                return Err(format!("by-ms: {by_ms}; it must be from -{LONGEST_MS} to {LONGEST_MS}"));
            }
            Fault::ClockJump { .. } => [("", 0); 2],
            Fault::Drop { .. } | Fault::Expire { .. } | Fault::ExpireOwner { .. } => [("", 0); 2],
        };
        if let Some((name, ms)) = times.into_iter().find(|(_, ms)| *ms > LONGEST_MS) {
            return Err(format!("{name}: {ms}; it must be at most {LONGEST_MS}"));
        }
        if !self.is_up() {
            return Err("the server is down".into());
        }
        if self.is_paused() && !matches!(fault, Fault::ServerCrash { .. } | Fault::ServerPause { .. }) {
            return Err("the server is paused".into());
        }
        Ok(())
    }

    /// Whether whoever is meant is there.
    fn check_targets(&self, fault: &Fault) -> Result<(), String> {
        let (target, needs_connection) = match *fault {
            Fault::Drop { session, when, .. } => (session, when == When::Now),
            Fault::SlowLink { session, .. } => (session, true),
            Fault::Expire { session } => (session, false),
            Fault::ExpireOwner { reader } => (reader, false),
            Fault::ServerCrash { .. }
            | Fault::ServerPause { .. }
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
            Target::All => Ok(self.connected().map(|(session, _)| session).collect()),
            Target::Session(session) if self.sessions.contains_key(&session) => Ok(vec![session]),
            Target::Session(session) => Err(format!("{session}: no such session; GET /sessions lists them")),
        }
    }

    /// The sessions that have a connection, in order of their connections.
    pub(super) fn connected(&self) -> impl Iterator<Item = (SessionId, ConnId)> {
        self.conns.iter().filter_map(|(id, conn)| match conn.stage {
            Stage::Connected(session) if session != SessionId::NONE => Some((session, *id)),
            Stage::Connected(_) | Stage::New | Stage::Connecting => None,
        })
    }

    fn conn_of(&self, session: SessionId) -> Result<ConnId, String> {
        let found = self.connected().find(|(of, _)| *of == session);
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

    /// The server's process dies, and starts again after a while.
    fn crash_for(&mut self, now: Nanos, down_ms: u64) {
        self.crash(now);
        self.later(now + down_ms * MS, Later::Up);
    }

    /// It was to crash in the middle of a sync, which is now.
    pub(super) fn crash_mid_sync(&mut self, now: Nanos) {
        if let Some(down_ms) = self.crash_at_sync_ms.take() {
            self.crash_for(now, down_ms);
        }
    }

    fn expire(&mut self, now: Nanos, session: SessionId) {
        self.watched.forces(Some(session));
        self.events.push_back(Event::Expire { session });
        self.run_events(now);
        self.watched.forces(None);
    }

    /// A frame is about to be looked at: what has waited for it strikes. Gives the frame, unless it is lost or
    /// late by that.
    pub(super) fn strike_at(&mut self, now: Nanos, id: ConnId, frame: Vec<u8>) -> Option<Vec<u8>> {
        let conn = self.conns.get_mut(&id)?;
        let (Stage::Connected(session), Fate::Well) = (conn.stage, conn.fate) else { return Some(frame) };
        let Some(waiting) = self.armed.get_mut(&session) else { return Some(frame) };
        let owner = self.server.as_ref().and_then(|server| {
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
                self.later(now + for_ms * MS, Later::Arrive { conn: id });
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

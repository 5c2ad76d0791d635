//! What is told of the servers: who leads, sessions, the verdict, the record.

use super::conn::{Conn, ConnPhase, Session};
use super::conns::Conns;
use super::ensemble::Ensemble;
use super::host::{Host, role};
use super::stage::Stage;
use crate::info::{Leadership, ServerInfo, SessionInfo};
use crate::observer::Moment;
use crate::time::{MS, Nanos, steady_ms};
use crate::words::{ConnSession, ConnStatus, Mode, Status};
use std::collections::BTreeMap;
use std::time::Duration;
use zk_api::{SessionId, Zxid};
use zk_proto::disk::FileId;
use zk_proto::message::ConnId;
use zk_proto::server::Server;
use zk_proto::watch::WatchKind;
use zk_proto::zab::Role;

/// The paths of all ephemerals at a server, by their owners.
fn ephemerals(server: &Server) -> BTreeMap<SessionId, Vec<String>> {
    let mut all: BTreeMap<SessionId, Vec<String>> = BTreeMap::new();
    for (path, node) in server.tree().nodes() {
        if let Some(owner) = node.owner() {
            all.entry(owner).or_default().push(path.to_string());
        }
    }
    all
}

/// The servers at a moment, to be told.
pub(crate) struct Shown<'c> {
    pub(super) now: Nanos,
    pub(super) ensemble: &'c Ensemble,
    pub(super) conns: &'c Conns,
    pub(super) stage: &'c Stage,
    pub(super) tick_ms: u32,
}

impl Shown<'_> {
    /// The open sessions, in order of their ids.
    pub(crate) fn sessions(&self) -> Vec<SessionInfo> {
        let conns: BTreeMap<SessionId, ConnId> = self.conns.connected().collect();
        let mut ephemerals = self.ensemble.newest().map(ephemerals).unwrap_or_default();
        let info = |(id, session): (&SessionId, &Session)| {
            let conn = conns.get(id);
            SessionInfo {
                id: id.to_string(),
                timeout_ms: session.timeout_ms,
                server: conn.and_then(|conn| self.ensemble.name_of(self.conns.server_of(*conn)?)),
                address: conn.and_then(|conn| Some(self.conns.all.get(conn)?.peer.to_string())),
                watches: conn.map_or(0, |conn| self.stage.invariants.watches_of(*conn)),
                ephemerals: ephemerals.remove(id).unwrap_or_default(),
            }
        };
        self.conns.sessions.iter().map(info).collect()
    }

    /// What whoever judges clients must know of the servers.
    pub(crate) fn moment(&self) -> Moment {
        let nodes = self.ensemble.newest().into_iter().flat_map(|server| server.tree().nodes());
        let connected = self.conns.connected().map(|(session, _)| session);
        Moment {
            still_for: Duration::from_nanos(self.now.saturating_sub(self.stage.moved)),
            all_serve: self.ensemble.all_serve(),
            connected: connected.filter(|session| self.conns.sessions.contains_key(session)).collect(),
            znodes: nodes.map(|(path, node)| (path.clone(), node.owner().unwrap_or_default())).collect(),
        }
    }

    /// Who leads, and what each server does.
    pub(crate) fn leadership(&self) -> Leadership {
        let servers =
            (0..).zip(&self.ensemble.cluster.hosts).map(|(id, host)| self.server_info(id, host)).collect();
        let (leader, epoch) = self.ensemble.cluster.leader().unzip();
        Leadership { leader, epoch, servers }
    }

    fn server_info(&self, id: u8, host: &Host) -> ServerInfo {
        let (role, epoch) = match role(host) {
            None => ("down", None),
            Some(Role::Leading { epoch }) if self.ensemble.is_ensemble() => ("leader", Some(epoch)),
            Some(Role::Leading { epoch }) => ("standalone", Some(epoch)),
            Some(Role::Following { epoch, .. }) => ("follower", Some(epoch)),
            Some(Role::Observing { epoch, .. }) => ("observer", Some(epoch)),
            Some(Role::Joining { .. }) => ("joining", None),
            Some(Role::Looking) => ("looking", None),
        };
        let zxid = host.server.as_ref().map(|server| format!("{:#x}", server.tree().last_zxid().to_i64()));
        let connections = self.conns.all.values().filter(|conn| conn.server == id).count();
        ServerInfo { id, role, epoch, zxid, is_paused: host.own.paused_until.is_some(), connections }
    }

    /// What a server is among the others, for an administrator.
    fn mode(&self, id: u8) -> Mode {
        let host = &self.ensemble.cluster.hosts[usize::from(id)];
        match role(host) {
            Some(Role::Leading { .. }) if !self.ensemble.is_ensemble() => Mode::Standalone,
            Some(Role::Leading { .. }) => {
                let links = host.server.as_ref().map(|server| server.peer().serving_links().len());
                Mode::Leader { servers: self.ensemble.cluster.hosts.len(), learners: links.unwrap_or(0) }
            }
            Some(Role::Following { .. } | Role::Observing { .. }) => {
                Mode::Follower { servers: self.ensemble.cluster.hosts.len() }
            }
            Some(Role::Looking | Role::Joining { .. }) | None => Mode::NotServing,
        }
    }

    /// A server at this moment, for an administrator.
    pub(super) fn status(&self, id: u8) -> Status {
        let host = &self.ensemble.cluster.hosts[usize::from(id)];
        let conns = || self.conns.all.values().filter(|conn| conn.server == id);
        let mut status = Status {
            id,
            mode: self.mode(id),
            now_ms: host.own.now_ms(self.now),
            uptime_ms: self.now / MS,
            tick_ms: self.tick_ms,
            port: host.own.port,
            outstanding: conns().map(|conn| conn.asked.len()).sum(),
            received: host.own.stats.received,
            sent: host.own.stats.sent,
            latency: host.own.stats.latency.millis(),
            counts: host.own.stats.counts,
            conns: conns().map(|conn| self.conn_status(conn)).collect(),
            ..Status::default()
        };
        for (file, bytes) in host.disk.sizes() {
            match file {
                FileId::Snapshot(_) => status.snapshot_bytes += bytes,
                FileId::Log(_) => status.log_bytes += bytes,
                FileId::AcceptedEpoch | FileId::CurrentEpoch => {}
            }
        }
        let Some(server) = &host.server else { return status };
        let tree = server.tree();
        let begun = match role(host) {
            Some(Role::Leading { epoch }) if self.ensemble.is_ensemble() => Zxid::new(epoch, 0),
            _ => Zxid::ZERO,
        };
        status.zxid = tree.last_zxid().max(begun).to_i64();
        status.open = server.sessions().iter().len();
        status.ephemerals = ephemerals(server);
        status.nodes = tree.node_count();
        status.data_bytes = tree.nodes().map(|(path, node)| path.len() + node.data.bytes().len()).sum();
        status.sessions =
            server.sessions_left_ms().map(|(id, left_ms)| (id, status.now_ms + left_ms)).collect();
        for (kind, path, id) in server.watches().iter() {
            status.watch_count += 1;
            let Some(ConnPhase::Connected(session)) = self.conns.all.get(&id).map(|conn| conn.phase) else {
                continue;
            };
            // As in ZooKeeper, those for children alone are not among those that are listed.
            if kind != WatchKind::Child {
                status.watches.entry(session).or_default().insert(path.to_string());
            }
        }
        status
    }

    fn conn_status(&self, conn: &Conn) -> ConnStatus {
        let stats = &conn.stats;
        let now_ms = self.ensemble.cluster.hosts[usize::from(conn.server)].own.now_ms(self.now);
        let at_ms = |at: Nanos| now_ms - steady_ms(self.now.saturating_sub(at));
        let session = match conn.phase {
            ConnPhase::Connected(id) => Some(ConnSession {
                id,
                last_op: stats.last_op,
                established_ms: at_ms(stats.begun),
                timeout_ms: self.conns.sessions.get(&id).map_or(0, |session| session.timeout_ms),
                last_xid: stats.last_xid,
                last_zxid: stats.last_zxid.to_i64(),
                last_answer_ms: stats.last_at / MS,
                latency: stats.latency.millis(),
            }),
            ConnPhase::New | ConnPhase::Connecting => None,
        };
        let (queued, received, sent) = (conn.asked.len(), stats.received, stats.sent);
        ConnStatus { peer: conn.peer, queued, received, sent, session }
    }
}

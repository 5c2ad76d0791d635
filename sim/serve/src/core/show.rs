//! What is told of the server: its sessions, the verdict, the record.

use super::conns::{Conn, Stage};
use super::{Core, MS, Nanos, steady_ms};
use crate::verdict::Verdict;
use crate::words::{ConnSession, ConnStatus, Status};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use zk_api::SessionId;
use zk_proto::message::ConnId;
use zk_proto::watch::WatchKind;

/// A session, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SessionInfo {
    /// Its id, in hexadecimal digits.
    pub id: String,
    /// The timeout granted last.
    pub timeout_ms: u32,
    /// Where its client is connected from; `None` while it is not.
    pub address: Option<String>,
    /// Watches on that connection.
    pub watches: usize,
    /// The paths of its ephemerals.
    pub ephemerals: Vec<String>,
}

impl Core {
    /// The open sessions, in order of their ids.
    pub(crate) fn sessions(&self) -> Vec<SessionInfo> {
        let conns: BTreeMap<SessionId, ConnId> = self.connected().collect();
        let mut ephemerals = self.ephemerals();
        let info = |(id, session): (&SessionId, &super::Session)| {
            let conn = conns.get(id);
            SessionInfo {
                id: id.to_string(),
                timeout_ms: session.timeout_ms,
                address: conn.and_then(|conn| Some(self.conns.get(conn)?.peer.to_string())),
                watches: conn.map_or(0, |conn| self.watched.watches_of(*conn)),
                ephemerals: ephemerals.remove(id).unwrap_or_default(),
            }
        };
        self.sessions.iter().map(info).collect()
    }

    /// The paths of all ephemerals, by their owners.
    pub(super) fn ephemerals(&self) -> BTreeMap<SessionId, Vec<String>> {
        let mut all: BTreeMap<SessionId, Vec<String>> = BTreeMap::new();
        let nodes = self.server.iter().flat_map(|server| server.tree().nodes());
        for (path, node) in nodes {
            if let Some(owner) = node.owner() {
                all.entry(owner).or_default().push(path.to_string());
            }
        }
        all
    }

    /// The server at this moment, for an administrator.
    pub(super) fn status(&self, now: Nanos) -> Status {
        let mut status = Status {
            now_ms: self.now_ms(now),
            uptime_ms: now / MS,
            tick_ms: self.config.tick_ms,
            port: self.port,
            outstanding: self.conns.values().map(|conn| conn.asked.len()).sum(),
            received: self.stats.received,
            sent: self.stats.sent,
            latency: self.stats.latency.millis(),
            counts: self.stats.counts,
            conns: self.conns.values().map(|conn| self.conn_status(now, conn)).collect(),
            ephemerals: self.ephemerals(),
            ..Status::default()
        };
        (status.snapshot_bytes, status.log_bytes) = self.disk.sizes();
        let Some(server) = &self.server else { return status };
        let tree = server.tree();
        status.zxid = tree.last_zxid().to_i64();
        status.nodes = tree.node_count();
        status.data_bytes = tree.nodes().map(|(path, node)| path.len() + node.data.bytes().len()).sum();
        status.sessions =
            server.sessions_left_ms().map(|(id, left_ms)| (id, status.now_ms + left_ms)).collect();
        for (kind, path, id) in server.watches().iter() {
            status.watch_count += 1;
            let Some(Stage::Connected(session)) = self.conns.get(&id).map(|conn| conn.stage) else {
                continue;
            };
            // As in ZooKeeper, those for children alone are not among those that are listed.
            if kind != WatchKind::Child {
                status.watches.entry(session).or_default().insert(path.to_string());
            }
        }
        status
    }

    fn conn_status(&self, now: Nanos, conn: &Conn) -> ConnStatus {
        let stats = &conn.stats;
        let at_ms = |at: Nanos| self.now_ms(now) - steady_ms(now.saturating_sub(at));
        let session = match conn.stage {
            Stage::Connected(id) => Some(ConnSession {
                id,
                last_op: stats.last_op,
                established_ms: at_ms(stats.begun),
                timeout_ms: self.sessions.get(&id).map_or(0, |session| session.timeout_ms),
                last_xid: stats.last_xid,
                last_zxid: stats.last_zxid.to_i64(),
                last_answer_ms: stats.last_at / MS,
                latency: stats.latency.millis(),
            }),
            Stage::New | Stage::Connecting => None,
        };
        let (queued, received, sent) = (conn.asked.len(), stats.received, stats.sent);
        ConnStatus { peer: conn.peer, queued, received, sent, session }
    }

    /// What the always-watched invariants say so far.
    pub(crate) fn verdict(&mut self) -> Verdict {
        // While it is down, there is no tree to be compared; it is when the server has recovered.
        if let Some(server) = self.server.as_ref().filter(|server| server.is_serving()) {
            let is_open = |session| server.sessions().find(session).is_some();
            self.watched.at_rest(super::ALONE, server.tree(), is_open);
        }
        Verdict::new(&self.watched.report, self.requests)
    }

    /// The last events.
    pub(crate) fn record(&self, n: usize) -> Vec<Value> {
        self.record.last(n)
    }

    /// Ends it: connections break, and the record is written out.
    pub(crate) fn end(&mut self, now: Nanos) -> Verdict {
        let verdict = self.verdict();
        self.crash(now);
        Verdict { record_lacks: self.record.close(), ..verdict }
    }
}

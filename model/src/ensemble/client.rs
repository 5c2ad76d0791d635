//! The client of whole servers: where it is connected, and what it was told.
//!
//! What it is sent it has at once, and what it asks for is there at once: it could have been slower, and asked later.

use super::config::Work;
use super::work::request;
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{Request, Zxid};
use zk_proto::message::{ConnId, ToClient, Xid};
use zk_proto::server::ServerId;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Client {
    /// Its connection, and whether the server has said that it is its session's.
    pub(super) at: Option<(ServerId, ConnId)>,
    /// The newest zxid that it was told of.
    pub(super) last: Zxid,
    /// What it has asked on this connection and has no answer to, in order.
    waiting: Vec<Xid>,
    /// Whether it has a watch that has not fired.
    watches: bool,
    /// The zxids of its requests that were answered.
    pub(super) answered: BTreeMap<Xid, Zxid>,
    /// What it was told and must not have been, by the invariants' names.
    pub(super) wrong: BTreeSet<(&'static str, String)>,
}

/// A client is never told of an older state than before.
pub(super) const NEVER_BACK: &str = "ZxidsNeverGoBack";
/// A client is answered in the order in which it asked.
pub(super) const IN_ORDER: &str = "AnsweredInOrder";
/// A watch that is there fires before the answer that shows the change, once.
pub(super) const WATCH_FIRST: &str = "WatchBeforeAnswer";

impl Client {
    /// It goes to another server.
    pub(super) fn connects(&mut self, server: ServerId, conn: ConnId) {
        self.hangs_up();
        self.at = Some((server, conn));
    }

    /// It has no connection any more; its watches are gone with it.
    pub(super) fn hangs_up(&mut self) {
        self.at = None;
        self.waiting.clear();
        self.watches = false;
    }

    /// It asks something on its connection.
    pub(super) fn asks(&mut self, xid: Xid) {
        self.waiting.push(xid);
    }

    /// It is sent something on its connection.
    pub(super) fn hears(&mut self, work: Work, message: &ToClient) {
        match message {
            ToClient::Connected(response) if response.timeout_ms == 0 => self.hangs_up(),
            ToClient::Connected(_) | ToClient::WatchesSet { .. } | ToClient::Pong { .. } => {}
            ToClient::Event { event, .. } => {
                if !self.watches {
                    self.wrong.insert((WATCH_FIRST, format!("it is told of {} without a watch", event.path)));
                }
                self.watches = false;
            }
            ToClient::Reply { xid, zxid, result } => {
                if *zxid < self.last {
                    let what = format!("it is told of {zxid}, and knows of {}", self.last);
                    self.wrong.insert((NEVER_BACK, what));
                }
                self.last = self.last.max(*zxid);
                if self.waiting.first() != Some(xid) {
                    self.wrong.insert((IN_ORDER, format!("number {} is answered before its turn", xid.0)));
                }
                self.waiting.retain(|waiting| waiting != xid);
                let asked = request(work, i64::from(xid.0));
                match &asked {
                    _ if result.is_err() => {}
                    Request::GetData { watch: true, .. } => self.watches = true,
                    Request::SetData { path, .. } if self.watches => {
                        let what = format!("{path} is changed, and it has heard of nothing");
                        self.wrong.insert((WATCH_FIRST, what));
                    }
                    _ => {}
                }
                if asked.is_write() {
                    self.answered.insert(*xid, *zxid);
                }
            }
        }
    }
}

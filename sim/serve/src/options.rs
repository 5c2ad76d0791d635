//! How the server is set up.

use crate::observer::Observer;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use zk_proto::order::NameOrder;
use zk_wire::REQUEST_BYTES_MAX;

/// How the server is set up. [`Options::default`] listens on a free port of the loopback interface.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many servers there are, 1 to 5. Several make an ensemble.
    pub servers: u8,
    /// Where clients connect. Port 0 stands for any that is free. One server may have several addresses; of
    /// several servers each has one.
    pub listen: Vec<SocketAddr>,
    /// Where faults can be requested; on the loopback interface. Port 0 stands for any that is free.
    pub control: SocketAddr,
    /// The length of a tick. Session timeouts are clamped to 2 to 20 of them.
    pub tick_ms: u32,
    /// How often empty containers and TTL znodes whose time is up are looked for.
    pub container_check_ms: u32,
    /// A client that proves this identity of the scheme `digest`, such as `super:D/InIHSb7yEEbrWz8b9l71RjZJU=`, may do
    /// everything.
    pub super_digest: Option<String>,
    /// In which order children and a session's ephemerals are listed.
    pub order: ListOrder,
    /// How many of the last events are kept to be shown.
    pub recent_events: usize,
    /// The file to which all events are written, as one line of JSON each.
    pub record: Option<PathBuf>,
    /// What a client may cost.
    pub limits: Limits,
    /// What judges what clients say they do; without it, their reports are refused.
    pub observer: Option<Arc<dyn Observer>>,
}

impl Options {
    /// `servers` servers, each on a free port of the loopback interface.
    pub fn ensemble(servers: u8) -> Options {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        Options { servers, listen: vec![any; servers.into()], ..Options::default() }
    }
}

impl Default for Options {
    fn default() -> Options {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        Options {
            servers: 1,
            listen: vec![any],
            control: any,
            tick_ms: 2000,
            container_check_ms: 60_000,
            super_digest: None,
            order: ListOrder::default(),
            recent_events: 10_000,
            record: None,
            limits: Limits::default(),
            observer: None,
        }
    }
}

/// In which order children and a session's ephemerals are listed. ZooKeeper promises none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListOrder {
    /// A different order in each run, so that clients that rely on one are found out.
    #[default]
    Any,
    /// The order of a real server that has never had other children there, for tests that expect that.
    Real,
}

impl ListOrder {
    /// In a run that begins at this time.
    pub(crate) fn of(self, wall_ms: i64) -> NameOrder {
        match self {
            ListOrder::Any => NameOrder::Salted(wall_ms.cast_unsigned()),
            ListOrder::Real => NameOrder::JavaHash,
        }
    }
}

/// What a client may cost, so that none of them can stall another or use up the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections in all. One more is closed as soon as it is accepted.
    pub connections: usize,
    /// Requests of one connection that are not answered. At this number, the connection is not read until some are
    /// answered.
    pub outstanding_requests: usize,
    /// The bytes of these requests, likewise. At least one request of the greatest length is taken.
    pub outstanding_bytes: usize,
    /// Watches of one connection. A connection that asks for more is closed.
    pub watches: usize,
    /// Bytes for a client that it has not read. If there are more than this when there is more to send, the connection
    /// is closed; one answer may have any length. Long before that, at an eighth of this, its requests are not looked
    /// at.
    pub unsent_bytes: usize,
    /// How long a connection may take for its first message.
    pub first_message: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 10_000,
            outstanding_requests: 1000,
            outstanding_bytes: 4 << 20,
            watches: 100_000,
            unsent_bytes: 16 << 20,
            first_message: Duration::from_secs(10),
        }
    }
}

impl Limits {
    /// The bytes of outstanding requests, of which there is room for one at least.
    pub(crate) fn outstanding_bytes(&self) -> usize {
        self.outstanding_bytes.max(REQUEST_BYTES_MAX as usize).min(u32::MAX as usize)
    }

    /// With so many unsent bytes, no further request of the connection is looked at: an answer that is not
    /// read shall not be followed by another.
    pub(crate) fn stall_bytes(&self) -> usize {
        (self.unsent_bytes / 8).max(1)
    }
}

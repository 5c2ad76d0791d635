//! One of the servers and the machine it runs on: its disk, its timers, its clock.

use super::conn::Latency;
use super::event::Held;
use crate::Options;
use crate::listener::{Entrance, Gate};
use crate::time::{Nanos, steady_ms};
use crate::words::Counts;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use zk_api::Zxid;
use zk_cluster::cluster;
use zk_proto::prepare::TreeConfig;
use zk_proto::server::{Server, ServerConfig, ServerId, Syncs, Timer};
use zk_proto::zab::{PeerConfig, Role};

/// How long a server waits for better votes when a quorum agrees, and how often one without a leader says so. All
/// are in one process, so that nothing but a fault is late.
const FINALIZE_MS: u32 = 50;
const NOTIFY_MS: u32 = 200;

/// A snapshot is begun after so many transactions, so that the log does not fill the memory.
pub(super) const SNAPSHOT_EVERY: u32 = 20_000;

/// So many znodes are written at a time, once in a millisecond.
const SNAPSHOT_STEP: u32 = 200;

/// A snapshot is begun after so many bytes of transactions as well.
const SNAPSHOT_BYTES: u64 = 64 << 20;

/// A server, and where it runs.
pub(super) type Host = cluster::Host<Machine>;

/// What is kept of a machine beside its disk.
#[derive(Default)]
pub(super) struct Machine {
    /// Where its clients connect.
    pub(super) port: u16,
    /// Its wall clock at the start, and by how much it was set since, in milliseconds.
    pub(super) wall_ms: i64,
    /// Its disk shows everything up to there in a snapshot, also after a crash.
    pub(super) shown: Zxid,
    /// Where its clients come in.
    pub(super) gate: Arc<Gate>,
    pub(super) slow_disk: SlowDisk,
    /// Whether the sync of its log in which it is to crash has begun in this step.
    pub(super) crash_now: bool,
    /// Its process has stopped, until then.
    pub(super) paused_until: Option<Nanos>,
    /// What has come to it meanwhile, in this order.
    pub(super) held: VecDeque<Held>,
    /// When its timers come.
    pub(super) timers: BTreeMap<Timer, Nanos>,
    /// What goes to and comes from other servers takes so much longer, until then.
    pub(super) lag: Lag,
    pub(super) stats: Totals,
}

/// How slow a disk is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlowDisk {
    /// A sync takes so long.
    pub(super) takes: Nanos,
    /// Until then.
    pub(super) until: Nanos,
    /// When the last operation will be done: the disk does them in order.
    pub(super) busy_until: Nanos,
}

/// By how much a server is late, and until when.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lag {
    pub(super) delay: Nanos,
    pub(super) until: Nanos,
}

/// What all connections to a server have done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) received: u64,
    pub(super) sent: u64,
    pub(super) latency: Latency,
    pub(super) counts: Counts,
}

impl Machine {
    /// One of `servers`, with an empty disk, not started yet. `wall_ms` is the time at the start.
    pub(super) fn host(id: u8, servers: u8, options: &Options, entrance: Entrance, wall_ms: i64) -> Host {
        let (port, gate) = entrance;
        let voters = (0..servers).map(ServerId);
        let zab = PeerConfig {
            finalize_ms: FINALIZE_MS,
            notify_ms: NOTIFY_MS,
            ..PeerConfig::for_server(ServerId(id), voters, [], options.tick_ms)
        };
        let config = ServerConfig {
            zab,
            tick_ms: options.tick_ms,
            snapshot_every: SNAPSHOT_EVERY,
            snapshot_step: SNAPSHOT_STEP,
            snapshots_kept: 1,
            snapshot_bytes: SNAPSHOT_BYTES,
            container_check_ms: options.container_check_ms,
            super_digest: options.super_digest.as_deref().map(Into::into),
            syncs: Syncs::AsShipped,
            // One order of children on all servers, as it was measured.
            tree: TreeConfig { extended_types: true, order: options.order.of(wall_ms) },
        };
        Host::new(config, Machine { port, wall_ms, gate, ..Machine::default() })
    }

    /// Its wall clock.
    pub(super) fn now_ms(&self, now: Nanos) -> i64 {
        self.wall_ms + steady_ms(now)
    }

    /// Its process is gone, with what it was at.
    pub(super) fn crash(&mut self) {
        self.gate.close();
        self.timers.clear();
        self.held.clear();
        self.paused_until = None;
        self.slow_disk.busy_until = 0;
    }

    /// By how much what goes to or comes from other servers is late.
    pub(super) fn delay(&self, now: Nanos) -> Nanos {
        if now < self.lag.until { self.lag.delay } else { 0 }
    }
}

/// Sees how far the snapshots on a server's disk go. One that a leader has sent is not there until it is durable.
pub(super) fn note_shown(host: &mut Host) {
    let peer = host.server.as_ref().map(Server::peer);
    if let Some(peer) = peer.filter(|peer| peer.history().base() <= peer.durable()) {
        host.own.shown = peer.history().base();
    }
}

/// Its part in the ensemble. `None` while it is down.
pub(super) fn role(host: &Host) -> Option<Role> {
    host.server.as_ref().map(|server| server.peer().role())
}

//! What the simulator keeps of a server's machine: its clock, its timers, and what is wrong with it.

use crate::choices::{Choices, Stream};
use crate::clock::{Clock, MS};
use crate::event::SimEvent;
use crate::scenario::{Scenario, SyncRule};
use std::collections::BTreeMap;
use zk_cluster::cluster::Host;
use zk_proto::order::NameOrder;
use zk_proto::prepare::TreeConfig;
use zk_proto::server::{ServerConfig, ServerId, Syncs, Timer};
use zk_proto::zab::PeerConfig;

/// A machine with a server.
pub type ServerHost = Host<Machine>;

/// What the simulator keeps of a machine.
#[derive(Default)]
pub struct Machine {
    /// When the last operation that was asked for will be done: the disk does them in order.
    disk_busy_until_ns: u64,
    pub clock: Clock,
    timers: BTreeMap<Timer, u32>,
    /// What has come to it while its process stands still, if it does.
    pub held_back: Option<Vec<SimEvent>>,
    /// How often it has stood still.
    pub pauses: u32,
    /// Messages from and to the other servers take so many times as long, until then.
    pub lag_factor: u32,
    pub lag_until_ns: u64,
    /// How long a sync takes, where it is slow.
    pub slow_sync_ns: Option<u64>,
    pub slow_until_ns: u64,
    /// Between two pieces of a snapshot it takes so many times as long as it wants.
    snapshot_pace: u32,
    /// It does not start from its disk.
    pub stays_out: bool,
    /// Its disk refuses the next operation, and the process is down for so long.
    pub fails_next_ms: Option<u64>,
    /// Its disk is full until then.
    pub full_until_ns: u64,
    pub full_down_ms: u64,
    /// Its process stops before it does anything more, and is down for so long.
    pub stops_ms: Option<u64>,
    /// What the crash leaves, if that is not drawn.
    pub crash_way: Option<u64>,
}

impl Machine {
    /// A machine with an empty disk and no server yet.
    pub fn host(id: u8, scenario: &Scenario, peer: &PeerConfig, choices: &mut Choices) -> ServerHost {
        let offset_ms = choices.below(Stream::Clock, id.into(), 4001) as i64 - 2000;
        // Few transactions between snapshots, and small steps, so that a run sees many.
        let snapshot_every =
            [20, 60, 200, 1000][choices.below(Stream::Swarm, 16 + u64::from(id), 4) as usize];
        let pace = if scenario.machines() > 1 { [1, 1, 20, 80] } else { [1; 4] };
        let snapshot_pace = pace[choices.below(Stream::Swarm, 48 + u64::from(id), 4) as usize];
        let config = ServerConfig {
            zab: PeerConfig { id: ServerId(id), ..peer.clone() },
            tick_ms: scenario.tick_ms,
            snapshot_every,
            snapshot_step: 3,
            snapshots_kept: 2,
            snapshot_bytes: 0,
            container_check_ms: scenario.upkeep_ms,
            super_digest: None,
            syncs: match scenario.sync {
                SyncRule::AsShipped => Syncs::AsShipped,
                SyncRule::AsksQuorum => Syncs::AskQuorum,
            },
            tree: TreeConfig {
                extended_types: true,
                order: NameOrder::Salted(choices.below(Stream::Swarm, 8, u64::MAX)),
            },
        };
        let clock = Clock::new(offset_ms);
        let machine = Machine { clock, lag_factor: 1, snapshot_pace, ..Machine::default() };
        Host::new(config, machine)
    }

    fn timer(&mut self, timer: Timer) -> &mut u32 {
        self.timers.entry(timer).or_insert(0)
    }

    /// Sets a timer: how long it really takes, and the count of its settings.
    pub fn set_timer(&mut self, timer: Timer, after_ms: u32) -> (u64, u32) {
        let pace = if timer == Timer::Snapshot { self.snapshot_pace } else { 1 };
        let after = self.clock.real_ns(u64::from(after_ms) * u64::from(pace) * MS);
        let count = self.timer(timer);
        *count += 1;
        (after, *count)
    }

    /// Whether a timer was not set anew since this setting.
    pub fn is_last_setting(&mut self, timer: Timer, generation: u32) -> bool {
        *self.timer(timer) == generation
    }

    /// The disk does one thing after the other: how long it takes to sync, and when it will be done.
    pub fn disk_syncs(&mut self, now: u64, usual_ns: u64) -> (u64, u64) {
        let takes = self.slow_sync_ns.unwrap_or(usual_ns);
        self.disk_busy_until_ns = self.disk_busy_until_ns.max(now) + takes;
        (takes, self.disk_busy_until_ns)
    }

    /// It crashes: forgets what its disk was at, its timers and what was held back.
    pub fn crash(&mut self) {
        self.disk_busy_until_ns = 0;
        self.timers.values_mut().for_each(|count| *count += 1);
        self.held_back = None;
    }
}

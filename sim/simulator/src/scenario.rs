//! A scenario: how large a run is and which faults it may have. Plain data, read from TOML.
//!
//! ```
//! use zk_simulator::Scenario;
//!
//! let scenario: Scenario = toml::from_str("clients = 7\n[faults]\ndrops = 2\n").expect("keys that there are");
//! assert_eq!((scenario.clients, scenario.faults.drops), (7, 2));
//! assert_eq!(scenario.validate(), Ok(()));
//! let error = Scenario { servers: 6, ..scenario }.validate().expect_err("too many");
//! assert_eq!(error.to_string(), "servers: 6; it must be from 1 to 5");
//! ```

use crate::fault::Schedule;
use crate::limits::{error, ordered, validate, within};
use crate::recorded::Recorded;
use crate::script::Script;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use zk_invariants::Setup;

pub use crate::limits::ScenarioError;

/// The most clients that a scenario can have; the reports are not made for more.
pub const MOST_CLIENTS: u16 = 1000;

/// How large a run is and which faults it may have. A seed draws a run from it.
///
/// All keys are optional in a file; unknown ones are errors. `validate` says which value is impossible.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scenario {
    /// The recipe or variant on trial, as `zoocheck list` names it.
    pub recipe: String,
    /// What the scenario is for, in one sentence.
    pub about: String,
    /// Client processes, 1 to 1,000.
    pub clients: u16,
    /// How many rounds each client runs.
    pub rounds: u8,
    /// Servers that vote, 1 to 5.
    pub servers: u8,
    /// Observers, which do not vote, up to 2. They only learn what is committed, and serve clients like any other
    /// server.
    pub observers: u8,
    /// Whom a leader asks before a sync is answered: `as-shipped` or `asks-quorum`.
    pub sync: SyncRule,
    /// A server's tick. Session timeouts are clamped to 2 to 20 of them.
    pub tick_ms: u32,
    /// How often servers look for empty containers and for znodes whose time to live is over.
    pub upkeep_ms: u32,
    /// With several servers: about this many clients know only one of them.
    pub one_server_clients: u16,
    /// The session timeout that clients ask for.
    pub session_timeout_ms: u32,
    /// The one-way latency of a message, least and most.
    pub latency_ms: [f64; 2],
    /// How long `Probe::work` takes, least and most; once everything has healed, a quarter of that span at most. It
    /// should be on the scale of the session timeout, or little is seen.
    pub work_ms: [u32; 2],
    /// How long faults go on before everything heals.
    pub fault_seconds: u32,
    /// How long the run may go on after healing before clients that are not finished are called stuck. It goes on for
    /// longer while somebody makes progress (is granted something, gives it back or ends something) at least once in a
    /// quarter of this time, and up to ten times as long if somebody who has something changes znodes or writes to the
    /// resource so often, or sleeps for more than a quarter of it, at once or in naps of a twelfth or more with nothing
    /// between them.
    pub heal_seconds: u32,
    /// Queue events a run may take before it is stopped as running away: this many for every 50 clients, and a
    /// tenth of that once somebody has asked the same thing again and again while nothing happened to it.
    pub step_budget: u64,
    /// The faults.
    pub faults: Faults,
    /// One run of it, in the place of those that seeds draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub run: Option<OneRun>,
}

/// Whom a leader asks before a sync is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SyncRule {
    /// Nobody, unless something is in flight, as in released versions of ZooKeeper: no recipe may rely on more.
    #[default]
    AsShipped,
    /// A quorum, so that a sync tells the truth: to see how far a recipe depends on that.
    AsksQuorum,
}

/// One run: its faults are given, and not drawn within the limits of [`Faults`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OneRun {
    /// What is not given is drawn from this seed.
    pub seed: u64,
    /// The promise or invariant that breaks in it.
    pub breaks: String,
    /// What broke it, in the words of the build that found it.
    pub what: String,
    /// The digest of the run in that build, as 16 hex digits.
    pub digest: String,
    /// That build.
    pub build: String,
    /// The faults.
    #[serde(default)]
    pub schedule: Schedule,
    /// The choices that were drawn in it, which no seed then draws.
    #[serde(default, skip_serializing_if = "Recorded::is_empty")]
    pub choices: Recorded,
    /// What happens, step by step, in the place of what time brings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
}

/// The most there may be of each fault in one run; a seed draws which are on and how many there are (swarm).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Faults {
    /// A server crashes: unsynced writes are lost or torn. It restarts after `server-down-ms`.
    pub server_crashes: u32,
    /// How long it stays down, least and most.
    pub server_down_ms: [u32; 2],
    /// Disk syncs become slow for a while.
    pub slow_syncs: u32,
    /// How long a slow sync takes, least and most.
    pub slow_sync_ms: [u32; 2],
    /// A client's connection drops: requests under way are lost, or answers are lost, or a request is still in
    /// flight and arrives later.
    pub drops: u32,
    /// A client's link becomes slow for a while.
    pub slow_links: u32,
    /// A server ends a session although its client is well.
    pub expiries: u32,
    /// A client process crashes, mostly while it holds something; it starts again with a new session.
    pub client_crashes: u32,
    /// A client process stops for a while, mostly while it holds something, then resumes as if nothing had happened.
    pub client_pauses: u32,
    /// How long a pause takes, least and most. Within this, those of holders take half to three times the session
    /// timeout.
    pub pause_ms: [u32; 2],
    /// Clocks run fast or slow by at most this many parts per thousand, and jump by at most `clock-jump-ms`.
    pub clock_skew_permille: u32,
    /// The furthest a clock may jump.
    pub clock_jump_ms: u32,
    /// With several servers: whoever leads crashes, and restarts after `server-down-ms`.
    pub leader_crashes: u32,
    /// With several servers: nothing gets through between some of them, in both directions or in one.
    pub partitions: u32,
    /// How long a partition lasts, least and most.
    pub partition_ms: [u32; 2],
    /// With several servers: a server's process stops, then resumes as if nothing had happened.
    pub server_pauses: u32,
    /// For how long, least and most.
    pub server_pause_ms: [u32; 2],
    /// With several servers: for a while, a server hears from the others late, and they from it.
    pub server_lags: u32,
    /// With several servers: the links between two of them break.
    pub link_breaks: u32,
    /// Bits of what is durable on a server's disk rot. Mostly a quorum of disks is spared.
    pub disk_rot: u32,
    /// A disk refuses to write or to sync; the server's process stops, and restarts after `server-down-ms`.
    pub disk_errors: u32,
    /// A disk is full for a while; the server's process stops whenever it is to write.
    pub disk_full: u32,
    /// A crash may leave any blocks of what was not synced, not only the first.
    pub disk_reorder: bool,
    /// Somebody asks for a client's session without its password. None by default.
    pub strangers: u32,
    /// An administrator deletes an ephemeral znode of a client, mostly while it holds something. None by default.
    pub admin_deletes: u32,
    /// An administrator sets the data of such a znode to `unlock`. None by default.
    pub admin_writes: u32,
}

impl Default for Scenario {
    /// Five clients of three servers and an observer for forty seconds of faults: a view can lag, a leader can fail,
    /// and a partition can cut a server off.
    fn default() -> Scenario {
        Scenario {
            recipe: "lock".to_owned(),
            about: "Five clients contend through all faults of clients, network, disks and servers."
                .to_owned(),
            clients: 5,
            rounds: 3,
            servers: 3,
            observers: 1,
            sync: SyncRule::AsShipped,
            one_server_clients: 0,
            tick_ms: 500,
            upkeep_ms: 60_000,
            session_timeout_ms: 3000,
            latency_ms: [0.1, 10.0],
            // A third longer than the session timeout: a pause or a slow holder must be able to outlive it.
            work_ms: [0, 4000],
            fault_seconds: 40,
            heal_seconds: 120,
            step_budget: 2_000_000,
            faults: Faults::default(),
            run: None,
        }
    }
}

impl Default for Faults {
    fn default() -> Faults {
        Faults {
            server_crashes: 2,
            server_down_ms: [50, 4000],
            slow_syncs: 2,
            slow_sync_ms: [20, 600],
            drops: 12,
            slow_links: 2,
            expiries: 3,
            client_crashes: 2,
            client_pauses: 3,
            pause_ms: [100, 9000],
            clock_skew_permille: 20,
            clock_jump_ms: 2000,
            leader_crashes: 2,
            partitions: 3,
            partition_ms: [100, 8000],
            server_pauses: 2,
            server_pause_ms: [100, 6000],
            server_lags: 2,
            link_breaks: 2,
            disk_rot: 0,
            disk_errors: 0,
            disk_full: 0,
            disk_reorder: false,
            strangers: 0,
            admin_deletes: 0,
            admin_writes: 0,
        }
    }
}

impl Faults {
    /// No fault at all.
    pub fn none() -> Faults {
        let (clock_skew_permille, clock_jump_ms, disk_reorder) = (0, 0, false);
        let mut none = Faults { clock_skew_permille, clock_jump_ms, disk_reorder, ..Faults::default() };
        none.counts().into_iter().for_each(|(_, most)| *most = 0);
        none
    }

    /// The keys that say how many faults of a kind there are at most.
    fn counts(&mut self) -> [(&'static str, &mut u32); 18] {
        [
            ("faults.server-crashes", &mut self.server_crashes),
            ("faults.slow-syncs", &mut self.slow_syncs),
            ("faults.drops", &mut self.drops),
            ("faults.slow-links", &mut self.slow_links),
            ("faults.expiries", &mut self.expiries),
            ("faults.client-crashes", &mut self.client_crashes),
            ("faults.client-pauses", &mut self.client_pauses),
            ("faults.leader-crashes", &mut self.leader_crashes),
            ("faults.partitions", &mut self.partitions),
            ("faults.server-pauses", &mut self.server_pauses),
            ("faults.server-lags", &mut self.server_lags),
            ("faults.link-breaks", &mut self.link_breaks),
            ("faults.disk-rot", &mut self.disk_rot),
            ("faults.disk-errors", &mut self.disk_errors),
            ("faults.disk-full", &mut self.disk_full),
            ("faults.strangers", &mut self.strangers),
            ("faults.admin-deletes", &mut self.admin_deletes),
            ("faults.admin-writes", &mut self.admin_writes),
        ]
    }
}

impl Scenario {
    /// Checks that every value is possible.
    pub fn validate(&self) -> Result<(), ScenarioError> {
        let s = self;
        within("clients", s.clients.into(), 1, MOST_CLIENTS.into())?;
        within("rounds", s.rounds.into(), 1, 100)?;
        within("servers", s.servers.into(), 1, 5)?;
        s.validate_observers()?;
        within("tick-ms", s.tick_ms.into(), 10, 10_000)?;
        within("upkeep-ms", s.upkeep_ms.into(), 10, 3_600_000)?;
        within("one-server-clients", s.one_server_clients.into(), 0, MOST_CLIENTS.into())?;
        within("session-timeout-ms", s.session_timeout_ms.into(), 1, 3_600_000)?;
        within("fault-seconds", s.fault_seconds.into(), 0, 86_400)?;
        within("heal-seconds", s.heal_seconds.into(), 1, 86_400)?;
        within("step-budget", s.step_budget.into(), 1, u64::MAX.into())?;
        let [least, most] = s.latency_ms;
        if !(least.is_finite() && most.is_finite() && least >= 0.001 && most <= 60_000.0) {
            return Err(error("latency-ms", format!("[{least}, {most}]; each must be from 0.001 to 60000")));
        }
        if least > most {
            return Err(error("latency-ms", format!("the least, {least}, is more than the most, {most}")));
        }
        let timeout_ms = s.granted_timeout_ms();
        if least * 20.0 > f64::from(timeout_ms) {
            let problem = format!("the least, {least}, is too long for sessions of {timeout_ms} ms to live");
            return Err(error("latency-ms", problem));
        }
        ordered("work-ms", s.work_ms, 600_000)?;
        if let Some(one) = &s.run {
            if one.script.is_some() && s.servers > 1 {
                return Err(error("servers", format!("{}; a script has one that leads", s.servers)));
            }
            validate(&one.schedule)?;
        }
        s.faults.validate()
    }

    /// The session timeout that servers grant: what is asked for, within 2 to 20 ticks.
    pub fn granted_timeout_ms(&self) -> u32 {
        self.session_timeout_ms.clamp(2 * self.tick_ms, 20 * self.tick_ms)
    }

    /// The faults that can happen here: those among servers take more than one.
    pub fn possible_faults(&self) -> Faults {
        match self.machines() {
            0 | 1 => Faults {
                leader_crashes: 0,
                partitions: 0,
                server_pauses: 0,
                server_lags: 0,
                link_breaks: 0,
                ..self.faults.clone()
            },
            _ => self.faults.clone(),
        }
    }

    /// All servers, those that vote and those that do not. The voters come first.
    pub fn machines(&self) -> u8 {
        self.servers + self.observers
    }

    /// The ensemble as the invariants have to know it.
    pub(crate) fn invariants(&self, last_counter: u32) -> Setup {
        let asks_quorum = self.sync == SyncRule::AsksQuorum;
        let Scenario { servers: voters, observers, tick_ms, .. } = *self;
        Setup { voters, observers, tick_ms, last_counter, asks_quorum }
    }

    /// How many transactions a client's server may be behind in the script that is given, if one is.
    pub fn lag(&self) -> u8 {
        self.script().map_or(0, |script| script.lag)
    }

    /// The script that is given, if one is.
    pub(crate) fn script(&self) -> Option<&Script> {
        self.run.as_ref()?.script.as_ref()
    }

    /// In such a script, the observers of a client; for anything that is no client, the server that leads.
    pub fn own_observers(&self, process: u16) -> Range<u8> {
        let (each, voters) = (u16::from(self.observers) / self.clients, u16::from(self.servers));
        let from = |process: u16| u8::try_from(voters + process * each).expect("observers for each client");
        match process < self.clients {
            true => from(process)..from(process + 1),
            false => 0..self.servers,
        }
    }

    fn validate_observers(&self) -> Result<(), ScenarioError> {
        if self.lag() == 0 {
            return within("observers", self.observers.into(), 0, 2);
        }
        within("servers", self.servers.into(), 1, 1)?;
        let divides = self.observers > 0 && u16::from(self.observers).is_multiple_of(self.clients);
        if divides && self.observers <= 250 {
            return Ok(());
        }
        let problem = format!(
            "{}; where views lag, a script takes as many for each of {} clients, 250 at most",
            self.observers, self.clients
        );
        Err(error("observers", problem))
    }

    /// `fault-seconds` in nanoseconds: when faults are over at the latest.
    pub(crate) fn faults_ns(&self) -> u64 {
        u64::from(self.fault_seconds) * 1_000_000_000
    }

    /// `heal-seconds` in nanoseconds.
    pub(crate) fn heal_ns(&self) -> u64 {
        u64::from(self.heal_seconds) * 1_000_000_000
    }

    /// How many events a run may take.
    pub(crate) fn events(&self) -> u64 {
        self.step_budget.saturating_mul(u64::from(self.clients).div_ceil(50))
    }

    /// The same scenario without any fault.
    pub fn without_faults(self) -> Scenario {
        Scenario { faults: Faults::none(), ..self }
    }
}

impl Faults {
    fn validate(&self) -> Result<(), ScenarioError> {
        let f = self;
        for (key, most) in self.clone().counts() {
            within(key, (*most).into(), 0, 1000)?;
        }
        ordered("faults.server-down-ms", f.server_down_ms, 600_000)?;
        ordered("faults.slow-sync-ms", f.slow_sync_ms, 600_000)?;
        ordered("faults.pause-ms", f.pause_ms, 600_000)?;
        ordered("faults.partition-ms", f.partition_ms, 600_000)?;
        ordered("faults.server-pause-ms", f.server_pause_ms, 600_000)?;
        within("faults.clock-skew-permille", f.clock_skew_permille.into(), 0, 500)?;
        within("faults.clock-jump-ms", f.clock_jump_ms.into(), 0, 86_400_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_possible() {
        assert_eq!(Scenario::default().validate(), Ok(()));
        assert_eq!(Scenario::default().without_faults().validate(), Ok(()));
    }

    #[test]
    fn an_impossible_value_is_named_with_its_key() {
        let says = |change: fn(&mut Scenario)| {
            let mut scenario = Scenario::default();
            change(&mut scenario);
            scenario.validate().unwrap_err().to_string()
        };
        assert_eq!(says(|s| s.clients = 1001), "clients: 1001; it must be from 1 to 1000");
        assert_eq!(says(|s| s.servers = 6), "servers: 6; it must be from 1 to 5");
        assert_eq!(says(|s| s.work_ms = [9, 3]), "work-ms: the least, 9, is more than the most, 3");
        assert_eq!(
            says(|s| s.latency_ms = [f64::NAN, 3.0]),
            "latency-ms: [NaN, 3]; each must be from 0.001 to 60000"
        );
        assert_eq!(
            says(|s| s.latency_ms = [200.0, 300.0]),
            "latency-ms: the least, 200, is too long for sessions of 3000 ms to live"
        );
        assert_eq!(says(|s| s.faults.drops = 1001), "faults.drops: 1001; it must be from 0 to 1000");
        assert_eq!(
            says(|s| s.faults.pause_ms = [2, 1]),
            "faults.pause-ms: the least, 2, is more than the most, 1"
        );
    }

    #[test]
    fn a_scenario_survives_a_file_and_an_unknown_key_is_an_error() {
        let text = toml::to_string(&Scenario::default()).unwrap();
        assert_eq!(toml::from_str::<Scenario>(&text).unwrap(), Scenario::default());
        let short: Scenario = toml::from_str("clients = 7\n[faults]\ndrops = 2\n").unwrap();
        assert_eq!((short.clients, short.faults.drops, short.rounds), (7, 2, 3));
        assert!(toml::from_str::<Scenario>("[faults]\ndorps = 2\n").is_err());
    }
}

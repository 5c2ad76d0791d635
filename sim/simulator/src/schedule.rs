//! How a seed draws the faults of one run.

use crate::choices::{Choices, Record, Stream};
use crate::scenario::Scenario;
use zk_harness::trial::ADMIN_DATA;

pub use crate::fault::{Fault, Loss, Node, RequestKind, Schedule, TimedFault, When};

/// The kinds of fault, as entities of [`Stream::Fault`]. Each is drawn by itself.
#[derive(Clone, Copy)]
enum Kind {
    ServerCrash,
    SlowSync,
    Drop,
    SlowLink,
    Expire,
    ClientCrash,
    ClientPause,
    ClockSkew,
    ClockJump,
    LeaderCrash,
    Partition,
    ServerPause,
    ServerLag,
    LinkBreak,
    DiskRot,
    DiskError,
    DiskFull,
    Stranger,
    AdminDelete = 32,
    AdminWrite,
}

impl Schedule {
    /// Draws a run's faults from a scenario: each kind is on in half of the seeds, and then as strong as drawn
    /// (swarm). No fault comes after `fault-seconds`.
    pub fn draw(scenario: &Scenario, seed: u64) -> Schedule {
        let mut draw =
            Draw { choices: Choices::new(seed, &Record::new(), false), scenario, kind: Kind::Drop };
        let mut faults = Vec::new();
        let f = &scenario.possible_faults();
        for (kind, most) in [
            (Kind::ServerCrash, f.server_crashes),
            (Kind::SlowSync, f.slow_syncs),
            (Kind::Drop, f.drops),
            (Kind::SlowLink, f.slow_links),
            (Kind::Expire, f.expiries),
            (Kind::ClientCrash, f.client_crashes),
            (Kind::ClientPause, f.client_pauses),
            (Kind::ClockSkew, 3 * u32::from(f.clock_skew_permille > 0)),
            (Kind::ClockJump, 2 * u32::from(f.clock_jump_ms > 0)),
            (Kind::LeaderCrash, f.leader_crashes),
            (Kind::Partition, f.partitions),
            (Kind::ServerPause, f.server_pauses),
            (Kind::ServerLag, f.server_lags),
            (Kind::LinkBreak, f.link_breaks),
            (Kind::DiskRot, f.disk_rot),
            (Kind::DiskError, f.disk_errors),
            (Kind::DiskFull, f.disk_full),
            (Kind::Stranger, f.strangers),
            (Kind::AdminDelete, f.admin_deletes),
            (Kind::AdminWrite, f.admin_writes),
        ] {
            draw.kind = kind;
            let on = draw.below(2) == 1;
            if !on || most == 0 {
                continue;
            }
            for _ in 0..draw.range(1, most.into()) {
                let at_ms = draw.time_ms();
                let fault = draw.fault();
                // What waits for a holder anyway waits from early on, or it finds nobody who holds any more.
                let at_ms = if fault.is_aimed_at_holder() { at_ms / 8 } else { at_ms };
                faults.push(TimedFault { at_ms, fault });
            }
        }
        // Stable, so that faults of one millisecond keep the order in which they were drawn.
        faults.sort_by_key(|f| f.at_ms);
        Schedule { faults }
    }
}

struct Draw<'a> {
    choices: Choices,
    scenario: &'a Scenario,
    kind: Kind,
}

impl Draw<'_> {
    fn below(&mut self, bound: u64) -> u64 {
        self.choices.below(Stream::Fault, self.kind as u64, bound)
    }

    fn range(&mut self, least: u64, most: u64) -> u64 {
        self.choices.range(Stream::Fault, self.kind as u64, least, most)
    }

    /// Early times are likelier: that is when all clients are still at it.
    fn time_ms(&mut self) -> u64 {
        let x = self.below(1000);
        let span = u64::from(self.scenario.fault_seconds) * 1000;
        // The cube of a number below one: half of all faults come in the first eighth.
        span * x * x * x / 1_000_000_000
    }

    fn client(&mut self) -> u16 {
        self.below(self.scenario.clients.into()) as u16
    }

    fn server(&mut self) -> u8 {
        self.below(self.scenario.machines().into()) as u8
    }

    fn between(&mut self, [least, most]: [u32; 2]) -> u64 {
        self.range(least.into(), most.into())
    }

    fn fault(&mut self) -> Fault {
        let f = self.scenario.faults.clone();
        match self.kind {
            Kind::ServerCrash => {
                let (server, down_ms) = (self.server(), self.between(f.server_down_ms));
                Fault::ServerCrash { server, down_ms, mid_sync: self.below(3) > 0 }
            }
            Kind::SlowSync => Fault::SlowSync {
                server: self.server(),
                sync_ms: self.between(f.slow_sync_ms),
                for_ms: self.range(500, 5000),
            },
            Kind::Drop => Fault::Drop { client: self.client(), when: self.when(), what: self.loss() },
            Kind::SlowLink => Fault::SlowLink {
                client: self.client(),
                factor: self.range(5, 100) as u32,
                for_ms: self.range(500, 5000),
            },
            Kind::Expire => match self.below(3) {
                0 => Fault::Expire { client: self.client() },
                _ => Fault::ExpireOwner { reader: self.client() },
            },
            Kind::ClientCrash => {
                let (client, restart_after_ms) = (self.client(), self.range(1, 5000));
                Fault::ClientCrash { client, when: self.aim(), restart_after_ms }
            }
            Kind::ClientPause => {
                let (client, when) = (self.client(), self.aim());
                let for_ms = if when == When::Now { self.between(f.pause_ms) } else { self.long_pause_ms() };
                Fault::ClientPause { client, when, for_ms }
            }
            Kind::ClockSkew => Fault::ClockSkew { node: self.node(), permille: self.permille() },
            Kind::ClockJump => Fault::ClockJump { node: self.node(), by_ms: self.jump() },
            Kind::LeaderCrash => {
                let down_ms = self.between(f.server_down_ms);
                Fault::LeaderCrash { down_ms, mid_sync: self.below(2) > 0 }
            }
            Kind::Partition => Fault::Partition { cut: self.cut(), for_ms: self.between(f.partition_ms) },
            Kind::ServerPause => match self.below(2) {
                0 => Fault::LeaderPause { for_ms: self.between(f.server_pause_ms) },
                _ => Fault::ServerPause { server: self.server(), for_ms: self.between(f.server_pause_ms) },
            },
            Kind::ServerLag => Fault::ServerLag {
                server: self.server(),
                factor: self.range(5, 200) as u32,
                for_ms: self.range(500, 8000),
            },
            Kind::LinkBreak => Fault::LinkBreak { between: self.two() },
            Kind::DiskRot => self.disk_rot(),
            Kind::DiskError => {
                Fault::DiskError { server: self.server(), down_ms: self.between(f.server_down_ms) }
            }
            Kind::DiskFull => Fault::DiskFull {
                server: self.server(),
                for_ms: self.range(500, 8000),
                down_ms: self.range(50, 1000),
            },
            Kind::Stranger => Fault::Stranger { client: self.client(), server: self.server() },
            Kind::AdminDelete => Fault::AdminDelete { client: self.client(), when: self.aim() },
            Kind::AdminWrite => {
                let (client, when) = (self.client(), self.aim());
                Fault::AdminWrite { client, when, data: ADMIN_DATA.to_owned() }
            }
        }
    }

    /// The ends of files are likelier: there a rotten record looks like one that was never finished.
    fn disk_rot(&mut self) -> Fault {
        let (server, file) = (self.server(), self.below(64) as u32);
        let at_permille = if self.below(3) == 0 { 1000 } else { self.below(1000) as u32 };
        let bytes = [1, 1, 8, 64][self.below(4) as usize];
        let spares = self.below(16) > 0;
        let finds_out = self.below(2) == 0;
        let down_ms = if finds_out { self.range(50, 2000) } else { 0 };
        Fault::DiskRot { server, file, at_permille, bytes, spares, down_ms }
    }

    /// Two servers.
    fn two(&mut self) -> [u8; 2] {
        let servers = self.scenario.machines();
        let one = self.server();
        let other = (one + 1 + self.below(u64::from(servers) - 1) as u8) % servers;
        [one, other]
    }

    /// Who does not reach whom: one server and the others, two sides, one direction alone, or two sides that one
    /// server still bridges.
    fn cut(&mut self) -> Vec<[u8; 2]> {
        let servers = self.scenario.machines();
        let shape = self.below(8);
        let alone = self.server();
        let sides: Vec<bool> = match shape {
            0..=3 => (0..servers).map(|server| server == alone).collect(),
            _ => {
                // Neither side is empty.
                let side = 1 + self.below((1 << servers) - 2);
                (0..servers).map(|server| side >> server & 1 == 1).collect()
            }
        };
        let bridge = (shape == 7).then_some(alone);
        let one_way = shape == 3 || shape == 6;
        let pairs = (0..servers).flat_map(|from| (0..servers).map(move |to| [from, to]));
        pairs
            .filter(|[from, to]| sides[usize::from(*from)] != sides[usize::from(*to)])
            .filter(|pair| bridge.is_none_or(|bridge| !pair.contains(&bridge)))
            .filter(|[from, _]| !one_way || sides[usize::from(*from)])
            .collect()
    }

    fn when(&mut self) -> When {
        match self.below(8) {
            0 => When::Now,
            1 => When::NextRequest(RequestKind::Any),
            2 => When::NextRequest(RequestKind::Read),
            3 | 4 => When::NextRequest(RequestKind::Delete),
            _ => When::NextRequest(RequestKind::Create),
        }
    }

    /// Who is struck at random mostly waits; the interesting case is whoever holds.
    fn aim(&mut self) -> When {
        match self.below(8) {
            0 => When::Now,
            1 | 2 => When::NextGrant,
            _ => When::NextWork,
        }
    }

    /// On the scale of the session timeout: from half of it to three times, as far as the scenario lets pauses
    /// be so long.
    fn long_pause_ms(&mut self) -> u64 {
        let timeout_ms = u64::from(self.scenario.granted_timeout_ms());
        let [least, most] = self.scenario.faults.pause_ms.map(u64::from);
        self.range((timeout_ms / 2).clamp(least, most), (3 * timeout_ms).clamp(least, most))
    }

    fn loss(&mut self) -> Loss {
        match self.below(8) {
            0 | 1 => Loss::RequestsLost,
            2 => Loss::Silence,
            3 | 4 => Loss::InFlight { for_ms: self.range(1, 1000) },
            _ => Loss::AnswersLost,
        }
    }

    fn node(&mut self) -> Node {
        match self.below(2) {
            0 => Node::Server(self.server()),
            _ => Node::Client(self.client()),
        }
    }

    fn permille(&mut self) -> i32 {
        let most = self.scenario.faults.clock_skew_permille;
        self.below(2 * u64::from(most) + 1) as i32 - most as i32
    }

    fn jump(&mut self) -> i64 {
        let most = self.scenario.faults.clock_jump_ms;
        self.below(2 * u64::from(most) + 1) as i64 - i64::from(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Faults;
    use std::collections::BTreeMap;

    #[test]
    fn a_seed_draws_the_same_schedule_again_and_another_one_another() {
        let scenario = Scenario::default();
        let all: Vec<Schedule> = (0..20).map(|seed| Schedule::draw(&scenario, seed)).collect();
        assert_eq!(all, (0..20).map(|seed| Schedule::draw(&scenario, seed)).collect::<Vec<_>>());
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn no_fault_is_drawn_that_the_scenario_does_not_have() {
        let scenario = Scenario { faults: Faults { drops: 4, ..Faults::none() }, ..Scenario::default() };
        for seed in 0..100 {
            let schedule = Schedule::draw(&scenario, seed);
            assert!(schedule.faults.len() <= 4);
            assert!(schedule.faults.iter().all(|f| matches!(f.fault, Fault::Drop { .. })));
        }
        assert_eq!(Schedule::draw(&scenario.without_faults(), 1), Schedule::default());
    }

    #[test]
    fn turning_one_kind_off_leaves_the_others_as_they_were() {
        let scenario = Scenario::default();
        let mut fewer = scenario.clone();
        fewer.faults.expiries = 0;
        for seed in 0..50 {
            let mut all = Schedule::draw(&scenario, seed).faults;
            all.retain(|f| !matches!(f.fault, Fault::Expire { .. } | Fault::ExpireOwner { .. }));
            assert_eq!(all, Schedule::draw(&fewer, seed).faults);
        }
    }

    #[test]
    fn a_hundred_seeds_draw_every_kind_in_time_and_in_order() {
        let scenario = Scenario::default();
        let mut kinds = BTreeMap::new();
        for seed in 0..100 {
            let schedule = Schedule::draw(&scenario, seed);
            assert!(schedule.faults.is_sorted_by_key(|f| f.at_ms));
            for fault in schedule.faults {
                assert!(fault.at_ms <= 40_000);
                let name = format!("{:?}", fault.fault);
                *kinds.entry(name.split(' ').next().unwrap().to_owned()).or_insert(0) += 1;
            }
        }
        assert_eq!(kinds.len(), 16, "{kinds:?}");
    }

    #[test]
    fn every_way_of_a_fault_is_drawn() {
        type Way = (&'static str, fn(&Fault) -> bool);
        let ways: [Way; 10] = [
            ("requests", |fault| matches!(fault, Fault::Drop { what: Loss::RequestsLost, .. })),
            ("answers", |fault| matches!(fault, Fault::Drop { what: Loss::AnswersLost, .. })),
            ("in flight", |fault| matches!(fault, Fault::Drop { what: Loss::InFlight { .. }, .. })),
            ("silence", |fault| matches!(fault, Fault::Drop { what: Loss::Silence, .. })),
            ("in a sync", |fault| matches!(fault, Fault::ServerCrash { mid_sync: true, .. })),
            ("leader in a sync", |fault| matches!(fault, Fault::LeaderCrash { mid_sync: true, .. })),
            ("owner", |fault| matches!(fault, Fault::ExpireOwner { .. })),
            ("crash at work", |fault| matches!(fault, Fault::ClientCrash { when: When::NextWork, .. })),
            ("pause at work", |fault| matches!(fault, Fault::ClientPause { when: When::NextWork, .. })),
            ("one way", |fault| match fault {
                Fault::Partition { cut, .. } => cut.iter().any(|[from, to]| !cut.contains(&[*to, *from])),
                _ => false,
            }),
        ];
        let all: Vec<_> =
            (0..200).flat_map(|seed| Schedule::draw(&Scenario::default(), seed).faults).collect();
        for (what, is_so) in ways {
            assert!(all.iter().any(|timed| is_so(&timed.fault)), "{what}");
        }
    }

    #[test]
    fn faults_among_servers_are_drawn_where_there_are_several() {
        let scenario = Scenario { observers: 0, ..Scenario::default() };
        let all: Vec<Fault> =
            (0..200).flat_map(|seed| Schedule::draw(&scenario, seed).faults).map(|f| f.fault).collect();
        let shapes: std::collections::BTreeSet<usize> = all
            .iter()
            .filter_map(|fault| match fault {
                Fault::Partition { cut, .. } => Some(cut.len()),
                _ => None,
            })
            .collect();
        // Both sides still reach each other by a bridge; one direction, or two servers with a third as a bridge;
        // both directions.
        assert_eq!(shapes, [0, 2, 4].into());
        for wanted in ["LeaderCrash", "LeaderPause", "ServerPause", "ServerLag", "LinkBreak"] {
            assert!(all.iter().any(|fault| format!("{fault:?}").starts_with(wanted)), "{wanted}");
        }
        let pairs = all.iter().filter_map(|fault| match fault {
            Fault::LinkBreak { between: [a, b] } => Some(a != b && *a < 3 && *b < 3),
            _ => None,
        });
        assert!(pairs.into_iter().all(|differ| differ));
    }

    #[test]
    fn a_schedule_survives_a_file() {
        let scenario = Scenario::default();
        for seed in 0..50 {
            let schedule = Schedule::draw(&scenario, seed);
            let text = toml::to_string(&schedule).unwrap();
            assert_eq!(toml::from_str::<Schedule>(&text).unwrap(), schedule, "{text}");
        }
        let text = "[[faults]]\nat-ms = 5\nfault = { client-crash = { client = 1, restart-after-ms = 7 } }\n";
        let fault = Fault::ClientCrash { client: 1, when: When::Now, restart_after_ms: 7 };
        assert_eq!(toml::from_str::<Schedule>(text).unwrap().faults, [TimedFault { at_ms: 5, fault }]);
    }

    #[test]
    fn aimed_pauses_are_on_the_scale_of_the_session_timeout_within_what_the_scenario_has() {
        let drawn = |pause_ms| {
            let faults = Faults { client_pauses: 5, pause_ms, ..Faults::none() };
            let scenario = Scenario { faults, ..Scenario::default() };
            let all = (0..200).flat_map(|seed| Schedule::draw(&scenario, seed).faults);
            let aimed = all.filter_map(|f| match f.fault {
                Fault::ClientPause { when: When::NextGrant | When::NextWork, for_ms, .. } => Some(for_ms),
                _ => None,
            });
            let lengths: Vec<u64> = aimed.collect();
            (*lengths.iter().min().unwrap(), *lengths.iter().max().unwrap())
        };
        let (least, most) = drawn([100, 20_000]);
        assert!((1500..2000).contains(&least) && (8500..=9000).contains(&most), "{least} {most}");
        assert_eq!(drawn([100, 1000]), (1000, 1000));
    }
}

//! The faults of a scenario file, done to a server that serves real clients.

use super::note;
use crate::BadInput;
use crate::run::read_scenario;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use zk_serve::{Fault, Loss, RequestKind, Running, SessionInfo, Target, When};
use zk_simulator::schedule as simulated;
use zk_simulator::{Scenario, Schedule};

/// Faults and their times, as a seed draws them.
#[derive(Debug)]
pub(super) struct Plan {
    /// The scenario's tick.
    pub(super) tick_ms: u32,
    /// How many servers it is for.
    pub(super) servers: u8,
    faults: Vec<(Duration, PlannedFault)>,
}

/// A fault with the number of the client that it strikes: the sessions that are there, in order of their opening.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PlannedFault {
    /// Strikes nobody in particular.
    Server(Fault),
    Drop(u16, When, Loss),
    Expire(u16),
    ExpireOwner(u16),
    SlowLink(u16, u64, u64),
    /// Not for a server to do.
    Not(&'static str),
}

impl Plan {
    /// Reads a scenario file and draws its faults, for so many servers, of which each votes.
    pub(super) fn read(
        file: Option<&str>,
        seed: Option<u64>,
        servers: Option<u8>,
    ) -> Result<Option<Plan>, BadInput> {
        let (Some(file), Some(seed)) = (file, seed) else { return Ok(None) };
        let scenario = read_scenario(file)?;
        let servers = servers.unwrap_or(scenario.servers);
        let scenario = Scenario { servers, observers: 0, ..scenario };
        let schedule = Schedule::draw(&scenario, seed);
        let faults = schedule.faults.iter().map(|timed| {
            let at = Duration::from_millis(timed.at_ms);
            (at, PlannedFault::new(&timed.fault, latency_ms(&scenario)))
        });
        let plan = Plan { tick_ms: scenario.tick_ms, servers, faults: faults.collect() };
        plan.tell_what_is_left_out();
        Ok(Some(plan))
    }

    fn tell_what_is_left_out(&self) {
        let mut left_out: BTreeMap<&str, u32> = BTreeMap::new();
        for (_, planned) in &self.faults {
            if let PlannedFault::Not(name) = planned {
                *left_out.entry(name).or_default() += 1;
            }
        }
        let names: Vec<String> = left_out.iter().map(|(name, times)| format!("{name} × {times}")).collect();
        if !names.is_empty() {
            note(format!("not applicable, as a server cannot do them: {}", names.join(", ")));
        }
    }

    /// Does each fault at its time.
    pub(super) async fn carry_out(self, running: &Running) {
        let start = Instant::now();
        for (at, planned) in self.faults {
            sleep_until(start + at).await;
            let sessions = sessions(running).await;
            let done = match planned.fault(&|client| sessions.get(usize::from(client)).copied()) {
                Ok(Some(fault)) => running.fault(fault).await.map_err(|error| error.to_string()),
                Ok(None) => Ok(()),
                Err(problem) => Err(problem),
            };
            if let Err(problem) = done {
                note(format!("at {} ms: nothing done: {problem}", at.as_millis()));
            }
        }
    }
}

/// A message takes so long in the scenario; here it takes no time worth mentioning.
pub(crate) fn latency_ms(scenario: &Scenario) -> f64 {
    (scenario.latency_ms[0] + scenario.latency_ms[1]) / 2.0
}

async fn sessions(running: &Running) -> Vec<Target> {
    targets(&running.sessions().await)
}

/// The open sessions, in order of their opening: that in which they are told, as ids count up.
fn targets(all: &[SessionInfo]) -> Vec<Target> {
    all.iter().filter_map(|session| serde_json::from_value(session.id.clone().into()).ok()).collect()
}

impl PlannedFault {
    pub(crate) fn new(fault: &simulated::Fault, latency_ms: f64) -> PlannedFault {
        let delay_ms = |factor: u32| (f64::from(factor) * latency_ms).round() as u64;
        match *fault {
            simulated::Fault::ServerCrash { server, down_ms, mid_sync } => {
                PlannedFault::Server(Fault::ServerCrash { server, down_ms, mid_sync })
            }
            simulated::Fault::SlowSync { server, sync_ms, for_ms } => {
                PlannedFault::Server(Fault::SlowSync { server, sync_ms, for_ms })
            }
            simulated::Fault::ClockJump { node: simulated::Node::Server(server), by_ms } => {
                PlannedFault::Server(Fault::ClockJump { server, by_ms })
            }
            simulated::Fault::Drop { client, when, what } => match moment(when) {
                Some(when) => PlannedFault::Drop(client, when, loss(what)),
                None => PlannedFault::Not("drop aimed at what only the recipe knows"),
            },
            simulated::Fault::SlowLink { client, factor, for_ms } => {
                PlannedFault::SlowLink(client, delay_ms(factor), for_ms)
            }
            simulated::Fault::Expire { client } => PlannedFault::Expire(client),
            simulated::Fault::ExpireOwner { reader } => PlannedFault::ExpireOwner(reader),
            simulated::Fault::ClientCrash { .. } => PlannedFault::Not("client-crash"),
            simulated::Fault::ClientPause { .. } => PlannedFault::Not("client-pause"),
            simulated::Fault::ClockSkew { .. } => PlannedFault::Not("clock-skew"),
            simulated::Fault::LeaderCrash { down_ms, mid_sync } => {
                PlannedFault::Server(Fault::LeaderCrash { down_ms, mid_sync })
            }
            simulated::Fault::LeaderPause { for_ms } => PlannedFault::Server(Fault::LeaderPause { for_ms }),
            simulated::Fault::ServerPause { server, for_ms } => {
                PlannedFault::Server(Fault::ServerPause { server, for_ms })
            }
            simulated::Fault::Partition { ref cut, for_ms } => {
                PlannedFault::Server(Fault::Partition { cut: cut.clone(), for_ms })
            }
            simulated::Fault::ServerLag { server, factor, for_ms } => {
                PlannedFault::Server(Fault::ServerLag { server, delay_ms: delay_ms(factor), for_ms })
            }
            simulated::Fault::LinkBreak { between } => PlannedFault::Server(Fault::LinkBreak { between }),
            simulated::Fault::ClockJump { node: simulated::Node::Client(_), .. } => {
                PlannedFault::Not("clock-jump of a client")
            }
            simulated::Fault::DiskRot { .. }
            | simulated::Fault::DiskError { .. }
            | simulated::Fault::DiskFull { .. } => PlannedFault::Not("fault of a disk"),
            simulated::Fault::Stranger { .. } => PlannedFault::Not("stranger"),
            simulated::Fault::AdminDelete { .. } => PlannedFault::Not("admin-delete"),
            simulated::Fault::AdminWrite { .. } => PlannedFault::Not("admin-write"),
        }
    }

    /// What is to be done, with these sessions; nothing where it is not for a server.
    pub(crate) fn fault(self, sessions: &dyn Fn(u16) -> Option<Target>) -> Result<Option<Fault>, String> {
        let session =
            |client: u16| sessions(client).ok_or_else(|| format!("client {client} has no session now"));
        Ok(Some(match self {
            PlannedFault::Server(fault) => fault,
            PlannedFault::Drop(client, when, what) => Fault::Drop { session: session(client)?, when, what },
            PlannedFault::Expire(client) => Fault::Expire { session: session(client)? },
            PlannedFault::ExpireOwner(client) => Fault::ExpireOwner { reader: session(client)? },
            PlannedFault::SlowLink(client, delay_ms, for_ms) => {
                Fault::SlowLink { session: session(client)?, delay_ms, for_ms }
            }
            PlannedFault::Not(_) => return Ok(None),
        }))
    }
}

/// When a drop strikes; `None` where it waits for what only a recipe knows.
fn moment(when: simulated::When) -> Option<When> {
    match when {
        simulated::When::Now => Some(When::Now),
        simulated::When::NextRequest(kind) => Some(When::NextRequest(match kind {
            simulated::RequestKind::Any => RequestKind::Any,
            simulated::RequestKind::Create => RequestKind::Create,
            simulated::RequestKind::Delete => RequestKind::Delete,
            simulated::RequestKind::Read => RequestKind::Read,
        })),
        simulated::When::NextGrant | simulated::When::NextWork => None,
    }
}

pub(crate) fn loss(what: simulated::Loss) -> Loss {
    match what {
        simulated::Loss::RequestsLost => Loss::RequestsLost,
        simulated::Loss::AnswersLost => Loss::AnswersLost,
        simulated::Loss::InFlight { for_ms } => Loss::InFlight { for_ms },
        simulated::Loss::Silence => Loss::Silence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_serve::api::SessionId;

    #[test]
    fn clients_are_the_sessions_in_order_of_their_opening() {
        let told = [5, 9].map(|id| SessionInfo {
            id: SessionId::new(id).to_string(),
            timeout_ms: 1000,
            address: None,
            server: None,
            watches: 0,
            ephemerals: Vec::new(),
        });
        let sessions = [Target::Session(SessionId::new(5)), Target::Session(SessionId::new(9))];
        assert_eq!(targets(&told), sessions);
        let planned = PlannedFault::new(&simulated::Fault::Expire { client: 1 }, 1.0);
        let of = |client| sessions.get(usize::from(client)).copied();
        assert_eq!(planned.fault(&of), Ok(Some(Fault::Expire { session: sessions[1] })));
        let planned = PlannedFault::new(&simulated::Fault::ExpireOwner { reader: 2 }, 1.0);
        assert_eq!(planned.fault(&of), Err("client 2 has no session now".into()));
    }

    #[test]
    fn a_fault_of_a_scenario_is_the_same_fault_of_the_server() {
        let session = Target::Session(SessionId::new(5));
        let drop = |when, what| simulated::Fault::Drop { client: 0, when, what };
        let at_create = simulated::When::NextRequest(simulated::RequestKind::Create);
        let flying = simulated::Loss::InFlight { for_ms: 7 };
        let node = simulated::Node::Server(0);
        for (drawn, json) in [
            (
                simulated::Fault::ServerCrash { server: 0, down_ms: 5, mid_sync: true },
                r#"{"server-crash":{"down-ms":5,"mid-sync":true}}"#,
            ),
            (
                simulated::Fault::ServerCrash { server: 0, down_ms: 5, mid_sync: false },
                r#"{"server-crash":{"down-ms":5}}"#,
            ),
            (
                drop(simulated::When::Now, simulated::Loss::RequestsLost),
                r#"{"drop":{"session":"0x5","what":"requests-lost"}}"#,
            ),
            (
                drop(at_create, simulated::Loss::AnswersLost),
                r#"{"drop":{"session":"0x5","what":"answers-lost","when":{"next-request":"create"}}}"#,
            ),
            (
                drop(simulated::When::Now, flying),
                r#"{"drop":{"session":"0x5","what":{"in-flight":{"for-ms":7}}}}"#,
            ),
            (
                drop(simulated::When::Now, simulated::Loss::Silence),
                r#"{"drop":{"session":"0x5","what":"silence"}}"#,
            ),
            (simulated::Fault::Expire { client: 0 }, r#"{"expire":{"session":"0x5"}}"#),
            (simulated::Fault::ExpireOwner { reader: 0 }, r#"{"expire-owner":{"reader":"0x5"}}"#),
            // A message that takes 3 ms there takes ten times as long.
            (
                simulated::Fault::SlowLink { client: 0, factor: 10, for_ms: 9 },
                r#"{"slow-link":{"session":"0x5","delay-ms":30,"for-ms":9}}"#,
            ),
            (
                simulated::Fault::SlowSync { server: 0, sync_ms: 8, for_ms: 9 },
                r#"{"slow-sync":{"sync-ms":8,"for-ms":9}}"#,
            ),
            (simulated::Fault::ClockJump { node, by_ms: -4 }, r#"{"clock-jump":{"by-ms":-4}}"#),
            (
                simulated::Fault::LeaderCrash { down_ms: 5, mid_sync: true },
                r#"{"leader-crash":{"down-ms":5,"mid-sync":true}}"#,
            ),
            (
                simulated::Fault::Partition { cut: vec![[0, 1], [2, 0]], for_ms: 9 },
                r#"{"partition":{"cut":[[0,1],[2,0]],"for-ms":9}}"#,
            ),
            (
                simulated::Fault::ServerPause { server: 2, for_ms: 9 },
                r#"{"server-pause":{"server":2,"for-ms":9}}"#,
            ),
            (simulated::Fault::LeaderPause { for_ms: 9 }, r#"{"leader-pause":{"for-ms":9}}"#),
            (
                simulated::Fault::ServerLag { server: 1, factor: 10, for_ms: 9 },
                r#"{"server-lag":{"server":1,"delay-ms":30,"for-ms":9}}"#,
            ),
            (simulated::Fault::LinkBreak { between: [1, 2] }, r#"{"link-break":{"between":[1,2]}}"#),
        ] {
            let expected: Fault = serde_json::from_str(json).expect(json);
            assert_eq!(
                PlannedFault::new(&drawn, 3.0).fault(&|_| Some(session)),
                Ok(Some(expected)),
                "{json}"
            );
        }
    }

    #[test]
    fn a_hundred_seeds_draw_every_fault_that_servers_can_do_and_none_is_forgotten() {
        let alone = ["ClockJump", "Drop", "Expire", "ExpireOwner", "ServerCrash", "SlowLink", "SlowSync"];
        let several = ["LeaderCrash", "LeaderPause", "LinkBreak", "Partition", "ServerLag", "ServerPause"];
        for (servers, more) in [(1, &several[..0]), (3, &several[..])] {
            let mut expected: Vec<&str> =
                alone.iter().chain(more).copied().chain(["not applicable"]).collect();
            expected.sort_unstable();
            assert_eq!(drawn(servers), expected);
        }
    }

    /// The names of what a hundred seeds draw for so many servers.
    fn drawn(servers: u8) -> Vec<String> {
        let mut scenario = Scenario { servers, observers: 0, ..Scenario::default() };
        if servers > 1 {
            let f = &mut scenario.faults;
            (f.leader_crashes, f.partitions, f.server_pauses, f.server_lags, f.link_breaks) = (2, 2, 4, 2, 2);
        }
        let mut names = BTreeMap::new();
        let session = Target::Session(SessionId::new(1));
        for seed in 0..100 {
            for timed in Schedule::draw(&scenario, seed).faults {
                let name = match PlannedFault::new(&timed.fault, 5.0)
                    .fault(&|_| Some(session))
                    .expect("all are there")
                {
                    Some(fault) => format!("{fault:?}").split(' ').next().unwrap_or_default().to_owned(),
                    None => "not applicable".to_owned(),
                };
                *names.entry(name).or_insert(0) += 1;
            }
        }
        names.into_keys().collect()
    }
}

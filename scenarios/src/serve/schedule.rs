//! The faults of a scenario file, done to a server that serves real clients.

use crate::BadInput;
use crate::output::note;
use crate::run::read_scenario;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use zk_serve::{Fault, Running, SessionInfo, Target, When};
use zk_simulator::schedule::{self as simulated, TimedFault};
use zk_simulator::{Fault as Drawn, Scenario, Schedule};

/// Faults and their times, as a seed draws them.
#[derive(Debug)]
pub(super) struct Plan {
    /// The scenario's tick.
    pub(super) tick_ms: u32,
    /// How many servers it is for.
    pub(super) servers: u8,
    latency_ms: f64,
    faults: Vec<TimedFault>,
}

/// Why a fault does not strike.
#[derive(Debug, PartialEq)]
pub(crate) enum NotStruck {
    /// It is not for a server to do.
    Never(&'static str),
    /// Whom it is to strike is not there now.
    Now(String),
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
        let faults = Schedule::draw(&scenario, seed).faults;
        let plan = Plan { tick_ms: scenario.tick_ms, servers, latency_ms: latency_ms(&scenario), faults };
        plan.tell_what_is_left_out();
        Ok(Some(plan))
    }

    fn tell_what_is_left_out(&self) {
        let mut left_out: BTreeMap<&str, u32> = BTreeMap::new();
        for timed in &self.faults {
            if let Err(NotStruck::Never(name)) = at_server(&timed.fault, self.latency_ms, &|_| None) {
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
        for TimedFault { at_ms, fault } in self.faults {
            sleep_until(start + Duration::from_millis(at_ms)).await;
            let sessions = targets(&running.sessions().await);
            let of = |client| sessions.get(usize::from(client)).copied();
            let done = match at_server(&fault, self.latency_ms, &of) {
                Ok(fault) => running.fault(fault).await.map_err(|error| error.to_string()),
                Err(NotStruck::Never(_)) => Ok(()),
                Err(NotStruck::Now(problem)) => Err(problem),
            };
            if let Err(problem) = done {
                note(format!("at {at_ms} ms: nothing done: {problem}"));
            }
        }
    }
}

/// A message takes so long in the scenario; here it takes no time worth mentioning.
pub(crate) fn latency_ms(scenario: &Scenario) -> f64 {
    (scenario.latency_ms[0] + scenario.latency_ms[1]) / 2.0
}

/// The open sessions, in order of their opening: that in which they are told, as ids count up.
fn targets(all: &[SessionInfo]) -> Vec<Target> {
    all.iter().filter_map(|session| serde_json::from_value(session.id.clone().into()).ok()).collect()
}

/// A fault as a server does it, to the clients of these sessions: those that are there, in order of their opening.
pub(crate) fn at_server(
    fault: &Drawn,
    latency_ms: f64,
    sessions: &dyn Fn(u16) -> Option<Target>,
) -> Result<Fault, NotStruck> {
    let delay_ms = |factor: u32| (f64::from(factor) * latency_ms).round() as u64;
    let session = |client: u16| {
        sessions(client).ok_or_else(|| NotStruck::Now(format!("client {client} has no session now")))
    };
    let never = |name| Err(NotStruck::Never(name));
    Ok(match *fault {
        Drawn::ServerCrash { server, down_ms, mid_sync } => Fault::ServerCrash { server, down_ms, mid_sync },
        Drawn::SlowSync { server, sync_ms, for_ms } => Fault::SlowSync { server, sync_ms, for_ms },
        Drawn::ClockJump { node: simulated::Node::Server(server), by_ms } => {
            Fault::ClockJump { server, by_ms }
        }
        Drawn::Drop { client, when, what } => match moment(when) {
            Some(when) => Fault::Drop { session: session(client)?, when, what },
            None => return never("drop aimed at what only the recipe knows"),
        },
        Drawn::SlowLink { client, factor, for_ms } => {
            Fault::SlowLink { session: session(client)?, delay_ms: delay_ms(factor), for_ms }
        }
        Drawn::Expire { client } => Fault::Expire { session: session(client)? },
        Drawn::ExpireOwner { reader } => Fault::ExpireOwner { reader: session(reader)? },
        Drawn::ClientCrash { .. } => return never("client-crash"),
        Drawn::ClientPause { .. } => return never("client-pause"),
        Drawn::ClockSkew { .. } => return never("clock-skew"),
        Drawn::LeaderCrash { down_ms, mid_sync } => Fault::LeaderCrash { down_ms, mid_sync },
        Drawn::LeaderPause { for_ms } => Fault::LeaderPause { for_ms },
        Drawn::ServerPause { server, for_ms } => Fault::ServerPause { server, for_ms },
        Drawn::Partition { ref cut, for_ms } => Fault::Partition { cut: cut.clone(), for_ms },
        Drawn::ServerLag { server, factor, for_ms } => {
            Fault::ServerLag { server, delay_ms: delay_ms(factor), for_ms }
        }
        Drawn::LinkBreak { between } => Fault::LinkBreak { between },
        Drawn::ClockJump { node: simulated::Node::Client(_), .. } => return never("clock-jump of a client"),
        Drawn::DiskRot { .. } | Drawn::DiskError { .. } | Drawn::DiskFull { .. } => {
            return never("fault of a disk");
        }
        Drawn::Stranger { .. } => return never("stranger"),
        Drawn::AdminDelete { .. } => return never("admin-delete"),
        Drawn::AdminWrite { .. } => return never("admin-write"),
    })
}

/// When a drop strikes; `None` where it waits for what only a recipe knows.
fn moment(when: simulated::When) -> Option<When> {
    match when {
        simulated::When::Now => Some(When::Now),
        simulated::When::NextRequest(kind) => Some(When::NextRequest(kind)),
        simulated::When::NextGrant | simulated::When::NextWork => None,
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
        let of = |client| sessions.get(usize::from(client)).copied();
        let struck = at_server(&Drawn::Expire { client: 1 }, 1.0, &of);
        assert_eq!(struck, Ok(Fault::Expire { session: sessions[1] }));
        let struck = at_server(&Drawn::ExpireOwner { reader: 2 }, 1.0, &of);
        assert_eq!(struck, Err(NotStruck::Now("client 2 has no session now".into())));
    }

    #[test]
    fn a_fault_of_a_scenario_is_the_same_fault_of_the_server() {
        let session = Target::Session(SessionId::new(5));
        let drop = |when, what| Drawn::Drop { client: 0, when, what };
        let at_create = simulated::When::NextRequest(simulated::RequestKind::Create);
        let flying = simulated::Loss::InFlight { for_ms: 7 };
        let node = simulated::Node::Server(0);
        for (drawn, json) in [
            (
                Drawn::ServerCrash { server: 0, down_ms: 5, mid_sync: true },
                r#"{"server-crash":{"down-ms":5,"mid-sync":true}}"#,
            ),
            (
                Drawn::ServerCrash { server: 0, down_ms: 5, mid_sync: false },
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
            (Drawn::Expire { client: 0 }, r#"{"expire":{"session":"0x5"}}"#),
            (Drawn::ExpireOwner { reader: 0 }, r#"{"expire-owner":{"reader":"0x5"}}"#),
            // A message that takes 3 ms there takes ten times as long.
            (
                Drawn::SlowLink { client: 0, factor: 10, for_ms: 9 },
                r#"{"slow-link":{"session":"0x5","delay-ms":30,"for-ms":9}}"#,
            ),
            (
                Drawn::SlowSync { server: 0, sync_ms: 8, for_ms: 9 },
                r#"{"slow-sync":{"sync-ms":8,"for-ms":9}}"#,
            ),
            (Drawn::ClockJump { node, by_ms: -4 }, r#"{"clock-jump":{"by-ms":-4}}"#),
            (
                Drawn::LeaderCrash { down_ms: 5, mid_sync: true },
                r#"{"leader-crash":{"down-ms":5,"mid-sync":true}}"#,
            ),
            (
                Drawn::Partition { cut: vec![[0, 1], [2, 0]], for_ms: 9 },
                r#"{"partition":{"cut":[[0,1],[2,0]],"for-ms":9}}"#,
            ),
            (Drawn::ServerPause { server: 2, for_ms: 9 }, r#"{"server-pause":{"server":2,"for-ms":9}}"#),
            (Drawn::LeaderPause { for_ms: 9 }, r#"{"leader-pause":{"for-ms":9}}"#),
            (
                Drawn::ServerLag { server: 1, factor: 10, for_ms: 9 },
                r#"{"server-lag":{"server":1,"delay-ms":30,"for-ms":9}}"#,
            ),
            (Drawn::LinkBreak { between: [1, 2] }, r#"{"link-break":{"between":[1,2]}}"#),
        ] {
            let expected: Fault = serde_json::from_str(json).expect(json);
            assert_eq!(at_server(&drawn, 3.0, &|_| Some(session)), Ok(expected), "{json}");
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
                let name = match at_server(&timed.fault, 5.0, &|_| Some(session)) {
                    Ok(fault) => format!("{fault:?}").split(' ').next().unwrap_or_default().to_owned(),
                    Err(NotStruck::Never(_)) => "not applicable".to_owned(),
                    Err(NotStruck::Now(problem)) => panic!("all are there: {problem}"),
                };
                *names.entry(name).or_insert(0) += 1;
            }
        }
        names.into_keys().collect()
    }
}

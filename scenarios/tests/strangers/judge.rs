//! What the strangers' trials have in common: how they wait, and how they are judged.

use zoocheck::api::{Error, ErrorCode, KeeperState, Outcome, Reply, Text, ZPath, ZooKeeper};
use zoocheck::reports::{CheckedPromise, Judgement};
use zoocheck::trials::event::{ActorId, End, Event, Fact, Observation};
use zoocheck::trials::promise::{Finding, Violation};
use zoocheck::trials::trial::{About, Bounds, Reductions, Trial};
use zoocheck::{CheckConfig, Engine, Faults, Scenario, Verdict, Zoo};

/// A trial of nobody's catalogue.
pub fn about(name: &'static str, summary: &'static str, bounds: Bounds) -> About {
    About { name, summary, source: "a stranger", breaks: None, bounds, reductions: Reductions::default() }
}

/// A path that is one.
pub fn path(text: &str) -> ZPath {
    ZPath::parse(text).expect("a path")
}

/// Lets an error pass if the request may be tried again, once there is a connection.
pub async fn passing(zk: &impl ZooKeeper, error: Error) -> Result<(), End> {
    if error.is_session_over() {
        return Err(End::SessionLost);
    }
    if error.outcome() != Outcome::Unknown && error.code != ErrorCode::SessionMoved {
        return Err(End::Failed);
    }
    loop {
        let change = zk.state_change();
        match zk.state() {
            KeeperState::SyncConnected => return Ok(()),
            KeeperState::Disconnected => {
                change.await;
            }
            KeeperState::AuthFailed | KeeperState::Expired | KeeperState::Closed => {
                return Err(End::SessionLost);
            }
        }
    }
}

/// Asks until there is an answer. For what may be done twice.
pub async fn insist<T>(zk: &impl ZooKeeper, ask: impl Fn() -> Reply<T>) -> Result<T, End> {
    loop {
        match ask().await {
            Ok(answer) => return Ok(answer),
            Err(error) => passing(zk, error).await?,
        }
    }
}

/// Deletes a path that is nobody else's, until it is gone.
pub async fn remove(zk: &impl ZooKeeper, path: &ZPath) -> Result<(), End> {
    loop {
        match zk.delete(path, -1).await {
            Ok(()) => return Ok(()),
            Err(error) if error.code == ErrorCode::NoNode => return Ok(()),
            Err(error) => passing(zk, error).await?,
        }
    }
}

/// The children, first come first.
pub fn by_number(mut names: Vec<Text>) -> Vec<Text> {
    names.sort_by_key(|name| zoocheck::api::sequence_of(name));
    names
}

/// A broken promise without an excuse.
pub fn broken(what: String) -> Finding {
    Finding::Broken(Violation { what, excuse: None })
}

/// The note in an event: who, what, about what, and the number.
pub fn noted(event: &Event) -> Option<(ActorId, &str, &str, i64)> {
    match event {
        Event::Says { actor, what: Observation::Notes { what, about, number } } => {
            Some((*actor, what, about, *number))
        }
        _ => None,
    }
}

/// Who has just come to his end: by a crash, or with his session.
pub fn dies(event: &Event) -> Option<ActorId> {
    match event {
        Event::Is(Fact::SessionClosed { actor, .. } | Fact::Crashed { actor }) => Some(*actor),
        _ => None,
    }
}

/// Lost connections and no other fault.
pub fn drops() -> Faults {
    Faults { drops: 40, ..Faults::none() }
}

/// What a trial is worth.
pub enum Expected {
    /// Both engines say that it holds.
    Right,
    /// Both engines break this promise, and the model in at most so many steps.
    Wrong { promise: &'static str, steps: usize },
}

/// How a trial is swept.
pub fn scenario(zoo: &Zoo, name: &str, clients: u8, faults: Faults) -> Scenario {
    let scenario = zoo.scenario(name).expect("it is there");
    Scenario { clients, rounds: 2, fault_seconds: 15, faults, ..scenario }
}

/// Checks and sweeps.
pub fn judge(trial: impl Trial, config: &CheckConfig, clients: u8, faults: Faults, expected: &Expected) {
    let name = trial.about().name;
    let zoo = Zoo::empty().with(trial);
    check(&zoo, name, config, expected);
    sweep(&zoo, &scenario(&zoo, name, clients, faults), expected);
}

fn check(zoo: &Zoo, name: &str, config: &CheckConfig, expected: &Expected) {
    let report = zoo.check(name, config).expect("a check");
    println!("CHECK {name}: {} states, depth {}\n{report}", report.states, report.depth);
    match expected {
        Expected::Right => {
            assert!(report.held() && report.exhaustive, "{report}");
            let tested = |promise: &CheckedPromise| promise.tested.is_some_and(|times| times > 0);
            assert!(report.promises.iter().all(tested), "{report}");
            let config = CheckConfig { engine: Engine::Stateright, ..config.clone() };
            let other = zoo.check(name, &config).expect("a check");
            assert!(other.held() && other.states == report.states, "{other}");
        }
        Expected::Wrong { promise, steps } => {
            assert_eq!(report.verdict, Judgement::Violated, "{report}");
            assert_eq!(report.promise.as_deref(), Some(*promise), "{report}");
            assert!((1..=*steps).contains(&report.steps.len()), "{report}");
        }
    }
}

fn sweep(zoo: &Zoo, scenario: &Scenario, expected: &Expected) {
    let report = zoo.sweep(scenario, 0..200).expect("a sweep");
    println!("RUN {}\n{report}", scenario.recipe);
    match expected {
        Expected::Right => {
            assert!(report.held(), "{report}");
            assert!(report.promises.iter().all(|promise| promise.verdict == Verdict::Held), "{report}");
        }
        Expected::Wrong { promise, .. } => {
            let result = report.promise(promise).expect("it is promised");
            assert_eq!(result.verdict, Verdict::Broken, "{report}");
            assert!(report.broken().all(|name| report.promises.iter().any(|p| p.name == name)), "{report}");
        }
    }
}

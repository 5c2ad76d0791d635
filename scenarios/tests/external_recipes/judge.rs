//! What the trials of external recipes have in common: how they wait, and how they are judged.

use std::ops::Range;
use zoocheck::api::{Error, ErrorCode, KeeperState, Outcome, Reply, Text, ZPath, ZooKeeper};
use zoocheck::reports::Judgement;
use zoocheck::trials::event::{ActorId, End, Event, GroundTruth, Observation};
use zoocheck::trials::promise::{Finding, Violation};
use zoocheck::trials::trial::{About, Bounds, Reductions, Trial};
use zoocheck::{Catalogue, CheckConfig, Engine, Faults, Scenario, Verdict};

/// What a trial is swept with.
const SEEDS: Range<u64> = 0..200;

/// A trial of nobody's catalogue.
pub fn about(name: &'static str, summary: &'static str, bounds: Bounds) -> About {
    About {
        name,
        summary,
        source: "an external crate",
        breaks: None,
        bounds,
        reductions: Reductions::default(),
    }
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

/// A promise that is broken where it is owed.
pub fn broken(what: String) -> Finding {
    Finding::Broken(Violation::new(what, None))
}

/// The note in an event: who, what, about what, and the number.
pub fn noted(event: &Event) -> Option<(ActorId, &str, &str, i64)> {
    match event {
        Event::Observed { actor, what: Observation::Notes { what, about, number, .. } } => {
            Some((*actor, what, about, *number))
        }
        _ => None,
    }
}

/// Who has just come to his end: by a crash, or with his session.
pub fn dies(event: &Event) -> Option<ActorId> {
    match event {
        Event::Is(GroundTruth::SessionClosed { actor, .. } | GroundTruth::Crashed { actor }) => Some(*actor),
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
    /// The same, but that both break this promise where an assumption of it does not hold.
    RightBut { promise: &'static str },
    /// Both engines break this promise, and the model in at most so many steps.
    Wrong { promise: &'static str, steps: usize },
}

/// How a trial is swept: with one server, whose clients lose no connection unless a fault takes it.
fn scenario(catalogue: &Catalogue, name: &str, clients: u16, faults: Faults) -> Scenario {
    let scenario = catalogue.scenario(name).expect("it is there");
    Scenario { clients, rounds: 2, servers: 1, observers: 0, fault_seconds: 15, faults, ..scenario }
}

/// Checks and sweeps.
pub fn judge(
    trial: impl Into<Trial>,
    config: &CheckConfig,
    clients: u16,
    faults: Faults,
    expected: &Expected,
) {
    let trial = trial.into();
    let name = trial.about.name;
    let catalogue = Catalogue::empty().with(trial);
    let scenario = scenario(&catalogue, name, clients, faults);
    match expected {
        Expected::Right => holds(&catalogue, config, &scenario, None),
        Expected::RightBut { promise } => holds(&catalogue, config, &scenario, Some(promise)),
        Expected::Wrong { promise, steps } => breaks(&catalogue, config, &scenario, promise, *steps),
    }
}

/// Both engines put every promise to the test, and break none but `broken_as_expected`.
fn holds(catalogue: &Catalogue, config: &CheckConfig, scenario: &Scenario, broken_as_expected: Option<&str>) {
    let name = &scenario.recipe;
    let is_right = |promise: &str, verdict: Verdict| match broken_as_expected == Some(promise) {
        true => verdict == Verdict::BrokenAsExpected,
        false => verdict == Verdict::Held,
    };
    let report = catalogue.check(name, config).expect("a check");
    assert!(report.held() && report.exhaustive, "{report}");
    assert!(report.promises.iter().all(|promise| is_right(&promise.name, promise.verdict)), "{report}");
    let config = CheckConfig { engine: Engine::Stateright, ..config.clone() };
    let other = catalogue.check(name, &config).expect("a check");
    assert!(other.held() && other.states == report.states, "{other}");
    let report = catalogue.sweep(scenario, SEEDS).expect("a sweep");
    assert!(report.held(), "{report}");
    assert!(report.promises.iter().all(|promise| is_right(&promise.name, promise.verdict)), "{report}");
}

/// Both engines break this promise, and no invariant.
fn breaks(catalogue: &Catalogue, config: &CheckConfig, scenario: &Scenario, promise: &str, steps: usize) {
    let report = catalogue.check(&scenario.recipe, config).expect("a check");
    assert_eq!(report.verdict, Judgement::Violated, "{report}");
    assert_eq!(report.promise.as_deref(), Some(promise), "{report}");
    assert!((1..=steps).contains(&report.steps.len()), "{report}");
    let report = catalogue.sweep(scenario, SEEDS).expect("a sweep");
    assert_eq!(report.promise(promise).expect("it is promised").verdict, Verdict::Broken, "{report}");
    let is_promised = |name: &str| report.promises.iter().any(|promise| promise.name == name);
    assert!(report.broken().all(is_promised), "{report}");
}

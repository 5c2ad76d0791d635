//! What the recipes have in common: how they wait and try again, and how they are judged.

use std::future::Future;
use std::sync::Arc;
use zoocheck::api::{
    CreateMode, Data, Error, ErrorCode, KeeperState, Op, Outcome, Reply, Text, ZPath, ZooKeeper, split,
};
use zoocheck::reports::Judgement;
use zoocheck::trials::event::{End, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::AnyPromise;
use zoocheck::trials::promises::NO_POLLING;
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words::Word;
use zoocheck::{Catalogue, CheckConfig, Faults, Scenario, Verdict};

/// What all of them are below.
pub const R: &str = "/r";

/// How many seeds each is swept with.
const SEEDS: u64 = 300;

/// A client's session.
pub trait Client: ZooKeeper + Clone + 'static {}
impl<Z: ZooKeeper + Clone + 'static> Client for Z {}

/// What a trial tells.
pub trait Teller: Probe + Clone + 'static {}
impl<P: Probe + Clone + 'static> Teller for P {}

/// A recipe and its promises.
pub trait Recipe: Copy + Send + Sync + 'static {
    /// What exists before, below `/r`.
    const SETUP: &[&str] = &[];

    fn promises(self) -> Vec<Box<dyn AnyPromise>>;

    /// Whether it polls, and its author wants it to.
    fn polls(self) -> bool {
        false
    }

    /// Whether the znodes that it leaves are what it is for.
    fn leaves(self) -> bool {
        false
    }

    /// Whether its processes are to go on for ever.
    fn stays(self) -> bool {
        false
    }

    /// Whether its client library opens a new session under the running code.
    fn renews(self) -> bool {
        false
    }

    fn run<Z: Client, P: Teller>(
        self,
        zk: Z,
        probe: P,
        role: Role,
    ) -> impl Future<Output = Result<(), End>> + Send;
}

#[derive(Clone)]
struct Tried<T>(&'static str, T);

impl<T: Recipe> From<Tried<T>> for Trial {
    fn from(it: Tried<T>) -> Trial {
        let code = it.clone();
        let setup = [R].iter().chain(T::SETUP).copied().map(Text::from).collect();
        let opts_out =
            [(it.1.polls(), NO_POLLING), (it.1.leaves(), "no-litter"), (it.1.stays(), "no-waiter-stuck")];
        let mut trial = Trial::new(it.0, move |zk, probe, role| code.clone().actor(zk, probe, role))
            .summary("An external recipe.")
            .promises({
                let it = it.clone();
                move || it.1.promises()
            });
        trial.setup = setup;
        trial.opts_out = opts_out.into_iter().filter(|(is_so, _)| *is_so).map(|(_, name)| name).collect();
        trial.renews_session = it.1.renews();
        trial
    }
}

impl<T: Recipe> Tried<T> {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        self.1.run(zk, probe, role).await.err().unwrap_or(End::Done)
    }
}

/// What an engine is to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    Holds,
    /// This promise is broken.
    Breaks(&'static str),
    /// The search ended before the states did.
    Undecided,
    /// The code does not do the same twice.
    NotDetermined,
}

/// What a newcomer takes.
pub const FIRST: Bounds = Bounds { drops: 1, expiries: 1, lag: 1, ..Bounds::clients(2) };

/// Checks within the bounds, sweeps with the faults, and compares what both say.
pub fn judge(name: &'static str, recipe: impl Recipe, bounds: Bounds, faults: Faults, says: [Expected; 2]) {
    judge_at(name, recipe, &CheckConfig::new(bounds), faults, 1, says);
}

/// The same on so many servers, and with other settings of the search.
pub fn judge_at(
    name: &'static str,
    recipe: impl Recipe,
    config: &CheckConfig,
    faults: Faults,
    servers: u8,
    says: [Expected; 2],
) {
    let catalogue = Catalogue::empty().with(Tried(name, recipe));
    let limits = CheckConfig {
        max_states: config.max_states.or(Some(3_000_000)),
        // Of the process, in which other tests search as well.
        max_memory: Some(8_000_000_000),
        ..config.clone()
    };
    let checked = catalogue.check(name, &limits).expect("a check");
    let model = match (checked.verdict, checked.promise.as_deref()) {
        (Judgement::Holds, _) => Expected::Holds,
        (Judgement::Violated, Some(promise)) => Expected::Breaks(String::leak(promise.to_string())),
        (Judgement::NotDetermined, _) => Expected::NotDetermined,
        _ => Expected::Undecided,
    };
    let scenario = catalogue.scenario(name).expect("it is there");
    let scenario =
        Scenario { clients: 3, rounds: 2, fault_seconds: 15, servers, observers: 0, faults, ..scenario };
    let swept = catalogue.sweep(&scenario, 0..SEEDS).expect("a sweep");
    assert_eq!(model, says[0], "{checked}");
    match says[1] {
        Expected::Breaks(promise) => {
            assert_eq!(swept.promise(promise).map(|p| p.verdict), Some(Verdict::Broken), "{swept}");
        }
        Expected::Holds | Expected::Undecided | Expected::NotDetermined => assert!(swept.held(), "{swept}"),
    }
}

/// These faults alone.
pub fn faults(drops: u32, expiries: u32) -> Faults {
    Faults { drops, expiries, ..Faults::none() }
}

/// A path that is one.
pub fn path(text: &str) -> ZPath {
    ZPath::parse(text).expect("a path")
}

/// A number as data.
pub fn number(number: i64) -> Data {
    Data::from(number.to_string().as_str())
}

/// Data as a number; none is 0.
pub fn read(data: &Data) -> i64 {
    std::str::from_utf8(data.bytes()).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Tells a note.
pub fn note(probe: &impl Probe, what: &str, about: &str, number: i64) {
    probe.observe(Observation::note(Word::own(what), about, number));
}

/// Tells that it asks for the lock.
pub fn asks(probe: &impl Probe) {
    probe.observe(Observation::Attempts { lock: R.into() });
}

/// Works in the critical section.
pub async fn section(probe: &impl Probe) {
    probe.observe(Observation::Enters { lock: R.into() });
    probe.work().await;
    probe.observe(Observation::Leaves { lock: R.into() });
}

/// Tells that it has given the lock back.
pub fn released(probe: &impl Probe) {
    probe.observe(Observation::Released { lock: R.into() });
}

/// Waits for a connection.
pub async fn connected(zk: &impl ZooKeeper) -> Result<(), End> {
    loop {
        let change = zk.state_change();
        match zk.state() {
            KeeperState::SyncConnected => return Ok(()),
            KeeperState::Disconnected => drop(change.await),
            KeeperState::AuthFailed | KeeperState::Expired | KeeperState::Closed => {
                return Err(End::SessionLost);
            }
        }
    }
}

/// Lets an error pass if the request may be tried again, once there is a connection.
pub async fn again(zk: &impl ZooKeeper, error: Error) -> Result<(), End> {
    if error.is_session_over() {
        return Err(End::SessionLost);
    }
    if error.outcome() != Outcome::Unknown && error.code != ErrorCode::SessionMoved {
        return Err(End::Failed);
    }
    connected(zk).await
}

/// Asks until there is an answer.
pub async fn insist<T>(zk: &impl ZooKeeper, ask: impl Fn() -> Reply<T>) -> Result<T, End> {
    loop {
        match ask().await {
            Ok(answer) => return Ok(answer),
            Err(error) => again(zk, error).await?,
        }
    }
}

/// Creates until it is there, whoever made it.
pub async fn ensure(zk: &impl ZooKeeper, at: &ZPath, data: &Data, mode: CreateMode) -> Result<(), End> {
    loop {
        match zk.create(at, data.clone(), mode).await {
            Ok(_) => return Ok(()),
            Err(error) if error.code == ErrorCode::NodeExists => return Ok(()),
            Err(error) => again(zk, error).await?,
        }
    }
}

/// Deletes until it is gone, whoever deleted it.
pub async fn remove(zk: &impl ZooKeeper, at: &ZPath) -> Result<(), End> {
    loop {
        match zk.delete(at, -1).await {
            Ok(()) => return Ok(()),
            Err(error) if error.code == ErrorCode::NoNode => return Ok(()),
            Err(error) => again(zk, error).await?,
        }
    }
}

/// Reads behind a write that changes nothing, which stands in the order of all writes.
pub async fn ordered<T>(zk: &impl ZooKeeper, ask: impl Fn() -> Reply<T>) -> Result<T, End> {
    loop {
        let check = zk.multi(vec![Op::Check { path: R.into(), version: -1 }]);
        let asked = ask();
        match (check.await, asked.await) {
            (Ok(_), Ok(answer)) => return Ok(answer),
            (Err(error), _) | (_, Err(error)) => again(zk, error).await?,
        }
    }
}

/// Creates one sequential ephemeral znode; one whose answer was lost is found again by its prefix. Gives its name.
pub async fn enlist(zk: &impl ZooKeeper, prefix: &str) -> Result<String, End> {
    let at = path(&format!("{R}/{prefix}"));
    loop {
        match zk.create(&at, Data::NULL, CreateMode::EphemeralSequential).await {
            Ok(made) => return Ok(split(&made).1.to_string()),
            Err(error) => again(zk, error).await?,
        }
        let names = ordered(zk, || zk.children(&path(R))).await?;
        if let Some(name) = names.iter().find(|name| name.starts_with(prefix)) {
            return Ok(name.to_string());
        }
    }
}

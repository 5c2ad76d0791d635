//! A program in the simulator: what its processes saw, and which faults there were.

use super::actor::{Fuzzed, Log};
use super::language::Named;
use super::program::Program;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};
use strum::{IntoStaticStr, VariantArray};
use zk_api::{Data, SessionId, Text};
use zk_harness::event::{Event, GroundTruth};
use zk_harness::trial::{Bounds, Trial};
use zk_simulator::{Faults, RunOptions, Scenario};

/// What each process said, in order.
pub(crate) type Says = Vec<Vec<String>>;

/// What a run showed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seen {
    /// What each process told, in order.
    pub(crate) says: Says,
    /// What took effect, in order.
    pub(crate) changes: Vec<Change>,
    /// Of all that, who told something, or that something took effect, in order.
    pub(crate) order: Vec<Mark>,
    /// The faults that somebody noticed.
    pub(crate) bounds: Bounds,
    /// Whom they have met, of each kind.
    pub(crate) met: Met,
}

/// The processes that faults have met.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Met {
    pub(crate) drops: BTreeSet<u16>,
    pub(crate) expiries: BTreeSet<u16>,
    pub(crate) crashes: BTreeSet<u16>,
}

impl Seen {
    /// Without faults that anybody noticed.
    pub(crate) fn is_calm(&self) -> bool {
        let Bounds { drops, expiries, crashes, .. } = self.bounds;
        drops == 0 && expiries == 0 && crashes == 0
    }
}

/// Something that took effect, and which process's session brought it about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Change {
    what: Effect,
    pub(crate) by: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Effect {
    Created(Text),
    Written(Text, Data),
    Deleted(Text),
    /// Something was deleted with the session that owned it.
    Ended,
}

impl Change {
    /// Whether it is the end of a session.
    pub(crate) fn is_end(&self) -> bool {
        self.what == Effect::Ended
    }

    /// Whether it is an administrator's.
    pub(crate) fn is_administrators(&self) -> bool {
        self.by.is_none() && !self.is_end()
    }
}

/// What came next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// This process told something.
    Told(u16),
    /// Something took effect.
    Changed,
}

/// Why a run is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
pub(crate) enum Exclusion {
    /// A container was deleted by the ensemble itself.
    #[strum(serialize = "a container that the ensemble deletes")]
    Upkeep,
    /// A request was refused, as the session had moved while its former connection lived.
    #[strum(serialize = "a session that moved while its former connection lived")]
    Moved,
    /// Somebody has seen more times than a model's leaders have.
    #[strum(serialize = "more times than a model's leaders have")]
    Clocks,
    /// The search in the model was cut short.
    #[strum(serialize = "a search that was cut short")]
    Cut,
}

impl Named for Exclusion {}

/// What came of a run.
pub(crate) enum Ran {
    Seen(Seen),
    Excluded(Exclusion),
    /// An invariant was broken.
    Broken(String),
}

/// How often a program is run at most: seeds differ in what they are like.
const KINDS: usize = 4;

/// So many times in any order a model's leaders have, with that of the setup.
const TIMES_MAX: usize = 3;

/// What is told of a call whose connection was lost.
const LOST: &str = "ConnectionLoss";

/// What a run is like: one server or three, with faults or without.
pub(crate) fn scenario(processes: usize, seed: u64) -> Scenario {
    let faults = Faults {
        server_crashes: 1,
        slow_syncs: 1,
        drops: 3,
        slow_links: 1,
        expiries: 2,
        client_crashes: 1,
        client_pauses: 4,
        pause_ms: [100, 6000],
        clock_skew_permille: 0,
        clock_jump_ms: 0,
        leader_crashes: 1,
        partitions: 1,
        server_pauses: 1,
        server_lags: 1,
        link_breaks: 1,
        admin_deletes: 1,
        admin_writes: 1,
        ..Faults::none()
    };
    let (servers, faults) = match seed as usize % KINDS {
        0 => (3, Faults::none()),
        1 => (1, faults),
        _ => (3, faults),
    };
    Scenario {
        recipe: "fuzz".into(),
        about: "A generated program.".into(),
        clients: processes as u16,
        rounds: 1,
        servers,
        observers: 0,
        latency_ms: [0.1, 120.0],
        fault_seconds: 6,
        heal_seconds: 120,
        faults,
        ..Scenario::default()
    }
}

/// Runs a program under a seed.
pub(crate) fn run(program: &Arc<Program>, seed: u64) -> Ran {
    let log = Log::default();
    let trial: Arc<Trial> =
        Arc::new(Fuzzed { program: program.clone(), log: Some(log.clone()), anonymous: false }.trial());
    let scenario = scenario(program.processes.len(), seed);
    let run = zk_simulator::run(&trial, &scenario, seed, &RunOptions::default());
    if let Some(violation) = run.violations.first() {
        return Ran::Broken(format!("{}: {}", violation.promise, violation.what));
    }
    let events = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
    seen(program, &events, scenario.servers)
}

pub(super) fn seen(program: &Program, events: &[Event], servers: u8) -> Ran {
    let mut says = vec![Vec::new(); program.processes.len()];
    let (mut changes, mut order) = (Vec::new(), Vec::new());
    let (mut lost, mut later_lives) = (BTreeSet::new(), BTreeSet::new());
    let (mut drops, mut crashes, mut met) = (0_u8, 0_u8, Met::default());
    // Whose a session is, which one a process has, and those that have expired or were said to.
    let (mut owners, mut sessions, mut expired) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
    for event in events {
        match event {
            Event::Observed { actor, what } => {
                later_lives.extend((actor.life > 0).then_some(actor.main()));
                let Some((name, about, _)) = what.told() else { continue };
                // A client that looks for a server fails what was asked whenever it does not find one, which in a
                // model takes another drop.
                if !lost.remove(&actor.process) && about == LOST {
                    drops = drops.saturating_add(1);
                    met.drops.insert(actor.process);
                }
                says[usize::from(actor.process)].push(told(name.text(), about));
                order.push(Mark::Told(actor.process));
            }
            Event::Is(truth) => {
                match truth {
                    GroundTruth::Disconnected { actor } => {
                        drops = drops.saturating_add(1);
                        met.drops.insert(actor.process);
                        lost.insert(actor.process);
                    }
                    GroundTruth::LearnsExpiry { actor } => {
                        expired.extend(sessions.get(actor));
                        met.expiries.insert(actor.process);
                    }
                    GroundTruth::SessionClosed { actor, session, expired: true } => {
                        expired.insert(*session);
                        met.expiries.insert(actor.process);
                    }
                    GroundTruth::SessionOpened { session, actor } => {
                        owners.insert(*session, actor.process);
                        sessions.insert(*actor, *session);
                        later_lives.extend((actor.life > 0).then_some(*actor));
                    }
                    GroundTruth::Crashed { actor } => {
                        crashes = crashes.saturating_add(1);
                        met.crashes.insert(actor.process);
                        // One that was never connected nobody has heard of before.
                        later_lives.extend((actor.life > 0).then_some(*actor));
                    }
                    GroundTruth::NodeDeleted { by: SessionId::NONE, owner: SessionId::NONE, .. } => {
                        return Ran::Excluded(Exclusion::Upkeep);
                    }
                    _ => {}
                }
                if let Some(change) = change(truth, |session| owners.get(&session).copied()) {
                    changes.push(change);
                    order.push(Mark::Changed);
                }
            }
        }
    }
    if says.iter().flatten().any(|said| said.ends_with("SessionMoved")) {
        return Ran::Excluded(Exclusion::Moved);
    }
    if says.iter().any(|says| says.iter().filter(is_new_time).count() > TIMES_MAX) {
        return Ran::Excluded(Exclusion::Clocks);
    }
    // No view can lag further than to the beginning. A transaction that changes nothing that is compared, such as an
    // ACL, is one as well; whoever asked for it was told something.
    let transactions = changes.len() + says.iter().map(Vec::len).sum::<usize>();
    let lag = if servers > 1 { transactions.min(200) as u8 } else { 0 };
    let clients = program.processes.len() as u8;
    let admin = changes.iter().filter(|change| change.is_administrators()).count();
    let [restarts, expiries, admin] =
        [later_lives.len(), expired.len(), admin].map(|many| many.min(200) as u8);
    let bounds = Bounds { drops, expiries, crashes, restarts, admin, lag, ..Bounds::clients(clients) };
    Ran::Seen(Seen { says, changes, order, bounds, met })
}

/// Whether it is a time that was not told before: it has an even rank.
fn is_new_time(said: &&String) -> bool {
    let time = said.split_once("ctime ").or(said.split_once("mtime "));
    time.and_then(|(_, rank)| rank.parse::<u32>().ok()).is_some_and(|rank| rank % 2 == 0)
}

/// What a process tells, as one text.
pub(super) fn told(name: &str, about: &str) -> String {
    format!("{name} {about}")
}

/// What both engines tell in the same order. That a session has ended nobody sees but by what that deletes.
/// `owner`: whose a session is.
pub(super) fn change(truth: &GroundTruth, owner: impl Fn(SessionId) -> Option<u16>) -> Option<Change> {
    let (what, by) = match truth {
        GroundTruth::NodeCreated { path, by, .. } => (Effect::Created(path.clone()), by),
        GroundTruth::NodeWritten { path, by, data, .. } => (Effect::Written(path.clone(), data.clone()), by),
        GroundTruth::NodeDeleted { by: SessionId::NONE, owner, .. } => (Effect::Ended, owner),
        GroundTruth::NodeDeleted { path, by, .. } => (Effect::Deleted(path.clone()), by),
        _ => return None,
    };
    Some(Change { what, by: owner(*by) })
}

//! What to check, and what came of it.
//!
//! A search that is cut short does not say that anything holds:
//!
//! ```
//! use zk_model::{CheckConfig, Verdict, check};
//! use zk_trials::trial::Bounds;
//!
//! let lock = zk_trials::trials().remove(0);
//! let config = CheckConfig { max_states: Some(20), ..CheckConfig::new(Bounds::clients(2)) };
//! let check = check(lock, &config, &mut |_| ());
//! assert!(matches!(check.verdict, Verdict::Undecided { .. }));
//! assert!(check.ran_out.is_some() && check.states >= 20);
//! ```

use crate::model::{HONEST_CHECKPOINTS, RecipeModel};
use crate::quiet::tell_of;
use crate::reads::Reads;
use crate::scene::Scene;
use crate::search::Found;
use crate::stop::Stop;
use crate::{search, stateright};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use zk_trials::promise::Assumption;
use zk_trials::pulse::{self, Pulse};
use zk_trials::script::ScriptStep;
use zk_trials::trial::{Bounds, Reductions, Trial};

/// What to explore, how, and when to give up.
#[derive(Clone, Debug)]
pub struct CheckConfig {
    /// How many of each there are at most.
    pub bounds: Bounds,
    /// Reductions that are not sound for every recipe; all off is the full search.
    pub reductions: Reductions,
    /// Remember transitions instead of replaying them. Off only to test that it changes nothing.
    pub memo: bool,
    /// Let checkpoints merge states.
    pub keys: bool,
    /// Audit checkpoints: the same key and input must give the same step. A failed audit is a verdict.
    pub audit: bool,
    /// Replays code at another time, which tells whether the code looks at a clock that no model has. `None` where
    /// nothing can change what such clocks show.
    pub other_time: Option<OtherTime>,
    /// Actors write to the outside resource inside the critical section.
    pub effects: bool,
    /// A sync may leave a view where it is, as happens with a leader that asks nobody: one that does not know it was
    /// deposed, or one whose own tree lags. Released versions do so, and no recipe may rely on more. On by default. It
    /// makes no difference where [`Bounds::lag`] is 0.
    pub stale_syncs: bool,
    /// A client that looks for a server may be told that its session is dead although it lives on until it expires: by
    /// a leader that does not know it was deposed, or by a server, even the only one, that has decided on the end but
    /// has not written it yet. Each such answer counts as an expiry. On by default.
    pub false_expiries: bool,
    /// An administrator may also delete or set the znodes of the trial's setup, not only those below them.
    pub admin_parents: bool,
    /// Number every transaction, as ZooKeeper does, and not only those whose number can matter. A search does so in any
    /// case if its code reads the number of a zxid.
    pub true_zxids: bool,
    /// Merge states in which the znodes' zxids have the same order, however often their parents' children have changed:
    /// without this, a recipe that creates again and again never comes back to where it was. Not sound for recipes that
    /// make sequential znodes, nor for code that remembers numbers: such a check never holds, and judges only cycles,
    /// which are tried with the numbers themselves. Off by default; a search that runs out is followed by one with this
    /// on.
    pub ranks: bool,
    /// Of two guids, the one given later is the lower as a text. If code is given any guids, a search that holds is
    /// followed by one with this on, except under symmetry reduction, which tells no names apart.
    pub guids_fall: bool,
    /// Which search.
    pub engine: Engine,
    /// Search until this promise is broken, whatever else breaks, and say what became of it; with `None`, until the
    /// promise breaks that the trial is known to break, or else any.
    pub promise: Option<String>,
    /// Look for livelocks once everything is explored. This takes our own search without symmetry, and six bytes for
    /// each free transition; if there are more than 67 million, they are not recorded, and nothing is said of
    /// livelocks.
    pub livelock: bool,
    /// Find out from which step of a counterexample on its promise is broken whatever comes, by looking at no more than
    /// this many states after one step. Only in our own search.
    pub inevitable_within: Option<usize>,
    /// Give up after this time.
    pub time_limit: Option<Duration>,
    /// Give up after this many states.
    pub max_states: Option<u64>,
    /// Give up once the process holds this many bytes in memory. Only in our own search.
    pub max_memory: Option<u64>,
    /// Go no deeper than this many steps.
    pub max_depth: Option<u32>,
    /// Give up as soon as somebody sets this.
    pub stop: Option<Arc<AtomicBool>>,
}

/// Does some work where the operating system's clocks show another time, and jump far whenever the work asks for it.
#[derive(Clone, Copy)]
#[expect(clippy::type_complexity, reason = "the work is given what makes the clocks jump")]
pub struct OtherTime(pub fn(&mut dyn FnMut(&dyn Fn())));

impl std::fmt::Debug for OtherTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OtherTime")
    }
}

/// Which search explores the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Our breadth-first search: shortest counterexamples, honest limits.
    Own,
    /// Stateright's, over the same model.
    Stateright,
}

/// How far a search has got.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Unique states so far.
    pub states: u64,
    /// Of these, not explored yet.
    pub frontier: u64,
    /// Steps from the start.
    pub depth: u32,
}

/// What came of a check.
#[derive(Clone, Debug)]
pub struct Check {
    /// The answer.
    pub verdict: Verdict,
    /// What ran out before everything was explored, if anything did: also where something was broken by then.
    pub ran_out: Option<String>,
    /// Unique states found.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// The longest of the shortest paths.
    pub depth: u32,
    /// Each promise by itself.
    pub promises: Vec<PromiseReport>,
    /// How often each interesting case was reached: budget used up, answer lost, … (`sometimes`).
    pub sometimes: Vec<(&'static str, u64)>,
    /// Of the things that are varied only if they are read, those that the actors have read.
    pub reads: Vec<&'static str>,
    /// What was explored in only some of the ways that the simulator has, although the search explored all that it has.
    pub partly: Option<&'static str>,
    /// How long it took.
    pub wall: Duration,
}

/// The answer of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every state within the bounds was explored and no promise was broken (but as expected); or the one that was asked
    /// for was not. Whether it was put to the test is told by [`PromiseReport::tested`].
    Holds,
    /// This promise was broken, in so many steps: the one that the search was for, if it was, or else the one that
    /// took the fewest, unless one was asked for. Others may be too; see `promises`.
    Violated { promise: String, steps: u32 },
    /// The search was cut short; `ran_out` says by what.
    Undecided { ran_out: String },
    /// The code does not do the same when it is given the same again, because of a clock or the order of a hash table.
    /// Nothing can be said of it.
    NotDetermined { what: String },
}

/// What became of one promise.
#[derive(Clone, Debug)]
pub struct PromiseReport {
    /// Its name.
    pub name: &'static str,
    /// In how many transitions it was put to the test.
    pub tested: u64,
    /// The shortest way to break it where it was owed.
    pub broken: Option<Counterexample>,
    /// The shortest way to break it where an assumption did not hold.
    pub expected: Option<Counterexample>,
    /// Why it was not looked for, so that nothing is known of it; or, if it was put to the test, where it was looked
    /// for.
    pub unchecked: Option<String>,
}

impl PromiseReport {
    /// Nothing is known of it yet.
    pub(crate) fn new(name: &'static str) -> PromiseReport {
        PromiseReport { name, tested: 0, broken: None, expected: None, unchecked: None }
    }
}

/// A way to break a promise, for people to read.
#[derive(Clone, Debug, Default)]
pub struct Counterexample {
    /// What happened.
    pub what: String,
    /// The assumption that did not hold.
    pub violated_assumption: Option<Assumption>,
    /// One line a step, from the start.
    pub steps: Vec<String>,
    /// From which of them on, counted from 1, the promise is broken whatever comes, if that was looked for and found out.
    pub inevitable_from: Option<usize>,
    /// The same as data, to be drawn; a last step that panics is missing.
    pub scenes: Vec<Scene>,
    /// The same steps, for the simulator to take again.
    pub script: Vec<ScriptStep>,
    /// Whether guids [fall](CheckConfig::guids_fall) in it.
    pub guids_fall: bool,
}

impl CheckConfig {
    /// A full search within these bounds: memo, keys and their audit on, every reduction off, no limit.
    pub fn new(bounds: Bounds) -> CheckConfig {
        CheckConfig {
            bounds,
            reductions: Reductions::default(),
            memo: true,
            keys: true,
            audit: true,
            other_time: None,
            effects: bounds.effects,
            stale_syncs: true,
            false_expiries: true,
            admin_parents: false,
            true_zxids: false,
            ranks: false,
            guids_fall: false,
            engine: Engine::Own,
            promise: None,
            livelock: true,
            inevitable_within: None,
            time_limit: None,
            max_states: None,
            max_memory: None,
            max_depth: None,
            stop: None,
        }
    }
}

/// What a turn of a recipe that never ends breaks, or a look of a promise.
const EVERY_STEP_ENDS: &str = "every-step-ends";

/// Explores a trial, and reports a turn of its code that does not end. It does so only in our own search, as
/// stateright's has threads that nobody can look at. `progress` is called now and then, only by our own search.
///
/// Panics if `config` asks for a promise that the trial does not have.
pub fn check(trial: Arc<Trial>, config: &CheckConfig, progress: &mut dyn FnMut(Progress)) -> Check {
    let (started, pulse, last) = (Instant::now(), Pulse::default(), Arc::new(Mutex::new(None)));
    let (given, told) = ((trial.clone(), config.clone(), pulse.clone()), last.clone());
    let search = move || {
        let (trial, config, pulse) = given;
        tell_of(pulse);
        let mut tell = |now| *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        explore_all(trial, &config, &mut tell)
    };
    let meanwhile = || {
        if let Some(now) = last.lock().unwrap_or_else(PoisonError::into_inner).take() {
            progress(now);
        }
    };
    match pulse::watch(&pulse, search, meanwhile) {
        Ok(check) => check,
        Err(acting) => endless(trial, config, &acting.to_string(), started),
    }
}

/// Of a search that comes to no end nothing is known but why.
fn endless(trial: Arc<Trial>, config: &CheckConfig, what: &str, started: Instant) -> Check {
    let mut found = Found::of(&RecipeModel::new(trial, config, Reads::at_first()));
    let guids_fall = config.guids_fall;
    let broken = Counterexample { what: what.to_owned(), guids_fall, ..Counterexample::default() };
    let report = PromiseReport { tested: 1, broken: Some(broken), ..PromiseReport::new(EVERY_STEP_ENDS) };
    found.promises.push(report);
    found.into_check(Verdict::Violated { promise: EVERY_STEP_ENDS.to_owned(), steps: 0 }, started)
}

fn explore_all(trial: Arc<Trial>, config: &CheckConfig, progress: &mut dyn FnMut(Progress)) -> Check {
    let started = Instant::now();
    if !may_rank(config) {
        return within(&trial, config, started, progress);
    }
    let limited = |time_limit, ranks| CheckConfig { time_limit, ranks, ..config.clone() };
    let most = config.time_limit.map(|limit| limit * 3 / 4);
    let found = within(&trial, &limited(most, false), started, progress);
    if found.ran_out.is_none() || !matches!(found.verdict, Verdict::Undecided { .. }) || is_stopped(config) {
        return found;
    }
    let ranked = within(&trial, &limited(config.time_limit, true), started, progress);
    match ranked.verdict {
        Verdict::Violated { .. } => ranked,
        _ => Check { wall: started.elapsed(), ..found },
    }
}

/// Whether a search that runs out is followed by one that compares numbers [by their order](CheckConfig::ranks), which may
/// come round where they only grow: the last quarter of the time is kept for it.
fn may_rank(config: &CheckConfig) -> bool {
    let is_own = matches!(config.engine, Engine::Own);
    is_own && config.livelock && !config.reductions.symmetry && !config.true_zxids && !config.ranks
}

fn is_stopped(config: &CheckConfig) -> bool {
    config.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
}

/// Explores, and once more with guids in the other order where everything holds and there are any.
fn within(
    trial: &Arc<Trial>,
    config: &CheckConfig,
    started: Instant,
    progress: &mut dyn FnMut(Progress),
) -> Check {
    let (found, read) = in_one_order(trial, config, started, progress);
    if found.verdict != Verdict::Holds || !read.has(Reads::GUIDS) {
        return found;
    }
    if config.guids_fall || config.reductions.symmetry {
        return Check { partly: Some("guids in one of their orders"), ..found };
    }
    let fall = CheckConfig { guids_fall: true, ..config.clone() };
    let (fallen, _) = in_one_order(trial, &fall, started, progress);
    match fallen.verdict {
        Verdict::Holds => {
            // Two orders of two guids are all that there are.
            let more = read.has(Reads::MORE_GUIDS) || config.bounds.clients > 2;
            Check {
                wall: fallen.wall,
                partly: more.then_some("more than two guids in two of their orders"),
                ..found
            }
        }
        _ => fallen,
    }
}

/// Explores with values that vary as soon as they are found to be read, which it gives as well.
fn in_one_order(
    trial: &Arc<Trial>,
    config: &CheckConfig,
    started: Instant,
    progress: &mut dyn FnMut(Progress),
) -> (Check, Reads) {
    let mut varied = Reads::at_first();
    let (sought, names, mut found) = loop {
        let model = RecipeModel::new(trial.clone(), config, varied);
        let (sought, names) = (model.to_break, model.promises.clone());
        let is_known = |name: &String| names.iter().any(|promise| promise == name);
        assert!(config.promise.iter().all(is_known), "nobody promises {:?}", config.promise);
        let left = config.time_limit.map(|limit| limit.saturating_sub(started.elapsed()));
        let config = &CheckConfig { time_limit: left, ..config.clone() };
        let found = match config.engine {
            Engine::Own => search::search(&model, config, progress),
            Engine::Stateright => stateright::search(model, config),
        };
        // What holds where something is one value may not hold where it is another, and the other way round.
        if varied.has(found.reads) || found.stop.is_some() {
            break (sought, names, found);
        }
        varied = varied.and(found.reads);
    };
    if let Some(Stop::NotDetermined(_)) = found.stop {
        // What was seen of such code may be seen of it never again.
        found.promises.iter_mut().for_each(|report| *report = PromiseReport::new(report.name));
    }
    for report in &mut found.promises {
        let examples = report.broken.iter_mut().chain(&mut report.expected);
        examples.for_each(|example| example.guids_fall = config.guids_fall);
    }
    let verdict = verdict(&names, config, sought, &found);
    let read = varied.without(Reads::at_first()).and(found.reads);
    let check = Check { reads: read.names(), ..found.into_check(verdict, started) };
    (check, read)
}

/// The answer to what was asked: what became of one promise, or of all. `sought` is the promise that the search was for.
///
/// What is known of a recipe whose checkpoints are not honest may be known of a run that there is not: that comes first.
fn verdict(names: &[&str], config: &CheckConfig, sought: Option<usize>, found: &Found) -> Verdict {
    if let Some(Stop::NotDetermined(what)) = &found.stop {
        return Verdict::NotDetermined { what: what.clone() };
    }
    let (asked, ranks) = (config.promise.as_deref(), config.ranks);
    let number = |name: &str| names.iter().position(|promise| *promise == name);
    let violated = |nth: usize| {
        let steps = found.promises[nth].broken.as_ref()?.steps.len() as u32;
        Some(Verdict::Violated { promise: names[nth].to_owned(), steps })
    };
    if let Some(verdict) = [number(HONEST_CHECKPOINTS), sought].into_iter().flatten().find_map(violated) {
        return verdict;
    }
    let asked = asked.and_then(number);
    // Where one was asked for, that another is broken says nothing.
    if let (None, Some((nth, steps))) = (asked, found.violated) {
        return Verdict::Violated { promise: names[nth].to_owned(), steps };
    }
    let unchecked = asked.and_then(|nth| found.promises[nth].unchecked.clone());
    // What is broken is broken by a run that there is; that nothing else is, ranks cannot tell.
    let merged = ranks.then(|| "numbers are compared by their order alone".to_owned());
    match found.ran_out.clone().or(unchecked).or(merged).or(found.leaves_out.clone()) {
        Some(ran_out) => Verdict::Undecided { ran_out },
        None => Verdict::Holds,
    }
}

/// Serves stateright's Explorer over the model until the process ends.
pub fn explore(trial: Arc<Trial>, config: &CheckConfig, address: SocketAddr) {
    stateright::explore(RecipeModel::new(trial, config, Reads::all()), address);
}

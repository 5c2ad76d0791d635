//! What to check, and what came of it.
//!
//! A search that is cut short does not say that anything holds:
//!
//! ```
//! use zk_model::{CheckConfig, Verdict, check};
//! use zk_harness::trial::Bounds;
//!
//! let lock = zk_catalogue::trials().remove(0);
//! let config = CheckConfig { max_states: Some(20), ..CheckConfig::new(Bounds::clients(2)) };
//! let check = check(lock, &config, &mut |_| ());
//! assert!(matches!(check.verdict, Verdict::Undecided { .. }));
//! assert!(check.ran_out.is_some() && check.states >= 20);
//! ```

pub use crate::config::{CheckConfig, Engine, OtherTime};
pub use crate::verdict::{Check, Counterexample, Progress, PromiseReport, Verdict};

use crate::livelock::LIVELOCKS_ALONE;
use crate::model::RecipeModel;
use crate::own_promises::HONEST_CHECKPOINTS;
use crate::quiet::tell_of;
use crate::reads::Reads;
use crate::stop::Stop;
use crate::verdict::Found;
use crate::{search, stateright};
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use zk_harness::pulse::{self, Pulse};
use zk_harness::trial::Trial;

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
    let mut found = Found::of(&RecipeModel::new(trial, config, Reads::at_first()).promises);
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

/// Whether a search that runs out is followed by one that compares numbers [by their order](CheckConfig::ranks), which
/// may come round where they only grow: the last quarter of the time is kept for it.
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

/// The answer to what was asked: what became of one promise, or of all. `sought` is the promise that the search was
/// for.
///
/// What is known of a recipe whose checkpoints are not honest may be known of a run that there is not: that comes
/// first.
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
    let merged = ranks.then(|| LIVELOCKS_ALONE.to_owned());
    match found.ran_out.clone().or(unchecked).or(merged).or(found.leaves_out.clone()) {
        Some(ran_out) => Verdict::Undecided { ran_out },
        None => Verdict::Holds,
    }
}

/// Serves stateright's Explorer over the model until the process ends.
pub fn explore(trial: Arc<Trial>, config: &CheckConfig, address: SocketAddr) {
    stateright::explore(RecipeModel::new(trial, config, Reads::all()), address);
}

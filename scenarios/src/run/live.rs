//! A trial on a live ensemble: real sessions, real time, and an outside that knows less.
//!
//! | module | what is in it |
//! |---|---|
//! | `context` | what the lives of one run share: the monitor, their sessions, what is under way |
//! | `actor` | a life's session and its probe, as the trial's code sees them |
//! | `lives` | client processes and the lives they have |
//! | `znode_setup` | the trial's znodes: made, looked at, and removed |
//! | `rest` | when a run is over, and what is left then |
//!
//! **What can be known.** A client process knows what it does, and what reaches the resource; it does not know when a
//! session ends. An ensemble tells of that late (the client may be cut off), or never. So a promise is judged only if
//! it says that it can be judged so ([`Terms::judged_from_outside`]); the others are reported as not judged, which is
//! not held, and count for nothing. No ground truth is made up: sessions opened, connections lost and made again,
//! expiries learnt, writes at the resource and ends of actors are told, and nothing else.
//!
//! **When a break is a defect.** Two who act by turns at the resource, or who both say that they hold the lock, are no
//! defect if one of them had lost its session and could not know. On a simulated ensemble the end of that session is
//! in the record. Here it is not, and without it no assumption is known to be violated. What can be had is the
//! contrary: the ends of sessions are final, so a session that lives now has lived all the time. A **proof of life** is
//! a write of that session, submitted after the break and answered by the ensemble (it deletes a znode that nobody has;
//! leaders refuse that to dead sessions before they look for the znode; a read would not do, as a server that lags
//! answers the dead). Then:
//!
//! - If *everybody concerned* is proven to have lived on after the break, nobody was dead at the break: a defect.
//! - Otherwise it is *broken as expected*, for the assumption that everybody concerned is known to have had a live
//!   session: "an overlap was seen at the resource, while that session is not known to have lived". It is shown with
//!   its number, and is no defect, though it may have been one: a run without faults tells.
//!
//! Concerned are all who might have a part in it: whoever does what breaks the promise, every actor that has not ended,
//! and those that have ended since the former was last granted something. That is too many, which can only turn a
//! defect into an expected break. It is not only who writes late: one whose session is dead may learn of its grant
//! after a later one's, and then everybody but the dead would look late.
//!
//! The same rule holds for the fenced resource and for tokens, though no dead session violates an assumption of theirs:
//! here it is not that which is unknown, but the order of grants, for which the order of what actors say is taken.
//! Among the living the two are the same.
//!
//! **At rest.** When all actors have ended, or none has moved for four session timeouts while all of them were
//! connected and nothing was under way, and no znode of an unknown session is left that somebody could rightly wait
//! for, each session proves once more that it lives; then an own session lists what is there. Who waits with a live
//! session is stuck; a znode of a live session that no attempt stands for is an orphan.
//!
//! [`Terms::judged_from_outside`]: zk_harness::promise::Terms::judged_from_outside

mod actor;
mod context;
mod lives;
mod plan;
mod rest;
mod znode_setup;

use super::Target;
use crate::BadInput;
use crate::trial_list::catalogued;
use context::LiveContext;
pub(crate) use plan::LiveRun;
use plan::RoundsDone;
#[cfg(feature = "serve")]
pub(crate) use plan::{travel, work};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use zk_harness::promises::STANDARD;
use zk_reports::{LIVE_SCHEMA, LiveReport};
use znode_setup::ZnodeSetup;

/// How long an ensemble may take to open the first session.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs a target's trial on a live ensemble.
///
/// Fails if it is a program's, which takes its time from us; if no session can be had, or if the trial's znodes are not
/// free. The znodes are removed at the end.
pub(crate) fn live(target: &Target, run: &LiveRun, progress: RoundsDone<'_>) -> Result<LiveReport, BadInput> {
    if target.trial.programs().is_some() {
        let name = target.trial.about.name;
        return Err(bad!(
            "--connect: {name} is a program, which is hosted in simulations alone; expected a recipe or a variant"
        ));
    }
    // Outside any simulation: here the clocks and the threads are real.
    let runtime = Runtime::new().map_err(|error| bad!("cannot start threads: {error}"))?;
    let report = runtime.block_on(on_ground(target, run, progress));
    // An actor that never ends its turn holds its thread for ever.
    runtime.shutdown_background();
    report
}

async fn on_ground(target: &Target, run: &LiveRun, progress: RoundsDone<'_>) -> Result<LiveReport, BadInput> {
    let asked = Duration::from_millis(target.scenario.session_timeout_ms.into());
    let began = Instant::now();
    let mut setup = ZnodeSetup::connect(&run.connect, asked, PATIENCE.min(run.time_limit)).await?;
    setup.prepare(&target.trial.setup).await?;
    let work = target.scenario.work_ms.map(|ms| Duration::from_millis(ms.into()));
    let context = LiveContext::new(target.trial.owed(), &run.connect, asked, work, &setup);
    let ran_out = rest::run(&context, &target.trial, run, &mut setup, progress).await;
    context.end().await;
    let left = setup.clean().await;
    let outcome = context.monitor.finish();
    let is_unjudged =
        is_unjudged(outcome.promises.iter().map(|result| (&*result.name, result.verdict.is_some())));
    let about = target.trial.about;
    let cleaned = left.as_ref().err().map(|why| format!("the trial's znodes could not be removed: {why}"));
    let ran_out = ran_out.or(cleaned);
    Ok(LiveReport {
        schema: LIVE_SCHEMA.into(),
        what: target.what.clone(),
        recipe: about.name.into(),
        about: about.summary.into(),
        catalogued: catalogued(&about),
        connect: run.connect.clone(),
        clients: run.clients,
        rounds: run.rounds,
        session_timeout_ms: u64::try_from(context.timeout.as_millis()).unwrap_or(u64::MAX),
        answer: LiveReport::answer_of(
            &outcome.promises,
            &outcome.invariants,
            ran_out.is_some() || is_unjudged,
        ),
        ran_out,
        wall_seconds: began.elapsed().as_secs_f64(),
        happened: outcome.happened,
        promises: outcome.promises,
        invariants: outcome.invariants,
        left: left.unwrap_or_default(),
    })
}

/// Whether none of a trial's own promises can be judged from outside: then nothing that makes it what it is was shown.
/// Given are names, and whether each is judged.
pub(crate) fn is_unjudged<'a>(promises: impl Iterator<Item = (&'a str, bool)>) -> bool {
    let mut own = promises.filter(|(name, _)| !STANDARD.contains(name)).peekable();
    own.peek().is_some() && !own.any(|(_, is_judged)| is_judged)
}

#[cfg(test)]
mod tests {
    use super::is_unjudged;

    #[test]
    fn what_is_judged_of_every_trial_says_nothing_of_what_one_promises_itself() {
        let of = |promises: &[(&str, bool)]| is_unjudged(promises.iter().copied());
        assert!(of(&[("no-failure", true), ("counts-each-once", false), ("no-waiter-stuck", true)]));
        assert!(!of(&[("no-failure", true), ("fifo", false), ("exclusion-among-live-sessions", true)]));
        assert!(!of(&[("no-failure", true)]), "it promises nothing else");
    }
}

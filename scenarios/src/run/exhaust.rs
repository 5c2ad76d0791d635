//! All orders of a few events of one run.

use super::Target;
use super::tally::Tally;
use super::threads::each_of;
use crate::BadInput;
use crate::trial_list::catalogued;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use zk_reports::{Answer, BrokenOrder, EXHAUST_SCHEMA, ExhaustReport, seconds};
use zk_simulator::order::{Order, Ordered};
use zk_simulator::{Run, RunOptions};

/// Which events to take in every order, and how far to go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exhaust {
    /// From the first event on that is not before this virtual time.
    pub(crate) at_ns: u64,
    /// So many.
    pub(crate) steps: u32,
    /// Orders at most.
    pub(crate) most: u64,
    pub(crate) jobs: usize,
}

/// So many orders are run before what came of them is looked at; the same whatever the number of jobs.
const BATCH: usize = 64;

/// Runs a seed in every order of some of its events, each to the end of the run. `progress` learns how many were run,
/// how many wait, and how many broke something.
pub(crate) fn exhaust(
    target: &Target,
    seed: u64,
    what: &Exhaust,
    progress: &mut dyn FnMut(u64, usize, u64),
) -> Result<ExhaustReport, BadInput> {
    let one = |picks: &Vec<u32>| {
        let order = Order { from_ns: what.at_ns, steps: what.steps, picks: picks.clone() };
        let options = RunOptions { order: Some(order), ..RunOptions::default() };
        catch_unwind(AssertUnwindSafe(|| zk_simulator::run(&target.trial, &target.scenario, seed, &options)))
    };
    let mut tally = Tally::default();
    let (mut orders, mut different, mut broken) = (0_u64, BTreeSet::new(), Vec::new());
    // Of those to be run, the last one next: so there are never many.
    let mut waiting = vec![Vec::new()];
    while !waiting.is_empty() && orders < what.most {
        let room = usize::try_from(what.most - orders).unwrap_or(usize::MAX);
        let batch = waiting.split_off(waiting.len().saturating_sub(BATCH.min(room)));
        for (picks, run) in batch.iter().zip(each_of(&batch, what.jobs, one, &mut |_| {})) {
            let run = run.map_err(|_| {
                let order = words(picks);
                bad!("seed {seed}, order {order}: the simulator itself has failed; see above")
            })?;
            if orders == 0 && run.ordered.is_empty() {
                let end = seconds(run.virtual_ns);
                return Err(bad!("--at: the run of seed {seed} is over before that, at {end}"));
            }
            orders += 1;
            different.insert(run.digest);
            tally.add(target, &run);
            note_broken(&mut broken, target, seed, what, picks, &run);
            waiting.extend(others(picks, &run.ordered));
        }
        progress(orders, waiting.len(), tally.broken_seeds);
    }
    let exhaustive = waiting.is_empty();
    let (promises, invariants) = tally.results(target);
    let about = target.trial.about;
    Ok(ExhaustReport {
        schema: EXHAUST_SCHEMA.into(),
        what: target.what.clone(),
        recipe: about.name.into(),
        about: about.summary.into(),
        catalogued: catalogued(&about),
        facts: target.facts(),
        seed,
        at_ns: what.at_ns,
        steps: what.steps,
        answer: match Answer::of(&promises, &invariants) {
            Answer::Held if !exhaustive => Answer::Undecided,
            answer => answer,
        },
        orders,
        different: different.len() as u64,
        exhaustive,
        promises,
        invariants,
        broken,
    })
}

/// Behind what was given, time has chosen: what else could have come there, each as an order of its own.
fn others(picks: &[u32], taken: &[Ordered]) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    for (nth, step) in taken.iter().enumerate().skip(picks.len()) {
        for pick in 1..step.of {
            let mut other = picks.to_vec();
            other.resize(nth, 0);
            other.push(pick);
            all.push(other);
        }
    }
    all
}

fn note_broken(
    broken: &mut Vec<BrokenOrder>,
    target: &Target,
    seed: u64,
    what: &Exhaust,
    picks: &[u32],
    run: &Run,
) {
    for violation in run.owed() {
        if broken.iter().all(|known: &BrokenOrder| known.promise != violation.promise) {
            let order: Vec<u32> = match picks {
                [] => vec![0],
                picks => picks.to_vec(),
            };
            let at = what.at_ns as f64 / 1e9;
            let replay = format!(
                "{} --at {at} --order {}",
                target.replay_command(seed, Some(violation.promise)),
                words(&order)
            );
            broken.push(BrokenOrder {
                promise: violation.promise.into(),
                what: violation.what.clone(),
                virtual_ns: violation.at_ns,
                order,
                steps: run.ordered.iter().map(|step| step.what.clone()).collect(),
                replay,
            });
        }
    }
}

fn words(picks: &[u32]) -> String {
    picks.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_comes_once_and_none_is_missing() {
        let widths = [2, 3, 1, 2];
        let taken = widths.map(|of| Ordered { of, what: String::new() });
        let (mut waiting, mut seen) = (vec![Vec::new()], BTreeSet::new());
        while let Some(picks) = waiting.pop() {
            waiting.extend(others(&picks, &taken));
            let mut whole = picks;
            whole.resize(widths.len(), 0);
            assert!(whole.iter().zip(widths).all(|(pick, of)| *pick < of), "{whole:?}");
            assert!(seen.insert(whole.clone()), "twice: {whole:?}");
        }
        assert_eq!(seen.len(), 2 * 3 * 2);
    }
}

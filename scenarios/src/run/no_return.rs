//! From when on a break was not avoided any more.
//!
//! A run is what its seed makes it up to some event, and behind that everything is left to another chance, but for the
//! faults of the schedule. The last event behind which some chance still avoids the break is looked for by halving.

use super::threads::each_of;
use super::{Target, caught};
use crate::BadInput;
use zk_reports::NoReturn;
use zk_simulator::{Redraw, Run, RunOptions, RunViolation};

/// How much is tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Redraws {
    /// Other chances from one event on.
    pub(crate) many: u32,
    /// Runs at a time; what is found does not depend on it.
    pub(crate) jobs: usize,
}

impl Redraws {
    /// What is tried unless something else is asked for: enough to tell a turn of the run from chance. None where
    /// nothing is left to chance, and for programs of others, of which each run takes long.
    fn usual(target: &Target) -> u32 {
        let has_script = target.scenario.run.as_ref().is_some_and(|one| one.script.is_some());
        if has_script || target.trial.programs().is_some() { 0 } else { 20 }
    }

    /// What was asked for; none at all for 0.
    pub(crate) fn of(target: &Target, many: Option<u32>, jobs: usize) -> Option<Redraws> {
        let many = many.unwrap_or_else(|| Redraws::usual(target));
        (many > 0).then_some(Redraws { many, jobs })
    }
}

/// So many events between the one that was found and the break are tried again: what was lost must stay so.
const AGAIN: u64 = 8;

/// From when on a run's break was not avoided any more. `None` if somebody does not wait for it.
pub(crate) fn no_return(
    target: &Target,
    run: &Run,
    violation: &RunViolation,
    redraws: Redraws,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Option<NoReturn>, BadInput> {
    let search = Search { target, seed: run.seed, violation, redraws };
    match lost_behind(run.steps, |after| search.is_avoided(after, is_stopped)) {
        Ok(0) => search.told(0, None).map(Some),
        Ok(lost) => search.told(lost, Some(lost - 1)).map(Some),
        Err(None) => Ok(None),
        Err(Some(error)) => Err(error),
    }
}

/// The first of so many events behind which the break is not avoided: 0 for the beginning of the run. Behind the last
/// there is nothing to be left to chance.
fn lost_behind<E>(events: u64, is_avoided: impl Fn(u64) -> Result<bool, E>) -> Result<u64, E> {
    if !is_avoided(0)? {
        return Ok(0);
    }
    let (mut avoided, mut lost) = (0, events);
    loop {
        while lost - avoided > 1 {
            let middle = avoided + (lost - avoided) / 2;
            match is_avoided(middle)? {
                true => avoided = middle,
                false => lost = middle,
            }
        }
        let later = (1..=AGAIN).map(|nth| lost + (events - lost) * nth / (AGAIN + 1));
        let mut is_later = None;
        for after in later {
            if after > lost && is_avoided(after)? {
                is_later = Some(after);
                break;
            }
        }
        match is_later {
            Some(after) => (avoided, lost) = (after, events),
            None => return Ok(lost),
        }
    }
}

struct Search<'a> {
    target: &'a Target,
    seed: u64,
    violation: &'a RunViolation,
    redraws: Redraws,
}

impl Search<'_> {
    /// Up to the break.
    fn run(&self, after: u64, with: u64) -> Result<Run, BadInput> {
        let stop_at = Some((self.violation.promise, self.violation.violated_assumption.is_some()));
        let options = RunOptions { redraw: Some(Redraw { after, with }), stop_at, ..RunOptions::default() };
        caught(self.seed, || {
            zk_simulator::run(&self.target.trial, &self.target.scenario, self.seed, &options)
        })
    }

    /// Whether a run breaks the same promise, and owes it as much.
    fn breaks(&self, run: &Run) -> bool {
        let is_same = |violation: &RunViolation| {
            violation.promise == self.violation.promise
                && violation.violated_assumption.is_some() == self.violation.violated_assumption.is_some()
        };
        run.violations.iter().any(is_same)
    }

    /// How many of these chances avoid the break, if everything behind an event is left to them.
    fn avoiding(&self, after: u64, chances: std::ops::RangeInclusive<u32>) -> Result<u32, BadInput> {
        let chances: Vec<u32> = chances.collect();
        let one = |with: &u32| self.run(after, u64::from(*with)).map(|run| u32::from(!self.breaks(&run)));
        each_of(&chances, self.redraws.jobs, one, &mut |_| {}).into_iter().sum()
    }

    /// Fails without an error if it is stopped.
    fn is_avoided(&self, after: u64, is_stopped: &dyn Fn() -> bool) -> Result<bool, Option<BadInput>> {
        let Redraws { many, jobs } = self.redraws;
        // Not all at once: where it can be avoided at all, the first ones often do.
        let step = jobs.max(1) as u32;
        for first in (1..=many).step_by(step as usize) {
            if is_stopped() {
                return Err(None);
            }
            if self.avoiding(after, first..=many.min(first + step - 1)).map_err(Some)? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The event behind which it is lost, and how many chances avoid it behind the one before.
    fn told(&self, lost: u64, before: Option<u64>) -> Result<NoReturn, BadInput> {
        let event = self.run(lost, 1)?.redrawn;
        let avoided = before.map(|before| self.avoiding(before, 1..=self.redraws.many)).transpose()?;
        let (virtual_ns, what) = event.unwrap_or((0, "the run begins".into()));
        Ok(NoReturn { virtual_ns, what, redraws: self.redraws.many, avoided: avoided.unwrap_or(0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Asked;
    use crate::trial_list::Trials;

    fn target(what: &str) -> Target {
        let set = vec!["servers=1".into(), "observers=0".into()];
        let asked = Asked { set, ..Asked::default() };
        Target::asked(&Trials::built_in(), what, asked).expect("it is there")
    }

    fn found(target: &Target, seed: u64, promise: &str, many: u32, jobs: usize) -> NoReturn {
        let run = zk_simulator::run(&target.trial, &target.scenario, seed, &RunOptions::default());
        let violation =
            run.violations.iter().find(|violation| violation.promise == promise).expect("it breaks");
        let redraws = Redraws { many, jobs };
        let found = no_return(target, &run, violation, redraws, &|| false).expect("runs end");
        found.expect("nobody stops it")
    }

    #[test]
    fn behind_the_event_every_chance_breaks_it_and_before_it_some_do_not() {
        let target = target("lock/simple");
        let found = found(&target, 10, "no-waiter-stuck", 20, 2);
        let event = "Turning point at 12.503 s: p4's write is answered. With the same faults and other \
                     delays from then on, 20 of 20 runs break it; from just before, 12.";
        assert_eq!(found.to_string(), event);
    }

    #[test]
    fn the_event_is_the_last_of_those_that_turn_a_run() {
        let lost = |avoided: fn(u64) -> bool| {
            lost_behind(1000, |after| Ok::<bool, ()>(avoided(after))).expect("nothing fails")
        };
        assert_eq!(lost(|_| false), 0);
        assert_eq!(lost(|after| after < 1), 1);
        assert_eq!(lost(|after| after < 700), 700);
        assert_eq!(lost(|after| after < 1000), 1000);
        // Chance had none left for a while.
        assert_eq!(lost(|after| after < 300 || (640..700).contains(&after)), 700);
        let fails = lost_behind(1000, |after| if after == 500 { Err("it fails") } else { Ok(after < 300) });
        assert_eq!(fails, Err("it fails"));
    }

    #[test]
    fn a_search_that_is_stopped_ends_where_it_is() {
        let target = target("lock/simple");
        let run = zk_simulator::run(&target.trial, &target.scenario, 10, &RunOptions::default());
        let asked = std::cell::Cell::new(0);
        let is_stopped = || asked.replace(asked.get() + 1) == 2;
        let redraws = Redraws { many: 20, jobs: 1 };
        let found = no_return(&target, &run, &run.violations[0], redraws, &is_stopped);
        assert!(found.expect("runs end").is_none());
        assert_eq!(asked.get(), 3);
    }

    #[test]
    fn a_break_that_is_owed_is_another_than_one_that_is_not() {
        let target = target("lock");
        let violation = |violated_assumption| RunViolation {
            promise: "fifo",
            at_ns: 1,
            what: String::new(),
            violated_assumption,
        };
        let gone = Some(zk_harness::promise::Assumption::NoActionAfterSessionEnd);
        let breaks = |sought, found| {
            let (run, sought) =
                (Run { violations: vec![violation(found)], ..Run::default() }, violation(sought));
            let redraws = Redraws { many: 1, jobs: 1 };
            Search { target: &target, seed: 1, violation: &sought, redraws }.breaks(&run)
        };
        assert!(breaks(None, None) && breaks(gone, gone));
        assert!(!breaks(None, gone) && !breaks(gone, None));
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let target = target("lock/no-recheck");
        let promise = "exclusion-among-live-sessions";
        assert_eq!(found(&target, 0, promise, 10, 1), found(&target, 0, promise, 10, 3));
    }

    #[test]
    fn a_run_that_stops_at_a_break_reports_it_as_the_whole_run_does() {
        let target = target("lock/java");
        let run = |seed, stop_at| {
            let options = RunOptions { stop_at, ..RunOptions::default() };
            zk_simulator::run(&target.trial, &target.scenario, seed, &options)
        };
        let mut shorter = 0;
        for seed in 0..30 {
            let whole = run(seed, None);
            for violation in &whole.violations {
                let stopped = run(seed, Some((violation.promise, violation.violated_assumption.is_some())));
                assert!(stopped.violations.contains(violation), "seed {seed}: {violation:?}");
                shorter += u32::from(stopped.steps < whole.steps);
            }
            assert_eq!(run(seed, Some(("no-such-promise", false))), whole);
        }
        assert!(shorter > 3, "{shorter}");
    }

    #[test]
    fn a_redraw_behind_the_last_event_is_the_run_itself() {
        let target = target("lock");
        for seed in 0..10 {
            let run = |redraw| {
                let options = RunOptions { redraw, ..RunOptions::default() };
                zk_simulator::run(&target.trial, &target.scenario, seed, &options)
            };
            let plain = run(None);
            let last = run(Some(Redraw { after: plain.steps, with: 1 }));
            assert_eq!(Run { redrawn: None, ..last }, plain);
            let first = run(Some(Redraw { after: 0, with: 1 }));
            assert_ne!(first.digest, plain.digest);
        }
    }

    #[test]
    fn what_breaks_by_every_chance_is_lost_from_the_beginning_on() {
        let target = target("lock/simple");
        let found = found(&target, 3, "one-woken-per-deletion", 10, 2);
        assert_eq!(found.to_string(), "With the same faults and other delays, 10 of 10 runs break it.");
    }
}

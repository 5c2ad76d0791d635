//! The trials, and what can be done with them.

use crate::BadInput;
use crate::trial_list::{Trials, is_file};
use std::process::ExitCode;
use std::sync::Arc;
use zk_api::ZPath;
use zk_harness::promises::STANDARD;
use zk_harness::trial::Trial;
use zk_model::CheckConfig;
use zk_model::model::OWN_PROMISES;
use zk_reports::CheckReport;
#[cfg(feature = "run")]
use {
    crate::judge::{Effort, MAX_STATES},
    crate::mutate::MutateArguments,
    crate::run::{self, Target},
    std::ops::Range,
    zk_reports::{JudgeReport, MutateReport, ReplayReport, SweepReport},
    zk_simulator::Scenario,
};

/// A set of trials: the built-in ones, and any that are added.
///
/// ```
/// use zoocheck::Catalogue;
/// use zoocheck::trials::prelude::*;
/// use zoocheck::trials::promises::NoFailure;
///
/// let idle = Trial::new("idle", |_, _, _| async { End::Done }).promises(|| vec![Box::new(NoFailure)]);
/// let catalogue = Catalogue::default().with(idle);
/// let names: Vec<_> = catalogue.trials().iter().map(|trial| trial.about.name).collect();
/// assert_eq!((names.first(), names.last()), (Some(&"lock"), Some(&"idle")));
/// ```
#[derive(Clone)]
pub struct Catalogue {
    trials: Trials,
}

impl Default for Catalogue {
    /// The built-in catalogue.
    fn default() -> Catalogue {
        Catalogue { trials: Trials::built_in() }
    }
}

impl Catalogue {
    /// No trials at all, not even the built-in ones.
    pub fn empty() -> Catalogue {
        Catalogue { trials: Trials::default() }
    }

    /// Adds a trial. Panics if its name is taken or cannot be typed, or if the trial could not be judged: it promises
    /// nothing, its bounds have no clients, or the znodes that it sets up cannot exist.
    #[must_use]
    #[track_caller]
    pub fn with(mut self, trial: impl Into<Trial>) -> Catalogue {
        let trial = trial.into();
        let name = trial.about.name;
        assert!(self.trials().iter().all(|other| other.about.name != name), "two trials are called '{name}'");
        let typable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.');
        assert!(!name.is_empty() && name.chars().all(typable), "a trial cannot be called '{name}'");
        assert!(!is_file(name), "a trial cannot be called '{name}': that stands for a file");
        if let Some(flaw) = flaw(&trial) {
            panic!("the trial '{name}': {flaw}");
        }
        self.trials.add(trial);
        self
    }

    /// All of them, in the order in which they are listed.
    pub fn trials(&self) -> &[Arc<Trial>] {
        self.trials.trials()
    }

    /// The trial called `name`; fails if there is none.
    pub fn find(&self, name: &str) -> Result<Arc<Trial>, BadInput> {
        self.trials.find(name)
    }

    /// The configuration that `zoocheck check` uses for a trial when given no options: a starting point for your own.
    /// Fails if there is no such trial.
    pub fn check_config(&self, name: &str) -> Result<CheckConfig, BadInput> {
        Ok(crate::check::default_config(&self.find(name)?.about))
    }

    /// Explores a trial's model. Fails if there is no such trial. That a promise is broken, or that a limit was
    /// reached, is no error: the report says it.
    pub fn check(&self, name: &str, config: &CheckConfig) -> Result<CheckReport, BadInput> {
        Ok(crate::check::check(name, &self.find(name)?, config, &mut |_| {}))
    }

    /// Runs the command with this process's arguments, and returns its exit status.
    pub fn main(self) -> ExitCode {
        crate::command::main(&self.trials, std::env::args_os())
    }
}

/// What takes a simulator.
#[cfg(feature = "run")]
impl Catalogue {
    /// The scenario that `zoocheck run` takes for a recipe, a variant or a scenario file: a starting point for your
    /// own. Fails if there is no such thing, or the file cannot be read.
    pub fn scenario(&self, what: &str) -> Result<Scenario, BadInput> {
        Ok(Target::resolve(&self.trials, what, None)?.scenario)
    }

    /// Runs a scenario under every one of the seeds, on all cores. Fails if the scenario is not valid, if it names
    /// no trial of this catalogue, or if there are no seeds.
    pub fn sweep(&self, scenario: &Scenario, seeds: Range<u64>) -> Result<SweepReport, BadInput> {
        let target = Target::of_scenario(&self.trials, scenario)?;
        let seeds = run::SeedRange::new(seeds.start, seeds.end)?;
        let mut report = run::sweep(&target, &seeds, run::default_jobs())?;
        run::explained(&target, &mut report);
        Ok(report)
    }

    /// Judges recipes and variants with both engines, as `zoocheck judge` does, each under `seeds` seeds. An empty
    /// `what` stands for all of them. Fails if one of them is no trial.
    pub fn judge(&self, what: &[&str], seeds: u64) -> Result<JudgeReport, BadInput> {
        let what: Vec<String> = what.iter().map(|what| what.to_string()).collect();
        let effort = Effort { scenario: None, seeds, max_states: MAX_STATES, jobs: run::default_jobs() };
        crate::judge::judge(&self.trials, &what, &effort, &mut |_| {})
    }

    /// Mutates recipes and reports what notices, as `zoocheck mutate` does, with `seeds` seeds for each mutation.
    /// Fails if one of them cannot be found.
    pub fn mutate(&self, what: &[&str], seeds: u64) -> Result<MutateReport, BadInput> {
        crate::mutate::mutate(&self.trials, &MutateArguments::of(what, seeds), &mut |_, _| {})
    }

    /// Runs a scenario's trial once on the live ensemble `servers`, `HOST:PORT[,HOST:PORT…]`, with the scenario's
    /// clients, rounds and work, but without its faults: those are left to the ensemble. Blocks; must not be called
    /// within a runtime. Fails if no session can be had, or if the trial's znodes are not free.
    #[cfg(feature = "live")]
    pub fn live(
        &self,
        scenario: &Scenario,
        servers: &str,
        time_limit: std::time::Duration,
    ) -> Result<zk_reports::LiveReport, BadInput> {
        let (connect, clients, rounds) = (servers.into(), scenario.clients, scenario.rounds);
        let run = run::LiveRun { connect, clients, rounds, time_limit };
        run::live(&Target::of_scenario(&self.trials, scenario)?, &run, &mut |_| {})
    }

    /// Runs a scenario under one seed, and reports its whole trace. Fails as [`sweep`](Catalogue::sweep) does.
    pub fn replay(&self, scenario: &Scenario, seed: u64) -> Result<ReplayReport, BadInput> {
        let target = Target::of_scenario(&self.trials, scenario)?;
        run::replay(&target, seed, true, None, None, zk_simulator::RunOptions::default())
    }
}

/// Judges a trial with both engines, for a `#[test]`: panics with the report unless the trial is right in every run of
/// its model and under `seeds` seeds.
///
/// ```no_run
/// # fn my_lock() -> zoocheck::trials::trial::Trial { zoocheck::trials::lock::trials().swap_remove(0) }
/// zoocheck::assert_right(my_lock(), 200);
/// ```
#[cfg(feature = "run")]
pub fn assert_right(trial: impl Into<Trial>, seeds: u64) {
    let report = Catalogue::empty().with(trial).judge(&[], seeds).unwrap_or_else(|bad| panic!("{bad}"));
    assert!(report.answer == zk_reports::Answer::Held, "\n{report}");
}

/// A model counts in 64 bits which promises were put to the test, and has a few of its own.
const PROMISES_MAX: usize = 56;

/// What is wrong with a trial itself, so that a verdict would say nothing.
fn flaw(trial: &Trial) -> Option<String> {
    let (bounds, setup) = (trial.about.bounds, &trial.setup);
    for (what, number) in [("clients", bounds.clients), ("rounds", bounds.rounds)] {
        if !(1..=16).contains(&number) {
            return Some(format!("its bounds have {number} {what}, and must have 1 to 16"));
        }
    }
    let promises = trial.owed();
    let names: Vec<&str> = promises.iter().map(|promise| promise.name()).collect();
    if let Some((before, now)) =
        names.iter().zip(&promises).map(|(name, now)| (*name, now.name())).find(|(name, now)| name != now)
    {
        return Some(format!("its promise {before} calls itself {now} when it is asked again"));
    }
    if names.is_empty() {
        return Some("it promises nothing, so that nothing can be judged".into());
    }
    if names.len() > PROMISES_MAX {
        return Some(format!("it promises {} things, and may promise {PROMISES_MAX} at most", names.len()));
    }
    if let Some(nth) = (1..names.len()).find(|nth| names[..*nth].contains(&names[*nth])) {
        let name = names[nth];
        return Some(format!("it promises {name} twice; Promise::called gives one of them another name"));
    }
    if let Some(name) = names.iter().find(|name| OWN_PROMISES.contains(name)) {
        return Some(format!(
            "it promises {name}, which is held against every recipe; Promise::called gives it another name"
        ));
    }
    if let Some(name) = names.iter().find(|name| !name.split('-').all(is_word)) {
        return Some(format!("it promises '{name}', which must be words such as no-waiter-stuck"));
    }
    if let Some(kept) = trial.keeps.iter().find(|kept| !names.contains(kept)) {
        return Some(format!("it keeps {kept}, which is no promise of it"));
    }
    if let Some(name) = trial.opts_out.iter().find(|name| !STANDARD.contains(name)) {
        return Some(format!(
            "it opts out of {name}, which is no standard promise ({})",
            STANDARD.join(", ")
        ));
    }
    for (nth, text) in setup.iter().enumerate() {
        let Ok(path) = ZPath::parse(text) else {
            return Some(format!("it sets up '{text}', which is no path"));
        };
        if path == ZPath::root() || text.split('/').nth(1) == Some("zookeeper") {
            return Some(format!("it sets up {text}, which is there by itself"));
        }
        if setup[..nth].contains(text) {
            return Some(format!("it sets up {text} twice"));
        }
        let is_there = |parent: &ZPath| *parent == ZPath::root() || setup[..nth].contains(&parent.text());
        if path.parent().is_some_and(|parent| !is_there(&parent)) {
            return Some(format!("it sets up {text} before its parent"));
        }
    }
    if let Some((path, _)) = trial.counters.iter().find(|(path, _)| !setup.contains(path)) {
        return Some(format!("it counts the children of {path}, which it does not set up"));
    }
    let counted: Vec<_> = trial.counters.iter().map(|(path, _)| path).collect();
    if let Some(nth) = (1..counted.len()).find(|nth| counted[..*nth].contains(&counted[*nth])) {
        return Some(format!("it counts the children of {} twice", counted[nth]));
    }
    #[cfg(feature = "run")]
    if let Err(error) = crate::run::suited(zk_simulator::Scenario::default(), trial) {
        return Some(error.to_string());
    }
    None
}

/// Whether a name has such a word in it.
fn is_word(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use zk_harness::event::{End, Event};
    use zk_harness::promise::{AnyPromise, Finding, Promise, Terms};
    use zk_harness::promises::{NoFailure, NoWaiterStuck};
    use zk_harness::trial::Bounds;

    /// Does nothing, as it says.
    fn sound() -> Trial {
        Trial::new("idle", |_, _, _| std::future::ready(End::Done))
            .bounds(Bounds::clients(2))
            .setup(["/a", "/a/b"])
            .promises(|| first_promises(2))
            .opts_out(&["no-failure"])
    }

    fn first_promises(most: usize) -> Vec<Box<dyn AnyPromise>> {
        let mut all: Vec<Box<dyn AnyPromise>> =
            vec![Box::new(NoWaiterStuck), Box::new(NoFailure), Box::new(NoWaiterStuck)];
        all.truncate(most);
        all
    }

    #[test]
    fn a_trial_of_which_nothing_could_be_judged_is_not_taken() {
        let wrong = |idle: Trial| flaw(&idle).expect("it is wrong");
        let bounds = |clients, rounds| sound().bounds(Bounds { rounds, ..Bounds::clients(clients) });
        assert_eq!(wrong(bounds(0, 1)), "its bounds have 0 clients, and must have 1 to 16");
        assert_eq!(wrong(bounds(17, 1)), "its bounds have 17 clients, and must have 1 to 16");
        assert_eq!(wrong(bounds(1, 0)), "its bounds have 0 rounds, and must have 1 to 16");
        let promises = |most| sound().promises(move || first_promises(most));
        assert_eq!(wrong(promises(0)), "it promises nothing, so that nothing can be judged");
        assert_eq!(
            wrong(promises(3)),
            "it promises no-waiter-stuck twice; Promise::called gives one of them another name"
        );
        let many = || (0..60).map(|_| Box::new(NoFailure) as Box<dyn AnyPromise>).collect();
        assert!(wrong(sound().promises(many)).ends_with(" things, and may promise 56 at most"));
        assert_eq!(wrong(sound().keeps(&["fifo"])), "it keeps fifo, which is no promise of it");
        let own = || vec![Box::new(NoFailure.called("no-panic")) as Box<dyn AnyPromise>];
        assert!(wrong(sound().promises(own)).starts_with("it promises no-panic, which is held against"));
        let standard = STANDARD.join(", ");
        assert_eq!(
            wrong(sound().opts_out(&["fifo"])),
            format!("it opts out of fifo, which is no standard promise ({standard})")
        );
        assert_eq!(wrong(sound().setup(["a"])), "it sets up 'a', which is no path");
        assert_eq!(wrong(sound().setup(["/a/b"])), "it sets up /a/b before its parent");
        assert_eq!(wrong(sound().setup(["/a", "/a"])), "it sets up /a twice");
        for there in ["/", "/zookeeper", "/zookeeper/quota"] {
            assert_eq!(
                wrong(sound().setup([there])),
                format!("it sets up {there}, which is there by itself")
            );
        }
        let of_b = "it counts the children of /b, which it does not set up";
        assert_eq!(wrong(sound().counters(&[("/b", 7)])), of_b);
        let twice = sound().setup(["/a"]).counters(&[("/a", 7), ("/a", 8)]);
        assert_eq!(wrong(twice), "it counts the children of /a twice");
        let named = |name| wrong(sound().promises(move || vec![Box::new(Called(name))]));
        assert_eq!(named(""), "it promises '', which must be words such as no-waiter-stuck");
        assert_eq!(named("no one"), "it promises 'no one', which must be words such as no-waiter-stuck");
        let none = wrong(sound().scenario(&[("clients", "0")]));
        assert!(none.starts_with("the scenario of idle: ") && none.contains("clients"), "{none}");
    }

    /// Has another name each time.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Fickle;

    impl Promise for Fickle {
        fn terms(&self) -> Terms {
            static ASKED: AtomicBool = AtomicBool::new(false);
            let asked = ASKED.fetch_xor(true, Ordering::Relaxed);
            Terms::of(if asked { "odd" } else { "even" }).about("Nothing.")
        }

        fn see(&mut self, _: &Event, _: &mut Vec<Finding>) {}
    }

    #[test]
    fn a_promise_whose_name_changes_is_not_taken_and_one_of_two_may_be_called_otherwise() {
        let flaw = |promises: fn() -> Vec<Box<dyn AnyPromise>>| {
            flaw(&sound().promises(promises)).unwrap_or_default()
        };
        let fickle = flaw(|| vec![Box::new(Fickle)]);
        assert!(fickle.contains("calls itself"), "{fickle}");
        assert_eq!(flaw(|| vec![Box::new(NoFailure), Box::new(NoFailure.called("none-fails"))]), "");
    }

    /// Has this name.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Called(&'static str);

    impl Promise for Called {
        fn terms(&self) -> Terms {
            Terms::of(self.0).about("Nothing.")
        }

        fn see(&mut self, _: &Event, _: &mut Vec<Finding>) {}
    }

    #[test]
    fn every_trial_of_the_catalogue_would_be_taken() {
        assert_eq!(flaw(&sound()), None);
        for trial in Catalogue::default().trials() {
            assert_eq!(flaw(trial), None, "{}", trial.about.name);
        }
    }

    #[test]
    #[should_panic(expected = "the trial 'idle': it promises nothing")]
    fn whoever_adds_one_is_told() {
        let _ = Catalogue::empty().with(sound().promises(Vec::new));
    }
}

//! A smaller run in which the same promise breaks.

use super::Target;
use super::build::build;
use super::scenario_file;
use super::target::plural_of;
use crate::BadInput;
use crate::bad_input::printable;
use crate::shell::{shell_word, with};
use crate::trial_list::is_file;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zk_harness::trial::Trial;
use zk_reports::prepare_file;
use zk_simulator::{Fault, Faults, OneRun, Recorded, Run, RunOptions, Scenario, Schedule, TimedFault};

/// How long to go on.
#[derive(Clone, Debug)]
pub(crate) struct Effort {
    /// Runs at most.
    pub(crate) tries: u64,
    /// Wall-clock time at most.
    pub(crate) time_limit: Duration,
    /// Set when somebody wants it to end.
    pub(crate) stop: Arc<AtomicBool>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub(crate) struct Shrunk {
    /// The small one, which holds its one run.
    pub(crate) scenario: Scenario,
    /// That run.
    pub(crate) run: Run,
    /// How many faults there were.
    pub(crate) faults_before: usize,
    /// How many runs it took.
    pub(crate) tries: u64,
    /// Whether it ended because nothing smaller was left to try, and not because of a limit.
    pub(crate) done: bool,
}

/// Shrinks the run of a seed while this promise breaks where it is owed: the one that is named, or that the catalogue
/// names, or the first that broke. `progress` learns how many runs were tried, and the smallest so far.
pub(crate) fn shrink(
    target: &Target,
    seed: u64,
    promise: Option<&str>,
    effort: Effort,
    progress: &mut dyn FnMut(u64, &Scenario),
) -> Result<Shrunk, BadInput> {
    can_be_shrunk(target, seed)?;
    let schedule = match &target.scenario.run {
        Some(one) => one.schedule.clone(),
        None => Schedule::draw(&target.scenario, seed),
    };
    let faults_before = schedule.faults.len();
    let run = zk_simulator::run(&target.trial, &target.scenario, seed, &RunOptions::default());
    let found = match promise {
        Some(name) => run.owed().find(|violation| violation.promise == name),
        // What it is known for says more than what comes of that.
        None => {
            let known = target.trial.about.breaks.map(|breaks| breaks.promise);
            run.owed().find(|violation| Some(violation.promise) == known).or_else(|| run.owed().next())
        }
    };
    let Some(found) = found else {
        let names: Vec<&str> = run.owed().map(|violation| violation.promise).collect();
        return Err(BadInput::new(match (promise, names.is_empty()) {
            (_, true) => format!(
                "{} --seed {seed}: no promise breaks there, so there is nothing to shrink",
                target.what
            ),
            (Some(name), false) => format!(
                "--promise {name}: it does not break in {} --seed {seed}; {} does",
                target.what,
                names.join(", ")
            ),
            (None, false) => unreachable!("the first of them was found"),
        }));
    };
    let one = OneRun {
        seed,
        breaks: found.promise.into(),
        schedule,
        choices: target.scenario.run.as_ref().map(|one| one.choices.clone()).unwrap_or_default(),
        ..OneRun::default()
    };
    let scenario = Scenario { run: Some(one), faults: Faults::none(), ..target.scenario.clone() };
    let mut shrinker = Shrinker {
        trial: &target.trial,
        best: scenario,
        tries: 0,
        other_seeds: OTHER_SEEDS,
        most: effort.tries,
        until: Instant::now() + effort.time_limit,
        stop: effort.stop,
        progress,
    };
    let done = shrinker.shrink();
    let (mut scenario, tries) = (shrinker.best, shrinker.tries + 1);
    let seed = scenario.run.as_ref().expect("it was given one").seed;
    let options = RunOptions { record_choices: true, ..RunOptions::default() };
    let run = zk_simulator::run(&target.trial, &scenario, seed, &options);
    let one = scenario.run.as_mut().expect("it was given one");
    let broken = run.owed().find(|violation| violation.promise == one.breaks);
    one.what = broken.expect("nothing else was kept").what.clone();
    one.digest = format!("{:016x}", run.digest);
    one.build = build();
    one.choices = Recorded { choices: run.choices.clone() };
    scenario.about = format!("{} breaks {}: one run, shrunk.", scenario.recipe, one.breaks);
    Ok(Shrunk { scenario, run, faults_before, tries, done })
}

/// Fails if nothing smaller could come of a run, or no file could hold it.
fn can_be_shrunk(target: &Target, seed: u64) -> Result<(), BadInput> {
    let what = &target.what;
    if target.scenario.run.as_ref().is_some_and(|one| one.script.is_some()) {
        return Err(bad!("{what}: a model's counterexample is the shortest there is already"));
    }
    if i64::try_from(seed).is_err() {
        return Err(bad!("--seed {seed}: a scenario file holds seeds up to {}", i64::MAX));
    }
    Ok(())
}

struct Shrinker<'a> {
    trial: &'a Arc<Trial>,
    /// The smallest that still breaks.
    best: Scenario,
    tries: u64,
    other_seeds: u64,
    most: u64,
    until: Instant,
    stop: Arc<AtomicBool>,
    progress: &'a mut dyn FnMut(u64, &Scenario),
}

/// Other seeds that a smaller shape is tried with where its own does not break: what is drawn for fewer clients is not
/// what was drawn for more.
const OTHER_SEEDS: u64 = 24;

/// The same where nothing else is left to try, and there are more clients than a reader can hold in the head.
const MANY_OTHER_SEEDS: u64 = 400;
const FEW_CLIENTS: u16 = 3;

impl Shrinker<'_> {
    /// Goes through all that could be smaller until nothing is. `false` if a limit came first.
    fn shrink(&mut self) -> bool {
        loop {
            if !self.settle() {
                return false;
            }
            let clients = self.best.clients;
            if clients > FEW_CLIENTS {
                self.other_seeds = MANY_OTHER_SEEDS;
                self.fewer_clients();
                self.other_seeds = OTHER_SEEDS;
            }
            if self.best.clients == clients {
                return !self.is_over();
            }
        }
    }

    fn settle(&mut self) -> bool {
        loop {
            let before = self.best.clone();
            self.fewer_faults();
            self.fewer_clients();
            self.fewer_rounds_and_servers();
            self.fewer_faults();
            self.simpler_faults();
            self.simpler_times();
            if self.is_over() {
                return false;
            }
            if self.best == before {
                return true;
            }
        }
    }

    fn is_over(&self) -> bool {
        self.tries >= self.most || Instant::now() >= self.until || self.stop.load(Ordering::Relaxed)
    }

    fn one(&self) -> &OneRun {
        self.best.run.as_ref().expect("it has one from the start")
    }

    fn faults(&self) -> &[TimedFault] {
        &self.one().schedule.faults
    }

    /// Keeps a candidate if the promise breaks in it.
    fn keep(&mut self, candidate: Scenario) -> bool {
        if candidate == self.best || self.is_over() || candidate.validate().is_err() {
            return false;
        }
        self.tries += 1;
        let one = candidate.run.as_ref().expect("it is the best one's");
        let run = zk_simulator::run(self.trial, &candidate, one.seed, &RunOptions::default());
        let kept = run.owed().any(|violation| violation.promise == one.breaks);
        if kept {
            self.best = candidate;
        }
        (self.progress)(self.tries, &self.best);
        kept
    }

    /// The same with its own seed, and then with others.
    fn keep_with_any_seed(&mut self, candidate: &Scenario) -> bool {
        let own = self.one().seed;
        std::iter::once(own).chain((0..self.other_seeds).filter(|seed| *seed != own)).any(|seed| {
            let mut candidate = candidate.clone();
            candidate.run.as_mut().expect("it is the best one's").seed = seed;
            self.keep(candidate)
        })
    }

    fn with_faults(&self, faults: Vec<TimedFault>) -> Scenario {
        let mut candidate = self.best.clone();
        candidate.run.as_mut().expect("it has one from the start").schedule.faults = faults;
        candidate
    }

    /// Delta debugging: halves, quarters and so on are left out, down to each fault alone.
    fn fewer_faults(&mut self) {
        let mut size = self.faults().len().next_power_of_two();
        while size > 0 {
            let mut from = 0;
            while from < self.faults().len() {
                let until = (from + size).min(self.faults().len());
                let rest = [&self.faults()[..from], &self.faults()[until..]].concat();
                if !self.keep(self.with_faults(rest)) {
                    from = until;
                }
            }
            size /= 2;
        }
    }

    /// Each client is left out, with its faults; those behind it move up.
    fn fewer_clients(&mut self) {
        let mut gone = self.best.clients;
        while gone > 0 && self.best.clients > 1 {
            gone -= 1;
            let faults = self.faults().iter().filter_map(|timed| without_client(timed, gone)).collect();
            let candidate = Scenario { clients: self.best.clients - 1, ..self.with_faults(faults) };
            self.keep_with_any_seed(&candidate);
            gone = gone.min(self.best.clients);
        }
    }

    fn fewer_rounds_and_servers(&mut self) {
        let Scenario { rounds, observers, servers, .. } = self.best;
        // The first that is kept is the smallest.
        (1..rounds).any(|rounds| self.keep_with_any_seed(&Scenario { rounds, ..self.best.clone() }));
        (0..observers).any(|observers| self.keep_with_any_seed(&Scenario { observers, ..self.best.clone() }));
        (1..servers).any(|servers| self.keep_with_any_seed(&Scenario { servers, ..self.best.clone() }));
    }

    /// Each fault with rounder, earlier and shorter times. Every step is down, or to fewer digits, so it ends.
    fn simpler_faults(&mut self) {
        for nth in 0..self.faults().len() {
            loop {
                let simpler = simpler(&self.faults()[nth].clone());
                let kept = simpler.into_iter().any(|simpler| {
                    let mut faults = self.faults().to_vec();
                    faults[nth] = simpler;
                    faults.sort_by_key(|timed| timed.at_ms);
                    self.keep(self.with_faults(faults))
                });
                if !kept {
                    break;
                }
            }
        }
    }

    /// The scenario's own times, each as one round number if that will do.
    fn simpler_times(&mut self) {
        for ms in [1.0, 2.0, 5.0, 10.0] {
            if self.best.latency_ms[0] == self.best.latency_ms[1] {
                break;
            }
            self.keep_with_any_seed(&Scenario { latency_ms: [ms, ms], ..self.best.clone() });
        }
        for ms in [0, 10, 100, 1000, 2000, 4000] {
            if self.best.work_ms[0] == self.best.work_ms[1] {
                break;
            }
            self.keep_with_any_seed(&Scenario { work_ms: [ms, ms], ..self.best.clone() });
        }
        let last_ms = self.faults().iter().map(|timed| timed.at_ms).max().unwrap_or(0);
        let needed = u32::try_from(last_ms.div_ceil(1000)).unwrap_or(u32::MAX);
        // The first that is kept is the smallest.
        [0, 5, 10].map(|more| needed.saturating_add(more)).into_iter().any(|fault_seconds| {
            fault_seconds < self.best.fault_seconds
                && self.keep(Scenario { fault_seconds, ..self.best.clone() })
        });
    }
}

/// The fault as it is without a client; `None` if it was that one's.
fn without_client(timed: &TimedFault, gone: u16) -> Option<TimedFault> {
    let mut timed = timed.clone();
    let client = match &mut timed.fault {
        Fault::Drop { client, .. }
        | Fault::SlowLink { client, .. }
        | Fault::Expire { client }
        | Fault::ExpireOwner { reader: client }
        | Fault::ClientCrash { client, .. }
        | Fault::ClientPause { client, .. }
        | Fault::Stranger { client, .. }
        | Fault::AdminDelete { client, .. }
        | Fault::AdminWrite { client, .. } => client,
        Fault::ClockSkew { node, .. } | Fault::ClockJump { node, .. } => match node {
            zk_simulator::schedule::Node::Client(client) => client,
            zk_simulator::schedule::Node::Server(_) => return Some(timed),
        },
        Fault::ServerCrash { .. }
        | Fault::SlowSync { .. }
        | Fault::LeaderCrash { .. }
        | Fault::Partition { .. }
        | Fault::ServerPause { .. }
        | Fault::LeaderPause { .. }
        | Fault::ServerLag { .. }
        | Fault::LinkBreak { .. }
        | Fault::DiskRot { .. }
        | Fault::DiskError { .. }
        | Fault::DiskFull { .. } => return Some(timed),
    };
    match (*client).cmp(&gone) {
        std::cmp::Ordering::Equal => return None,
        std::cmp::Ordering::Greater => *client -= 1,
        std::cmp::Ordering::Less => {}
    }
    Some(timed)
}

/// Simpler ones, the simplest first.
fn simpler(timed: &TimedFault) -> Vec<TimedFault> {
    let at = |at_ms: u64| TimedFault { at_ms, ..timed.clone() };
    let mut all: Vec<TimedFault> = rounder(timed.at_ms).into_iter().map(at).collect();
    for (nth, ms) in times(&mut timed.fault.clone()).into_iter().enumerate() {
        all.extend(rounder(*ms).into_iter().map(|ms| {
            let mut simpler = timed.clone();
            *times(&mut simpler.fault)[nth] = ms;
            simpler
        }));
    }
    let mut simpler = timed.clone();
    if let Fault::ServerCrash { mid_sync, .. } | Fault::LeaderCrash { mid_sync, .. } = &mut simpler.fault {
        *mid_sync = false;
        all.push(simpler);
    }
    all
}

/// How long what a fault does takes.
fn times(fault: &mut Fault) -> Vec<&mut u64> {
    match fault {
        Fault::ServerCrash { down_ms, .. } | Fault::LeaderCrash { down_ms, .. } => vec![down_ms],
        Fault::ClientCrash { restart_after_ms, .. } => vec![restart_after_ms],
        Fault::SlowSync { sync_ms, for_ms, .. } => vec![sync_ms, for_ms],
        Fault::ClientPause { for_ms, .. }
        | Fault::SlowLink { for_ms, .. }
        | Fault::Partition { for_ms, .. }
        | Fault::ServerPause { for_ms, .. }
        | Fault::LeaderPause { for_ms }
        | Fault::ServerLag { for_ms, .. } => vec![for_ms],
        Fault::Drop { .. }
        | Fault::Expire { .. }
        | Fault::ExpireOwner { .. }
        | Fault::ClockSkew { .. }
        | Fault::ClockJump { .. }
        | Fault::LinkBreak { .. }
        | Fault::DiskRot { .. }
        | Fault::DiskError { .. }
        | Fault::DiskFull { .. }
        | Fault::Stranger { .. }
        | Fault::AdminDelete { .. }
        | Fault::AdminWrite { .. } => Vec::new(),
    }
}

/// Rounder numbers, the smallest first: smaller ones with no more digits that count, or somewhat larger ones with
/// fewer.
fn rounder(ms: u64) -> Vec<u64> {
    let mut all = vec![0];
    for unit in [10_000, 5_000, 1_000, 500, 100, 10] {
        let down = ms - ms % unit;
        all.extend([down, down + unit]);
    }
    let is_up = |round: u64| round <= ms + (ms / 4).max(9) && digits(round) < digits(ms);
    all.retain(|round| if *round < ms { digits(*round) <= digits(ms) } else { is_up(*round) });
    all.sort_unstable();
    all.dedup();
    all
}

/// How many digits of a number are left when its last zeros are not counted.
fn digits(number: u64) -> usize {
    number.to_string().trim_end_matches('0').len()
}

/// The file of a shrunk run: it stands alone.
pub(crate) fn to_file(scenario: &Scenario, made_by: &str, replay: &str) -> String {
    let one = scenario.run.as_ref().expect("a shrunk scenario has one run");
    let mut table = toml::Table::try_from(scenario).expect("a scenario is a table");
    // Limits of what seeds draw; nothing is drawn here.
    table.remove("faults");
    let one_table = table.get_mut("run").and_then(toml::Value::as_table_mut).expect("a run is a table");
    if one.schedule.faults.is_empty() && one.script.is_some() {
        one_table.remove("schedule");
    }
    let body = toml::to_string_pretty(&table).expect("a table can be written");
    format!(
        "# {}: {}\n# Made by `{}`, zoocheck {}.\n# Shows it again: {}\n{} = \"{}\"\n{body}",
        one.breaks,
        comment(&one.what),
        comment(made_by),
        one.build,
        comment(replay),
        scenario_file::MADE_FOR,
        scenario_file::made_for_own(),
    )
}

/// A line that may stand in a comment of a file, in which nothing is to be acted upon.
fn comment(text: &str) -> String {
    text.split_whitespace().map(printable).collect::<Vec<_>>().join(" ")
}

/// What shows the run of a file again, with what is owed if it is a program's.
pub(crate) fn replay_of(file: &str, promises: &[String]) -> String {
    // What begins with a dash would be an option.
    let file = if file.starts_with('-') { format!("./{file}") } else { file.into() };
    format!("zoocheck replay {}{}", shell_word(&file), with("--promises", promises))
}

/// What there is in it, in short.
pub(crate) fn size(scenario: &Scenario) -> String {
    size_with(scenario, scenario.run.as_ref().map_or(0, |one| one.schedule.faults.len()))
}

fn size_with(scenario: &Scenario, faults: usize) -> String {
    let parts = [
        (usize::from(scenario.clients), "client"),
        (usize::from(scenario.rounds), "round"),
        (usize::from(scenario.machines()), "server"),
        (faults, "fault"),
    ];
    parts.map(|(n, one)| plural_of(n, one)).join(", ")
}

/// What came of it, for people.
pub(crate) fn shrunk_text(shrunk: &Shrunk, target: &Target, file: &str) -> String {
    let one = shrunk.scenario.run.as_ref().expect("a shrunk scenario has one run");
    let before = size_with(&target.scenario, shrunk.faults_before);
    let ended = if shrunk.done { "nothing smaller breaks it" } else { "a limit came before the end" };
    format!(
        "{}: {}\n  from {before}\n  to   {}, {:.3} s\n  {} runs; {ended}\n{file} is written; it shows it again:\n{}\n",
        one.breaks,
        one.what,
        size(&shrunk.scenario),
        shrunk.run.virtual_ns as f64 / 1e9,
        shrunk.tries,
        replay_of(file, target.promises()),
    )
}

/// Fails if a scenario cannot be written there: before a minute's work, not after it.
pub(crate) fn new_scenario_file(file: &Path) -> Result<(), BadInput> {
    let shown = file.display();
    scenario_file::named(&file.to_string_lossy())?;
    if !is_file(&file.to_string_lossy()) {
        return Err(bad!("{shown}: a scenario file ends in .toml"));
    }
    Ok(prepare_file(file)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounder_numbers_come_to_an_end_and_are_hardly_larger() {
        assert_eq!(rounder(0), Vec::<u64>::new());
        assert!(rounder(4321).contains(&4000) && rounder(4321).contains(&4300) && rounder(4321)[0] == 0);
        assert!(
            rounder(3389).contains(&3390) && rounder(3389).contains(&3500) && rounder(3389).contains(&4000)
        );
        for ms in [1, 9, 10, 99, 123, 3389, 5000, 12_345] {
            for round in rounder(ms) {
                assert!(round <= ms + (ms / 4).max(9) && round != ms, "{ms}: {round}");
                let (before, after) = ((digits(ms), ms), (digits(round), round));
                assert!(after < before, "{ms}: {round}: no way leads back");
            }
        }
    }

    #[test]
    fn of_what_is_left_no_fault_can_be_left_out() {
        let catalogue = crate::trial_list::Trials::built_in();
        let effort = Effort { tries: 20_000, time_limit: Duration::from_secs(3600), stop: Arc::default() };
        let mut faults_left = 0;
        for (variant, seed) in [("lock/no-recheck", 0), ("barrier/no-recheck", 5), ("queue/lost-delete", 0)] {
            let target = Target::resolve(&catalogue, variant, None).expect(variant);
            let shrunk = shrink(&target, seed, None, effort.clone(), &mut |_, _| ()).expect(variant);
            assert!(shrunk.done, "{variant}");
            let one = shrunk.scenario.run.clone().expect("one run");
            faults_left += one.schedule.faults.len();
            for nth in 0..one.schedule.faults.len() {
                let mut fewer = shrunk.scenario.clone();
                fewer.run.as_mut().expect("one run").schedule.faults.remove(nth);
                let run = zk_simulator::run(&target.trial, &fewer, one.seed, &RunOptions::default());
                let breaks = |it: &zk_simulator::RunViolation| {
                    it.violated_assumption.is_none() && it.promise == one.breaks
                };
                assert!(!run.violations.iter().any(breaks), "{variant}: without fault {nth}");
            }
        }
        assert!(faults_left > 0, "of nothing everything can be left out");
    }

    #[test]
    fn a_client_that_is_left_out_takes_its_faults_along_and_the_others_move_up() {
        let expire = |client| TimedFault { at_ms: 1, fault: Fault::Expire { client } };
        assert_eq!(without_client(&expire(1), 1), None);
        assert_eq!(without_client(&expire(0), 1), Some(expire(0)));
        assert_eq!(without_client(&expire(2), 1), Some(expire(1)));
    }
}

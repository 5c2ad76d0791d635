//! The recipe that is mutated, as it is: what it keeps, where it can go wrong, and by what it is tried.

use super::arguments::MutateArguments;
use crate::check::default_config;
use crate::run::Target;
use crate::trial_list::Trials;
use std::collections::BTreeSet;
use std::sync::Arc;
use zk_harness::mutation::{Kind, Mutated, Mutation, Seen, Word};
use zk_harness::promises;
use zk_harness::trial::{Bounds, Promises, Trial};
use zk_model::{Check, CheckConfig, Verdict};
use zk_reports::Killed;
use zk_simulator::{RunOptions, Scenario};

/// A recipe that is to be mutated.
pub(super) struct Subject {
    /// Held to those of its promises that it keeps.
    pub(super) trial: Mutated,
    /// Those that it does not keep.
    pub(super) broken: Vec<String>,
    /// What was put to the test of the others.
    tested: BTreeSet<&'static str>,
    /// Its own bounds, or as much of them as its model has an end in: with faults of one sort or another, if it must
    /// be.
    pub(super) configs: Vec<CheckConfig>,
    /// Its own bounds.
    own: CheckConfig,
    /// How many states its models have there.
    pub(super) states: u64,
    /// Held to promises of the library that it keeps, beyond its own.
    pub(super) library: Mutated,
    seen: Seen,
    scenario: Scenario,
    seeds: u64,
}

/// What came of a trial by both engines.
#[derive(Default)]
struct Found {
    killed: Option<Killed>,
    broken: BTreeSet<&'static str>,
    tested: BTreeSet<&'static str>,
    ran_out: Option<String>,
    states: u64,
}

/// Why nothing is decided of a recipe where no bounds are small enough.
pub(super) const NO_END: &str = "the recipe's own model has no end in any bounds";

/// What came of a mutation.
pub(super) enum Came {
    NotReached,
    Killed(Killed),
    /// Nothing noticed it. A search that was cut short says where.
    Unnoticed(Option<String>),
}

impl Subject {
    pub(super) fn of(catalogue: &Trials, target: Target, how: &MutateArguments) -> Subject {
        let Target { trial, scenario, .. } = target;
        let config = default_config(&trial.about);
        let own = CheckConfig { max_states: Some(how.max_states), max_memory: None, ..config };
        let mut subject = Subject {
            trial: Mutated::none(trial.clone()),
            broken: Vec::new(),
            tested: BTreeSet::new(),
            configs: Vec::new(),
            own,
            states: 0,
            library: Mutated::none(trial.clone()),
            seen: Seen::default(),
            scenario,
            seeds: how.seeds,
        };
        subject.look_at(catalogue);
        subject
    }

    /// Runs it as it is, and notes what there is.
    fn look_at(&mut self, catalogue: &Trials) {
        let mut seeds = self.by_seeds(&self.trial, false);
        // Its occasions, those that come with faults only too. What is put to the test so far out is not to be missed
        // of a mutated recipe, which is not looked at so far.
        let mut model = Found { tested: BTreeSet::new(), ..self.all_of_model(&self.own) };
        // A mutated recipe may have more states than the recipe itself, and both have more outcomes than states.
        let few = self.own.max_states.map(|most| most / 4);
        for rung in smaller(self.own.bounds) {
            for (nth, bounds) in rung.iter().copied().enumerate() {
                if rung[..nth].contains(&bounds) {
                    continue;
                }
                let config = CheckConfig { bounds, max_states: few, ..self.own.clone() };
                let found = self.all_of_model(&config);
                if found.ran_out.is_none() {
                    self.states += found.states;
                    self.configs.push(CheckConfig { max_states: self.own.max_states, ..config });
                    model.broken.extend(found.broken);
                    model.tested.extend(found.tested);
                }
            }
            if !self.configs.is_empty() {
                break;
            }
        }
        self.seen = self.trial.log.seen();
        seeds.tested.extend(model.tested);
        seeds.broken.extend(model.broken);
        let own: Vec<&str> = (self.trial.promises)().iter().map(|promise| promise.name()).collect();
        let is_own = |name: &&&str| own.contains(name);
        self.broken = seeds.broken.iter().map(|name| name.to_string()).collect();
        self.tested = seeds.tested.iter().filter(is_own).copied().collect();
        self.tested.retain(|name| !seeds.broken.contains(name));
        let (trial, broken) = (self.trial.trial.clone(), self.broken.clone());
        let is_kept = move |name: &str| !broken.iter().any(|other| other == name);
        let kept: Promises =
            Arc::new(move || trial.held_to().into_iter().filter(|promise| is_kept(promise.name())).collect());
        self.trial = self.trial.held_to(kept, self.trial.counts_wakes);
        self.library = self.of_library(catalogue, &own);
    }

    /// Held to what of the library is put to the test by the recipe itself, and holds.
    fn of_library(&self, catalogue: &Trials, own: &[&'static str]) -> Mutated {
        let all = library(catalogue, &self.trial.trial);
        let held_to = |names: BTreeSet<&'static str>| {
            let all = all.clone();
            let chosen = move || {
                let mut seen = BTreeSet::new();
                let mut is_new = |name| names.contains(name) && seen.insert(name);
                all().into_iter().filter(|promise| is_new(promise.name())).collect()
            };
            self.trial.held_to(Arc::new(chosen), true)
        };
        let names = all().iter().map(|promise| promise.name()).filter(|name| !own.contains(name)).collect();
        let tried = held_to(names);
        let (seeds, model) = (self.by_seeds(&tried, false), self.by_models(&tried));
        let is_kept = |name: &&str| !seeds.broken.contains(name) && !model.broken.contains(name);
        held_to(seeds.tested.union(&model.tested).copied().filter(|name| is_kept(name)).collect())
    }

    /// What can go wrong, at the first so many occasions of each kind.
    pub(super) fn mutations(&self, occasions: u8) -> Vec<(Mutation, Option<Word>, String)> {
        let all = Kind::ALL.iter().flat_map(|kind| (1..=occasions).map(move |nth| (*kind, nth)));
        all.filter_map(|(kind, nth)| {
            let place = self.seen.places.get(&(kind, nth))?;
            let word = match kind {
                Kind::SaysEarly => Some(self.seen.words.get(&nth)?.clone()),
                _ => None,
            };
            Some((Mutation { kind, nth }, word, place.clone()))
        })
        .collect()
    }

    /// Tries a mutation by seeds, and then by the model.
    pub(super) fn tries(&self, mutated: &Mutated) -> Came {
        let mut found = self.by_seeds(mutated, true);
        if let Some(killed) = found.killed {
            return Came::Killed(killed);
        }
        let model = self.by_models(mutated);
        if let Some(killed) = model.killed {
            return Came::Killed(killed);
        }
        if !mutated.log.seen().acted {
            return Came::NotReached;
        }
        found.tested.extend(model.tested);
        match self.tested.difference(&found.tested).next() {
            // Cut short, it may have been put to the test later.
            Some(name) if model.ran_out.is_none() => {
                let promise = format!("{name} is never put to the test");
                Came::Killed(Killed { promise, seed: None, steps: None })
            }
            Some(_) | None => Came::Unnoticed(model.ran_out),
        }
    }

    /// Tries it in the recipe's own bounds, as far as its model goes there.
    pub(super) fn tries_further(&self, mutated: &Mutated) -> Option<Killed> {
        let is_further = self.configs.iter().all(|config| config.bounds != self.own.bounds);
        is_further.then(|| self.of_check(&self.by_model(mutated, &self.own)).killed).flatten()
    }

    /// Which promises of the library notice a mutation.
    pub(super) fn noticed_by(&self, mutated: &Mutated) -> Vec<String> {
        let held = mutated.held_to(self.library.promises.clone(), true);
        let names: Vec<&str> = (held.promises)().iter().map(|promise| promise.name()).collect();
        if names.is_empty() {
            return Vec::new();
        }
        let mut broken = self.by_seeds(&held, false).broken;
        broken.extend(self.by_models(&held).broken);
        names.into_iter().filter(|name| broken.contains(name)).map(str::to_owned).collect()
    }

    fn by_seeds(&self, trial: &Mutated, stop: bool) -> Found {
        let dynamic = Arc::new(trial.once());
        let mut found = Found::default();
        for seed in 0..self.seeds {
            let run = zk_simulator::run(&dynamic, &self.scenario, seed, &RunOptions::default());
            found.tested.extend(run.tested.iter().filter(|(_, tested)| **tested > 0).map(|(name, _)| *name));
            // What it breaks by itself kills nothing.
            let is_new = |name: &str| self.broken.iter().all(|broken| broken != name);
            let owed = run.owed().filter(|it| is_new(it.promise));
            found.broken.extend(owed.map(|violation| violation.promise));
            if let (true, Some(first)) = (stop, found.broken.first()) {
                found.killed = Some(Killed { promise: first.to_string(), seed: Some(seed), steps: None });
                break;
            }
        }
        found
    }

    /// What its own model breaks in these bounds, each promise that it breaks: a search ends at the first one, so it is
    /// searched again without those.
    fn all_of_model(&self, config: &CheckConfig) -> Found {
        let mut all = of_check(&self.by_model(&self.trial, config));
        let mut last = all.broken.clone();
        while !last.is_empty() {
            let (own, broken) = (self.trial.promises.clone(), all.broken.clone());
            let is_kept = move |name: &str| !broken.contains(name);
            let kept = move || own().into_iter().filter(|promise| is_kept(promise.name())).collect();
            let rest = self.trial.held_to(Arc::new(kept), self.trial.counts_wakes);
            let found = of_check(&self.by_model(&rest, config));
            last = found.broken.difference(&all.broken).copied().collect();
            all.broken.extend(&last);
            all.tested.extend(found.tested);
            (all.ran_out, all.states) = (found.ran_out, found.states);
        }
        all
    }

    fn by_models(&self, trial: &Mutated) -> Found {
        let none = self.configs.is_empty().then(|| NO_END.to_owned());
        let mut all = Found { ran_out: none, ..Found::default() };
        for config in &self.configs {
            let found = self.of_check(&self.by_model(trial, config));
            all.killed = all.killed.or(found.killed);
            all.broken.extend(found.broken);
            all.tested.extend(found.tested);
            all.ran_out = all.ran_out.or(found.ran_out);
        }
        all
    }

    /// The same as [`of_check`], but what the recipe breaks by itself kills nothing, and leaves it open what else
    /// would.
    fn of_check(&self, check: &Check) -> Found {
        let mut found = of_check(check);
        if let Some(killed) = found.killed.take_if(|killed| self.broken.contains(&killed.promise)) {
            found.ran_out = Some(format!("the recipe itself breaks {}", killed.promise));
        }
        found
    }

    fn by_model(&self, trial: &Mutated, config: &CheckConfig) -> Check {
        zk_model::check(Arc::new(trial.explored()), &within(trial, config), &mut |_| {})
    }
}

/// What is explored of a mutated recipe. Who polls does so for ever, so that his model has no end.
pub(super) fn within(trial: &Mutated, config: &CheckConfig) -> CheckConfig {
    let is_endless = trial.mutation.is_some_and(|mutation| mutation.kind == Kind::Polls);
    let max_states = config.max_states.map(|most| if is_endless { most / 8 } else { most });
    CheckConfig { max_states, ..config.clone() }
}

fn of_check(check: &Check) -> Found {
    let (killed, ran_out) = match &check.verdict {
        Verdict::Holds => (None, None),
        Verdict::Violated { promise, steps } => {
            (Some(Killed { promise: promise.clone(), seed: None, steps: Some(*steps) }), None)
        }
        Verdict::Undecided { ran_out } => (None, Some(ran_out.clone())),
        Verdict::NotDetermined { .. } => {
            (Some(Killed { promise: "not determined".into(), seed: None, steps: None }), None)
        }
    };
    let names = |is: fn(&zk_model::PromiseReport) -> bool| {
        check.promises.iter().filter(|report| is(report)).map(|report| report.name).collect()
    };
    Found {
        killed,
        broken: names(|report| report.broken.is_some()),
        tested: names(|report| report.tested > 0),
        ran_out,
        states: check.states,
    }
}

/// Bounds, each rung with fewer faults than the one before; the last has none.
fn smaller(own: Bounds) -> Vec<Vec<Bounds>> {
    let bounds = Bounds { effects: true, ..own };
    let prompt = Bounds { lag: 0, ..bounds };
    let alive = Bounds { crashes: 0, pauses: 0, restarts: 0, admin: 0, ..prompt };
    let calm = Bounds { drops: 0, expiries: 0, ..alive };
    let one_sort = vec![Bounds { drops: 0, ..alive }, Bounds { expiries: 0, ..alive }];
    let two = Bounds { clients: own.clients.min(2), rounds: 1, ..calm };
    let once = one_sort.iter().map(|bounds| Bounds { rounds: 1, ..*bounds }).collect();
    let (calm, brief) = (vec![calm], vec![Bounds { rounds: 1, ..calm }]);
    vec![vec![bounds], vec![prompt], vec![alive], one_sort, once, calm, brief, vec![two]]
}

/// What the library has that a trial can be held to: what is promised of locks, made for its first path, and what other
/// trials promise that begin with the same znodes.
fn library(catalogue: &Trials, trial: &Trial) -> Promises {
    let setup = &trial.setup;
    let alike = catalogue.trials().iter().filter(|other| other.setup == *setup);
    let alike: Vec<Arc<Trial>> = alike.cloned().collect();
    // One for each recipe, and there are few.
    let root: &'static str = setup.first().map_or("/", |path| path.to_string().leak());
    Arc::new(move || {
        let mut all = promises::with_standard(promises::of_fenced_lock(root), &[]);
        all.extend(alike.iter().flat_map(|trial| trial.owed()));
        all
    })
}

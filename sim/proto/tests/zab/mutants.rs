//! Bugs that are planted, and what finds them: each mutant by chaos, under the names of the invariants.
//!
//! A find counts only after the mutant's mark, and only if the same seed is green without it. `PLANTED.md` has the
//! tables that `table` and `nearest_table` print, and the commands.

use crate::zab::chaos::{Reached, Run, run};
use crate::zab::explore::{Budget, decided};
use crate::zab::nearest::{Nearest, nearest};
use crate::zab::rig::Rig;
use crate::zab::scenes::{behind, late};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use zk_proto::mutant::Mutant;
use zk_proto::zab::{Peer, invariants};

/// Those that need no server above the peers.
fn of_peers() -> impl Iterator<Item = Mutant> {
    Mutant::ALL.into_iter().filter(|mutant| !mutant.is_of_server())
}

/// The name of what the healing phase demands.
const LIVENESS: &str = "liveness";

/// What finds a mutant under no name of an invariant: it shows that one is missing.
const RIG: &str = "the rig alone";
const PANIC: &str = "a panic";

/// What is wrong before the mark would be credited to code that says nothing.
const UNMARKED: &str = "something before the mark";

/// What one seed shows of a mutant.
#[derive(Debug, Default)]
struct Shown {
    /// Whether it made a difference, by its own word.
    acted: bool,
    /// What found it after that, and at which step.
    found: BTreeMap<&'static str, usize>,
}

impl Shown {
    /// What found it first. Of those of one step, the one that the family names first.
    fn first(&self, mutant: Mutant) -> Option<(&'static str, usize)> {
        let family = mutant.family();
        let place = |name: &str| family.iter().position(|of| *of == name).unwrap_or(family.len());
        self.found.iter().map(|(name, step)| (*name, *step)).min_by_key(|(name, step)| (*step, place(name)))
    }
}

/// How long a run goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Until something is found.
    Found,
    /// Until this is found.
    Is(&'static str),
    /// To its end, to see what else is.
    End,
}

impl Until {
    fn is_over(self, found: &BTreeMap<&'static str, usize>) -> bool {
        match self {
            Until::Found => !found.is_empty(),
            Until::Is(name) => found.contains_key(name),
            Until::End => false,
        }
    }
}

/// What is wrong with the rig's peers now, by name.
fn broken(rig: &Rig) -> Vec<&'static str> {
    let peers: Vec<&Peer> = rig.nodes.values().filter_map(|node| node.peer.as_ref()).collect();
    let broken = invariants::check_all(&peers, &rig.ghost);
    let mut names: Vec<&str> = broken.into_iter().map(|broken| broken.invariant).collect();
    if names.is_empty() && rig.check_itself().is_err() {
        names.push(RIG);
    }
    names
}

/// The name of what is wrong when faults are over. Where something is wrong already, it is only demanded that
/// all serve again.
fn unhealed(run: &mut Run, is_wrong: bool) -> Option<&'static str> {
    run.rig.is_judged = !is_wrong;
    let what = run.rig.heal().err()?;
    let mut names = invariants::ALL.iter().map(|(name, _)| *name);
    Some(names.find(|name| what.starts_with(&format!("{name}: "))).unwrap_or(LIVENESS))
}

/// One seed with a mutant.
fn show(seed: u64, mutant: Mutant, until: Until) -> Shown {
    let mut shown = Shown::default();
    let went_on = catch_unwind(AssertUnwindSafe(|| follow(seed, mutant, until, &mut shown)));
    if went_on.is_err() && shown.acted {
        shown.found.entry(PANIC).or_insert(usize::MAX);
    }
    shown
}

fn follow(seed: u64, mutant: Mutant, until: Until, shown: &mut Shown) {
    let mut run = Run::new(seed, Some(mutant));
    for step in 0..run.steps as usize {
        let action = run.choose();
        run.rig.act(action);
        shown.acted = run.rig.ghost.deviated.contains(&mutant);
        for name in broken(&run.rig) {
            shown.found.entry(if shown.acted { name } else { UNMARKED }).or_insert(step);
        }
        if until.is_over(&shown.found) {
            return;
        }
    }
    let name = unhealed(&mut run, !shown.found.is_empty());
    shown.acted = run.rig.ghost.deviated.contains(&mutant);
    if let (true, Some(name)) = (shown.acted, name) {
        shown.found.insert(name, run.steps as usize);
    }
}

fn is_green_without(seed: u64) -> bool {
    run(seed, &mut Reached::new()).is_ok()
}

/// The first seed that finds a mutant, and what does.
fn hunt(mutant: Mutant, seeds: std::ops::Range<u64>) -> Option<(u64, &'static str)> {
    seeds.into_iter().find_map(|seed| {
        let (name, _) = show(seed, mutant, Until::Found).first(mutant)?;
        Some((seed, name))
    })
}

/// What is wrong with how a mutant was found.
fn judge(mutant: Mutant, found: Option<(u64, &'static str)>) -> Result<(), String> {
    match found {
        None => Err(format!("{} survives", mutant.name())),
        Some((seed, name)) if !mutant.family().contains(&name) => {
            Err(format!("{} is found by {name} with seed {seed}, which is not of its family", mutant.name()))
        }
        Some((seed, _)) if !is_green_without(seed) => Err(format!("seed {seed} is red without a mutant")),
        Some(_) => Ok(()),
    }
}

#[test]
fn every_mutant_is_found_by_an_invariant_of_its_family() {
    let mutants = of_peers().filter(|mutant| *mutant != Mutant::Canary);
    let wrong: Vec<String> =
        mutants.filter_map(|mutant| judge(mutant, hunt(mutant, 0..2000)).err()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_mutant_that_changes_nothing_is_noticed_as_a_survivor() {
    let seeds = 0..100;
    assert!(seeds.clone().any(|seed| show(seed, Mutant::Canary, Until::End).acted));
    assert_eq!(judge(Mutant::Canary, hunt(Mutant::Canary, seeds)), Err("canary survives".to_string()));
    let strange = judge(Mutant::Canary, Some((0, "Agreement")));
    assert!(strange.is_err_and(|what| what.contains("not of its family")));
}

/// Where a search begins; `None` if a planted bug keeps the ensemble from coming there.
type Start = fn(Option<Mutant>) -> Option<Rig>;

/// The bounds within which every mutant is looked for, the same for all, one after the other.
const BOUNDS: [(&str, Start, Budget); 5] = [
    ("two", |mutant| Some(decided(2, 0, mutant)), Budget { proposals: 2, crashes: 2, ..NOTHING }),
    ("late", late, Budget { crashes: 1, ..NOTHING }),
    ("behind", behind, Budget { crashes: 1, ..NOTHING }),
    ("three", |mutant| Some(decided(3, 0, mutant)), Budget { proposals: 1, crashes: 1, ..NOTHING }),
    ("observer", |mutant| Some(decided(2, 1, mutant)), Budget { proposals: 1, notifies: 1, ..NOTHING }),
];

const NOTHING: Budget = Budget { proposals: 0, crashes: 0, breaks: 0, ticks: 0, notifies: 0 };

/// The nearest state in which something is wrong, in the first bounds that have one.
fn explore(mutant: Mutant, states_max: usize) -> Option<(&'static str, Nearest<&'static str>)> {
    let wrong = |rig: &Rig| {
        let names = if rig.ghost.deviated.contains(&mutant) { broken(rig) } else { Vec::new() };
        let of_family = mutant.family().into_iter().find(|name| names.contains(name));
        of_family.or(names.first().copied())
    };
    BOUNDS.iter().find_map(|(bounds, start, budget)| {
        // A planted bug may keep an ensemble from ever coming to the start, or break a log's order.
        let search = || Some(nearest(start(Some(mutant))?, *budget, states_max, wrong));
        let nearest = catch_unwind(AssertUnwindSafe(search)).ok().flatten()?;
        nearest.found.is_some().then_some((*bounds, nearest))
    })
}

#[test]
fn the_same_bounds_are_green_without_a_mutant() {
    for (bounds, start, budget) in BOUNDS {
        let start = start(None).expect("an ensemble comes up");
        let nearest = nearest(start, budget, 10_000, |rig| broken(rig).first().copied());
        assert_eq!(nearest.found, None, "{bounds}");
    }
}

#[test]
fn a_mutant_is_found_by_a_search_of_all_orders_of_events() {
    for mutant in [Mutant::EpochAtUpToDate, Mutant::CommitsOnOneAcknowledgement] {
        let (_, nearest) = explore(mutant, 10_000).expect("something is wrong");
        assert!(nearest.found.is_some_and(|(name, _)| mutant.family().contains(&name)));
    }
}

/// How near the first wrong state is, within so many states in any bounds.
#[test]
#[ignore = "takes minutes, and prints a column of PLANTED.md"]
fn nearest_table() {
    for mutant in of_peers() {
        let found = explore(mutant, 20_000).and_then(|(bounds, nearest)| {
            let (name, depth) = nearest.found?;
            Some(format!("{name} after {depth} actions and {} states of {bounds}", nearest.states))
        });
        println!("{}: {}", mutant.name(), found.unwrap_or_default());
    }
}

/// Each by a mutant in whose family it is, so that no invariant is known to hold for want of looking.
#[test]
fn every_invariant_is_broken_under_its_own_name_by_a_mutant_of_its_own() {
    let breaks = |name: &'static str| {
        let own = of_peers().filter(|mutant| mutant.family().contains(&name));
        let mut own: Vec<Mutant> = own.collect();
        // The last are those that were made for it.
        own.reverse();
        (0..500).any(|seed| {
            own.iter().any(|mutant| show(seed, *mutant, Until::Is(name)).found.contains_key(name))
        })
    };
    let names = invariants::ALL.iter().map(|(name, _)| *name).chain([LIVENESS]);
    let unbroken: Vec<&str> = names.filter(|name| !breaks(name)).collect();
    assert!(unbroken.is_empty(), "{unbroken:?}");
}

/// The kill matrix: for each mutant what finds it first, and what else does.
#[test]
#[ignore = "takes minutes, and prints the columns of PLANTED.md"]
fn table() {
    let mut all = BTreeSet::new();
    for mutant in of_peers() {
        let (mut acted, mut killed, mut first) = (0, 0, None);
        let (mut by, mut also): (BTreeMap<_, u64>, BTreeMap<_, u64>) = Default::default();
        for seed in 0..500 {
            let shown = show(seed, mutant, Until::End);
            acted += u64::from(shown.acted);
            if let Some((name, step)) = shown.first(mutant) {
                killed += 1;
                first.get_or_insert((seed, step));
                *by.entry(name).or_default() += 1;
            }
            for name in shown.found.keys() {
                *also.entry(*name).or_default() += 1;
                all.insert(*name);
            }
        }
        println!("{} acted {acted} killed {killed} first {first:?} by {by:?} in all {also:?}", mutant.name());
    }
    let never: Vec<_> =
        invariants::ALL.iter().filter(|(name, _)| !all.contains(name)).map(|(name, _)| name).collect();
    println!("never broken: {never:?}");
}

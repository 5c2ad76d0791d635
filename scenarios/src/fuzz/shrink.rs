//! A program in which the engines differ, made smaller.

use super::compare::{Difference, Kind, Plan, compare};
use super::generate::features;
use super::program::{Acl, Ask, Program, TaskStep};
use std::sync::Arc;

/// So many programs are tried at most.
const TRIES: usize = 300;
/// Each with so many seeds.
const SEEDS: u64 = 24;

/// The smallest program that was found in which there is still a difference of the same kind.
pub(crate) fn shrink(
    program: &Arc<Program>,
    difference: Difference,
    plan: &Plan,
) -> (Arc<Program>, Difference) {
    let (mut best, mut found) = (program.clone(), difference);
    // A smaller program with something of its own may differ for another reason.
    let has = features(program);
    let mut tries = 0;
    loop {
        let smaller =
            candidates(&best).into_iter().filter(|it| features(it).is_subset(&has)).find_map(|candidate| {
                tries += 1;
                let candidate = Arc::new(candidate);
                (tries <= TRIES)
                    .then(|| differs(&candidate, &found, plan))
                    .flatten()
                    .map(|it| (candidate, it))
            });
        match smaller {
            Some((candidate, it)) => (best, found) = (candidate, it),
            None => return (best, found),
        }
    }
}

/// A difference of the same kind: with the same seed, or with others.
fn differs(program: &Arc<Program>, like: &Difference, plan: &Plan) -> Option<Difference> {
    let same = |difference: &Difference| {
        matches!(difference.kind, Kind::Broken(_)) == matches!(like.kind, Kind::Broken(_))
    };
    let one = Plan { runs: 1, enumerate: 0, ..*plan };
    let near = like.seed - like.seed % SEEDS;
    let seeds = [like.seed].into_iter().chain(near..near + SEEDS);
    seeds.into_iter().find_map(|seed| compare(program, seed, &one).1.filter(same))
}

/// Smaller programs, the smallest first.
fn candidates(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Program)| {
        let mut candidate = program.clone();
        change(&mut candidate);
        if candidate != *program {
            all.push(candidate);
        }
    };
    with(&|it| it.renews = false);
    let processes = program.processes.len();
    for p in 0..processes {
        if processes > 1 {
            with(&|it| drop(it.processes.remove(p)));
        }
        with(&|it| it.processes[p].next.clear());
        for t in 1..program.processes[p].tasks.len() {
            with(&|it| drop(it.processes[p].tasks.remove(t)));
        }
    }
    for (p, process) in program.processes.iter().enumerate() {
        // What comes last first: what follows the difference goes at once.
        for (t, task) in process.tasks.iter().enumerate() {
            (0..task.len()).rev().for_each(|s| with(&|it| drop(it.processes[p].tasks[t].drain(s..))));
            (0..task.len()).rev().for_each(|s| with(&|it| drop(it.processes[p].tasks[t].remove(s))));
            for s in 0..task.len() {
                with(&|it| simplify(&mut it.processes[p].tasks[t][s]));
            }
        }
        (0..process.next.len()).rev().for_each(|s| with(&|it| drop(it.processes[p].next.remove(s))));
        (0..process.next.len()).for_each(|s| with(&|it| simplify(&mut it.processes[p].next[s])));
    }
    all
}

/// The same with less to it.
fn simplify(step: &mut TaskStep) {
    match step {
        TaskStep::Ask { ask: Ask::Multi(changes), .. } if changes.len() > 1 => drop(changes.pop()),
        TaskStep::Ask { ask: Ask::Reads(reads), .. } if reads.len() > 1 => drop(reads.pop()),
        TaskStep::Ask { ask: Ask::Create { data, acl, stat, .. }, .. } => {
            (*data, *acl, *stat) = (0, Acl::Open, false);
        }
        TaskStep::Ask { ask: Ask::Exists { watch, .. } | Ask::Data { watch, .. }, .. } => *watch = false,
        TaskStep::Ask { ask: Ask::Children { watch, stat, .. }, .. } => (*watch, *stat) = (false, false),
        TaskStep::RaceTimer(slot, _) | TaskStep::Race(slot, _) => *step = TaskStep::Await(*slot),
        _ => {}
    }
}

//! Both engines by generated programs, and by those in which they once differed.

use super::blind::Blind;
use super::compare::{Plan, compare};
use super::follow::{Answer, follow};
use super::language::Words;
use super::program::Program;
use super::simulation::{Exclusion, Mark, Ran, Seen, run, seen};
use super::{generate, many, parse};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use zk_api::SessionId;
use zk_harness::event::{ActorId, Event, GroundTruth, Observation};
use zk_harness::words::Word;

const PLAN: Plan = Plan { runs: 6, effort: 20_000, enumerate: 2_000, blind: None };

#[test]
fn the_model_can_show_what_the_simulator_shows() {
    let (tally, found) = many(1, 300, &generate::Plan::default(), &PLAN, 2, &mut |_, _| {});
    let told =
        |(program, it): &(Arc<Program>, _)| format!("{}{}", super::file_of(program, it), super::told(it));
    assert_eq!(found.iter().map(told).collect::<Vec<String>>(), Vec::<String>::new());
    assert!(tally.excluded * 10 <= tally.programs, "{tally:?}");
    assert!(tally.enumerated > 50 && tally.reached > tally.enumerated / 2, "{tally:?}");
}

#[test]
fn the_same_programs_give_the_same_whatever_the_number_of_threads() {
    let like = generate::Plan::default();
    let run = |jobs| {
        let (tally, found) = many(7, 30, &like, &PLAN, jobs, &mut |_, _| {});
        format!("{tally:?} {found:?}")
    };
    assert_eq!(run(1), run(3));
}

/// The programs that are kept, by name.
fn kept() -> Vec<(String, Arc<Program>, u64)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/fuzz/testdata");
    let files = std::fs::read_dir(folder).expect("it is there").map(|file| file.expect("a file").path());
    let files: BTreeSet<PathBuf> = files.collect();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let program = Arc::new(parse::parse(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display())));
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (name, program, parse::seed(&text).expect("a number").expect("it names a seed"))
    };
    files.into_iter().map(read).collect()
}

#[test]
fn programs_in_which_the_engines_differed_are_shown_by_both() {
    let plan = Plan { runs: 24, ..PLAN };
    let differ = |(name, program, seed): (String, Arc<Program>, u64)| {
        let difference = compare(&program, seed, &plan).1?;
        Some(format!("{name}: {}", super::told(&difference)))
    };
    assert_eq!(kept().into_iter().filter_map(differ).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn a_model_that_varies_less_than_the_simulator_differs_from_it() {
    let kept = kept();
    for (word, blind) in Blind::words() {
        let name = format!("blind-{word}");
        let (_, program, seed) = kept.iter().find(|(it, ..)| *it == name).expect("it is kept");
        let plan = Plan { runs: 24, blind: Some(blind), ..PLAN };
        assert!(compare(program, *seed, &plan).1.is_some(), "{name}");
    }
}

#[test]
fn what_the_simulator_never_showed_is_not_shown_by_the_model() {
    let program =
        Arc::new(parse::parse("process\n  connected\n  create /t/a 1 persistent open").expect("right"));
    let Ran::Seen(mut seen) = run(&program, 0) else { panic!("nothing is excluded") };
    let effort = PLAN.effort;
    assert_eq!(follow(&program, &seen, effort, None), Answer::Shown { unheard: false });
    assert_eq!(follow(&program, &seen, 0, None), Answer::Cut);
    seen.says[0][0] = "0.1 created /t/b".into();
    let nearest = vec![Vec::new()];
    assert_eq!(follow(&program, &seen, effort, None), Answer::NotShown { nearest });
}

/// One process tells something and then writes; the other tells of that.
#[test]
fn who_told_first_and_what_took_effect_must_be_as_in_the_simulator() {
    let (program, seen) = woken("/t/a");
    let is_shown =
        |seen: &Seen| follow(&program, seen, PLAN.effort, None) == Answer::Shown { unheard: false };
    assert!(is_shown(&seen));
    let mut early = seen.clone();
    let (first, last) = (position(&seen, Mark::Told(0)), seen.order.len() - 1);
    early.order.swap(first, last);
    assert!(!is_shown(&early), "{:?}", early.order);
    let mut other = seen.clone();
    other.changes = woken("/t/b").1.changes;
    assert!(other.changes.len() == seen.changes.len() && !is_shown(&other), "{:?}", other.changes);
}

/// A program of that, and a run of it without faults in which the other is told by its watch, last of all.
fn woken(path: &str) -> (Arc<Program>, Seen) {
    let makes = format!("process\n  connected\n  state\n  create {path} 1 persistent open\n");
    let looks = format!("process\n  connected\n  a = exists {path} watch\n  await a\n  await a");
    let program = Arc::new(parse::parse(&format!("{makes}{looks}")).expect("right"));
    let is_woken = |seen: &Seen| seen.says[1].last().is_some_and(|said| said.contains("NodeCreated"));
    let is_last = |seen: &Seen| seen.order.last() == Some(&Mark::Told(1));
    let seen = (0..200).map(|nth| run(&program, 4 * nth)).find_map(|ran| match ran {
        Ran::Seen(seen) => (is_woken(&seen) && is_last(&seen)).then_some(seen),
        Ran::Excluded(_) | Ran::Broken(_) => None,
    });
    let seen = seen.expect("a watch is set in time");
    (program, seen)
}

fn position(seen: &Seen, mark: Mark) -> usize {
    seen.order.iter().position(|it| *it == mark).expect("it is told")
}

const ME: ActorId = ActorId { process: 0, life: 0, thread: 0 };

/// Why a run of a program with these events is not compared.
fn why(program: &str, events: Vec<Event>) -> Option<Exclusion> {
    let program = parse::parse(program).expect("it is a program");
    match seen(&program, &events, 3) {
        Ran::Excluded(why) => Some(why),
        Ran::Seen(_) | Ran::Broken(_) => None,
    }
}

#[test]
fn what_is_not_compared_is_named() {
    assert_eq!(why("process", vec![Event::Is(GroundTruth::Crashed { actor: ME })]), None);
    let deleted =
        |by, owner| vec![Event::Is(GroundTruth::NodeDeleted { path: "/t/a".into(), by, owner, zxid: None })];
    let (none, some) = (SessionId::NONE, SessionId::new(7));
    assert_eq!(why("process", deleted(none, none)), Some(Exclusion::Upkeep));
    assert_eq!(why("process", deleted(none, some)), None);
    assert_eq!(why("process", deleted(some, none)), None);
    let says = |about: &str| {
        vec![Event::Observed { actor: ME, what: Observation::note(Word::own("0.1"), about, 0) }]
    };
    assert_eq!(why("process", says("SessionMoved")), Some(Exclusion::Moved));
    assert_eq!(why("process", says("NoNode")), None);
    let times = |ranks: &[u32]| -> Vec<Event> {
        ranks.iter().flat_map(|rank| says(&format!("mtime {rank}"))).collect()
    };
    assert_eq!(why("process", times(&[0, 2, 4, 6])), Some(Exclusion::Clocks));
    assert_eq!(why("process", times(&[0, 2, 4, 5, 1])), None);
}

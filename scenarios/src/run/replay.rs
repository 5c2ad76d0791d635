//! One seed again.

use super::no_return::{Redraws, no_return};
use super::tally::Tally;
use super::timeline::{moment_of, told};
use super::{Target, caught};
use crate::bad_input::did_you_mean;
use crate::story::Line;
use crate::trial_list::{assumption, catalogued, mark};
use crate::{BadInput, draw, story};
use zk_reports::{
    Answer, Cause, Diagram, Mark, NoReturn, REPLAY_SCHEMA, ReplayReport, Seen, SweepReport, seconds,
};
use zk_simulator::{Invariant, Run, RunOptions, RunViolation};

/// Runs a seed; keeps the whole trace, or those of its lines that the timeline is told from. It is about the break of
/// one promise, if one is named, and from when on that was not avoided any more, if so much is to be tried.
pub(crate) fn replay(
    target: &Target,
    seed: u64,
    whole: bool,
    promise: Option<&str>,
    redraws: Option<Redraws>,
    options: RunOptions,
) -> Result<ReplayReport, BadInput> {
    let run = ordered(target, seed, options)?;
    is_known(target, &run, promise)?;
    let no_return = lost(target, &run, promise, redraws, &|| false)?;
    let mut report = report(target, run, whole, promise);
    if let Some(cause) = &mut report.cause {
        cause.no_return = no_return;
    }
    Ok(report)
}

/// From when on the break was not avoided any more, if there is one and so much is to be tried.
fn lost(
    target: &Target,
    run: &Run,
    promise: Option<&str>,
    redraws: Option<Redraws>,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Option<NoReturn>, BadInput> {
    match (redraws, first_break(run, promise)) {
        (Some(redraws), Some(violation)) => no_return(target, run, violation, redraws, is_stopped),
        (None, _) | (_, None) => Ok(None),
    }
}

/// Fails if nobody promises what was asked about.
fn is_known(target: &Target, run: &Run, promise: Option<&str>) -> Result<(), BadInput> {
    let Some(typed) = promise else { return Ok(()) };
    let promises = target.trial.held_to();
    let names = promises.iter().map(|promise| promise.name()).chain(run.tested.keys().copied());
    let names: Vec<&str> = names.chain(run.violations.iter().map(|violation| violation.promise)).collect();
    if names.contains(&typed) {
        return Ok(());
    }
    let hint = did_you_mean(typed, names);
    Err(bad!("--promise: {} has no promise '{typed}'{hint}", target.what))
}

/// The break that matters: the first where it was owed, of that promise or of all, or else the first that leaves it
/// open, or else the first as expected.
fn first_break<'a>(run: &'a Run, promise: Option<&str>) -> Option<&'a RunViolation> {
    let mut asked =
        run.violations.iter().filter(|violation| promise.is_none_or(|name| violation.promise == name));
    let first = |of| asked.clone().find(|violation| mark(violation.violated_assumption) == of);
    first(Mark::Broken).or_else(|| first(Mark::Undecided)).or_else(|| asked.next())
}

/// Runs a seed with its trace, and in the order that is given, if it can be taken.
fn ordered(target: &Target, seed: u64, options: RunOptions) -> Result<Run, BadInput> {
    let picks = options.order.as_ref().map(|order| order.picks.clone());
    let run = traced(target, seed, options)?;
    let Some(picks) = picks else { return Ok(run) };
    if run.ordered.is_empty() {
        let end = zk_reports::seconds(run.virtual_ns);
        return Err(bad!("--at: the run of seed {seed} is over before that, at {end}"));
    }
    let many = picks.len();
    let wrong = (1..).zip(picks).zip(&run.ordered).find(|((_, pick), step)| *pick >= step.of);
    match wrong {
        None => Ok(run),
        Some(((nth, pick), step)) => Err(bad!(
            "--order: event {nth} of {many}: there is no number {pick}, but {} to choose from, from 0 on",
            step.of
        )),
    }
}

/// Runs a seed, and draws it up to where something broke first that was owed, or else as expected, or to its end.
pub(crate) fn replay_drawn(
    target: &Target,
    seed: u64,
    promise: Option<&str>,
    redraws: Option<Redraws>,
    options: RunOptions,
) -> Result<(Answer, Diagram), BadInput> {
    let run = ordered(target, seed, options)?;
    is_known(target, &run, promise)?;
    let until = first_break(&run, promise).map_or(run.virtual_ns, |violation| violation.at_ns);
    let no_return = lost(target, &run, promise, redraws, &|| false)?;
    let cause = cause(&run, &told(&run), promise).map(|cause| Cause { no_return, ..cause });
    let diagram = draw::simulation::diagram(&target.scenario, &run, cause.as_ref(), until);
    Ok((report(target, run, false, promise).answer, diagram))
}

/// Draws the first breaks of a sweep: each is run again, with its trace. Once it is stopped, none is drawn: a picture
/// that lacks something would be kept by the sweep that goes on from there.
pub(crate) fn drawn(
    target: &Target,
    redraws: Option<Redraws>,
    report: &mut SweepReport,
    is_stopped: &dyn Fn() -> bool,
) {
    report.draw(|failure, _| {
        has_trace(&failure.promise)?;
        let run = traced(target, failure.seed, RunOptions::default()).ok()?;
        let no_return = lost(target, &run, Some(&failure.promise), redraws, is_stopped).ok()?;
        if is_stopped() {
            return None;
        }
        let cause = why(&run, &failure.promise).map(|cause| Cause { no_return, ..cause });
        Some(draw::simulation::diagram(&target.scenario, &run, cause.as_ref(), failure.virtual_ns))
    });
}

/// Says of the first breaks of a sweep why: each is run again, with its trace.
pub(crate) fn explained(target: &Target, report: &mut SweepReport) {
    report.explain(|failure| {
        has_trace(&failure.promise)?;
        let run = traced(target, failure.seed, RunOptions::default()).ok()?;
        why(&run, &failure.promise)
    });
}

/// `None` for what leaves no trace: a run of which a step never ended.
fn has_trace(promise: &str) -> Option<()> {
    (promise != Invariant::EveryStepEnds.name()).then_some(())
}

/// Why a promise was broken in a run that has its trace.
pub(super) fn why(run: &Run, promise: &str) -> Option<Cause> {
    cause(run, &told(run), Some(promise))
}

/// Why the first promise was broken, or the one that is asked about.
fn cause(run: &Run, lines: &[Line], promise: Option<&str>) -> Option<Cause> {
    let violation = first_break(run, promise)?;
    let mark = mark(violation.violated_assumption);
    let name = format!("{}: ", violation.promise);
    let broken = lines.iter().position(|line| line.mark == mark && line.what.starts_with(&name))?;
    let story::cause::Cause { why, lines: matter } = story::cause::cause(lines, broken, &seconds);
    let moments = matter.into_iter().map(|at| moment_of(&lines[at])).collect();
    Some(Cause { why, moments, no_return: None })
}

fn traced(target: &Target, seed: u64, options: RunOptions) -> Result<Run, BadInput> {
    let options = RunOptions { trace: true, ..options };
    caught(seed, || zk_simulator::run(&target.trial, &target.scenario, seed, &options))
}

fn report(target: &Target, run: Run, whole: bool, promise: Option<&str>) -> ReplayReport {
    let lines = told(&run);
    let cause = cause(&run, &lines, promise);
    let mut tally = Tally::default();
    tally.add(target, &run);
    let (promises, invariants) = tally.results(target);
    let about = target.trial.about;
    let violations = run.violations.iter().map(|violation| Seen {
        promise: violation.promise.into(),
        virtual_ns: violation.at_ns,
        what: violation.what.clone(),
        expected: violation.violated_assumption.map(|violated| assumption(violated).into()),
    });
    ReplayReport {
        schema: REPLAY_SCHEMA.into(),
        what: target.what.clone(),
        recipe: about.name.into(),
        about: about.summary.into(),
        catalogued: catalogued(&about),
        facts: facts(target, &run, promise),
        seed: run.seed,
        answer: match Answer::of(&promises, &invariants) {
            // It is no run to its end.
            Answer::Held if run.replay_error.is_some() => Answer::Undecided,
            Answer::Held if run.sometimes.contains_key(zk_reports::SLEPT_ON) => Answer::Undecided,
            answer => answer,
        },
        digest: run.digest,
        virtual_ns: run.virtual_ns,
        messages: run.messages,
        steps: run.steps,
        promises,
        invariants,
        sometimes: tally.sometimes(),
        violations: violations.collect(),
        cause,
        timeline: lines.iter().map(moment_of).collect(),
        trace: if whole { run.trace } else { run.timeline.iter().map(ToString::to_string).collect() },
    }
}

/// The scenario's; whether what was asked about breaks; and of one run from a file, whether it is what it was.
fn facts(target: &Target, run: &Run, promise: Option<&str>) -> Vec<String> {
    let mut facts = target.facts();
    let unbroken = promise.filter(|name| run.violations.iter().all(|violation| violation.promise != *name));
    facts.extend(unbroken.map(|name| format!("{name} does not break in this run")));
    if let Some(replay_error) = &run.replay_error {
        facts.push(format!("The simulator cannot take {replay_error}"));
    }
    if let Some(one) = &target.scenario.run {
        let breaks = run.owed().any(|violation| violation.promise == one.breaks);
        let same = format!("{:016x}", run.digest) == one.digest;
        facts.push(match (breaks, same) {
            (true, true) => format!("{} breaks: the same run, to the byte", one.breaks),
            (true, false) => format!("{} breaks, in a run that is not quite the same any more", one.breaks),
            (false, _) => format!("{} does not break any more", one.breaks),
        });
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial_list::Trials;
    use std::collections::BTreeMap;
    use zk_harness::promise::Assumption;
    use zk_reports::Verdict;

    #[test]
    fn a_replay_is_broken_by_an_invariant_alone_and_held_only_if_it_was_judged_to_its_end() {
        let catalogue = Trials::built_in();
        let target =
            Target::resolve(&catalogue, catalogue.trials()[0].about.name, None).expect("it is there");
        let names = target.trial.owed().into_iter().map(|promise| (promise.name(), 1));
        let violation = RunViolation {
            promise: "no-panic",
            at_ns: 5,
            what: "p0 panics".into(),
            violated_assumption: None,
        };
        let run = Run {
            seed: 7,
            digest: 1,
            virtual_ns: 5,
            messages: 0,
            steps: 0,
            deviations: 0,
            disk_ops: 0,
            replay_error: None,
            ordered: Vec::new(),
            redrawn: None,
            visible: Vec::new(),
            tested: names.collect(),
            violations: vec![violation],
            sometimes: BTreeMap::new(),
            trace: vec!["0.000s s0 Commit zxid=1:1".into()],
            timeline: Vec::new(),
            choices: BTreeMap::new(),
            herd: BTreeMap::new(),
            granted: 0,
            crossings: Vec::new(),
            told: zk_harness::heard::Told::default(),
        };
        let answer = |run: Run| super::report(&target, run, false, None).answer;
        let held = Run { violations: Vec::new(), ..run.clone() };
        assert_eq!(answer(held.clone()), Answer::Held);
        assert_eq!(answer(Run { replay_error: Some("step 3".into()), ..held.clone() }), Answer::Undecided);
        assert_eq!(answer(Run { sometimes: [(zk_reports::SLEPT_ON, 1)].into(), ..held }), Answer::Undecided);
        let report = report(&target, run.clone(), false, None);
        assert_eq!(report.answer, Answer::Broken);
        assert_eq!(report.invariants[0].verdict, Verdict::Broken);
        assert_eq!(report.timeline.len(), 1);
        assert_eq!(report.trace, [""; 0], "a commit is no part of the timeline");
        assert_eq!(super::report(&target, run.clone(), true, None).trace.len(), 1);
        let order = [Some(Assumption::NoAdministrator), Some(Assumption::NobodyMeantToWait), None];
        let breaks = order
            .map(|violated_assumption| RunViolation { violated_assumption, ..run.violations[0].clone() });
        for (many, first) in [(1, order[0]), (2, order[1]), (3, order[2])] {
            let run = Run { violations: breaks[..many].to_vec(), ..run.clone() };
            assert_eq!(first_break(&run, None).map(|it| it.violated_assumption), Some(first));
        }
    }
}

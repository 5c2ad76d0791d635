//! Programs as they are read.

use super::language::{Part, Words, Written, Wrong, named, whole};
use super::program::{Ask, Process, Program, Slot, TaskStep};
use crate::BadInput;
use std::str::SplitWhitespace;

/// No program has more: bounds of models count in bytes, and so do the tasks of a process.
const MOST_PROCESSES: usize = 16;
const MOST_LINES: usize = 500;
/// So long a process may sleep in all: a run of the simulator is over soon after its faults.
const MOST_SLEPT_MS: u64 = 60_000;

/// Reads a program. A line that begins with `#` says something about it.
pub(crate) fn parse(text: &str) -> Result<Program, BadInput> {
    let mut program = Program { renews: false, processes: Vec::new() };
    let mut is_next = false;
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        let bad = |what: &str| bad!("line {number}: {line}: {what}");
        match line {
            "" => {}
            line if line.starts_with('#') => {}
            "renews" if program.processes.is_empty() => program.renews = true,
            "process" => {
                is_next = false;
                program.processes.push(Process { tasks: vec![Vec::new()], next: Vec::new() });
            }
            line => {
                let process = program
                    .processes
                    .last_mut()
                    .ok_or_else(|| bad("expected `process`, on a line of its own, before any step"))?;
                match line {
                    "task" => {
                        is_next = false;
                        process.tasks.push(Vec::new());
                    }
                    "next" => is_next = true,
                    line => {
                        let step = step(line).map_err(|wrong| bad(&wrong))?;
                        let into = if is_next { Some(&mut process.next) } else { process.tasks.last_mut() };
                        into.expect("a process has a main task").push(step);
                    }
                }
            }
        }
    }
    if program.processes.is_empty() {
        return Err(bad!("a program has a process at least"));
    }
    if program.processes.len() > MOST_PROCESSES || text.lines().count() > MOST_LINES {
        let (processes, lines) = (program.processes.len(), text.lines().count());
        let most = format!("at most {MOST_PROCESSES} processes and {MOST_LINES} lines are expected");
        return Err(bad!("{processes} processes and {lines} lines: {most}"));
    }
    if let Some(nth) = program.processes.iter().position(|process| slept(process) > MOST_SLEPT_MS) {
        let most = format!("at most {MOST_SLEPT_MS} ms are expected");
        let slept = slept(&program.processes[nth]);
        return Err(bad!("process {} sleeps for {slept} ms in all: {most}", nth + 1));
    }
    Ok(program)
}

/// How long all tasks of a process sleep together.
fn slept(process: &Process) -> u64 {
    let steps = process.tasks.iter().flatten().chain(&process.next);
    let slept = steps.map(|step| match step {
        TaskStep::Sleep(ms) | TaskStep::RaceTimer(_, ms) => u64::from(*ms),
        _ => 0,
    });
    slept.sum()
}

/// The seed of the simulator that a file names.
pub(crate) fn seed(text: &str) -> Result<Option<u64>, BadInput> {
    let lines = (1..).zip(text.lines().map(str::trim));
    let mut named = lines.filter_map(|(number, line)| Some((number, line.strip_prefix("# simulator")?)));
    let Some((number, seed)) = named.next() else { return Ok(None) };
    let bad = || {
        let expected = format!("expected the seed of a run, a number from 0 to {}", u64::MAX);
        bad!("line {number}: # simulator{seed}: {expected}")
    };
    seed.trim().parse().map(Some).map_err(|_| bad())
}

fn part<T: Part>(left: &mut SplitWhitespace<'_>) -> Result<T, Wrong> {
    T::read("", left)
}

fn step(line: &str) -> Result<TaskStep, Wrong> {
    if let Some((slot, rest)) = line.split_once(" = ") {
        let slot = named(Some(slot))?;
        return match rest {
            "state-change" => Ok(TaskStep::StateChange(slot)),
            rest => Ok(TaskStep::Ask { slot: Some(slot), ask: ask(rest)? }),
        };
    }
    let mut words = line.split_whitespace();
    let w = &mut words;
    let step = match w.next().unwrap_or_default() {
        "await" => TaskStep::Await(part(w)?),
        "race" => {
            let first = part(w)?;
            match w.clone().next().and_then(Slot::of) {
                Some(_) => TaskStep::Race(first, part(w)?),
                None => TaskStep::RaceTimer(first, part(w)?),
            }
        }
        "drop" => TaskStep::Drop(part(w)?),
        "stat" => TaskStep::Stat(part(w)?),
        "first" => TaskStep::First,
        "last" => TaskStep::Last,
        "connected" => TaskStep::Connected,
        "session" => TaskStep::Session,
        "state" => TaskStep::State,
        "sleep" => TaskStep::Sleep(part(w)?),
        "point" => TaskStep::Point,
        "set" => TaskStep::Set(part(w)?),
        "get" => TaskStep::Get,
        "wait" => TaskStep::Wait,
        "checkpoint" => TaskStep::Checkpoint,
        "spawn" => TaskStep::Spawn,
        _ => return Ok(TaskStep::Ask { slot: None, ask: ask(line)? }),
    };
    whole(step, words)
}

fn ask(line: &str) -> Result<Ask, Wrong> {
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default();
    let ask = Ask::read(name, &mut words)?;
    whole(ask.ok_or_else(|| format!("{name}: no such step"))?, words)
}

#[cfg(test)]
mod tests {
    use super::super::generate::{Plan, generate};
    use super::*;

    #[test]
    fn every_program_is_read_as_it_was_written() {
        for seed in 0..2_000 {
            let program = generate(seed, &Plan::default());
            assert_eq!(parse(&program.to_string()).expect("it was written"), program, "{program}");
        }
    }

    #[test]
    fn what_is_no_step_is_named_with_its_line() {
        let error = |text: &str| parse(text).expect_err("it is wrong").to_string();
        assert_eq!(error("process\n  crate /t/a"), "line 2: crate /t/a: crate: no such step");
        assert_eq!(error("process\n  await a b"), "line 2: await a b: b: expected the end of the step");
        assert_eq!(error("process\n  await"), "line 2: await: nothing more: expected a, b, c, d");
        assert_eq!(error("process\n  set 256"), "line 2: set 256: 256: expected a number from 0 to 255");
        let begins = "expected `process`, on a line of its own, before any step";
        assert_eq!(error("  await a"), format!("line 1: await a: {begins}"));
        assert_eq!(error("process extra"), format!("line 1: process extra: {begins}"));
        assert_eq!(error("process\n  renews"), "line 2: renews: renews: no such step");
        assert_eq!(error("# nothing"), "a program has a process at least");
        let most = "at most 16 processes and 500 lines are expected";
        assert_eq!(error(&"process\n".repeat(17)), format!("17 processes and 17 lines: {most}"));
        let sleeps = "process\nprocess\n  sleep 40000\n  race a 30000";
        let most = "at most 60000 ms are expected";
        assert_eq!(error(sleeps), format!("process 2 sleeps for 70000 ms in all: {most}"));
        let most = "at most 16 processes and 500 lines are expected";
        let long = format!("process\n{}", "state\n".repeat(500));
        assert_eq!(error(&long), format!("1 processes and 501 lines: {most}"));
        assert_eq!(seed("# simulator 12\nprocess").expect("a number"), Some(12));
        let error = seed("# simulator 1x").expect_err("it is no number").to_string();
        assert_eq!(
            error,
            format!("line 1: # simulator 1x: expected the seed of a run, a number from 0 to {}", u64::MAX)
        );
    }
}

//! Programs as they are read.

use super::program::{Acl, Ask, Change, Mode, Path, Process, Program, Read, Slot, Step, Words};
use crate::BadInput;
use std::str::{FromStr, SplitWhitespace};

/// No program has more: bounds of models count in bytes, and so do the tasks of a process.
const MOST_PROCESSES: usize = 16;
const MOST_LINES: usize = 500;

/// Reads a program. A line that begins with `#` says something about it.
pub(crate) fn parse(text: &str) -> Result<Program, BadInput> {
    let mut program = Program { processes: Vec::new() };
    let mut is_next = false;
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        let bad = |what: &str| BadInput::new(format!("line {number}: {line}: {what}"));
        match line {
            "" => {}
            line if line.starts_with('#') => {}
            "process" => {
                is_next = false;
                program.processes.push(Process { tasks: vec![Vec::new()], next: Vec::new() });
            }
            line => {
                let process = program.processes.last_mut().ok_or_else(|| bad("no process has begun"))?;
                match line {
                    "task" => {
                        is_next = false;
                        process.tasks.push(Vec::new());
                    }
                    "next" => is_next = true,
                    line => {
                        let step = step(line).ok_or_else(|| bad("no such step"))?;
                        let into = if is_next { Some(&mut process.next) } else { process.tasks.last_mut() };
                        into.expect("a process has a main task").push(step);
                    }
                }
            }
        }
    }
    if program.processes.is_empty() {
        return Err(BadInput::new("a program has a process at least"));
    }
    if program.processes.len() > MOST_PROCESSES || text.lines().count() > MOST_LINES {
        let most = format!("a program has at most {MOST_PROCESSES} processes and {MOST_LINES} lines");
        return Err(BadInput::new(most));
    }
    Ok(program)
}

/// The seed of the world that a file names.
pub(crate) fn seed(text: &str) -> Result<Option<u64>, BadInput> {
    let Some(named) = text.lines().find_map(|line| line.strip_prefix("# world ")) else { return Ok(None) };
    let bad = || BadInput::new(format!("# world {named}: expected the seed of a run, a number"));
    named.trim().parse().map(Some).map_err(|_| bad())
}

fn word<T: Words>(words: &mut SplitWhitespace<'_>) -> Option<T> {
    T::of(words.next()?)
}

fn number<T: FromStr>(words: &mut SplitWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

/// Whether the next word is this one; none but the flags in their order may follow.
fn flag(words: &mut SplitWhitespace<'_>, flag: &str) -> bool {
    let mut ahead = words.clone();
    let is = ahead.next() == Some(flag);
    if is {
        *words = ahead;
    }
    is
}

fn step(line: &str) -> Option<Step> {
    if let Some((slot, rest)) = line.split_once(" = ") {
        let slot = Slot::of(slot)?;
        return match rest {
            "state-change" => Some(Step::StateChange(slot)),
            rest => Some(Step::Ask { slot: Some(slot), ask: ask(rest)? }),
        };
    }
    let mut words = line.split_whitespace();
    let w = &mut words;
    let step = match w.next()? {
        "await" => Step::Await(word(w)?),
        "race" => {
            let first = word(w)?;
            let second = w.next()?;
            match Slot::of(second) {
                Some(second) => Step::Race(first, second),
                None => Step::RaceTimer(first, second.parse().ok()?),
            }
        }
        "drop" => Step::Drop(word(w)?),
        "stat" => Step::Stat(word(w)?),
        "first" => Step::First,
        "last" => Step::Last,
        "connected" => Step::Connected,
        "session" => Step::Session,
        "state" => Step::State,
        "sleep" => Step::Sleep(number(w)?),
        "point" => Step::Point,
        "set" => Step::Set(number(w)?),
        "get" => Step::Get,
        "wait" => Step::Wait,
        "checkpoint" => Step::Checkpoint,
        "spawn" => Step::Spawn,
        _ => return Some(Step::Ask { slot: None, ask: ask(line)? }),
    };
    words.next().is_none().then_some(step)
}

fn ask(line: &str) -> Option<Ask> {
    let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
    if name == "multi" {
        return Some(Ask::Multi(rest.split("; ").map(change).collect::<Option<_>>()?));
    }
    if name == "reads" {
        return Some(Ask::Reads(rest.split("; ").map(read).collect::<Option<_>>()?));
    }
    let mut words = rest.split_whitespace();
    let w = &mut words;
    let ask = match name {
        "create" => Ask::Create {
            path: word(w)?,
            data: number(w)?,
            mode: word::<Mode>(w)?,
            acl: word::<Acl>(w)?,
            stat: flag(w, "stat"),
        },
        "delete" => Ask::Delete { path: word(w)?, version: number(w)? },
        "exists" => Ask::Exists { path: word(w)?, watch: flag(w, "watch") },
        "data" => Ask::Data { path: word(w)?, watch: flag(w, "watch") },
        "set-data" => Ask::SetData { path: word(w)?, data: number(w)?, version: number(w)? },
        "children" => Ask::Children { path: word(w)?, watch: flag(w, "watch"), stat: flag(w, "stat") },
        "acl" => Ask::Acl { path: word(w)? },
        "set-acl" => Ask::SetAcl { path: word(w)?, acl: word(w)? },
        "sync" => Ask::Sync { path: word(w)? },
        "add-watch" => Ask::AddWatch { path: word(w)?, mode: word(w)? },
        "remove-watches" => Ask::RemoveWatches { path: word(w)?, kind: word(w)? },
        "check-watches" => Ask::CheckWatches { path: word(w)?, kind: word(w)? },
        "ephemerals" => Ask::Ephemerals { path: word(w)? },
        "count" => Ask::Count { path: word(w)? },
        "who-am-i" => Ask::WhoAmI,
        "auth" => Ask::Auth { user: number(w)? },
        "close" => Ask::Close,
        _ => return None,
    };
    words.next().is_none().then_some(ask)
}

fn change(text: &str) -> Option<Change> {
    let mut words = text.split_whitespace();
    let w = &mut words;
    let change = match w.next()? {
        "create" => Change::Create { path: word(w)?, data: number(w)?, mode: word(w)? },
        "delete" => Change::Delete { path: word(w)?, version: number(w)? },
        "set-data" => Change::SetData { path: word(w)?, data: number(w)?, version: number(w)? },
        "check" => Change::Check { path: word(w)?, version: number(w)? },
        _ => return None,
    };
    words.next().is_none().then_some(change)
}

fn read(text: &str) -> Option<Read> {
    let (name, path) = text.split_once(' ')?;
    match name {
        "data" => Some(Read::Data(Path::of(path)?)),
        "children" => Some(Read::Children(Path::of(path)?)),
        _ => None,
    }
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
        assert_eq!(error("process\n  crate /t/a"), "line 2: crate /t/a: no such step");
        assert_eq!(error("process\n  await a b"), "line 2: await a b: no such step");
        assert_eq!(error("  await a"), "line 1: await a: no process has begun");
        assert_eq!(error("# nothing"), "a program has a process at least");
        let most = "a program has at most 16 processes and 500 lines";
        assert_eq!(error(&"process\n".repeat(17)), most);
        assert_eq!(error(&format!("process\n{}", "state\n".repeat(500))), most);
        assert_eq!(seed("# world 12\nprocess").expect("a number"), Some(12));
        let error = seed("# world 1x").expect_err("it is no number").to_string();
        assert_eq!(error, "# world 1x: expected the seed of a run, a number");
    }
}

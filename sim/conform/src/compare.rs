//! Runs one script on two servers, and looks for the first difference.
//!
//! ```
//! use zk_conform::compare::{Difference, operations};
//! use zk_conform::script::parse;
//!
//! let script = parse("a connect\na create /x\nwait 500ms\n").expect("a script");
//! assert_eq!(operations(&script), 2);
//! let told = ["ok", "NodeExists"].map(|line| vec![vec!["a connected".to_owned()], vec![line.to_owned()]]);
//! let names = ["real", "ours"].map(String::from);
//! let difference = Difference { script, names, told };
//! assert_eq!(difference.first(), ["ok", "NodeExists"]);
//! ```

use std::fmt::{self, Display, Formatter};
use std::thread;

use crate::normal::Era;
use crate::script::{Action, Script};
use crate::side::{Side, Transcript};

/// Two servers that answered a script differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What was done, up to the step where they differ.
    pub script: Script,
    /// What the two are called.
    pub names: [String; 2],
    /// What each told, step by step.
    pub told: [Transcript; 2],
}

/// Runs a script on both, at the same time. `None` if they told the same. Fails if one cannot be talked to.
pub fn compare(left: &mut Side, right: &mut Side, script: &Script) -> Result<Option<Difference>, String> {
    left.level(right)?;
    let old = [left.era(), right.era()].contains(&Era::Before39);
    let era = if old { Era::Before39 } else { Era::Current };
    let (a, b) = thread::scope(|scope| {
        let a = scope.spawn(|| left.run(script, era));
        let b = right.run(script, era);
        (a.join().expect("a run does not panic"), b)
    });
    let (mut a, mut b) = (a?, b?);
    let Some(at) = a.iter().zip(&b).position(|(a, b)| a != b) else { return Ok(None) };
    let mut script = script.clone();
    script.steps.truncate(at + 1);
    a.truncate(at + 1);
    b.truncate(at + 1);
    Ok(Some(Difference { script, names: [left.name.clone(), right.name.clone()], told: [a, b] }))
}

/// How many operations a script has: requests, and what is done to connections and sessions.
pub fn operations(script: &Script) -> usize {
    fn of(action: &Action) -> usize {
        match action {
            Action::Send { requests, .. } => requests.len(),
            Action::Connect { .. } | Action::Drop { .. } | Action::Bytes { .. } | Action::Expire { .. } => 1,
            Action::Begin(action) => of(action),
            Action::Rounds { times, actions } => *times as usize * actions.iter().map(of).sum::<usize>(),
            Action::Alike { conns, .. } => conns.len(),
            Action::Wait { .. }
            | Action::Await { .. }
            | Action::Server { .. }
            | Action::Finish { .. }
            | Action::AwaitServing
            | Action::AwaitZxid { .. }
            | Action::AwaitEnd { .. } => 0,
        }
    }
    script.steps.iter().map(|step| of(&step.action)).sum()
}

impl Difference {
    /// The first lines that differ, of each.
    pub fn first(&self) -> [&str; 2] {
        let last = |side: usize| self.told[side].last().map_or(&[][..], Vec::as_slice);
        let at = last(0).iter().zip(last(1)).take_while(|(a, b)| a == b).count();
        [0, 1].map(|side| last(side).get(at).map_or("(nothing)", String::as_str))
    }
}

/// The script, what both told where they agree, and both where they do not.
impl Display for Difference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [a, b] = &self.told;
        let width = self.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for (step, (a, b)) in self.script.steps.iter().zip(a.iter().zip(b)) {
            writeln!(f, "{}", step.action)?;
            let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
            for line in &a[..same] {
                writeln!(f, "=> {line}")?;
            }
            for (name, lines) in self.names.iter().zip([a, b]) {
                for (index, line) in lines[same..].iter().enumerate() {
                    let mark = if index == 0 { "≠>" } else { " >" };
                    writeln!(f, "{mark} {name:width$} | {line}")?;
                }
                if lines.len() == same && a.len() != b.len() {
                    writeln!(f, "≠> {name:width$} | (nothing)")?;
                }
            }
        }
        Ok(())
    }
}

//! A script: what happens in a run, step by step. A model's counterexample is one, and the simulator can take it again.
//!
//! ```
//! use zk_harness::script::ScriptStep;
//!
//! let steps = ["serve p0", "drop p0 1", "deliver p1"].map(|text| text.parse::<ScriptStep>());
//! assert_eq!(steps[1], Ok(ScriptStep::Drop(0, 1)));
//! assert!("drop p0".parse::<ScriptStep>().is_err(), "how many of its writes are still in flight?");
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use strum::IntoEnumIterator;
use zk_api::Text;

/// One step of a script. Processes are named by their numbers.
///
/// As text, which [`FromStr`] reads again, it is a word, the process, and what else there is: `drop p0 1`.
#[derive(Clone, Debug, PartialEq, Eq, strum::EnumIter, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum ScriptStep {
    /// The next message reaches it: an answer, an event that it waits for, or the end of its connection.
    Deliver(u16),
    /// The same, of an answer whose names come in this order.
    DeliverInOrder(u16, Vec<Text>),
    /// All answers on their way reach it, and what comes before them.
    DeliverAnswers(u16),
    /// Its next request is served.
    Serve(u16),
    /// The next write of a connection that it has lost is served.
    ServeLost(u16),
    /// Its scheduling point of this number, of those it waits for, passes.
    Point(u16, u8),
    /// The next write that a former life of it, the one of this number, has left in flight is served.
    ServeFormer(u16, u8),
    /// Its timer of this number fires.
    Timer(u16, u8),
    /// Of its writes to outside resources that are on their way, the one of this number arrives.
    Arrive(u16, u8),
    /// The same, and its answer is on its way.
    Reach(u16, u8),
    /// Of its writes that have arrived and were not answered yet, it learns of the one of this number.
    Learn(u16, u8),
    /// It finds a server, for the first time or again, or learns that its session is dead.
    Reconnect(u16),
    /// Its client, which was told that its session is over, is given a new one.
    Renew(u16),
    /// The watches that it registers again come to its server.
    Register(u16),
    /// Its server applies one transaction more.
    CatchUp(u16),
    /// Its session expires.
    Expire(u16),
    /// The session of a former life of it, the one of this number, expires.
    ExpireFormer(u16, u8),
    /// It is told that its session is dead, which lives.
    FalseExpiry(u16),
    /// Its connection drops; so many of its writes are still in flight.
    Drop(u16, u8),
    /// It crashes.
    Crash(u16),
    /// It begins its next life, with a new session; as its first step in a script: its first life, see [`late`].
    Begin(u16),
    /// The same before it has a session.
    #[strum(serialize = "begin-early")]
    Early(u16),
    /// It is paused.
    Pause(u16),
    /// It goes on after a pause.
    Resume(u16),
    /// Of its tasks that are ready, in the order in which they were spawned, the one of this number runs.
    Run(u16, u8),
    /// Its code is busy: none of its tasks runs, while its client goes on.
    Busy(u16),
    /// Its code is busy no longer: the task that is ready runs, if there is only one.
    GoOn(u16),
    /// Its code is busy no longer, and the tasks that are ready wait for steps of their own.
    Stand(u16),
    /// The leader's clock shows a model's time of this number.
    Clock(u8),
    /// An administrator deletes a znode.
    Delete(Text),
    /// He sets a znode's data to a text.
    Set(Text, Text),
}

impl ScriptStep {
    /// The process that it is a step of; none for an administrator's.
    pub fn process(&self) -> Option<u16> {
        self.clone().numbers().0.copied()
    }

    /// The number of its process, and the other one that it has.
    fn numbers(&mut self) -> (Option<&mut u16>, Option<&mut u8>) {
        match self {
            ScriptStep::Deliver(p)
            | ScriptStep::DeliverInOrder(p, _)
            | ScriptStep::DeliverAnswers(p)
            | ScriptStep::Serve(p)
            | ScriptStep::ServeLost(p)
            | ScriptStep::Reconnect(p)
            | ScriptStep::Renew(p)
            | ScriptStep::Register(p)
            | ScriptStep::CatchUp(p)
            | ScriptStep::Expire(p)
            | ScriptStep::FalseExpiry(p)
            | ScriptStep::Crash(p)
            | ScriptStep::Begin(p)
            | ScriptStep::Early(p)
            | ScriptStep::Pause(p)
            | ScriptStep::Resume(p)
            | ScriptStep::Busy(p)
            | ScriptStep::GoOn(p)
            | ScriptStep::Stand(p) => (Some(p), None),
            ScriptStep::Point(p, n)
            | ScriptStep::ServeFormer(p, n)
            | ScriptStep::Timer(p, n)
            | ScriptStep::Arrive(p, n)
            | ScriptStep::Reach(p, n)
            | ScriptStep::Learn(p, n)
            | ScriptStep::ExpireFormer(p, n)
            | ScriptStep::Drop(p, n)
            | ScriptStep::Run(p, n) => (Some(p), Some(n)),
            ScriptStep::Clock(n) => (None, Some(n)),
            ScriptStep::Delete(_) | ScriptStep::Set(..) => (None, None),
        }
    }
}

/// The processes whose code has not begun when a script does, each with the step by which it begins. It is the first of
/// that process, but for what its server does. All others have begun by then.
pub fn late<'a>(steps: impl IntoIterator<Item = &'a ScriptStep>) -> BTreeMap<u16, &'a ScriptStep> {
    let mut known = BTreeSet::new();
    let own = steps.into_iter().filter(|step| !matches!(step, ScriptStep::CatchUp(_)));
    let first = own.filter_map(|step| step.process().filter(|p| known.insert(*p)).map(|p| (p, step)));
    first.filter(|(_, step)| matches!(step, ScriptStep::Begin(_) | ScriptStep::Early(_))).collect()
}

impl fmt::Display for ScriptStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.into())?;
        let mut copy = self.clone();
        let (process, number) = copy.numbers();
        process.map_or(Ok(()), |p| write!(f, " p{p}"))?;
        number.map_or(Ok(()), |n| write!(f, " {n}"))?;
        match self {
            ScriptStep::DeliverInOrder(_, names) => write!(f, " {}", names.join(BETWEEN_NAMES)),
            ScriptStep::Delete(path) => write!(f, " {path}"),
            ScriptStep::Set(path, data) => write!(f, " {path} {data}"),
            _ => Ok(()),
        }
    }
}

impl FromStr for ScriptStep {
    type Err = String;

    fn from_str(text: &str) -> Result<ScriptStep, String> {
        read(text)
            .ok_or_else(|| format!("'{text}' is no step of a script, such as 'serve p0' or 'drop p0 1'"))
    }
}

/// Stands between names, or paths: no name has a slash, and no path two.
const BETWEEN_NAMES: &str = "//";

fn read(text: &str) -> Option<ScriptStep> {
    let (word, mut rest) = text.split_once(' ')?;
    let mut step = ScriptStep::iter().find(|step| word == <&str>::from(step))?;
    match &mut step {
        ScriptStep::Delete(path) => {
            *path = rest.into();
            return Some(step);
        }
        ScriptStep::Set(path, data) => {
            let (of, to) = rest.split_once(' ')?;
            (*path, *data) = (of.into(), to.into());
            return Some(step);
        }
        ScriptStep::DeliverInOrder(_, all) => {
            let (process, names) = rest.split_once(' ')?;
            rest = process;
            *all = names.split(BETWEEN_NAMES).map(Text::from).collect();
        }
        _ => {}
    }
    let mut words = rest.split(' ');
    let (process, number) = step.numbers();
    if let Some(process) = process {
        *process = words.next()?.strip_prefix('p')?.parse().ok()?;
    }
    if let Some(number) = number {
        *number = words.next()?.parse().ok()?;
    }
    words.next().is_none().then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_read_as_it_was_written() {
        let names = |names: [&str; 2]| names.map(Text::from).to_vec();
        let odd = [
            ScriptStep::DeliverInOrder(1, names(["a b", "c"])),
            ScriptStep::DeliverInOrder(1, names(["/a/b", "/c"])),
            ScriptStep::Timer(999, 2),
            ScriptStep::Delete("/lock/a b".into()),
            ScriptStep::Set("/lock/a".into(), "un lock".into()),
        ];
        // That of no names is none.
        let all = ScriptStep::iter().filter(|step| !matches!(step, ScriptStep::DeliverInOrder(..)));
        for step in all.chain(odd) {
            assert_eq!(step.to_string().parse(), Ok(step));
        }
        assert_eq!("begin-early p4".parse(), Ok(ScriptStep::Early(4)));
        assert_eq!("serve-former p3 1".parse(), Ok(ScriptStep::ServeFormer(3, 1)));
    }

    #[test]
    fn whose_first_step_is_to_begin_has_not_begun() {
        let steps = ["catch-up p1", "serve p0", "begin p1", "crash p0", "begin p0", "begin-early p2"];
        let steps = steps.map(|step| step.parse().expect(step));
        assert_eq!(late(&steps), BTreeMap::from([(1, &steps[2]), (2, &steps[5])]));
    }

    #[test]
    fn what_is_no_step_is_refused() {
        for bad in [
            "",
            "serve",
            "serve 0",
            "serve p",
            "serve p65536",
            "drop p0",
            "serve p0 1",
            "point p0 x",
            "set /a",
        ] {
            bad.parse::<ScriptStep>().expect_err(bad);
        }
    }
}

//! A script: what happens in a run, step by step. A model's counterexample is one, and the simulator can take it again.
//!
//! ```
//! use zk_trials::script::ScriptStep;
//!
//! let steps = ["serve p0", "drop p0 1", "deliver p1"].map(|text| text.parse::<ScriptStep>());
//! assert_eq!(steps[1], Ok(ScriptStep::Drop(0, 1)));
//! assert!("drop p0".parse::<ScriptStep>().is_err(), "how many of its writes are still in flight?");
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use zk_api::Text;

/// One step of a script. Processes are named by their numbers.
///
/// As text, which [`FromStr`] reads again, it is a word, the process, and what else there is: `drop p0 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Of its writes that have arrived while it was paused, it learns of the one of this number.
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
        match *self {
            ScriptStep::Deliver(p)
            | ScriptStep::DeliverInOrder(p, _)
            | ScriptStep::DeliverAnswers(p)
            | ScriptStep::Serve(p)
            | ScriptStep::ServeLost(p)
            | ScriptStep::ServeFormer(p, _)
            | ScriptStep::Point(p, _)
            | ScriptStep::Timer(p, _)
            | ScriptStep::Arrive(p, _)
            | ScriptStep::Learn(p, _)
            | ScriptStep::Reconnect(p)
            | ScriptStep::Renew(p)
            | ScriptStep::Register(p)
            | ScriptStep::CatchUp(p)
            | ScriptStep::Expire(p)
            | ScriptStep::ExpireFormer(p, _)
            | ScriptStep::FalseExpiry(p)
            | ScriptStep::Drop(p, _)
            | ScriptStep::Crash(p)
            | ScriptStep::Begin(p)
            | ScriptStep::Early(p)
            | ScriptStep::Pause(p)
            | ScriptStep::Resume(p)
            | ScriptStep::Run(p, _)
            | ScriptStep::Busy(p)
            | ScriptStep::GoOn(p)
            | ScriptStep::Stand(p) => Some(p),
            ScriptStep::Clock(_) | ScriptStep::Delete(_) | ScriptStep::Set(..) => None,
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
        match self {
            ScriptStep::Deliver(p) => write!(f, "deliver p{p}"),
            ScriptStep::DeliverInOrder(p, names) => {
                write!(f, "deliver-in-order p{p} {}", names.join(BETWEEN_NAMES))
            }
            ScriptStep::DeliverAnswers(p) => write!(f, "deliver-answers p{p}"),
            ScriptStep::Serve(p) => write!(f, "serve p{p}"),
            ScriptStep::ServeLost(p) => write!(f, "serve-lost p{p}"),
            ScriptStep::ServeFormer(p, life) => write!(f, "serve-former p{p} {life}"),
            ScriptStep::Point(p, nth) => write!(f, "point p{p} {nth}"),
            ScriptStep::Timer(p, nth) => write!(f, "timer p{p} {nth}"),
            ScriptStep::Arrive(p, nth) => write!(f, "arrive p{p} {nth}"),
            ScriptStep::Learn(p, nth) => write!(f, "learn p{p} {nth}"),
            ScriptStep::Reconnect(p) => write!(f, "reconnect p{p}"),
            ScriptStep::Renew(p) => write!(f, "renew p{p}"),
            ScriptStep::Register(p) => write!(f, "register p{p}"),
            ScriptStep::CatchUp(p) => write!(f, "catch-up p{p}"),
            ScriptStep::Expire(p) => write!(f, "expire p{p}"),
            ScriptStep::ExpireFormer(p, life) => write!(f, "expire-former p{p} {life}"),
            ScriptStep::FalseExpiry(p) => write!(f, "false-expiry p{p}"),
            ScriptStep::Drop(p, in_flight) => write!(f, "drop p{p} {in_flight}"),
            ScriptStep::Crash(p) => write!(f, "crash p{p}"),
            ScriptStep::Begin(p) => write!(f, "begin p{p}"),
            ScriptStep::Early(p) => write!(f, "begin-early p{p}"),
            ScriptStep::Pause(p) => write!(f, "pause p{p}"),
            ScriptStep::Resume(p) => write!(f, "resume p{p}"),
            ScriptStep::Run(p, nth) => write!(f, "run p{p} {nth}"),
            ScriptStep::Busy(p) => write!(f, "busy p{p}"),
            ScriptStep::GoOn(p) => write!(f, "go-on p{p}"),
            ScriptStep::Stand(p) => write!(f, "stand p{p}"),
            ScriptStep::Clock(shows) => write!(f, "clock {shows}"),
            ScriptStep::Delete(path) => write!(f, "delete {path}"),
            ScriptStep::Set(path, data) => write!(f, "set {path} {data}"),
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
    let (word, rest) = text.split_once(' ')?;
    match word {
        "clock" => return Some(ScriptStep::Clock(rest.parse().ok()?)),
        "delete" => return Some(ScriptStep::Delete(rest.into())),
        "deliver-in-order" => {
            let (process, names) = rest.split_once(' ')?;
            let p = process.strip_prefix('p')?.parse().ok()?;
            return Some(ScriptStep::DeliverInOrder(p, names.split(BETWEEN_NAMES).map(Text::from).collect()));
        }
        "set" => {
            let (path, data) = rest.split_once(' ')?;
            return Some(ScriptStep::Set(path.into(), data.into()));
        }
        _ => {}
    }
    let (process, number) = match rest.split_once(' ') {
        Some((process, number)) => (process, Some(number.parse().ok()?)),
        None => (rest, None),
    };
    let p = process.strip_prefix('p')?.parse().ok()?;
    Some(match (word, number) {
        ("deliver", None) => ScriptStep::Deliver(p),
        ("deliver-answers", None) => ScriptStep::DeliverAnswers(p),
        ("serve", None) => ScriptStep::Serve(p),
        ("serve-lost", None) => ScriptStep::ServeLost(p),
        ("serve-former", Some(life)) => ScriptStep::ServeFormer(p, life),
        ("point", Some(nth)) => ScriptStep::Point(p, nth),
        ("timer", Some(nth)) => ScriptStep::Timer(p, nth),
        ("arrive", Some(nth)) => ScriptStep::Arrive(p, nth),
        ("learn", Some(nth)) => ScriptStep::Learn(p, nth),
        ("reconnect", None) => ScriptStep::Reconnect(p),
        ("renew", None) => ScriptStep::Renew(p),
        ("register", None) => ScriptStep::Register(p),
        ("catch-up", None) => ScriptStep::CatchUp(p),
        ("expire", None) => ScriptStep::Expire(p),
        ("expire-former", Some(life)) => ScriptStep::ExpireFormer(p, life),
        ("begin", None) => ScriptStep::Begin(p),
        ("begin-early", None) => ScriptStep::Early(p),
        ("false-expiry", None) => ScriptStep::FalseExpiry(p),
        ("drop", Some(in_flight)) => ScriptStep::Drop(p, in_flight),
        ("crash", None) => ScriptStep::Crash(p),
        ("pause", None) => ScriptStep::Pause(p),
        ("resume", None) => ScriptStep::Resume(p),
        ("run", Some(nth)) => ScriptStep::Run(p, nth),
        ("busy", None) => ScriptStep::Busy(p),
        ("go-on", None) => ScriptStep::GoOn(p),
        ("stand", None) => ScriptStep::Stand(p),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_read_as_it_was_written() {
        let steps = [
            ScriptStep::Deliver(0),
            ScriptStep::DeliverInOrder(1, vec!["a b".into(), "c".into()]),
            ScriptStep::DeliverInOrder(1, vec!["/a/b".into(), "/c".into()]),
            ScriptStep::DeliverAnswers(1),
            ScriptStep::Serve(2),
            ScriptStep::ServeLost(3),
            ScriptStep::ServeFormer(3, 1),
            ScriptStep::Point(0, 1),
            ScriptStep::Timer(999, 2),
            ScriptStep::Arrive(0, 0),
            ScriptStep::Learn(0, 7),
            ScriptStep::Reconnect(4),
            ScriptStep::Renew(4),
            ScriptStep::Register(4),
            ScriptStep::CatchUp(4),
            ScriptStep::Expire(4),
            ScriptStep::ExpireFormer(4, 0),
            ScriptStep::FalseExpiry(4),
            ScriptStep::Begin(4),
            ScriptStep::Early(4),
            ScriptStep::Drop(1, 2),
            ScriptStep::Crash(4),
            ScriptStep::Pause(4),
            ScriptStep::Resume(4),
            ScriptStep::Run(4, 1),
            ScriptStep::Busy(4),
            ScriptStep::GoOn(4),
            ScriptStep::Stand(4),
            ScriptStep::Clock(3),
            ScriptStep::Delete("/lock/a b".into()),
            ScriptStep::Set("/lock/a".into(), "un lock".into()),
            ScriptStep::Set("/lock/a".into(), "".into()),
        ];
        for step in steps {
            assert_eq!(step.to_string().parse(), Ok(step));
        }
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

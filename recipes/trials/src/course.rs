//! A course: what happens in a run, step by step. A model's counterexample is one, and the world can take it again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use zk_api::Text;

/// One step of a course. Processes are named by their numbers.
///
/// As text, which [`FromStr`] reads again, it is a word, the process, and what else there is: `drop p0 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CourseStep {
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
    FalseEnd(u16),
    /// Its connection drops; so many of its writes are still in flight.
    Drop(u16, u8),
    /// It crashes.
    Crash(u16),
    /// It begins its next life, with a new session; as its first step in a course: its first life, see [`late`].
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

impl CourseStep {
    /// The process that it is a step of; none for an administrator's.
    pub fn process(&self) -> Option<u16> {
        match *self {
            CourseStep::Deliver(p)
            | CourseStep::DeliverInOrder(p, _)
            | CourseStep::DeliverAnswers(p)
            | CourseStep::Serve(p)
            | CourseStep::ServeLost(p)
            | CourseStep::ServeFormer(p, _)
            | CourseStep::Point(p, _)
            | CourseStep::Timer(p, _)
            | CourseStep::Arrive(p, _)
            | CourseStep::Learn(p, _)
            | CourseStep::Reconnect(p)
            | CourseStep::Renew(p)
            | CourseStep::Register(p)
            | CourseStep::CatchUp(p)
            | CourseStep::Expire(p)
            | CourseStep::ExpireFormer(p, _)
            | CourseStep::FalseEnd(p)
            | CourseStep::Drop(p, _)
            | CourseStep::Crash(p)
            | CourseStep::Begin(p)
            | CourseStep::Early(p)
            | CourseStep::Pause(p)
            | CourseStep::Resume(p)
            | CourseStep::Run(p, _)
            | CourseStep::Busy(p)
            | CourseStep::GoOn(p)
            | CourseStep::Stand(p) => Some(p),
            CourseStep::Clock(_) | CourseStep::Delete(_) | CourseStep::Set(..) => None,
        }
    }
}

/// The processes whose code has not begun when a course does, each with the step by which it begins. It is the first of
/// that process, but for what its server does. All others have begun by then.
pub fn late<'a>(steps: impl IntoIterator<Item = &'a CourseStep>) -> BTreeMap<u16, &'a CourseStep> {
    let mut known = BTreeSet::new();
    let own = steps.into_iter().filter(|step| !matches!(step, CourseStep::CatchUp(_)));
    let first = own.filter_map(|step| step.process().filter(|p| known.insert(*p)).map(|p| (p, step)));
    first.filter(|(_, step)| matches!(step, CourseStep::Begin(_) | CourseStep::Early(_))).collect()
}

impl fmt::Display for CourseStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CourseStep::Deliver(p) => write!(f, "deliver p{p}"),
            CourseStep::DeliverInOrder(p, names) => {
                write!(f, "deliver-in-order p{p} {}", names.join(BETWEEN_NAMES))
            }
            CourseStep::DeliverAnswers(p) => write!(f, "deliver-answers p{p}"),
            CourseStep::Serve(p) => write!(f, "serve p{p}"),
            CourseStep::ServeLost(p) => write!(f, "serve-lost p{p}"),
            CourseStep::ServeFormer(p, life) => write!(f, "serve-former p{p} {life}"),
            CourseStep::Point(p, nth) => write!(f, "point p{p} {nth}"),
            CourseStep::Timer(p, nth) => write!(f, "timer p{p} {nth}"),
            CourseStep::Arrive(p, nth) => write!(f, "arrive p{p} {nth}"),
            CourseStep::Learn(p, nth) => write!(f, "learn p{p} {nth}"),
            CourseStep::Reconnect(p) => write!(f, "reconnect p{p}"),
            CourseStep::Renew(p) => write!(f, "renew p{p}"),
            CourseStep::Register(p) => write!(f, "register p{p}"),
            CourseStep::CatchUp(p) => write!(f, "catch-up p{p}"),
            CourseStep::Expire(p) => write!(f, "expire p{p}"),
            CourseStep::ExpireFormer(p, life) => write!(f, "expire-former p{p} {life}"),
            CourseStep::FalseEnd(p) => write!(f, "false-end p{p}"),
            CourseStep::Drop(p, in_flight) => write!(f, "drop p{p} {in_flight}"),
            CourseStep::Crash(p) => write!(f, "crash p{p}"),
            CourseStep::Begin(p) => write!(f, "begin p{p}"),
            CourseStep::Early(p) => write!(f, "begin-early p{p}"),
            CourseStep::Pause(p) => write!(f, "pause p{p}"),
            CourseStep::Resume(p) => write!(f, "resume p{p}"),
            CourseStep::Run(p, nth) => write!(f, "run p{p} {nth}"),
            CourseStep::Busy(p) => write!(f, "busy p{p}"),
            CourseStep::GoOn(p) => write!(f, "go-on p{p}"),
            CourseStep::Stand(p) => write!(f, "stand p{p}"),
            CourseStep::Clock(shows) => write!(f, "clock {shows}"),
            CourseStep::Delete(path) => write!(f, "delete {path}"),
            CourseStep::Set(path, data) => write!(f, "set {path} {data}"),
        }
    }
}

impl FromStr for CourseStep {
    type Err = String;

    fn from_str(text: &str) -> Result<CourseStep, String> {
        read(text)
            .ok_or_else(|| format!("'{text}' is no step of a course, such as 'serve p0' or 'drop p0 1'"))
    }
}

/// Stands between names, or paths: no name has a slash, and no path two.
const BETWEEN_NAMES: &str = "//";

fn read(text: &str) -> Option<CourseStep> {
    let (word, rest) = text.split_once(' ')?;
    match word {
        "clock" => return Some(CourseStep::Clock(rest.parse().ok()?)),
        "delete" => return Some(CourseStep::Delete(rest.into())),
        "deliver-in-order" => {
            let (process, names) = rest.split_once(' ')?;
            let p = process.strip_prefix('p')?.parse().ok()?;
            return Some(CourseStep::DeliverInOrder(p, names.split(BETWEEN_NAMES).map(Text::from).collect()));
        }
        "set" => {
            let (path, data) = rest.split_once(' ')?;
            return Some(CourseStep::Set(path.into(), data.into()));
        }
        _ => {}
    }
    let (process, number) = match rest.split_once(' ') {
        Some((process, number)) => (process, Some(number.parse().ok()?)),
        None => (rest, None),
    };
    let p = process.strip_prefix('p')?.parse().ok()?;
    Some(match (word, number) {
        ("deliver", None) => CourseStep::Deliver(p),
        ("deliver-answers", None) => CourseStep::DeliverAnswers(p),
        ("serve", None) => CourseStep::Serve(p),
        ("serve-lost", None) => CourseStep::ServeLost(p),
        ("serve-former", Some(life)) => CourseStep::ServeFormer(p, life),
        ("point", Some(nth)) => CourseStep::Point(p, nth),
        ("timer", Some(nth)) => CourseStep::Timer(p, nth),
        ("arrive", Some(nth)) => CourseStep::Arrive(p, nth),
        ("learn", Some(nth)) => CourseStep::Learn(p, nth),
        ("reconnect", None) => CourseStep::Reconnect(p),
        ("renew", None) => CourseStep::Renew(p),
        ("register", None) => CourseStep::Register(p),
        ("catch-up", None) => CourseStep::CatchUp(p),
        ("expire", None) => CourseStep::Expire(p),
        ("expire-former", Some(life)) => CourseStep::ExpireFormer(p, life),
        ("begin", None) => CourseStep::Begin(p),
        ("begin-early", None) => CourseStep::Early(p),
        ("false-end", None) => CourseStep::FalseEnd(p),
        ("drop", Some(in_flight)) => CourseStep::Drop(p, in_flight),
        ("crash", None) => CourseStep::Crash(p),
        ("pause", None) => CourseStep::Pause(p),
        ("resume", None) => CourseStep::Resume(p),
        ("run", Some(nth)) => CourseStep::Run(p, nth),
        ("busy", None) => CourseStep::Busy(p),
        ("go-on", None) => CourseStep::GoOn(p),
        ("stand", None) => CourseStep::Stand(p),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_read_as_it_was_written() {
        let steps = [
            CourseStep::Deliver(0),
            CourseStep::DeliverInOrder(1, vec!["a b".into(), "c".into()]),
            CourseStep::DeliverInOrder(1, vec!["/a/b".into(), "/c".into()]),
            CourseStep::DeliverAnswers(1),
            CourseStep::Serve(2),
            CourseStep::ServeLost(3),
            CourseStep::ServeFormer(3, 1),
            CourseStep::Point(0, 1),
            CourseStep::Timer(999, 2),
            CourseStep::Arrive(0, 0),
            CourseStep::Learn(0, 7),
            CourseStep::Reconnect(4),
            CourseStep::Renew(4),
            CourseStep::Register(4),
            CourseStep::CatchUp(4),
            CourseStep::Expire(4),
            CourseStep::ExpireFormer(4, 0),
            CourseStep::FalseEnd(4),
            CourseStep::Begin(4),
            CourseStep::Early(4),
            CourseStep::Drop(1, 2),
            CourseStep::Crash(4),
            CourseStep::Pause(4),
            CourseStep::Resume(4),
            CourseStep::Run(4, 1),
            CourseStep::Busy(4),
            CourseStep::GoOn(4),
            CourseStep::Stand(4),
            CourseStep::Clock(3),
            CourseStep::Delete("/lock/a b".into()),
            CourseStep::Set("/lock/a".into(), "un lock".into()),
            CourseStep::Set("/lock/a".into(), "".into()),
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
            bad.parse::<CourseStep>().expect_err(bad);
        }
    }
}

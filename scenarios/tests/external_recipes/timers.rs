//! Two timers of one process, and which is over first: models let an hour end before a second once, and called right
//! code broken.

use crate::external_recipes::judge::{Expected, about, broken, insist, judge, noted, path};
use std::sync::Arc;
use std::time::Duration;
use zoocheck::api::{Either, ZooKeeper, race};
use zoocheck::trials::event::{End, Event, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{Finding, Promise, Terms};
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words::Word;
use zoocheck::{CheckConfig, Faults};

const ROOT: &str = "/timers";

/// Sets a timer, asks something, and sets another, which it takes to be over first or second.
#[derive(Clone, Copy)]
struct Timers {
    first_ms: u64,
    second_ms: u64,
    /// The second is set in the same step.
    at_once: bool,
    expects_second: bool,
}

/// The timer is over first of which that was expected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct AsExpected;

impl Promise for AsExpected {
    fn terms(&self) -> Terms {
        Terms::of("as-expected").about("The timer is over first of which that was expected.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match noted(event) {
            Some((actor, "wrong", ..)) => found.push(broken(format!("{actor} expected the other one"))),
            Some((_, "right", ..)) => found.push(Finding::Tested),
            _ => {}
        }
    }
}

impl From<Timers> for Trial {
    fn from(it: Timers) -> Trial {
        let about = { about("external-timers", "Races one timer against another.", Bounds::clients(1)) };
        let mut trial = Trial::new(about.name, move |zk, probe, role| it.actor(zk, probe, role))
            .promises(|| vec![Box::new(AsExpected)])
            .setup([ROOT]);
        trial.about = about;
        trial
    }
}

impl Timers {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, _role: Role) -> End {
        let first = zk.sleep(Duration::from_millis(self.first_ms));
        if !self.at_once && insist(&zk, || zk.exists(&path(ROOT))).await.is_err() {
            return End::SessionLost;
        }
        let is_second = match race(first, zk.sleep(Duration::from_millis(self.second_ms))).await {
            Either::Left(()) => false,
            Either::Right(()) => true,
        };
        let what = if is_second == self.expects_second { "right" } else { "wrong" };
        probe.observe(Observation::note(Word::own(what), ROOT, 0));
        End::Done
    }
}

const RIGHT: Expected = Expected::Right;
const WRONG: Expected = Expected::Wrong { promise: "as-expected", steps: 4 };

fn timers(first_ms: u64, second_ms: u64, at_once: bool, expects_second: bool, expected: &Expected) {
    let trial = Timers { first_ms, second_ms, at_once, expects_second };
    judge(trial, &CheckConfig::new(Bounds::clients(1)), 1, Faults::none(), expected);
}

#[test]
fn a_second_is_over_before_an_hour() {
    timers(1_000, 3_600_000, false, false, &RIGHT);
    timers(1_000, 3_600_000, true, false, &RIGHT);
    timers(3_600_000, 1_000, true, true, &RIGHT);
}

/// How long the request between them takes, nobody knows.
#[test]
fn of_two_that_are_nearly_equal_and_are_not_set_at_once_either_may_be_over_first() {
    timers(1_000, 997, false, true, &WRONG);
    timers(1_000, 997, false, false, &WRONG);
}

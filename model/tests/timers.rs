//! Timers of one process keep their order: models let an hour end before a second once.

mod common;

use common::run;
use std::sync::Arc;
use std::time::Duration;
use zk_api::{Either, Text, ZooKeeper, race};
use zk_model::{CheckConfig, Verdict};
use zk_trials::event::End;
use zk_trials::probe::Probe;
use zk_trials::promise::AnyPromise;
use zk_trials::promises::NoFailure;
use zk_trials::trial::{About, Bounds, Part, Trial};

/// Two sleeps of these lengths, the second of which begins with the first or behind a scheduling point. It fails if the
/// one that is not expected is over first.
#[derive(Clone, Copy)]
struct Sleeps {
    first: u64,
    second: u64,
    later: bool,
    expects_first: bool,
}

impl Trial for Sleeps {
    fn opts_out(&self) -> &'static [&'static str] {
        &zk_trials::promises::STANDARD
    }
    fn about(&self) -> About {
        About { bounds: Bounds::clients(1), ..About::new("sleeps", "Sleeps twice at once.") }
    }

    fn setup(&self) -> Vec<Text> {
        vec!["/a".into()]
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        vec![Box::new(NoFailure)]
    }

    async fn actor<Z, P>(&self, zk: Z, probe: P, _part: Part) -> End
    where
        Z: ZooKeeper + Clone + 'static,
        P: Probe + Clone + 'static,
    {
        let first = zk.sleep(Duration::from_secs(self.first));
        if self.later {
            probe.point().await;
        }
        match race(first, zk.sleep(Duration::from_secs(self.second))).await {
            Either::Left(()) if self.expects_first => End::Done,
            Either::Right(()) if !self.expects_first => End::Done,
            Either::Left(()) | Either::Right(()) => End::Failed,
        }
    }
}

fn may_be_over_first(first: u64, second: u64, later: bool) -> bool {
    is_violated(Sleeps { first, second, later, expects_first: false }, Bounds::clients(1))
}

fn is_violated(sleeps: Sleeps, bounds: Bounds) -> bool {
    matches!(run(Arc::new(sleeps), &CheckConfig::new(bounds)).verdict, Verdict::Violated { .. })
}

#[test]
fn an_hour_is_not_over_before_a_second_that_began_with_it() {
    assert!(!may_be_over_first(3600, 1, false));
    assert!(may_be_over_first(1, 3600, false));
}

#[test]
fn a_short_sleep_that_began_later_may_be_over_before_or_after() {
    assert!(may_be_over_first(3600, 1, true));
    assert!(may_be_over_first(1, 3600, true));
    assert!(may_be_over_first(11, 10, true));
}

#[test]
fn whoever_may_be_paused_may_find_an_hour_over_with_a_second() {
    let sleeps = Sleeps { first: 3600, second: 1, later: false, expects_first: false };
    assert!(is_violated(sleeps, Bounds { pauses: 1, ..Bounds::clients(1) }));
}

#[test]
fn a_sleep_that_began_earlier_and_is_a_third_as_long_is_over_first() {
    let in_order = |second| Sleeps { first: 3600, second, later: true, expects_first: true };
    assert!(!is_violated(in_order(10_800), Bounds::clients(1)));
    assert!(is_violated(in_order(10_799), Bounds::clients(1)));
}

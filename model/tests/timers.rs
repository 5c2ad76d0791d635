//! Timers of one process keep their order: models let an hour end before a second once.

use crate::common::run;
use std::sync::Arc;
use std::time::Duration;
use zk_api::{Either, ZooKeeper, race};
use zk_harness::event::End;
use zk_harness::probe::Probe;
use zk_harness::promises::NoFailure;
use zk_harness::trial::{Bounds, Role, Trial};
use zk_model::{CheckConfig, Verdict};

/// Two sleeps of these lengths, the second of which begins with the first or behind a scheduling point. It fails if the
/// one that is not expected is over first.
#[derive(Clone, Copy)]
struct Sleeps {
    first: u64,
    second: u64,
    later: bool,
    expects_first: bool,
}

impl From<Sleeps> for Trial {
    fn from(it: Sleeps) -> Trial {
        Trial::new("sleeps", move |zk, probe, role| it.actor(zk, probe, role))
            .summary("Sleeps twice at once.")
            .bounds(Bounds::clients(1))
            .opts_out(&zk_harness::promises::STANDARD)
            .promises(|| vec![Box::new(NoFailure)])
            .setup(["/a"])
    }
}

impl Sleeps {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, _role: Role) -> End {
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
    matches!(run(Arc::new(sleeps.into()), &CheckConfig::new(bounds)).verdict, Verdict::Violated { .. })
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

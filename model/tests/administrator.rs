//! What an administrator may do to a trial's znodes, and counters that near their end: shown by actors that rely on it
//! that nobody does.

use crate::common::{broken, run};
use std::sync::Arc;
use zk_api::{CreateMode, Data, Error, ErrorCode, ZPath, ZooKeeper};
use zk_harness::event::{End, Event, GroundTruth, Observation};
use zk_harness::probe::Probe;
use zk_harness::promise::{Finding, Promise, Terms, Violation};
use zk_harness::trial::{Bounds, Role, Trial};
use zk_harness::words::Word;
use zk_model::{CheckConfig, Verdict};

/// What it relies on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// What it has made is there.
    FindsIt,
    /// What it has set is what it reads.
    ReadsIt,
    /// The same of what has a child by then.
    ReadsTheParent,
    /// It can make a znode in what the trial has set up.
    HasAParent,
    /// The second of two sequential znodes has a number of its own.
    Counts,
}

#[derive(Clone)]
struct Relies(Way);

/// Nobody says that it was otherwise. No break of it is expected.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Never {
    /// Whose hand deleted something, if anybody's.
    deleted_by_another_session: bool,
}

impl Promise for Never {
    fn terms(&self) -> Terms {
        Terms::of("never").about("Nobody says that it was otherwise.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Event::Is(GroundTruth::NodeDeleted { by, .. }) = event {
            self.deleted_by_another_session |= by.get() != 0;
        }
        if matches!(event, Event::Observed { what: Observation::Notes { .. }, .. }) {
            let what = format!("it happened; by another session: {}", self.deleted_by_another_session);
            found.push(Finding::Broken(Violation::new(what, None)));
        }
    }
}

impl From<Relies> for Trial {
    fn from(it: Relies) -> Trial {
        let code = it.clone();
        let administered = {
            if matches!(it.0, Way::ReadsIt | Way::ReadsTheParent) {
                vec!["unlock".into()]
            } else {
                Vec::new()
            }
        };
        let counters = { if it.0 == Way::Counts { vec![("/a".into(), i32::MAX)] } else { Vec::new() } };
        let mut trial = Trial::new("relies", move |zk, probe, role| code.clone().actor(zk, probe, role))
            .opts_out(&zk_harness::promises::STANDARD)
            .summary("Relies on what it has made.")
            .source("this test")
            .bounds(Bounds::clients(1))
            .promises(|| vec![Box::new(Never { deleted_by_another_session: false })])
            .setup(["/a"]);
        trial.administered = administered;
        trial.counters = counters;
        trial
    }
}

impl Relies {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, _: Role) -> End {
        if !is_so(self.0, &zk, &probe).await.unwrap_or(true) {
            probe.observe(Observation::note(Word::own("otherwise"), "/a", 0));
        }
        End::Done
    }
}

async fn is_so(way: Way, zk: &impl ZooKeeper, probe: &impl Probe) -> Result<bool, Error> {
    let x: ZPath = "/a/x".parse().expect("a path");
    let is_missing = |error: &Error| error.code == ErrorCode::NoNode;
    match way {
        Way::FindsIt => {
            zk.create(&x, Data::NULL, CreateMode::Persistent).await?;
            probe.point().await;
            Ok(zk.exists(&x).await?.is_some())
        }
        Way::ReadsIt => {
            zk.create(&x, Data::from("own"), CreateMode::Persistent).await?;
            Ok(zk.data(&x).await?.0 == Data::from("own"))
        }
        Way::ReadsTheParent => {
            zk.create(&x, Data::from("own"), CreateMode::Persistent).await?;
            zk.create(&x.join("child").expect("a path"), Data::NULL, CreateMode::Persistent).await?;
            let (first, second) = (zk.data(&x).await?.0, zk.data(&x).await?.0);
            Ok(first != Data::from("own") || second == first)
        }
        Way::HasAParent => {
            let made = zk.create(&x, Data::NULL, CreateMode::Persistent).await;
            Ok(!made.is_err_and(|error| is_missing(&error)))
        }
        Way::Counts => {
            let prefix: ZPath = "/a/n-".parse().expect("a path");
            let make = || zk.create(&prefix, Data::NULL, CreateMode::PersistentSequential);
            make().await?;
            Ok(!make().await.is_err_and(|error| error.code == ErrorCode::NodeExists))
        }
    }
}

fn breaks(way: Way, admin: u8, parents: bool) -> bool {
    let mut config = CheckConfig::new(Bounds { admin, ..Bounds::clients(1) });
    config.admin_parents = parents;
    let check = run(Arc::new(Relies(way).into()), &config);
    assert!(!matches!(check.verdict, Verdict::Undecided { .. }));
    let example = check.promises.iter().find_map(|promise| promise.broken.as_ref());
    let by_him = example.is_none_or(|example| {
        let tells = example.steps.iter().any(|step| step.starts_with("an administrator"));
        let deletes = example.what.ends_with("true") || matches!(way, Way::ReadsIt | Way::ReadsTheParent);
        tells && deletes || way == Way::Counts
    });
    assert!(by_him, "{example:?}");
    broken(&check).contains(&"never")
}

#[test]
fn an_administrator_deletes_what_is_below_the_setup_or_sets_it_to_what_the_trial_says() {
    for way in [Way::FindsIt, Way::ReadsIt, Way::ReadsTheParent] {
        assert!(breaks(way, 1, false));
        assert!(!breaks(way, 0, false));
    }
}

#[test]
fn he_deletes_what_is_set_up_only_if_that_is_asked_for() {
    assert!(breaks(Way::HasAParent, 1, true));
    assert!(!breaks(Way::HasAParent, 1, false));
}

#[test]
fn a_counter_at_its_end_gives_one_name_twice() {
    assert!(breaks(Way::Counts, 0, false));
}

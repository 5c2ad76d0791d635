//! What a replayed actor sees is what a client of ZooKeeper may see, and everything it may see.
//!
//! Each actor here asserts what must be so; what may be so but need not is shown by an actor that panics at it.

use crate::common::{broken, full, run};
use std::sync::Arc;
use std::time::Duration;
use zk_api::{CreateMode, Data, Either, EventType, KeeperState, ZPath, ZooKeeper, race};
use zk_harness::event::End;
use zk_harness::probe::Probe;
use zk_harness::promises::NoWaiterStuck;
use zk_harness::trial::{Bounds, Role, Trial};
use zk_model::{CheckConfig, Verdict};

/// What the actors do. Process 0 is the one that looks; the others create, set and delete `/a/x`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It gives up a call and makes another.
    Abandons,
    /// It waits for a timer or for an answer, and panics if the timer is first.
    TimerFirst,
    /// The same, if the answer is first.
    AnswerFirst,
    /// It waits for a znode, by a watch.
    Awaits,
    /// It waits for a change of data, by reading again and again, and has a watch as well.
    Reads,
    /// It closes its session.
    Closes,
    /// It reads what it has written.
    ReadsOwn,
}

#[derive(Clone)]
struct Looks(Way);

impl From<Looks> for Trial {
    fn from(it: Looks) -> Trial {
        let code = it.clone();
        Trial::new("looks", move |zk, probe, role| code.clone().actor(zk, probe, role))
            .opts_out(&zk_harness::promises::STANDARD)
            .summary("Looks around.")
            .source("this test")
            .bounds(Bounds::clients(2))
            .promises(|| vec![Box::new(NoWaiterStuck)])
            .setup(["/a"])
    }
}

impl Looks {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        let x: ZPath = "/a/x".parse().expect("a path");
        if role.me.process == 0 {
            look(self.0, &zk, &x).await
        } else {
            change(self.0, &zk, &probe, &x).await
        }
        End::Done
    }
}

async fn look(way: Way, zk: &impl ZooKeeper, x: &ZPath) {
    let create = || zk.create(x, Data::NULL, CreateMode::Persistent);
    match way {
        Way::Abandons => {
            drop(create());
            drop(zk.exists_watch(x));
            assert!(zk.data(x).await.is_ok(), "the create came first, and this is the answer to the read");
        }
        Way::TimerFirst | Way::AnswerFirst => {
            let timer = matches!(race(zk.sleep(Duration::from_secs(1)), create()).await, Either::Left(()));
            assert!(timer == (way == Way::AnswerFirst), "it may be so");
        }
        Way::Awaits => {
            while let Ok((None, watch)) = zk.exists_watch(x).await {
                assert!(matches!(watch.await.kind, EventType::NodeCreated | EventType::None));
            }
        }
        Way::Reads => {
            let Ok(((_, first), mut watch)) = zk.data_watch(x).await else { return };
            for _ in 0..3 {
                let Ok((_, stat)) = zk.data(x).await else { return };
                let told = watch.try_take().is_some();
                assert!(
                    stat.version() == first.version() || told,
                    "the event comes before the answer that shows it"
                );
                if told {
                    return;
                }
            }
        }
        Way::Closes => {
            zk.close().await.expect("it lives");
            assert_eq!(zk.state(), KeeperState::Closed);
            assert!(zk.exists(x).await.is_err_and(|error| error.is_session_over()));
        }
        Way::ReadsOwn => {
            let _ = create().await;
            assert!(zk.exists(x).await.expect("no fault").is_some(), "it reads what it has written");
        }
    }
}

async fn change(way: Way, zk: &impl ZooKeeper, probe: &impl Probe, x: &ZPath) {
    match way {
        Way::Awaits => {
            let _ = zk.create(x, Data::NULL, CreateMode::Persistent).await;
        }
        Way::Reads => {
            let _ = zk.create(x, Data::NULL, CreateMode::Persistent).await;
            probe.point().await;
            let _ = zk.set_data(x, Data::from("new"), -1).await;
        }
        Way::Abandons | Way::TimerFirst | Way::AnswerFirst | Way::Closes | Way::ReadsOwn => {}
    }
}

fn verdict(way: Way, config: &CheckConfig) -> Verdict {
    run(Arc::new(Looks(way).into()), config).verdict
}

#[test]
fn an_answer_goes_to_its_own_call_though_others_were_given_up() {
    assert_eq!(verdict(Way::Abandons, &full(1, 0, 0, 0)), Verdict::Holds);
}

#[test]
fn a_timer_fires_before_an_answer_or_after_it() {
    for way in [Way::TimerFirst, Way::AnswerFirst] {
        assert_eq!(broken(&run(Arc::new(Looks(way).into()), &full(1, 0, 0, 0))), ["no-panic"]);
    }
}

#[test]
fn a_watch_is_told_what_happened_while_its_client_was_away() {
    for drops in [0, 1, 2] {
        let check = run(Arc::new(Looks(Way::Awaits).into()), &full(2, 0, drops, 0));
        // The other does not try a lost create again.
        let lost = check.promises.iter().find_map(|promise| promise.broken.clone());
        match drops {
            0 => assert!(lost.is_none()),
            _ => {
                let steps = lost.expect("a create can be lost").steps;
                assert!(steps.iter().any(|step| step.contains("create is lost")), "{steps:?}");
            }
        }
    }
}

#[test]
fn an_event_comes_before_the_answer_that_shows_its_change() {
    for lag in [0, 1, 2] {
        let bounds = Bounds { lag, drops: 1, ..Bounds::clients(2) };
        assert_eq!(verdict(Way::Reads, &CheckConfig::new(bounds)), Verdict::Holds, "lag {lag}");
    }
}

#[test]
fn a_session_that_was_closed_is_over() {
    assert_eq!(verdict(Way::Closes, &full(1, 0, 0, 0)), Verdict::Holds);
}

#[test]
fn a_client_reads_its_own_writes_however_its_server_lags() {
    for lag in [0, 2] {
        let bounds = Bounds { lag, ..Bounds::clients(2) };
        assert_eq!(verdict(Way::ReadsOwn, &CheckConfig::new(bounds)), Verdict::Holds, "lag {lag}");
    }
}

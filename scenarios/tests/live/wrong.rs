//! Recipes that are wrong by themselves: what can be seen of that from outside is told, and by its own name.

use crate::live::real::Real;
use crate::live::servers;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use zoocheck::api::{CreateMode, Data, ZPath, ZooKeeper, Zxid};
use zoocheck::trials::event::{End, Observation, Resource};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promises;
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::{Answer, Catalogue, LiveReport, Scenario, Verdict};

const LOCK: &str = "/wrong";

/// How it is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    /// Everybody holds it as soon as they want to.
    Locks,
    /// Tokens fall.
    Tokens,
    /// The last one waits for ever.
    Waits,
    /// The same, in a thread that outlives the main one, before it has the lock.
    WaitsInAThread,
    /// A znode is left.
    Leaves,
    /// It panics.
    Panics,
    /// It is right, as it is alone, but sleeps for ever.
    Sleeps,
}

#[derive(Clone)]
struct Recipe {
    wrong: Wrong,
    next: Arc<AtomicU32>,
}

impl From<Recipe> for Trial {
    fn from(it: Recipe) -> Trial {
        let code = it.clone();
        Trial::new("wrong", move |zk, probe, role| code.clone().actor(zk, probe, role))
            .summary("Wrong by itself.")
            .source("a test")
            .bounds(Bounds::clients(2))
            .promises(|| promises::of_fenced_lock(LOCK))
            .setup([LOCK])
    }
}

impl Recipe {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        if self.wrong == Wrong::WaitsInAThread {
            let thread = probe.thread(1);
            probe.spawn(Box::pin(async move {
                self.locks(zk, thread, role).await;
            }));
            return End::Done;
        }
        self.locks(zk, probe, role).await
    }

    async fn locks(self, zk: Arc<dyn ZooKeeper>, probe: impl Probe, role: Role) -> End {
        let lock = || LOCK.into();
        let node = ZPath::parse(LOCK).expect("a constant").join(&probe.guid()).expect("a name");
        zk.create(&node, Data::NULL, CreateMode::Ephemeral).await.expect("no fault");
        probe.observe(Observation::Attempts { lock: lock() });
        assert!(self.wrong != Wrong::Panics || role.me.process > 0, "as was to be shown");
        let nobody = node.parent().expect("a parent").join("nobody").expect("a name");
        if self.wrong == Wrong::WaitsInAThread && role.me.process == 0 {
            zk.exists_watch(&nobody).await.expect("no fault").1.await;
        }
        let counter = 100 - self.next.fetch_add(1, Ordering::SeqCst);
        let token = (self.wrong == Wrong::Tokens).then(|| Zxid::new(1, counter));
        probe.observe(Observation::Granted { lock: lock(), node: node.text(), token });
        probe.observe(Observation::Enters { lock: lock() });
        if self.wrong == Wrong::Locks {
            for _ in 0..10 {
                probe.write(Resource::Unfenced, None).await;
            }
        }
        probe.observe(Observation::Leaves { lock: lock() });
        if self.wrong == Wrong::Waits && role.me.process == 0 {
            zk.exists_watch(&nobody).await.expect("no fault").1.await;
        }
        if self.wrong == Wrong::Sleeps && role.me.process == 0 {
            zk.sleep(Duration::from_secs(3600)).await;
        }
        if self.wrong != Wrong::Leaves {
            zk.delete(&node, -1).await.expect("no fault");
        }
        probe.observe(Observation::Released { lock: lock() });
        End::Done
    }
}

fn run(real: &Real, wrong: Wrong, limit_s: u64) -> LiveReport {
    let catalogue = Catalogue::default().with(Recipe { wrong, next: Arc::default() });
    let scenario = catalogue.scenario("wrong").expect("a recipe");
    let clients = if wrong == Wrong::Sleeps { 1 } else { 3 };
    let scenario = Scenario { clients, rounds: 1, session_timeout_ms: 3000, ..scenario };
    catalogue.live(&scenario, &real.servers, Duration::from_secs(limit_s)).expect("it runs")
}

fn broken(report: &LiveReport) -> Vec<&str> {
    report.broken().collect()
}

#[test]
fn a_break_that_can_be_seen_from_outside_is_told_by_its_own_name() {
    let Some(real) = servers(1) else { return };
    for (wrong, promise) in [
        (Wrong::Locks, "exclusion-at-unfenced-resource"),
        (Wrong::Tokens, "tokens-increase"),
        (Wrong::Waits, "no-waiter-stuck"),
        (Wrong::WaitsInAThread, "no-waiter-stuck"),
        (Wrong::Leaves, "no-orphan-znode"),
        (Wrong::Panics, "no-panic"),
    ] {
        let report = run(&real, wrong, 120);
        assert_eq!(report.answer, Answer::Broken, "{wrong:?}: {report}");
        assert!(broken(&report).contains(&promise), "{wrong:?}: {report}");
        let first = report.promise(promise).and_then(|result| result.first.as_ref()).expect("it was seen");
        assert!(!first.timeline.is_empty(), "{wrong:?}");
        assert_eq!(report.left, [""; 0], "ephemeral znodes go with their sessions");
    }
}

#[test]
fn who_sleeps_is_not_stuck() {
    let Some(real) = servers(1) else { return };
    let report = run(&real, Wrong::Sleeps, 8);
    assert_eq!(report.answer, Answer::Undecided, "{report}");
    let stuck = report.promise("no-waiter-stuck").expect("it is promised");
    assert_eq!(stuck.verdict, Some(Verdict::NeverTested), "{report}");
}

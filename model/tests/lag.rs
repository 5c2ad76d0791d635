//! What servers that differ show their clients: shown by actors that say so when they have seen it.

use crate::common::{broken, run, trial};
use std::sync::Arc;
use zk_api::{CreateMode, Data, Either, Error, EventType, KeeperState, ZPath, ZooKeeper, race};
use zk_harness::event::{ActorId, End, Event, GroundTruth, Observation};
use zk_harness::probe::Probe;
use zk_harness::promise::{Finding, Promise, Terms, Violation};
use zk_harness::trial::{Bounds, Role, Trial};
use zk_harness::words::{self, Word};
use zk_model::{CheckConfig, Verdict};

/// What process 0 does; process 1 creates `/a/x`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Told by an event that the znode is there, it does not find it on its next connection.
    GoesBack,
    /// The same, with its second connection and its third, or with those of its second session.
    GoesBackAgain,
    GoesBackRenewed,
    /// It has made something, and does not find it on its next connection.
    GoesBackBehindAWrite,
    /// It has read the znode, and does not find it on its next connection.
    GoesBackBehindAnAnswer,
    /// It finds its own ephemeral znode when its session is over.
    IsServed,
    /// The same, on a connection that it got after the end.
    IsConnected,
    /// It writes when its session is over, and is answered.
    Writes,
    /// It is told that its session is dead, and says so while it lives.
    IsToldTooEarly,
    /// It is connected when a znode is deleted that it watches, and is told that it was set: it was made again, too.
    IsToldAsOne,
}

#[derive(Clone)]
struct Lags(Way);

/// Nobody says that he has seen what he was about to ask for: before the end of his session, or both after it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Never {
    after_the_end: bool,
    is_over: bool,
    asked: bool,
    /// And something is to be deleted between.
    lacks_deletion: bool,
}

const ME: ActorId = ActorId { process: 0, life: 0, thread: 0 };

impl Promise for Never {
    fn terms(&self) -> Terms {
        Terms::of("never").about("Nobody says that he has seen it.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        self.is_over |= matches!(event, Event::Is(GroundTruth::SessionClosed { actor: ME, .. }));
        self.lacks_deletion &= !(self.asked && matches!(event, Event::Is(GroundTruth::NodeDeleted { .. })));
        let Event::Observed { actor: ME, what: Observation::Notes { what, .. } } = event else { return };
        self.asked |= &**what == "asks" && self.is_over == self.after_the_end;
        if &**what == "saw" && self.asked && self.is_over == self.after_the_end && !self.lacks_deletion {
            found.push(Finding::Broken(Violation::new("it happened".into(), None)));
        }
    }
}

impl From<Lags> for Trial {
    fn from(it: Lags) -> Trial {
        let code = it.clone();
        let trial = Trial::new("lags", move |zk, probe, role| code.clone().actor(zk, probe, role))
            .opts_out(&zk_harness::promises::STANDARD)
            .summary("Sees what servers that differ show.")
            .source("this test")
            .bounds(Bounds::clients(2))
            .setup(["/a"])
            .promises({
                let it = it.clone();
                move || {
                    let after_the_end =
                        matches!(it.0, Way::IsServed | Way::IsConnected | Way::Writes | Way::GoesBackRenewed);
                    let lacks_deletion = it.0 == Way::IsToldAsOne;
                    vec![Box::new(Never { after_the_end, is_over: false, asked: false, lacks_deletion })]
                }
            });
        if it.0 == Way::GoesBackRenewed { trial.renews_session() } else { trial }
    }
}

impl Lags {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        let x: ZPath = "/a/x".parse().expect("a path");
        if role.me != ME {
            let _ = zk.create(&x, Data::NULL, CreateMode::Persistent).await;
            if self.0 == Way::IsToldAsOne {
                probe.point().await;
                let _ = zk.delete(&x, -1).await;
                let _ = zk.create(&x, Data::NULL, CreateMode::Persistent).await;
            }
        } else if see(self.0, &zk, &probe, &x).await.unwrap_or(false) {
            probe.observe(Observation::note(Word::own("saw"), "it", 0));
        }
        End::Done
    }
}

async fn next_connection(zk: &impl ZooKeeper) {
    while zk.state() == KeeperState::SyncConnected {
        zk.state_change().await;
    }
    while zk.state() == KeeperState::Disconnected {
        zk.state_change().await;
    }
}

/// Gives whether it saw what is to be shown.
async fn see(way: Way, zk: &impl ZooKeeper, probe: &impl Probe, x: &ZPath) -> Result<bool, Error> {
    let asks = || probe.observe(Observation::note(words::ASKS, "it", 0));
    let own: ZPath = "/a/own".parse().expect("a path");
    match way {
        Way::GoesBack | Way::GoesBackAgain | Way::GoesBackRenewed => {
            if way == Way::GoesBackAgain {
                zk.sync(x).await?;
                next_connection(zk).await;
            }
            while way == Way::GoesBackRenewed && zk.state() != KeeperState::Expired {
                zk.state_change().await;
            }
            while zk.state() == KeeperState::Expired {
                zk.state_change().await;
            }
            let (stat, watch) = zk.exists_watch(x).await?;
            let told = watch.await.kind == EventType::NodeCreated;
            next_connection(zk).await;
            asks();
            Ok(stat.is_none() && told && zk.exists(x).await?.is_none())
        }
        Way::GoesBackBehindAWrite => {
            zk.create(&own, Data::NULL, CreateMode::Persistent).await?;
            next_connection(zk).await;
            asks();
            Ok(zk.exists(&own).await?.is_none())
        }
        Way::GoesBackBehindAnAnswer => {
            let found = zk.exists(x).await?.is_some();
            next_connection(zk).await;
            asks();
            Ok(found && zk.exists(x).await?.is_none())
        }
        Way::IsServed | Way::IsConnected => {
            zk.create(&own, Data::NULL, CreateMode::Ephemeral).await?;
            if way == Way::IsConnected {
                next_connection(zk).await;
            }
            probe.point().await;
            asks();
            Ok(zk.exists(&own).await?.is_some())
        }
        Way::Writes => {
            zk.create(&own, Data::NULL, CreateMode::Ephemeral).await?;
            probe.point().await;
            asks();
            zk.delete(&own, -1).await?;
            Ok(true)
        }
        Way::IsToldAsOne => {
            let (_, watch) = zk.data_watch(x).await?;
            next_connection(zk).await;
            asks();
            Ok(watch.await.kind == EventType::NodeDataChanged)
        }
        Way::IsToldTooEarly => {
            next_connection(zk).await;
            asks();
            Ok(zk.state() == KeeperState::Expired)
        }
    }
}

/// Whether it can happen within these bounds, in what is asked of models, but for what is changed.
fn happens(way: Way, bounds: Bounds, change: impl FnOnce(&mut CheckConfig)) -> bool {
    let mut config = CheckConfig::new(bounds);
    change(&mut config);
    let check = run(Arc::new(Lags(way).into()), &config);
    assert!(!matches!(check.verdict, Verdict::Undecided { .. }));
    broken(&check).contains(&"never")
}

const TWO: Bounds = Bounds::clients(2);

#[test]
fn the_next_server_may_be_behind_an_event_but_not_behind_an_answer() {
    for (lag, drops, may) in [(0, 1, false), (1, 0, false), (1, 1, true)] {
        let bounds = Bounds { drops, lag, ..TWO };
        assert_eq!(happens(Way::GoesBack, bounds, |_| {}), may, "lag {lag}, drops {drops}");
    }
    for (drops, may) in [(1, false), (2, true)] {
        assert_eq!(
            happens(Way::GoesBackAgain, Bounds { drops, lag: 1, ..TWO }, |_| {}),
            may,
            "drops {drops}"
        );
    }
    for (drops, may) in [(0, false), (1, true)] {
        let bounds = Bounds { expiries: 1, drops, lag: 1, ..TWO };
        assert_eq!(happens(Way::GoesBackRenewed, bounds, |_| {}), may, "drops {drops}");
    }
    for lag in [1, 2] {
        for way in [Way::GoesBackBehindAnAnswer, Way::GoesBackBehindAWrite] {
            assert!(!happens(way, Bounds { drops: 2, lag, ..TWO }, |_| {}), "lag {lag}");
        }
    }
}

#[test]
fn what_happens_while_watches_are_on_their_way_is_told_as_one() {
    for (lag, may) in [(0, false), (1, true)] {
        assert_eq!(happens(Way::IsToldAsOne, Bounds { drops: 1, lag, ..TWO }, |_| {}), may, "lag {lag}");
    }
}

#[test]
fn a_dead_session_is_read_to_where_its_end_is_not_known() {
    for (lag, may) in [(0, false), (1, true)] {
        assert_eq!(happens(Way::IsServed, Bounds { expiries: 1, lag, ..TWO }, |_| {}), may, "lag {lag}");
    }
}

#[test]
fn a_dead_session_is_taken_over_where_its_end_is_not_known_and_that_takes_a_drop() {
    for (lag, drops, may) in [(0, 1, false), (1, 0, false), (1, 1, true)] {
        let bounds = Bounds { expiries: 1, drops, lag, ..TWO };
        // An end that is none costs an expiry too, and is told to whoever looks for a server.
        let happens = happens(Way::IsConnected, bounds, |config| config.false_expiries = false);
        assert_eq!(happens, may, "lag {lag}, drops {drops}");
    }
}

#[test]
fn a_dead_session_changes_nothing_wherever_it_is_served() {
    for lag in [1, 2] {
        let bounds = Bounds { expiries: 1, drops: 1, lag, ..Bounds::clients(1) };
        assert!(!happens(Way::Writes, bounds, |_| {}), "lag {lag}");
    }
}

#[test]
fn a_session_may_live_on_when_its_client_is_told_that_it_is_dead() {
    for (lag, false_expiries, may) in [(1, true, true), (1, false, false), (0, true, true), (0, false, false)]
    {
        let bounds = Bounds { expiries: 1, drops: 1, lag, ..Bounds::clients(1) };
        let happens = happens(Way::IsToldTooEarly, bounds, |config| config.false_expiries = false_expiries);
        assert_eq!(happens, may, "lag {lag}");
    }
}

#[test]
fn where_nothing_lags_syncs_that_lie_are_none() {
    let states = |stale: bool| {
        let mut config = CheckConfig::new(Bounds { expiries: 1, drops: 1, ..TWO });
        config.stale_syncs = stale;
        run(trial("lock"), &config).states
    };
    assert_eq!(states(false), states(true));
}

#[test]
fn a_lost_create_is_found_by_a_write_and_not_by_a_sync_that_a_leader_answers_by_itself() {
    let lagging = |clients, faults: [u8; 3]| {
        let [expiries, drops, crashes] = faults;
        CheckConfig::new(Bounds { expiries, drops, crashes, lag: 1, ..Bounds::clients(clients) })
    };
    let twice = lagging(1, [0, 2, 0]);
    let check = run(trial("lock/behind-sync"), &twice);
    assert!(broken(&check).contains(&"no-orphan-znode"), "as the lock was");
    let true_syncs = CheckConfig { stale_syncs: false, ..twice.clone() };
    assert_eq!(run(trial("lock/behind-sync"), &true_syncs).verdict, Verdict::Holds);
    for config in
        [twice, lagging(1, [1, 2, 1]), lagging(2, [0, 1, 0]), lagging(2, [1, 0, 0]), lagging(2, [0, 0, 1])]
    {
        assert_eq!(run(trial("lock"), &config).verdict, Verdict::Holds, "{:?}", config.bounds);
    }
}

#[test]
fn a_herd_is_one_wherever_its_members_are_connected() {
    for lag in [0, 1] {
        let mut config = CheckConfig::new(Bounds { lag, ..Bounds::clients(3) });
        config.promise = Some("one-woken-per-deletion".into());
        let check = run(trial("election/smallest-watched"), &config);
        assert!(broken(&check).contains(&"one-woken-per-deletion"), "lag {lag}: {:?}", check.verdict);
    }
}

/// Nobody is woken with another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Alone {
    ended: u8,
    /// Both had ended when something was made.
    are_late: bool,
}

impl Promise for Alone {
    fn terms(&self) -> Terms {
        Terms::of("alone").about("Nobody is woken with another.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(GroundTruth::Finished { actor, .. }) => self.ended += u8::from(actor.process < 2),
            Event::Is(GroundTruth::NodeCreated { .. }) => self.are_late = self.ended == 2,
            _ => {}
        }
        let are_two = matches!(event, Event::Is(GroundTruth::Fired { woken, .. }) if woken.len() > 1);
        if are_two && self.are_late {
            found.push(Finding::Broken(Violation::new("two are".into(), None)));
        }
    }
}

/// Their connections stand.
#[test]
fn clients_that_have_ended_are_woken_as_well() {
    for lag in [0, 1] {
        let trial = Trial::new("ends", |zk, _, role| async move {
            let x: ZPath = "/x".parse().expect("a path");
            if role.me.process == 2 {
                let _ = zk.create(&x, Data::NULL, CreateMode::Persistent).await;
            } else {
                let _ = zk.exists_watch(&x).await;
            }
            End::Done
        });
        let trial = trial
            .opts_out(&zk_harness::promises::STANDARD)
            .promises(|| vec![Box::new(Alone { ended: 0, are_late: false })]);
        let check = run(Arc::new(trial), &CheckConfig::new(Bounds { lag, ..Bounds::clients(3) }));
        assert_eq!(broken(&check), ["alone"], "lag {lag}: {:?}", check.verdict);
    }
}

/// Nobody is woken with one that has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct NotWithIt {
    has_ended: bool,
}

impl Promise for NotWithIt {
    fn terms(&self) -> Terms {
        Terms::of("not-with-it").about("Nobody is woken with one that has ended.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        self.has_ended |= matches!(event, Event::Is(GroundTruth::Finished { actor: ME, .. }));
        let are_two = matches!(event, Event::Is(GroundTruth::Fired { woken, .. }) if woken.len() > 1);
        if are_two && self.has_ended {
            found.push(Finding::Broken(Violation::new("two are".into(), None)));
        }
    }
}

/// It may have ended without having been woken, and then nothing else tells the one from the other.
#[test]
fn who_was_woken_and_has_ended_is_one_of_the_herd() {
    let trial = Trial::new("ends", |zk, probe, role| async move {
        let x: ZPath = "/x".parse().expect("a path");
        if role.me.process == 2 {
            let _ = zk.create(&x, Data::NULL, CreateMode::Persistent).await;
        } else if (role.me != ME || matches!(race(probe.point(), probe.point()).await, Either::Right(())))
            && let Ok((None, watch)) = zk.exists_watch(&x).await
        {
            watch.await;
        }
        End::Done
    });
    let trial =
        trial.opts_out(&zk_harness::promises::STANDARD).promises(|| vec![Box::new(NotWithIt::default())]);
    let check = run(Arc::new(trial), &CheckConfig::new(Bounds { lag: 1, ..Bounds::clients(3) }));
    assert_eq!(broken(&check), ["not-with-it"], "{:?}", check.verdict);
}

//! What a client may live through, beyond what the locks need: shown by actors that say what they saw, and by
//! promises that break when it happened in a certain order.

use crate::common::{broken, run};
use std::sync::Arc;
use zk_api::{
    CreateMode, Data, Either, Error, ErrorCode, EventType, KeeperState, ZPath, ZooKeeper, Zxid, race,
};
use zk_harness::event::{ActorId, End, Event, GroundTruth, Observation, Resource};
use zk_harness::probe::Probe;
use zk_harness::promise::{Finding, Promise, Terms, Violation};
use zk_harness::promises::{NoOrphanZnode, NoWaiterStuck};
use zk_harness::trial::{Bounds, Role, Trial};
use zk_model::{CheckConfig, Verdict};

/// What process 0 does; process 1 creates `/a/x`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It sets what it watches: the event comes before the answer.
    SetsOwn,
    /// It looks twice for a create whose answer was lost, with a sync between, and finds it the second time.
    LooksTwice,
    /// The same, with a sync before each look: it finds it at once or never.
    SyncsAndLooks,
    /// It reads on its next connection what somebody made before it lost the last.
    ReadsAgain,
    /// What it has seen it sees again, whatever it is connected to.
    SeesAgain,
    /// It waits for a watch alone, and is told of the end of its session.
    IsTold,
    /// It does not wait for its last write.
    DoesNotWait,
    /// It closes its session, and is connected after that.
    Closes,
    /// It says something and something more; process 1 says something before that, after it, or between.
    Speaks,
    /// It never hears that it has created something, as its session ends first.
    HearsNothing,
    /// Of two points the later one may pass first.
    TwoPoints,
    /// Of two writes the later one may arrive first.
    TwoWrites,
    /// It remembers whether it had a connection when a point passed.
    Remembers,
    /// A checkpoint comes between an answer and the look at it.
    LooksLater,
    /// It goes on when its write has arrived.
    GoesOn,
    /// It says something once its write is accepted; process 1 writes with a higher token.
    Trusts,
    /// Its write comes in this order with the rest: it waits for that, or does not.
    Writes(&'static [What]),
    LeavesItsWrite(&'static [What]),
    /// Of two writes that have arrived it hears of the later one first.
    TwoAnswers,
    /// The same as to trust, and process 1 is gone before its write arrives.
    TrustsTheDead,
    /// Its write is refused behind that of process 1, or accepted, as that one has chosen its token.
    IsRefused,
    IsAccepted,
    /// It creates something, and is paused before that is served.
    IsStopped,
    /// Its session ends as it is paused, and then that of process 1.
    EndsFirst,
    /// It watches until what process 1 insists on has happened: to a znode that is not there yet, to the children,
    /// to the data; or until what it watches the children of is gone.
    AwaitsNode,
    AwaitsChild,
    AwaitsData,
    AwaitsEnd,
}

/// Broken once these have happened in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Never {
    left: Vec<What>,
    began_with_a_pause: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum What {
    /// Something was created.
    Created,
    /// Process 0 has lost its connection.
    Lost,
    /// It has one.
    Connected,
    /// Its session was closed.
    Closed,
    /// That of process 1 was.
    OtherClosed,
    /// A session was opened that is not that of its first life.
    OtherOpened,
    /// It has crashed, or process 1 has.
    Crashed,
    OtherCrashed,
    /// It is paused, and not resumed before the rest.
    Paused,
    /// It says so.
    Observed,
    /// Process 1 says so.
    OtherObserved,
    /// Its unfenced or fenced write has arrived.
    Wrote(Resource),
    /// One of process 1 has.
    OtherWrote,
}

const ME: ActorId = ActorId { process: 0, life: 0, thread: 0 };

fn what(event: &Event) -> Option<What> {
    match event {
        Event::Observed { actor: ME, .. } => Some(What::Observed),
        Event::Observed { .. } => Some(What::OtherObserved),
        Event::Is(GroundTruth::NodeCreated { .. }) => Some(What::Created),
        Event::Is(GroundTruth::Disconnected { actor: ME }) => Some(What::Lost),
        Event::Is(GroundTruth::Connected { actor: ME }) => Some(What::Connected),
        Event::Is(GroundTruth::SessionClosed { actor: ME, .. }) => Some(What::Closed),
        Event::Is(GroundTruth::SessionClosed { .. }) => Some(What::OtherClosed),
        Event::Is(GroundTruth::SessionOpened { actor, .. }) if *actor != ME => Some(What::OtherOpened),
        Event::Is(GroundTruth::Crashed { actor: ME }) => Some(What::Crashed),
        Event::Is(GroundTruth::Crashed { .. }) => Some(What::OtherCrashed),
        Event::Is(GroundTruth::Paused { actor: ME }) => Some(What::Paused),
        Event::Is(GroundTruth::Wrote { actor: ME, resource, .. }) => Some(What::Wrote(*resource)),
        Event::Is(GroundTruth::Wrote { .. }) => Some(What::OtherWrote),
        Event::Is(_) => None,
    }
}

impl Promise for Never {
    fn terms(&self) -> Terms {
        Terms::of("never").about("Certain things do not happen in a certain order.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        // Whoever goes on may say what it likes.
        if matches!(event, Event::Is(GroundTruth::Resumed { actor: ME })) && self.began_with_a_pause {
            self.left.clear();
        }
        if self.left.first().copied() == what(event) && !self.left.is_empty() {
            self.left.remove(0);
            if self.left.is_empty() {
                found.push(Finding::Broken(Violation::new("it happened".into(), None)));
            }
        }
    }
}

#[derive(Clone)]
struct Lives(Way);

impl From<Lives> for Trial {
    fn from(it: Lives) -> Trial {
        let code = it.clone();
        Trial::new("lives", move |zk, probe, role| code.clone().actor(zk, probe, role))
            .opts_out(&zk_harness::promises::STANDARD)
            .summary("Lives through faults.")
            .source("this test")
            .bounds(Bounds::clients(2))
            .setup(["/a"])
            .promises({
                let it = it.clone();
                move || {
                    let left = match it.0 {
                        Way::ReadsAgain => vec![What::Created, What::Lost, What::Connected, What::Observed],
                        Way::Speaks => vec![What::OtherObserved, What::Observed, What::Observed],
                        Way::HearsNothing => vec![What::Created, What::Closed, What::Lost, What::Observed],
                        Way::Closes => vec![What::Closed, What::Connected],
                        Way::GoesOn => vec![What::Paused, What::Wrote(Resource::Unfenced), What::Observed],
                        Way::Trusts => {
                            vec![What::Wrote(Resource::Fenced), What::OtherWrote, What::Observed]
                        }
                        Way::Writes(order) | Way::LeavesItsWrite(order) => order.to_vec(),
                        Way::TwoAnswers => vec![
                            What::Wrote(Resource::Unfenced),
                            What::Wrote(Resource::Fenced),
                            What::Observed,
                        ],
                        Way::TrustsTheDead => vec![
                            What::OtherCrashed,
                            What::Wrote(Resource::Fenced),
                            What::OtherWrote,
                            What::Observed,
                        ],
                        Way::IsRefused | Way::IsAccepted => {
                            vec![What::OtherWrote, What::Wrote(Resource::Fenced), What::Observed]
                        }
                        Way::IsStopped => vec![What::Paused, What::Created],
                        Way::EndsFirst => vec![What::Paused, What::Closed, What::OtherClosed],
                        Way::TwoWrites => {
                            vec![What::Wrote(Resource::Fenced), What::Wrote(Resource::Unfenced)]
                        }
                        _ => vec![What::Observed],
                    };
                    vec![
                        Box::new(Never { began_with_a_pause: left[0] == What::Paused, left }),
                        Box::new(NoOrphanZnode::of("/a")),
                        Box::new(NoWaiterStuck),
                    ]
                }
            })
    }
}

impl Lives {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        let x: ZPath = "/a/x".parse().expect("a path");
        if role.me == ME {
            if live(self.0, &zk, &probe, &x).await.unwrap_or(false) {
                probe.observe(Observation::Enters { lock: "/a".into() });
            }
        } else if self.0 == Way::Speaks {
            probe.point().await;
            probe.observe(Observation::Attempts { lock: "/a".into() });
        } else if matches!(self.0, Way::IsRefused | Way::IsAccepted) {
            let counter =
                if matches!(race(probe.point(), probe.point()).await, Either::Left(())) { 3 } else { 1 };
            drop(probe.write(Resource::Fenced, Some(Zxid::new(1, counter))));
        } else if self.0 == Way::EndsFirst {
            probe.point().await;
        } else if matches!(self.0, Way::Trusts | Way::TrustsTheDead) {
            probe.write(Resource::Fenced, Some(Zxid::new(1, 2))).await;
        } else {
            change(self.0, &zk, &x).await;
        }
        End::Done
    }
}

async fn change(way: Way, zk: &impl ZooKeeper, x: &ZPath) {
    loop {
        let changed = match way {
            Way::AwaitsData => zk.set_data(&parent(), Data::from("new"), -1).await.map(|_| ()),
            _ => zk.create(x, Data::NULL, CreateMode::Persistent).await.map(|_| ()),
        };
        let insists = matches!(way, Way::AwaitsNode | Way::AwaitsChild | Way::AwaitsData | Way::AwaitsEnd);
        match changed {
            Err(error) if insists && error.code != ErrorCode::NodeExists => connected(zk).await,
            Ok(()) | Err(_) if way == Way::AwaitsEnd => {
                while zk.delete(x, -1).await.is_err_and(|error| error.code != ErrorCode::NoNode) {
                    connected(zk).await;
                }
                return;
            }
            Ok(()) | Err(_) => return,
        }
    }
}

fn parent() -> ZPath {
    "/a".parse().expect("a path")
}

/// Watches until it is so.
async fn await_it(way: Way, zk: &impl ZooKeeper, x: &ZPath) {
    loop {
        let looked = match way {
            Way::AwaitsChild => {
                zk.children_watch(&parent()).await.map(|(names, watch)| (!names.is_empty(), watch))
            }
            Way::AwaitsData => {
                zk.data_watch(&parent()).await.map(|((_, stat), watch)| (stat.version() > 0, watch))
            }
            Way::AwaitsEnd => zk.children_watch(x).await.map(|(_, watch)| (false, watch)),
            _ => zk.exists_watch(x).await.map(|(stat, watch)| (stat.is_some(), watch)),
        };
        match looked {
            Ok((true, _)) => return,
            Ok((false, watch)) => drop(watch.await),
            Err(error) if error.code == ErrorCode::NoNode => return,
            Err(_) => connected(zk).await,
        }
    }
}

async fn connected(zk: &impl ZooKeeper) {
    loop {
        let change = zk.state_change();
        if zk.state() != KeeperState::Disconnected {
            return;
        }
        change.await;
    }
}

/// Gives whether it saw what is to be shown.
async fn live(way: Way, zk: &impl ZooKeeper, probe: &impl Probe, x: &ZPath) -> Result<bool, Error> {
    let own: ZPath = "/a/own".parse().expect("a path");
    let create = |mode| zk.create(&own, Data::NULL, mode);
    match way {
        Way::SetsOwn => {
            create(CreateMode::Ephemeral).await?;
            let (_, mut watch) = zk.data_watch(&own).await?;
            zk.set_data(&own, Data::from("new"), -1).await?;
            Ok(watch.try_take().is_none())
        }
        Way::LooksTwice | Way::SyncsAndLooks => {
            if create(CreateMode::Persistent).await.is_ok() {
                return Ok(false);
            }
            connected(zk).await;
            if way == Way::SyncsAndLooks {
                zk.sync(&own).await?;
            }
            let first = zk.exists(&own).await?;
            zk.sync(&own).await?;
            Ok(first.is_none() && zk.exists(&own).await?.is_some())
        }
        Way::IsStopped => Ok(create(CreateMode::Persistent).await.is_err()),
        Way::HearsNothing => Ok(create(CreateMode::Persistent).await.is_err()),
        Way::DoesNotWait => {
            // Only the deletion can be lost for good.
            while create(CreateMode::Ephemeral).await.is_err_and(|error| error.code != ErrorCode::NodeExists)
            {
                connected(zk).await;
            }
            drop(zk.delete(&own, -1));
            Ok(false)
        }
        Way::Closes => {
            if zk.close().await.is_err() {
                connected(zk).await;
            }
            Ok(false)
        }
        _ => look(way, zk, probe, x).await,
    }
}

/// Likewise, for those who change nothing.
async fn look(way: Way, zk: &impl ZooKeeper, probe: &impl Probe, x: &ZPath) -> Result<bool, Error> {
    match way {
        Way::ReadsAgain => {
            zk.state_change().await;
            connected(zk).await;
            Ok(zk.exists(x).await?.is_none())
        }
        Way::SeesAgain => {
            let mut seen = false;
            for _ in 0..3 {
                match zk.exists(x).await {
                    Ok(None) if seen => return Ok(true),
                    Ok(stat) => seen = stat.is_some(),
                    Err(_) => connected(zk).await,
                }
            }
            Ok(false)
        }
        Way::IsTold => match zk.exists_watch(&parent().join("own").expect("a path")).await? {
            (None, watch) => Ok(watch.await.kind == EventType::None),
            (Some(_), _) => Ok(false),
        },
        Way::AwaitsNode | Way::AwaitsChild | Way::AwaitsData | Way::AwaitsEnd => {
            await_it(way, zk, x).await;
            Ok(false)
        }
        Way::Remembers => {
            probe.point().await;
            let was_lost = zk.state() == KeeperState::Disconnected;
            zk.sync(x).await?;
            Ok(was_lost)
        }
        Way::LooksLater => {
            let looks = zk.exists(x);
            zk.sync(x).await?;
            zk.checkpoint("later", &[]);
            Ok(looks.await?.is_some())
        }
        Way::Speaks => {
            probe.point().await;
            probe.observe(Observation::Attempts { lock: "/a".into() });
            probe.point().await;
            Ok(true)
        }
        Way::TwoPoints => Ok(matches!(race(probe.point(), probe.point()).await, Either::Right(()))),
        Way::EndsFirst => {
            probe.point().await;
            Ok(false)
        }
        _ => Ok(write(way, probe).await),
    }
}

/// Likewise, for those who write to what is outside.
async fn write(way: Way, probe: &impl Probe) -> bool {
    let (unfenced, fenced) =
        (|| probe.write(Resource::Unfenced, None), |token| probe.write(Resource::Fenced, token));
    match way {
        // A pause that is over is none.
        Way::GoesOn => unfenced().await,
        Way::Writes(_) => {
            unfenced().await;
            false
        }
        Way::LeavesItsWrite(_) => {
            drop(unfenced());
            false
        }
        Way::TwoWrites => {
            let first = unfenced();
            fenced(None).await;
            first.await;
            false
        }
        Way::TwoAnswers => {
            let first = unfenced();
            matches!(race(first, fenced(None)).await, Either::Right(_))
        }
        Way::IsRefused | Way::IsAccepted => {
            probe.point().await;
            fenced(Some(Zxid::new(1, 2))).await == (way == Way::IsAccepted)
        }
        Way::Trusts | Way::TrustsTheDead => fenced(Some(Zxid::new(1, 1))).await,
        _ => false,
    }
}

/// Whether it can happen within these bounds.
fn happens(way: Way, bounds: Bounds) -> bool {
    let mut config = CheckConfig::new(Bounds { effects: true, ..bounds });
    config.promise = Some("never".into());
    let check = run(Arc::new(Lives(way).into()), &config);
    assert!(!matches!(check.verdict, Verdict::Undecided { .. }));
    broken(&check).contains(&"never")
}

const ONE: Bounds = Bounds::clients(1);
const TWO: Bounds = Bounds::clients(2);

#[test]
fn an_own_change_is_told_before_it_is_answered() {
    for lag in [0, 1] {
        assert!(!happens(Way::SetsOwn, Bounds { lag, ..TWO }), "lag {lag}");
    }
}

#[test]
fn a_lost_create_may_show_late_where_views_lag() {
    for (way, lag, late) in
        [(Way::LooksTwice, 0, false), (Way::LooksTwice, 1, true), (Way::SyncsAndLooks, 0, false)]
    {
        assert_eq!(happens(way, Bounds { drops: 1, lag, ..ONE }), late, "lag {lag}");
    }
}

#[test]
fn a_sync_that_asks_nobody_helps_no_more_than_none() {
    for (stale_syncs, late) in [(false, false), (true, true)] {
        let mut config = CheckConfig::new(Bounds { effects: true, drops: 1, lag: 1, ..ONE });
        config.promise = Some("never".into());
        config.stale_syncs = stale_syncs;
        let check = run(Arc::new(Lives(Way::SyncsAndLooks).into()), &config);
        assert_eq!(broken(&check).contains(&"never"), late, "stale syncs: {stale_syncs}");
    }
}

#[test]
fn the_next_server_may_lag_as_the_last_one_did() {
    for (lag, may) in [(0, false), (1, true)] {
        assert_eq!(happens(Way::ReadsAgain, Bounds { drops: 1, lag, ..TWO }), may, "lag {lag}");
    }
}

#[test]
fn a_view_never_goes_back() {
    for lag in [0, 1, 2] {
        assert!(!happens(Way::SeesAgain, Bounds { drops: 2, lag, ..TWO }), "lag {lag}");
    }
}

#[test]
fn who_waits_for_a_watch_alone_is_told_when_the_session_ends() {
    assert!(happens(Way::IsTold, Bounds { expiries: 1, ..ONE }));
    assert!(!happens(Way::IsTold, Bounds { drops: 1, ..ONE }));
}

#[test]
fn a_write_that_nobody_waits_for_can_be_lost_when_its_process_is_done() {
    for (drops, is_left) in [(0, false), (1, true)] {
        let check = run(Arc::new(Lives(Way::DoesNotWait).into()), &CheckConfig::new(Bounds { drops, ..ONE }));
        assert_eq!(broken(&check).contains(&"no-orphan-znode"), is_left, "drops {drops}");
    }
}

#[test]
fn the_last_answer_before_the_end_of_a_session_can_be_lost() {
    for (drops, may) in [(0, false), (1, true)] {
        assert_eq!(happens(Way::HearsNothing, Bounds { expiries: 1, drops, ..ONE }), may, "drops {drops}");
    }
}

#[test]
fn a_session_that_its_lost_connection_has_closed_is_not_connected_again() {
    assert!(!happens(Way::Closes, Bounds { drops: 1, ..ONE }));
}

#[test]
fn points_pass_and_writes_arrive_in_any_order() {
    assert!(happens(Way::TwoPoints, ONE));
    assert!(happens(Way::TwoWrites, ONE));
}

/// Who hears that its write was accepted may no longer be the last one who wrote.
#[test]
fn the_answer_to_a_write_may_come_after_a_later_write() {
    assert!(happens(Way::Trusts, TWO));
    assert!(happens(Way::TrustsTheDead, Bounds { crashes: 1, ..TWO }));
}

#[test]
fn writes_that_have_arrived_are_heard_of_in_any_order() {
    for (pauses, may) in [(0, false), (1, true)] {
        assert_eq!(happens(Way::TwoAnswers, Bounds { pauses, ..ONE }), may, "pauses {pauses}");
    }
}

#[test]
fn a_write_arrives_whatever_has_become_of_its_writer() {
    let done = Way::LeavesItsWrite(&[What::Closed, What::Wrote(Resource::Unfenced)]);
    assert!(happens(done, Bounds { expiries: 1, ..ONE }));
    let crashed = Way::Writes(&[What::Crashed, What::Wrote(Resource::Unfenced)]);
    assert!(happens(crashed, Bounds { crashes: 1, ..ONE }));
    let followed =
        Way::Writes(&[What::Crashed, What::Closed, What::OtherOpened, What::Wrote(Resource::Unfenced)]);
    assert!(happens(followed, Bounds { crashes: 1, restarts: 1, ..ONE }));
}

/// In all else the states are the same.
#[test]
fn what_the_fence_has_seen_tells_states_apart() {
    for way in [Way::IsRefused, Way::IsAccepted] {
        assert!(happens(way, TWO), "refused: {}", way == Way::IsRefused);
    }
}

/// Were it forgotten, the audit would say so.
#[test]
fn what_a_process_has_seen_tells_its_states_apart() {
    for (way, symmetry) in [(Way::Remembers, false), (Way::LooksLater, false), (Way::LooksLater, true)] {
        let mut config = CheckConfig::new(Bounds { drops: 1, ..TWO });
        config.reductions.symmetry = symmetry;
        assert_eq!(broken(&run(Arc::new(Lives(way).into()), &config)), ["never"], "symmetry: {symmetry}");
    }
}

#[test]
fn whoever_watches_is_told_in_the_end_however_often_its_connection_drops() {
    for way in [Way::AwaitsNode, Way::AwaitsChild, Way::AwaitsData, Way::AwaitsEnd] {
        for (drops, lag) in [(1, 0), (2, 0), (1, 1)] {
            let check = run(Arc::new(Lives(way).into()), &CheckConfig::new(Bounds { drops, lag, ..TWO }));
            assert!(!broken(&check).contains(&"no-waiter-stuck"), "drops {drops}, lag {lag}");
        }
    }
}

#[test]
fn a_session_may_end_while_its_process_is_paused() {
    assert!(happens(Way::IsTold, Bounds { pauses: 1, ..ONE }));
    assert!(!happens(Way::IsTold, ONE));
}

/// That is no further fault: others may expire as often as before.
#[test]
fn the_session_of_a_paused_process_ends_by_itself() {
    assert!(happens(Way::EndsFirst, Bounds { expiries: 1, pauses: 1, ..TWO }));
    assert!(!happens(Way::EndsFirst, Bounds { pauses: 1, ..TWO }));
}

#[test]
fn what_a_paused_process_has_asked_is_served() {
    assert!(happens(Way::IsStopped, Bounds { pauses: 1, ..ONE }));
}

#[test]
fn a_paused_process_does_not_go_on_before_it_is_resumed() {
    assert!(!happens(Way::GoesOn, Bounds { pauses: 1, ..ONE }));
}

/// In what has become of all processes and of the ensemble, the orders do not differ.
#[test]
fn what_a_promise_has_seen_tells_states_apart() {
    assert!(happens(Way::Speaks, TWO));
}

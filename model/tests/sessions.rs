//! Sessions that come late, end, and are followed by others; who their clients are, and what tasks know of that.

use crate::common::{broken, run};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use zk_api::{
    Acl, AclList, CreateMode, Data, Either, Error, ErrorCode, Identity, KeeperState, Perms, SessionId, ZPath,
    ZooKeeper, creator_acl, race,
};
use zk_harness::event::{End, Event, GroundTruth, Observation};
use zk_harness::prelude::{AnyProbe, AnyZooKeeper};
use zk_harness::probe::Probe;
use zk_harness::promise::{Finding, Promise, Terms, Violation};
use zk_harness::trial::{Bounds, Role, Trial};
use zk_harness::words::Word;
use zk_model::{CheckConfig, Verdict};

/// Credentials, and who has shown them.
const CREDENTIALS: &str = "ann:one";
const ANN: &str = "ann:grDcJ7OS1jCu/cG2TyJHw/I9L8o=";

/// What the one process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// It sees at once, or after a while, that it has no session yet.
    IsEarly,
    IsEarlyForLong,
    /// It has seen so, and creates something as soon as it is connected.
    ComesEarly,
    /// What it asks before it has a session, or once it has lost its connection, fails: there is no server.
    FindsNone,
    FindsNoneAgain,
    /// It waits for another connection.
    Reconnects,
    /// It creates something while it has none, and ends.
    AsksWithout,
    /// The same, and it waits.
    AsksAndWaits,
    /// It creates two things, and waits for neither.
    SendsTwo,
    /// It waits for another connection, and process 1 creates something.
    OthersGoOn,
    /// It sees by its session that it has none yet.
    IsNobody,
    /// It sends one of several that may be there, and has another session.
    SendsAndRenews,
    /// It makes something of its own, and ends.
    LeavesItsNode,
    /// It says that its session is lost: at once, or when it is told so.
    SaysLost,
    LosesIt,
    /// Its round is over, or that of one of its threads, and something is still to come.
    DoesItsRound,
    ThreadDoesItsRound,
    /// It creates something if it has one round left.
    HasOneLeft,
    /// It asks for something, and for the end of its session behind that.
    ClosesBehind,
    /// It has one session after the other.
    Renews,
    /// Its code ends, and does not wait for the end of its session.
    ClosesAndEnds,
    /// It closes its session, and goes on.
    Closes,
    /// Of what only Ann may write, it changes the data once it has another connection, or another session.
    WritesAgain,
    /// It asks for what takes credentials, and shows them: they come first if it has no session yet.
    AsksAndShows,
    /// It shows credentials or does not, asks for what takes them, and ends; or it has lost its connection before.
    MayShow,
    MayShowAndAsksWithout,
    /// It shows credentials that no server takes, and creates something behind them.
    IsRefused,
    /// The same, if it has no session yet, but the znode comes first.
    IsRefusedEarly,
    /// A task stops when another one has been told that the connection, or the session, is lost.
    StopsAtLoss,
    StopsAtTheEnd,
    /// A task sees that there is a connection again before another has been told.
    SeesFirst,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum What {
    Opened,
    Connected,
    Lost,
    LearnsExpiry,
    Crashed,
    Ended,
    Closed,
    Paused,
    Created,
    Written,
    /// It has seen what it was to see.
    Says,
}

/// Broken once these have happened in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Never(Vec<What>);

impl Promise for Never {
    fn terms(&self) -> Terms {
        Terms::of("never").about("Certain things do not happen in a certain order.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let what = match event {
            Event::Observed { .. } => What::Says,
            Event::Is(GroundTruth::SessionOpened { .. }) => What::Opened,
            Event::Is(GroundTruth::Connected { .. }) => What::Connected,
            Event::Is(GroundTruth::Disconnected { .. }) => What::Lost,
            Event::Is(GroundTruth::LearnsExpiry { .. }) => What::LearnsExpiry,
            Event::Is(GroundTruth::SessionClosed { .. }) => What::Closed,
            Event::Is(GroundTruth::Crashed { .. }) => What::Crashed,
            Event::Is(GroundTruth::Finished { .. }) => What::Ended,
            Event::Is(GroundTruth::Paused { .. }) => What::Paused,
            Event::Is(GroundTruth::NodeCreated { .. }) => What::Created,
            Event::Is(GroundTruth::NodeWritten { data, .. }) if !data.is_null() => What::Written,
            Event::Is(_) => return,
        };
        if self.0.first() == Some(&what) {
            self.0.remove(0);
            if self.0.is_empty() {
                found.push(Finding::Broken(Violation::new("it happened".into(), None)));
            }
        }
    }
}

async fn actor(way: Way, zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> End {
    if role.me.process > 0 {
        probe.point().await;
        let _ = zk.create(&own(), Data::NULL, CreateMode::Persistent).await;
        return End::Done;
    }
    let saw = match way {
        Way::StopsAtLoss | Way::StopsAtTheEnd | Way::SeesFirst => knows(way, zk, &probe).await,
        Way::HasOneLeft => {
            if role.rounds == 1 {
                let _ = zk.create(&own(), Data::NULL, CreateMode::Persistent).await;
            }
            probe.point().await;
            live(Way::DoesItsRound, &zk, &probe).await.unwrap_or(false)
        }
        Way::WritesAgain
        | Way::AsksAndShows
        | Way::MayShow
        | Way::MayShowAndAsksWithout
        | Way::IsRefused
        | Way::IsRefusedEarly => shows(way, &zk, &probe).await.unwrap_or(false),
        _ => live(way, &zk, &probe).await.unwrap_or(false),
    };
    if saw {
        probe.observe(Observation::note(Word::own("saw"), "it", 0));
    }
    if matches!(way, Way::SaysLost | Way::LosesIt) { End::SessionLost } else { End::Done }
}

async fn while_in(state: KeeperState, zk: &impl ZooKeeper) {
    while zk.state() == state {
        zk.state_change().await;
    }
}

async fn next_connection(zk: &impl ZooKeeper) {
    for state in [KeeperState::SyncConnected, KeeperState::Disconnected, KeeperState::Expired] {
        while_in(state, zk).await;
    }
}

fn own() -> ZPath {
    "/a/own".parse().expect("a path")
}

/// Gives whether it saw what is to be shown.
async fn live(way: Way, zk: &impl ZooKeeper, probe: &impl Probe) -> Result<bool, Error> {
    let is_early = || zk.state() == KeeperState::Disconnected;
    match way {
        Way::IsEarly => return Ok(is_early()),
        Way::IsEarlyForLong => {
            probe.point().await;
            return Ok(is_early());
        }
        Way::ComesEarly if is_early() => {
            while_in(KeeperState::Disconnected, zk).await;
            zk.create(&own(), Data::NULL, CreateMode::Persistent).await?;
        }
        Way::FindsNone => return Ok(zk.exists(&own()).await.is_err() && zk.session() == SessionId::NONE),
        Way::FindsNoneAgain => {
            while_in(KeeperState::SyncConnected, zk).await;
            let change = zk.state_change();
            return Ok(matches!(race(change, zk.exists(&own())).await, Either::Right(Err(_))));
        }
        Way::IsNobody => return Ok(zk.session() == SessionId::NONE),
        Way::Reconnects | Way::OthersGoOn => next_connection(zk).await,
        Way::LosesIt => {
            while_in(KeeperState::SyncConnected, zk).await;
            while_in(KeeperState::Disconnected, zk).await;
        }
        Way::DoesItsRound | Way::ThreadDoesItsRound => {
            let thread = u8::from(way == Way::ThreadDoesItsRound);
            probe.observe_of(thread, Observation::Leaves { lock: "/a".into() });
            probe.point().await;
        }
        Way::Renews => {
            let first = zk.session();
            next_connection(zk).await;
            let second = zk.session();
            next_connection(zk).await;
            return Ok(first != second && second != zk.session() && zk.session() != first);
        }
        Way::ClosesAndEnds => drop(zk.close()),
        Way::Closes => {
            let _ = zk.close().await;
            while_in(KeeperState::Disconnected, zk).await;
        }
        _ => return asks(way, zk).await,
    }
    Ok(false)
}

/// Likewise, for who asks for something.
async fn asks(way: Way, zk: &impl ZooKeeper) -> Result<bool, Error> {
    match way {
        Way::AsksAndWaits => {
            while_in(KeeperState::SyncConnected, zk).await;
            zk.create(&own(), Data::NULL, CreateMode::Persistent).await?;
        }
        Way::SendsTwo => {
            for path in ["/a/one", "/a/other"] {
                let path: ZPath = path.parse().expect("a path");
                drop(zk.create(&path, Data::NULL, CreateMode::Persistent));
            }
            while_in(KeeperState::SyncConnected, zk).await;
        }
        Way::SendsAndRenews => {
            drop(zk.create(&own(), Data::NULL, CreateMode::PersistentSequential));
            next_connection(zk).await;
        }
        Way::LeavesItsNode | Way::SaysLost => {
            zk.create(&own(), Data::NULL, CreateMode::Ephemeral).await?;
        }
        Way::ClosesBehind => {
            let creates = zk.create(&own(), Data::NULL, CreateMode::Persistent);
            drop(zk.close());
            return Ok(creates.await.is_err_and(|error| error.is_session_over()));
        }
        Way::AsksWithout => {
            while_in(KeeperState::SyncConnected, zk).await;
            drop(zk.create(&own(), Data::NULL, CreateMode::Persistent));
        }
        _ => {}
    }
    Ok(false)
}

/// Likewise, for who shows credentials.
async fn shows(way: Way, zk: &impl ZooKeeper, probe: &impl Probe) -> Result<bool, Error> {
    let create = || zk.create(&own(), Data::NULL, CreateMode::Persistent);
    match way {
        Way::WritesAgain => {
            zk.authenticate("digest", CREDENTIALS.into()).await?;
            let acl: AclList = [Acl { perms: Perms::ALL, who: Identity::new("digest", ANN) }].into();
            zk.create2(&own(), Data::NULL, acl, CreateMode::Persistent).await?;
            next_connection(zk).await;
            let set = zk.set_data(&own(), Data::from("new"), -1).await;
            return Ok(set.is_err_and(|error| error.code == ErrorCode::NoAuth));
        }
        Way::AsksAndShows => {
            let creates = zk.create2(&own(), Data::NULL, creator_acl(), CreateMode::Persistent);
            drop(zk.authenticate("digest", CREDENTIALS.into()));
            return Ok(creates.await.is_ok());
        }
        Way::MayShow | Way::MayShowAndAsksWithout => {
            if let Either::Right(()) = race(probe.point(), probe.point()).await {
                zk.authenticate("digest", CREDENTIALS.into()).await?;
            }
            if way == Way::MayShowAndAsksWithout {
                while_in(KeeperState::SyncConnected, zk).await;
            }
            drop(zk.create2(&own(), Data::NULL, creator_acl(), CreateMode::Persistent));
        }
        Way::IsRefused => {
            drop(zk.authenticate("nobody's", Data::NULL));
            create().await?;
        }
        _ if zk.state() == KeeperState::Disconnected => {
            let creates = create();
            drop(zk.authenticate("nobody's", Data::NULL));
            creates.await?;
        }
        _ => probe.point().await,
    }
    Ok(false)
}

/// Likewise, for a process with several tasks, one of which tells of the connection: what it was told last.
async fn knows(way: Way, zk: AnyZooKeeper, probe: &impl Probe) -> bool {
    let told = Arc::new(AtomicU8::new(0));
    let (own, tells) = (zk.clone(), told.clone());
    probe.spawn(Box::pin(async move {
        for state in [KeeperState::SyncConnected, KeeperState::Disconnected] {
            while_in(state, &own).await;
            tells.fetch_add(1, Ordering::Relaxed);
        }
    }));
    let was_told = || told.load(Ordering::Relaxed);
    match way {
        Way::SeesFirst => {
            probe.point().await;
            was_told() == 1 && zk.state() == KeeperState::SyncConnected
        }
        _ => {
            let longer = zk.sleep(Duration::from_secs(2));
            probe.spawn(Box::pin(longer));
            zk.sleep(Duration::from_secs(1)).await;
            was_told() < if way == Way::StopsAtLoss { 1 } else { 2 }
        }
    }
}

/// Whether these happen in this order, within these bounds.
fn happens(way: Way, order: &[What], config: &CheckConfig, renews: bool) -> bool {
    let order = order.to_vec();
    let trial = Trial::new("sessions", move |zk, probe, role| actor(way, zk, probe, role))
        .opts_out(&zk_harness::promises::STANDARD)
        .bounds(Bounds::clients(1))
        .setup(["/a"])
        .promises(move || vec![Box::new(Never(order.clone()))]);
    let trial = if renews { trial.renews_session() } else { trial };
    let check = run(Arc::new(trial), config);
    assert!(matches!(check.verdict, Verdict::Holds | Verdict::Violated { .. }), "{:?}", check.verdict);
    broken(&check).contains(&"never")
}

fn faults(expiries: u8, drops: u8) -> CheckConfig {
    CheckConfig::new(Bounds { expiries, drops, ..Bounds::clients(1) })
}

#[test]
fn who_looks_at_its_state_may_be_there_before_its_session() {
    for way in [Way::IsEarly, Way::IsEarlyForLong] {
        assert!(happens(way, &[What::Says], &faults(0, 0), false), "{way:?}");
    }
    assert!(happens(Way::ComesEarly, &[What::Created], &faults(0, 0), false));
    for way in [Way::IsNobody, Way::AsksAndShows] {
        assert!(happens(way, &[What::Says], &faults(0, 0), false), "{way:?}");
    }
}

#[test]
fn a_client_may_find_no_server() {
    let (first, again) = (&[What::Says][..], &[What::Lost, What::Says][..]);
    for (way, order, drops) in [(Way::FindsNone, first, 1), (Way::FindsNoneAgain, again, 2)] {
        assert!(happens(way, order, &faults(0, drops), false), "{way:?}");
        assert!(!happens(way, order, &faults(0, drops - 1), false), "{way:?}");
    }
}

#[test]
fn a_process_that_is_done_may_crash_and_begin_again() {
    for (crashes, restarts, may) in [(1, 1, true), (0, 1, false), (1, 0, false)] {
        let config = CheckConfig::new(Bounds { crashes, restarts, ..Bounds::clients(1) });
        assert_eq!(happens(Way::IsEarly, &[What::Opened; 2], &config, false), may, "{crashes} {restarts}");
    }
}

#[test]
fn what_a_crashed_process_has_sent_comes_to_pass_when_the_next_has_begun() {
    let config = CheckConfig::new(Bounds { crashes: 1, restarts: 1, ..Bounds::clients(1) });
    let order = [What::Crashed, What::Opened, What::Created, What::Created];
    assert!(happens(Way::SendsAndRenews, &order, &config, false));
}

#[test]
fn rounds_that_are_done_are_not_done_again() {
    let order = [What::Says, What::Opened];
    for (way, rounds, may) in
        [(Way::DoesItsRound, 1, false), (Way::DoesItsRound, 2, true), (Way::ThreadDoesItsRound, 1, true)]
    {
        let config = CheckConfig::new(Bounds { crashes: 1, restarts: 1, rounds, ..Bounds::clients(1) });
        assert_eq!(happens(way, &order, &config, false), may, "{way:?}, rounds {rounds}");
    }
    for (crashes, may) in [(0, false), (1, true)] {
        let config = CheckConfig::new(Bounds { crashes, restarts: 1, rounds: 2, ..Bounds::clients(1) });
        assert_eq!(happens(Way::HasOneLeft, &[What::Created], &config, false), may, "crashes {crashes}");
    }
}

#[test]
fn who_says_that_its_session_is_lost_has_none_and_may_begin_again() {
    assert!(happens(Way::SaysLost, &[What::Created, What::Closed], &faults(0, 0), false));
    for (expiries, may) in [(0, false), (1, true)] {
        let order = [What::Ended, What::Closed];
        assert_eq!(happens(Way::LeavesItsNode, &order, &faults(expiries, 0), false), may, "{expiries}");
    }
    for (restarts, may) in [(0, false), (1, true)] {
        let config = CheckConfig::new(Bounds { expiries: 1, restarts, ..Bounds::clients(1) });
        let order = [What::LearnsExpiry, What::Opened];
        assert_eq!(happens(Way::LosesIt, &order, &config, false), may, "restarts {restarts}");
    }
}

#[test]
fn a_session_is_opened_once_and_followed_by_another_only_where_it_is_renewed() {
    let twice = [What::Opened, What::Opened];
    assert!(!happens(Way::Reconnects, &twice, &faults(1, 1), false));
    assert!(!happens(Way::Reconnects, &twice, &faults(0, 1), true));
    assert!(happens(Way::Reconnects, &twice, &faults(1, 0), true));
    assert!(happens(Way::Renews, &[What::Says], &faults(2, 0), true));
    // Its code has ended by then, as what it asked has failed.
    let config = CheckConfig { false_expiries: false, ..faults(1, 1) };
    let order = [What::LearnsExpiry, What::Ended, What::Opened];
    assert!(happens(Way::AsksAndWaits, &order, &config, true));
}

#[test]
fn what_was_asked_of_a_former_session_is_not_asked_of_the_next() {
    let config = CheckConfig::new(Bounds { expiries: 1, drops: 1, lag: 1, ..Bounds::clients(1) });
    assert!(!happens(Way::AsksAndWaits, &[What::LearnsExpiry, What::Created], &config, true));
    assert!(happens(Way::SendsAndRenews, &[What::LearnsExpiry, What::Created], &config, true));
    assert!(!happens(Way::SendsAndRenews, &[What::Created; 2], &config, true));
}

#[test]
fn what_is_asked_without_a_connection_is_served_on_the_next() {
    for lag in [0, 1] {
        let config = CheckConfig::new(Bounds { drops: 1, lag, ..Bounds::clients(1) });
        assert!(happens(Way::AsksWithout, &[What::Lost, What::Created], &config, false), "lag {lag}");
    }
}

#[test]
fn all_that_a_lost_connection_carries_may_take_effect() {
    assert!(happens(Way::SendsTwo, &[What::Lost, What::Created, What::Created], &faults(0, 1), false));
}

#[test]
fn every_fault_happens_as_often_as_it_may() {
    for (crashes, restarts, may) in [(2, 2, true), (1, 2, false), (2, 1, false)] {
        let config = CheckConfig::new(Bounds { crashes, restarts, ..Bounds::clients(1) });
        assert_eq!(happens(Way::IsEarly, &[What::Opened; 3], &config, false), may, "{crashes} {restarts}");
    }
    for (pauses, may) in [(1, false), (2, true)] {
        let config = CheckConfig::new(Bounds { pauses, ..Bounds::clients(1) });
        assert_eq!(happens(Way::Reconnects, &[What::Paused; 2], &config, false), may, "pauses {pauses}");
    }
}

#[test]
fn a_session_may_end_while_its_client_has_no_connection() {
    let config = CheckConfig { false_expiries: false, ..faults(1, 1) };
    assert!(happens(Way::Reconnects, &[What::Lost, What::Closed, What::LearnsExpiry], &config, false));
    let config = CheckConfig::new(Bounds { drops: 1, pauses: 1, ..Bounds::clients(1) });
    assert!(happens(Way::Reconnects, &[What::Lost, What::Paused, What::Closed], &config, false));
}

#[test]
fn a_session_of_which_a_client_was_told_too_early_ends_later() {
    for way in [Way::Reconnects, Way::AsksAndWaits] {
        for (false_expiries, may) in [(true, true), (false, false)] {
            let config = CheckConfig { false_expiries, ..faults(1, 1) };
            assert_eq!(happens(way, &[What::LearnsExpiry, What::Closed], &config, false), may, "{way:?}");
        }
    }
    // Where views do not lag, it has ended before there is another.
    let order = [What::LearnsExpiry, What::Opened, What::Closed, What::Closed, What::LearnsExpiry];
    for (expiries, lag, many, may) in [(1, 0, 3, false), (1, 1, 3, true), (1, 1, 5, false), (2, 1, 5, true)] {
        let config = CheckConfig::new(Bounds { expiries, drops: 1, lag, ..Bounds::clients(1) });
        assert_eq!(happens(Way::Renews, &order[..many], &config, true), may, "{expiries} {lag} {many}");
    }
}

/// The only server has still to write the end, and writes nothing before it. A deposed leader hinders nobody.
#[test]
fn others_write_before_the_end_of_which_a_client_was_told_too_early_only_where_views_lag() {
    for (lag, may) in [(0, false), (1, true)] {
        let config = CheckConfig::new(Bounds { expiries: 1, drops: 1, lag, ..Bounds::clients(2) });
        let order = [What::LearnsExpiry, What::Created, What::Closed];
        assert_eq!(happens(Way::OthersGoOn, &order, &config, false), may, "lag {lag}");
    }
}

#[test]
fn who_has_closed_its_session_has_no_other() {
    for way in [Way::ClosesAndEnds, Way::Closes] {
        for order in [[What::Opened; 2], [What::Connected; 2]] {
            assert!(!happens(way, &order, &faults(0, 1), true), "{way:?} {order:?}");
        }
    }
    // Nor is it told that the one which it has closed is dead.
    assert!(!happens(Way::Closes, &[What::LearnsExpiry], &faults(1, 0), false));
    // What it asked for before may have come to pass.
    assert!(!happens(Way::ClosesBehind, &[What::Created, What::Says], &faults(0, 1), false));
}

/// It is no end of a session that the code has ended before there was one.
#[test]
fn who_ends_early_learns_of_no_end() {
    assert!(!happens(Way::IsEarly, &[What::LearnsExpiry], &faults(0, 0), true));
}

#[test]
fn credentials_are_shown_again_on_the_next_connection_and_not_by_the_next_session() {
    let config = faults(0, 1);
    assert!(happens(Way::WritesAgain, &[What::Lost, What::Written], &config, false));
    assert!(!happens(Way::WritesAgain, &[What::Says], &config, false));
    // Also for what the second of them still carries when it is lost.
    assert!(happens(Way::WritesAgain, &[What::Lost, What::Lost, What::Written], &faults(0, 2), false));
    // Not even what a lost connection still carries.
    let config = faults(1, 1);
    assert!(happens(Way::WritesAgain, &[What::Opened, What::Opened, What::Says], &config, true));
    assert!(!happens(Way::WritesAgain, &[What::Opened, What::Opened, What::Written], &config, true));
}

/// It is not told by its code, which is gone.
#[test]
fn who_has_shown_credentials_is_not_taken_for_one_who_has_not() {
    let config = CheckConfig::new(Bounds { crashes: 1, ..Bounds::clients(1) });
    assert!(happens(Way::MayShow, &[What::Crashed, What::Created], &config, false));
    let order = [What::Lost, What::Ended, What::Created];
    assert!(happens(Way::MayShowAndAsksWithout, &order, &faults(0, 1), false));
}

#[test]
fn nothing_comes_of_what_is_sent_with_credentials_that_are_refused() {
    for way in [Way::IsRefused, Way::IsRefusedEarly] {
        for drops in [0, 1] {
            assert!(!happens(way, &[What::Created], &faults(0, drops), false), "{way:?}, drops {drops}");
        }
    }
}

/// What was woken before the news has run by then, and whom the news has woken runs before what comes after it.
#[test]
fn who_is_told_by_another_task_is_told_before_it_goes_on() {
    for false_expiries in [false, true] {
        let config = CheckConfig { false_expiries, ..faults(1, 1) };
        assert!(!happens(Way::StopsAtLoss, &[What::Lost, What::Says], &config, false));
        assert!(!happens(Way::StopsAtTheEnd, &[What::LearnsExpiry, What::Says], &config, false));
    }
}

#[test]
fn a_task_may_see_a_connection_before_another_that_waits_for_it() {
    assert!(happens(Way::SeesFirst, &[What::Says], &faults(0, 1), false));
}

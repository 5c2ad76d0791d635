//! Which of a process's ready tasks runs next is a choice, and so is how much has reached it before its code looks: two
//! things that the simulator shows of a process with several tasks, and threads show for real.

use crate::common::{broken, full, run};
use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use zk_api::{CreateMode, Data, Either, Error, ErrorCode, KeeperState, ZPath, ZooKeeper, race};
use zk_harness::event::End;
use zk_harness::probe::Probe;
use zk_harness::promises::NoWaiterStuck;
use zk_harness::trial::{Bounds, Role, Trial};
use zk_model::{Check, CheckConfig, Verdict};

/// What process 0 does. The others create, set and delete `/a/x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A task reads what another one creates, without waiting for it.
    ReadsTooSoon,
    /// The same, and it waits.
    ReadsInTime,
    /// It takes data that is newer than its watch has told for impossible: the call is asked first.
    CallFirst,
    /// The same, and the watch is asked first.
    WatchFirst,
    /// It forgets what its watcher has noted when it has its answer, and then waits for the watcher.
    ForgetsTheNote,
    /// It forgets what its watcher has noted before it asks.
    ForgetsInTime,
    /// It waits for its watcher while it has the monitor which that one takes first.
    WaitsInTheMonitor,
    /// It leaves the monitor before it waits.
    LeavesTheMonitor,
    /// It deletes again what it could not, beside a listener that takes what is there for its own.
    RetriesBesideAListener,
    /// The listener looks only when the deletion is done.
    ListensAfterwards,
}

#[derive(Clone)]
struct Tasks(Way);

impl From<Tasks> for Trial {
    fn from(it: Tasks) -> Trial {
        let code = it.clone();
        Trial::new("tasks", move |zk, probe, role| code.clone().actor(zk, probe, role))
            .opts_out(&zk_harness::promises::STANDARD)
            .summary("Has tasks.")
            .source("this test")
            .bounds(Bounds::clients(2))
            .promises(|| vec![Box::new(NoWaiterStuck)])
            .setup(["/a"])
    }
}

impl Tasks {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        let x: ZPath = "/a/x".parse().expect("a path");
        if role.me.process > 0 {
            let _ = zk.create(&x, Data::NULL, CreateMode::Persistent).await;
            let _ = zk.set_data(&x, "b".into(), -1).await;
            let _ = zk.delete(&x, -1).await;
            return End::Done;
        }
        let done = match self.0 {
            Way::ReadsTooSoon | Way::ReadsInTime => reads(self.0, zk, &probe, x).await,
            Way::CallFirst | Way::WatchFirst => both_ready(self.0, &zk, &x).await,
            Way::ForgetsTheNote | Way::ForgetsInTime => leaves(self.0, zk, &probe, x).await,
            Way::WaitsInTheMonitor | Way::LeavesTheMonitor => monitor(self.0, zk, &probe, x).await,
            Way::RetriesBesideAListener | Way::ListensAfterwards => retries(self.0, zk, &probe, x).await,
        };
        if done.is_err_and(|error| error.is_session_over()) { End::SessionLost } else { End::Done }
    }
}

/// What tasks of a process share: a number, which only grows, and who waits for it to do so.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<(u32, Vec<Waker>)>>);

impl Shared {
    fn get(&self) -> u32 {
        self.0.lock().expect("nobody panics with it").0
    }

    fn set(&self, value: u32) {
        let mut inner = self.0.lock().expect("nobody panics with it");
        inner.0 = value;
        std::mem::take(&mut inner.1).into_iter().for_each(Waker::wake);
    }

    async fn is(&self, value: u32) {
        poll_fn(|cx| {
            let mut inner = self.0.lock().expect("nobody panics with it");
            if inner.0 == value {
                return Poll::Ready(());
            }
            inner.1.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

async fn reads(
    way: Way,
    zk: impl ZooKeeper + Clone + 'static,
    probe: &impl Probe,
    x: ZPath,
) -> Result<(), Error> {
    let made = Shared::default();
    let (own, other, told) = (zk.clone(), x.clone(), made.clone());
    let y: ZPath = "/a/y".parse().expect("a path");
    let theirs = y.clone();
    drop(other);
    probe.spawn(Box::pin(async move {
        let _ = own.create(&theirs, Data::NULL, CreateMode::Persistent).await;
        told.set(1);
    }));
    let (own, told) = (zk.clone(), made.clone());
    probe.spawn(Box::pin(async move {
        if way == Way::ReadsInTime {
            told.is(1).await;
        }
        assert!(own.data(&y).await.is_ok(), "the other task has made it");
    }));
    Ok(())
}

async fn both_ready(way: Way, zk: &impl ZooKeeper, x: &ZPath) -> Result<(), Error> {
    let ((_, before), mut watch) = zk.data_watch(x).await?;
    let mut call = zk.data(x);
    let won = match way {
        Way::CallFirst => match race(&mut call, &mut watch).await {
            Either::Left(answer) => Some(answer?),
            Either::Right(_) => None,
        },
        _ => match race(&mut watch, &mut call).await {
            Either::Left(_) => None,
            Either::Right(answer) => Some(answer?),
        },
    };
    assert!(
        won.is_none_or(|(_, stat)| stat.version() == before.version()),
        "the watch comes before what is newer"
    );
    Ok(())
}

/// A member leaves when nobody else is there. A watcher of its own notes each change.
async fn leaves(
    way: Way,
    zk: impl ZooKeeper + Clone + 'static,
    probe: &impl Probe,
    x: ZPath,
) -> Result<(), Error> {
    let (note, watches) = (Shared::default(), Arc::new(Mutex::new(Vec::new())));
    let wakes = Shared::default();
    let (noted, queue, woken) = (note.clone(), watches.clone(), wakes.clone());
    probe.spawn(Box::pin(async move {
        for nth in 1.. {
            woken.is(nth).await;
            let watch: zk_api::Watch = queue.lock().expect("nobody panics with it").remove(0);
            watch.await;
            noted.set(1);
        }
    }));
    for nth in 1.. {
        if way == Way::ForgetsInTime {
            note.set(0);
        }
        let (there, watch) = zk.exists_watch(&x).await?;
        let is_there = there.is_some();
        watches.lock().expect("nobody panics with it").push(watch);
        wakes.set(nth);
        if !is_there {
            return Ok(());
        }
        // Another look, as those who wait for a crowd take.
        zk.exists(&x).await?;
        if way == Way::ForgetsTheNote {
            note.set(0);
        }
        note.is(1).await;
    }
    Ok(())
}

/// The watcher and main both take the monitor, and main waits for what the watcher does in it.
async fn monitor(
    way: Way,
    zk: impl ZooKeeper + Clone + 'static,
    probe: &impl Probe,
    x: ZPath,
) -> Result<(), Error> {
    let (monitor, latch) = (Shared::default(), Shared::default());
    let (there, watch) = zk.exists_watch(&x).await?;
    let (taken, counted) = (monitor.clone(), latch.clone());
    probe.spawn(Box::pin(async move {
        watch.await;
        taken.is(0).await;
        counted.set(1);
    }));
    if there.is_some() {
        return Ok(());
    }
    let Ok(_) = zk.create(&x, Data::NULL, CreateMode::Persistent).await else { return Ok(()) };
    // The event of this came before its answer.
    monitor.set(1);
    if way == Way::LeavesTheMonitor {
        monitor.set(0);
    }
    latch.is(1).await;
    monitor.set(0);
    Ok(())
}

/// A listener takes the lock again when the connection is back, unless it is given back.
async fn retries(
    way: Way,
    zk: impl ZooKeeper + Clone + 'static,
    probe: &impl Probe,
    _: ZPath,
) -> Result<(), Error> {
    let y: ZPath = "/a/y".parse().expect("a path");
    let (held, given_back) = (Shared::default(), Shared::default());
    zk.create(&y, Data::NULL, CreateMode::Persistent).await?;
    held.set(1);
    let (own, lock, holds, back, change) =
        (zk.clone(), y.clone(), held.clone(), given_back.clone(), zk.state_change());
    probe.spawn(Box::pin(async move {
        if change.await != KeeperState::Disconnected {
            return;
        }
        if way == Way::ListensAfterwards {
            back.is(1).await;
            return;
        }
        // As if nobody had begun to give it back: what is there is its own.
        if back.get() == 0
            && let Err(Error { code: ErrorCode::NodeExists, .. }) =
                own.create(&lock, Data::NULL, CreateMode::Persistent).await
            && own.exists(&lock).await.is_ok_and(|there| there.is_none())
        {
            panic!("it holds what is not there, {}", holds.get());
        }
    }));
    while let Err(error) = zk.delete(&y, -1).await {
        given_back.set(1);
        if !matches!(error.code, ErrorCode::ConnectionLoss) {
            return if error.code == ErrorCode::NoNode { Ok(()) } else { Err(error) };
        }
    }
    given_back.set(1);
    Ok(())
}

fn checked(way: Way, config: &CheckConfig) -> Check {
    run(Arc::new(Tasks(way).into()), config)
}

#[test]
fn ready_tasks_run_in_any_order() {
    let check = checked(Way::ReadsTooSoon, &full(1, 0, 0, 0));
    assert_eq!(broken(&check), ["no-panic"], "{:?}", check.verdict);
    let check = checked(Way::ReadsInTime, &full(1, 0, 0, 0));
    assert_eq!(check.verdict, Verdict::Holds);
}

#[test]
fn an_event_and_the_answer_behind_it_may_both_be_there() {
    let check = checked(Way::CallFirst, &full(2, 0, 0, 0));
    assert_eq!(broken(&check), ["no-panic"], "{:?}", check.verdict);
    let check = checked(Way::WatchFirst, &full(2, 0, 0, 0));
    assert_eq!(check.verdict, Verdict::Holds);
}

#[test]
fn a_note_that_the_watcher_makes_before_the_answer_is_looked_at_is_lost() {
    let check = checked(Way::ForgetsTheNote, &full(2, 0, 0, 0));
    assert_eq!(broken(&check), ["no-waiter-stuck"], "{:?}", check.verdict);
    let check = checked(Way::ForgetsInTime, &full(2, 0, 0, 0));
    assert_eq!(check.verdict, Verdict::Holds);
}

#[test]
fn a_watcher_that_stands_still_finds_the_monitor_taken() {
    let check = checked(Way::WaitsInTheMonitor, &full(1, 0, 0, 0));
    assert_eq!(broken(&check), ["no-waiter-stuck"], "{:?}", check.verdict);
    let check = checked(Way::LeavesTheMonitor, &full(1, 0, 0, 0));
    assert_eq!(check.verdict, Verdict::Holds);
}

#[test]
fn a_listener_runs_before_or_after_the_retry_beside_it() {
    let check = checked(Way::RetriesBesideAListener, &full(1, 0, 1, 0));
    assert_eq!(broken(&check), ["no-panic"], "{:?}", check.verdict);
    let check = checked(Way::ListensAfterwards, &full(1, 0, 1, 0));
    assert_eq!(check.verdict, Verdict::Holds);
}

/// Code that does not follow from what it was given.
#[derive(Clone)]
struct Undetermined {
    counts: Arc<AtomicU32>,
    hashes: bool,
}

impl From<Undetermined> for Trial {
    fn from(it: Undetermined) -> Trial {
        let code = it.clone();
        Trial::new("undetermined", move |zk, probe, role| code.clone().actor(zk, probe, role))
            .bounds(Bounds::clients(2))
            .opts_out(&zk_harness::promises::STANDARD)
            .promises(|| vec![Box::new(NoWaiterStuck)])
            .setup(["/a"])
    }
}

impl Undetermined {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, _probe: Arc<dyn Probe>, _role: Role) -> End {
        let all: HashSet<String> = (0..8).map(|n| format!("/a/{n}")).collect();
        let first = match self.hashes {
            true => all.iter().next().expect("there are some").clone(),
            false => format!("/a/{}", self.counts.fetch_add(1, Ordering::Relaxed)),
        };
        let path: ZPath = first.parse().expect("a path");
        let _ = zk.create(&path, Data::NULL, CreateMode::Ephemeral).await;
        let _ = zk.delete(&path, -1).await;
        End::Done
    }
}

/// Nothing can be said of such code, and no panic of the model is blamed on it.
#[test]
fn code_that_is_not_determined_has_a_verdict_of_its_own() {
    for hashes in [false, true] {
        let counts = Arc::new(AtomicU32::new(0));
        let check = run(Arc::new(Undetermined { counts, hashes }.into()), &full(2, 1, 1, 1));
        let Verdict::NotDetermined { what } = &check.verdict else { panic!("{:?}", check.verdict) };
        assert!(what.contains("submits create /a/"), "{what}");
        assert_eq!(broken(&check), [""; 0]);
    }
}

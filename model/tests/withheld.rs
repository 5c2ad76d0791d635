//! Events that a client may not be told of, until it is connected again.

use crate::common::{full, run};
use std::sync::Arc;
use zk_api::{
    Acl, AclList, CreateMode, Data, Either, ErrorCode, EventType, Identity, Perms, ZPath, ZooKeeper, race,
};
use zk_harness::event::{End, Event, GroundTruth, Observation};
use zk_harness::prelude::{AnyProbe, AnyZooKeeper};
use zk_harness::promise::{Finding, Promise, Terms, Violation};
use zk_harness::trial::{Role, Trial};
use zk_harness::words::Word;
use zk_model::Verdict;

/// Who knows this password, and none of these clients is: `ann:one`.
const ANN: &str = "ann:grDcJ7OS1jCu/cG2TyJHw/I9L8o=";

const FIRST: Word<'static> = Word::own("is told first of");

/// Nobody is told of this one first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct NeverFirst(&'static str);

impl Promise for NeverFirst {
    fn terms(&self) -> Terms {
        Terms::of("never-first").about("Nobody is told of this one first.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Event::Observed { what, .. } = event
            && what.told().is_some_and(|(what, about, _)| what == FIRST && about == self.0)
        {
            found.push(Finding::Broken(Violation::new("it was".into(), None)));
        }
    }
}

/// Nobody is told of a change that was made before somebody has lost a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct NeverLater {
    is_changed: bool,
    is_lost: bool,
}

impl Promise for NeverLater {
    fn terms(&self) -> Terms {
        Terms::of("never-later").about("Nobody is told on the next connection of what was done before.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(GroundTruth::NodeWritten { .. }) => self.is_changed = true,
            Event::Is(GroundTruth::Disconnected { .. }) => self.is_lost |= self.is_changed,
            Event::Observed { .. } if self.is_lost => {
                found.push(Finding::Broken(Violation::new("it was".into(), None)));
            }
            _ => {}
        }
    }
}

/// Process 0 waits for two znodes that process 1 makes for somebody else alone: it is told of them by its next
/// connection.
async fn waits(zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> End {
    let [a, b]: [ZPath; 2] = ["/t/a", "/t/b"].map(|path| path.parse().expect("a path"));
    if role.me.process > 0 {
        let acl: AclList = [Acl { perms: Perms::ALL, who: Identity::new("digest", ANN) }].into();
        for path in [a, b] {
            let _ = zk.create2(&path, Data::NULL, acl.clone(), CreateMode::Persistent).await;
        }
        return End::Done;
    }
    let (Ok((None, of_b)), Ok((None, of_a))) = (zk.exists_watch(&b).await, zk.exists_watch(&a).await) else {
        return End::Done;
    };
    // It has heard of both by an answer, so that the next server does not tell of them as of something new.
    if !zk.exists(&b).await.is_err_and(|error| error.code == ErrorCode::NoAuth) {
        return End::Done;
    }
    let first = match race(of_a, of_b).await {
        Either::Left(_) => "/t/a",
        Either::Right(_) => "/t/b",
    };
    probe.observe(Observation::note(FIRST, first, 0));
    End::Done
}

/// Process 0 waits for a change of data that process 1 makes when only somebody else may read them.
async fn waits_for_data(zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> End {
    let path: ZPath = "/t".parse().expect("a path");
    if role.me.process > 0 {
        let perms = [(Perms::ALL, "digest", ANN), (Perms::WRITE, "world", "anyone")];
        let acl: AclList =
            perms.map(|(perms, scheme, id)| Acl { perms, who: Identity::new(scheme, id) }).into();
        let _ = zk.set_acl(&path, acl, -1).await;
        let _ = zk.set_data(&path, Data::from("new"), -1).await;
        return End::Done;
    }
    if let Ok((_, watch)) = zk.data_watch(&path).await
        && watch.await.kind == EventType::NodeDataChanged
    {
        probe.observe(Observation::note(FIRST, "/t", 0));
    }
    End::Done
}

/// Process 0 is told of what was withheld from it before it has seen something later; so no server is behind that.
async fn sees_something_later(zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> End {
    let [path, later]: [ZPath; 2] = ["/t", "/later"].map(|path| path.parse().expect("a path"));
    if role.me.process > 0 {
        waits_for_data(zk.clone(), probe, role).await;
        let _ = zk.create(&later, Data::NULL, CreateMode::Persistent).await;
        return End::Done;
    }
    if let Ok((_, watch)) = zk.data_watch(&path).await
        && zk.exists(&later).await.is_ok_and(|stat| stat.is_some())
        && watch.await.kind == EventType::NodeDataChanged
    {
        probe.observe(Observation::note(FIRST, "/t", 0));
    }
    End::Done
}

#[test]
fn what_was_withheld_before_an_answer_is_told_on_the_next_connection() {
    for (drops, is_told) in [(0, false), (1, true)] {
        let trial = Trial::new("sees", sees_something_later)
            .setup(["/t"])
            .promises(|| vec![Box::new(NeverFirst("/t"))])
            .opts_out(&zk_harness::promises::STANDARD);
        let check = run(Arc::new(trial), &full(2, 0, drops, 0));
        assert_eq!(matches!(check.verdict, Verdict::Violated { .. }), is_told, "drops {drops}");
    }
}

#[test]
fn what_was_withheld_is_told_on_the_next_connection() {
    for (drops, is_told) in [(0, false), (1, true)] {
        let trial = Trial::new("waits", waits_for_data)
            .setup(["/t"])
            .promises(|| vec![Box::new(NeverLater::default())])
            .opts_out(&zk_harness::promises::STANDARD);
        let check = run(Arc::new(trial), &full(2, 0, drops, 0));
        assert_eq!(matches!(check.verdict, Verdict::Violated { .. }), is_told, "drops {drops}");
    }
}

/// A client keeps its watches by their hash, and registers them in that order.
#[test]
fn what_was_withheld_is_told_in_any_order() {
    for (first, lag) in [("/t/a", 0), ("/t/b", 0), ("/t/b", 1)] {
        let trial = Trial::new("waits", waits)
            .setup(["/t"])
            .promises(move || vec![Box::new(NeverFirst(first))])
            .opts_out(&zk_harness::promises::STANDARD);
        let mut config = full(2, 0, 1, 0);
        config.bounds.lag = lag;
        let check = run(Arc::new(trial), &config);
        assert!(matches!(check.verdict, Verdict::Violated { .. }), "{first}, lag {lag}");
    }
}

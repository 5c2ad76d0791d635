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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum What {
    /// Data was set.
    Set,
    /// Process 0 has lost its connection.
    Lost,
    /// It has seen something, or is told of a change.
    Saw,
}

/// Broken once these have happened in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Never(&'static [What]);

impl Promise for Never {
    fn terms(&self) -> Terms {
        Terms::of("never").about("Certain things do not happen in a certain order.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        let what = match event {
            Event::Is(GroundTruth::NodeWritten { data, .. }) if !data.is_null() => What::Set,
            Event::Is(GroundTruth::Disconnected { actor }) if actor.process == 0 => What::Lost,
            Event::Observed { .. } => What::Saw,
            Event::Is(_) => return,
        };
        if self.0.first() == Some(&what) {
            self.0 = &self.0[1..];
            if self.0.is_empty() {
                found.push(Finding::Broken(Violation::new("it happened".into(), None)));
            }
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

/// Process 0 has seen something later than what was withheld from it, and is told of the next change.
async fn sees_something_later(zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> End {
    let [path, later]: [ZPath; 2] = ["/t", "/later"].map(|path| path.parse().expect("a path"));
    if role.me.process > 0 {
        waits_for_data(zk.clone(), probe, role).await;
        let _ = zk.create(&later, Data::NULL, CreateMode::Persistent).await;
        let _ = zk.set_data(&path, Data::from("newer"), -1).await;
        return End::Done;
    }
    if let Ok((_, watch)) = zk.data_watch(&path).await
        && zk.exists(&later).await.is_ok_and(|stat| stat.is_some())
    {
        probe.observe(Observation::note(FIRST, "/later", 0));
        if watch.await.kind == EventType::NodeDataChanged {
            probe.observe(Observation::note(FIRST, "/t", 0));
        }
    }
    End::Done
}

/// Whether these happen in this order.
fn happens<A, F>(code: A, drops: u8, order: &'static [What]) -> bool
where
    A: Fn(AnyZooKeeper, AnyProbe, Role) -> F + Send + Sync + 'static,
    F: Future<Output = End> + Send + 'static,
{
    let trial = Trial::new("waits", code)
        .setup(["/t"])
        .promises(move || vec![Box::new(Never(order))])
        .opts_out(&zk_harness::promises::STANDARD);
    matches!(run(Arc::new(trial), &full(2, 0, drops, 0)).verdict, Verdict::Violated { .. })
}

#[test]
fn what_was_withheld_is_told_on_the_next_connection_and_so_is_what_was_not_to_be_read_between() {
    assert!(!happens(waits_for_data, 0, &[What::Set, What::Saw]));
    for order in [&[What::Set, What::Lost, What::Saw], &[What::Lost, What::Set, What::Saw]] {
        assert!(happens(waits_for_data, 1, order), "{order:?}");
    }
}

/// Its next server tells of what is later than the answer alone.
#[test]
fn what_comes_behind_an_answer_is_told_on_the_next_connection_though_something_was_withheld_before() {
    assert!(!happens(sees_something_later, 0, &[What::Saw, What::Saw]));
    assert!(!happens(sees_something_later, 1, &[What::Set, What::Saw, What::Lost, What::Saw, What::Set]));
    for order in [
        &[What::Set, What::Saw, What::Set, What::Lost, What::Saw],
        &[What::Set, What::Saw, What::Lost, What::Set, What::Saw],
    ] {
        assert!(happens(sees_something_later, 1, order), "{order:?}");
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

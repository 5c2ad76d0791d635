//! Events that a client may not be told of, until it is connected again.

use crate::common::{full, run};
use std::sync::Arc;
use zk_api::{Acl, AclList, CreateMode, Data, Either, ErrorCode, Identity, Perms, ZPath, ZooKeeper, race};
use zk_harness::event::{End, Event, Observation};
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

/// Process 0 waits for two znodes that process 1 makes for somebody else alone: it is told of them by its next connection.
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

/// A client keeps its watches by their hash, and registers them in that order.
#[test]
fn what_was_withheld_is_told_in_any_order() {
    for first in ["/t/a", "/t/b"] {
        let trial = Trial::new("waits", waits)
            .setup(["/t"])
            .promises(move || vec![Box::new(NeverFirst(first))])
            .opts_out(&zk_harness::promises::STANDARD);
        let check = run(Arc::new(trial), &full(2, 0, 1, 0));
        assert!(matches!(check.verdict, Verdict::Violated { .. }), "{first}");
    }
}

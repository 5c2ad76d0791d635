//! Texts that no other call gives come in two orders: of two that is all there is, of more a verdict says so.

use crate::common::run;
use std::sync::Arc;
use zk_api::{CreateMode, Data, ZPath, ZooKeeper};
use zk_harness::event::End;
use zk_harness::promises::NoFailure;
use zk_harness::trial::{Bounds, Trial};
use zk_model::{CheckConfig, Verdict};

/// Clients that make a znode each, named after the last of so many guids.
fn names(guids: u32) -> Arc<Trial> {
    let trial = Trial::new("names", move |zk, probe, _| async move {
        let of_it: Vec<_> = (0..guids).map(|_| probe.guid()).collect();
        let Some(last) = of_it.last() else { return End::Done };
        let node = ZPath::parse(&format!("/a/{last}")).expect("a path");
        match zk.create(&node, Data::NULL, CreateMode::Persistent).await {
            Ok(_) => End::Done,
            Err(_) => End::Failed,
        }
    });
    Arc::new(trial.setup(["/a"]).opts_out(&zk_harness::promises::STANDARD))
}

#[test]
fn of_more_than_two_guids_it_is_said_that_they_come_in_two_orders() {
    let partly = |guids, clients| {
        let check = run(names(guids), &CheckConfig::new(Bounds::clients(clients)));
        assert_eq!(check.verdict, Verdict::Holds, "{guids} guids of {clients}");
        check.partly
    };
    let two = [partly(0, 3), partly(1, 2)];
    assert_eq!(two, [None, None]);
    let more = [partly(2, 2), partly(1, 3)];
    assert_eq!(more, [Some("more than two guids in two of their orders"); 2]);
    // Which process has which is not told apart there.
    let mut alike = CheckConfig::new(Bounds::clients(2));
    alike.reductions.symmetry = true;
    assert_eq!(run(names(1), &alike).partly, Some("guids in one of their orders"));
}

/// Process 0 takes it that its own text is the lower one.
#[test]
fn of_two_guids_either_may_be_the_lower() {
    for lowest in [0, 1] {
        let trial = Trial::new("compares", move |zk, probe, role| async move {
            let parent: ZPath = "/a".parse().expect("a path");
            let own = parent.join(&probe.guid()).expect("a path");
            let _ = zk.create(&own, Data::NULL, CreateMode::Persistent).await;
            let Ok(mut names) = zk.children(&parent).await else { return End::Done };
            names.sort();
            let is_lower = names.first().is_some_and(|name| own.as_str().ends_with(&**name));
            let is_alone = names.len() < 2;
            if is_alone || is_lower == (role.me.process == lowest) { End::Done } else { End::Failed }
        });
        let trial = trial.setup(["/a"]).opts_out(&zk_harness::promises::STANDARD);
        let trial = trial.promises(|| vec![Box::new(NoFailure)]);
        let check = run(Arc::new(trial), &CheckConfig::new(Bounds::clients(2)));
        assert!(matches!(check.verdict, Verdict::Violated { .. }), "{lowest}: {:?}", check.verdict);
    }
}

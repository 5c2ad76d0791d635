//! What an administrator does to clients' znodes, and what is told of it.

use crate::common::{calm, path, run_with, said, say, scripted};
use std::sync::Arc;
use std::time::Duration;
use zk_api::{CreateMode, Data, ZooKeeper};
use zk_harness::event::{End, Observation};
use zk_harness::trial::Trial;
use zk_simulator::schedule::When;
use zk_simulator::{Fault, Faults, Run, RunOptions, Scenario, Schedule, run};

/// Makes an ephemeral znode, is granted something at two seconds, and says twice what has become of the znode.
fn holder() -> Arc<Trial> {
    scripted(|zk, probe, _| async move {
        let node = path("/t/a-lock-0000000001");
        zk.create(&node, Data::NULL, CreateMode::Ephemeral).await.expect("nothing is wrong yet");
        zk.sleep(Duration::from_secs(2)).await;
        probe.observe(Observation::Granted { lock: "/t".into(), node: node.text(), token: None });
        for _ in 0..2 {
            zk.sleep(Duration::from_secs(2)).await;
            match zk.data(&node).await {
                Ok((data, _)) => say(&probe, String::from_utf8_lossy(data.bytes()).into_owned()),
                Err(error) => say(&probe, format!("{:?}", error.code)),
            }
        }
        End::Done
    })
}

fn meddled(faults: &[(u64, Fault)]) -> Run {
    let run = run_with(&holder(), &calm(), 1, faults);
    assert!(run.violations.is_empty(), "{:?}", run.violations);
    run
}

#[test]
fn an_administrator_writes_to_a_znode_and_deletes_it() {
    let write = Fault::AdminWrite { client: 0, when: When::Now, data: "unlock".to_owned() };
    let delete = Fault::AdminDelete { client: 0, when: When::Now };
    let run = meddled(&[(3000, write), (5000, delete)]);
    assert_eq!(said(&run), ["unlock", "NoNode"]);
    assert_eq!(run.sometimes["an administrator deleted a holder's znode"], 1);
}

#[test]
fn an_aimed_deletion_strikes_as_something_is_granted() {
    let run = meddled(&[(0, Fault::AdminDelete { client: 0, when: When::NextGrant })]);
    assert_eq!(said(&run), ["NoNode", "NoNode"]);
}

#[test]
fn nobody_is_told_of_an_administrators_session() {
    let run = meddled(&[(3000, Fault::AdminDelete { client: 0, when: When::Now })]);
    let lines = |what: &str| run.trace.iter().filter(|line| line.contains(what)).count();
    assert_eq!((lines("SessionOpened"), lines("NodeDeleted {")), (1, 1));
}

#[test]
fn administrators_come_only_where_a_scenario_has_them() {
    let is_admin = |f: &Fault| matches!(f, Fault::AdminDelete { .. } | Fault::AdminWrite { .. });
    let drawn = |scenario: &Scenario| {
        let all = (0..50).flat_map(|seed| Schedule::draw(scenario, seed).faults).map(|f| f.fault);
        all.collect::<Vec<_>>()
    };
    assert!(!drawn(&Scenario::default()).iter().any(is_admin));
    let faults = Faults { admin_deletes: 3, admin_writes: 3, ..Faults::default() };
    let scenario = Scenario { faults, ..Scenario::default() };
    let (mut with, without) = (drawn(&scenario), drawn(&Scenario::default()));
    assert!(with.iter().filter(|f| matches!(f, Fault::AdminWrite { .. })).count() > 10);
    with.retain(|f| !is_admin(f));
    assert_eq!(with, without, "they change no other fault");
    let runs = (0..20).map(|seed| {
        run(&holder(), &Scenario { clients: 1, ..scenario.clone() }, seed, &RunOptions::default())
    });
    assert!(runs.into_iter().any(|run| run.sometimes.keys().any(|case| case.contains("administrator"))));
}

#[test]
fn who_has_no_session_has_nothing_to_lose() {
    let kept = scripted(|zk, probe, role| async move {
        if role.me.process == 0 {
            let node = path("/t/kept");
            zk.create(&node, Data::NULL, CreateMode::Persistent).await.expect("nothing is wrong yet");
            zk.sleep(Duration::from_secs(4)).await;
            say(
                &probe,
                if zk.exists(&node).await.is_ok_and(|stat| stat.is_some()) { "kept" } else { "gone" },
            );
        }
        End::Done
    });
    // The other one stops before it is connected.
    let stops = Fault::ClientPause { client: 1, when: When::Now, for_ms: 6000 };
    let faults = [(0, stops), (3000, Fault::AdminDelete { client: 1, when: When::Now })];
    let run = run_with(&kept, &Scenario { clients: 2, ..calm() }, 1, &faults);
    assert_eq!(said(&run), ["kept"]);
}

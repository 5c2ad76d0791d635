//! How strong promises are: weak ones are told from strong ones, by the same recipe.

use crate::common::zoocheck;
use std::sync::Arc;
use zoocheck::api::{CreateMode, Data, Error, ErrorCode, Text, ZPath, ZooKeeper};
use zoocheck::reports::{MutateReport, MutationFate, MutationResult};
use zoocheck::trials::prelude::*;
use zoocheck::trials::promises::{ExclusionAmongLiveSessions, NoWaiterStuck, STANDARD};
use zoocheck::{Answer, Catalogue};

/// A lock that is right where nothing fails, and promises little of that, or more.
#[derive(Clone)]
struct Small {
    promises: fn() -> Vec<Box<dyn AnyPromise>>,
}

async fn turn(zk: &impl ZooKeeper, probe: &impl Probe) -> Result<(), Error> {
    let (lock, holder) = (Text::from("/small"), ZPath::parse("/small/holder").expect("a path"));
    probe.observe(Observation::Attempts { lock: lock.clone() });
    while let Err(error) = zk.create(&holder, Data::NULL, CreateMode::Ephemeral).await {
        if error.code != ErrorCode::NodeExists {
            return Err(error);
        }
        if let (Some(_), watch) = zk.exists_watch(&holder).await? {
            watch.await;
        }
    }
    probe.observe(Observation::Enters { lock: lock.clone() });
    probe.work().await;
    probe.observe(Observation::Leaves { lock: lock.clone() });
    // Nobody sets its data.
    zk.delete(&holder, 0).await?;
    probe.observe(Observation::Released { lock });
    Ok(())
}

impl From<Small> for Trial {
    fn from(it: Small) -> Trial {
        async fn actor(zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
            for _ in 0..role.rounds {
                if let Err(error) = turn(&zk, &probe).await {
                    return error.into();
                }
            }
            End::Done
        }
        Trial::new("small", actor)
            .summary("One znode, and nothing fails.")
            .bounds(Bounds::clients(2))
            .scenario(&[
                ("faults.drops", "0"),
                ("faults.expiries", "0"),
                ("faults.client-crashes", "0"),
                ("faults.client-pauses", "0"),
                ("faults.server-crashes", "0"),
                ("faults.leader-crashes", "0"),
                ("faults.partitions", "0"),
                ("faults.server-pauses", "0"),
                ("faults.link-breaks", "0"),
            ])
            // What is promised is to be told apart.
            .opts_out(&STANDARD)
            .setup(["/small"])
            .promises({
                let it = it.clone();
                move || (it.promises)()
            })
    }
}

fn exclusion() -> Vec<Box<dyn AnyPromise>> {
    vec![Box::new(ExclusionAmongLiveSessions::of("/small"))]
}

fn both() -> Vec<Box<dyn AnyPromise>> {
    vec![Box::new(ExclusionAmongLiveSessions::of("/small")), Box::new(NoWaiterStuck)]
}

fn mutated(promises: fn() -> Vec<Box<dyn AnyPromise>>) -> (Answer, Vec<MutationResult>) {
    let report =
        Catalogue::empty().with(Small { promises }).mutate(&["small"], 5).expect("it can be mutated");
    (report.answer, report.recipes[0].mutations.clone())
}

fn of<'a>(results: &'a [MutationResult], kind: &str, nth: u8) -> &'a MutationResult {
    let found = results.iter().find(|result| result.kind == kind && result.nth == nth);
    found.unwrap_or_else(|| panic!("no {kind} {nth}: {results:?}"))
}

#[test]
fn what_weak_promises_do_not_notice_survives_with_its_run_and_with_what_would_notice() {
    let (answer, weak) = mutated(exclusion);
    assert_eq!(answer, Answer::Broken);
    let stuck = of(&weak, "no-watch", 1);
    assert_eq!(stuck.fate, MutationFate::Survived, "{stuck:?}");
    let last = stuck.run.last().expect("a run");
    assert!(last.contains("nothing moves any more; waiting: p"), "{stuck:?}");
    assert!(!stuck.lost && stuck.noticed_by.contains(&"no-waiter-stuck".to_owned()), "{stuck:?}");
    let (_, strong) = mutated(both);
    let killed = of(&strong, "no-watch", 1);
    assert_eq!(killed.fate, MutationFate::Killed, "{killed:?}");
    assert_eq!(killed.killed.as_ref().map(|killed| killed.promise.as_str()), Some("no-waiter-stuck"));
}

#[test]
fn what_makes_no_difference_is_equivalent_and_counts_neither_way() {
    let (_, results) = mutated(both);
    let any = of(&results, "any-version", 1);
    assert_eq!((any.fate, any.place.as_str()), (MutationFate::Equivalent, "delete /small/holder"));
    // A znode that stays is no such thing, and nor is one that two processes take for their own.
    assert_eq!(of(&results, "not-ephemeral", 1).fate, MutationFate::Survived);
    // Whoever says that it has entered as soon as it asks enters beside a holder.
    let early = of(&results, "says-early", 2);
    assert_eq!((early.fate, early.place.starts_with("enters ")), (MutationFate::Killed, true), "{early:?}");
    let own = of(&results, "node-exists-is-own", 1);
    assert_eq!(own.killed.as_ref().map(|by| by.promise.as_str()), Some("exclusion-among-live-sessions"));
}

#[test]
fn a_promise_that_is_not_tested_any_more_kills() {
    let (_, results) = mutated(exclusion);
    let never = of(&results, "returns-early", 1);
    let by = never.killed.as_ref().map(|killed| killed.promise.as_str());
    assert_eq!(by, Some("exclusion-among-live-sessions is never put to the test"), "{never:?}");
}

#[test]
fn the_command_says_the_same_each_time_whatever_the_jobs() {
    let few = "mutate lock --seeds 1 --max-states 8000 --occasions 1 --at-least 0";
    let (one, two) = (zoocheck(&format!("{few} --jobs 1")), zoocheck(&format!("{few} --jobs 2")));
    assert_eq!((one.status, &one.stdout), (0, &two.stdout));
    let json = zoocheck(&format!("{few} --format json"));
    json.json::<MutateReport>();
    let table = zoocheck(&format!("{few} --format markdown"));
    assert!(
        table.stdout.contains("|  | `lock` |") && table.stdout.contains("| never-returns | 1/1 |"),
        "{}",
        table.stdout
    );
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (arguments, told) in [
        ("mutate", "required arguments were not provided"),
        ("mutate locc", "did you mean 'lock'?"),
        ("mutate lock --at-least 101", "--at-least"),
        ("mutate lock --occasions 0", "--occasions"),
        ("mutate lock --all-right", "cannot be used with"),
        ("mutate lock --max-states 3", "--max-states"),
    ] {
        let ran = zoocheck(arguments);
        assert_eq!(ran.status, 2, "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{arguments}: {}", ran.stderr);
    }
}

/// The whole matrix takes ten minutes. It is what `zoocheck mutate --all-right --format markdown` writes.
#[test]
fn the_published_matrix_is_that_of_a_run() {
    let published = include_str!("../../recipes/catalogue/MUTATED.md");
    let ran = zoocheck("mutate try-lock --format markdown");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let of_promises = ran.stdout.lines().filter(|line| line.starts_with("| `try-lock`"));
    assert!(of_promises.clone().count() > 5, "{}", ran.stdout);
    for line in of_promises {
        assert!(published.contains(line), "recipes/catalogue/MUTATED.md lacks this line of a run:\n{line}");
    }
}

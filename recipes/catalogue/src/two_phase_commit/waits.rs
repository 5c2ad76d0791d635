//! How sites wait: each with its defect.

use super::fixture::{Fixture, SAFE, Sites, TRANSACTIONS, commit, published};
use super::published::{Shown, by_votes, on_one_connection, read};
use zk_api::KeeperState;
use zk_harness::common::{Stop, plain};
use zk_harness::promises::AbortsEarly;
use zk_harness::trial::{Bounds, FoundBy, Trial};
use zk_recipes::{Verdict, Watching};

/// For what does not come.
pub fn missing() -> Vec<Trial> {
    vec![
        commit("two-phase-commit/no-recovery", Sites::Shown, no_recovery)
            .summary(
                "Sites wait for the coordinator's decision, and nobody decides when it is gone or has come back.",
            )
            .source("ZooKeeper's recipes, Two-phased Commit, where only the coordinator is notified")
            .breaks("no-waiter-stuck", "S-151", "crash of the coordinator")
            .bounds(Bounds { crashes: 1, ..Bounds::clients(2) })
            // The coordinator is to die while others wait for it.
            .scenario(&[("faults.client-crashes", "8")])
            .promises(published)
            .keeps(SAFE),
        commit("two-phase-commit/watch-lost", Sites::Silent, watch_lost)
            .summary("Gives up its watch with the connection, and goes on waiting for its event on the next one.")
            .source("reading of ZooKeeper's recipes, which set each watch once and name no lost connections")
            .breaks("no-waiter-stuck", "S-145", "lost connection")
            .bounds(Bounds { drops: 1, ..Bounds::clients(2) })
            .promises(published)
            .keeps(SAFE),
    ]
}

/// For ever, or not long enough.
pub fn endless() -> Vec<Trial> {
    vec![
        commit("two-phase-commit/waits-for-ever", Sites::Silent, waits_for_ever)
            .summary(
                "Sites that watch each other and wait for every vote: safe, but one that is gone blocks all.",
            )
            .source("ZooKeeper's recipes, Two-phased Commit; the article says so")
            .breaks("no-waiter-stuck", "S-144", "crash of a site")
            .bounds(Bounds { crashes: 1, ..Bounds::clients(2) })
            .promises(|| {
                let mut all = published();
                all.insert(all.len() - 1, Box::new(AbortsEarly::of(TRANSACTIONS)));
                all
            })
            .found_by(FoundBy::Model)
            .keeps(SAFE),
        commit("two-phase-commit/gives-up", Sites::Silent, gives_up)
            .summary(
                "A site that has voted, and loses its connection while it waits, goes on without a decision.",
            )
            .source("reading of ZooKeeper's recipes, which name no lost connections")
            .breaks("voters-learn", "S-145", "lost connection")
            .bounds(Bounds { drops: 1, ..Bounds::clients(2) })
            .promises(published),
    ]
}

/// The recipe, but a site that has voted waits for its coordinator's word and for nothing else, and a coordinator that
/// comes back finds a transaction of which it remembers nothing, and waits as well (S-151).
///
/// Votes and decision are durable, and nobody makes anything of them: all are in doubt for ever.
async fn no_recovery(fixture: Fixture) -> Result<(), Stop> {
    let (zk, site) = (fixture.zk.clone(), fixture.site());
    let Some(transaction) = fixture.begin(&site, Watching::Coordinator).await? else { return Ok(()) };
    transaction.vote(fixture.considers().await).await?;
    if *transaction.coordinator() == *fixture.name() && !fixture.has_come_back() {
        if let Some(decided) = transaction.decision().await? {
            fixture.does(decided.verdict());
        }
        return Ok(());
    }
    let decision = plain::child(&fixture.transaction(), "decision");
    while let Shown::There(data, watch) = read(&zk, &decision, "").await? {
        match Verdict::read(&data) {
            Some(decided) => {
                fixture.does(decided);
                break;
            }
            None => plain::event(watch).await?,
        }
    }
    Ok(())
}

/// Sites that watch each other. A site drops its watch with the connection, and goes on waiting for what it would have
/// told once there is a new one (S-145).
async fn watch_lost(fixture: Fixture) -> Result<(), Stop> {
    on_one_connection(&fixture, "watch-lost/vote", async |_| std::future::pending().await).await
}

/// Sites that watch each other, as published, with all znodes made at once and each vote written once: what they do is
/// right, but a site that is gone before it votes is waited for by all others without end (S-144).
///
/// The texts say that sites' failures cannot be detected so. It blocks until the site comes back: who restarts always,
/// as the processes of a chaos run do, is never seen to block.
async fn waits_for_ever(fixture: Fixture) -> Result<(), Stop> {
    fixture.casts().await?;
    fixture.does(by_votes(&fixture, &fixture.sites(), Verdict::read).await?);
    Ok(())
}

/// Sites that watch each other. One that loses its connection while it waits gives the transaction up, though it has
/// voted and its session lives: it neither commits nor aborts, whatever the others do, and says nothing (S-145).
async fn gives_up(fixture: Fixture) -> Result<(), Stop> {
    let lost = async |state: KeeperState| if state.is_final() { Err(Stop::SessionLost) } else { Ok(()) };
    on_one_connection(&fixture, "gives-up/vote", lost).await
}

//! Members and those who watch them: the recipe, and what breaks it.

use super::fixture::{Fixture, group};
use super::kept::{keeps, operated, watches_once};
use std::collections::BTreeSet;
use zk_api::{CreateMode, Data, Either, ErrorCode, Local, Outcome, Text, ZooKeeper, race};
use zk_harness::common::{Stop, plain};
use zk_harness::trial::{Bounds, Trial};

const NOTHING_ELSE: &str =
    "an article on ZooKeeper: after the znode is made, the process does not need to do anything else";

/// All of them, the right one first.
pub fn trials() -> Vec<Trial> {
    vec![
        // [`zk_recipes::Membership`] and [`zk_recipes::Roster`]: process 0 watches until all others are listed. The
        // others join under the name of their process, which a later life uses again, and stay after the last round.
        group("membership", Fixture::watches, Fixture::belongs)
            .summary("Members by ephemeral znodes whose owners are looked at, and a list with its watch.")
            .source("zk-recipes")
            .bounds(Bounds {
                rounds: 2,
                expiries: 1,
                drops: 1,
                crashes: 1,
                restarts: 1,
                lag: 1,
                ..Bounds::clients(2)
            }),
        operated("membership/kept", keeps)
            .summary("Members stay listed though an operator, who does not crash, deletes a member's znode.")
            .source("zk-recipes")
            .bounds(Bounds { expiries: 1, drops: 1, lag: 1, ..Bounds::clients(2) }),
        group("membership/no-rejoin", Fixture::watches, no_rejoin)
            .summary("A member takes no notice of the end of its session, and stays unlisted for good.")
            .source(NOTHING_ELSE)
            .breaks("session-end-noticed", "S-006", "session expiry")
            .bounds(Bounds { expiries: 1, ..Bounds::clients(2) })
            // It is the last round in which it stays: sessions are to expire in that one, while there is work to do.
            .scenario(&[("rounds", "1"), ("work-ms", "[2000, 8000]"), ("faults.expiries", "12")]),
        group("membership/node-exists-is-joined", Fixture::watches, node_exists_is_joined)
            .summary("After a restart it takes the znode of its former session for its own, which vanishes.")
            .source("KAFKA-1387, KAFKA-7165, Dubbo issue 5135")
            .breaks("live-members-listed", "S-007", "client crash and restart")
            .bounds(Bounds { crashes: 1, restarts: 1, ..Bounds::clients(2) })
            // It is the last round in which it stays: processes are to come back in that one.
            .scenario(&[("rounds", "1"), ("faults.client-crashes", "8")]),
        group("membership/list-then-watch", list_then_watch, Fixture::belongs)
            .summary(
                "Lists the members and sets the watch afterwards, so that a change in between is missed.",
            )
            .source("mutant of the recipe")
            .breaks("fresh-at-rest", "S-008", "none")
            .bounds(Bounds::clients(2)),
        operated("membership/watch-not-rearmed", watches_once)
            .summary(
                "Watches its own znode once: a change of its data uses the watch up before the deletion.",
            )
            .source("CURATOR-258, CURATOR-241, CURATOR-154: PersistentEphemeralNode")
            .breaks("live-members-listed", "R-56", "none")
            .bounds(Bounds::clients(2)),
        group("membership/leaves-once", Fixture::watches, leaves_once)
            .summary("Deletes its znode once when it leaves, and takes a lost answer for good.")
            .source("reading of ZooKeeper's recipes, which name no errors")
            .breaks("leavers-unlisted", "S-063", "lost request")
            .bounds(Bounds { rounds: 2, drops: 1, ..Bounds::clients(2) })
            // Connections are to drop while somebody leaves.
            .scenario(&[("rounds", "20"), ("work-ms", "[0, 500]"), ("faults.drops", "100")]),
        group("membership/never-forgets", never_forgets, Fixture::belongs)
            .summary(
                "Whoever watches adds the members that are new, and goes on showing those that have left.",
            )
            .source("mutant of the recipe")
            .breaks("no-torn-reads", "S-008", "none")
            .bounds(Bounds { rounds: 2, ..Bounds::clients(2) }),
    ]
}

/// So many pieces of work it does as a member.
const WORKS: u8 = 4;

/// Joins, and from then on does nothing for its membership, as the source says that nothing else is to be done.
///
/// When its session expires its znode is gone. The process works on, and never joins again with a new session (S-006).
async fn no_rejoin(fixture: Fixture) -> Result<(), Stop> {
    let member = fixture.joined().await?;
    for _ in 0..WORKS {
        fixture.work().await;
    }
    if !fixture.is_last() {
        fixture.leaves(member.node());
        member.leave().await?;
    }
    fixture.ends(member.node());
    Ok(())
}

/// Takes it for success when a znode of its name exists already.
///
/// A process that comes back soon finds the znode of its former session. When that expires the znode is gone, and the
/// process, whose new session is well, is listed by nothing (S-007, R-61).
async fn node_exists_is_joined(fixture: Fixture) -> Result<(), Stop> {
    let (zk, member) = (fixture.zk.clone(), fixture.member());
    let node = member.node().clone();
    fixture.joins(&node);
    let create = || plain::unless(ErrorCode::NodeExists, zk.create(&node, Data::NULL, CreateMode::Ephemeral));
    plain::again_from(&zk, "group/join", &[Local::Text(node.as_str())], create).await?;
    fixture.begins(&node);
    fixture.work().await;
    if !fixture.is_last() {
        fixture.leaves(&node);
        plain::remove(&zk, &node).await?;
    }
    fixture.ends(&node);
    Ok(())
}

/// Lists the members, does something about them, and then sets the watch by a request of its own.
///
/// Who joins in between is neither in the list nor told by the watch (S-008).
async fn list_then_watch(fixture: Fixture) -> Result<(), Stop> {
    let (zk, group) = (fixture.zk.clone(), fixture.group());
    fixture.follows();
    loop {
        let names: BTreeSet<Text> = plain::children(&zk, &group, "").await?.into_iter().collect();
        fixture.sees(&names);
        if fixture.is_full(&names) {
            fixture.is_through();
            return Ok(());
        }
        fixture.work().await;
        let known = [Local::Text(group.as_str())];
        let (_, watch) = plain::again_from(&zk, "group/watch", &known, || zk.children_watch(&group)).await?;
        plain::event(watch).await?;
    }
}

/// The member of the recipe, but it deletes its znode once when it leaves, and takes any answer for good.
///
/// Where the request is lost with its connection, it stays listed as long as its session lives (S-063, R-10).
async fn leaves_once(fixture: Fixture) -> Result<(), Stop> {
    let member = fixture.joined().await?;
    if let Either::Left(error) = race(member.keep(), fixture.work()).await {
        return Err(error.into());
    }
    if !fixture.is_last() {
        fixture.leaves(member.node());
        match fixture.zk.delete(member.node(), -1).await {
            Err(error) if error.is_session_over() => return Err(error.into()),
            Err(error) if error.outcome() == Outcome::NotApplied => member.leave().await?,
            Ok(()) | Err(_) => {}
        }
    }
    fixture.ends(member.node());
    Ok(())
}

/// Whoever watches adds who is new to those it knows, and takes nobody out: it shows members together that never were.
async fn never_forgets(fixture: Fixture) -> Result<(), Stop> {
    let (zk, group) = (fixture.zk.clone(), fixture.group());
    fixture.follows();
    let mut known: BTreeSet<Text> = BTreeSet::new();
    loop {
        let alive: Vec<Local<'_>> = known.iter().map(|name| Local::Text(name)).collect();
        zk.checkpoint("never-forgets/list", &alive);
        match zk.children_watch(&group).await {
            Ok((names, changed)) => {
                known.extend(names);
                fixture.sees(&known);
                if fixture.is_full(&known) {
                    fixture.is_through();
                    return Ok(());
                }
                plain::event(changed).await?;
            }
            Err(e) => plain::passing(&zk, e).await?,
        }
    }
}

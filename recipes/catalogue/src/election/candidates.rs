//! How a candidate stands, and for what it waits: each with its defect.

use super::fixture::{ELECTION, Fixture, election};
use crate::lock::place;
use zk_api::{CreateMode, Data, EventType, Local, ZPath, ZooKeeper, sequence_of};
use zk_harness::common::Stop;
use zk_harness::common::plain::{self, Place};
use zk_harness::trial::{Bounds, Trial};

/// All of them.
pub fn trials() -> Vec<Trial> {
    vec![
        election("election/first-never-leads", first_never_leads)
            .summary(
                "Looks whether it leads only when it is notified, and the first candidate watches nobody.",
            )
            .source("ZooKeeper Recipes and Solutions, Leader Election, taken by the letter")
            .breaks("no-waiter-stuck", "S-161", "none")
            .bounds(Bounds::clients(1)),
        election("election/smallest-watched", smallest_watched)
            .summary("All watch the smallest candidate, so that its end wakes everybody.")
            .source("ZooKeeper Recipes and Solutions before ZOOKEEPER-1483: the smallest j such that j < i")
            .breaks("one-woken-per-deletion", "S-160", "none")
            .bounds(Bounds::clients(3)),
        election("election/no-null-check", no_null_check)
            .summary("Waits for an event of its predecessor even when that is gone as it is looked for.")
            .source("ZooKeeper Recipes and Solutions, Leader Election: its steps name no such case")
            .breaks("no-waiter-stuck", "S-162", "none")
            .bounds(Bounds::clients(2)),
        election("election/no-guid", no_guid)
            .summary("Repeats a create whose answer was lost, and waits behind its own first candidate.")
            .source("ZooKeeper Recipes and Solutions before ZOOKEEPER-1262")
            .breaks("no-waiter-stuck", "S-166", "lost answer")
            .bounds(Bounds { drops: 1, ..Bounds::clients(1) }),
        election("election/name-order", name_order)
            .summary("The candidate with the least name leads, though names begin with a guid.")
            .source("ZooKeeper Recipes and Solutions: guids were added, and the smallest node still leads")
            .breaks("exclusion-among-live-sessions", "S-164", "none")
            .bounds(Bounds::clients(2)),
        election("election/data-change", data_change)
            .summary("Reacts to a deletion alone, though the predecessor's data may change first.")
            .source(
                "ZooKeeper Recipes and Solutions, Leader Election: upon receiving a notification of deletion",
            )
            .breaks("no-waiter-stuck", "S-169", "none")
            .bounds(Bounds::clients(2)),
    ]
}

/// Looks whether it leads only when it is told of a deletion, as the published steps have it.
///
/// Who stands first has nobody before it, watches nothing, and is told of nothing (S-161).
async fn first_never_leads(fixture: Fixture) -> Result<(), Stop> {
    let own = fixture.stand(&fixture.guid()).await?;
    let mut notified = false;
    loop {
        match fixture.place(&own).await? {
            Place::First if notified => return fixture.leads(&own).await,
            Place::First => std::future::pending().await,
            Place::Absent => return Err(plain::gone(&own)),
            Place::Behind(before) => {
                if let Some(watch) = fixture.watch(&before, &own).await? {
                    plain::event(watch).await?;
                    notified = true;
                }
            }
        }
    }
}

/// All watch the candidate with the smallest number, which an older edition of the recipe asks for.
///
/// It is safe and it makes progress; but each death wakes all who wait (S-160), against its own words on the herd.
async fn smallest_watched(fixture: Fixture) -> Result<(), Stop> {
    let (zk, election) = (fixture.zk.clone(), fixture.election());
    let own = fixture.stand(&fixture.guid()).await?;
    loop {
        let names = plain::children(&zk, &election, own.as_str()).await?;
        match plain::place(&election, &names, &own) {
            Place::First => return fixture.leads(&own).await,
            Place::Absent => return Err(plain::gone(&own)),
            Place::Behind(_) => {
                let smallest = names.iter().min_by_key(|name| sequence_of(name)).expect("its own at least");
                if let Some(watch) = fixture.watch(&plain::child(&election, smallest), &own).await? {
                    plain::event(watch).await?;
                }
            }
        }
    }
}

/// Watches its predecessor without looking whether it is still there.
///
/// If it went between the list and the watch, the watch waits for a creation that nobody owes (S-162).
async fn no_null_check(fixture: Fixture) -> Result<(), Stop> {
    let zk = &fixture.zk;
    let own = &fixture.stand(&fixture.guid()).await?;
    let waits = |before| async move {
        let (_, watch) = plain::exists(zk, &before, own.as_str()).await?;
        plain::event(watch).await
    };
    fixture.leads_behind(own, waits).await
}

/// Candidates without a guid: when the answer to a create is lost, it is simply asked again.
///
/// The first znode may be there, and nobody stands behind it: it comes to lead, and nobody leads (S-166).
async fn no_guid(fixture: Fixture) -> Result<(), Stop> {
    let own = stand_anew(&fixture.zk, &plain::child(&fixture.election(), "n-")).await?;
    fixture.leads_in_turn(&own).await
}

/// Makes a candidate's znode, however often it takes.
async fn stand_anew(zk: &impl ZooKeeper, prefix: &ZPath) -> Result<ZPath, Stop> {
    let create = || zk.create(prefix, Data::NULL, CreateMode::EphemeralSequential);
    Ok(plain::path(&plain::again_from(zk, "no-guid/stand", &[Local::Text(ELECTION)], create).await?))
}

/// Takes the least name for the first candidate; with a guid before the number, that is the least guid.
///
/// Who comes later with a lesser guid leads beside whoever leads already (S-164).
async fn name_order(fixture: Fixture) -> Result<(), Stop> {
    let (zk, election) = (fixture.zk.clone(), fixture.election());
    let own = fixture.stand(&fixture.guid()).await?;
    plain::turn_by(&zk, &election, &own, place).await?;
    fixture.leads(&own).await
}

/// Handles the deletion of its predecessor alone, and the leader writes into its own candidate how it is reached.
///
/// A watch fires once, for whatever happens: the write uses it up, and the deletion is told to nobody (S-169).
async fn data_change(fixture: Fixture) -> Result<(), Stop> {
    let zk = fixture.zk.clone();
    let own = fixture.stand(&fixture.guid()).await?;
    loop {
        match fixture.place(&own).await? {
            Place::First => {
                let begin = introduce(&zk, &own);
                fixture.term(&own, None, fixture.session_over(), begin).await?;
                return plain::remove(&zk, &own).await;
            }
            Place::Absent => return Err(plain::gone(&own)),
            Place::Behind(before) => {
                if let Some(watch) = fixture.watch(&before, &own).await? {
                    match watch.await.kind {
                        EventType::NodeDeleted => {}
                        EventType::None => return Err(Stop::SessionLost),
                        EventType::NodeDataChanged
                        | EventType::NodeCreated
                        | EventType::NodeChildrenChanged => std::future::pending().await,
                    }
                }
            }
        }
    }
}

/// Writes into the own candidate how its process is reached.
async fn introduce(zk: &impl ZooKeeper, own: &ZPath) -> Result<(), Stop> {
    let set = || zk.set_data(own, Data::from("here"), -1);
    plain::again_from(zk, "data-change/introduce", &[Local::Text(own.as_str())], set).await.map(drop)
}

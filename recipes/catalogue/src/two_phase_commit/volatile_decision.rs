//! `two-phase-commit/volatile-decision`: the decision is in the coordinator's memory.

use super::fixture::{Fixture, SITES, Sites, commit, published};
use super::published::create;
use zk_api::{CreateMode, Either, ErrorCode, EventType, Local, Text, ZPath, ZooKeeper, race};
use zk_harness::common::{Stop, plain};
use zk_harness::probe::Probe;
use zk_harness::trial::{Bounds, FoundBy, Trial};
use zk_recipes::{Verdict, Watching};

/// The recipe, but the coordinator does as it decides and tells each site, in a znode for each; it writes the decision
/// nowhere else. Who has not been told when the coordinator is gone works it out from the votes, as that one did.
///
/// Not all that a decision came of is in the votes: one that was missing then may be there now (S-147).
pub fn trial() -> Trial {
    commit("two-phase-commit/volatile-decision", Sites::Shown, turn)
        .summary("The coordinator tells its decision to one site after the other, and writes it nowhere for itself.")
        .source("ZooKeeper's recipes, Two-phased Commit, where only the coordinator is notified")
        .breaks("agreement", "S-147", "crash of the coordinator")
        .bounds(Bounds { crashes: 1, ..Bounds::clients(2) })
        .promises(published)
                // Of 100 seeds, one sees it: a site must be gone as it is decided, and vote before the coordinator has told it.
.found_by(FoundBy::Model)
}

async fn turn(fixture: Fixture) -> Result<(), Stop> {
    let (zk, site, node) = (fixture.zk.clone(), fixture.site(), fixture.transaction());
    let Some(transaction) = fixture.begin(&site, Watching::Coordinator).await? else { return Ok(()) };
    let coordinator = Text::from(transaction.coordinator());
    cast(&zk, &plain::child(&node, &fixture.name()), fixture.considers().await, &coordinator).await?;
    let waits_for = (coordinator != fixture.name()).then_some(&coordinator);
    let decision = decide(&zk, &node, &fixture.sites(), waits_for, &told(&node, &fixture.name())).await?;
    fixture.does(decision);
    if waits_for.is_none() {
        fixture.probe.work().await;
        for other in fixture.sites().iter().filter(|other| **other != fixture.name()) {
            create(&zk, &told(&node, other), decision.data(), CreateMode::Persistent).await?;
        }
    }
    Ok(())
}

/// Where a site is told.
fn told(transaction: &ZPath, site: &str) -> ZPath {
    plain::child(&plain::child(transaction, site), "told")
}

/// Votes, once.
async fn cast(zk: &impl ZooKeeper, node: &ZPath, vote: Verdict, alive: &str) -> Result<(), Stop> {
    let cast = || plain::unless(ErrorCode::BadVersion, zk.set_data(node, vote.data(), 0));
    let known = [vote.word(), alive].map(Local::Text);
    plain::again_from(zk, "volatile-decision/vote", &known, cast).await.map(drop)
}

/// Waits to be told by another, if there is one; else goes by the votes, and by who is there.
async fn decide(
    zk: &impl ZooKeeper,
    transaction: &ZPath,
    sites: &[Text],
    coordinator: Option<&Text>,
    told: &ZPath,
) -> Result<Verdict, Stop> {
    let members = ZPath::parse(SITES).expect("a constant");
    let alive = coordinator.map_or("", |coordinator| &**coordinator);
    if coordinator.is_some()
        && let Some(verdict) = written(zk, told, &plain::child(&members, alive), alive).await?
    {
        return Ok(verdict);
    }
    for site in sites {
        let vote = plain::child(transaction, site);
        match written(zk, &vote, &plain::child(&members, site), alive).await? {
            Some(Verdict::Commit) => {}
            Some(Verdict::Abort) | None => return Ok(Verdict::Abort),
        }
    }
    Ok(Verdict::Commit)
}

/// Waits until there is a verdict in a znode; `None` if there is none, and who is to write it is gone.
async fn written(
    zk: &impl ZooKeeper,
    node: &ZPath,
    writer: &ZPath,
    alive: &str,
) -> Result<Option<Verdict>, Stop> {
    loop {
        zk.checkpoint("volatile-decision/wait", &[Local::Text(node.as_str()), Local::Text(alive)]);
        let (there, known) = (zk.exists_watch(writer), zk.exists_watch(node));
        let data = zk.data(node);
        match (there.await, known.await, data.await) {
            (Ok((there, gone)), Ok((_, changed)), data) => {
                match data {
                    Ok((data, _)) if Verdict::read(&data).is_some() => return Ok(Verdict::read(&data)),
                    Err(e) if e.code != ErrorCode::NoNode => {
                        plain::passing(zk, e).await?;
                        continue;
                    }
                    Ok(_) | Err(_) if there.is_none() => return Ok(None),
                    Ok(_) | Err(_) => {}
                }
                match race(gone, changed).await {
                    Either::Left(event) | Either::Right(event) if event.kind == EventType::None => {
                        return Err(Stop::SessionLost);
                    }
                    Either::Left(_) | Either::Right(_) => {}
                }
            }
            (Err(e), ..) | (_, Err(e), _) => plain::passing(zk, e).await?,
        }
    }
}

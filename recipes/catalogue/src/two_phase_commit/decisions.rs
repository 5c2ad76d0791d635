//! How the decision is told: each with its defect.

use super::fixture::{Fixture, SITES, Sites, commit, published};
use super::published::{appears, create};
use zk_api::{CreateMode, Either, ErrorCode, EventType, Local, Op, Text, ZPath, ZooKeeper, race};
use zk_harness::common::{Stop, plain};
use zk_harness::event::Resource;
use zk_harness::probe::Probe;
use zk_harness::trial::{Bounds, FoundBy, Trial};
use zk_recipes::{Verdict, Watching};

/// All of them.
pub fn trials() -> Vec<Trial> {
    vec![
        commit("two-phase-commit/volatile-decision", Sites::Shown, volatile_decision)
            .summary("The coordinator tells its decision to one site after the other, and writes it nowhere for itself.")
            .source("ZooKeeper's recipes, Two-phased Commit, where only the coordinator is notified")
            .breaks("agreement", "S-147", "crash of the coordinator")
            .bounds(Bounds { crashes: 1, ..Bounds::clients(2) })
            .promises(published)
            // Of 100 seeds, one sees it: a site must be gone as it is decided, and vote before the coordinator has
            // told it.
            .found_by(FoundBy::Model),
        commit("two-phase-commit/ephemeral-vote", Sites::Shown, ephemeral_vote)
            .summary(
                "Votes are ephemeral, so that failures are seen: a vote that one has seen is gone for the next.",
            )
            .source("ZooKeeper's recipes, Two-phased Commit, the way out of the second drawback")
            .breaks("agreement", "S-148", "session expiry")
            .bounds(Bounds { expiries: 1, ..Bounds::clients(2) })
            .promises(published),
        commit("two-phase-commit/cleanup-is-abort", Sites::Shown, cleanup_is_abort)
            .summary(
                "The coordinator removes what it has decided, and a site that looks later takes that for abort.",
            )
            .source("mutant of the recipe; ZooKeeper's recipes do not say who removes a transaction, or when")
            .breaks("agreement", "S-150", "none")
            .bounds(Bounds::clients(2))
            .promises(published),
        commit("two-phase-commit/stale-decision", Sites::Shown, stale_decision)
            .summary("Knows from elsewhere that it is decided, reads the decision without a sync, and takes none for abort.")
            .source("mutant of the recipe, presumed abort")
            .breaks("agreement", "S-152", "a server that lags")
            .bounds(Bounds { lag: 1, effects: true, ..Bounds::clients(2) })
            .promises(published)
            // Of 100 seeds, one sees it: the news must pass a server that is seconds behind.
            .found_by(FoundBy::Model),
    ]
}

/// The recipe, but the coordinator does as it decides and tells each site, in a znode for each; it writes the decision
/// nowhere else. Who has not been told when the coordinator is gone works it out from the votes, as that one did.
///
/// Not all that a decision came of is in the votes: one that was missing then may be there now (S-147).
async fn volatile_decision(fixture: Fixture) -> Result<(), Stop> {
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

/// Each site votes by an ephemeral znode of its own, so that the others can tell if it fails: whose vote is not there,
/// and who is not there either, is taken to abort.
///
/// A site that has voted, and whom another has believed, may be gone when the third looks (S-148).
async fn ephemeral_vote(fixture: Fixture) -> Result<(), Stop> {
    let (zk, transaction, site) = (fixture.zk.clone(), fixture.transaction(), fixture.site());
    if fixture.is_coordinator() {
        // As long as it takes: who decides without one that is late is wrong in another way.
        site.wait_for(&fixture.sites()).await?;
        fixture.note(zk_harness::words::PROPOSES);
        create(&zk, &transaction, "as agreed".into(), CreateMode::Persistent).await?;
    }
    appears(&zk, &transaction).await?;
    let own = plain::child(&transaction, &fixture.name());
    create(&zk, &own, fixture.considers().await.data(), CreateMode::Ephemeral).await?;
    fixture.does(by_those_there(&zk, &transaction, &fixture.sites()).await?);
    Ok(())
}

/// Decides by the votes, one site after the other.
async fn by_those_there(zk: &impl ZooKeeper, transaction: &ZPath, sites: &[Text]) -> Result<Verdict, Stop> {
    let members = ZPath::parse(SITES).expect("a constant");
    for site in sites {
        let (node, member) = (plain::child(transaction, site), plain::child(&members, site));
        loop {
            zk.checkpoint("ephemeral-vote/look", &[Local::Text(site)]);
            let (is_there, vote) = (zk.exists_watch(&member), zk.exists_watch(&node));
            match (is_there.await, vote.await) {
                (Ok(_), Ok((Some(_), _))) => match zk.data(&node).await {
                    Ok((data, _)) if Verdict::read(&data) == Some(Verdict::Commit) => break,
                    Ok(_) => return Ok(Verdict::Abort),
                    Err(e) if e.code == ErrorCode::NoNode => {}
                    Err(e) => plain::passing(zk, e).await?,
                },
                (Ok((None, _)), Ok((None, _))) => return Ok(Verdict::Abort),
                (Ok((Some(_), gone)), Ok((None, voted))) => match race(gone, voted).await {
                    Either::Left(event) | Either::Right(event) if event.kind == EventType::None => {
                        return Err(Stop::SessionLost);
                    }
                    Either::Left(_) | Either::Right(_) => {}
                },
                (Err(e), _) | (_, Err(e)) => plain::passing(zk, e).await?,
            }
        }
    }
    Ok(Verdict::Commit)
}

/// The recipe, but the coordinator removes the transaction as soon as it has decided, and who finds nothing takes that
/// for abort (S-150). It takes no fault, only a site that looks late.
async fn cleanup_is_abort(fixture: Fixture) -> Result<(), Stop> {
    let site = fixture.site();
    let Some(transaction) = fixture.begin(&site, Watching::Coordinator).await? else {
        fixture.does(Verdict::Abort);
        return Ok(());
    };
    transaction.vote(fixture.considers().await).await?;
    let decided = transaction.decision().await?;
    fixture.does(decided.as_ref().map_or(Verdict::Abort, |decided| decided.verdict()));
    if *transaction.coordinator() == *fixture.name() {
        remove(&fixture.zk, &fixture).await?;
    }
    Ok(())
}

/// Removes the transaction with all that is in it.
async fn remove(zk: &impl ZooKeeper, fixture: &Fixture) -> Result<(), Stop> {
    let transaction = fixture.transaction();
    let names = fixture.sites().into_iter().chain(["decision".into()]);
    let below = names.map(|name| plain::child(&transaction, &name).text());
    let paths = below.chain([transaction.text()]);
    let ops: Vec<Op> = paths.map(|path| Op::Delete { path, version: -1 }).collect();
    plain::again_from(zk, "cleanup-is-abort/remove", &[], || zk.multi(ops.clone())).await.map(drop)
}

/// The recipe, but a site that learns by other means that a transaction is decided reads the decision as its server has
/// it, without a sync. If there is none, it has been removed already, and was to abort (S-152).
///
/// The other means is the resource that is worked on: the coordinator has written there as it did what was decided, and
/// a site that asks is refused from then on. That news is faster than a server that lags.
async fn stale_decision(fixture: Fixture) -> Result<(), Stop> {
    let site = fixture.site();
    let Some(transaction) = fixture.begin(&site, Watching::Coordinator).await? else { return Ok(()) };
    transaction.vote(fixture.considers().await).await?;
    if !fixture.is_coordinator() && fixture.has_effects() {
        fixture.probe.work().await;
        if !fixture.probe.write(Resource::Fenced, Some(fixture.token(false))).await {
            let decision = plain::child(&fixture.transaction(), "decision");
            fixture.does(written_down(&fixture.zk, &decision).await?.unwrap_or(Verdict::Abort));
            return Ok(());
        }
    }
    let Some(decided) = transaction.decision().await? else { return Ok(()) };
    fixture.does(decided.verdict());
    if fixture.is_coordinator() && fixture.has_effects() {
        fixture.probe.write(Resource::Fenced, Some(fixture.token(true))).await;
    }
    Ok(())
}

/// What is written there now, as this server has it.
async fn written_down(zk: &impl ZooKeeper, decision: &ZPath) -> Result<Option<Verdict>, Stop> {
    let read = || plain::unless(ErrorCode::NoNode, zk.data(decision));
    let known = [Local::Text(decision.as_str())];
    let data = plain::again_from(zk, "stale-decision/read", &known, read).await?;
    Ok(data.and_then(|(data, _)| Verdict::read(&data)))
}

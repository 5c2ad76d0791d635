//! `membership/kept` and `membership/watch-not-rearmed`: somebody writes to a member's znode and then deletes it.

use super::fixture::{Fixture, group, name, promises};
use std::pin::pin;
use zk_api::{Data, Either, ErrorCode, EventType, Local, Watch, ZPath, ZooKeeper, race};
use zk_harness::common::{AnyZooKeeper, InRound, Stop, Turn, in_round, plain};
use zk_harness::trial::Trial;

/// What an operator sets when it is through.
const OVER: &str = "over";

/// An operator that comes back does not know how far it came; and what it does it does once.
const SCENARIO: &[(&str, &str)] = &[("faults.client-crashes", "0"), ("rounds", "1")];

/// A group whose process 0 is an operator.
pub(super) fn operated(name: &'static str, belong: impl Turn<Fixture>) -> Trial {
    group(name, operates, belong).scenario(SCENARIO).promises(|| {
        let mut all = promises();
        // None of them leaves.
        all.retain(|promise| promise.name() != "leavers-unlisted");
        all
    })
}

/// Members are to stay listed though process 0, an operator, writes to the first one's znode and deletes it.
///
/// A sound reading: [`zk_recipes::Membership::keep`] makes it anew. The operator is told of it, and then lets all go.
/// It does not crash.
pub(super) async fn keeps(fixture: Fixture) -> Result<(), Stop> {
    let over = over(&fixture).await?;
    let member = fixture.joined().await?;
    if let Some(over) = over {
        let mut over = pin!(plain::event(over));
        match race(member.keep(), over.as_mut()).await {
            Either::Left(error) => return Err(error.into()),
            Either::Right(told) => told?,
        }
    }
    // What the operator did last may have been told together with the end.
    fixture.member_in(1).join().await?;
    fixture.ends(member.node());
    Ok(())
}

/// The same with a watch of the own znode that is set once: it is used up by the write, and the deletion is told to
/// nobody.
pub(super) async fn watches_once(fixture: Fixture) -> Result<(), Stop> {
    let over = over(&fixture).await?;
    let (zk, member) = (fixture.zk.clone(), fixture.joined().await?);
    let (stat, watch) = plain::exists(&zk, member.node(), "").await?;
    if let (Some(over), true) = (over, stat.is_some()) {
        let mut over = pin!(plain::event(over));
        match race(watch, over.as_mut()).await {
            Either::Left(event) if event.kind == EventType::NodeDeleted => {
                fixture.member_in(1).join().await?;
                over.await?;
            }
            Either::Left(_) => over.await?,
            Either::Right(told) => told?,
        }
    }
    fixture.ends(member.node());
    Ok(())
}

/// The znode that the operator makes in the end.
fn end(fixture: &Fixture) -> ZPath {
    plain::child(&fixture.group(), OVER)
}

/// A watch for the operator's end, unless it has come.
async fn over(fixture: &Fixture) -> Result<Option<Watch>, Stop> {
    let (stat, watch) = plain::exists(&fixture.zk, &end(fixture), "").await?;
    Ok(stat.is_none().then_some(watch))
}

/// Once everybody is there, writes to the first member's znode and deletes it, and ends when it is there again.
async fn operates(fixture: Fixture) -> Result<(), Stop> {
    let (zk, group) = (fixture.zk.clone(), fixture.group());
    let first = plain::child(&group, &name(1, true));
    let in_part = |part: u8| in_round(fixture.zk.clone(), part);
    if over(&fixture).await?.is_none() {
        return Ok(());
    }
    fixture.watches_by(in_part(0)).await?;
    tolerant(&zk, "operator/sets", &first, |zk, path| {
        zk.set_data(path, Data::from("x"), -1).map(|r| r.map(|_| ()))
    })
    .await?;
    tolerant(&zk, "operator/deletes", &first, |zk, path| zk.delete(path, -1)).await?;
    fixture.watches_by(in_part(1)).await?;
    tolerant(&zk, "operator/ends", &end(&fixture), |zk, path| {
        zk.create(path, Data::NULL, zk_api::CreateMode::Persistent).map(|r| r.map(|_| ()))
    })
    .await
}

/// Does something, however often it takes; that the znode is not there, or there already, is as good.
async fn tolerant(
    zk: &InRound<AnyZooKeeper>,
    label: &'static str,
    path: &ZPath,
    request: impl Fn(&InRound<AnyZooKeeper>, &ZPath) -> zk_api::Reply<()>,
) -> Result<(), Stop> {
    loop {
        zk.checkpoint(label, &[Local::Text(path.as_str())]);
        match request(zk, path).await {
            Err(e) if e.code != ErrorCode::NoNode && e.code != ErrorCode::NodeExists => {
                plain::passing(zk, e).await?;
            }
            Ok(()) | Err(_) => return Ok(()),
        }
    }
}

//! What the published texts say, made decent in everything but what a variant is published for: sites that watch each
//! other's votes, and go by them alone.

use super::fixture::Fixture;
use zk_api::{
    CreateMode, Data, Either, ErrorCode, EventType, KeeperState, Local, Text, Watch, ZPath, ZooKeeper, race,
};
use zk_harness::common::{Stop, plain};
use zk_recipes::Verdict;

/// What a look at a vote, or at a decision, has shown.
pub enum Shown {
    /// Its data, and a watch.
    There(Data, Watch),
    /// No such znode.
    Absent,
}

/// Reads a znode and watches it, however often it takes. `alive` is the one text that matters to the caller.
pub async fn read(zk: &impl ZooKeeper, node: &ZPath, alive: &str) -> Result<Shown, Stop> {
    let read = || plain::unless(ErrorCode::NoNode, zk.data_watch(node));
    let known = [node.as_str(), alive].map(Local::Text);
    let shown = plain::again_from(zk, "published/read", &known, read).await?;
    Ok(shown.map_or(Shown::Absent, |((data, _), watch)| Shown::There(data, watch)))
}

/// Creates a znode, however often it takes; it may be there already.
pub async fn create(zk: &impl ZooKeeper, node: &ZPath, data: Data, mode: CreateMode) -> Result<(), Stop> {
    let alive = String::from_utf8_lossy(data.bytes());
    let create = || plain::unless(ErrorCode::NodeExists, zk.create(node, data.clone(), mode));
    let known = [node.as_str(), &alive].map(Local::Text);
    plain::again_from(zk, "published/create", &known, create).await.map(drop)
}

/// Waits until a znode is there.
pub async fn appears(zk: &impl ZooKeeper, node: &ZPath) -> Result<(), Stop> {
    while let (None, watch) = plain::exists(zk, node, "").await? {
        plain::event(watch).await?;
    }
    Ok(())
}

/// Decides by the votes of these sites: waits for one after the other, until one is to abort or all are to commit.
/// `vote` tells what a znode's data are, `None` for what is to be waited for.
pub async fn by_votes(
    fixture: &Fixture,
    sites: &[Text],
    vote: fn(&Data) -> Option<Verdict>,
) -> Result<Verdict, Stop> {
    let (zk, transaction, alive) = (fixture.zk.clone(), fixture.transaction(), sites.join(" "));
    for site in sites {
        let node = plain::child(&transaction, site);
        loop {
            match read(&zk, &node, &alive).await? {
                Shown::Absent => return Err(plain::gone(&node)),
                Shown::There(data, watch) => match vote(&data) {
                    Some(Verdict::Commit) => break,
                    Some(Verdict::Abort) => return Ok(Verdict::Abort),
                    None => plain::event(watch).await?,
                },
            }
        }
    }
    Ok(Verdict::Commit)
}

/// Votes as a site that watches the others, and does what their votes come to. Where the connection changes while it
/// waits for one of them, it does what `lost` says instead.
pub async fn on_one_connection<F>(
    fixture: &Fixture,
    label: &'static str,
    lost: impl Fn(KeeperState) -> F,
) -> Result<(), Stop>
where
    F: Future<Output = Result<(), Stop>>,
{
    fixture.casts().await?;
    let mut decision = Verdict::Commit;
    for site in fixture.sites() {
        match vote_of(&fixture.zk, label, &plain::child(&fixture.transaction(), &site)).await? {
            Either::Left(Verdict::Commit) => {}
            Either::Left(Verdict::Abort) => {
                decision = Verdict::Abort;
                break;
            }
            Either::Right(state) => return lost(state).await,
        }
    }
    fixture.does(decision);
    Ok(())
}

/// Waits for a site's vote, or for the connection to change meanwhile.
async fn vote_of(
    zk: &impl ZooKeeper,
    label: &'static str,
    node: &ZPath,
) -> Result<Either<Verdict, KeeperState>, Stop> {
    loop {
        zk.checkpoint(label, &[Local::Text(node.as_str())]);
        let change = zk.state_change();
        match zk.data_watch(node).await {
            Ok(((data, _), watch)) => {
                if let Some(vote) = Verdict::read(&data) {
                    return Ok(Either::Left(vote));
                }
                match race(watch, change).await {
                    Either::Left(event) if event.kind == EventType::None => return Err(Stop::SessionLost),
                    Either::Left(_) => {}
                    Either::Right(state) => return Ok(Either::Right(state)),
                }
            }
            Err(e) => plain::passing(zk, e).await?,
        }
    }
}

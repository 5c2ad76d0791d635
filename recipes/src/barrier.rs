//! A barrier: a znode that holds everybody up as long as it is there.

use crate::session::{self, RecipeError};
use std::fmt;
use zk_api::{CreateMode, Data, Either, ErrorCode, EventType, Local, ZPath, ZooKeeper, Zxid, race};

/// A barrier is in place while its znode exists. It can be raised and lowered again and again.
///
/// - **Nobody passes while it is up.** The first look is a check in the order of writes, as a server that lags could
///   show the state before the barrier was raised. Later looks of the same session are never older.
/// - **No opening is missed.** [`look`](Barrier::look) tells which barrier it has seen, by its creation's zxid, and
///   [`gone`](Barrier::gone) waits for the end of that one. Whoever was waiting passes, even if the barrier was raised
///   again before it could look. Between the call and the first look an opening may pass unseen.
/// - **A lost answer** does no harm: raising a barrier that is up, or lowering one that is down, counts as done. If
///   somebody else lowers the barrier meanwhile, an attempt to raise it whose answer was lost may raise it once more.
/// - **The session is over:** [`RecipeError::SessionLost`]. Nobody passes because of that.
/// - **Dropping** a future leaves nothing behind but a request that was on its way: a barrier that was to be raised or
///   lowered may still be.
///
/// The znode is persistent: a barrier outlives whoever has raised it, who must come back to lower it, or have it
/// lowered. Its data may say why it is up; a change of the data lets nobody pass.
///
/// A wait costs one write, a read, and a read for each change of the data and each lost connection. Lowering wakes
/// all who wait, as it must.
///
/// ```
/// use zk_api::{ZPath, ZooKeeper};
/// use zk_recipes::{Barrier, RecipeError};
///
/// # async fn work() {}
/// /// Whoever maintains something holds the others up meanwhile.
/// async fn maintain<Z: ZooKeeper>(zk: Z, node: &ZPath) -> Result<(), RecipeError> {
///     let gate = Barrier::new(zk, node);
///     gate.raise("maintenance".into()).await?;
///     work().await;
///     gate.lower().await
/// }
///
/// /// Everybody else comes to it first.
/// async fn come<Z: ZooKeeper>(zk: Z, node: &ZPath) -> Result<(), RecipeError> {
///     Barrier::new(zk, node).wait().await
/// }
/// ```
///
/// # Cost
///
#[doc = include_str!("../costs/barrier.md")]
pub struct Barrier<Z> {
    zk: Z,
    node: ZPath,
}

impl<Z> fmt::Debug for Barrier<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").field("node", &self.node).finish_non_exhaustive()
    }
}

impl<Z: ZooKeeper> Barrier<Z> {
    /// The barrier whose znode is `node`. Its parent must exist.
    pub fn new(zk: Z, node: &ZPath) -> Barrier<Z> {
        Barrier { zk, node: node.clone() }
    }

    /// Raises the barrier with `why` as its data, and returns when it is known to be up. A barrier that is up already
    /// stays as it is.
    pub async fn raise(&self, why: Data) -> Result<(), RecipeError> {
        loop {
            self.checkpoint("barrier/raise", None);
            match self.zk.create(&self.node, why.clone(), CreateMode::Persistent).await {
                Ok(_) => return Ok(()),
                Err(e) if e.code == ErrorCode::NodeExists => return Ok(()),
                Err(e) => self.passing(e).await?,
            }
        }
    }

    /// Removes it, and returns when it is known to be gone.
    pub async fn lower(&self) -> Result<(), RecipeError> {
        loop {
            self.checkpoint("barrier/lower", None);
            match self.zk.delete(&self.node, -1).await {
                Ok(()) => return Ok(()),
                Err(e) if e.code == ErrorCode::NoNode => return Ok(()),
                Err(e) => self.passing(e).await?,
            }
        }
    }

    /// Waits until it is down.
    pub async fn wait(&self) -> Result<(), RecipeError> {
        match self.look().await? {
            None => Ok(()),
            Some(up) => self.gone(up).await,
        }
    }

    /// Which barrier is up, by its creation's zxid; `None` if none was up at some time since the call.
    pub async fn look(&self) -> Result<Option<Zxid>, RecipeError> {
        loop {
            self.checkpoint("barrier/look", None);
            // What is read behind it is not older.
            let (ordered, seen) = (session::ordered(&self.zk, &self.node), self.zk.exists(&self.node));
            match (ordered.await, seen.await) {
                (Ok(false), _) => return Ok(None),
                (Ok(true), Ok(stat)) => return Ok(stat.map(|stat| stat.czxid())),
                (Err(e), _) | (_, Err(e)) => self.passing(e).await?,
            }
        }
    }

    /// Waits until the barrier that was seen up is gone, whether another has been raised since or not.
    pub async fn gone(&self, up: Zxid) -> Result<(), RecipeError> {
        loop {
            self.checkpoint("barrier/gone", Some(up));
            match self.zk.exists_watch(&self.node).await {
                Ok((Some(stat), watch)) if stat.czxid() == up => {
                    match race(watch, self.zk.state_change()).await {
                        Either::Left(event) => match event.kind {
                            EventType::None => return Err(RecipeError::SessionLost),
                            EventType::NodeDeleted => return Ok(()),
                            EventType::NodeCreated
                            | EventType::NodeDataChanged
                            | EventType::NodeChildrenChanged => {}
                        },
                        Either::Right(_) => session::connected(&self.zk).await?,
                    }
                }
                Ok((Some(_) | None, _)) => return Ok(()),
                Err(e) => self.passing(e).await?,
            }
        }
    }

    async fn passing(&self, error: zk_api::Error) -> Result<(), RecipeError> {
        // What is missing is the parent, as nothing else here minds.
        let parent = self.node.parent().unwrap_or_else(ZPath::root);
        session::passing(&self.zk, error, &parent).await
    }

    fn checkpoint(&self, label: &'static str, up: Option<Zxid>) {
        let up = up.map_or(Local::Text("none"), Local::Zxid);
        self.zk.checkpoint(label, &[Local::Text(self.node.as_str()), up]);
    }
}

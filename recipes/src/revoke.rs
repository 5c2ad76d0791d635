//! Asking holders to give back what they hold, and taking it from them.

use crate::names::Contender;
use crate::session::{self, Lost, OnDisconnect, RecipeError};
use std::fmt;
use std::time::Duration;
use zk_api::{Either, Error, ErrorCode, KeeperState, Local, SessionId, ZPath, ZooKeeper, race};

/// What is written to a contender's znode to ask for it back.
pub const UNLOCK: &str = "unlock";

/// Why a holder is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revoked {
    /// Somebody asks for the lock back. It is still held, and should be released soon.
    Asked,
    /// The lock is lost.
    Lost(Lost),
}

/// Resolves when the data of an own ephemeral znode ask for it back, or when it is lost.
pub(crate) async fn asked_back<Z: ZooKeeper>(zk: &Z, node: &ZPath, on: OnDisconnect) -> Revoked {
    loop {
        let mut change = zk.state_change();
        if let Some(lost) = session::lost_by(zk.state(), on) {
            return Revoked::Lost(lost);
        }
        if zk.state() != KeeperState::SyncConnected {
            change.await;
            continue;
        }
        match race(zk.data_watch(node), &mut change).await {
            Either::Left(Ok(((data, stat), watch))) if stat.ephemeral_owner() == zk.session() => {
                if data.bytes() == UNLOCK.as_bytes() {
                    return Revoked::Asked;
                }
                // Whatever it is, the data tell what to make of it; where they are gone, so is what was held.
                race(watch, change).await;
            }
            Either::Left(Ok(_)) => return Revoked::Lost(Lost::NodeGone),
            Either::Left(Err(e)) if e.code == ErrorCode::NoNode => return Revoked::Lost(Lost::NodeGone),
            Either::Left(Err(e)) if e.is_session_over() => return Revoked::Lost(Lost::SessionOver),
            Either::Left(Err(_)) => {
                race(change, zk.sleep(Duration::from_secs(1))).await;
            }
            Either::Right(_) => {}
        }
    }
}

/// Somebody who stands in line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Standing {
    /// Its znode.
    pub node: ZPath,
    /// What it asks for: `lock`, `read`, `write`.
    pub kind: &'static str,
    /// The session that owns the znode; `None` if that was gone when it was looked at.
    pub session: Option<SessionId>,
}

/// How a revocation has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ended {
    /// The holder has given it back, or was gone already.
    GivenBack,
    /// The holder's znode was deleted. The holder may not know yet, and may go on for a while: only a resource that
    /// compares tokens is safe.
    Taken,
}

/// Sees who stands in line for a lock, asks holders to give it back, and takes it from those who do not.
///
/// It works on any lock of this crate. Holders that listen to [`Held::revoked`](crate::Held::revoked) heed its
/// requests; waiters that are asked hear of it when they are granted the lock. A lock that it takes is gone: the next
/// in line holds it at once, whatever the former holder still does. Writes and deletions name a contender's znode,
/// whose path is never another's, so a late or repeated one hits nobody else.
///
/// ```
/// use std::time::Duration;
/// use zk_api::{ZPath, ZooKeeper};
/// use zk_recipes::{Ended, RecipeError, Revoker};
///
/// /// Asks whoever stands first to give the lock back, and takes it after ten seconds. `None` if nobody is there.
/// async fn evict<Z: ZooKeeper>(zk: Z, lock: &ZPath) -> Result<Option<Ended>, RecipeError> {
///     let revoker = Revoker::new(zk, lock);
///     let standing = revoker.contenders().await.map_err(RecipeError::Failed)?;
///     let Some(first) = standing.first() else { return Ok(None) };
///     revoker.revoke(&first.node, Duration::from_secs(10)).await.map(Some)
/// }
/// ```
///
/// # Cost
///
#[doc = include_str!("../costs/revoke.md")]
pub struct Revoker<Z> {
    zk: Z,
    parent: ZPath,
}

impl<Z> fmt::Debug for Revoker<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Revoker").field("parent", &self.parent).finish_non_exhaustive()
    }
}

/// The kinds of all locks.
const KINDS: &[&str] = &["lock", "read", "write"];

impl<Z: ZooKeeper> Revoker<Z> {
    /// A revoker for the lock at `parent`.
    pub fn new(zk: Z, parent: &ZPath) -> Revoker<Z> {
        Revoker { zk, parent: parent.clone() }
    }

    /// The contenders in line, first come first. The list may be out of date when it arrives.
    pub async fn contenders(&self) -> Result<Vec<Standing>, Error> {
        let names = self.zk.children(&self.parent).await?;
        let mut all = Vec::new();
        for Contender { name, kind, .. } in crate::names::in_order(&names, KINDS) {
            let node = self.parent.join(name).expect("a child's name is valid");
            let session = self.zk.exists(&node).await?.map(|stat| stat.ephemeral_owner());
            all.push(Standing { node, kind, session });
        }
        Ok(all)
    }

    /// Asks whoever owns a contender's znode to give back what it holds by it. Returns when the request is written;
    /// `false` if the znode is gone already.
    pub async fn ask(&self, node: &ZPath) -> Result<bool, RecipeError> {
        loop {
            self.zk.checkpoint("revoke/ask", &[Local::Text(node.as_str())]);
            // Written twice is the same as once.
            match self.zk.set_data(node, UNLOCK.into(), -1).await {
                Ok(_) => return Ok(true),
                Err(e) if e.code == ErrorCode::NoNode => return Ok(false),
                Err(e) => session::passing(&self.zk, e, &self.parent).await?,
            }
        }
    }

    /// Waits until a contender's znode is gone.
    pub async fn gone(&self, node: &ZPath) -> Result<(), RecipeError> {
        loop {
            self.zk.checkpoint("revoke/gone", &[Local::Text(node.as_str())]);
            match self.zk.exists_watch(node).await {
                Ok((None, _)) => return Ok(()),
                Ok((Some(_), watch)) => session::told(&self.zk, watch).await?,
                Err(e) => session::passing(&self.zk, e, &self.parent).await?,
            }
        }
    }

    /// Deletes a contender's znode. Returns when it is known to be gone.
    pub async fn take(&self, node: &ZPath) -> Result<(), RecipeError> {
        loop {
            self.zk.checkpoint("revoke/take", &[Local::Text(node.as_str())]);
            match self.zk.delete(node, -1).await {
                Err(e) if e.code != ErrorCode::NoNode => session::passing(&self.zk, e, &self.parent).await?,
                Ok(()) | Err(_) => return Ok(()),
            }
        }
    }

    /// Asks for the lock back, waits for at most `patience` by this client's clock, and takes it if it is not given
    /// back by then.
    pub async fn revoke(&self, node: &ZPath, patience: Duration) -> Result<Ended, RecipeError> {
        if !self.ask(node).await? {
            return Ok(Ended::GivenBack);
        }
        let end = self.zk.sleep(patience);
        match race(self.gone(node), end).await {
            Either::Left(gone) => gone.map(|()| Ended::GivenBack),
            Either::Right(()) => self.take(node).await.map(|()| Ended::Taken),
        }
    }
}

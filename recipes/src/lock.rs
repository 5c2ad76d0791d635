//! An exclusive, fair, fenced lock.

use crate::line::{Held, Line, next_lower};
use crate::session::{RecipeError, within};
use std::fmt;
use std::time::Duration;
use zk_api::{Error, PathError, ZPath, ZooKeeper};

/// The kind of its contenders.
const LOCK: &str = "lock";

/// An exclusive lock: whoever comes first holds it first, and each change wakes one waiter at most.
///
/// Every contender makes an ephemeral sequential child of the lock's znode, named with a guid of its own, and holds the
/// lock when no child has a lower number. Otherwise it watches only the next lower one.
///
/// - **A lost answer.** When a create's outcome is unknown, the guid tells whether the znode is there. The look comes
///   after a place in the order of all writes, so the create can have no effect after it; a `sync` instead would not
///   do, as a leader whose own tree lags may answer it.
/// - **A claim is checked.** Before the lock is granted, the contender's own znode is read once more: it must be there,
///   and be owned by this session. Its creation's zxid is the fencing token.
/// - **A contender's znode is gone** though the session lives (an administrator has deleted it): a waiter makes a new
///   one and stands at the end of the line. A holder is told by [`Held::lost`].
/// - **The session is over:** [`RecipeError::SessionLost`], for waiters too. A new session needs a new `Lock`.
/// - **Dropping** the future of [`acquire`](Lock::acquire), or a [`Held`], submits the znode's deletion. If the
///   connection is lost just then, or the create's outcome was still unknown, the znode may stay, and others
///   wait behind it: [`abandon`](Lock::abandon) or the next `acquire` of the same `Lock` removes it. It ends
///   with the session in any case.
///
/// All contenders must use this recipe: children of another shape are not waited for. The guid must be unique
/// among all attempts of all sessions. A `Lock` is one contender at a time, as [`Held`] borrows it.
///
/// Two sessions never both hold it while both live. A holder whose session has ended may still believe for a
/// while that it holds; a resource that must be safe then compares tokens.
///
/// ```
/// use zk_api::{ZPath, ZooKeeper, race};
/// use zk_recipes::{Lock, OnDisconnect, RecipeError};
///
/// # async fn work() {}
/// /// Works while nobody else does, and stops when the lock is lost.
/// async fn alone<Z: ZooKeeper>(zk: Z, parent: &ZPath, guid: &str) -> Result<(), RecipeError> {
///     let mut lock = Lock::new(zk, parent, guid).expect("a guid is fit for a name");
///     let held = lock.acquire().await?;
///     // Whatever it writes elsewhere goes with held.token().
///     race(held.lost(OnDisconnect::Stop), work()).await;
///     held.release().await
/// }
/// ```
///
/// # Cost
///
#[doc = include_str!("../costs/lock.md")]
pub struct Lock<Z>(Line<Z>);

impl<Z> fmt::Debug for Lock<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lock").field(&self.0).finish()
    }
}

impl<Z: ZooKeeper> Lock<Z> {
    /// A contender for the lock at `parent`, a znode that exists. `guid` must differ from every other contender's.
    /// Fails if it is empty or not fit for a znode's name.
    pub fn new(zk: Z, parent: &ZPath, guid: &str) -> Result<Lock<Z>, PathError> {
        Ok(Lock(Line::new(zk, parent, guid, &[LOCK])?))
    }

    /// Waits for the lock. What an earlier attempt has left behind is removed first.
    ///
    /// Fails if the session is over, the parent does not exist, another session has the guid, or the parent's counter
    /// has ended: see [`RecipeError`]. A lost connection is no failure.
    pub async fn acquire(&mut self) -> Result<Held<'_, Z>, RecipeError> {
        self.0.stand(LOCK).await?.turn(next_lower).await
    }

    /// Takes the lock if nobody stands before this contender, and does not wait. When it returns `None`, nothing is
    /// left behind.
    ///
    /// It may return `None` though nobody holds the lock: while another's attempt is about to end.
    pub async fn try_acquire(&mut self) -> Result<Option<Held<'_, Z>>, RecipeError> {
        self.0.stand(LOCK).await?.turn_now(next_lower).await
    }

    /// Waits for the lock for at most `limit`, by this client's clock. Returns `None` when the time is over: the
    /// attempt was then dropped, and [`Lock`] says what that means for its znode.
    pub async fn acquire_within(&mut self, limit: Duration) -> Result<Option<Held<'_, Z>>, RecipeError> {
        let end = self.0.zk.sleep(limit);
        within(self.acquire(), end).await
    }

    /// Removes what an attempt that was dropped has left behind. Returns when it is known that nothing is left.
    pub async fn abandon(&mut self) -> Result<(), RecipeError> {
        self.0.abandon().await
    }

    /// The znodes of all contenders, first come first. For inspection: the list may be out of date when it arrives.
    pub async fn contenders(&self) -> Result<Vec<ZPath>, Error> {
        self.0.contenders().await
    }
}

//! A fair, fenced lock that is held by one writer or by any number of readers.

use crate::line::{Held, Line, next_lower};
use crate::names::Contender;
use crate::session::{RecipeError, within};
use std::fmt;
use std::time::Duration;
use zk_api::{Error, PathError, ZPath, ZooKeeper};

/// The kind of those who share it.
pub(crate) const READ: &str = "read";
/// The kind of those who want it alone.
const WRITE: &str = "write";
/// Both.
pub(crate) const KINDS: &[&str] = &[READ, WRITE];

/// A reader waits for the next lower writer: when that one is gone, the list tells whether another is before it.
fn next_lower_writer(all: &[Contender<'_>], own: usize) -> Option<usize> {
    all[..own].iter().rposition(|contender| contender.kind == WRITE)
}

/// A shared lock: writers hold it alone, readers together, and all in the order in which they came.
///
/// Every contender makes an ephemeral sequential child of the lock's znode, `GUID-read-N` or `GUID-write-N`. A writer
/// holds the lock when no child has a lower number, a reader when no *writer's* has. Until then a writer watches the
/// next lower child, whatever its kind, and a reader the next lower writer's. So nobody starves: a reader that comes
/// behind a waiting writer waits for it.
///
/// - **Everything that [`Lock`](crate::Lock) says** of lost answers, claims, deleted znodes, dropped futures and the
///   end of the session holds here as well.
/// - **Wake-ups.** The end of a writer wakes all readers that stand directly behind it, as they go on together. Beyond
///   that each change wakes one waiter at most. Each contender costs a create, and a list and a check for each time
///   that it is woken.
/// - **Tokens.** That of a writer is higher than those of all before it, readers or writers; that of a reader is higher
///   than those of all writers before it. Readers that hold it together may come to a resource in any order, so a
///   resource that compares tokens must know the mode: [`Fence`](crate::Fence) does.
/// - **Downgrade.** A writer that is done with writing may go on as a reader: [`Writing::downgrade`]. There is no
///   upgrade: two readers that wait for each other to stop would wait for ever. Release, and ask to write.
///
/// All contenders must use this recipe; the guid must be unique among all attempts of all sessions.
///
/// ```
/// use zk_api::{ZPath, ZooKeeper};
/// use zk_recipes::{RecipeError, SharedLock};
///
/// async fn write_then_read<Z: ZooKeeper>(zk: Z, parent: &ZPath, guid: &str) -> Result<(), RecipeError> {
///     let mut lock = SharedLock::new(zk, parent, guid).expect("a guid is fit for a name");
///     let writing = lock.write().await?;
///     // Writes, alone.
///     let reading = writing.downgrade().await?;
///     // Reads, perhaps with others. Nobody has written in between.
///     reading.release().await
/// }
/// ```
///
/// # Cost
///
#[doc = include_str!("../costs/shared_lock.md")]
pub struct SharedLock<Z>(Line<Z>);

impl<Z> fmt::Debug for SharedLock<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedLock").field(&self.0).finish()
    }
}

impl<Z: ZooKeeper> SharedLock<Z> {
    /// A contender for the lock at `parent`, a znode that exists. `guid` must differ from every other contender's.
    /// Fails if it is empty or not fit for a znode's name.
    pub fn new(zk: Z, parent: &ZPath, guid: &str) -> Result<SharedLock<Z>, PathError> {
        Ok(SharedLock(Line::new(zk, parent, guid, KINDS)?))
    }

    /// Waits until it may read, together with others that do. Fails as [`Lock::acquire`](crate::Lock::acquire) does.
    pub async fn read(&mut self) -> Result<Held<'_, Z>, RecipeError> {
        self.0.stand(READ).await?.turn(next_lower_writer).await
    }

    /// Waits until it may write, alone. Fails as [`read`](SharedLock::read) does.
    pub async fn write(&mut self) -> Result<Writing<'_, Z>, RecipeError> {
        self.0.stand(WRITE).await?.turn(next_lower).await.map(Writing)
    }

    /// As [`read`](SharedLock::read), if no writer is before it now. When it returns `None`, nothing is left behind.
    pub async fn try_read(&mut self) -> Result<Option<Held<'_, Z>>, RecipeError> {
        self.0.stand(READ).await?.turn_now(next_lower_writer).await
    }

    /// As [`write`](SharedLock::write), if nobody is before it now. When it returns `None`, nothing is left behind.
    pub async fn try_write(&mut self) -> Result<Option<Writing<'_, Z>>, RecipeError> {
        Ok(self.0.stand(WRITE).await?.turn_now(next_lower).await?.map(Writing))
    }

    /// As [`read`](SharedLock::read), for at most `limit` by this client's clock. Returns `None` when the time is over:
    /// the attempt was then dropped, as if its future had been.
    pub async fn read_within(&mut self, limit: Duration) -> Result<Option<Held<'_, Z>>, RecipeError> {
        let end = self.0.zk.sleep(limit);
        within(self.read(), end).await
    }

    /// As [`write`](SharedLock::write), for at most `limit`; `None` when the time is over.
    pub async fn write_within(&mut self, limit: Duration) -> Result<Option<Writing<'_, Z>>, RecipeError> {
        let end = self.0.zk.sleep(limit);
        within(self.write(), end).await
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

/// The lock held by a writer.
#[must_use = "dropping it gives away what is held"]
pub struct Writing<'a, Z: ZooKeeper>(Held<'a, Z>);

impl<Z: ZooKeeper> fmt::Debug for Writing<'_, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Writing").field(&self.0).finish()
    }
}

impl<'a, Z: ZooKeeper> std::ops::Deref for Writing<'a, Z> {
    type Target = Held<'a, Z>;

    fn deref(&self) -> &Held<'a, Z> {
        &self.0
    }
}

impl<'a, Z: ZooKeeper> Writing<'a, Z> {
    /// Gives it back, as [`Held::release`].
    pub async fn release(self) -> Result<(), RecipeError> {
        self.0.release().await
    }

    /// Goes on as a reader, without anybody in between.
    ///
    /// In one transaction, a reader's znode is made with the number of the writer's, and the writer's is deleted: so
    /// the new reader stands before every waiting writer, and together with the readers that wait before the first of
    /// those. It keeps its token, which is lower than theirs. From the call on it must not write any more, as others
    /// may read before it has its answer. Fails, and holds nothing any more, if the session is over or somebody has
    /// deleted the znode.
    pub async fn downgrade(self) -> Result<Held<'a, Z>, RecipeError> {
        self.0.become_kind(WRITE, READ).await
    }

    /// The lock as it is held, for code that does not care about the mode.
    pub fn into_held(self) -> Held<'a, Z> {
        self.0
    }
}

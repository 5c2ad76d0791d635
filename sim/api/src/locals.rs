//! The locals of a caller, for checkpoints of what it calls.

use crate::{Call, KeeperState, Local, Pending, Request, SessionId, ZooKeeper, Zxid};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// Local variables that are alive in a caller while a recipe runs that it has called; the recipe's
/// [checkpoints](ZooKeeper::checkpoint) do not know them.
///
/// ```
/// use zk_api::{Error, Local, Locals, ZPath, ZooKeeper};
/// # struct Lock<Z>(Z);
/// # impl<Z: ZooKeeper> Lock<Z> { async fn acquire(&self) -> Result<(), Error> { Ok(()) } }
/// async fn work(zk: impl ZooKeeper + Clone, setting: &ZPath) -> Result<u8, Error> {
///     let locals = Locals::default();
///     let lock = Lock(locals.told_by(zk.clone()));
///     let many = zk.data(setting).await?.1.version();
///     // `many` matters after the call, so the checkpoints within it must tell it.
///     locals.set(&[Local::Number(many.into())]);
///     lock.acquire().await?;
///     Ok(many as u8)
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Locals(Arc<RwLock<Vec<Owned>>>);

/// A [`Local`] that owns its text.
#[derive(Clone, Debug)]
enum Owned {
    Text(String),
    Number(i64),
    Zxid(Zxid),
}

impl Locals {
    /// These.
    pub fn of(locals: &[Local<'_>]) -> Locals {
        let of = Locals::default();
        of.set(locals);
        of
    }

    /// From now on, these are alive and no others.
    pub fn set(&self, locals: &[Local<'_>]) {
        let owned = locals.iter().map(|local| match local {
            Local::Text(text) => Owned::Text((*text).to_owned()),
            Local::Number(number) => Owned::Number(*number),
            Local::Zxid(zxid) => Owned::Zxid(*zxid),
        });
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = owned.collect();
    }

    /// A session whose checkpoints include these locals, too.
    pub fn told_by<Z>(&self, zk: Z) -> TellsLocals<Z> {
        TellsLocals { zk, locals: self.clone() }
    }
}

/// A session whose checkpoints tell the locals of a caller: see [`Locals::told_by`].
#[derive(Clone, Debug)]
pub struct TellsLocals<Z> {
    zk: Z,
    locals: Locals,
}

impl<Z: ZooKeeper> ZooKeeper for TellsLocals<Z> {
    fn submit(&self, request: Request) -> Call {
        self.zk.submit(request)
    }
    fn sleep(&self, duration: Duration) -> Pending<()> {
        self.zk.sleep(duration)
    }
    fn session(&self) -> SessionId {
        self.zk.session()
    }
    fn state(&self) -> KeeperState {
        self.zk.state()
    }
    fn state_change(&self) -> Pending<KeeperState> {
        self.zk.state_change()
    }
    fn checkpoint(&self, label: &'static str, locals: &[Local<'_>]) {
        let callers = self.locals.0.read().unwrap_or_else(PoisonError::into_inner);
        let callers = callers.iter().map(|local| match local {
            Owned::Text(text) => Local::Text(text),
            Owned::Number(number) => Local::Number(*number),
            Owned::Zxid(zxid) => Local::Zxid(*zxid),
        });
        self.zk.checkpoint(label, &locals.iter().copied().chain(callers).collect::<Vec<_>>());
    }
}

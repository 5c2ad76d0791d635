//! An exclusive, fair, fenced lock.

use crate::names::{self, Contender, MARK};
use std::fmt;
use std::future::Future;
use std::time::Duration;
use zk_api::{
    CreateMode, Data, Either, Error, ErrorCode, EventType, KeeperState, Local, Outcome, PathError, Text,
    ZPath, ZooKeeper, Zxid, race,
};

/// An exclusive lock: whoever comes first holds it first, and each change wakes one waiter at most.
///
/// Every contender makes an ephemeral sequential child of the lock's znode, named with a guid of its own, and
/// holds the lock when no child has a lower number. Otherwise it watches the next lower one alone.
///
/// - **A lost answer.** When a create's outcome is unknown, the guid tells whether the znode is there. Should
///   an old create still take effect after the look, the next list shows two, and one is removed.
/// - **A claim is checked.** Before it is granted, the own znode is read once more: it must be there, and be
///   owned by this session. Its creation's zxid is the fencing token.
/// - **The own znode is gone** though the session lives (an administrator has deleted it): a waiter makes a new
///   one and stands at the end of the queue. A holder is told by [`Held::lost`].
/// - **The session is over:** [`LockError::SessionLost`], for waiters too. A new session needs a new `Lock`.
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
pub struct Lock<Z> {
    zk: Z,
    parent: ZPath,
    guid: Text,
    /// The path that creates are tried with; the number comes behind it.
    prefix: ZPath,
    /// A znode with the guid may exist.
    left: bool,
}

/// Why there is no lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockError {
    /// The session is over, and with it what it held.
    SessionLost,
    /// The lock's own znode does not exist.
    NoParent(ZPath),
    /// A znode with this guid belongs to another session.
    GuidInUse(ZPath),
    /// The parent's counter has reached its end: numbers do not tell the order any more. The lock needs a new
    /// parent.
    Exhausted(ZPath),
    /// A request failed for good.
    Failed(Error),
}

impl<Z> fmt::Debug for Lock<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock").field("prefix", &self.prefix).field("left", &self.left).finish_non_exhaustive()
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockError::SessionLost => f.write_str("the session is over"),
            LockError::NoParent(path) => write!(f, "the lock's znode {path} does not exist"),
            LockError::GuidInUse(node) => write!(f, "the guid of {node} is in use by another session"),
            LockError::Exhausted(node) => write!(f, "the counter of the lock has ended with {node}"),
            LockError::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LockError {}

/// What to make of a lost connection while the lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OnDisconnect {
    /// Stop at once: the session may end without this client being told.
    Stop,
    /// Go on until a server says that the session is dead. Others may hold the lock before that.
    KeepUntilExpired,
}

/// How a lock that was held was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lost {
    /// The session is over.
    SessionOver,
    /// The connection is lost; the lock may still be held, and is to be released.
    Disconnected,
    /// Somebody has deleted the znode.
    NodeGone,
}

impl<Z: ZooKeeper> Lock<Z> {
    /// A contender for the lock at `parent`, a znode that exists. `guid` must be unlike any other contender's.
    /// Fails if it is empty or not fit for a znode's name.
    pub fn new(zk: Z, parent: &ZPath, guid: &str) -> Result<Lock<Z>, PathError> {
        if guid.is_empty() {
            return Err(PathError { path: String::new(), at: 0, problem: "a guid is not empty" });
        }
        let prefix = parent.join(&format!("{guid}{MARK}"))?;
        Ok(Lock { zk, parent: parent.clone(), guid: guid.into(), prefix, left: false })
    }

    /// Waits for the lock. What an earlier attempt has left behind is removed first.
    pub async fn acquire(&mut self) -> Result<Held<'_, Z>, LockError> {
        // Not gone on with: its deletion may be on its way, and would take the lock from its holder.
        self.abandon().await?;
        let mut own = Own { lock: self, node: None };
        own.create().await?;
        let token = own.turn().await?;
        Ok(Held { own, token })
    }

    /// Removes what an attempt that was dropped has left behind. Returns when it is known that nothing is left.
    pub async fn abandon(&mut self) -> Result<(), LockError> {
        while self.left {
            self.zk.checkpoint("lock/abandon", &[Local::Text(self.prefix.as_str())]);
            // A create or delete of an earlier connection may be on its way still; the sync comes behind it.
            let (synced, listed) = (self.zk.sync(&self.parent), self.zk.children(&self.parent));
            let names = match (synced.await, listed.await) {
                (Ok(()), Ok(names)) => names,
                (_, Err(e)) if e.code == ErrorCode::NoNode => Vec::new(),
                (Err(e), _) | (_, Err(e)) => {
                    self.passing(e).await?;
                    continue;
                }
            };
            let mine = self.mine(&names);
            self.left = !mine.is_empty();
            for contender in mine {
                self.remove(&self.child(contender.name)).await?;
            }
        }
        Ok(())
    }

    /// The znodes of all contenders, first come first. For inspection: it may be old when it arrives.
    pub async fn contenders(&self) -> Result<Vec<ZPath>, Error> {
        let names = self.zk.children(&self.parent).await?;
        Ok(names::in_order(&names).iter().map(|c| self.child(c.name)).collect())
    }

    fn child(&self, name: &str) -> ZPath {
        self.parent.join(name).expect("a child's name is valid")
    }

    /// Those of this guid, first come first.
    fn mine<'a>(&self, names: &'a [Text]) -> Vec<Contender<'a>> {
        names::in_order(names).into_iter().filter(|c| c.guid() == &*self.guid).collect()
    }

    /// Lets an error pass if the request may be tried again, once there is a connection.
    async fn passing(&self, error: Error) -> Result<(), LockError> {
        match (error.code, error.outcome()) {
            _ if error.is_session_over() => Err(LockError::SessionLost),
            // The session is at another connection of this client, or soon will be.
            (ErrorCode::SessionMoved, _) | (_, Outcome::Unknown) => self.connected().await,
            (ErrorCode::NoNode, _) => Err(LockError::NoParent(self.parent.clone())),
            (_, Outcome::NotApplied) => Err(LockError::Failed(error)),
        }
    }

    /// Waits for a connection.
    async fn connected(&self) -> Result<(), LockError> {
        loop {
            // Listened for before looking, or a change between the two would be missed.
            let change = self.zk.state_change();
            match self.zk.state() {
                KeeperState::SyncConnected => return Ok(()),
                KeeperState::Disconnected => change.await,
                KeeperState::AuthFailed | KeeperState::Expired | KeeperState::Closed => {
                    return Err(LockError::SessionLost);
                }
            };
        }
    }

    /// Reads a znode with the own guid: its creation's zxid, or `None` if it is not there or the answer was
    /// lost. Fails if it is another session's.
    async fn check(&self, node: &ZPath) -> Result<Option<Zxid>, LockError> {
        match self.zk.exists(node).await {
            Ok(Some(stat)) if stat.ephemeral_owner == self.zk.session() => Ok(Some(stat.czxid)),
            Ok(Some(_)) => Err(LockError::GuidInUse(node.clone())),
            Ok(None) => Ok(None),
            Err(e) => self.passing(e).await.map(|()| None),
        }
    }

    /// Tries to remove a znode with the own guid. It may be there still; the next list will tell.
    async fn remove(&self, node: &ZPath) -> Result<(), LockError> {
        if self.check(node).await?.is_none() {
            return Ok(());
        }
        match self.zk.delete(node, -1).await {
            Err(e) if e.code != ErrorCode::NoNode => self.passing(e).await,
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// An attempt, and the znode that must not outlive it.
struct Own<'a, Z: ZooKeeper> {
    lock: &'a mut Lock<Z>,
    /// Known to be this session's, so that it may be deleted blindly: nobody else's can have this path.
    node: Option<ZPath>,
}

impl<Z: ZooKeeper> Own<'_, Z> {
    /// Tries to create the znode. Whether it is there the next list will tell.
    async fn create(&mut self) -> Result<(), LockError> {
        self.lock.left = true;
        let lock = &*self.lock;
        match lock.zk.create(&lock.prefix, Data::NULL, CreateMode::EphemeralSequential).await {
            Ok(path) => {
                self.node = Some(ZPath::parse(&path).expect("a server gives valid paths"));
                Ok(())
            }
            Err(e) => lock.passing(e).await,
        }
    }

    /// Waits until no contender stands before the own znode; gives the token.
    async fn turn(&mut self) -> Result<Zxid, LockError> {
        loop {
            self.checkpoint("lock/list", None);
            // A create of an earlier connection may be on its way still; the sync comes behind it. Without it a
            // second znode could turn up after the last look, and outlive the attempt.
            let synced = self.node.is_none().then(|| self.lock.zk.sync(&self.lock.parent));
            let listed = self.lock.zk.children(&self.lock.parent);
            let caught_up = match synced {
                Some(synced) => synced.await,
                None => Ok(()),
            };
            let names = match (caught_up, listed.await) {
                (Ok(()), Ok(names)) => names,
                (Err(e), _) | (_, Err(e)) => {
                    self.lock.passing(e).await?;
                    continue;
                }
            };
            match *self.lock.mine(&names) {
                [] => {
                    self.node = None;
                    self.create().await?;
                }
                [own] => {
                    let before = names::in_order(&names).into_iter().take_while(|c| *c < own).last();
                    if let Some(token) = self.stand(own, before).await? {
                        return Ok(token);
                    }
                }
                [_, extra, ..] => self.lock.remove(&self.lock.child(extra.name)).await?,
            }
        }
    }

    /// Claims the lock if nobody stands before; else waits until that may have changed.
    async fn stand(
        &mut self,
        own: Contender<'_>,
        before: Option<Contender<'_>>,
    ) -> Result<Option<Zxid>, LockError> {
        let node = self.lock.child(own.name);
        let known = self.node.as_ref() == Some(&node);
        let before = before.map(|c| self.lock.child(c.name));
        if before.is_none() || !known {
            if known {
                self.checkpoint("lock/claim", None);
            }
            let Some(token) = self.lock.check(&node).await? else { return Ok(None) };
            self.node = Some(node.clone());
            if own.sequence == i32::MAX {
                return Err(LockError::Exhausted(node));
            }
            if before.is_none() {
                return Ok(Some(token));
            }
        }
        if let Some(before) = before {
            self.wait_for(&before).await?;
        }
        Ok(None)
    }

    /// Waits until something happens to the znode before, or to the connection.
    async fn wait_for(&mut self, before: &ZPath) -> Result<(), LockError> {
        self.checkpoint("lock/watch", Some(before));
        let zk = &self.lock.zk;
        match zk.exists_watch(before).await {
            Ok((None, _)) => Ok(()),
            // Whatever it is, the list tells what to make of it: a watch fires once, and for more than deletion.
            Ok((Some(_), watch)) => match race(watch, zk.state_change()).await {
                Either::Left(event) if event.kind == EventType::None => Err(LockError::SessionLost),
                Either::Left(_) => Ok(()),
                Either::Right(_) => self.lock.connected().await,
            },
            Err(e) => self.lock.passing(e).await,
        }
    }

    fn checkpoint(&self, label: &'static str, before: Option<&ZPath>) {
        let text = |path: Option<&'_ ZPath>| path.map_or(String::new(), |p| p.as_str().to_owned());
        let (own, before) = (text(self.node.as_ref()), text(before));
        let locals = [self.lock.prefix.as_str(), &own, &before].map(Local::Text);
        self.lock.zk.checkpoint(label, &locals);
    }
}

impl<Z: ZooKeeper> Drop for Own<'_, Z> {
    fn drop(&mut self) {
        if let Some(node) = self.node.take()
            && !self.lock.zk.state().is_final()
        {
            // On its way once it is submitted; nobody waits for the answer.
            drop(self.lock.zk.delete(&node, -1));
        }
    }
}

/// The lock, held. Dropping it releases it without making sure; see [`Lock`].
#[must_use = "dropping it gives the lock away"]
pub struct Held<'a, Z: ZooKeeper> {
    own: Own<'a, Z>,
    token: Zxid,
}

impl<Z: ZooKeeper> fmt::Debug for Held<'_, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held")
            .field("node", &self.own.node)
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}

impl<Z: ZooKeeper> Held<'_, Z> {
    /// The fencing token: higher than that of every earlier holder.
    pub fn token(&self) -> Zxid {
        self.token
    }

    /// The znode that stands for it.
    pub fn node(&self) -> &ZPath {
        self.own.node.as_ref().expect("a holder knows its znode")
    }

    /// Gives the lock back, and returns when it is known that the znode is gone.
    ///
    /// An answer that was lost is no matter: the path is this attempt's alone, so the deletion is tried again
    /// until it succeeds or finds nothing.
    /// Fails if the session is over: then the lock may have been another's for a while.
    pub async fn release(mut self) -> Result<(), LockError> {
        loop {
            self.own.checkpoint("lock/release", None);
            match self.own.lock.zk.delete(self.node(), -1).await {
                Err(e) if e.code != ErrorCode::NoNode => self.own.lock.passing(e).await?,
                Ok(()) | Err(_) => {
                    self.own.node = None;
                    self.own.lock.left = false;
                    return Ok(());
                }
            }
        }
    }

    /// Resolves when the lock is lost: the session is over, the znode is gone, or, as `on` says, the connection
    /// is lost. Race it against the work. A holder that stops must still [`release`](Held::release).
    pub async fn lost(&self, on: OnDisconnect) -> Lost {
        let zk = &self.own.lock.zk;
        loop {
            let mut change = zk.state_change();
            if let Some(lost) = lost_by(zk.state(), on) {
                return lost;
            }
            if zk.state() != KeeperState::SyncConnected {
                change.await;
                continue;
            }
            match race(zk.exists_watch(self.node()), &mut change).await {
                Either::Left(Ok((Some(stat), watch))) if stat.ephemeral_owner == zk.session() => {
                    if let Either::Left(event) = race(watch, change).await
                        && event.kind == EventType::NodeDeleted
                    {
                        return Lost::NodeGone;
                    }
                }
                Either::Left(Ok(_)) => return Lost::NodeGone,
                Either::Left(Err(e)) if e.is_session_over() => return Lost::SessionOver,
                // The connection's loss is about to be told, or the server could not answer this time.
                Either::Left(Err(_)) => {
                    race(change, zk.sleep(Duration::from_secs(1))).await;
                }
                Either::Right(_) => {}
            }
        }
    }

    /// The same without watching the znode, which spares a request: for where nobody deletes others' znodes.
    /// Borrows only the session, and listens from this call on.
    pub fn session_lost(&self, on: OnDisconnect) -> impl Future<Output = Lost> + use<'_, Z> {
        let zk = &self.own.lock.zk;
        let mut change = zk.state_change();
        async move {
            loop {
                if let Some(lost) = lost_by(zk.state(), on) {
                    return lost;
                }
                change.await;
                change = zk.state_change();
            }
        }
    }
}

fn lost_by(state: KeeperState, on: OnDisconnect) -> Option<Lost> {
    match (state, on) {
        (KeeperState::SyncConnected, _) | (KeeperState::Disconnected, OnDisconnect::KeepUntilExpired) => None,
        (KeeperState::Disconnected, OnDisconnect::Stop) => Some(Lost::Disconnected),
        (KeeperState::AuthFailed | KeeperState::Expired | KeeperState::Closed, _) => Some(Lost::SessionOver),
    }
}

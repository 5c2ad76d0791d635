//! How every recipe handles errors, a lost connection and the end of its session.
//!
//! In a recipe of your own:
//!
//! ```
//! use zk_api::{Data, ZPath, ZooKeeper};
//! use zk_recipes::RecipeError;
//! use zk_recipes::session::{ordered, passing};
//!
//! /// Sets data that may be set twice, and then reads what is at least as new.
//! async fn set_and_read<Z: ZooKeeper>(zk: &Z, node: &ZPath, data: Data) -> Result<Data, RecipeError> {
//!     while let Err(error) = zk.set_data(node, data.clone(), -1).await {
//!         passing(zk, error, node).await?;
//!     }
//!     loop {
//!         // Asked for together: the read comes right behind a place in the order of all writes.
//!         let (ordered, read) = (ordered(zk, node), zk.data(node));
//!         let error = match (ordered.await, read.await) {
//!             (Ok(_), Ok((data, _))) => return Ok(data),
//!             (Err(error), _) | (_, Err(error)) => error,
//!         };
//!         passing(zk, error, node).await?;
//!     }
//! }
//! ```

use std::fmt;
use std::future::Future;
use std::time::Duration;
use zk_api::{
    Either, Error, ErrorCode, EventType, KeeperState, MultiOutcome, Op, Outcome, PathError, Pending, Reply,
    Watch, ZPath, ZooKeeper, race,
};

/// Why a recipe cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecipeError {
    /// The session is over, and with it what it held.
    SessionLost,
    /// The recipe's own znode does not exist.
    NoParent(ZPath),
    /// A znode with this guid belongs to another session.
    GuidInUse(ZPath),
    /// The parent's counter has reached its end: numbers do not tell the order any more. The recipe needs a new
    /// parent.
    Exhausted(ZPath),
    /// Somebody has deleted the znode that stood for what was held.
    Gone(ZPath),
    /// A request failed for good.
    Failed(Error),
}

impl fmt::Display for RecipeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecipeError::SessionLost => f.write_str("the session is over"),
            RecipeError::NoParent(path) => write!(f, "the recipe's znode {path} does not exist"),
            RecipeError::GuidInUse(node) => write!(f, "the guid of {node} is in use by another session"),
            RecipeError::Exhausted(node) => write!(f, "the counter of the parent has ended with {node}"),
            RecipeError::Gone(node) => write!(f, "somebody has deleted {node}"),
            RecipeError::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RecipeError {}

/// What to do about a lost connection while something is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OnDisconnect {
    /// Stop at once: the session may end without this client being told.
    Stop,
    /// Go on until a server says that the session is dead. Others may hold the same before that.
    KeepUntilExpired,
}

/// How something that was held was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lost {
    /// The session is over.
    SessionOver,
    /// The connection is lost; what was held may still be held, and must be released.
    Disconnected,
    /// Somebody has deleted the znode.
    NodeGone,
}

/// Returns once there is a connection, if the request may be tried again after this error; fails otherwise. `parent` is
/// the znode that a `NoNode` is about.
pub async fn passing<Z: ZooKeeper>(zk: &Z, error: Error, parent: &ZPath) -> Result<(), RecipeError> {
    match (error.code, error.outcome()) {
        _ if error.is_session_over() => Err(RecipeError::SessionLost),
        // The session is at another connection of this client, or soon will be.
        (ErrorCode::SessionMoved, _) | (_, Outcome::Unknown) => connected(zk).await,
        (ErrorCode::NoNode, _) => Err(RecipeError::NoParent(parent.clone())),
        (_, Outcome::NotApplied) => Err(RecipeError::Failed(error)),
    }
}

/// Takes a place in the order of all writes and changes nothing; resolves to whether the znode is there at that place.
///
/// Once it is answered, what this session asked for on earlier connections has been decided, and a read submitted after
/// it on the same connection shows what came of that, and of everything that any client had been answered before the
/// call. It is submitted at once, so that the read can be submitted before either is awaited.
///
/// A `sync` costs less and does neither: a leader that does not know it was deposed answers it by itself, and a leader
/// whose own tree lags answers it all the same.
pub fn ordered<Z: ZooKeeper>(zk: &Z, node: &ZPath) -> Reply<bool> {
    let path = node.text();
    // One that fails is in the order as well.
    zk.multi(vec![Op::Check { path: path.clone(), version: -1 }]).map(|answer| match answer? {
        MultiOutcome::Applied(_) => Ok(true),
        MultiOutcome::Failed(codes) => match codes.first().copied().flatten() {
            Some(ErrorCode::NoNode) => Ok(false),
            code => Err(Error { code: code.unwrap_or(ErrorCode::SystemError), tried: "check", path }),
        },
    })
}

/// Waits for a connection.
pub async fn connected<Z: ZooKeeper>(zk: &Z) -> Result<(), RecipeError> {
    loop {
        // Listened for before looking, or a change between the two would be missed.
        let change = zk.state_change();
        match zk.state() {
            KeeperState::SyncConnected => return Ok(()),
            KeeperState::Disconnected => change.await,
            KeeperState::AuthFailed | KeeperState::Expired | KeeperState::Closed => {
                return Err(RecipeError::SessionLost);
            }
        };
    }
}

/// Waits until a watch fires, or until the session's state has changed and there is a connection: then it is time to
/// look again. `change` was listened for before the look that set the watch.
pub(crate) async fn something<Z: ZooKeeper>(
    zk: &Z,
    watch: Watch,
    change: Pending<KeeperState>,
) -> Result<(), RecipeError> {
    match race(watch, change).await {
        Either::Left(event) if event.kind == EventType::None => Err(RecipeError::SessionLost),
        Either::Left(_) => Ok(()),
        Either::Right(_) => connected(zk).await,
    }
}

/// As [`something`], listening for the session's state from this call on.
pub(crate) async fn told<Z: ZooKeeper>(zk: &Z, watch: Watch) -> Result<(), RecipeError> {
    something(zk, watch, zk.state_change()).await
}

/// What an attempt gives that may take until this end; `None` if it was dropped then.
pub(crate) async fn within<T>(
    attempt: impl Future<Output = Result<T, RecipeError>>,
    end: impl Future<Output = ()>,
) -> Result<Option<T>, RecipeError> {
    match race(attempt, end).await {
        Either::Left(held) => held.map(Some),
        Either::Right(()) => Ok(None),
    }
}

/// A guid that is fit for a znode's name.
pub(crate) fn checked_guid(guid: &str) -> Result<(), PathError> {
    match guid.is_empty() {
        true => Err(PathError { path: String::new(), at: 0, problem: "a guid is not empty" }),
        false => Ok(()),
    }
}

/// Resolves when an own ephemeral znode is lost: the session is over, the znode is gone, or, as `on` says, the
/// connection is lost.
pub(crate) async fn node_lost<Z: ZooKeeper>(zk: &Z, node: &ZPath, on: OnDisconnect) -> Lost {
    loop {
        let mut change = zk.state_change();
        if let Some(lost) = lost_by(zk.state(), on) {
            return lost;
        }
        if zk.state() != KeeperState::SyncConnected {
            change.await;
            continue;
        }
        match race(zk.exists_watch(node), &mut change).await {
            Either::Left(Ok((Some(stat), watch))) if stat.ephemeral_owner() == zk.session() => {
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

/// Resolves when the session is over or, as `on` says, the connection is lost. Listens from this call on.
pub(crate) fn session_lost<Z: ZooKeeper>(
    zk: &Z,
    on: OnDisconnect,
) -> impl Future<Output = Lost> + use<'_, Z> {
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

/// How something is lost by what the session has become, if it is.
pub(crate) fn lost_by(state: KeeperState, on: OnDisconnect) -> Option<Lost> {
    match (state, on) {
        (KeeperState::SyncConnected, _) | (KeeperState::Disconnected, OnDisconnect::KeepUntilExpired) => None,
        (KeeperState::Disconnected, OnDisconnect::Stop) => Some(Lost::Disconnected),
        (KeeperState::AuthFailed | KeeperState::Expired | KeeperState::Closed, _) => Some(Lost::SessionOver),
    }
}

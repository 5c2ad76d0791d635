//! What published variants need to be decent in everything but the defect they are published for. Recipes of one's own
//! are better served by [`zk_recipes::session`] and [`zk_recipes::line`].
//!
//! ```
//! use zk_api::{Text, ZPath};
//! use zk_harness::common::plain::{Place, child, place};
//!
//! let lock = ZPath::parse("/lock")?;
//! let names = ["z-lock-0000000003", "a-lock-0000000004"].map(Text::from);
//! let [first, second] = [&names[0], &names[1]].map(|name| child(&lock, name));
//! assert_eq!(place(&lock, &names, &first), Place::First);
//! assert_eq!(place(&lock, &names, &second), Place::Behind(first));
//! # Ok::<(), zk_api::PathError>(())
//! ```

use super::Stop;
use zk_api::{
    CreateMode, Data, Error, ErrorCode, EventType, Local, Outcome, Stat, Text, Watch, ZPath, ZooKeeper,
    sequence_of,
};
use zk_recipes::session::connected;

/// Who stands where in a list of contenders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The own znode has the lowest number.
    First,
    /// This znode has the next lower number.
    Behind(ZPath),
    /// The own znode is not in the list.
    Absent,
}

/// The place of `own` by number, whatever stands before the number in the names.
pub fn place(lock: &ZPath, names: &[Text], own: &ZPath) -> Place {
    let Some(mine) = names.iter().find(|name| ***name == *own.name()).and_then(|name| sequence_of(name))
    else {
        return Place::Absent;
    };
    let lower = names.iter().filter_map(|name| Some((sequence_of(name)?, name))).filter(|(n, _)| *n < mine);
    match lower.max() {
        None => Place::First,
        Some((_, name)) => Place::Behind(child(lock, name)),
    }
}

/// A child of the lock's znode.
pub fn child(lock: &ZPath, name: &str) -> ZPath {
    lock.join(name).expect("a child's name is valid")
}

/// The path that a server gave.
pub fn path(text: &Text) -> ZPath {
    ZPath::parse(text).expect("a server gives valid paths")
}

/// Lets an error pass once there is a connection, if the request may be tried again.
pub async fn passing(zk: &impl ZooKeeper, error: Error) -> Result<(), Stop> {
    let again = error.outcome() == Outcome::Unknown || error.code == ErrorCode::SessionMoved;
    if error.is_session_over() || !again {
        return Err(error.into());
    }
    Ok(connected(zk).await?)
}

/// Asks, however often it takes until there is an answer.
pub async fn again<T, F>(zk: &impl ZooKeeper, ask: impl Fn() -> F) -> Result<T, Stop>
where
    F: Future<Output = Result<T, Error>>,
{
    loop {
        match ask().await {
            Ok(answer) => return Ok(answer),
            Err(e) => passing(zk, e).await?,
        }
    }
}

/// The same from a checkpoint, at which so much is known.
pub async fn again_from<T, F>(
    zk: &impl ZooKeeper,
    label: &'static str,
    known: &[Local<'_>],
    ask: impl Fn() -> F,
) -> Result<T, Stop>
where
    F: Future<Output = Result<T, Error>>,
{
    again(zk, || {
        zk.checkpoint(label, known);
        ask()
    })
    .await
}

/// An answer, or `None` where it is this error.
pub async fn unless<T>(
    code: ErrorCode,
    asked: impl Future<Output = Result<T, Error>>,
) -> Result<Option<T>, Error> {
    match asked.await {
        Err(e) if e.code == code => Ok(None),
        answer => answer.map(Some),
    }
}

/// Makes a contender's znode; a lost answer is looked up by the guid, and not found where the server does not know of
/// the create yet (S-051). For a recipe of one's own there is `zk_recipes::line`.
pub async fn contend(zk: &impl ZooKeeper, lock: &ZPath, guid: &str) -> Result<ZPath, Stop> {
    contend_as(zk, lock, guid, "lock").await
}

/// The same of a kind.
pub async fn contend_as(zk: &impl ZooKeeper, lock: &ZPath, guid: &str, kind: &str) -> Result<ZPath, Stop> {
    let prefix = child(lock, &format!("{guid}-{kind}-"));
    make(zk, "plain/create", lock, &prefix, prefix.as_str()).await
}

/// The same by the path that creates are tried with, from this checkpoint. `alive` is the one text that matters to the
/// caller.
pub async fn make(
    zk: &impl ZooKeeper,
    label: &'static str,
    lock: &ZPath,
    prefix: &ZPath,
    alive: &str,
) -> Result<ZPath, Stop> {
    loop {
        zk.checkpoint(label, &[Local::Text(alive)]);
        match zk.create(prefix, Data::NULL, CreateMode::EphemeralSequential).await {
            Ok(made) => return Ok(path(&made)),
            Err(e) => passing(zk, e).await?,
        }
        if let Some(own) = find(zk, lock, prefix, alive).await? {
            return Ok(own);
        }
    }
}

/// Looks among the contenders for one that was made with this prefix.
pub async fn find(
    zk: &impl ZooKeeper,
    lock: &ZPath,
    prefix: &ZPath,
    alive: &str,
) -> Result<Option<ZPath>, Stop> {
    let names = children(zk, lock, alive).await?;
    Ok(names.iter().find(|name| name.starts_with(prefix.name())).map(|name| child(lock, name)))
}

/// Waits until the own znode is the first.
pub async fn turn(zk: &impl ZooKeeper, lock: &ZPath, own: &ZPath) -> Result<(), Stop> {
    turn_by(zk, lock, own, place).await
}

/// Waits for whomever a rule names.
pub async fn turn_by(
    zk: &impl ZooKeeper,
    lock: &ZPath,
    own: &ZPath,
    rule: fn(&ZPath, &[Text], &ZPath) -> Place,
) -> Result<(), Stop> {
    loop {
        let names = children(zk, lock, own.as_str()).await?;
        match rule(lock, &names, own) {
            Place::First => return Ok(()),
            Place::Absent => return Err(gone(own)),
            Place::Behind(lower) => {
                if let (Some(_), watch) = exists(zk, &lower, own.as_str()).await? {
                    event(watch).await?;
                }
            }
        }
    }
}

/// Lists the contenders, however often it takes. `alive` is the one text that matters to the caller.
pub async fn children(zk: &impl ZooKeeper, lock: &ZPath, alive: &str) -> Result<Vec<Text>, Stop> {
    again_from(zk, "plain/list", &[Local::Text(alive)], || zk.children(lock)).await
}

/// Looks for a znode and watches it, however often it takes.
pub async fn exists(zk: &impl ZooKeeper, node: &ZPath, own: &str) -> Result<(Option<Stat>, Watch), Stop> {
    again_from(zk, "plain/watch", &[node.as_str(), own].map(Local::Text), || zk.exists_watch(node)).await
}

/// Waits for whatever a watch tells. Fails if that is the end of the session.
pub async fn event(watch: Watch) -> Result<(), Stop> {
    match watch.await.kind {
        EventType::None => Err(Stop::SessionLost),
        EventType::NodeCreated
        | EventType::NodeDeleted
        | EventType::NodeDataChanged
        | EventType::NodeChildrenChanged => Ok(()),
    }
}

/// Deletes a znode whose path nobody else can have, however often it takes.
pub async fn remove(zk: &impl ZooKeeper, own: &ZPath) -> Result<(), Stop> {
    let delete = || unless(ErrorCode::NoNode, zk.delete(own, -1));
    again_from(zk, "plain/release", &[Local::Text(own.as_str())], delete).await.map(drop)
}

/// The own znode is not there though the session lives.
pub fn gone(own: &ZPath) -> Stop {
    Stop::Failed(format!("{own} is gone").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_by_number() {
        let lock = ZPath::parse("/lock").unwrap();
        let names = ["z-lock-0000000003", "a-lock-0000000005", "b-lock-0000000004", "other"].map(Text::from);
        let at = |name| place(&lock, &names, &child(&lock, name));
        assert_eq!(at("z-lock-0000000003"), Place::First);
        assert_eq!(at("a-lock-0000000005"), Place::Behind(child(&lock, "b-lock-0000000004")));
        assert_eq!(at("c-lock-0000000006"), Place::Absent);
    }
}

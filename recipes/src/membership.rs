//! Group membership: who is there, by an ephemeral znode each.

use crate::session::{self, RecipeError};
use std::collections::BTreeSet;
use zk_api::{
    CreateMode, Data, ErrorCode, Local, MultiOutcome, Op, PathError, Stat, Text, Watch, ZPath, ZooKeeper,
};

/// What to do about a znode of the same name that another session owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ghost {
    /// Wait until the znode is gone: at most until its session expires, if that is a former session of the same
    /// process.
    Await,
    /// Replace it by the member's own znode, in one transaction. For names that no other living process has: two
    /// processes that use one name would take it from each other for ever.
    Replace,
}

/// A member of a group: an ephemeral child of the group's znode, named after the member.
///
/// - **A ghost.** A process that comes back soon finds the znode of its former session, which lives until that expires.
///   A member that took it for its own would vanish with it, so the owner is looked at, and [`Ghost`] says what to do.
/// - **A lost answer** is looked up in the same way: a znode of the member's own session is the one that was to be
///   made.
/// - **Staying.** [`keep`](Membership::keep) watches the member's znode and makes it anew if somebody deletes it.
///   Without `keep`, a member does not learn of that.
/// - **The session is over:** [`RecipeError::SessionLost`]. The client is no longer a member by then; a new session
///   needs a new `Membership`, and has to join again.
/// - **Dropping** the future of [`join`](Membership::join) or [`leave`](Membership::leave) leaves open whether the
///   znode is there: `leave` makes sure that it is not. Dropping a `Membership` does not leave.
///
/// A member is listed as long as its session lives, which is up to the session's timeout longer than its process.
/// Joining costs one request, keeping one more and nothing while nothing happens.
///
/// ```
/// use zk_api::{Either, ZPath, ZooKeeper, race};
/// use zk_recipes::{Ghost, Membership, RecipeError};
///
/// # async fn work() {}
/// async fn belong<Z: ZooKeeper>(zk: Z, group: &ZPath) -> Result<(), RecipeError> {
///     let address = "10.0.0.7:80".into();
///     let member = Membership::new(zk, group, "worker-7", address, Ghost::Await).expect("fit for a name");
///     member.join().await?;
///     match race(member.keep(), work()).await {
///         Either::Left(error) => Err(error),
///         Either::Right(()) => member.leave().await,
///     }
/// }
/// ```
///
/// # Cost
///
#[doc = include_str!("../costs/membership.md")]
#[derive(Debug)]
pub struct Membership<Z> {
    zk: Z,
    group: ZPath,
    node: ZPath,
    data: Data,
    ghost: Ghost,
}

impl<Z: ZooKeeper> Membership<Z> {
    /// A member called `name` of the group at `group`, a znode that exists. `data` is for others to read. No request is
    /// sent yet. Fails if the name is empty or not fit for a znode's name.
    pub fn new(
        zk: Z,
        group: &ZPath,
        name: &str,
        data: Data,
        ghost: Ghost,
    ) -> Result<Membership<Z>, PathError> {
        session::checked_guid(name)?;
        Ok(Membership { zk, group: group.clone(), node: group.join(name)?, data, ghost })
    }

    /// The member's znode.
    pub fn node(&self) -> &ZPath {
        &self.node
    }

    /// Returns when the member is listed by a znode of this session. It may be called again.
    pub async fn join(&self) -> Result<(), RecipeError> {
        loop {
            self.checkpoint("membership/join");
            match self.zk.create(&self.node, self.data.clone(), CreateMode::Ephemeral).await {
                Ok(_) => return Ok(()),
                Err(e) if e.code == ErrorCode::NodeExists => {}
                Err(e) => {
                    session::passing(&self.zk, e, &self.group).await?;
                    continue;
                }
            }
            self.checkpoint("membership/whose");
            let change = self.zk.state_change();
            match self.zk.exists_watch(&self.node).await {
                Ok((None, _)) => {}
                Ok((Some(stat), _)) if stat.ephemeral_owner() == self.zk.session() => return Ok(()),
                Ok((Some(stat), watch)) => match self.ghost {
                    Ghost::Await => session::something(&self.zk, watch, change).await?,
                    Ghost::Replace => self.replace(&stat).await?,
                },
                Err(e) => session::passing(&self.zk, e, &self.group).await?,
            }
        }
    }

    /// Tries to put the own znode into the place of a ghost. The next look will tell.
    async fn replace(&self, ghost: &Stat) -> Result<(), RecipeError> {
        let path = self.node.text();
        let ops = vec![
            Op::Delete { path: path.clone(), version: ghost.version() },
            Op::create(path, self.data.clone(), CreateMode::Ephemeral),
        ];
        match self.zk.multi(ops).await {
            // Failed is a ghost that has gone or was changed meanwhile.
            Ok(MultiOutcome::Applied(_) | MultiOutcome::Failed(_)) => Ok(()),
            Err(e) => session::passing(&self.zk, e, &self.group).await,
        }
    }

    /// Keeps a member that has [joined](Membership::join) listed: makes its znode anew when it is gone. It ends only
    /// with the error that stops it, so race it against the work.
    pub async fn keep(&self) -> RecipeError {
        loop {
            self.checkpoint("membership/keep");
            let change = self.zk.state_change();
            let kept = match self.zk.exists_watch(&self.node).await {
                Ok((Some(stat), watch)) if stat.ephemeral_owner() == self.zk.session() => {
                    session::something(&self.zk, watch, change).await
                }
                Ok(_) => self.join().await,
                Err(e) => session::passing(&self.zk, e, &self.group).await,
            };
            if let Err(e) = kept {
                return e;
            }
        }
    }

    /// Returns when it is known that no znode of this session lists the member.
    pub async fn leave(&self) -> Result<(), RecipeError> {
        loop {
            self.checkpoint("membership/leave");
            // A create of an earlier connection may be on its way still; a place in the order comes behind it.
            let (ordered, looked) = (session::ordered(&self.zk, &self.node), self.zk.exists(&self.node));
            match (ordered.await, looked.await) {
                (Ok(false), Ok(_)) => return Ok(()),
                (Ok(_), Ok(Some(stat))) if stat.ephemeral_owner() == self.zk.session() => {}
                (Ok(_), Ok(_)) => return Ok(()),
                (Err(e), _) | (_, Err(e)) => {
                    session::passing(&self.zk, e, &self.group).await?;
                    continue;
                }
            }
            match self.zk.delete(&self.node, -1).await {
                Ok(()) => return Ok(()),
                Err(e) if e.code == ErrorCode::NoNode => return Ok(()),
                Err(e) => session::passing(&self.zk, e, &self.group).await?,
            }
        }
    }

    fn checkpoint(&self, label: &'static str) {
        let data = String::from_utf8_lossy(self.data.bytes());
        self.zk.checkpoint(label, &[Local::Text(self.node.as_str()), Local::Text(&data)]);
    }
}

/// The members of a group, watched.
///
/// Each list is taken together with the watch of its next change, so none is missed; several changes may come as one. A
/// list may lag as its server does; after the last change, every roster comes to show it. Each change wakes all
/// watchers, as it must, and costs each of them one request.
///
/// ```
/// use zk_api::{ZPath, ZooKeeper};
/// use zk_recipes::{RecipeError, Roster};
///
/// /// Waits until three members were there at one time.
/// async fn gathered<Z: ZooKeeper>(zk: Z, group: &ZPath) -> Result<(), RecipeError> {
///     let mut roster = Roster::new(zk, group);
///     while roster.changed().await?.len() < 3 {}
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Roster<Z> {
    zk: Z,
    group: ZPath,
    members: Option<BTreeSet<Text>>,
    watch: Option<Watch>,
}

impl<Z: ZooKeeper> Roster<Z> {
    /// The members of the group at `group`, a znode that exists. No request is sent yet.
    pub fn new(zk: Z, group: &ZPath) -> Roster<Z> {
        Roster { zk, group: group.clone(), members: None, watch: None }
    }

    /// The members as they were returned last; `None` before that.
    pub fn members(&self) -> Option<&BTreeSet<Text>> {
        self.members.as_ref()
    }

    /// The members: the first call returns them as they are, each later call as soon as they differ from those returned
    /// last.
    ///
    /// The future may be dropped at any time: the next call returns what has changed meanwhile.
    pub async fn changed(&mut self) -> Result<&BTreeSet<Text>, RecipeError> {
        loop {
            if let Some(watch) = self.watch.take() {
                session::told(&self.zk, watch).await?;
            }
            self.checkpoint();
            match self.zk.children_watch(&self.group).await {
                Ok((names, watch)) => {
                    self.watch = Some(watch);
                    let members: BTreeSet<Text> = names.into_iter().collect();
                    if self.members.as_ref() != Some(&members) {
                        return Ok(self.members.insert(members));
                    }
                }
                Err(e) => session::passing(&self.zk, e, &self.group).await?,
            }
        }
    }

    fn checkpoint(&self) {
        let mut known = vec![Local::Text(self.group.as_str()), Local::Number(self.members.is_some().into())];
        known.extend(self.members.iter().flatten().map(|name| Local::Text(name)));
        self.zk.checkpoint("roster/list", &known);
    }
}

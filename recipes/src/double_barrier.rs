//! A double barrier: a given number of members enter together and leave together.

use crate::session::{self, Lost, OnDisconnect, RecipeError};
use std::fmt;
use std::time::Duration;
use zk_api::{
    CreateMode, Data, Either, Error, ErrorCode, Local, MultiOutcome, Op, PathError, Text, Watch, ZPath,
    ZooKeeper, race,
};

/// A double barrier for rounds of work: nobody begins before `size` members are there, and nobody leaves while a member
/// of the round has not asked to. Rounds follow each other and do not mix.
///
/// Each member makes an ephemeral child of the barrier's znode. The version of that znode's data says where the barrier
/// is: even while a round gathers, odd while it runs. Members register in one transaction with a check of the version,
/// and so belong to the round that it stands for. The one whose registration completes the round sets the data. On
/// leaving, the lowest member waits for the highest; all others remove their znodes and wait for the lowest. The last
/// one removes its znode and ends the round in one transaction.
///
/// - **A member dies.** Before its round runs, it does not count once its session has ended; another must come. After
///   that, it does not keep the others from leaving. If all die, whoever comes next ends their round.
/// - **Whoever comes late** waits until the round is over, and is in the next one. More than `size` may be in a round,
///   if they come at the same time.
/// - **A lost answer.** Registration is tried again: the member's own znode tells whether it was done, and the version
///   tells to which round it belongs. A request to begin or end a round names the version, so that a late one cannot
///   affect another round.
/// - **The session is over:** [`RecipeError::SessionLost`]. For the others this is the member's death: a member whose
///   connection is lost must expect that they go on without it. [`Inside::lost`] tells it so.
/// - **Dropping** the future of [`enter`](DoubleBarrier::enter), or an [`Inside`], submits the deletion of the znode.
///   If the connection is lost just then, or the registration's outcome was unknown, it may stay, and others wait for
///   it: [`abandon`](DoubleBarrier::abandon) or the next `enter` of the same `DoubleBarrier` removes it. It ends with
///   the session in any case.
///
/// Nobody else may set the znode's data or make children of it. The guid must be unique among all members and all their
/// lives. If an administrator deletes a member's znode, this is noticed when the member's round begins or ends, not
/// before.
///
/// Entering costs one write and five reads, or two writes and four reads for the last member; leaving costs at least
/// one write and two reads. The beginning and the end of a round wake all members, as they must; one member's leaving
/// wakes one other.
///
/// ```
/// use zk_api::{ZPath, ZooKeeper};
/// use zk_recipes::{DoubleBarrier, RecipeError};
///
/// async fn round<Z: ZooKeeper>(zk: Z, parent: &ZPath, guid: &str) -> Result<(), RecipeError> {
///     let mut barrier = DoubleBarrier::new(zk, parent, guid, 3).expect("a guid is fit for a name");
///     let inside = barrier.enter().await?;
///     // At least three members are here, and work.
///     inside.leave().await // returns once all of them have asked to leave, or are dead
/// }
/// ```
///
/// # Cost
///
#[doc = include_str!("../costs/double_barrier.md")]
pub struct DoubleBarrier<Z> {
    zk: Z,
    parent: ZPath,
    own: ZPath,
    size: usize,
    /// The own znode may exist.
    left: bool,
}

impl<Z> fmt::Debug for DoubleBarrier<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DoubleBarrier { own, size, left, .. } = self;
        f.debug_struct("DoubleBarrier")
            .field("own", own)
            .field("size", size)
            .field("left", left)
            .finish_non_exhaustive()
    }
}

/// What the barrier shows.
struct View {
    /// The version that stands for the round: even while it gathers, odd while it runs.
    version: i32,
    /// The members, lowest first.
    names: Vec<Text>,
}

impl View {
    fn runs(&self) -> bool {
        self.version % 2 != 0
    }

    fn has(&self, member: &ZPath) -> bool {
        self.names.iter().any(|name| **name == *member.name())
    }
}

impl<Z: ZooKeeper> DoubleBarrier<Z> {
    /// A member of the barrier at `parent`, a znode that exists, for rounds of `size` members. Fails if the guid is
    /// empty or not fit for a znode's name.
    pub fn new(zk: Z, parent: &ZPath, guid: &str, size: usize) -> Result<DoubleBarrier<Z>, PathError> {
        session::checked_guid(guid)?;
        Ok(DoubleBarrier { zk, parent: parent.clone(), own: parent.join(guid)?, size, left: false })
    }

    /// Waits until a round runs that this member belongs to. What an earlier attempt has left behind is removed first.
    pub async fn enter(&mut self) -> Result<Inside<'_, Z>, RecipeError> {
        self.abandon().await?;
        let mut inside = Inside { barrier: self, round: 0 };
        while !inside.is_begun().await? {}
        Ok(inside)
    }

    /// As [`enter`](DoubleBarrier::enter), for at most `limit` by this client's clock. Returns `None` when the time is
    /// over: the attempt was then dropped, and [`DoubleBarrier`] says what that means for its znode.
    pub async fn enter_within(&mut self, limit: Duration) -> Result<Option<Inside<'_, Z>>, RecipeError> {
        let end = self.zk.sleep(limit);
        session::within(self.enter(), end).await
    }

    /// Removes what was left behind by an attempt that was dropped. Returns when it is known that nothing is left.
    pub async fn abandon(&mut self) -> Result<(), RecipeError> {
        while self.left {
            self.checkpoint("double-barrier/abandon", 0);
            // It comes behind whatever may still be on its way.
            self.remove().await?;
        }
        Ok(())
    }

    /// Tries to remove the own znode.
    async fn remove(&mut self) -> Result<(), RecipeError> {
        match self.zk.delete(&self.own, -1).await {
            Err(e) if e.code != ErrorCode::NoNode => self.passing(e).await,
            Ok(()) | Err(_) => {
                self.left = false;
                Ok(())
            }
        }
    }

    /// Tries to register for the round that gathers. Whether it is done the next look will tell.
    async fn register(&mut self, version: i32) -> Result<(), RecipeError> {
        self.left = true;
        let create = Op::create(self.own.text(), Data::NULL, CreateMode::Ephemeral);
        let check = Op::Check { path: self.parent.text(), version };
        match self.zk.multi(vec![check, create]).await {
            Ok(outcome) => self.outcome(&outcome),
            Err(e) => self.passing(e).await,
        }
    }

    /// Begins the round that gathers, or ends one that nobody is in any more, if that has not been done.
    async fn turn(&self, version: i32) -> Result<(), RecipeError> {
        match self.zk.set_data(&self.parent, Data::NULL, version).await {
            Err(e) if e.code != ErrorCode::BadVersion => self.passing(e).await,
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Whether the own znode is there. Fails if it is another session's.
    async fn is_own(&mut self) -> Result<bool, RecipeError> {
        match self.zk.exists(&self.own).await {
            Ok(Some(stat)) if stat.ephemeral_owner() == self.zk.session() => Ok(true),
            Ok(Some(_)) => {
                // Not to be removed by this one.
                self.left = false;
                Err(RecipeError::GuidInUse(self.own.clone()))
            }
            Ok(None) => Ok(false),
            Err(e) => self.passing(e).await.map(|()| false),
        }
    }

    /// Looks at version and members, which are of one and the same time. `None` if it could not.
    async fn look(&self, label: &'static str, round: i32) -> Result<Option<View>, RecipeError> {
        self.checkpoint(label, round);
        match self.zk.children2(&self.parent).await {
            Ok((mut names, stat)) => {
                names.sort_unstable();
                Ok(Some(View { version: stat.version(), names }))
            }
            Err(e) => self.passing(e).await.map(|()| None),
        }
    }

    /// Waits until the version is another one, or a member is gone.
    async fn wait(&self, version: i32, member: Option<&ZPath>) -> Result<(), RecipeError> {
        let turned = match self.zk.exists_watch(&self.parent).await {
            Ok((Some(stat), watch)) if stat.version() == version => watch,
            Ok(_) => return Ok(()),
            Err(e) => return self.passing(e).await,
        };
        let Some(member) = member else { return session::told(&self.zk, turned).await };
        match self.zk.exists_watch(member).await {
            Ok((None, _)) => Ok(()),
            Ok((Some(_), gone)) => session::told(&self.zk, first(turned, gone)).await,
            Err(e) => self.passing(e).await,
        }
    }

    /// Waits until a member is gone.
    async fn wait_for(&self, member: &ZPath) -> Result<(), RecipeError> {
        match self.zk.exists_watch(member).await {
            Ok((None, _)) => Ok(()),
            Ok((Some(_), gone)) => session::told(&self.zk, gone).await,
            Err(e) => self.passing(e).await,
        }
    }

    fn child(&self, name: &str) -> ZPath {
        self.parent.join(name).expect("a child's name is valid")
    }

    /// Lets pass what other members have done, or this one by a request whose answer was lost.
    fn outcome(&self, outcome: &MultiOutcome) -> Result<(), RecipeError> {
        let MultiOutcome::Failed(codes) = outcome else { return Ok(()) };
        match codes.iter().flatten().next() {
            Some(ErrorCode::BadVersion | ErrorCode::NodeExists) | None => Ok(()),
            Some(ErrorCode::NoNode) => Err(RecipeError::NoParent(self.parent.clone())),
            Some(code) => {
                Err(RecipeError::Failed(Error { code: *code, tried: "multi", path: self.own.text() }))
            }
        }
    }

    async fn passing(&self, error: Error) -> Result<(), RecipeError> {
        session::passing(&self.zk, error, &self.parent).await
    }

    fn checkpoint(&self, label: &'static str, round: i32) {
        let left = Local::Number(self.left.into());
        self.zk.checkpoint(label, &[Local::Text(self.own.as_str()), Local::Number(round.into()), left]);
    }
}

/// A member that is in a round. Dropping it leaves without waiting for the others.
#[must_use = "dropping it leaves the round"]
pub struct Inside<'a, Z: ZooKeeper> {
    barrier: &'a mut DoubleBarrier<Z>,
    /// The version that stands for the round.
    round: i32,
}

impl<Z: ZooKeeper> fmt::Debug for Inside<'_, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inside").field("own", &self.barrier.own).field("round", &self.round).finish()
    }
}

impl<Z: ZooKeeper> Inside<'_, Z> {
    /// The znode that stands for it.
    pub fn node(&self) -> &ZPath {
        &self.barrier.own
    }

    /// Resolves when the others may go on without this member: its session is over, its znode is gone, or, as `on`
    /// says, the connection is lost. Race it against the work.
    pub async fn lost(&self, on: OnDisconnect) -> Lost {
        session::node_lost(&self.barrier.zk, &self.barrier.own, on).await
    }

    /// Asks to leave, and returns when all members of the round have asked to or are dead.
    pub async fn leave(mut self) -> Result<(), RecipeError> {
        while !self.is_over().await? {}
        Ok(())
    }

    /// One look at a round to enter, and what is to be done about it.
    async fn is_begun(&mut self) -> Result<bool, RecipeError> {
        let barrier = &mut *self.barrier;
        let Some(view) = barrier.look("double-barrier/enter", 0).await? else { return Ok(false) };
        match (view.has(&barrier.own), view.runs()) {
            (true, true) => {
                self.round = view.version;
                return barrier.is_own().await;
            }
            (true, false) if view.names.len() >= barrier.size => barrier.turn(view.version).await?,
            (true, false) => barrier.wait(view.version, None).await?,
            (false, false) => barrier.register(view.version).await?,
            (false, true) => match view.names.first() {
                None => barrier.turn(view.version).await?,
                Some(lowest) => barrier.wait(view.version, Some(&barrier.child(lowest))).await?,
            },
        }
        Ok(false)
    }

    /// One look at the round to leave, and what is to be done about it.
    async fn is_over(&mut self) -> Result<bool, RecipeError> {
        let barrier = &mut *self.barrier;
        let Some(view) = barrier.look("double-barrier/leave", self.round).await? else { return Ok(false) };
        let has_own = view.has(&barrier.own);
        barrier.left &= has_own;
        if view.version != self.round {
            // Nobody ends a round that a member is in; an administrator may have.
            barrier.abandon().await?;
            return Ok(true);
        }
        match &*view.names {
            [] => return Ok(true),
            [_] if has_own => self.end().await?,
            [lowest, .., highest] if **lowest == *barrier.own.name() => {
                let highest = barrier.child(highest);
                barrier.wait_for(&highest).await?;
            }
            [lowest, ..] => {
                let lowest = barrier.child(lowest);
                if has_own {
                    barrier.remove().await?;
                }
                if !barrier.left {
                    barrier.wait_for(&lowest).await?;
                }
            }
        }
        Ok(false)
    }

    /// As the last one: removes the own znode, and ends the round with it.
    async fn end(&self) -> Result<(), RecipeError> {
        let barrier = &*self.barrier;
        let gone = Op::Delete { path: barrier.own.text(), version: -1 };
        let turn = Op::SetData { path: barrier.parent.text(), data: Data::NULL, version: self.round };
        match barrier.zk.multi(vec![gone, turn]).await {
            // Gone: by an administrator's hand, or by an earlier try.
            Ok(MultiOutcome::Failed(codes)) if codes.first() == Some(&Some(ErrorCode::NoNode)) => Ok(()),
            Ok(outcome) => barrier.outcome(&outcome),
            Err(e) => barrier.passing(e).await,
        }
    }
}

impl<Z: ZooKeeper> Drop for Inside<'_, Z> {
    fn drop(&mut self) {
        if self.barrier.left && !self.barrier.zk.state().is_final() {
            // On its way once it is submitted; nobody waits for the answer.
            drop(self.barrier.zk.delete(&self.barrier.own, -1));
        }
    }
}

/// The first event of two watches.
fn first(one: Watch, other: Watch) -> Watch {
    Watch::boxed(async move {
        match race(one, other).await {
            Either::Left(event) | Either::Right(event) => event,
        }
    })
}

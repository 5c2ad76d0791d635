//! A queue of persistent items, with priorities: nothing is lost, and no two consumers have the same item.
//!
//! ```
//! use zk_api::{ZPath, ZooKeeper};
//! use zk_recipes::RecipeError;
//! use zk_recipes::queue::{Consumer, Delivery, Producer, lay_out};
//!
//! async fn produce<Z: ZooKeeper>(zk: Z, queue: &ZPath, guid: &str) -> Result<(), RecipeError> {
//!     lay_out(&zk, queue).await?;
//!     let mut producer = Producer::new(zk, queue, guid).expect("a guid is fit for a name");
//!     producer.put("whenever".into(), 9).await?;
//!     producer.put("at once".into(), 0).await?; // is taken first
//!     producer.close().await
//! }
//!
//! async fn consume<Z: ZooKeeper + Clone>(zk: Z, queue: &ZPath, guid: &str) -> Result<(), RecipeError> {
//!     let mut consumer = Consumer::new(zk, queue, guid).expect("a guid is fit for a name");
//!     let item = consumer.take(Delivery::AtLeastOnce).await?;
//!     // Works off item.data(). If it dies before it is done, another consumer gets the item.
//!     item.done().await
//! }
//! ```

use crate::line::{Line, next_lower};
use crate::session::{self, Lost, OnDisconnect, RecipeError};
use std::fmt;
use zk_api::{
    CreateMode, Data, Error, ErrorCode, Local, Locals, MultiOutcome, Op, Outcome, PathError, TellsLocals,
    Text, ZPath, ZooKeeper,
};

/// How important an item is: lower is taken first, and those of one priority in the order in which they were put.
pub type Priority = u16;

/// What becomes of an item whose taker dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Delivery {
    /// It is removed before it is given to the taker: if the taker dies, it may be lost.
    AtMostOnce,
    /// It is removed by [`Taken::done`]: if the taker's session ends before that, another gets it.
    AtLeastOnce,
}

/// Where the parts of a queue are.
#[derive(Clone, Debug)]
struct Places {
    /// Items, and the claims to them.
    items: ZPath,
    /// Consumers that wait.
    takers: ZPath,
    /// One znode for each producer.
    putters: ZPath,
}

impl Places {
    fn of(parent: &ZPath) -> Places {
        let child = |name| parent.join(name).expect("a name is valid");
        Places { items: child("items"), takers: child("takers"), putters: child("putters") }
    }
}

/// Makes the znodes of a queue below `parent`, which exists, unless they are there.
pub async fn lay_out(zk: &impl ZooKeeper, parent: &ZPath) -> Result<(), RecipeError> {
    let places = Places::of(parent);
    for place in [&places.items, &places.takers, &places.putters] {
        loop {
            zk.checkpoint("queue/lay-out", &[Local::Text(place.as_str())]);
            match zk.create(place, Data::NULL, CreateMode::Persistent).await {
                Ok(_) => break,
                Err(e) if e.code == ErrorCode::NodeExists => break,
                Err(e) => session::passing(zk, e, parent).await?,
            }
        }
    }
    Ok(())
}

/// Puts items into a queue: each once, and to stay.
///
/// A producer has an ephemeral znode of its own. Each item is created together with a change of that znode's data, by
/// version: a put whose answer was lost is tried again, and the version tells whether it was done. So nothing is put
/// twice, even if the item was taken long before.
///
/// - **The session is over:** [`RecipeError::SessionLost`]; the item may have been put, or not. Items stay.
/// - **Dropping** the future of [`put`](Producer::put) leaves it open whether the item was put. The next put begins
///   with a new znode.
/// - **An administrator** who deletes the producer's znode while a put's answer is lost makes the put fail: nobody
///   can say what became of it.
///
/// The guid must be unique among all producers and all their lives. A put costs one write.
///
/// # Cost
///
#[doc = include_str!("../costs/queue.md")]
pub struct Producer<Z: ZooKeeper> {
    zk: Z,
    places: Places,
    own: ZPath,
    /// The version of the own znode, if that is known for certain.
    version: Option<i32>,
    /// The own znode may exist.
    left: bool,
}

impl<Z: ZooKeeper> fmt::Debug for Producer<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer")
            .field("own", &self.own)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl<Z: ZooKeeper> Producer<Z> {
    /// A producer for the queue at `parent`, which is [laid out](lay_out). Fails if the guid is empty or not fit for a
    /// znode's name.
    pub fn new(zk: Z, parent: &ZPath, guid: &str) -> Result<Producer<Z>, PathError> {
        session::checked_guid(guid)?;
        let places = Places::of(parent);
        let own = places.putters.join(guid)?;
        Ok(Producer { zk, places, own, version: None, left: false })
    }

    /// Puts an item, and returns when it is known to be there, or to have been there.
    pub async fn put(&mut self, data: Data, priority: Priority) -> Result<(), RecipeError> {
        let prefix = self.places.items.join(&format!("{ITEM}{priority:05}-")).expect("a name is valid");
        let (mut version, mut unsure) = (self.version.take(), false);
        loop {
            let told = version.map_or(Local::Text("none"), |version| Local::Number(version.into()));
            let left = Local::Number(self.left.into());
            let payload = String::from_utf8_lossy(data.bytes()).into_owned();
            let locals = [self.own.as_str(), prefix.as_str(), &payload].map(Local::Text);
            let all = [locals.as_slice(), &[told, left, Local::Number(unsure.into())]].concat();
            self.zk.checkpoint("queue/put", &all);
            let Some(at) = version.filter(|version| *version < i32::MAX) else {
                version = self.mark().await?;
                continue;
            };
            let mark = Op::SetData { path: self.own.text(), data: Data::NULL, version: at };
            let item = Op::create(prefix.text(), data.clone(), CreateMode::PersistentSequential);
            match self.zk.multi(vec![mark, item]).await {
                Ok(MultiOutcome::Applied(_)) => break,
                Ok(MultiOutcome::Failed(codes)) => match (codes.first().copied().flatten(), unsure) {
                    // Nobody else sets it: an earlier try was applied.
                    (Some(ErrorCode::BadVersion), true) => break,
                    (Some(ErrorCode::NoNode), false) => version = None,
                    (Some(code), _) => return Err(self.failed(code, &self.own)),
                    (None, _) => return Err(self.refused(&codes, &prefix)),
                },
                Err(e) => {
                    unsure |= e.outcome() == Outcome::Unknown;
                    session::passing(&self.zk, e, &self.places.putters).await?;
                }
            }
        }
        self.version = version.map(|version| version + 1);
        Ok(())
    }

    /// Removes the producer's own znode, and returns when it is known to be gone.
    pub async fn close(mut self) -> Result<(), RecipeError> {
        while self.left {
            self.zk.checkpoint("queue/close", &[Local::Text(self.own.as_str())]);
            self.unmark().await?;
        }
        Ok(())
    }

    /// Tries to make the own znode anew; gives its version. What was on its way before comes too late then.
    async fn mark(&mut self) -> Result<Option<i32>, RecipeError> {
        if self.left {
            self.unmark().await?;
            return Ok(None);
        }
        self.left = true;
        match self.zk.create(&self.own, Data::NULL, CreateMode::Ephemeral).await {
            Ok(_) => Ok(Some(0)),
            Err(e) if e.code == ErrorCode::NodeExists => {
                self.left = false;
                Err(RecipeError::GuidInUse(self.own.clone()))
            }
            Err(e) => session::passing(&self.zk, e, &self.places.putters).await.map(|()| None),
        }
    }

    async fn unmark(&mut self) -> Result<(), RecipeError> {
        match self.zk.delete(&self.own, -1).await {
            Err(e) if e.code != ErrorCode::NoNode => {
                session::passing(&self.zk, e, &self.places.putters).await
            }
            Ok(()) | Err(_) => {
                self.left = false;
                Ok(())
            }
        }
    }

    fn refused(&self, codes: &[Option<ErrorCode>], prefix: &ZPath) -> RecipeError {
        match codes.get(1).copied().flatten() {
            Some(ErrorCode::NoNode) => RecipeError::NoParent(self.places.items.clone()),
            Some(ErrorCode::NodeExists) => RecipeError::Exhausted(prefix.clone()),
            code => self.failed(code.unwrap_or(ErrorCode::SystemError), prefix),
        }
    }

    fn failed(&self, code: ErrorCode, path: &ZPath) -> RecipeError {
        RecipeError::Failed(Error { code, tried: "multi", path: path.text() })
    }
}

impl<Z: ZooKeeper> Drop for Producer<Z> {
    fn drop(&mut self) {
        if self.left && !self.zk.state().is_final() {
            drop(self.zk.delete(&self.own, -1));
        }
    }
}

/// What the names of items begin with; the priority and the number follow.
const ITEM: &str = "item-";
/// What the names of claims begin with; the item's name follows. Claims are siblings of the items.
pub const CLAIM: &str = "claim-of-";

/// Takes items from a queue, one at a time.
///
/// Consumers stand in line, and the first one alone watches the items: a put wakes one, however many wait. It claims
/// the first item that nobody has claimed, by an ephemeral znode that is made together with a check that the item is
/// there still, and leaves the line. Item and claim are removed in one transaction.
///
/// - **Whose item it is.** While the claim's session lives, nobody else can claim the item. [`Delivery`] says what
///   becomes of it otherwise. A taker whose session has ended may not know it yet: [`Taken::lost`] tells.
/// - **A lost answer.** A claim is known by its owner. A removal is tried again: while the session lives, nobody else
///   can have removed the claim.
/// - **Order.** A take claims the first of the items that nobody had claimed when the list was made, which is not older
///   than the call. A more important item that comes between the list and the claim is taken next. An item that comes
///   back after its taker's death is in its old place.
/// - **The session is over:** [`RecipeError::SessionLost`].
/// - **Dropping** the future of [`take`](Consumer::take), or a [`Taken`] that is not done, submits the claim's
///   deletion. If that is lost the claim may stay, and the item with it: [`abandon`](Consumer::abandon) or the next
///   `take` of the same `Consumer` removes it. It ends with the session in any case. With [`Delivery::AtMostOnce`], an
///   item may be lost if the future is dropped while it is removed.
///
/// An uncontended take costs four writes and four reads. The number of items and claims ever made is bounded by the
/// parent's counter, 2^31 - 1: beyond that, a put fails with [`RecipeError::Exhausted`].
pub struct Consumer<Z> {
    zk: Z,
    places: Places,
    line: Line<TellsLocals<Z>>,
    /// What is alive while a place in line is given up.
    alive: Locals,
    /// A claim that may be this session's.
    claim: Option<ZPath>,
}

impl<Z> fmt::Debug for Consumer<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer")
            .field("line", &self.line)
            .field("claim", &self.claim)
            .finish_non_exhaustive()
    }
}

impl<Z: ZooKeeper + Clone> Consumer<Z> {
    /// A consumer of the queue at `parent`, which is [laid out](lay_out). The guid must be unique among all consumers
    /// and all their lives. Fails if it is empty or not fit for a znode's name.
    pub fn new(zk: Z, parent: &ZPath, guid: &str) -> Result<Consumer<Z>, PathError> {
        let places = Places::of(parent);
        let alive = Locals::default();
        let line = Line::new(alive.told_by(zk.clone()), &places.takers, guid, &["taker"])?;
        Ok(Consumer { zk, places, line, claim: None, alive })
    }

    /// Waits for an item. What an earlier attempt has left behind is removed first.
    pub async fn take(&mut self, delivery: Delivery) -> Result<Taken<'_, Z>, RecipeError> {
        self.alive.set(&[]);
        self.abandon().await?;
        let Consumer { zk, places, line, claim, alive } = self;
        let turn = line.stand("taker").await?.turn(next_lower).await?;
        let (item, data) = (places.items.clone(), Data::NULL);
        let mut taken = Taken { zk: zk.clone(), places: places.clone(), claim, is_sure: false, item, data };
        let place = turn.node().clone();
        while !taken.look(&place).await? {}
        let data = String::from_utf8_lossy(taken.data.bytes());
        alive.set(&[Local::Text(taken.item.as_str()), Local::Text(&data)]);
        turn.release().await?;
        alive.set(&[]);
        match delivery {
            Delivery::AtMostOnce => taken.remove().await?,
            Delivery::AtLeastOnce => {}
        }
        Ok(taken)
    }

    /// Removes a claim and a place in line that were left behind by an attempt that was dropped. Returns when it is
    /// known that nothing is left.
    pub async fn abandon(&mut self) -> Result<(), RecipeError> {
        while let Some(claim) = self.claim.clone() {
            self.zk.checkpoint("queue/abandon", &[Local::Text(claim.as_str())]);
            unclaim(&self.zk, &self.places, &mut self.claim).await?;
        }
        self.line.abandon().await
    }
}

/// Tries to remove a claim, if it is this session's.
async fn unclaim<Z: ZooKeeper>(
    zk: &Z,
    places: &Places,
    claim: &mut Option<ZPath>,
) -> Result<(), RecipeError> {
    let Some(path) = claim.clone() else { return Ok(()) };
    // What is on its way still is decided before it; and while this session lives, its own claim stays its own.
    let (ordered, seen) = (session::ordered(zk, &path), zk.exists(&path));
    let answers = (ordered.await, seen.await);
    let ours = match answers {
        (Ok(_), Ok(stat)) => stat.is_some_and(|stat| stat.ephemeral_owner() == zk.session()),
        (Err(e), _) | (_, Err(e)) => return session::passing(zk, e, &places.items).await,
    };
    match if ours { zk.delete(&path, -1).await } else { Ok(()) } {
        Err(e) if e.code != ErrorCode::NoNode => session::passing(zk, e, &places.items).await,
        Ok(()) | Err(_) => {
            *claim = None;
            Ok(())
        }
    }
}

/// An item that was taken. Dropping it before it is done gives it back without making sure that another can have it.
#[must_use = "dropping it gives the item back"]
pub struct Taken<'a, Z: ZooKeeper> {
    zk: Z,
    places: Places,
    claim: &'a mut Option<ZPath>,
    /// The claim is known to be this session's.
    is_sure: bool,
    item: ZPath,
    data: Data,
}

impl<Z: ZooKeeper> fmt::Debug for Taken<'_, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Taken { item, claim, .. } = self;
        f.debug_struct("Taken").field("item", item).field("claim", claim).finish_non_exhaustive()
    }
}

impl<Z: ZooKeeper> Taken<'_, Z> {
    /// The item's znode. With [`Delivery::AtMostOnce`] it is gone already.
    pub fn item(&self) -> &ZPath {
        &self.item
    }

    /// What was put.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Removes the item, and returns when it is known to be gone. For an item that was removed before it was given,
    /// there is nothing left to do.
    ///
    /// Fails if the session is over: then another has the item, or will have it, unless the removal was in time.
    pub async fn done(mut self) -> Result<(), RecipeError> {
        self.remove().await
    }

    /// Gives the item back, and returns when it is known that another can have it.
    pub async fn give_back(self) -> Result<(), RecipeError> {
        while let Some(claim) = self.claim.clone() {
            self.zk.checkpoint("queue/give-back", &[Local::Text(claim.as_str())]);
            unclaim(&self.zk, &self.places, self.claim).await?;
        }
        Ok(())
    }

    /// Resolves when another may have the item: the session is over, the claim is gone, or, as `on` says, the
    /// connection is lost. It never resolves if the item was removed before it was given. Race it against the work.
    pub async fn lost(&self, on: OnDisconnect) -> Lost {
        match &*self.claim {
            Some(claim) => session::node_lost(&self.zk, claim, on).await,
            None => std::future::pending().await,
        }
    }

    /// One look at the items, and what is to be done about it. Tells whether one was claimed and read. `place` is that
    /// in line, which is held meanwhile.
    async fn look(&mut self, place: &ZPath) -> Result<bool, RecipeError> {
        let claim = self.claim.clone();
        let told = claim.as_ref().map_or("", |claim| claim.as_str());
        self.zk.checkpoint("queue/look", &[Local::Text(place.as_str()), Local::Text(told)]);
        // A watch is used up by this one's own claim. Where that may be there already, a watch would outlive the look,
        // and wake this one beside the next in line.
        let listed = match claim {
            Some(_) => self.zk.children(&self.places.items).await.map(|names| (names, None)),
            None => {
                let listed = self.zk.children_watch(&self.places.items).await;
                listed.map(|(names, changed)| (names, Some(changed)))
            }
        };
        let (names, changed) = match listed {
            Ok(answer) => answer,
            Err(e) => return self.passing(e).await.map(|()| false),
        };
        let is_mine = |claim_of: &str| claim.as_ref().is_some_and(|claim| claim.name() == claim_of);
        let free = in_order(&names).into_iter().find_map(|item| {
            let claim_of = format!("{CLAIM}{item}");
            let claimed = names.iter().any(|name| **name == *claim_of);
            (!claimed || is_mine(&claim_of)).then(|| (item.to_owned(), claim_of, claimed))
        });
        let Some((item, claim_of, claimed)) = free else {
            match changed {
                Some(changed) => session::told(&self.zk, changed).await?,
                None => unclaim(&self.zk, &self.places, self.claim).await?,
            }
            return Ok(false);
        };
        if claim.is_some() && !is_mine(&claim_of) {
            unclaim(&self.zk, &self.places, self.claim).await?;
            return Ok(false);
        }
        self.item = self.places.items.join(&item).expect("a child's name is valid");
        let claim = self.places.items.join(&claim_of).expect("a name is valid");
        let ours = if claimed { self.is_ours(&claim).await? } else { self.make(&claim).await? };
        Ok(ours && self.read(place).await?)
    }

    /// Tries to make the claim, if the item is there still.
    async fn make(&mut self, claim: &ZPath) -> Result<bool, RecipeError> {
        *self.claim = Some(claim.clone());
        let check = Op::Check { path: self.item.text(), version: -1 };
        let create = Op::create(claim.text(), Data::NULL, CreateMode::Ephemeral);
        match self.zk.multi(vec![check, create]).await {
            Ok(MultiOutcome::Applied(_)) => Ok(true),
            Ok(MultiOutcome::Failed(codes)) => match codes.iter().copied().flatten().next() {
                // Whose it is the next look will tell.
                Some(ErrorCode::NodeExists) => Ok(false),
                Some(ErrorCode::NoNode) | None => {
                    *self.claim = None;
                    Ok(false)
                }
                Some(code) => Err(self.failed(code, claim)),
            },
            Err(e) => self.passing(e).await.map(|()| false),
        }
    }

    async fn is_ours(&mut self, claim: &ZPath) -> Result<bool, RecipeError> {
        match self.zk.exists(claim).await {
            Ok(Some(stat)) if stat.ephemeral_owner() == self.zk.session() => Ok(true),
            Ok(_) => {
                *self.claim = None;
                Ok(false)
            }
            Err(e) => self.passing(e).await.map(|()| false),
        }
    }

    /// Reads the item that was claimed. `false` if it is gone all the same, by an administrator's hand.
    async fn read(&mut self, place: &ZPath) -> Result<bool, RecipeError> {
        self.is_sure = true;
        loop {
            let claim = self.claim.as_ref().map_or("", |claim| claim.as_str());
            let locals = [place.as_str(), self.item.as_str(), claim].map(Local::Text);
            self.zk.checkpoint("queue/read", &locals);
            match self.zk.data(&self.item).await {
                Ok((data, _)) => {
                    self.data = data;
                    return Ok(true);
                }
                Err(e) if e.code == ErrorCode::NoNode => {
                    self.is_sure = false;
                    unclaim(&self.zk, &self.places, self.claim).await?;
                    return Ok(false);
                }
                Err(e) => self.passing(e).await?,
            }
        }
    }

    /// Removes item and claim together.
    async fn remove(&mut self) -> Result<(), RecipeError> {
        let mut unsure = false;
        while let Some(claim) = self.claim.clone() {
            let payload = String::from_utf8_lossy(self.data.bytes()).into_owned();
            let texts = [self.item.as_str(), claim.as_str(), &payload].map(Local::Text);
            self.zk.checkpoint("queue/remove", &[texts.as_slice(), &[Local::Number(unsure.into())]].concat());
            let gone = |path: &ZPath| Op::Delete { path: path.text(), version: -1 };
            match self.zk.multi(vec![gone(&claim), gone(&self.item)]).await {
                Ok(MultiOutcome::Applied(_)) => *self.claim = None,
                Ok(MultiOutcome::Failed(codes)) => match (codes.first().copied().flatten(), unsure) {
                    // Nobody else removes it: an earlier try was applied.
                    (Some(ErrorCode::NoNode), true) => *self.claim = None,
                    (Some(code), _) => return Err(self.failed(code, &claim)),
                    // The item is gone by an administrator's hand. So will the claim be by this one's, answered or not.
                    (None, _) => {
                        unsure = true;
                        unclaim(&self.zk, &self.places, self.claim).await?;
                    }
                },
                Err(e) => {
                    unsure |= e.outcome() == Outcome::Unknown;
                    self.passing(e).await?;
                }
            }
        }
        Ok(())
    }

    fn failed(&self, code: ErrorCode, path: &ZPath) -> RecipeError {
        RecipeError::Failed(Error { code, tried: "multi", path: path.text() })
    }

    async fn passing(&self, error: Error) -> Result<(), RecipeError> {
        session::passing(&self.zk, error, &self.places.items).await
    }
}

impl<Z: ZooKeeper> Drop for Taken<'_, Z> {
    fn drop(&mut self) {
        if self.is_sure
            && !self.zk.state().is_final()
            && let Some(claim) = &*self.claim
        {
            // On its way once it is submitted; nobody waits for the answer.
            drop(self.zk.delete(claim, -1));
        }
    }
}

/// The names of the items among the children, the first to be taken first: their names sort so.
fn in_order(names: &[Text]) -> Vec<&str> {
    let mut items: Vec<&str> =
        names.iter().map(|name| &**name).filter(|name| name.starts_with(ITEM)).collect();
    items.sort_unstable();
    items
}

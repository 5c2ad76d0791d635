//! Standing in line: an ephemeral sequential znode with a guid, and waiting for those before it.
//!
//! Locks, shared locks and elections are all of this shape. They differ in whom a contender waits for. The hard parts
//! are done here: a create whose answer was lost, a list that is older than the create, a znode that would outlive its
//! attempt.
//!
//! ```
//! use zk_api::{ZPath, ZooKeeper};
//! use zk_recipes::RecipeError;
//! use zk_recipes::line::{Line, next_lower};
//!
//! /// Does something while nobody else does. `guid` is unlike any other.
//! async fn alone<Z: ZooKeeper>(zk: Z, parent: &ZPath, guid: &str) -> Result<(), RecipeError> {
//!     let mut line = Line::new(zk, parent, guid, &["lock"]).expect("a guid is fit for a name");
//!     let held = line.stand("lock").await?.turn(next_lower).await?;
//!     // held.token() is higher than any holder's before.
//!     held.release().await
//! }
//! ```

use crate::names::{self, Contender};
use crate::revoke::{self, Revoked};
use crate::session::{self, Lost, OnDisconnect, RecipeError};
use std::fmt;
use std::future::Future;
use zk_api::{
    CreateMode, Data, Error, ErrorCode, Local, MultiOutcome, Op, PathError, Text, ZPath, ZooKeeper, Zxid,
};

/// Whom a contender waits for: an index into all contenders in order, given its own.
pub type Rule = fn(&[Contender<'_>], usize) -> Option<usize>;

/// Waits for the contender directly before.
pub fn next_lower(_all: &[Contender<'_>], own: usize) -> Option<usize> {
    own.checked_sub(1)
}

/// One contender at a time among the children of a znode.
pub struct Line<Z> {
    pub(crate) zk: Z,
    pub(crate) parent: ZPath,
    guid: Text,
    /// The kinds that stand in this line; others are not seen.
    kinds: &'static [&'static str],
    /// A znode with the guid may exist.
    left: bool,
}

impl<Z> fmt::Debug for Line<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line { parent, guid, left, .. } = self;
        f.debug_struct("Line")
            .field("parent", parent)
            .field("guid", guid)
            .field("left", left)
            .finish_non_exhaustive()
    }
}

impl<Z: ZooKeeper> Line<Z> {
    /// A contender in the line below `parent`. Fails if the guid is empty or not fit for a znode's name.
    pub fn new(
        zk: Z,
        parent: &ZPath,
        guid: &str,
        kinds: &'static [&'static str],
    ) -> Result<Line<Z>, PathError> {
        session::checked_guid(guid)?;
        parent.join(guid)?;
        Ok(Line { zk, parent: parent.clone(), guid: guid.into(), kinds, left: false })
    }

    /// Begins an attempt of a kind with a znode. What an earlier attempt has left behind is removed first. Fails if the
    /// session is over or the parent does not exist.
    pub async fn stand(&mut self, kind: &'static str) -> Result<Place<'_, Z>, RecipeError> {
        // Not gone on with: its deletion may be on its way, and would take the place from its holder.
        self.abandon().await?;
        let prefix = self.child(&format!("{}-{kind}-", self.guid));
        let mut place = Place { line: self, prefix, node: None, next: None };
        place.create().await?;
        Ok(place)
    }

    /// Removes what an attempt that was dropped has left behind. Returns when it is known that nothing is left.
    pub async fn abandon(&mut self) -> Result<(), RecipeError> {
        while self.left {
            self.zk.checkpoint("line/abandon", &[Local::Text(self.parent.as_str()), Local::Text(&self.guid)]);
            // A create or delete of an earlier connection may be on its way still; a place in the order comes behind
            // it.
            let (ordered, listed) =
                (session::ordered(&self.zk, &self.parent), self.zk.children(&self.parent));
            let names = match (ordered.await, listed.await) {
                (Ok(_), Ok(names)) => names,
                (Ok(_), Err(e)) if e.code == ErrorCode::NoNode => Vec::new(),
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
    pub(crate) async fn contenders(&self) -> Result<Vec<ZPath>, Error> {
        let names = self.zk.children(&self.parent).await?;
        Ok(self.in_order(&names).iter().map(|c| self.child(c.name)).collect())
    }

    fn child(&self, name: &str) -> ZPath {
        self.parent.join(name).expect("a child's name is valid, and so was the guid")
    }

    fn in_order<'a>(&self, names: &'a [Text]) -> Vec<Contender<'a>> {
        names::in_order(names, self.kinds)
    }

    /// Those of this guid, first come first.
    fn mine<'a>(&self, names: &'a [Text]) -> Vec<Contender<'a>> {
        self.in_order(names).into_iter().filter(|c| c.guid() == &*self.guid).collect()
    }

    async fn passing(&self, error: Error) -> Result<(), RecipeError> {
        session::passing(&self.zk, error, &self.parent).await
    }

    /// Reads a znode with the own guid: its creation's zxid, or `None` if it is not there or the answer was
    /// lost. Fails if it is another session's.
    async fn check(&self, node: &ZPath) -> Result<Option<Zxid>, RecipeError> {
        match self.zk.exists(node).await {
            Ok(Some(stat)) if stat.ephemeral_owner() == self.zk.session() => Ok(Some(stat.czxid())),
            Ok(Some(_)) => Err(RecipeError::GuidInUse(node.clone())),
            Ok(None) => Ok(None),
            Err(e) => self.passing(e).await.map(|()| None),
        }
    }

    /// Tries to remove a znode with the own guid. It may be there still; the next list will tell.
    async fn remove(&self, node: &ZPath) -> Result<(), RecipeError> {
        if self.check(node).await?.is_none() {
            return Ok(());
        }
        match self.zk.delete(node, -1).await {
            Err(e) if e.code != ErrorCode::NoNode => self.passing(e).await,
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// An attempt, and the znode that must not outlive it: dropping it submits the znode's deletion.
pub struct Place<'a, Z: ZooKeeper> {
    line: &'a mut Line<Z>,
    /// The path that creates are tried with; the number comes behind it.
    prefix: ZPath,
    /// Known to be this session's, so that it may be deleted blindly: nobody else's can have this path.
    node: Option<ZPath>,
    /// What the znode is just becoming.
    next: Option<ZPath>,
}

/// What a look at the line has shown.
enum Look {
    /// Nobody is waited for; the own znode was checked, and this is its creation's zxid.
    Free(Zxid),
    /// This znode is waited for.
    Behind(ZPath),
    /// It must look again.
    Again,
}

impl<'a, Z: ZooKeeper> Place<'a, Z> {
    /// Tries to create the znode. Whether it is there the next list will tell.
    async fn create(&mut self) -> Result<(), RecipeError> {
        self.line.left = true;
        let line = &*self.line;
        match line.zk.create(&self.prefix, Data::NULL, CreateMode::EphemeralSequential).await {
            Ok(path) => {
                self.node = Some(ZPath::parse(&path).expect("a server gives valid paths"));
                Ok(())
            }
            Err(e) => line.passing(e).await,
        }
    }

    /// Waits until the rule names nobody to wait for. Fails as [`Lock::acquire`](crate::Lock::acquire) does.
    pub async fn turn(mut self, rule: Rule) -> Result<Held<'a, Z>, RecipeError> {
        loop {
            match self.look(rule).await? {
                Look::Free(token) => return Ok(Held { place: self, token }),
                Look::Behind(node) => self.wait_for(&node).await?,
                Look::Again => {}
            }
        }
    }

    /// As [`turn`](Place::turn), if there is nobody to wait for now. Otherwise it returns `None`, and the znode is
    /// known to be gone.
    pub async fn turn_now(mut self, rule: Rule) -> Result<Option<Held<'a, Z>>, RecipeError> {
        loop {
            match self.look(rule).await? {
                Look::Free(token) => return Ok(Some(Held { place: self, token })),
                Look::Behind(_) => return self.leave("line/give-up").await.map(|()| None),
                Look::Again => {}
            }
        }
    }

    /// Looks where the own znode stands, and makes one if there is none.
    async fn look(&mut self, rule: Rule) -> Result<Look, RecipeError> {
        self.checkpoint("line/list", None);
        // A create of an earlier connection may be on its way still, or not show yet; a place in the order comes behind
        // it. Without one a second znode could turn up after the last look, and outlive the attempt.
        let ordered = self.node.is_none().then(|| session::ordered(&self.line.zk, &self.line.parent));
        let listed = self.line.zk.children(&self.line.parent);
        let decided = match ordered {
            Some(ordered) => ordered.await,
            None => Ok(true),
        };
        let names = match (decided, listed.await) {
            (Ok(_), Ok(names)) => names,
            (Err(e), _) | (_, Err(e)) => {
                self.line.passing(e).await?;
                return Ok(Look::Again);
            }
        };
        match *self.line.mine(&names) {
            [] => {
                self.node = None;
                self.create().await?;
                Ok(Look::Again)
            }
            [own] => {
                let all = self.line.in_order(&names);
                let at = all.iter().position(|c| *c == own).expect("it is one of them");
                let before = rule(&all, at).map(|before| self.line.child(all[before].name));
                self.claim(own, before).await
            }
            [_, extra, ..] => {
                self.line.remove(&self.line.child(extra.name)).await?;
                Ok(Look::Again)
            }
        }
    }

    /// Checks the own znode where it matters: before anything is granted by it, and if no answer has named it.
    async fn claim(&mut self, own: Contender<'_>, before: Option<ZPath>) -> Result<Look, RecipeError> {
        let node = self.line.child(own.name);
        let known = self.node.as_ref() == Some(&node);
        if before.is_none() || !known {
            if known {
                self.checkpoint("line/claim", None);
            }
            let Some(token) = self.line.check(&node).await? else { return Ok(Look::Again) };
            self.node = Some(node.clone());
            if own.sequence == i32::MAX {
                return Err(RecipeError::Exhausted(node));
            }
            if before.is_none() {
                return Ok(Look::Free(token));
            }
        }
        Ok(before.map_or(Look::Again, Look::Behind))
    }

    /// Waits until something happens to the znode before, or to the connection.
    async fn wait_for(&mut self, before: &ZPath) -> Result<(), RecipeError> {
        self.checkpoint("line/watch", Some(before));
        let zk = &self.line.zk;
        match zk.exists_watch(before).await {
            Ok((None, _)) => Ok(()),
            // Whatever it is, the list tells what to make of it: a watch fires once, and for more than deletion.
            Ok((Some(_), watch)) => session::told(zk, watch).await,
            Err(e) => self.line.passing(e).await,
        }
    }

    /// Removes the znode, and returns when it is known to be gone. `why` tells checkpoints, as what follows differs.
    async fn leave(mut self, why: &'static str) -> Result<(), RecipeError> {
        while let Some(node) = self.node.clone() {
            self.checkpoint(why, None);
            match self.line.zk.delete(&node, -1).await {
                Err(e) if e.code != ErrorCode::NoNode => self.line.passing(e).await?,
                Ok(()) | Err(_) => {
                    self.node = None;
                    self.line.left = false;
                }
            }
        }
        Ok(())
    }

    /// The token is alive while the znode becomes another.
    fn become_checkpoint(&self, label: &'static str, token: Zxid) {
        let text = |path: &Option<ZPath>| path.as_ref().map_or(String::new(), |p| p.as_str().to_owned());
        let (own, next) = (text(&self.node), text(&self.next));
        let locals = [Local::Text(&own), Local::Text(&next), Local::Zxid(token)];
        self.line.zk.checkpoint(label, &locals);
    }

    fn checkpoint(&self, label: &'static str, before: Option<&ZPath>) {
        let text = |path: Option<&'_ ZPath>| path.map_or(String::new(), |p| p.as_str().to_owned());
        let (own, before) = (text(self.node.as_ref()), text(before));
        let locals = [self.prefix.as_str(), &own, &before].map(Local::Text);
        self.line.zk.checkpoint(label, &locals);
    }
}

impl<Z: ZooKeeper> Drop for Place<'_, Z> {
    fn drop(&mut self) {
        for node in [self.node.take(), self.next.take()].into_iter().flatten() {
            if !self.line.zk.state().is_final() {
                // On its way once it is submitted; nobody waits for the answer.
                drop(self.line.zk.delete(&node, -1));
            }
        }
    }
}

/// What a contender waited for, now held. Dropping it releases it without making sure that it is released.
#[must_use = "dropping it gives away what is held"]
pub struct Held<'a, Z: ZooKeeper> {
    place: Place<'a, Z>,
    token: Zxid,
}

impl<Z: ZooKeeper> fmt::Debug for Held<'_, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held")
            .field("node", &self.place.node)
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}

impl<'a, Z: ZooKeeper> Held<'a, Z> {
    /// The fencing token: higher than that of every earlier holder.
    pub fn token(&self) -> Zxid {
        self.token
    }

    /// Where it stands in line, with the session.
    pub(crate) fn line(&self) -> &Line<Z> {
        self.place.line
    }

    /// The znode that stands for it.
    pub fn node(&self) -> &ZPath {
        self.place.node.as_ref().expect("a holder knows its znode")
    }

    /// Gives it back, and returns when it is known that the znode is gone.
    ///
    /// A lost answer does no harm: the path is this attempt's alone, so the deletion is tried again until it succeeds
    /// or finds nothing. Fails if the session is over: another may then have held it for a while.
    pub async fn release(self) -> Result<(), RecipeError> {
        self.place.leave("line/release").await
    }

    /// Goes on as another kind with the same number, by one transaction. The token stays.
    ///
    /// An answer that was lost is looked up: the new znode's path can only be this attempt's.
    pub(crate) async fn become_kind(
        mut self,
        from: &'static str,
        to: &'static str,
    ) -> Result<Held<'a, Z>, RecipeError> {
        let old = self.node().clone();
        let number = old.name().rsplit_once(&format!("-{from}-")).map(|(_, number)| number.to_owned());
        let number = number.expect("the own znode is of this kind");
        let new = self.place.line.child(&format!("{}-{to}-{number}", self.place.line.guid));
        self.place.next = Some(new.clone());
        loop {
            self.place.become_checkpoint("line/become", self.token);
            let create = Op::create(new.text(), Data::NULL, CreateMode::Ephemeral);
            let delete = Op::Delete { path: old.text(), version: -1 };
            match self.place.line.zk.multi(vec![create, delete]).await {
                Ok(MultiOutcome::Applied(_)) => break,
                // Either the new one is there, by a request whose answer was lost, or the old one is gone for good.
                Ok(MultiOutcome::Failed(_)) => {
                    self.place.become_checkpoint("line/became", self.token);
                    match self.place.line.zk.exists(&new).await {
                        Ok(Some(stat)) if stat.ephemeral_owner() == self.place.line.zk.session() => break,
                        Ok(_) => return Err(RecipeError::Gone(old)),
                        Err(e) => self.place.line.passing(e).await?,
                    }
                }
                Err(e) => self.place.line.passing(e).await?,
            }
        }
        self.place.prefix = self.place.line.child(&format!("{}-{to}-", self.place.line.guid));
        self.place.node = self.place.next.take();
        Ok(self)
    }

    /// Resolves when it is lost: the session is over, the znode is gone, or, as `on` says, the connection
    /// is lost. Race it against the work. A holder that stops must still [`release`](Held::release).
    pub async fn lost(&self, on: OnDisconnect) -> Lost {
        session::node_lost(&self.place.line.zk, self.node(), on).await
    }

    /// Resolves when somebody asks for it back, by [`Revoker::ask`](crate::Revoker::ask), or when it is lost, as
    /// [`Held::lost`] tells. Race it against the work.
    ///
    /// It resolves at once if somebody asked earlier, even while the holder still waited in line. A holder that is not
    /// connected learns of it once it is connected again: nobody can say how long that takes, so whoever asks must not
    /// count on an answer.
    pub async fn revoked(&self, on: OnDisconnect) -> Revoked {
        revoke::asked_back(&self.place.line.zk, self.node(), on).await
    }

    /// As [`lost`](Held::lost), but without watching the znode, which saves a request: for use where nobody deletes
    /// others' znodes. It borrows only the session, and listens from this call on.
    pub fn session_lost(&self, on: OnDisconnect) -> impl Future<Output = Lost> + use<'_, Z> {
        session::session_lost(&self.place.line.zk, on)
    }
}

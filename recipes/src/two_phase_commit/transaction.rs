//! A transaction as one of its sites sees it, and how it is decided.

use super::site::{Site, child};
use super::terms::{DECISION, Terms, Verdict, Watching};
use crate::session::RecipeError;
use std::fmt;
use zk_api::{ErrorCode, Local, Op, Text, Watch, ZPath, ZooKeeper};

/// A transaction, as one of its sites sees it.
///
/// ```
/// use zk_api::ZooKeeper;
/// use zk_recipes::{Participant, RecipeError, Verdict};
///
/// # async fn act(_: Verdict) {}
/// async fn take_part<Z: ZooKeeper>(site: &Participant<Z>, vote: Verdict) -> Result<(), RecipeError> {
///     let transaction = site.hear_of("tx-7").await?;
///     transaction.vote(vote).await?;
///     if let Some(decided) = transaction.decision().await? {
///         act(decided.verdict()).await; // and keeps what it did where a crash cannot take it
///         decided.acknowledge().await?;
///     }
///     Ok(())
/// }
/// ```
pub struct Transaction<'a, Z> {
    pub(super) by: &'a Site<Z>,
    pub(super) path: ZPath,
    pub(super) coordinator: Text,
    pub(super) terms: Terms,
}

impl<Z> fmt::Debug for Transaction<'_, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Transaction { by, path, coordinator, terms } = self;
        f.debug_struct("Transaction")
            .field("by", by)
            .field("path", path)
            .field("coordinator", coordinator)
            .field("terms", terms)
            .finish()
    }
}

/// What a look at the decision has shown.
enum Look {
    /// It is written.
    Written(Verdict),
    /// The transaction is gone: all have acknowledged.
    Gone,
    /// It must look again.
    Again,
}

impl<'a, Z: ZooKeeper> Transaction<'a, Z> {
    /// Its znode.
    pub fn path(&self) -> &ZPath {
        &self.path
    }

    /// Who has proposed it.
    pub fn coordinator(&self) -> &str {
        &self.coordinator
    }

    /// The sites that it is among, and what it is about.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Votes, and returns the vote that stands: this one, or the one that this site cast before. A vote to abort is the
    /// decision as well. `None` if this site has acknowledged already.
    pub async fn vote(&self, vote: Verdict) -> Result<Option<Verdict>, RecipeError> {
        let own = child(&self.path, &self.by.name);
        let stands = loop {
            self.checkpoint("commit/vote", &[vote.word()]);
            match self.by.zk.set_data(&own, vote.data(), 0).await {
                Ok(_) => break vote,
                Err(e) if e.code == ErrorCode::NoNode => return Ok(None),
                Err(e) if e.code == ErrorCode::BadVersion => {}
                Err(e) => {
                    self.by.passing(e, &own).await?;
                    continue;
                }
            }
            match self.by.zk.data(&own).await {
                Ok((data, _)) => {
                    if let Some(stands) = Verdict::read(&data) {
                        break stands;
                    }
                }
                Err(e) if e.code == ErrorCode::NoNode => return Ok(None),
                Err(e) => self.by.passing(e, &own).await?,
            }
        };
        match stands {
            Verdict::Commit => Ok(Some(stands)),
            Verdict::Abort => self.write(Verdict::Abort, "vote").await.map(|()| Some(stands)),
        }
    }

    /// Aborts it, unless it is decided.
    pub async fn abort(&self) -> Result<(), RecipeError> {
        self.write(Verdict::Abort, "abort").await
    }

    /// Waits for the decision; `None` if it was made and all have acknowledged it.
    ///
    /// Call it after this site has voted; otherwise it waits for itself.
    pub async fn decision(&self) -> Result<Option<Decided<'_, 'a, Z>>, RecipeError> {
        let mut collects = match self.terms.watching {
            Watching::EachOther => true,
            Watching::Coordinator => self.coordinator == self.by.name,
        };
        loop {
            if collects && let Some(verdict) = self.collect().await? {
                self.write(verdict, "decision").await?;
            }
            self.checkpoint("commit/decision", &[if collects { "collects" } else { "waits" }]);
            let coordinator =
                (!collects).then(|| self.by.zk.exists_watch(&self.by.member(&self.coordinator)));
            let (look, watch) = self.look().await?;
            match look {
                Look::Written(verdict) => return Ok(Some(Decided { transaction: self, verdict })),
                Look::Gone => return Ok(None),
                Look::Again => {}
            }
            let Some(watch) = watch else { continue };
            let Some(coordinator) = coordinator else {
                // A vote is gone though nothing was decided: somebody who is no site has deleted it.
                self.by.any_of([watch]).await?;
                continue;
            };
            match coordinator.await {
                Ok((Some(_), there)) => self.by.any_of([watch, there]).await?,
                Ok((None, _)) => collects = true,
                Err(e) => self.by.passing(e, &self.by.members).await?,
            }
        }
    }

    /// Collects the votes, one site after the other: what they come to, or `None` if it is decided already.
    async fn collect(&self) -> Result<Option<Verdict>, RecipeError> {
        for site in &self.terms.sites {
            loop {
                self.checkpoint("commit/collect", &[site]);
                let vote = child(&self.path, site);
                match self.by.zk.data(&vote).await {
                    Ok((data, _)) => match Verdict::read(&data) {
                        Some(Verdict::Commit) => break,
                        Some(Verdict::Abort) => return Ok(Some(Verdict::Abort)),
                        None => {}
                    },
                    // It has acknowledged.
                    Err(e) if e.code == ErrorCode::NoNode => return Ok(None),
                    Err(e) => {
                        self.by.passing(e, &vote).await?;
                        continue;
                    }
                }
                match self.wait_for_vote(site, &vote).await? {
                    Waited::LookAgain => {}
                    Waited::InVain => return Ok(Some(Verdict::Abort)),
                    Waited::Decided => return Ok(None),
                }
            }
        }
        Ok(Some(Verdict::Commit))
    }

    /// Waits until a site votes, is gone, or is not asked any more.
    async fn wait_for_vote(&self, site: &Text, vote: &ZPath) -> Result<Waited, RecipeError> {
        // All on their way before any is awaited. The vote comes last: a site that voted before it went has voted.
        let member = self.by.zk.exists_watch(&self.by.member(site));
        let decision = self.by.zk.data_watch(&child(&self.path, DECISION));
        let vote = self.by.zk.data_watch(vote);
        let (member, decision, vote) = (member.await, decision.await, vote.await);
        match (member, decision, vote) {
            (Err(e), ..) | (_, Err(e), _) | (_, _, Err(e)) => match e.code {
                ErrorCode::NoNode => Ok(Waited::Decided),
                _ => self.by.passing(e, &self.path).await.map(|()| Waited::LookAgain),
            },
            (_, Ok(((decision, _), _)), _) if Verdict::read(&decision).is_some() => Ok(Waited::Decided),
            (.., Ok(((vote, _), _))) if Verdict::read(&vote).is_some() => Ok(Waited::LookAgain),
            (Ok((None, _)), ..) => Ok(Waited::InVain),
            (Ok((Some(_), gone)), Ok((_, decided)), Ok((_, voted))) => {
                self.by.any_of([gone, decided, voted]).await.map(|()| Waited::LookAgain)
            }
        }
    }

    /// Looks for the decision; with a watch if it is not made.
    async fn look(&self) -> Result<(Look, Option<Watch>), RecipeError> {
        match self.by.zk.data_watch(&child(&self.path, DECISION)).await {
            Ok(((data, _), watch)) => match Verdict::read(&data) {
                Some(verdict) => Ok((Look::Written(verdict), None)),
                None => Ok((Look::Again, Some(watch))),
            },
            Err(e) if e.code == ErrorCode::NoNode => Ok((Look::Gone, None)),
            Err(e) => self.by.passing(e, &self.path).await.map(|()| (Look::Again, None)),
        }
    }

    /// Writes the decision, if it is not written, on behalf of one of the above.
    async fn write(&self, verdict: Verdict, whom: &str) -> Result<(), RecipeError> {
        loop {
            self.checkpoint("commit/decide", &[verdict.word(), whom]);
            match self.by.zk.set_data(&child(&self.path, DECISION), verdict.data(), 0).await {
                Err(e) if !matches!(e.code, ErrorCode::BadVersion | ErrorCode::NoNode) => {
                    self.by.passing(e, &self.path).await?;
                }
                Ok(_) | Err(_) => return Ok(()),
            }
        }
    }

    fn checkpoint(&self, label: &'static str, more: &[&str]) {
        let locals = [self.path.as_str(), &self.coordinator].into_iter().chain(more.iter().copied());
        self.by.zk.checkpoint(label, &locals.map(Local::Text).collect::<Vec<_>>());
    }
}

/// How waiting for a vote has ended.
enum Waited {
    /// It may be there.
    LookAgain,
    /// The site is gone without it.
    InVain,
    /// Nobody asks for it any more.
    Decided,
}

/// A transaction that is decided.
#[must_use = "a transaction is kept until every site has acknowledged it"]
pub struct Decided<'t, 'a, Z> {
    transaction: &'t Transaction<'a, Z>,
    verdict: Verdict,
}

impl<Z> fmt::Debug for Decided<'_, '_, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decided")
            .field("transaction", self.transaction)
            .field("verdict", &self.verdict)
            .finish()
    }
}

impl<Z: ZooKeeper> Decided<'_, '_, Z> {
    /// What was decided.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Says that this site has done what was decided and no longer needs the transaction; the last site to say so
    /// removes it. A site that comes back and does not know whether it has done this must repeat it; it does nothing
    /// twice.
    pub async fn acknowledge(self) -> Result<(), RecipeError> {
        let (transaction, by) = (self.transaction, self.transaction.by);
        let own = child(&transaction.path, &by.name);
        loop {
            transaction.checkpoint("commit/acknowledge", &[]);
            match by.zk.delete(&own, -1).await {
                Err(e) if e.code != ErrorCode::NoNode => by.passing(e, &own).await?,
                Ok(()) | Err(_) => break,
            }
        }
        let ops: Vec<Op> = [child(&transaction.path, DECISION), transaction.path.clone()]
            .map(|path| Op::Delete { path: path.text(), version: -1 })
            .into();
        loop {
            transaction.checkpoint("commit/remove", &[]);
            match by.zk.multi(ops.clone()).await {
                // Others have not acknowledged, or one has removed it.
                Ok(_) => return Ok(()),
                Err(e) => by.passing(e, &transaction.path).await?,
            }
        }
    }
}

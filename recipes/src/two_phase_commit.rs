//! Atomic commitment: several sites agree to commit a transaction or to abort it.

mod site;
mod terms;
mod transaction;

pub use terms::{Terms, Verdict, Watching};
pub use transaction::{Decided, Transaction};

use crate::session::RecipeError;
use site::{Site, child};
use std::fmt;
use terms::DECISION;
use zk_api::{
    CreateMode, Data, Error, ErrorCode, Local, MultiOutcome, Op, PathError, Text, ZPath, ZooKeeper,
};

/// A process that takes part in transactions, under a name of its own.
///
/// A transaction is a znode with the [`Terms`] in it. Below it there is one for the decision and one for each site's
/// vote; all are made at once, empty, by whoever proposes it. Votes and the decision are written with the version that
/// an empty znode has, so that each is written once, whoever tries: **they are irrevocable**. Only a site that has seen
/// every site vote to commit writes the decision to commit; any site may write the one to abort, and every site goes
/// only by what is written. So two sites that decide at the same time do no harm, and nothing that matters is kept only
/// in memory.
///
/// 1. Each site [joins](Participant::join): it makes an ephemeral znode of its name below `members`. Its only effect is
///    that a site that is not there and has not voted is not waited for.
/// 2. The coordinator [waits](Participant::wait_for) until all are there and [proposes](Participant::propose). The
///    others [hear of it](Participant::hear_of), or are told by other means.
/// 3. Each site [votes](Transaction::vote). A vote to abort is the decision.
/// 4. Each asks for the [decision](Transaction::decision). As [`Watching`] says, the coordinator collects the votes and
///    the others wait for what it writes, or all collect. If the coordinator is gone, all that wait for it collect
///    instead.
/// 5. When a site has done what was decided, and will not forget that, it [acknowledges](Decided::acknowledge): its
///    vote is deleted, and with the last vote the transaction.
///
/// **The four published shapes.** Sites that watch each other are [`Watching::EachOther`], one that watches for all is
/// [`Watching::Coordinator`]. Ephemeral znodes for sites go with either; but a vote must outlive its site, so only a
/// site's presence is ephemeral here.
///
/// **Recovery** is to do the same again. A process that comes back joins, proposes or looks for the transaction, votes
/// and asks for the decision: it gets its own vote, or what was decided without it. `None` in the place of a vote, a
/// transaction or a decision says that this site has acknowledged already, or that the transaction is not there yet; it
/// never stands for abort.
///
/// **Who waits, and for what.** Nobody waits for a site whose session is over. A site that lives and does not vote is
/// waited for without end, as only its owner can tell whether it will: race [`decision`](Transaction::decision) against
/// a timer, and [`abort`](Transaction::abort). Nobody waits for a transaction whose proposer dies before it is there;
/// any site may propose it. All that is left at rest are transactions that a site has not acknowledged.
///
/// **Limits and cost.** The proposer takes part. An id must not be used again. A site that collects makes one read for
/// each site, and four more for each that it has to wait for, one at a time. A site that waits for the coordinator
/// makes four reads, and is woken once. If the coordinator dies, and always with [`Watching::EachOther`], everybody
/// collects: n² reads in all. Writes are one multi and the decision, and for each site its presence, a vote and two
/// deletions. After a lost answer the request is made again, which does nothing twice. Any future may be dropped at any
/// time.
///
/// ```
/// use zk_api::{Text, ZooKeeper};
/// use zk_recipes::{Participant, RecipeError, Terms, Watching};
///
/// /// The coordinator's beginning. What follows is the same at every site.
/// async fn begin<Z: ZooKeeper>(site: &Participant<Z>) -> Result<(), RecipeError> {
///     let sites = ["north", "south"].map(Text::from).to_vec();
///     site.join().await?;
///     site.wait_for(&sites).await?;
///     let terms = Terms { sites, watching: Watching::Coordinator, text: "pay 10".into() };
///     site.propose("tx-7", &terms).await.map(drop)
/// }
/// ```
///
/// # Cost
///
#[doc = include_str!("../costs/two_phase_commit.md")]
pub struct Participant<Z>(Site<Z>);

impl<Z> fmt::Debug for Participant<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<Z: ZooKeeper> Participant<Z> {
    /// A participant called `name` in the transactions below `transactions`, whose sites are present below `members`;
    /// both znodes must exist. Only one process at a time may have the name. Fails if the name is not fit for a site.
    pub fn new(zk: Z, transactions: &ZPath, members: &ZPath, name: &str) -> Result<Self, PathError> {
        terms::checked_name(name)?;
        members.join(name)?;
        let (transactions, members) = (transactions.clone(), members.clone());
        Ok(Participant(Site { zk, transactions, members, name: name.into() }))
    }

    /// Makes this site present, as long as its session lives. Waits until the znode of a former life is gone.
    pub async fn join(&self) -> Result<(), RecipeError> {
        let own = self.0.member(&self.0.name);
        loop {
            self.0.zk.checkpoint("commit/join", &[Local::Text(own.as_str())]);
            match self.0.zk.create(&own, Data::NULL, CreateMode::Ephemeral).await {
                Ok(_) => return Ok(()),
                Err(e) if e.code == ErrorCode::NodeExists => {}
                Err(e) => {
                    self.0.passing(e, &self.0.members).await?;
                    continue;
                }
            }
            match self.0.zk.exists_watch(&own).await {
                Ok((Some(stat), _)) if stat.ephemeral_owner() == self.0.zk.session() => return Ok(()),
                Ok((Some(_), watch)) => self.0.any_of([watch]).await?,
                Ok((None, _)) => {}
                Err(e) => self.0.passing(e, &self.0.members).await?,
            }
        }
    }

    /// Waits until all of these are present.
    pub async fn wait_for(&self, sites: &[Text]) -> Result<(), RecipeError> {
        loop {
            self.0.zk.checkpoint("commit/wait-for", &[Local::Text(self.0.members.as_str())]);
            match self.0.zk.children_watch(&self.0.members).await {
                Ok((names, _)) if sites.iter().all(|site| names.contains(site)) => return Ok(()),
                Ok((_, watch)) => self.0.any_of([watch]).await?,
                Err(e) => self.0.passing(e, &self.0.members).await?,
            }
        }
    }

    /// Makes a transaction known, with this site as its coordinator; or finds it, if it is known already, with the
    /// terms that it has. `None` if this site has acknowledged it and it is gone.
    ///
    /// Fails if the terms are not fit, or this site is not among those of the transaction.
    pub async fn propose(&self, id: &str, terms: &Terms) -> Result<Option<Transaction<'_, Z>>, RecipeError> {
        let path = self.transaction(id)?;
        let data = terms.written(&self.0.name).map_err(|_| bad_terms(&path))?;
        if !terms.sites.contains(&self.0.name) {
            return Err(bad_terms(&path));
        }
        let create = |path: ZPath, data| Op::create(path.text(), data, CreateMode::Persistent);
        let below = terms.sites.iter().map(|site| &**site).chain([DECISION]);
        let mut ops = vec![create(path.clone(), data)];
        ops.extend(below.map(|name| create(child(&path, name), Data::NULL)));
        loop {
            self.0.zk.checkpoint("commit/propose", &[Local::Text(path.as_str())]);
            match self.0.zk.multi(ops.clone()).await {
                Ok(MultiOutcome::Applied(_)) => {
                    let (coordinator, terms) = (self.0.name.clone(), terms.clone());
                    return Ok(Some(Transaction { by: &self.0, path, coordinator, terms }));
                }
                // It may be this one's own, if an answer was lost.
                Ok(MultiOutcome::Failed(codes)) if codes.contains(&Some(ErrorCode::NodeExists)) => {
                    return self.read(id, "propose").await;
                }
                Ok(MultiOutcome::Failed(codes)) => {
                    let code = codes.into_iter().flatten().next().unwrap_or(ErrorCode::SystemError);
                    let error = Error { code, tried: "multi", path: path.text() };
                    self.0.passing(error, &self.0.transactions).await?;
                }
                Err(e) => self.0.passing(e, &self.0.transactions).await?,
            }
        }
    }

    /// The transaction called `id`; `None` if it is not known, or not yet, or no longer.
    pub async fn find(&self, id: &str) -> Result<Option<Transaction<'_, Z>>, RecipeError> {
        self.read(id, "find").await
    }

    /// Reads a transaction's znode, on behalf of one of the above.
    async fn read(&self, id: &str, whom: &str) -> Result<Option<Transaction<'_, Z>>, RecipeError> {
        let path = self.transaction(id)?;
        loop {
            self.0.zk.checkpoint("commit/read", &[Local::Text(path.as_str()), Local::Text(whom)]);
            match self.0.zk.data(&path).await {
                Ok((data, _)) => {
                    let (coordinator, terms) = Terms::read(&data).ok_or_else(|| bad_terms(&path))?;
                    return Ok(Some(Transaction { by: &self.0, path, coordinator, terms }));
                }
                Err(e) if e.code == ErrorCode::NoNode => return Ok(None),
                Err(e) => self.0.passing(e, &path).await?,
            }
        }
    }

    /// Waits until a transaction is known. A transaction that this site has acknowledged may never be known again.
    pub async fn hear_of(&self, id: &str) -> Result<Transaction<'_, Z>, RecipeError> {
        let path = self.transaction(id)?;
        loop {
            self.0.zk.checkpoint("commit/hear-of", &[Local::Text(path.as_str())]);
            match self.0.zk.exists_watch(&path).await {
                Ok((Some(_), _)) => {
                    if let Some(transaction) = self.read(id, "hear-of").await? {
                        return Ok(transaction);
                    }
                }
                Ok((None, watch)) => self.0.any_of([watch]).await?,
                Err(e) => self.0.passing(e, &path).await?,
            }
        }
    }

    fn transaction(&self, id: &str) -> Result<ZPath, RecipeError> {
        self.0.transactions.join(id).map_err(|_| bad_terms(&self.0.transactions))
    }
}

fn bad_terms(path: &ZPath) -> RecipeError {
    let (code, tried) = (ErrorCode::BadArguments, "read the terms of a transaction");
    RecipeError::Failed(Error { code, tried, path: path.text() })
}

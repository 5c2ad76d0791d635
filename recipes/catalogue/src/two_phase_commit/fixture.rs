//! What all two-phase commits on trial have in common: the sites, how they come to their votes, and what they tell.

use std::time::Duration;
use zk_api::{Either, Text, ZPath, ZooKeeper, Zxid, race};
use zk_harness::common::{AnyProbe, AnyZooKeeper, InRound, Stop, Turn, in_round};
use zk_harness::event::Observation;
use zk_harness::probe::Probe;
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{self, DONE, Order, START};
use zk_harness::trial::{Role, Trial};
use zk_harness::words::{
    ABORTS, COMMITS, IS_THROUGH_WITH, IS_TO_DO, PROPOSES, VOTES_TO_ABORT, VOTES_TO_COMMIT, WAITS_NO_LONGER,
    Word,
};
use zk_recipes::{Participant, RecipeError, Terms, Transaction, Verdict, Watching};

/// The transactions' parent.
pub const TRANSACTIONS: &str = "/tx";
/// The parent of what shows that sites are there.
pub const SITES: &str = "/sites";

/// How long the coordinator waits for the others to be there, and they for it to propose.
const PATIENCE: Duration = Duration::from_secs(5);
/// A site that is not ready by then votes to abort. Work takes up to 4 seconds: one in eight is not.
const READY: Duration = Duration::from_millis(3500);

/// What a variant keeps that is wrong in nothing but that sites wait in vain.
pub const SAFE: &[&str] = &["agreement", "commit-validity", "irrevocability", "abort-validity"];

/// How sites stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sites {
    /// They show nothing before they vote.
    Silent,
    /// They show that they are there.
    Shown,
    /// The same, and one that comes back acknowledges the transaction that its former life did last.
    Acknowledging,
}

/// What sites tell, in their order, about one transaction after the other. One that has not voted may learn of a
/// decision; a next life may vote otherwise than the one before, whose vote stands; and one that waits no longer goes
/// on to the next.
const WORDS: Order = &[
    (PROPOSES, &[START, WAITS_NO_LONGER, COMMITS, ABORTS]),
    (IS_TO_DO, &[START, WAITS_NO_LONGER, COMMITS, ABORTS]),
    (VOTES_TO_COMMIT, &[START, PROPOSES, IS_TO_DO, WAITS_NO_LONGER, COMMITS, ABORTS]),
    (VOTES_TO_ABORT, &[START, PROPOSES, IS_TO_DO, WAITS_NO_LONGER, COMMITS, ABORTS]),
    (WAITS_NO_LONGER, &[START, PROPOSES, IS_TO_DO, VOTES_TO_COMMIT, VOTES_TO_ABORT, COMMITS, ABORTS]),
    (COMMITS, &[START, PROPOSES, IS_TO_DO, VOTES_TO_COMMIT, VOTES_TO_ABORT, WAITS_NO_LONGER]),
    (ABORTS, &[START, PROPOSES, IS_TO_DO, VOTES_TO_COMMIT, VOTES_TO_ABORT, WAITS_NO_LONGER, COMMITS, ABORTS]),
    (DONE, &[COMMITS, ABORTS]),
];

/// A two-phase commit on trial: a turn takes part in one transaction. Every process is a site, process 0 the
/// coordinator as well; there is one transaction a round, named after the rounds that are left, so that a second life
/// finds the one it was in.
pub fn commit(name: &'static str, sites: Sites, turn: impl Turn<Fixture>) -> Trial {
    let code = move |zk, probe: AnyProbe, role: Role| async move {
        let done = life(sites, turn, (zk, probe.clone()), role).await;
        if let Err(stop) = &done {
            let (_, why) = stop.clone().end();
            probe.observe(Observation::note(Word::own("gives up:"), &why, role.me.process.into()));
        }
        done
    };
    Trial::new(name, code)
        .setup([TRANSACTIONS, SITES])
        .promises(|| promises::of_commitment(TRANSACTIONS, SITES))
        .tells(WORDS)
        .counts_wakes(false)
        // What of a transaction may be left no-orphan-transaction says.
        .opts_out(&["no-litter"])
}

/// What the published steps promise.
pub fn published() -> Vec<Box<dyn AnyPromise>> {
    promises::of_published_commitment(TRANSACTIONS, SITES)
}

async fn life(
    sites: Sites,
    turn: impl Turn<Fixture>,
    (zk, probe): (AnyZooKeeper, AnyProbe),
    role: Role,
) -> Result<(), Stop> {
    let joins = sites != Sites::Silent;
    let fixture =
        |left: u8| Fixture { zk: in_round(zk.clone(), left), probe: probe.clone(), role, left, joins };
    let before = fixture(role.rounds.saturating_add(1));
    if joins {
        before.site().join().await?;
    }
    if role.me.life > 0 && sites == Sites::Acknowledging {
        before.acknowledges().await?;
    }
    for left in (1..=role.rounds).rev() {
        let fixture = fixture(left);
        fixture.zk.checkpoint("trial/round", &[]);
        turn(fixture).await?;
    }
    Ok(())
}

/// One site in one transaction.
#[derive(Clone)]
pub struct Fixture {
    /// The session. Checkpoints made with it know which round it is.
    pub zk: InRound<AnyZooKeeper>,
    /// The engine's other side.
    pub probe: AnyProbe,
    role: Role,
    left: u8,
    joins: bool,
}

impl Fixture {
    /// This site as the recipe has it.
    pub fn site(&self) -> Participant<InRound<AnyZooKeeper>> {
        let path = |text| ZPath::parse(text).expect("a constant");
        Participant::new(self.zk.clone(), &path(TRANSACTIONS), &path(SITES), &self.name())
            .expect("a fit name")
    }

    /// Its name.
    pub fn name(&self) -> Text {
        name(self.role.me.process)
    }

    /// The names of all.
    pub fn sites(&self) -> Vec<Text> {
        (0..self.role.clients).map(name).collect()
    }

    /// What the transaction is called.
    pub fn id(&self) -> Text {
        format!("tx-{}", self.left).into()
    }

    /// Its znode.
    pub fn transaction(&self) -> ZPath {
        ZPath::parse(TRANSACTIONS).and_then(|parent| parent.join(&self.id())).expect("a fit name")
    }

    /// Whether this is the site that is to propose.
    pub fn is_coordinator(&self) -> bool {
        self.role.me.process == 0
    }

    /// Whether this process was there before, and has forgotten everything.
    pub fn has_come_back(&self) -> bool {
        self.role.me.life > 0
    }

    /// Whether it is to write to the outside resource.
    pub fn has_effects(&self) -> bool {
        self.role.effects
    }

    /// A token for the outside resource in this transaction, below those of all later ones: of who asks, or the next
    /// higher one, of who has done what was decided.
    pub fn token(&self, done: bool) -> Zxid {
        Zxid::new(1, 2 * u32::from(u8::MAX - self.left) + u32::from(done))
    }

    /// Begins the transaction as the recipe does: the coordinator waits for the others and proposes, they wait to hear
    /// of it. Who has waited long enough proposes whatever the others do. `None` if it is over.
    pub async fn begin<'p>(
        &self,
        site: &'p Participant<InRound<AnyZooKeeper>>,
        watching: Watching,
    ) -> Result<Option<Transaction<'p, InRound<AnyZooKeeper>>>, Stop> {
        if !self.is_coordinator() {
            if let Some(transaction) = self.in_time(site.hear_of(&self.id())).await? {
                let about = format!(
                    "{}: {}",
                    self.transaction(),
                    String::from_utf8_lossy(transaction.terms().text.bytes())
                );
                self.probe.observe(Observation::note(IS_TO_DO, &about, self.role.me.process.into()));
                return Ok(Some(transaction));
            }
        } else if self.joins {
            self.in_time(site.wait_for(&self.sites())).await?;
        }
        self.note(PROPOSES);
        Ok(site.propose(&self.id(), &self.terms(watching)).await?)
    }

    /// Waits for this, but not for ever: `None` if it takes too long, of which it tells.
    pub async fn in_time<T>(
        &self,
        awaited: impl Future<Output = Result<T, RecipeError>> + Send,
    ) -> Result<Option<T>, Stop> {
        match race(awaited, self.zk.sleep(PATIENCE)).await {
            Either::Left(came) => Ok(Some(came?)),
            Either::Right(()) => {
                self.note(WAITS_NO_LONGER);
                Ok(None)
            }
        }
    }

    /// What it is about.
    pub fn terms(&self, watching: Watching) -> Terms {
        Terms { sites: self.sites(), watching, text: format!("the work of {}", self.id()).as_str().into() }
    }

    /// Works on the transaction and comes to a vote: the coordinator is always ready, another may not be in time.
    pub async fn considers(&self) -> Verdict {
        let vote = if self.is_ready().await { Verdict::Commit } else { Verdict::Abort };
        self.votes(vote);
        vote
    }

    /// Works on the transaction: whether it is ready in time.
    pub async fn is_ready(&self) -> bool {
        let works = async || race(self.probe.work(), self.zk.sleep(READY)).await;
        self.is_coordinator() || matches!(works().await, Either::Left(()))
    }

    /// Begins the transaction among sites that watch each other, and votes, if it is not over.
    pub async fn casts(&self) -> Result<(), Stop> {
        let site = self.site();
        if let Some(transaction) = self.begin(&site, Watching::EachOther).await? {
            transaction.vote(self.considers().await).await?;
        }
        Ok(())
    }

    /// Is about to vote.
    pub fn votes(&self, vote: Verdict) {
        let what = match vote {
            Verdict::Commit => VOTES_TO_COMMIT,
            Verdict::Abort => VOTES_TO_ABORT,
        };
        let by = self.role.me.process.into();
        self.probe.observe(Observation::begins(what, self.transaction().as_str(), by));
    }

    /// Does as was decided: from here on it will not do anything else.
    pub fn does(&self, decision: Verdict) {
        self.ends(match decision {
            Verdict::Commit => COMMITS,
            Verdict::Abort => ABORTS,
        });
    }

    /// Acknowledges it, if there is anything to acknowledge: a former life may have died before it did.
    pub async fn acknowledges(&self) -> Result<(), Stop> {
        let site = self.site();
        if let Some(transaction) = site.find(&self.id()).await?
            && let Some(decided) = transaction.decision().await?
        {
            decided.acknowledge().await?;
        }
        Ok(())
    }

    /// It has acknowledged the transaction already.
    pub fn is_over(&self) {
        self.ends(IS_THROUGH_WITH);
    }

    fn ends(&self, what: Word<'_>) {
        let by = self.role.me.process.into();
        self.probe.observe(Observation::ends(what, self.transaction().as_str(), by));
    }

    /// A note about the transaction, and how many sites it is among.
    pub fn note(&self, what: Word<'_>) {
        let of = self.role.clients.into();
        self.probe.observe(Observation::note(what, self.transaction().as_str(), of));
    }
}

fn name(process: u16) -> Text {
    format!("p{process}").into()
}

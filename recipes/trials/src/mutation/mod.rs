//! Recipes that go wrong on purpose, without being compiled again: what a recipe's promises do not notice of that, they
//! do not promise.
//!
//! | module | what is in it |
//! |---|---|
//! | `kind` | [`Kind`]: what goes wrong; [`Mutation`]: at which occasion |
//! | `life` | one life of a process: its occasions so far, and what checkpoints must tell of them |
//! | `client` | its session |
//! | `probe` | its probe |
//! | `answers` | answers that nobody gave |

mod answers;
mod client;
mod kind;
mod life;
mod probe;

pub use kind::{Kind, Mutation};
pub use life::{Log, Seen, Word};
pub use probe::SAME;

use crate::probe::Probe;
use crate::promise::AnyPromise;
use crate::trial::{About, Actor, AnyTrial, FoundBy, Part};
use client::Client;
use life::Life;
use probe::Told;
use std::sync::Arc;
use zk_api::{Either, Pending, Text, ZooKeeper, race};

/// What a trial is held to.
pub type Promises = Arc<dyn Fn() -> Vec<Box<dyn AnyPromise>> + Send + Sync>;

/// A trial whose processes go wrong, each in the same way; or, without a mutation, are looked at.
///
/// It stands between an actor and its session and probe, so that the recipe is what it is.
#[derive(Clone)]
pub struct Mutated {
    /// The recipe.
    pub trial: Arc<dyn AnyTrial>,
    /// What goes wrong.
    pub mutation: Option<Mutation>,
    /// What is said too early, for [`Kind::SaysEarly`].
    pub word: Option<Word>,
    /// What it is held to.
    pub promises: Promises,
    /// As [`Trial::counts_wakes`](crate::trial::Trial::counts_wakes).
    pub counts_wakes: bool,
    /// What all its runs have seen.
    pub log: Arc<Log>,
}

impl std::fmt::Debug for Mutated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} with {:?}", self.trial.about().name, self.mutation)
    }
}

impl Mutated {
    /// A trial that is only looked at, held to its own promises.
    pub fn none(trial: Arc<dyn AnyTrial>) -> Mutated {
        let own = trial.clone();
        Mutated {
            counts_wakes: trial.counts_wakes(),
            trial,
            mutation: None,
            word: None,
            promises: Arc::new(move || own.held_to()),
            log: Arc::default(),
        }
    }

    /// The same, which goes wrong; nothing has been seen of it.
    #[must_use]
    pub fn with(&self, mutation: Mutation, word: Option<Word>) -> Mutated {
        Mutated { mutation: Some(mutation), word, log: Arc::default(), ..self.clone() }
    }

    /// The same, held to something else.
    #[must_use]
    pub fn held_to(&self, promises: Promises, counts_wakes: bool) -> Mutated {
        Mutated { promises, counts_wakes, log: Arc::default(), ..self.clone() }
    }
}

impl AnyTrial for Mutated {
    fn about(&self) -> About {
        self.trial.about()
    }
    fn setup(&self) -> Vec<Text> {
        self.trial.setup()
    }
    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        (self.promises)()
    }
    fn held_to(&self) -> Vec<Box<dyn AnyPromise>> {
        (self.promises)()
    }
    fn scenario(&self) -> &'static [(&'static str, &'static str)] {
        self.trial.scenario()
    }
    fn found_by(&self) -> FoundBy {
        self.trial.found_by()
    }
    fn counts_wakes(&self) -> bool {
        self.counts_wakes
    }
    fn renews_session(&self) -> bool {
        self.trial.renews_session()
    }
    fn administered(&self) -> Vec<Text> {
        self.trial.administered()
    }
    fn counters(&self) -> Vec<(Text, i32)> {
        self.trial.counters()
    }
    fn actor(self: Arc<Self>, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, part: Part) -> Actor {
        let (end, ended) = Pending::slot();
        let life = Arc::new(Life::new(self.mutation, self.word.clone(), self.log.clone(), end));
        let client = Client { zk, probe: probe.clone(), life: life.clone() };
        let actor = self.trial.clone().actor(Arc::new(client), Arc::new(Told { probe, life }), part);
        Box::pin(async move {
            match race(actor, ended).await {
                Either::Left(end) => end,
                Either::Right(()) => crate::event::End::Done,
            }
        })
    }
}

//! Recipes that go wrong on purpose, without being compiled again: what a recipe's promises do not notice of that, they
//! do not promise.
//!
//! ```
//! use std::sync::Arc;
//! use zk_harness::mutation::{Kind, Mutated, Mutation};
//! use zk_harness::prelude::*;
//!
//! let idle = Arc::new(Trial::new("idle", |_zk, _probe, _part| async { End::Done }));
//! let slip = Mutation { kind: Kind::NoWatch, nth: 2 };
//! assert_eq!(slip.to_string(), "no-watch 2", "each life leaves out the second watch that it would set");
//! let mutated = Mutated::none(idle.clone()).with(slip, None);
//! assert_eq!(mutated.explored().owed().len(), idle.held_to().len(), "it is held to the same promises");
//! ```
//!
//! | item | what it is |
//! |---|---|
//! | [`Mutated`] | a trial that goes wrong |
//! | [`Kind`], [`Mutation`] | what goes wrong, and at which occasion |
//! | [`Log`], [`Seen`], [`Word`] | what was seen of occasions, and what was said |
//! | [`SAME`] | the guid of [`Kind::SameGuid`] |

// | module | what is in it |
// |---|---|
// | `kind` | `Kind`: what goes wrong; `Mutation`: at which occasion |
// | `life` | one life of a process: its occasions so far, and what checkpoints must tell of them |
// | `client` | its session |
// | `probe` | its probe |
// | `answers` | answers that nobody gave |

mod answers;
mod client;
mod kind;
mod life;
mod probe;

pub use kind::{Kind, Mutation};
pub use life::{Log, Seen, Word};
pub use probe::SAME;

use crate::common::{AnyProbe, AnyZooKeeper};
use crate::event::End;
use crate::promises::STANDARD;
use crate::trial::{Actor, Code, Promises, Role, Trial};
use client::Client;
use life::Life;
use probe::Told;
use std::sync::Arc;
use zk_api::{Either, Pending, race};

/// A trial whose processes go wrong, each in the same way; or, without a mutation, are looked at.
///
/// It stands between an actor and its session and probe, so that the recipe is what it is.
#[derive(Clone)]
pub struct Mutated {
    /// The recipe.
    pub trial: Arc<Trial>,
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

type ActorOf = fn(&Trial, AnyZooKeeper, AnyProbe, Role) -> Actor;

impl std::fmt::Debug for Mutated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} with {:?}", self.trial.about.name, self.mutation)
    }
}

impl Mutated {
    /// A trial that is only looked at, held to its own promises.
    pub fn none(trial: Arc<Trial>) -> Mutated {
        let own = trial.clone();
        Mutated {
            counts_wakes: trial.counts_wakes,
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

    /// As a trial that is explored.
    pub fn explored(&self) -> Trial {
        self.as_trial(Trial::actor)
    }

    /// As a trial that is run once.
    pub fn once(&self) -> Trial {
        self.as_trial(Trial::actor_once)
    }

    fn as_trial(&self, of: ActorOf) -> Trial {
        let mutated = self.clone();
        let mut trial = (*self.trial).clone();
        trial.promises = self.promises.clone();
        // What it is held to is all of it.
        trial.tells = None;
        trial.opts_out = STANDARD.into();
        trial.counts_wakes = self.counts_wakes;
        trial.keeps = Vec::new();
        trial.code = Code::Actor(Arc::new(move |zk, probe, role| mutated.actor(of, zk, probe, role)));
        trial
    }

    fn actor(&self, of: ActorOf, zk: AnyZooKeeper, probe: AnyProbe, role: Role) -> Actor {
        let (end, ended) = Pending::slot();
        let life = Arc::new(Life::new(self.mutation, self.word.clone(), self.log.clone(), end));
        let client = Client { zk, probe: probe.clone(), life: life.clone() };
        let actor = of(&self.trial, Arc::new(client), Arc::new(Told { probe, life }), role);
        Box::pin(async move {
            match race(actor, ended).await {
                Either::Left(end) => end,
                Either::Right(()) => End::Done,
            }
        })
    }
}

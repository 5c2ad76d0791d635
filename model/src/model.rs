//! A recipe model: replayed processes, the ensemble and the promises, as one state machine.

pub(crate) mod actors;
pub(crate) mod scope;
mod turn;

pub use crate::own_promises::{HONEST_CHECKPOINTS, NO_LIVELOCK, OWN_PROMISES};
pub use scope::Scope;
pub use turn::Taken;

use crate::action::Action;
use crate::actions::Possible;
use crate::config::CheckConfig;
use crate::life::Life;
use crate::link::{self, Client, Moved, Phase};
use crate::message::List;
use crate::monitors::{Findings, Monitors};
use crate::process::{Replayer, Setup};
use crate::reads::Reads;
use crate::service::{Order, Service};
use crate::state::{Left, State};
use crate::stop::Stop;
use actors::Actors;
use std::sync::Arc;
use turn::{Known, Turn, opened};
use zk_harness::event::ActorId;
use zk_harness::outside::Outside;
use zk_harness::trial::{Bounds, Trial};

/// A recipe model.
pub struct RecipeModel {
    /// What it is of, and how far it goes.
    pub scope: Scope,
    /// The promises' names, the model's own last.
    pub promises: Vec<&'static str>,
    /// The one of them that the search is for: the one that is asked for, or that the trial is known to break.
    pub to_break: Option<usize>,
    pub(crate) actors: Actors,
    known: Known,
}

impl std::fmt::Debug for RecipeModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.scope.trial.about.name)
    }
}

impl RecipeModel {
    /// A model of a trial, which varies these.
    pub fn new(trial: Arc<Trial>, config: &CheckConfig, varied: Reads) -> RecipeModel {
        let CheckConfig { bounds, reductions, memo, keys, audit, other_time, guids_fall, .. } = *config;
        let symmetry = reductions.symmetry;
        let effects = config.effects || bounds.effects;
        let clients = bounds.clients;
        let setup = Setup { clients, effects, memo, keys, audit, other_time, symmetry, guids_fall, varied };
        let promises = trial.held_to();
        let promises: Vec<_> = promises.iter().map(|promise| promise.name()).chain(OWN_PROMISES).collect();
        let known = trial.about.breaks.map(|breaks| breaks.promise);
        let sought = config.promise.as_deref().or(known);
        RecipeModel {
            to_break: sought.and_then(|sought| promises.iter().position(|name| *name == sought)),
            promises,
            actors: Actors::new(Replayer::new(trial.clone(), setup), bounds, varied),
            known: Known::new(memo),
            scope: Scope::new(trial, config, varied),
        }
    }

    /// What the actors have read by now.
    pub fn reads(&self) -> Reads {
        self.actors.replayer.noted.reads()
    }

    /// Why nothing that was found since can be relied on, if so.
    pub fn stop(&self) -> Option<&Stop> {
        self.actors.replayer.stop()
    }

    /// Whether the audit of checkpoints left out histories.
    pub fn audit_is_cut(&self) -> bool {
        self.actors.replayer.audit_is_cut()
    }

    /// What the model cannot show of the simulator, though it would take it to say that anything holds.
    pub fn leaves_out(&self) -> Option<String> {
        self.actors.leaves_out()
    }

    /// What goes round may end with what servers are to remove.
    pub fn waits_for_upkeep(&self) -> bool {
        self.actors.replayer.needs_upkeep()
    }

    /// The first state, in which each process has taken its first step, unless it makes a difference when it does, or
    /// whether it has a session by then; and what the promises say of that.
    pub fn init(&self) -> Taken {
        let actors: Vec<ActorId> = (0..self.scope.bounds.clients)
            .map(|process| ActorId { process: process.into(), life: 0, thread: 0 })
            .collect();
        let symmetry = self.scope.rules.symmetry;
        let eyes = if symmetry { actors.len() } else { 0 };
        let Bounds { rounds, restarts, .. } = self.scope.bounds;
        let start = |actor: &ActorId| {
            let life = Life::new(*actor, rounds);
            if self.actors.ranks_sessions()
                || self.actors.begins_early(*actor, rounds)
                || self.actors.speaks_first(life)
            {
                let (client, events) = (Client::unbegun(*actor, 0, symmetry), List::new(Vec::new()));
                return Moved { client, events, unwatched: Vec::new() };
            }
            link::start(&self.actors.replayer, life, restarts > 0, symmetry)
        };
        let started: Vec<Moved> = actors.iter().map(start).collect();
        let begun = started.iter().filter(|moved| moved.client.phase != Phase::Unbegun);
        let opened = begun.flat_map(|moved| opened(moved.client.session, moved.client.actor()));
        let state = State {
            service: Service::new(
                &self.scope.trial.setup,
                &self.scope.trial.counters,
                &actors,
                &self.scope.rules,
            ),
            clients: started.iter().map(|moved| moved.client.clone()).collect(),
            monitors: Arc::new(Monitors::new(self.scope.trial.held_to(), eyes)),
            outside: Outside::default(),
            left: Left::of(&self.scope.bounds),
            fingerprint: 0,
        };
        let mut turn = self.turn(state);
        turn.see(&List::new(opened.collect()));
        started.iter().for_each(|moved| turn.see(&moved.events));
        started.iter().for_each(|moved| turn.go_wrong(&moved.client));
        let gone = (0..).zip(&started).filter(|(_, moved)| moved.client.phase == Phase::Crashed);
        gone.for_each(|(me, _)| turn.order(&Order::Forget { client: me }));
        turn.done()
    }

    /// All that can happen in a state.
    pub fn all_actions(&self, state: &State) -> Vec<Action> {
        let mut actions = Vec::new();
        self.actions(state, &mut actions);
        actions
    }

    /// What can happen next, always in the same order; gives how many of these are free, which come first.
    /// Where none is free, nothing moves unless a fault makes it.
    pub fn actions(&self, state: &State, actions: &mut Vec<Action>) -> usize {
        Possible { scope: &self.scope, actors: &self.actors }.list(state, actions)
    }

    /// The state after an action that [can happen](RecipeModel::actions).
    pub fn step(&self, state: &State, action: Action) -> Taken {
        let mut turn = self.turn(state.clone());
        turn.take(action);
        turn.settle();
        turn.done()
    }

    /// What the promises say of a state in which nothing moves: nothing where servers would still remove something.
    pub fn rest(&self, state: &State) -> Findings {
        if !state.service.tree().expired_nodes(i64::MAX).is_empty() {
            return Findings::default();
        }
        let findings = state.monitors.rest(&state.rest(&self.scope.trial));
        self.actors.note(&findings);
        findings
    }

    /// Whether a promise was broken on the way to this state where it was owed.
    pub fn is_broken(&self, state: &State) -> bool {
        state.monitors.broken != 0 || state.clients.iter().any(|client| client.node.trouble.is_some())
    }

    fn turn(&self, state: State) -> Turn<'_> {
        Turn::new(&self.scope, &self.actors, &self.known, state)
    }
}

//! The same model for stateright's search, as a second opinion.

use super::action::Action;
use super::config::EnsembleConfig;
use super::model::EnsembleModel;
use super::starts::ensemble_model;
use super::state::State;
use super::watch::{self, Judged};
use stateright::{Checker, Model, Property};

impl<N: Judged> Model for EnsembleModel<N> {
    type State = State<N>;
    type Action = Action;

    fn init_states(&self) -> Vec<State<N>> {
        self.starts.clone()
    }

    fn actions(&self, state: &State<N>, actions: &mut Vec<Action>) {
        EnsembleModel::actions(self, state, actions);
    }

    fn next_state(&self, state: &State<N>, action: Action) -> Option<State<N>> {
        self.step(state, action)
    }

    fn properties(&self) -> Vec<Property<EnsembleModel<N>>> {
        vec![Property::always("every invariant", |_, state: &State<N>| watch::broken(state).is_empty())]
    }
}

/// Explores with stateright's breadth-first search: how many unique states there are, and in how many steps an
/// invariant is broken, if one is. It knows no honest limits, so it is for small bounds.
pub fn second_opinion<N: Judged>(config: &EnsembleConfig) -> (u64, Option<u32>) {
    let checker = ensemble_model::<N>(config).checker().threads(1).spawn_bfs().join();
    let path = checker.discovery("every invariant").map(|path| path.into_actions().len() as u32);
    (checker.unique_state_count() as u64, path)
}

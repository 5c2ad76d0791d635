//! Where the levels begin.

use super::action::Action;
use super::competing_leaders::competing_leaders;
use super::config::{EnsembleConfig, Level};
use super::model::EnsembleModel;
use super::node::Node;
use super::past::{Past, calmly, decide, past_txn, switched_on};
use super::state::State;
use std::collections::BTreeMap;
use std::sync::Arc;
use zk_proto::server::ServerId;
use zk_proto::txn::Txn;
use zk_proto::zab::Role;
use zk_proto::zab::ghost::Ghost;

/// The model of a level within bounds.
pub fn ensemble_model<N: Node>(config: &EnsembleConfig) -> EnsembleModel<N> {
    let model = EnsembleModel::unstarted(config);
    let starts = starts(&model);
    model.begin(starts)
}

/// The states that a level begins with.
fn starts<N: Node>(model: &EnsembleModel<N>) -> Vec<State<N>> {
    let fresh = || switched_on(model, &BTreeMap::new(), Ghost::default());
    match model.config.level {
        Level::Election | Level::Whole => vec![fresh()],
        Level::Synchronisation => {
            let mut starts: Vec<State<N>> = pasts(model).iter().map(|past| past.start(model)).collect();
            starts.iter_mut().for_each(|state| decide(model, state));
            starts
        }
        Level::CompetingLeaders => competing_leaders(model, &fresh),
        Level::Broadcast => {
            let mut state = fresh();
            decide(model, &mut state);
            calmly(model, &mut state, |action| !matches!(action, Action::Propose { .. }));
            let serves = |server: ServerId| match state.node(server).peer().map(|peer| peer.role()) {
                Some(Role::Following { .. } | Role::Observing { .. } | Role::Leading { .. }) => true,
                Some(Role::Looking | Role::Joining { .. }) | None => false,
            };
            assert!(state.servers().all(serves), "an ensemble comes up when nothing goes wrong");
            vec![state]
        }
    }
}

/// Everything that may be left behind. The first is that there was no past.
fn pasts<N: Node>(model: &EnsembleModel<N>) -> Vec<Past> {
    let bounds = &model.config.bounds;
    let none = Past { leader: ServerId(1), logged: BTreeMap::new(), committed: 0, txns: Vec::new() };
    let mut pasts = vec![none];
    let count = usize::from(bounds.past);
    if count == 0 {
        return pasts;
    }
    let txns: Vec<Arc<Txn>> = (1..=u32::from(bounds.past)).map(past_txn).collect();
    let voters = u32::from(bounds.servers);
    for leader in 1..=bounds.servers {
        for combination in 0..(count + 1).pow(voters - 1) {
            let mut rest = combination;
            let mut logged = BTreeMap::new();
            for id in 1..=bounds.servers {
                let has = if id == leader { count } else { rest % (count + 1) };
                rest = if id == leader { rest } else { rest / (count + 1) };
                logged.insert(ServerId(id), has);
            }
            let mut lengths: Vec<usize> = logged.values().copied().collect();
            lengths.sort_unstable();
            // So many have more than half of the voters on their disks.
            let most = lengths[lengths.len() - (voters as usize / 2 + 1)];
            for committed in 0..=most {
                let (logged, txns) = (logged.clone(), txns.clone());
                pasts.push(Past { leader: ServerId(leader), logged, committed, txns });
            }
        }
    }
    pasts
}

//! Liveness without `eventually`, in what an exhaustive search has recorded.
//!
//! **Possible.** From every state, once nothing goes wrong any more, a way leads to where a quorum serves and what may
//! be proposed was proposed and is delivered. Where the bound on rounds cuts all such ways off, one is gone without
//! that bound, from each such state.
//!
//! **No fair cycle.** There is no round that can be gone for ever without coming there, and that is weakly fair: what
//! is possible all the way round is done now and then. That is assumed of every arrival, write and link for itself, and
//! of what is free: a server that is down starts, servers that were cut off hear of each other again, a client writes.
//! Of patience more is assumed: who could come to the end of it again and again does, as a server counts its ticks from
//! its decision on, whoever comes and goes meanwhile. A round in which rounds of elections are counted up is longer
//! than any bound and not seen.

use super::action::{Action, is_patience};
use super::config::Level;
use super::model::EnsembleModel;
use super::node::Node;
use super::state::State;
use crate::livelock::{Edges, Livelock};
use crate::tree::{Tree, Way};
use zk_proto::zab::{Peer, Role};

/// From every state, once faults stop, it may come to be that a quorum serves.
pub const PROGRESS_POSSIBLE: &str = "ProgressPossible";
/// No round that is fair to everybody keeps a quorum from serving for ever.
pub const NO_FAIR_CYCLE: &str = "NoFairCycle";

/// So many steps are more than any healing takes.
const HEALING_STEPS_MAX: usize = 5_000;

/// Whether a quorum serves, with everything delivered.
pub(super) fn is_serving<N: Node>(model: &EnsembleModel<N>, state: &State<N>) -> bool {
    let peers = || state.nodes.iter().filter_map(|node| node.peer());
    peers().any(|leader| match (model.config.level, leader.role()) {
        (Level::Election, Role::Joining { leader: id }) => {
            let me = leader.config().id;
            let joins = |peer: &&Peer| peer.role() == Role::Joining { leader: me };
            id == me
                && leader.config().is_quorum(&peers().filter(joins).map(|peer| peer.config().id).collect())
        }
        (_, Role::Leading { epoch }) => {
            let me = leader.config().id;
            let last = leader.history().last();
            let serves = |peer: &&Peer| {
                let role = Role::Following { leader: me, epoch };
                (peer.role() == role || peer.config().id == me) && peer.delivered() == last
            };
            (state.left.txns == 0 || state.client.is_over)
                && leader.config().is_quorum(&peers().filter(serves).map(|peer| peer.config().id).collect())
        }
        (_, Role::Looking | Role::Joining { .. } | Role::Following { .. } | Role::Observing { .. }) => false,
    })
}

/// Where a quorum cannot come to serve any more: which invariant that breaks, how, and by which path.
pub(super) fn without_progress<N: Node>(
    model: &EnsembleModel<N>,
    tree: &Tree,
    edges: &Edges,
) -> Vec<(&'static str, String, Way)> {
    let paths = edges.hopeless().into_iter().map(|state| tree.path(state));
    let stuck = paths.filter_map(|path| Some((PROGRESS_POSSIBLE, heal(model, &path).err()?, path))).next();
    let round = edges.livelock_but(is_patience).map(|Livelock { state, round }| {
        let (start, mut path) = tree.path(state);
        let what = format!("the last {} steps can go round for ever, and no quorum serves", round.len());
        path.extend(round);
        (NO_FAIR_CYCLE, what, (start, path))
    });
    stuck.into_iter().chain(round).collect()
}

/// Nothing goes wrong any more: whoever is down starts, everybody hears of everybody, and each step that is possible is
/// taken in its turn, however many rounds of elections that takes.
fn heal<N: Node>(model: &EnsembleModel<N>, path: &Way) -> Result<(), String> {
    let mut state = model.starts[usize::from(path.0)].clone();
    let mut actions = Vec::new();
    for nth in &path.1 {
        actions.clear();
        model.actions(&state, &mut actions);
        state = model.beyond(&state, actions[usize::from(*nth)]);
    }
    for turn in 0..HEALING_STEPS_MAX {
        if is_serving(model, &state) {
            return Ok(());
        }
        actions.clear();
        let free = model.actions(&state, &mut actions);
        if free == 0 {
            return Err("nothing can happen any more, and no quorum serves".to_owned());
        }
        let heals = |action: &&Action| matches!(action, Action::Restart { .. } | Action::Mend { .. });
        let action = actions[..free].iter().find(heals).copied().unwrap_or(actions[turn % free]);
        state = model.beyond(&state, action);
    }
    Err(format!("faults are over for {HEALING_STEPS_MAX} steps, and no quorum serves"))
}

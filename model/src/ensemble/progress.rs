//! Liveness without `eventually`, in what an exhaustive search has recorded.
//!
//! **Possible.** From every state, once nothing goes wrong any more, a way leads to where a quorum serves and what may
//! be proposed was proposed and is delivered. Where the bound on rounds cuts all such ways off, one is gone without that
//! bound, from each such state.
//!
//! **No fair cycle.** There is no round that can be gone for ever without coming there, and that is weakly fair: what
//! is possible all the way round is done now and then. That is assumed of every arrival, write and link for itself, and
//! of what is free: a server that is down starts, servers that were cut off hear of each other again, a client writes.
//! Of patience more is assumed: who could come to the end of it again and again does, as a server counts its ticks from
//! its decision on, whoever comes and goes meanwhile. A round in which rounds of elections are counted up is longer than
//! any bound and not seen.

use super::action::{Action, is_patience};
use super::config::Level;
use super::model::EnsembleModel;
use super::node::Node;
use super::search::{NO_FAIR_CYCLE, PROGRESS_POSSIBLE, Search};
use super::state::State;
use crate::livelock::{Edges, Livelock};
use crate::tree::Tree;
use zk_proto::zab::{Peer, Role};

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

/// Once everything is explored.
pub(super) fn look_for_progress<N: Node>(
    search: &mut Search<'_, N>,
    tree: &Tree,
    edges: Result<Edges, String>,
) {
    let edges = match edges {
        _ if search.found.violated.is_some() => Err("the search ended with what it was for".to_owned()),
        _ if search.found.ran_out.is_some() => Err("the search was cut short".to_owned()),
        edges => edges,
    };
    let at = |name| {
        search.found.promises.iter().position(|report| report.name == name).expect("it is an invariant")
    };
    let (possible, cycle) = (at(PROGRESS_POSSIBLE), at(NO_FAIR_CYCLE));
    let edges = match edges {
        Ok(edges) => edges,
        Err(why) => {
            for nth in [possible, cycle] {
                search.found.promises[nth].unchecked = Some(why.clone());
            }
            return;
        }
    };
    search.found.promises[possible].tested = tree.len();
    search.found.promises[cycle].tested = 1;
    for state in edges.hopeless() {
        let path = tree.path(state);
        if let Err(what) = heal(search.model, &path) {
            search.broken(possible, what, &path, path.1.len() as u32);
            break;
        }
    }
    if let Some(Livelock { state, round }) = edges.livelock_but(is_patience) {
        let (start, mut path) = tree.path(state);
        let what = format!("the last {} steps can go round for ever, and no quorum serves", round.len());
        path.extend(round);
        let steps = path.len() as u32;
        search.broken(cycle, what, &(start, path), steps);
    }
}

/// Nothing goes wrong any more: whoever is down starts, everybody hears of everybody, and each step that is possible is
/// taken in its turn, however many rounds of elections that takes.
fn heal<N: Node>(model: &EnsembleModel<N>, path: &(u16, Vec<u16>)) -> Result<(), String> {
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

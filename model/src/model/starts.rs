//! Whether it makes a difference that code begins before its client is connected.
//!
//! In the world, and with real clients, a handle is there before its session is: the code begins, what it submits waits,
//! and the session comes later, or not at all. In a model a process begins either way only where that can be told:
//! otherwise with its session, and recipes that do not look pay nothing.
//!
//! **What is claimed.** Take any run of a process that begins without a session. Until it is connected, nothing reaches it
//! from the ensemble: its own timers, points, writes and tasks go on, and what it has submitted may fail as no server is
//! found. If in none of these steps its code looks at the session, or at its state before such a failure, and none waits
//! for the state to change before one, then it does the same where it is connected from the start, its requests are not
//! served before the moment at which it would have been connected, and such a failure is a drop before any of them is
//! served. So nobody can tell the two runs apart, but by when the session was opened, which no promise compares with what
//! code does. A crash before the connection is one after it, in which the session expires before what was sent arrives.
//!
//! All these steps are gone through here, up to [`STEPS_MAX`] of them: where there are more, both ways of beginning are
//! explored. What could refute the claim are the generated programs of `zoocheck fuzz`, whose world begins without sessions
//! every time, and `a_beginning_without_a_session_changes_no_verdict_of_who_does_not_look` (`model/tests/reductions.rs`).

use super::RecipeModel;
use crate::actions::Action;
use crate::digest::{Digest, digest_of};
use crate::life::Life;
use crate::link::Phase;
use crate::process::{Given, Input, Node, Step};
use crate::state::State;
use std::collections::BTreeSet;
use std::sync::Arc;
use zk_api::KeeperState;
use zk_trials::event::ActorId;

/// So many steps before the connection are looked at.
const STEPS_MAX: usize = 100;

impl RecipeModel {
    /// Whether a life is to be begun both with its session and before it has one.
    pub(crate) fn begins_early(&self, actor: ActorId, rounds: u8) -> bool {
        self.early.get(digest_of(0xea51, &(actor, rounds)), || self.can_ever_tell(actor, rounds))
    }

    /// Before anything else, every process begins whose beginning makes a difference; gives whether one is still to.
    pub(crate) fn begin_first(&self, state: &State, actions: &mut Vec<Action>) -> bool {
        let unbegun = state.clients.iter().enumerate().filter(|(_, client)| client.phase == Phase::Unbegun);
        // Whose session is opened first has the lowest id; where nobody looks at that, the order makes no difference.
        for (me, client) in unbegun.take(if self.ranks_sessions() { usize::MAX } else { 1 }) {
            actions.push(Action::Begin(me as u8));
            if self.begins_early(client.actor(), self.bounds.rounds) {
                actions.push(Action::Early(me as u8));
            }
        }
        !actions.is_empty()
    }

    fn can_ever_tell(&self, actor: ActorId, rounds: u8) -> bool {
        let mut known = BTreeSet::new();
        let mut open = Vec::new();
        let reach = |step: &Step, losses: u8, known: &mut BTreeSet<(Digest, u8)>| {
            let is_new = known.insert((step.node.digest, losses)) && !step.node.is_done;
            is_new.then(|| (step.node.clone(), losses))
        };
        let first = self.replayer.start(Life { early: true, ..Life::new(actor, rounds) });
        if self.can_tell(&first, 0) {
            return true;
        }
        open.extend(reach(&first, 0, &mut known));
        while let Some((node, losses)) = open.pop() {
            for input in self.inputs_before_connection(&node, losses) {
                let given = Given { input, state: KeeperState::Disconnected, busy: false };
                let losses = losses + u8::from(given.input == Input::NoServer);
                let step = self.replayer.remembered(&node, &given);
                if self.can_tell(&step, losses) || known.len() > STEPS_MAX {
                    return true;
                }
                open.extend(reach(&step, losses, &mut known));
            }
        }
        false
    }

    /// What may happen to a process that has no session yet.
    fn inputs_before_connection(&self, node: &Arc<Node>, losses: u8) -> Vec<Input> {
        let waits = &node.waits;
        let mut inputs: Vec<Input> = (0..waits.points).map(Input::Point).collect();
        inputs.extend(waits.timers_over_first(self.bounds.pauses > 0).map(Input::Timer));
        let written = |nth| [true, false].map(|accepted| Input::Written { nth, accepted });
        inputs.extend((0..waits.writes).flat_map(written));
        inputs.extend(node.ready.iter().map(|task| Input::Run(*task)));
        let may_lose = losses < self.bounds.drops && node.ready.is_empty() && !waits.calls.is_empty();
        inputs.extend(may_lose.then_some(Input::NoServer));
        inputs
    }

    /// Whether a process can tell by this step, after so many failures, that it was not connected before.
    fn can_tell(&self, step: &Step, losses: u8) -> bool {
        let (looks, waits) = (step.out.looks, &step.node.waits);
        // After a failure the state is the same either way, until there is another: that one would come after a connection.
        let fails_again = losses < self.bounds.drops && !waits.calls.is_empty();
        let waits_for_state = waits.changes > 0 && (losses == 0 || fails_again);
        looks.at_session || (looks.at_state && losses == 0) || waits_for_state
    }
}

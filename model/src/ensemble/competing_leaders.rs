//! Where two stand for one epoch: one has decided to lead and was cut off before it could, and the others have gone on
//! without it. Breadth-first, nothing comes there soon.
//!
//! Every step is the protocol's own, of three voters; more of them look on. In the first round all are for 3, and what
//! 2 said then, that it follows 3, comes to 1 only now: datagrams may be late. So 1 may still go to 3. A scene that a
//! planted bug spoils begins where it was spoilt.

use super::action::Action;
use super::client::Client;
use super::config::Traces;
use super::model::EnsembleModel;
use super::node::Node;
use super::past::{Past, decide, past_txn};
use super::state::{Component, Datagrams, Kind, Left, State};
use std::collections::{BTreeMap, VecDeque};
use zk_api::Zxid;
use zk_proto::server::ServerId;
use zk_proto::zab::message::{Notification, Stand, Vote};
use zk_proto::zab::{Role, Write};

const ONE: ServerId = ServerId(1);
const TWO: ServerId = ServerId(2);
const THREE: ServerId = ServerId(3);

/// More than any scene takes.
const STEPS_MAX: usize = 300;

/// A scene as far as it has come.
struct Scene<'a, N: Node> {
    model: &'a EnsembleModel<N>,
    state: State<N>,
}

/// The four scenes. The bounds are those of what comes then.
pub(super) fn competing_leaders<N: Node>(
    model: &EnsembleModel<N>,
    fresh: &dyn Fn() -> State<N>,
) -> Vec<State<N>> {
    (0..4)
        .map(|nth| {
            let mut scene = Scene { model, state: fresh() };
            // Where a scene is spoilt is a state like any other.
            let _ = match nth {
                0 => scene.waits(),
                1 => scene.chose_the_same(),
                2 => scene.chose_before(),
                _ => scene.lacks_what_was(),
            };
            // In the last one, 2 was away in the first round.
            scene.end(nth < 3)
        })
        .collect()
}

impl<N: Node> Scene<'_, N> {
    /// 3 has decided to lead, and nobody has come to it yet. 1 and 2 serve in epoch 1, with a transaction that 3 lacks.
    fn waits(&mut self) -> Option<()> {
        self.plenty();
        decide(self.model, &mut self.state);
        self.without_three()?;
        self.until(|state| serves(state, ONE) && serves(state, TWO))?;
        self.act(Action::Propose { server: TWO });
        self.until(|state| peer(state, ONE).is_some_and(|peer| peer.delivered() > Zxid::ZERO))?;
        self.part(ONE, TWO)
    }

    /// 3 has chosen epoch 1 with 1; 2 as well, and leads with 1's promise.
    fn chose_the_same(&mut self) -> Option<()> {
        self.plenty();
        decide(self.model, &mut self.state);
        self.three_chooses(1)?;
        self.without_three()?;
        self.until(|state| leads(state, TWO, 1))?;
        self.part(ONE, TWO)
    }

    /// 3 has chosen epoch 1 with 1; 2 leads epoch 2 with 1's promise.
    fn chose_before(&mut self) -> Option<()> {
        self.chose_the_same()?;
        self.act(Action::Wait { server: TWO });
        self.until(|state| leads(state, TWO, 2))?;
        self.part(ONE, TWO)
    }

    /// Of epoch 1, 2 alone has a transaction. 3 has chosen epoch 2 with 1 while 2 was away; 2 is about to.
    fn lacks_what_was(&mut self) -> Option<()> {
        let logged = BTreeMap::from([(ONE, 0), (TWO, 1), (THREE, 0)]);
        let past = Past { leader: TWO, logged, committed: 0, txns: vec![past_txn(1)] };
        self.state = past.start(self.model);
        self.plenty();
        self.cut([(ONE, TWO), (TWO, THREE)]);
        decide(self.model, &mut self.state);
        self.three_chooses(2)?;
        self.without_three()?;
        self.until(|state| leads(state, TWO, 2))
    }

    /// 1 tells 3 which epochs it has promised, and 3 begins to write the next; then they lose each other.
    fn three_chooses(&mut self, epoch: u32) -> Option<()> {
        self.act(Action::Link { from: ONE, to: THREE });
        let link = *self.state.links.keys().next()?;
        self.act(Action::Packet { link, end: 1 });
        let chosen = Some(Write::AcceptedEpoch(epoch));
        if peer(&self.state, THREE)?.writing() != chosen.as_ref() {
            return None;
        }
        self.part(ONE, THREE)
    }

    /// 3 is not heard any more. 1 and 2 lose their patience with it.
    fn without_three(&mut self) -> Option<()> {
        self.cut([(ONE, THREE), (TWO, THREE)]);
        for server in [ONE, TWO] {
            if matches!(peer(&self.state, server)?.role(), Role::Joining { .. }) {
                self.act(Action::Wait { server });
            }
        }
        Some(())
    }

    /// The link between two breaks with what is on its way, and both hear of it.
    fn part(&mut self, a: ServerId, b: ServerId) -> Option<()> {
        let is_theirs = |ends: [ServerId; 2]| ends == [a, b] || ends == [b, a];
        let link = *self.state.links.iter().find(|(_, at)| is_theirs(at.ends))?.0;
        self.act(Action::Break { link });
        for end in [0, 1] {
            if self.state.links.get(&link).is_some_and(|at| at.open[end]) {
                self.act(Action::Lose { link, end });
            }
        }
        Some(())
    }

    /// Does what 1 and 2 may do between them, the first of it first, until something is so. 3 waits.
    fn until(&mut self, done: impl Fn(&State<N>) -> bool) -> Option<()> {
        for _ in 0..STEPS_MAX {
            if done(&self.state) {
                return Some(());
            }
            let mut actions = Vec::new();
            self.model.arrivals(&self.state, &mut actions);
            self.model.in_time(&self.state, &mut actions);
            let action = actions.into_iter().find(|action| self.is_between(action))?;
            self.act(action);
        }
        None
    }

    fn is_between(&self, action: &Action) -> bool {
        let is_one_of = |server: &ServerId| [ONE, TWO].contains(server);
        match action {
            Action::Datagram { from, to } | Action::Link { from, to } => is_one_of(from) && is_one_of(to),
            Action::Packet { link, .. } => self.state.links[link].ends.iter().all(is_one_of),
            Action::Written { server }
            | Action::Image { server, .. }
            | Action::Piece { server }
            | Action::Fire { server, .. } => is_one_of(server),
            Action::Propose { .. }
            | Action::Restart { .. }
            | Action::Mend { .. }
            | Action::Wait { .. }
            | Action::Lose { .. }
            | Action::Early { .. }
            | Action::Crash { .. }
            | Action::Break { .. }
            | Action::Cut { .. } => false,
        }
    }

    fn act(&mut self, action: Action) {
        self.state = self.model.beyond(&self.state, action);
    }

    /// Nothing between these, and nothing on its way.
    fn cut(&mut self, pairs: [(ServerId, ServerId); 2]) {
        self.state.cut = pairs.into();
        let mut datagrams = Datagrams::clone(&self.state.datagrams);
        datagrams.retain(|(from, to), _| !pairs.contains(&(*from.min(to), *from.max(to))));
        self.state.datagrams = Component::new(Kind::Datagrams, datagrams);
        self.state.seal();
    }

    /// A scene costs nothing.
    fn plenty(&mut self) {
        self.state.left = Left { txns: 9, crashes: 9, breaks: 9, partitions: 9, timeouts: 9 };
        self.state.seal();
    }

    /// All hear of each other again, and what 2 said in the first round may still be on its way to 1.
    fn end(mut self, has_said: bool) -> State<N> {
        let state = &mut self.state;
        state.cut.clear();
        state.left = Left::all(&self.model.config.bounds);
        let keeps = self.model.config.traces != Traces::Forgotten;
        state.client = Component::new(Kind::Client, Client::new(keeps));
        let vote = Some(Vote { epoch: 0, zxid: Zxid::ZERO, leader: THREE });
        let late = Notification { round: 1, vote, stand: Stand::Following };
        let mut datagrams = Datagrams::clone(&state.datagrams);
        if has_said {
            datagrams.insert((TWO, ONE), VecDeque::from([late]));
        }
        state.datagrams = Component::new(Kind::Datagrams, datagrams);
        state.seal();
        self.state
    }
}

fn peer<N: Node>(state: &State<N>, server: ServerId) -> Option<&zk_proto::zab::Peer> {
    state.node(server).peer()
}

fn serves<N: Node>(state: &State<N>, server: ServerId) -> bool {
    let role = peer(state, server).map(|peer| peer.role());
    matches!(role, Some(Role::Following { .. } | Role::Leading { .. }))
}

/// Whether a server has the promises of a quorum for an epoch.
fn leads<N: Node>(state: &State<N>, server: ServerId, epoch: u32) -> bool {
    peer(state, server).is_some_and(|peer| peer.leads() == Some(epoch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{
        EnsembleBounds, EnsembleConfig, Level, PeerNode, Tune, check_ensemble, ensemble_model,
    };
    use std::sync::Arc;
    use zk_proto::mutant::Mutant;

    #[test]
    fn bugs_that_need_a_competing_leader_are_found() {
        for mutant in [
            Mutant::EpochBeforePromises,
            Mutant::PromiseCountsTwice,
            Mutant::LeadsBehind,
            Mutant::DoesNotGiveWay,
        ] {
            let bounds = EnsembleBounds { txns: 1, elections: 1, ..EnsembleBounds::servers(3) };
            let tune = Tune(Arc::new(move |peer| peer.mutant = Some(mutant)));
            let config = EnsembleConfig {
                tune,
                max_states: Some(5000),
                ..EnsembleConfig::new(Level::CompetingLeaders, bounds)
            };
            let check = check_ensemble::<PeerNode>(&config, &mut |_| ());
            let broken = check.promises.iter().filter(|promise| promise.broken.is_some());
            let names: Vec<&str> = broken.map(|promise| promise.name).collect();
            assert!(mutant.family().iter().any(|name| names.contains(name)), "{}: {names:?}", mutant.name());
        }
    }

    fn starts() -> Vec<State<PeerNode>> {
        let bounds = EnsembleBounds { elections: 1, ..EnsembleBounds::servers(3) };
        ensemble_model(&EnsembleConfig::new(Level::CompetingLeaders, bounds)).starts
    }

    #[test]
    fn every_scene_comes_to_its_end() {
        let starts = starts();
        let leads: Vec<Option<u32>> =
            starts.iter().map(|state| peer(state, TWO).and_then(|peer| peer.leads())).collect();
        assert_eq!(leads, [Some(1), Some(1), Some(2), Some(2)]);
        let writes: Vec<Option<Write>> =
            starts.iter().map(|state| peer(state, THREE).and_then(|peer| peer.writing().cloned())).collect();
        let chosen = |epoch| Some(Write::AcceptedEpoch(epoch));
        assert_eq!(writes, [None, chosen(1), chosen(1), chosen(2)]);
        let joining = Some(Role::Joining { leader: THREE });
        assert!(starts.iter().all(|state| peer(state, THREE).map(|peer| peer.role()) == joining));
    }
}

//! The state machine: servers over links that break.

use super::action::Action;
use super::config::EnsembleConfig;
use super::merge::learner_first;
use super::network::{change, crash, free_link, hear};
use super::node::{Effect, Event, Node};
use super::servers::Servers;
use super::state::{Component, Datagrams, InboxLink, Kind, State};
use super::time::Waiting;
use zk_proto::message::ConnId;
use zk_proto::server::ServerId;
use zk_proto::zab::message::LinkId;
use zk_proto::zab::{Role, Timer};

/// See the module.
pub struct EnsembleModel<N: Node> {
    /// What is explored.
    pub config: EnsembleConfig,
    /// Where it begins.
    pub starts: Vec<State<N>>,
    /// No server begins a later round of elections.
    pub rounds_max: u64,
    pub(super) servers: Servers<N>,
}

impl<N: Node> EnsembleModel<N> {
    /// The model of a level within bounds, before it is known where it begins.
    pub(super) fn unstarted(config: &EnsembleConfig) -> EnsembleModel<N> {
        EnsembleModel {
            config: config.clone(),
            starts: Vec::new(),
            rounds_max: u64::MAX,
            servers: Servers::new(config),
        }
    }

    /// It begins with these states, and bounds the rounds of elections that come behind them.
    pub(super) fn begin(mut self, starts: Vec<State<N>>) -> EnsembleModel<N> {
        let rounds = starts.iter().flat_map(|state| &state.nodes).filter_map(|node| node.peer());
        let begun = rounds.map(|peer| peer.round()).max().unwrap_or(0);
        self.rounds_max = begun + u64::from(self.config.bounds.elections);
        self.starts = starts;
        self
    }

    /// Everything that can happen: what does by itself first, and then what goes wrong. Gives how many are of the
    /// first kind.
    pub fn actions(&self, state: &State<N>, out: &mut Vec<Action>) -> usize {
        if self.config.merges.learners && learner_first(&self.servers, state, out) {
            return out.len();
        }
        self.arrivals(state, out);
        let is_quiet = out.is_empty();
        self.at_will(state, out);
        if is_quiet {
            self.in_time(state, out);
        }
        let free = out.len();
        self.faults(state, out);
        free
    }

    /// What is on its way, and what is under way.
    pub(super) fn arrivals(&self, state: &State<N>, out: &mut Vec<Action>) {
        for (from, to) in state.datagrams.keys() {
            if state.is_up(*to) && !state.is_cut(*from, *to) {
                out.push(Action::Datagram { from: *from, to: *to });
            }
        }
        for from in state.servers() {
            if let Some(to) = self.dials(state, from)
                && self.may_link(state, from, to)
                && !self.is_refused(state, from, to)
            {
                out.push(Action::Link { from, to });
            }
        }
        for (link, at) in &state.links {
            for end in [0, 1] {
                if at.is_news(end) && !state.is_cut(at.ends[0], at.ends[1]) {
                    out.push(Action::Packet { link: *link, end });
                }
            }
        }
        for server in state.servers() {
            let node = state.node(server);
            if node.is_writing() {
                out.push(Action::Written { server });
            }
            out.extend(node.imaging().into_iter().map(|link| Action::Image { server, link }));
            if node.is_snapshotting() {
                out.push(Action::Piece { server });
            }
        }
    }

    /// What somebody may do at any time, or never.
    fn at_will(&self, state: &State<N>, out: &mut Vec<Action>) {
        for server in state.servers() {
            if !state.is_up(server) {
                out.push(Action::Restart { server });
            } else if self.may_ask(state) && state.node(server).takes_writes() {
                out.push(Action::Propose { server });
            }
        }
        out.extend(state.cut.iter().map(|(a, b)| Action::Mend { a: *a, b: *b }));
        if !self.config.merges.dials {
            let dials = state.servers().filter_map(|from| Some((from, self.dials(state, from)?)));
            let refused = dials.filter(|(from, to)| self.may_link(state, *from, *to));
            let refused = refused.filter(|(from, to)| self.is_refused(state, *from, *to));
            out.extend(refused.map(|(from, to)| Action::Link { from, to }));
        }
    }

    /// Whether anybody may write yet.
    pub(super) fn may_ask(&self, state: &State<N>) -> bool {
        state.left.txns > 0 && (!N::HAS_CLIENTS || state.client.may_ask(self.config.work))
    }

    /// What goes wrong.
    fn faults(&self, state: &State<N>, out: &mut Vec<Action>) {
        let left = state.left;
        for (link, at) in &state.links {
            for end in [0, 1] {
                if at.to[end].torn && at.open[end] && !at.to[end].packets.is_empty() {
                    out.push(Action::Lose { link: *link, end });
                }
            }
        }
        let up = || state.servers().filter(|server| state.is_up(*server));
        if left.timeouts > 0 {
            for server in up() {
                for timer in [Timer::Finalize, Timer::Tick] {
                    let early = Action::Early { server, timer };
                    if state.node(server).is_set(timer) && self.changes(state, early) {
                        out.push(early);
                    }
                }
            }
        }
        if left.crashes > 0 {
            for server in up() {
                let outcomes = 0..state.node(server).outcomes();
                out.extend(outcomes.map(|outcome| Action::Crash { server, outcome }));
            }
        }
        if left.breaks > 0 {
            let links = state.links.iter().filter(|(_, at)| at.is_whole());
            out.extend(links.map(|(link, _)| Action::Break { link: *link }));
        }
        if left.partitions > 0 {
            for a in state.servers() {
                let others = state.servers().filter(|b| *b > a && !state.is_cut(a, *b));
                out.extend(others.map(|b| Action::Cut { a, b }));
            }
        }
    }

    /// What time brings when nothing else can happen: the short wait for better votes before all others.
    pub(super) fn in_time(&self, state: &State<N>, out: &mut Vec<Action>) {
        let is_set = |server: &ServerId, timer| state.is_up(*server) && state.node(*server).is_set(timer);
        for server in state.servers().filter(|server| is_set(server, Timer::Finalize)) {
            let fire = Action::Fire { server, timer: Timer::Finalize };
            if self.changes(state, fire) {
                out.push(fire);
            }
        }
        if out.iter().any(|action| matches!(action, Action::Fire { .. })) {
            return;
        }
        for server in state.servers() {
            if is_set(&server, Timer::Notify) && self.waiting(server).is_worth_repeating(state) {
                out.push(Action::Fire { server, timer: Timer::Notify });
            }
            let wait = Action::Wait { server };
            if is_set(&server, Timer::Tick) && self.changes(state, wait) {
                out.push(wait);
            }
        }
    }

    fn waiting(&self, server: ServerId) -> Waiting<'_, N> {
        Waiting { servers: &self.servers, server }
    }

    pub(super) fn changes(&self, state: &State<N>, action: Action) -> bool {
        let mut next = self.beyond(state, action);
        next.left = state.left;
        next.seal();
        next != *state
    }

    /// Whom a server wants a link to. It asks for it at every tick, so at any time.
    pub(super) fn dials(&self, state: &State<N>, server: ServerId) -> Option<ServerId> {
        let peer = state.node(server).peer()?;
        match peer.role() {
            Role::Joining { leader } if leader != server && peer.leader_link().is_none() => Some(leader),
            Role::Joining { .. }
            | Role::Looking
            | Role::Following { .. }
            | Role::Observing { .. }
            | Role::Leading { .. } => None,
        }
    }

    fn may_link(&self, state: &State<N>, from: ServerId, to: ServerId) -> bool {
        self.config.level.has_links() && state.is_up(to) && !state.is_cut(from, to)
    }

    /// Whether a link would be hung up as soon as it is there.
    fn is_refused(&self, state: &State<N>, from: ServerId, to: ServerId) -> bool {
        let link = free_link(state, from, to);
        let accepted = self.servers.stepped(state.node(to), &Event::Accepted { link, from });
        let hangs =
            |effect: &Effect<N::Packet>| matches!(effect, Effect::Hang { link: hung } if *hung == link);
        accepted.node.digest == state.node(to).digest && accepted.effects.iter().any(hangs)
    }

    /// What an action leads to; `None` if it leads out of the bounds.
    pub fn step(&self, state: &State<N>, action: Action) -> Option<State<N>> {
        let next = self.beyond(state, action);
        let rounds = next.nodes.iter().filter_map(|node| node.peer()).map(|peer| peer.round());
        (rounds.max().unwrap_or(0) <= self.rounds_max).then_some(next)
    }

    /// The same, wherever it leads.
    pub(super) fn beyond(&self, state: &State<N>, action: Action) -> State<N> {
        let mut next = state.clone();
        next.left = action.spend(state.left).unwrap_or(state.left);
        match action {
            Action::Datagram { from, to } => {
                let mut datagrams = Datagrams::clone(&next.datagrams);
                let waiting = datagrams.get_mut(&(from, to)).expect("a datagram is on its way");
                let notification = waiting.pop_front().expect("no queue is empty");
                if waiting.is_empty() {
                    datagrams.remove(&(from, to));
                }
                next.datagrams = Component::new(Kind::Datagrams, datagrams);
                self.servers.take(&mut next, to, &Event::Notified { from, notification });
            }
            Action::Link { from, to } => self.link(&mut next, from, to),
            Action::Packet { link, end } => self.arrive(&mut next, link, end),
            Action::Lose { link, end } => {
                change(&mut next, link, |at| at.to[end].packets.clear());
                self.arrive(&mut next, link, end);
            }
            Action::Written { server } => self.servers.take(&mut next, server, &Event::Written),
            Action::Image { server, link } => self.servers.take(&mut next, server, &Event::Imaged { link }),
            Action::Propose { server } => self.propose(&mut next, server),
            Action::Piece { server } => self.servers.take(&mut next, server, &Event::Piece),
            Action::Restart { server } => self.servers.restart(&mut next, server),
            Action::Fire { server, timer } => self.servers.take(&mut next, server, &Event::Timer(timer)),
            Action::Wait { server } => self.waiting(server).wait(&mut next),
            Action::Early { server, timer: Timer::Tick } => self.waiting(server).lose_patience(&mut next),
            Action::Early { server, timer } => self.servers.take(&mut next, server, &Event::Timer(timer)),
            Action::Crash { server, outcome } => crash(&mut next, server, outcome),
            Action::Break { link } => change(&mut next, link, InboxLink::breaks),
            Action::Cut { a, b } => {
                next.cut.insert((a, b));
            }
            Action::Mend { a, b } => {
                next.cut.remove(&(a, b));
            }
        }
        next.seal();
        next
    }

    /// A write comes to a server: somebody's, or its client's, who hangs up elsewhere first.
    fn propose(&self, next: &mut State<N>, server: ServerId) {
        let number = i64::from(self.config.bounds.txns) - i64::from(next.left.txns);
        if !N::HAS_CLIENTS {
            return self.servers.take(next, server, &Event::Propose { number });
        }
        if next.client.at.is_some_and(|(at, _)| at == server) {
            hear(next, |client| client.wants(number));
            return self.servers.speak(next);
        }
        if let Some((former, conn)) = next.client.at {
            self.servers.take(next, former, &Event::Dropped { conn });
        }
        // Each connection has an id of its own, as each is for another number.
        let (conn, last) = (ConnId(number as u64), next.client.last);
        hear(next, |client| {
            client.connects(server, conn);
            client.wants(number);
        });
        self.servers.take(next, server, &Event::Connecting { conn, last });
    }

    fn link(&self, next: &mut State<N>, from: ServerId, to: ServerId) {
        let link = free_link(next, from, to);
        next.links.insert(link, Component::new(Kind::Link, InboxLink::new(from, to)));
        self.servers.take(next, to, &Event::Accepted { link, from });
        self.servers.take(next, from, &Event::Dialled { link, to });
    }

    /// The next that is on its way to an end of a link.
    fn arrive(&self, next: &mut State<N>, link: LinkId, end: usize) {
        let mut packet = None;
        let server = next.links[&link].ends[end];
        change(next, link, |at| {
            packet = at.arrive(end);
        });
        match packet {
            Some(packet) => self.servers.take(next, server, &Event::Received { link, packet }),
            None => {
                next.links.retain(|_, at| at.open != [false; 2]);
                self.servers.take(next, server, &Event::Unlinked { link });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{EnsembleBounds, Level, PeerNode, ensemble_model};
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;

    #[test]
    fn histories_that_are_the_same_are_kept_once() {
        let bounds = EnsembleBounds { txns: 1, crashes: 1, ..EnsembleBounds::servers(2) };
        let model = ensemble_model::<PeerNode>(&EnsembleConfig::new(Level::Whole, bounds));
        let (mut kept, mut seen) = (BTreeMap::new(), BTreeSet::new());
        let mut open = model.starts.clone();
        let mut actions = Vec::new();
        while let Some(state) = open.pop() {
            if !seen.insert(state.fingerprint) {
                continue;
            }
            let first = kept.entry(state.ghost.digest).or_insert_with(|| state.ghost.clone());
            assert!(Arc::ptr_eq(first, &state.ghost), "a second of one history is kept");
            actions.clear();
            model.actions(&state, &mut actions);
            open.extend(actions.iter().filter_map(|action| model.step(&state, *action)));
        }
        assert!(kept.len() > 1 && kept.len() < seen.len());
    }
}

//! Time: it passes when nothing else can happen, or, as a fault, too soon.
//!
//! No count of ticks is ever kept between two steps: a server waits as long as it may in one step, and everybody who
//! can be heard is heard meanwhile. Whoever is healthy comes out of that as he went in, and then it is no step.

use super::config::LIMIT_TICKS;
use super::network::change;
use super::node::{Effect, Event, Node};
use super::servers::Servers;
use super::state::State;
use std::sync::Arc;
use zk_proto::server::ServerId;
use zk_proto::zab::message::LinkId;
use zk_proto::zab::{Role, Timer};

/// A server that time passes for.
pub(super) struct Waiting<'a, N: Node> {
    pub(super) servers: &'a Servers<N>,
    pub(super) server: ServerId,
}

impl<N: Node> Waiting<'_, N> {
    /// Whether anybody learns anything if a server says again for whom it is: those it tells, or itself by their
    /// answers.
    pub(super) fn is_worth_repeating(&self, state: &State<N>) -> bool {
        let Waiting { servers, server } = *self;
        let said = servers.stepped(state.node(server), &Event::Timer(Timer::Notify));
        said.effects.iter().any(|effect| {
            let Effect::Notify { to, notification } = effect else { return true };
            if !state.is_up(*to) || state.is_cut(server, *to) {
                return false;
            }
            let (from, notification) = (server, *notification);
            let heard = servers.stepped(state.node(*to), &Event::Notified { from, notification });
            heard.node.digest != state.node(*to).digest
                || heard.effects.iter().any(|answer| match answer {
                    Effect::Notify { to: back, notification } if *back == server => {
                        let (from, notification) = (*to, *notification);
                        let learnt = servers.stepped(&said.node, &Event::Notified { from, notification });
                        learnt.node.digest != said.node.digest || !learnt.effects.is_empty()
                    }
                    Effect::Notify { .. }
                    | Effect::Send { .. }
                    | Effect::Hang { .. }
                    | Effect::Tell { .. }
                    | Effect::Close { .. }
                    | Effect::Told(_) => true,
                })
        })
    }

    /// A server waits as long as it may. Nothing else happens but that everybody says now and then that he is there.
    pub(super) fn wait(&self, next: &mut State<N>) {
        let Waiting { servers, server } = *self;
        for _ in 0..=LIMIT_TICKS {
            self.hear_others(next);
            if !next.node(server).is_set(Timer::Tick) {
                return;
            }
            let ticked = servers.stepped(next.node(server), &Event::Timer(Timer::Tick));
            servers.settle(next, server, &ticked);
            self.exchange(next);
            if is_looking(next, server) {
                return;
            }
        }
        self.hear_others(next);
    }

    /// What others would say to a server in a tick of theirs. The rest of that tick is theirs, when they wait.
    fn hear_others(&self, next: &mut State<N>) {
        let Waiting { servers, server } = *self;
        for (link, other) in self.quiet_links(next) {
            if !next.node(other).is_set(Timer::Tick) {
                continue;
            }
            let ticked = servers.stepped(next.node(other), &Event::Timer(Timer::Tick));
            for effect in &ticked.effects {
                if let Effect::Send { link: over, packet } = effect
                    && *over == link
                {
                    let heard =
                        servers.stepped(next.node(server), &Event::Received { link, packet: packet.clone() });
                    *next.node_mut(server) = heard.node.clone();
                }
            }
        }
    }

    /// What a server has just said is heard and answered at once.
    fn exchange(&self, next: &mut State<N>) {
        for (link, other) in self.links_of(next) {
            self.deliver_all(next, link, other);
            self.deliver_all(next, link, self.server);
        }
    }

    /// Delivers what is on its way to a server over a link.
    fn deliver_all(&self, next: &mut State<N>, link: LinkId, to: ServerId) {
        while let Some(at) = next.links.get(&link) {
            let end = at.end_of(to);
            if !at.open[end] || at.to[end].packets.is_empty() {
                return;
            }
            let mut packet = None;
            change(next, link, |at| packet = at.to[end].packets.pop_front());
            let packet = packet.expect("something was on its way");
            self.servers.take(next, to, &Event::Received { link, packet });
        }
    }

    /// The links on which a server and another can hear each other, though nothing is on its way.
    fn quiet_links(&self, state: &State<N>) -> Vec<(LinkId, ServerId)> {
        let mut links = self.links_of(state);
        links.retain(|(link, _)| state.links[link].to.iter().all(|inbox| inbox.packets.is_empty()));
        links
    }

    fn links_of(&self, state: &State<N>) -> Vec<(LinkId, ServerId)> {
        let server = self.server;
        let mut links = Vec::new();
        for (link, at) in &state.links {
            let [a, b] = at.ends;
            if at.is_whole() && !state.is_cut(a, b) && (a == server || b == server) {
                links.push((*link, if a == server { b } else { a }));
            }
        }
        links
    }

    /// A server has waited as long as it may, while whatever it waited for is still on its way. What it says in its
    /// last ticks tells nobody anything.
    pub(super) fn lose_patience(&self, next: &mut State<N>) {
        let Waiting { servers, server } = *self;
        for _ in 0..=LIMIT_TICKS {
            if is_looking(next, server) {
                return;
            }
            let ticked = servers.stepped(next.node(server), &Event::Timer(Timer::Tick));
            let is_over = ticked.node.peer().is_some_and(|peer| peer.role() == Role::Looking);
            if is_over {
                servers.settle(next, server, &ticked);
            } else {
                *next.node_mut(server) = Arc::clone(&ticked.node);
            }
        }
    }
}

fn is_looking<N: Node>(state: &State<N>, server: ServerId) -> bool {
    state.node(server).peer().is_none_or(|peer| peer.role() == Role::Looking)
}

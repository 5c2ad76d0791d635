//! What servers do: their steps and the history of them, remembered, and what comes of each.

use super::client::{Client, Outgoing};
use super::config::{EnsembleConfig, Merges, Work};
use super::network::{hang, hear, send};
use super::node::{Effect, Event, Node};
use super::state::{Component, Datagrams, Kind, State};
use crate::digest::{Digest, digest_all, digest_of};
use crate::memo::Memo;
use std::ops::Bound;
use std::sync::Arc;
use zk_proto::server::ServerId;
use zk_proto::zab::ghost::Ghost;
use zk_proto::zab::{Output, Role, Timer};

/// How many datagrams are on their way between two servers where they are not merged; older ones are lost.
const DATAGRAMS_MAX: usize = 2;

/// What a server's step came to.
pub(super) struct Stepped<N: Node> {
    /// What it follows from: the server as it was, and what happened.
    key: Digest,
    /// What the history is told of it, if anything: a write that is done is news without a word.
    told: Option<Vec<Output>>,
    pub(super) node: Arc<Component<N>>,
    pub(super) effects: Vec<Effect<N::Packet>>,
}

/// See the module.
pub(super) struct Servers<N: Node> {
    merges: Merges,
    work: Work,
    steps: Memo<Arc<Stepped<N>>>,
    ghosts: Memo<Arc<Component<Ghost>>>,
    /// One of each server and each history that steps have come to: many lead to the same.
    one_node: Memo<Arc<Component<N>>>,
    one_ghost: Memo<Arc<Component<Ghost>>>,
}

impl<N: Node> Servers<N> {
    /// Nothing is known yet.
    pub(super) fn new(config: &EnsembleConfig) -> Servers<N> {
        Servers {
            merges: config.merges,
            work: config.work,
            steps: Memo::new(true),
            ghosts: Memo::new(true),
            one_node: Memo::new(true),
            one_ghost: Memo::new(true),
        }
    }

    /// Lets a server take a step, and does what it wants done. Nothing happens to one that is down.
    pub(super) fn take(&self, next: &mut State<N>, server: ServerId, event: &Event<N::Packet>) {
        if next.is_up(server) {
            let stepped = self.stepped(next.node(server), event);
            self.settle(next, server, &stepped);
        }
    }

    pub(super) fn restart(&self, next: &mut State<N>, server: ServerId) {
        let stepped = self.started(next.node(server));
        let mut ghost = Ghost::clone(&next.ghost);
        ghost.started(stepped.node.peer().expect("it is up"));
        next.ghost = self.one_of(ghost);
        self.settle(next, server, &stepped);
    }

    /// What a step comes to, remembered.
    pub(super) fn stepped(&self, node: &Arc<Component<N>>, event: &Event<N::Packet>) -> Arc<Stepped<N>> {
        let key = digest_all(Kind::Event as u64, [node.digest, digest_of(Kind::Event as u64, event)]);
        self.steps.get(key, || {
            let (mut after, mut effects) = (N::clone(node), Vec::new());
            after.step(event, &mut effects);
            self.done(key, after, effects, *event == Event::Written)
        })
    }

    fn started(&self, node: &Arc<Component<N>>) -> Arc<Stepped<N>> {
        let key = digest_all(Kind::Event as u64, [node.digest]);
        self.steps.get(key, || {
            let (mut after, mut effects) = (N::clone(node), Vec::new());
            after.start(&mut effects);
            self.done(key, after, effects, false)
        })
    }

    fn done(
        &self,
        key: Digest,
        mut after: N,
        effects: Vec<Effect<N::Packet>>,
        news: bool,
    ) -> Arc<Stepped<N>> {
        self.forget_timers(&mut after);
        let told = |effect: &Effect<N::Packet>| match effect {
            Effect::Told(output) => Some(output.clone()),
            Effect::Notify { .. }
            | Effect::Send { .. }
            | Effect::Hang { .. }
            | Effect::Tell { .. }
            | Effect::Close { .. } => None,
        };
        let told: Vec<Output> = effects.iter().filter_map(told).collect();
        let told = (news || !told.is_empty()).then_some(told);
        let node = Component::new(Kind::Node, after);
        let node = self.one_node.get(node.digest, || node);
        Arc::new(Stepped { key, told, node, effects })
    }

    /// Timers that would do nothing.
    fn forget_timers(&self, node: &mut N) {
        let Some(peer) = node.peer().filter(|_| self.merges.timers) else { return };
        let (is_looking, role) = (peer.is_looking(), peer.role());
        if role == Role::Looking {
            node.forget(Timer::Tick);
        }
        if !is_looking {
            node.forget(Timer::Notify);
            node.forget(Timer::Finalize);
        }
        if is_looking && node.is_set(Timer::Finalize) {
            let (mut after, mut effects) = (node.clone(), Vec::new());
            after.step(&Event::Timer(Timer::Finalize), &mut effects);
            if effects.is_empty() && after.peer() == node.peer() {
                node.forget(Timer::Finalize);
            }
        }
    }

    /// Does what a server wants done.
    pub(super) fn settle(&self, next: &mut State<N>, server: ServerId, stepped: &Stepped<N>) {
        *next.node_mut(server) = stepped.node.clone();
        if let Some(told) = &stepped.told {
            let key = digest_all(Kind::Ghost as u64, [next.ghost.digest, stepped.key]);
            next.ghost = self.ghosts.get(key, || {
                let mut ghost = Ghost::clone(&next.ghost);
                ghost.observe(stepped.node.peer().expect("it took a step"), told);
                if ghost == **next.ghost { next.ghost.clone() } else { self.one_of(ghost) }
            });
        }
        self.record(next);
        let (mut datagrams, mut has_heard) = (None, false);
        for effect in &stepped.effects {
            match effect {
                Effect::Notify { to, notification } if next.is_up(*to) => {
                    let all = datagrams.get_or_insert_with(|| Datagrams::clone(&next.datagrams));
                    let waiting = all.entry((server, *to)).or_default();
                    if waiting.back() != Some(notification) {
                        waiting.push_back(*notification);
                    }
                    let most = if self.merges.datagrams { 1 } else { DATAGRAMS_MAX };
                    waiting.drain(..waiting.len().saturating_sub(most));
                }
                Effect::Send { link, packet } => send(next, server, *link, packet),
                Effect::Hang { link } => hang(next, server, *link, false),
                Effect::Tell { conn, message } if next.client.at == Some((server, *conn)) => {
                    hear(next, |client| client.hears(self.work, message));
                    has_heard = true;
                }
                Effect::Close { conn } if next.client.at == Some((server, *conn)) => {
                    hear(next, Client::hangs_up);
                }
                // It has gone meanwhile.
                Effect::Tell { .. } | Effect::Close { .. } => {}
                Effect::Notify { .. } | Effect::Told(_) => {}
            }
        }
        if let Some(datagrams) = datagrams {
            next.datagrams = Component::new(Kind::Datagrams, datagrams);
        }
        if has_heard {
            self.speak(next);
        }
    }

    /// What stands and did not before comes into the client's record, if it keeps one.
    fn record(&self, next: &mut State<N>) {
        let Some(before) = next.client.committed() else { return };
        let ghost = Arc::clone(&next.ghost);
        let mut news = ghost.committed.range((Bound::Excluded(before), Bound::Unbounded)).peekable();
        if news.peek().is_some() {
            hear(next, |client| client.stands(news.map(|(_, txn)| &**txn)));
        }
    }

    /// The client sends what it has to send, if it can.
    pub(super) fn speak(&self, next: &mut State<N>) {
        while let Some((server, conn)) = next.client.at {
            let mut outgoing = None;
            hear(next, |client| outgoing = client.sends_next(self.work));
            match outgoing {
                Some(Outgoing::Watches { since }) => self.take(next, server, &Event::Watches { conn, since }),
                Some(Outgoing::Asks { number }) => self.take(next, server, &Event::Asked { conn, number }),
                None => return,
            }
        }
    }

    fn one_of(&self, ghost: Ghost) -> Arc<Component<Ghost>> {
        let ghost = Component::new(Kind::Ghost, ghost);
        self.one_ghost.get(ghost.digest, || ghost)
    }
}

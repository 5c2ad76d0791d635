//! What is between servers: links that are first in, first out, and end.

use super::action::link_id;
use super::client::Client;
use super::node::Node;
use super::state::{Component, Datagrams, InboxLink, Kind, State};
use std::sync::Arc;
use zk_proto::server::ServerId;
use zk_proto::zab::message::LinkId;

/// An id for a link that nobody knows any more. A server forgets a link when it hangs up, hears of its end, or crashes,
/// so an id may come again: with ever new ones, states would differ that nobody can tell apart.
pub(super) fn free_link<N: Node>(state: &State<N>, from: ServerId, to: ServerId) -> LinkId {
    let mut ids = (0..).map(|nth| link_id(from, to, nth));
    ids.find(|id| !state.links.contains_key(id)).expect("there are always more")
}

/// Changes a link.
pub(super) fn change<N: Node>(
    next: &mut State<N>,
    link: LinkId,
    what: impl FnOnce(&mut InboxLink<N::Packet>),
) {
    let place = next.links.get_mut(&link).expect("a link that is there");
    let mut at = InboxLink::clone(place);
    what(&mut at);
    *place = Component::new(Kind::Link, at);
}

/// Puts a packet on its way. On a link that is gone it goes nowhere.
pub(super) fn send<N: Node>(next: &mut State<N>, server: ServerId, link: LinkId, packet: &N::Packet) {
    let Some(at) = next.links.get(&link) else { return };
    let other = 1 - at.end_of(server);
    if at.takes(other) {
        change(next, link, |at| at.to[other].packets.push_back(packet.clone()));
    }
}

/// One end will hear no more; the other will, when it has heard everything.
pub(super) fn hang<N: Node>(next: &mut State<N>, server: ServerId, link: LinkId, torn: bool) {
    let Some(at) = next.links.get(&link) else { return };
    let end = at.end_of(server);
    if at.open[1 - end] {
        change(next, link, |at| at.hang(end, torn));
    } else {
        next.links.remove(&link);
    }
}

/// The client hears of something, or does it.
pub(super) fn hear<N: Node>(next: &mut State<N>, what: impl FnOnce(&mut Client)) {
    let mut client = Client::clone(&next.client);
    what(&mut client);
    next.client = Component::new(Kind::Client, client);
}

/// A server goes down. What it sent is on its way, and may be lost.
pub(super) fn crash<N: Node>(next: &mut State<N>, server: ServerId, outcome: usize) {
    let mut down = N::clone(next.node(server));
    down.crash(outcome);
    *next.node_mut(server) = Component::new(Kind::Node, down);
    if next.client.at.is_some_and(|(at, _)| at == server) {
        hear(next, Client::hangs_up);
    }
    if next.datagrams.keys().any(|(_, to)| *to == server) {
        let mut datagrams = Datagrams::clone(&next.datagrams);
        datagrams.retain(|(_, to), _| *to != server);
        next.datagrams = Component::new(Kind::Datagrams, datagrams);
    }
    let links: Vec<LinkId> =
        next.links.iter().filter(|(_, at)| is_end(at, server)).map(|(link, _)| *link).collect();
    links.into_iter().for_each(|link| hang(next, server, link, true));
}

fn is_end<P>(at: &Arc<Component<InboxLink<P>>>, server: ServerId) -> bool {
    (0..2).any(|end| at.ends[end] == server && at.open[end])
}

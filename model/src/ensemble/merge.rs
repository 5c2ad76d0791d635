//! Steps whose order nobody can tell: a learner with something to read goes first, once nothing can go wrong any more.

use super::action::Action;
use super::node::{Effect, Event, Node};
use super::servers::{Servers, Stepped};
use super::state::{Component, State};
use std::sync::Arc;
use zk_proto::server::ServerId;
use zk_proto::zab::message::LinkId;
use zk_proto::zab::{Output, Peer, Role};

/// Finds a learner whose next steps are independent of everything that others may do before them, and gives those
/// alone: the next packet from its leader, and its write if one is under way.
///
/// Others can only add to the end of what it reads, and it only adds to the end of what its leader reads. That it
/// does nothing else is looked at, not believed: its steps, and what the datagrams on their way would do to it.
pub(super) fn learner_first<N: Node>(servers: &Servers<N>, state: &State<N>, out: &mut Vec<Action>) -> bool {
    // A learner's clients are others who may do something before.
    let has_clients = N::HAS_CLIENTS && state.left.txns > 0;
    if !state.left.is_calm() || !state.cut.is_empty() || has_clients {
        return false;
    }
    for server in state.servers() {
        let Some((link, end)) = reads(state, server) else { continue };
        let node = state.node(server);
        let Some(packet) = state.links[&link].to[end].packets.front().cloned() else { continue };
        if !is_local(node, &servers.stepped(node, &Event::Received { link, packet }), link) {
            continue;
        }
        if node.is_writing() && !is_local(node, &servers.stepped(node, &Event::Written), link) {
            continue;
        }
        if !is_deaf(servers, state, server) {
            continue;
        }
        out.push(Action::Packet { link, end });
        if node.is_writing() {
            out.push(Action::Written { server });
        }
        return true;
    }
    false
}

/// Whether no datagram on its way changes a server.
fn is_deaf<N: Node>(servers: &Servers<N>, state: &State<N>, server: ServerId) -> bool {
    let node = state.node(server);
    let to_it = state.datagrams.iter().filter(|((_, to), _)| *to == server);
    to_it.flat_map(|((from, _), all)| all.iter().map(|notification| (*from, *notification))).all(
        |(from, notification)| {
            let heard = servers.stepped(node, &Event::Notified { from, notification });
            let answers =
                |effect: &Effect<N::Packet>| matches!(effect, Effect::Notify { to, .. } if *to == from);
            heard.node.digest == node.digest && heard.effects.iter().all(answers)
        },
    )
}

/// The end of its link to its leader, if that is whole and both are up.
fn reads<N: Node>(state: &State<N>, server: ServerId) -> Option<(LinkId, usize)> {
    let peer = state.node(server).peer()?;
    if peer.role() == Role::Looking {
        return None;
    }
    let link = peer.leader_link()?;
    let at = state.links.get(&link)?;
    at.is_whole().then_some((link, at.end_of(server)))
}

/// Whether a step only adds: to its history, to what it has delivered, to what its leader reads. What it would say to
/// others is the same before and after.
fn is_local<N: Node>(node: &Arc<Component<N>>, stepped: &Stepped<N>, link: LinkId) -> bool {
    let (Some(before), Some(after)) = (node.peer(), stepped.node.peer()) else { return false };
    let says = |peer: &Peer| (peer.round(), peer.vote(), peer.is_looking(), peer.leader_link());
    let stays = match after.role() {
        Role::Joining { .. } | Role::Following { .. } | Role::Observing { .. } => says(before) == says(after),
        Role::Looking | Role::Leading { .. } => false,
    };
    stays
        && stepped.effects.iter().all(|effect| match effect {
            Effect::Send { link: over, .. } => *over == link,
            Effect::Told(Output::Send { .. } | Output::Write(_) | Output::Deliver(_)) => true,
            Effect::Told(_)
            | Effect::Notify { .. }
            | Effect::Hang { .. }
            | Effect::Tell { .. }
            | Effect::Close { .. } => false,
        })
}

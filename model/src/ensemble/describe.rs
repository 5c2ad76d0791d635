//! Steps, for people to read.

use super::action::Action;
use super::model::EnsembleModel;
use super::node::Node;
use super::state::State;
use crate::quiet::quietly;
use zk_proto::server::ServerId;
use zk_proto::zab::message::LinkId;
use zk_proto::zab::{Peer, Role, Timer};

/// Takes the actions of these numbers from a start on, and tells each in a line.
pub(super) fn retrace<N: Node>(model: &EnsembleModel<N>, start: usize, path: &[u16]) -> Vec<String> {
    let mut state = model.starts[start].clone();
    let mut lines = Vec::new();
    for nth in path {
        let mut actions = Vec::new();
        let _ = quietly(|| model.actions(&state, &mut actions));
        let action = actions[usize::from(*nth)];
        let line = describe(&state, action);
        match quietly(|| model.beyond(&state, action)) {
            Ok(next) => {
                lines.push(format!("{line}{}", became(&state, &next)));
                state = next;
            }
            Err(what) => lines.push(format!("{line}: panics: {what}")),
        }
    }
    lines
}

/// What happens, in words.
fn describe<N: Node>(state: &State<N>, action: Action) -> String {
    match action {
        Action::Datagram { from, to } => {
            let said = &state.datagrams[&(from, to)][0];
            let about = match said.vote {
                None => "asks".to_owned(),
                Some(vote) => format!(
                    "is for {} (epoch {}, {}) in round {}, {:?}",
                    vote.leader.0, vote.epoch, vote.zxid, said.round, said.stand
                ),
            };
            format!("server {} hears that {} {about}", to.0, from.0)
        }
        Action::Link { from, to } => format!("server {} gets a link to {}", from.0, to.0),
        Action::Packet { link, end } => arrival(state, link, end),
        Action::Lose { link, end } => {
            let [me, other] = ends(state, link, end);
            let lost = state.links[&link].to[end].packets.len();
            format!("server {me} loses {lost} packets from {other}, and hears that the link is gone")
        }
        Action::Written { server } => format!("server {}'s write is durable", server.0),
        Action::Image { server, link } => {
            format!("server {} has its state ready for {}", server.0, (link.0 >> 16) as u8)
        }
        Action::Propose { server } if N::HAS_CLIENTS => {
            format!("a client asks server {} for something", server.0)
        }
        Action::Propose { server } => format!("server {} proposes a transaction", server.0),
        Action::Piece { server } => format!("server {} goes on with its snapshot", server.0),
        Action::Restart { server } => format!("server {} starts", server.0),
        Action::Mend { a, b } => format!("servers {} and {} hear of each other again", a.0, b.0),
        Action::Fire { server, timer } | Action::Early { server, timer } => fires(action, server, timer),
        Action::Wait { server } => format!("server {} waits as long as it may", server.0),
        Action::Crash { server, outcome } => crash(state, server, outcome),
        Action::Break { link } => {
            let [a, b] = ends(state, link, 0);
            format!("the link between {a} and {b} breaks")
        }
        Action::Cut { a, b } => format!("servers {} and {} hear nothing of each other any more", a.0, b.0),
    }
}

/// This end of a link, and the other.
fn ends<N: Node>(state: &State<N>, link: LinkId, end: usize) -> [u8; 2] {
    let ends = state.links[&link].ends;
    [ends[end].0, ends[1 - end].0]
}

fn arrival<N: Node>(state: &State<N>, link: LinkId, end: usize) -> String {
    let [me, other] = ends(state, link, end);
    match state.links[&link].to[end].packets.front() {
        Some(packet) => {
            let packet = format!("{packet:?}");
            let short: String = packet.chars().take(120).collect();
            format!("server {me} gets from {other}: {short}")
        }
        None => format!("server {me} hears that its link to {other} is gone"),
    }
}

fn fires(action: Action, server: ServerId, timer: Timer) -> String {
    let early = if matches!(action, Action::Early { .. }) { ", too early" } else { "" };
    let what = match timer {
        Timer::Finalize => "has waited for better votes",
        Timer::Notify => "says again for whom it is",
        Timer::Tick => "loses patience",
    };
    format!("server {} {what}{early}", server.0)
}

fn crash<N: Node>(state: &State<N>, server: ServerId, outcome: usize) -> String {
    let node = state.node(server);
    let write = match (node.is_writing(), outcome, node.outcomes() - 1) {
        (false, _, _) => "",
        (true, 0, _) => ", losing its last write",
        (true, most, last) if most == last => ", its last write done",
        (true, _, _) => ", its last write torn",
    };
    format!("server {} crashes{write}", server.0)
}

/// What has become of the servers' roles.
fn became<N: Node>(before: &State<N>, after: &State<N>) -> String {
    let role = |peer: Option<&Peer>| peer.map(Peer::role);
    let mut text = String::new();
    for server in after.servers() {
        let (was, is) = (role(before.node(server).peer()), role(after.node(server).peer()));
        if let (true, Some(is)) = (was != is && was.is_some(), is) {
            let what = match is {
                Role::Looking => "looks for a leader".to_owned(),
                Role::Joining { leader } if leader == server => "has decided to lead".to_owned(),
                Role::Joining { leader } => format!("has decided for {}", leader.0),
                Role::Following { leader, epoch } => format!("follows {} in epoch {epoch}", leader.0),
                Role::Observing { leader, epoch } => format!("observes {} in epoch {epoch}", leader.0),
                Role::Leading { epoch } => format!("leads epoch {epoch}"),
            };
            text.push_str(&format!("; server {} {what}", server.0));
        }
    }
    text
}

//! Events in words.

use crate::event::SimEvent;
use crate::network::{Direction, Network};
use zk_cluster::links::Links;
use zk_proto::message::{ToClient, ToServer};
use zk_proto::zab::message::LinkId;

/// What the server at an end of a link does, in words that end with the other server.
fn at_end(links: &Links<Direction>, link: LinkId, end: usize, does: &str) -> String {
    let server = links.reader(link, end);
    match server.and_then(|server| Some((server, links.other_end(server, link)?))) {
        Some((server, other)) => format!("s{} {does} s{}", server.0, other.0),
        None => format!("a server {does} another"),
    }
}

/// An event in words.
pub fn tell(event: &SimEvent, network: &Network, links: &Links<Direction>) -> String {
    let who = |conn| match network.ends(conn) {
        Some((actor, server)) => (actor.to_string(), format!("s{server}")),
        None => ("somebody".to_owned(), "a server".to_owned()),
    };
    match event {
        SimEvent::AtServer { conn, message, .. } => {
            let (client, server) = who(*conn);
            match message {
                ToServer::Connect(_) => format!("{client} comes to {server} for a session"),
                ToServer::Request { request, .. } => {
                    format!("{client}'s {} {} reaches {server}", request.name(), request.path())
                }
                ToServer::SetWatches { .. } => format!("{client}'s watches reach {server}"),
                ToServer::Ping => format!("{client}'s ping reaches {server}"),
            }
        }
        SimEvent::AtClient { conn, message, .. } => {
            let (client, server) = who(*conn);
            match message {
                ToClient::Connected(_) => format!("{server} tells {client} of its session"),
                ToClient::Reply { .. } => format!("an answer of {server} reaches {client}"),
                ToClient::WatchesSet { .. } => format!("{client} is told that its watches are set"),
                ToClient::Pong { .. } => format!("an answer to a ping reaches {client}"),
                ToClient::Event { event, .. } => {
                    format!("the event of {} reaches {client}", event.path)
                }
            }
        }
        SimEvent::ServerSees { conn } => {
            let (client, server) = who(*conn);
            format!("{server} sees that a connection of {client} is closed")
        }
        SimEvent::ClientSees { conn } => {
            let (client, server) = who(*conn);
            format!("{client} sees that its connection to {server} is closed")
        }
        SimEvent::Opening { conn } => {
            let (client, server) = who(*conn);
            format!("{client} has a connection to {server}, or is refused one")
        }
        SimEvent::ServerTimer { server, timer, .. } => format!("s{server}'s timer fires: {timer:?}"),
        SimEvent::ClientTimer { actor, timer, .. } => {
            format!("{actor}'s session's timer fires: {timer:?}")
        }
        SimEvent::DiskDone { server, file, .. } => format!("s{server}'s disk is done with {file:?}"),
        SimEvent::Wake { actor, sleeps: true, .. } => format!("{actor} has slept long enough"),
        SimEvent::Wake { actor, .. } => format!("{actor}'s work is over"),
        SimEvent::TaskGoesOn { actor, .. } => format!("{actor} runs, after it stood ready"),
        SimEvent::WriteArrives { actor, .. } => format!("{actor}'s write reaches the outside resource"),
        SimEvent::WriteAnswered { actor, .. } => format!("{actor}'s write is answered"),
        SimEvent::Begin { actor } => format!("{actor} begins"),
        SimEvent::Renew { actor } => format!("{actor} asks for another session"),
        SimEvent::Fault(nth) => format!("fault number {} of the schedule", nth + 1),
        SimEvent::Strike { actor, .. } => format!("the fault aimed at {actor}"),
        SimEvent::CrashServer { server, .. } => format!("s{server} crashes"),
        SimEvent::ServerUp { server, .. } => format!("s{server} starts"),
        SimEvent::Resume { actor, .. } => format!("{actor} goes on after its pause"),
        SimEvent::Notified { from, to, .. } => format!("a vote of s{from} reaches s{to}"),
        SimEvent::Linked { from, to, .. } => format!("s{from} is linked to s{to}, or refused"),
        SimEvent::AtPeer { link, end, .. } => at_end(links, *link, *end, "gets a packet of"),
        SimEvent::LinkGone { link, end } => at_end(links, *link, *end, "loses its link to"),
        SimEvent::PeerReads { link, end, .. } => at_end(links, *link, *end, "reads a packet of"),
        SimEvent::PeerReadsEnd { link, end } => at_end(links, *link, *end, "reads the end of its link to"),
        SimEvent::ServerResumes { server, .. } => format!("s{server} goes on"),
        SimEvent::PartitionEnds { .. } => "a partition ends".to_owned(),
        SimEvent::LagEnds { server, .. } => format!("s{server} lags no longer"),
        SimEvent::SlowSyncEnds { server, .. } => format!("s{server}'s disk is fast again"),
        SimEvent::SlowLinkEnds { client, .. } => format!("p{client}'s messages are fast again"),
        SimEvent::Heal => "faults are over".to_owned(),
    }
}

//! The next event: that of an order, while one is given, or the one that time brings; and events in words.

use crate::event::SimEvent;
use crate::order::Ordered;
use crate::simulation::Simulation;
use zk_proto::message::{ToClient, ToServer};
use zk_proto::zab::message::LinkId;

/// What comes after what: of one line, only the first can come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Line {
    ToServer(u64),
    ToClient(u64),
    ToPeer(u64, usize),
    Reads(u64, usize),
    Disk(u8, u32),
    /// By itself.
    Own(u64),
}

/// How an event may move.
enum Moves {
    /// Behind these of its line.
    Freely(Line, u64),
    /// Not at all.
    InTime,
    /// It is next.
    Now,
}

impl Simulation<'_> {
    /// The next event: that of an order, while one is given and its time has come, or the one that time brings.
    pub fn next_event(&mut self) -> Option<(u64, SimEvent)> {
        let Some(order) = &self.options.order else { return self.queue.pop() };
        let taken = self.run.ordered.len();
        let is_due = self.queue.next_at().is_some_and(|at| at.max(self.now) >= order.from_ns);
        if !is_due || taken >= order.steps as usize {
            return self.queue.pop();
        }
        let (first_at, can_be_next) = self.can_be_next()?;
        let nth = order.picks.get(taken).map_or(0, |pick| (*pick as usize).min(can_be_next.len() - 1));
        let (number, keeps_time) = can_be_next[nth];
        let (at, event) = self.queue.take_numbered(number)?;
        self.run.ordered.push(Ordered { of: can_be_next.len() as u32, what: self.tell(&event) });
        Some((if keeps_time { at } else { at.min(first_at) }, event))
    }

    /// Notes an event that is the last before a redraw.
    pub fn tell_last(&mut self, event: &SimEvent) {
        if self.options.redraw.is_some_and(|redraw| redraw.after == self.run.steps) {
            self.run.redrawn = Some((self.now, self.tell(event)));
        }
    }

    /// Draws anew from here on, if that is to be.
    pub fn redraw(&mut self) {
        if let Some(redraw) = self.options.redraw.filter(|redraw| redraw.after == self.run.steps) {
            self.choices.redraw(redraw.with);
        }
    }

    /// When the first event is due, and the numbers of those that can come next, with whether they keep their time; the
    /// one that time brings comes first.
    fn can_be_next(&self) -> Option<(u64, Vec<(u64, bool)>)> {
        let mut all = self.queue.numbered();
        all.sort_by_key(|(number, at, _)| (*at, *number));
        let first_at = all.first()?.1;
        let horizon = first_at.max(self.now) + self.swarm.latency_ns[1];
        let all: Vec<_> =
            all.into_iter().map(|(number, at, event)| (number, at, self.moves(number, at, event))).collect();
        if let Some((number, ..)) = all.iter().find(|(.., moves)| matches!(moves, Moves::Now)) {
            return Some((first_at, vec![(*number, true)]));
        }
        let mut heads = std::collections::BTreeMap::new();
        for (_, _, moves) in &all {
            if let Moves::Freely(line, place) = moves {
                let head = heads.entry(*line).or_insert(*place);
                *head = (*head).min(*place);
            }
        }
        let mut keeps_time = false;
        let next = all.iter().filter_map(|(number, at, moves)| match moves {
            Moves::Freely(line, place) => (heads[line] == *place).then_some((*number, false)),
            Moves::InTime if !keeps_time && *at <= horizon => {
                keeps_time = true;
                Some((*number, true))
            }
            Moves::InTime | Moves::Now => None,
        });
        let next: Vec<_> = next.collect();
        // Nothing moves until a timer fires.
        Some((first_at, if next.is_empty() { vec![(all[0].0, true)] } else { next }))
    }

    fn moves(&self, pushed: u64, at: u64, event: &SimEvent) -> Moves {
        match event {
            SimEvent::AtServer { conn, number, .. } => Moves::Freely(Line::ToServer(conn.0), *number),
            SimEvent::ServerSees { conn } => Moves::Freely(Line::ToServer(conn.0), u64::MAX),
            SimEvent::AtClient { conn, number, .. } => Moves::Freely(Line::ToClient(conn.0), *number),
            SimEvent::ClientSees { conn } => Moves::Freely(Line::ToClient(conn.0), u64::MAX),
            SimEvent::AtPeer { link, end, number, .. } => Moves::Freely(Line::ToPeer(link.0, *end), *number),
            SimEvent::LinkGone { link, end } => Moves::Freely(Line::ToPeer(link.0, *end), u64::MAX),
            SimEvent::PeerReads { link, end, .. } | SimEvent::PeerReadsEnd { link, end } => {
                Moves::Freely(Line::Reads(link.0, *end), at)
            }
            SimEvent::DiskDone { server, incarnation, .. } => {
                Moves::Freely(Line::Disk(*server, *incarnation), at)
            }
            SimEvent::Wake { sleeps: false, .. }
            | SimEvent::TaskGoesOn { .. }
            | SimEvent::Opening { .. }
            | SimEvent::WriteArrives { .. }
            | SimEvent::WriteAnswered { .. }
            | SimEvent::Begin { .. }
            | SimEvent::Renew { .. }
            | SimEvent::Notified { .. }
            | SimEvent::Linked { .. } => Moves::Freely(Line::Own(pushed), 0),
            SimEvent::Strike { .. } => Moves::Now,
            SimEvent::Wake { sleeps: true, .. }
            | SimEvent::ServerTimer { .. }
            | SimEvent::ClientTimer { .. }
            | SimEvent::Fault(_)
            | SimEvent::CrashServer { .. }
            | SimEvent::ServerUp { .. }
            | SimEvent::Resume { .. }
            | SimEvent::ServerResumes { .. }
            | SimEvent::PartitionEnds { .. }
            | SimEvent::LagEnds { .. }
            | SimEvent::SlowSyncEnds { .. }
            | SimEvent::SlowLinkEnds { .. }
            | SimEvent::Heal => Moves::InTime,
        }
    }

    /// What the server at an end of a link does, in words that end with the other server.
    fn at_end(&self, link: LinkId, end: usize, does: &str) -> String {
        let links = &self.cluster.links;
        let server = links.reader(link, end);
        match server.and_then(|server| Some((server, links.other_end(server, link)?))) {
            Some((server, other)) => format!("s{} {does} s{}", server.0, other.0),
            None => format!("a server {does} another"),
        }
    }

    /// An event in words.
    pub fn tell(&self, event: &SimEvent) -> String {
        let who = |conn| match self.network.ends(conn) {
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
            SimEvent::AtPeer { link, end, .. } => self.at_end(*link, *end, "gets a packet of"),
            SimEvent::LinkGone { link, end } => self.at_end(*link, *end, "loses its link to"),
            SimEvent::PeerReads { link, end, .. } => self.at_end(*link, *end, "reads a packet of"),
            SimEvent::PeerReadsEnd { link, end } => self.at_end(*link, *end, "reads the end of its link to"),
            SimEvent::ServerResumes { server, .. } => format!("s{server} goes on"),
            SimEvent::PartitionEnds { .. } => "a partition ends".to_owned(),
            SimEvent::LagEnds { server, .. } => format!("s{server} lags no longer"),
            SimEvent::SlowSyncEnds { server, .. } => format!("s{server}'s disk is fast again"),
            SimEvent::SlowLinkEnds { client, .. } => format!("p{client}'s messages are fast again"),
            SimEvent::Heal => "faults are over".to_owned(),
        }
    }
}

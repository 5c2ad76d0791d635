//! The next event: that of an order, while one is given, or the one that time brings.

use crate::event::SimEvent;
use crate::order::{Order, Ordered};
use crate::queue::Queue;
use std::collections::BTreeMap;

/// The order that is given, if one is, and the steps of it that were taken.
pub struct Orders<'a> {
    given: Option<&'a Order>,
    taken: Vec<Ordered>,
}

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

impl<'a> Orders<'a> {
    /// None of it was taken yet.
    pub fn new(given: Option<&'a Order>) -> Orders<'a> {
        Orders { given, taken: Vec::new() }
    }

    /// The next event: that of an order, while one is given and its time has come, or the one that time brings. A
    /// message travels for `most_ns` at most, and `tell` puts an event into words.
    pub fn next(
        &mut self,
        queue: &mut Queue<SimEvent>,
        now: u64,
        most_ns: u64,
        tell: impl Fn(&SimEvent) -> String,
    ) -> Option<(u64, SimEvent)> {
        let Some(order) = self.given else { return queue.pop() };
        let taken = self.taken.len();
        let is_due = queue.next_at().is_some_and(|at| at.max(now) >= order.from_ns);
        if !is_due || taken >= order.steps as usize {
            return queue.pop();
        }
        let (first_at, can_be_next) = can_be_next(queue, now, most_ns)?;
        let nth = order.picks.get(taken).map_or(0, |pick| (*pick as usize).min(can_be_next.len() - 1));
        let (number, keeps_time) = can_be_next[nth];
        let (at, event) = queue.take_numbered(number)?;
        self.taken.push(Ordered { of: can_be_next.len() as u32, what: tell(&event) });
        Some((if keeps_time { at } else { at.min(first_at) }, event))
    }

    /// The steps that were taken.
    pub fn finish(self) -> Vec<Ordered> {
        self.taken
    }
}

/// When the first event is due, and the numbers of those that can come next, with whether they keep their time; the
/// one that time brings comes first.
fn can_be_next(queue: &Queue<SimEvent>, now: u64, most_ns: u64) -> Option<(u64, Vec<(u64, bool)>)> {
    let mut all = queue.numbered();
    all.sort_by_key(|(number, at, _)| (*at, *number));
    let first_at = all.first()?.1;
    let horizon = first_at.max(now) + most_ns;
    let all: Vec<_> =
        all.into_iter().map(|(number, at, event)| (number, at, moves(number, at, event))).collect();
    if let Some((number, ..)) = all.iter().find(|(.., moves)| matches!(moves, Moves::Now)) {
        return Some((first_at, vec![(*number, true)]));
    }
    let mut heads = BTreeMap::new();
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

fn moves(pushed: u64, at: u64, event: &SimEvent) -> Moves {
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

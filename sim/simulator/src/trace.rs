//! The trace of a run: typed events with virtual time, hashed as they come, and written out only if asked.

use crate::bytes::Bytes;
use crate::crossing::{Carried, Crossing, Way};
use crate::timeline::{Moment, TimelineEvent};
use crate::trace_event::{Place, What, line};
use std::collections::BTreeMap;
use std::hash::Hash;
use xxhash_rust::xxh3::Xxh3;

/// Hashes a run and, if asked, writes it out.
#[derive(Default)]
pub struct Trace {
    hash: Xxh3,
    bytes: Bytes,
    lines: Option<Vec<String>>,
    timeline: Vec<Moment>,
    /// Messages, in the order in which they were sent, and the places in it of those that have not arrived.
    crossings: Vec<Crossing>,
    under_way: BTreeMap<Way, usize>,
    log: bool,
}

impl Trace {
    /// `keep` keeps lines of text and the timeline; `log` sends lines to `tracing`. Neither changes the digest.
    pub fn new(keep: bool, log: bool) -> Trace {
        Trace { lines: keep.then(Vec::new), log, ..Trace::default() }
    }

    /// Adds an event.
    pub fn add(&mut self, at_ns: u64, place: Place, what: &What<'_>) {
        self.bytes.0.clear();
        (at_ns, place, what).hash(&mut self.bytes);
        self.hash.update(&self.bytes.0);
        if self.log || self.lines.is_some() {
            self.write(at_ns, place, what);
        }
    }

    #[cold]
    fn write(&mut self, at_ns: u64, place: Place, what: &What<'_>) {
        let line = line(at_ns, place, what);
        if self.log {
            tracing::info!(target: "zoocheck", "{line}");
        }
        if let Some(lines) = &mut self.lines {
            lines.push(line);
            let what = TimelineEvent::of(what);
            self.timeline.extend(what.map(|what| Moment { at_ns, place, what }));
        }
    }

    /// A message is sent: no part of the digest, which has what arrives.
    pub fn sent(&mut self, now: u64, way: Way, [from, to]: [Place; 2], what: impl FnOnce() -> Carried) {
        if self.lines.is_some() {
            self.under_way.insert(way, self.crossings.len());
            self.crossings.push(Crossing { sent_ns: now, arrived_ns: None, from, to, what: what() });
        }
    }

    /// What was sent arrives.
    pub fn arrived(&mut self, now: u64, way: Way) {
        if let Some(at) = self.under_way.remove(&way) {
            self.crossings[at].arrived_ns = Some(now);
        }
    }

    /// The digest, the lines, the timeline, and the messages.
    pub fn finish(self) -> (u64, Vec<String>, Vec<Moment>, Vec<Crossing>) {
        (self.hash.digest(), self.lines.unwrap_or_default(), self.timeline, self.crossings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_api::Zxid;
    use zk_harness::event::{ActorId, GroundTruth, Observation};
    use zk_proto::message::{ConnId, ToClient, ToServer};

    fn traced(keep: bool, events: &[(u64, u64)]) -> (u64, Vec<String>) {
        let mut trace = Trace::new(keep, false);
        for (at, counter) in events {
            let zxid = Zxid::new(1, *counter as u32);
            trace.add(*at, Place::Server(0), &What::Commit { zxid });
        }
        let (digest, lines, _, _) = trace.finish();
        (digest, lines)
    }

    #[test]
    fn a_line_is_data_in_a_fixed_order() {
        assert_eq!(traced(true, &[(12_040_900_000, 7)]).1, ["12.040s s0 Commit zxid=1:7"]);
    }

    #[test]
    fn the_digest_is_that_of_published_bytes_and_does_not_depend_on_keeping_lines() {
        let mut bytes = Vec::new();
        bytes.extend(5u64.to_le_bytes());
        // A server, the first; a commit, the 21st kind of event; its zxid.
        bytes.extend(1u64.to_le_bytes());
        bytes.push(0);
        bytes.extend(20u64.to_le_bytes());
        bytes.extend([1, 0, 0, 0, 7, 0, 0, 0]);
        let expected = xxhash_rust::xxh3::xxh3_64(&bytes);
        assert_eq!(traced(false, &[(5, 7)]).0, expected);
        assert_eq!(traced(true, &[(5, 7)]).0, expected);
    }

    #[test]
    fn time_place_and_content_change_the_digest() {
        let digest = |events| traced(false, events).0;
        assert_ne!(digest(&[(5, 7)]), digest(&[(6, 7)]));
        assert_ne!(digest(&[(5, 7)]), digest(&[(5, 8)]));
        assert_ne!(digest(&[(5, 7), (6, 8)]), digest(&[(6, 8), (5, 7)]));
    }

    #[test]
    fn what_is_said_and_what_is_sent_change_the_digest() {
        let digest = |what: &What<'_>| {
            let mut trace = Trace::new(false, false);
            trace.add(5, Place::Simulation, what);
            trace.finish().0
        };
        let says = |lock: &str| digest(&What::Observed(&Observation::Enters { lock: lock.into() }));
        assert_ne!(says("/a"), says("/b"));
        let conn = ConnId(1);
        let got = |zxid| digest(&What::ToClient { conn, message: &ToClient::Pong { zxid } });
        assert_ne!(got(Zxid::new(1, 1)), got(Zxid::new(1, 2)));
        let asked = |path: &str| {
            let request = zk_api::Request::Sync { path: path.into() };
            let message = ToServer::Request { xid: zk_proto::message::Xid(1), request };
            digest(&What::ToServer { conn, message: &message })
        };
        assert_ne!(asked("/a"), asked("/b"));
        let actor = ActorId { process: 1, life: 0, thread: 0 };
        assert_ne!(
            digest(&What::Is(&GroundTruth::Paused { actor })),
            digest(&What::Is(&GroundTruth::Resumed { actor }))
        );
    }
}

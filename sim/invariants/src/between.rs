//! What servers say to each other.

use crate::Invariants;
use zk_proto::message::{Answer, Ask, ToPeer};
use zk_proto::zab::message::{LinkId, Packet};

impl Invariants {
    /// A server sends something to another.
    pub fn peer_sends(&mut self, server: u8, link: LinkId, message: &ToPeer) {
        match message {
            ToPeer::Zab(Packet::Ping) | ToPeer::Ask(Ask::Touch { .. }) if !self.leads(server) => {
                self.expiry.tells(server, link);
            }
            ToPeer::Ask(Ask::Write { session, xid, .. }) => self.moves.passed_on(server, *session, *xid),
            ToPeer::Answer(Answer::Attached { conn, valid }) => {
                self.handshakes.says(*conn, *valid, &mut self.report);
            }
            ToPeer::Zab(_) | ToPeer::Ask(_) | ToPeer::Answer(Answer::Synced { .. } | Answer::Asks { .. }) => {
            }
        }
    }

    /// A server reads what another one has sent.
    pub fn peer_reads(&mut self, server: u8, from: u8, link: LinkId, message: &ToPeer, now_ms: i64) {
        match message {
            ToPeer::Zab(Packet::Ping) | ToPeer::Ask(Ask::Touch { .. }) => {
                let by_leader = self.is_leader(server).then_some(now_ms);
                self.expiry.told(from, link, by_leader);
            }
            ToPeer::Ask(Ask::Attach { conn, session, password, timeout_ms }) if self.is_leader(server) => {
                self.handshakes.forwarded(*conn, *session, password, &self.expiry);
                self.expiry.attaches(*session, password, *timeout_ms, now_ms);
            }
            ToPeer::Ask(Ask::Sync { conn }) => self.syncs.asked(server, *conn, self.setup.asks_quorum),
            ToPeer::Answer(Answer::Attached { conn, valid }) => self.handshakes.heard(*conn, *valid),
            ToPeer::Answer(Answer::Synced { conn }) => self.syncs.given(*conn),
            ToPeer::Zab(_) | ToPeer::Ask(_) | ToPeer::Answer(Answer::Asks { .. }) => {}
        }
    }
}

//! Bytes of what goes from server to server.

use crate::encode::Bytes;
use zk_proto::message::{Answer, Ask, ForwardedWrite, ToPeer};
use zk_proto::txn::Txn;
use zk_proto::zab::message::{Notification, Packet, Stand};
use zk_proto::zab::{Doubt, Note, Violation};

impl Bytes {
    fn txn(&mut self, txn: &Txn) {
        self.zxid(txn.zxid);
        self.session(txn.session);
        self.i32(txn.xid.0);
    }

    /// A datagram of the election.
    pub fn notification(&mut self, v: &Notification) {
        self.u64(v.round);
        self.byte(match v.stand {
            Stand::Looking => 0,
            Stand::Following => 1,
            Stand::Leading => 2,
        });
        if let Some(vote) = &v.vote {
            self.u32(vote.epoch);
            self.zxid(vote.zxid);
            self.byte(vote.leader.0);
        }
    }

    fn packet(&mut self, v: &Packet) {
        match v {
            Packet::FollowerInfo { accepted_epoch } => {
                self.byte(0);
                self.u32(*accepted_epoch);
            }
            Packet::LeaderInfo { epoch } => {
                self.byte(1);
                self.u32(*epoch);
            }
            Packet::AckEpoch { current_epoch, last, doubt } => {
                self.byte(match doubt {
                    Doubt::Nothing => 2,
                    Doubt::TheEnd => 15,
                    Doubt::Everything => 16,
                });
                self.u32(current_epoch.unwrap_or(u32::MAX));
                self.zxid(*last);
            }
            Packet::Diff => self.byte(3),
            Packet::Trunc { to } => {
                self.byte(4);
                self.zxid(*to);
            }
            Packet::Snap(snapshot) => {
                self.byte(5);
                self.zxid(snapshot.zxid);
                self.u32(snapshot.image.len() as u32);
            }
            Packet::Proposal(txn) => {
                self.byte(6);
                self.txn(txn);
            }
            Packet::NewLeader { epoch, committed } => {
                self.byte(7);
                self.u32(*epoch);
                self.zxid(*committed);
            }
            Packet::AckNewLeader { epoch } => {
                self.byte(8);
                self.u32(*epoch);
            }
            Packet::UpToDate { committed } => {
                self.byte(9);
                self.zxid(*committed);
            }
            Packet::Ack { zxid } => {
                self.byte(10);
                self.zxid(*zxid);
            }
            Packet::Commit { zxid } => {
                self.byte(11);
                self.zxid(*zxid);
            }
            Packet::Inform(txn) => {
                self.byte(12);
                self.txn(txn);
            }
            Packet::Ping => self.byte(13),
        }
    }

    fn ask(&mut self, v: &Ask) {
        match v {
            Ask::Open { session, timeout_ms, password: _ } => {
                self.byte(0);
                self.session(*session);
                self.u32(*timeout_ms);
            }
            Ask::Attach { conn, session, timeout_ms, password: _ } => {
                self.byte(1);
                self.u64(conn.0);
                self.session(*session);
                self.u32(*timeout_ms);
            }
            Ask::Write { session, xid, write } => {
                self.byte(2);
                self.session(*session);
                self.i32(xid.0);
                self.byte(matches!(write, ForwardedWrite::Malformed(_)).into());
            }
            Ask::Sync { conn } => {
                self.byte(3);
                self.u64(conn.0);
            }
            Ask::Touch { sessions } => {
                self.byte(4);
                self.u32(sessions.len() as u32);
                for (session, timeout_ms) in sessions {
                    self.session(*session);
                    self.u32(*timeout_ms);
                }
            }
            Ask::Follows { round } => {
                self.byte(5);
                self.u64(*round);
            }
        }
    }

    /// Whatever goes over a link.
    pub fn peer_message(&mut self, v: &ToPeer) {
        match v {
            ToPeer::Zab(packet) => {
                self.byte(0);
                self.packet(packet);
            }
            ToPeer::Ask(ask) => {
                self.byte(1);
                self.ask(ask);
            }
            ToPeer::Answer(Answer::Attached { conn, valid }) => {
                self.byte(2);
                self.u64(conn.0);
                self.byte((*valid).into());
            }
            ToPeer::Answer(Answer::Synced { conn }) => {
                self.byte(3);
                self.u64(conn.0);
            }
            ToPeer::Answer(Answer::Asks { round }) => {
                self.byte(4);
                self.u64(*round);
            }
        }
    }

    /// What a peer notes.
    pub fn peer_note(&mut self, v: &Note) {
        match v {
            Note::Promised { epoch } => {
                self.byte(0);
                self.u32(*epoch);
            }
            Note::Established { epoch } => {
                self.byte(1);
                self.u32(*epoch);
            }
            Note::Proposed(txn) => {
                self.byte(2);
                self.txn(txn);
            }
            Note::Committed(txn) => {
                self.byte(3);
                self.txn(txn);
            }
            Note::Cut(txns) => {
                self.byte(4);
                self.u32(txns.len() as u32);
                txns.iter().for_each(|txn| self.txn(txn));
            }
            Note::Deviated(mutant) => {
                self.byte(6);
                self.text(mutant.name());
            }
            Note::Violated(violation) => {
                self.byte(5);
                self.byte(match violation {
                    Violation::Message => 0,
                    Violation::State => 1,
                    Violation::Ack => 2,
                    Violation::Proposal => 3,
                    Violation::Commit => 4,
                });
            }
        }
    }
}

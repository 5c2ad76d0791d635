//! The events of a trace: what happened and where, and how that is a line of text.

use crate::fault::Fault;
use std::fmt;
use zk_api::{KeeperState, Zxid};
use zk_harness::event::{ActorId, GroundTruth, Observation};
use zk_harness::program::ProgramStep;
use zk_proto::client::ClientTimer;
use zk_proto::disk::FileId;
use zk_proto::message::{ConnId, ToClient, ToPeer, ToServer};
use zk_proto::server::{RecoveryError, Timer};
use zk_proto::tree::DataTree;
use zk_proto::txn::Txn;
use zk_proto::zab::Note;
use zk_proto::zab::message::{LinkId, Notification};

/// Where something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// At no process: the nemesis, the ensemble as a whole, the outside resource.
    Simulation,
    /// At a server.
    Server(u8),
    /// At a client process, in one of its lives.
    Client(ActorId),
}

/// What happened.
#[derive(Hash)]
pub enum What<'a> {
    /// A client has a connection.
    Opened { conn: ConnId },
    /// A client is refused a connection.
    Refused { conn: ConnId },
    /// A client has lost a connection.
    Lost { conn: ConnId },
    /// A server has lost a connection.
    Dropped { conn: ConnId },
    /// A server gets a message of a client.
    ToServer { conn: ConnId, message: &'a ToServer },
    /// A client gets a message.
    ToClient { conn: ConnId, message: &'a ToClient },
    /// A server's timer comes.
    ServerTimer(Timer),
    /// A timer of a client's session comes.
    ClientTimer(ClientTimer),
    /// So much of a file is on a disk.
    Synced { file: FileId, length: u64 },
    /// A server has started, with a state up to here.
    Started { zxid: Zxid },
    /// A server is down.
    Down,
    /// A server gets a datagram of an election.
    Notified { from: u8, notification: &'a Notification },
    /// A server is linked to another.
    Linked { link: LinkId, from: u8, to: u8 },
    /// A server has lost a link.
    Unlinked { link: LinkId },
    /// A server gets a message of another.
    FromPeer { link: LinkId, message: &'a ToPeer },
    /// A server's peer notes something.
    PeerNotes(&'a Note),
    /// A server leads an epoch, with a history up to here.
    Leads { epoch: u32, last: Zxid },
    /// A server has its leader's state in the place of its own.
    Restored { zxid: Zxid },
    /// A server begins to serve clients, or stops.
    Serves { serves: bool },
    /// A transaction is proposed.
    Propose(&'a Txn),
    /// A transaction is committed.
    Commit { zxid: Zxid },
    /// A server applies a transaction.
    Apply { zxid: Zxid },
    /// A client's session changes its state.
    State(KeeperState),
    /// An actor says so.
    Observed(&'a Observation),
    /// It is so.
    Is(&'a GroundTruth),
    /// The nemesis strikes.
    Fault(&'a Fault),
    /// Faults are over.
    Heal,
    /// An invariant is broken.
    Broken { name: &'a str },
    /// What is left at rest.
    End { tree: &'a DataTree },
    /// Bits of a server's disk rot.
    Rotten { file: FileId },
    /// A server does not start from its disk.
    StaysOut { error: &'a RecoveryError },
    /// A server starts from its disk, which lacks something and does not show it.
    Lacks { last: Zxid },
    /// A server that stayed out is given the files of another, which end here.
    NewDisk { last: Zxid },
    /// A program has come to where all in it waits.
    Stepped(&'a ProgramStep),
    /// A program prints a line.
    Prints { line: &'a str },
}

/// An event as a line: `12.040s s0 Commit zxid=1:7`.
pub fn line(at_ns: u64, place: Place, what: &What<'_>) -> String {
    let (seconds, millis) = (at_ns / 1_000_000_000, at_ns / 1_000_000 % 1000);
    format!("{seconds}.{millis:03}s {place} {what}")
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Simulation => f.write_str("--"),
            Place::Server(id) => write!(f, "s{id}"),
            Place::Client(actor) => actor.fmt(f),
        }
    }
}

impl fmt::Display for What<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Opened { conn } => write!(f, "Opened {conn:?}"),
            What::Refused { conn } => write!(f, "Refused {conn:?}"),
            What::Lost { conn } => write!(f, "Lost {conn:?}"),
            What::Dropped { conn } => write!(f, "Dropped {conn:?}"),
            What::ToServer { conn, message } => write!(f, "Got {conn:?} {message:?}"),
            What::ToClient { conn, message } => write!(f, "Got {conn:?} {message:?}"),
            What::ServerTimer(timer) => write!(f, "Timer {timer:?}"),
            What::ClientTimer(timer) => write!(f, "Timer {timer:?}"),
            What::Synced { file, length } => write!(f, "Synced {file:?} length={length}"),
            What::Started { zxid } => write!(f, "Started zxid={zxid}"),
            What::Down => f.write_str("Down"),
            What::Notified { from, notification } => write!(f, "Notified by s{from} {notification:?}"),
            What::Linked { link, from, to } => write!(f, "Linked {link:?} s{from} to s{to}"),
            What::Unlinked { link } => write!(f, "Unlinked {link:?}"),
            What::FromPeer { link, message } => write!(f, "Got {link:?} {message:?}"),
            What::PeerNotes(note) => write!(f, "Notes {note:?}"),
            What::Leads { epoch, last } => write!(f, "Leads epoch={epoch} last={last}"),
            What::Restored { zxid } => write!(f, "Restored zxid={zxid}"),
            What::Rotten { file } => write!(f, "Rotten {file:?}"),
            What::StaysOut { error } => write!(f, "StaysOut {error}"),
            What::Lacks { last } => write!(f, "Lacks last={last}"),
            What::NewDisk { last } => write!(f, "NewDisk last={last}"),
            What::Prints { line } => write!(f, "Prints {line}"),
            What::Stepped(step) => write!(f, "Stepped {step:?}"),
            What::Serves { serves: true } => f.write_str("Serves"),
            What::Serves { serves: false } => f.write_str("Serves no more"),
            What::Propose(txn) => {
                let (session, xid) = (txn.session, txn.xid.0);
                write!(f, "Propose zxid={} session={session} xid={xid} {:?}", txn.zxid, txn.body)
            }
            What::Commit { zxid } => write!(f, "Commit zxid={zxid}"),
            What::Apply { zxid } => write!(f, "Apply zxid={zxid}"),
            What::State(state) => write!(f, "State {state:?}"),
            What::Observed(observation) => write!(f, "Observed {observation:?}"),
            What::Is(truth) => write!(f, "GroundTruth {truth:?}"),
            What::Fault(fault) => write!(f, "Fault {fault:?}"),
            What::Heal => f.write_str("Heal"),
            What::Broken { name } => write!(f, "Broken {name}"),
            What::End { tree } => {
                write!(f, "End zxid={}", tree.last_zxid())?;
                tree.nodes().try_for_each(|(path, _)| write!(f, " {path}"))
            }
        }
    }
}

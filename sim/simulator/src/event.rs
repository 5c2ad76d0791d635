//! What happens in a run: the events of its queue.

use crate::executor::TaskId;
use crate::fault::Loss;
use zk_api::{Completer, Text, Zxid};
use zk_harness::event::{ActorId, Resource};
use zk_proto::client::ClientTimer;
use zk_proto::disk::FileId;
use zk_proto::message::{ConnId, ToClient, ToPeer, ToServer};
use zk_proto::server::Timer;
use zk_proto::zab::message::{LinkId, Notification};

/// Something that happens at a time.
pub enum SimEvent {
    /// A message arrives at a server.
    AtServer { conn: ConnId, number: u64, message: ToServer },
    /// A message arrives at a client.
    AtClient { conn: ConnId, number: u64, message: ToClient },
    /// A server notices that a connection is closed.
    ServerSees { conn: ConnId },
    /// A client notices that a connection is closed.
    ClientSees { conn: ConnId },
    /// A connection that a client has asked for is open, or refused.
    Opening { conn: ConnId },
    /// A server's timer comes, unless it was set anew.
    ServerTimer { server: u8, incarnation: u32, timer: Timer, generation: u32 },
    /// A timer of a client's session comes, unless it was set anew.
    ClientTimer { actor: ActorId, timer: ClientTimer, generation: u32 },
    /// A server's disk has done something.
    DiskDone { server: u8, incarnation: u32, file: FileId, ticket: u64 },
    /// A sleep, a piece of work or a scheduling point is over.
    Wake {
        actor: ActorId,
        /// How long it takes.
        after_ns: u64,
        /// It is a sleep, which is not over before its time.
        sleeps: bool,
        completer: Completer<()>,
    },
    /// A task that stood still though it was ready goes on.
    TaskGoesOn { actor: ActorId, task: TaskId },
    /// A write arrives at the outside resource.
    WriteArrives { actor: ActorId, resource: Resource, token: Option<Zxid>, completer: Completer<bool> },
    /// Its answer arrives at the writer.
    WriteAnswered { actor: ActorId, accepted: bool, completer: Completer<bool> },
    /// A client that was told of the end of its session asks for another one.
    Renew { actor: ActorId },
    /// A life of a client process begins.
    Begin { actor: ActorId },
    /// A fault of the schedule, by its place in it.
    Fault(usize),
    /// A process has done what a fault was aimed at: the next thing that happens is the fault.
    Strike { actor: ActorId, armed: Armed },
    /// A server crashes, if it has not since this was decided.
    CrashServer { server: u8, incarnation: u32, down_ms: u64 },
    /// It is time for a server to start again.
    ServerUp { server: u8, incarnation: u32 },
    /// A process's pause is over.
    Resume { actor: ActorId, pause: u32 },
    /// A datagram of an election arrives.
    Notified { from: u8, to: u8, notification: Notification },
    /// A link that a server has dialled comes about, or not.
    Linked { from: u8, to: u8, incarnation: u32 },
    /// Something arrives at an end of a link between servers.
    AtPeer { link: LinkId, end: usize, number: u64, message: ToPeer },
    /// The news that a link is gone arrives at an end.
    LinkGone { link: LinkId, end: usize },
    /// A server reads what has arrived there.
    PeerReads { link: LinkId, end: usize, message: ToPeer },
    /// A server reads that a link is gone.
    PeerReadsEnd { link: LinkId, end: usize },
    /// The pause of a server's process is over.
    ServerResumes { server: u8, pause: u32 },
    /// What one partition has cut gets through again.
    PartitionEnds { cut: Vec<[u8; 2]> },
    /// A while of late messages between servers ends.
    LagEnds { server: u8, until_ns: u64 },
    /// A while of slow syncs ends.
    SlowSyncEnds { server: u8, until_ns: u64 },
    /// A while of slow messages from and to a client ends.
    SlowLinkEnds { client: u16, until_ns: u64 },
    /// Faults are over.
    Heal,
}

/// What happens as a process does what it was aimed at.
#[derive(Clone, Debug)]
pub enum Armed {
    /// Its connection drops.
    Lose(Loss),
    /// The session that owns what it looks at expires.
    ExpireOwner,
    /// It stops for a while.
    Pause { for_ms: u64 },
    /// It crashes.
    Crash { restart_after_ms: u64 },
    /// An administrator meddles with what it has.
    Meddle(Meddling),
}

/// What an administrator does to a znode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meddling {
    /// Deletes it.
    Delete,
    /// Sets its data to this text.
    Write(Text),
}

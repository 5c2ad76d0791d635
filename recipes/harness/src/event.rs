//! What promises are judged by: what recipes say they do, and what the ensemble knows.
//!
//! ```
//! use zk_harness::event::{ActorId, Observation};
//! use zk_harness::words;
//!
//! let actor = ActorId { process: 1, life: 2, thread: 0 };
//! let what = Observation::Granted { lock: "/lock".into(), node: "/lock/a-lock-0000000007".into(), token: None };
//! assert_eq!((what.word(), &**what.subject()), (words::IS_GRANTED, "/lock"));
//! assert_eq!(format!("{actor} {what}"), "p1.2 is granted /lock by /lock/a-lock-0000000007");
//! ```

use crate::words::{self, Word};
use zk_api::{Data, Error, EventType, SessionId, Text, Zxid};

/// One life of one client process. A process that crashes and starts again is another actor.
///
/// Where several threads of a process each ask for something on its one session, each is an actor of its own in what it
/// says and writes ([`Probe::thread`](crate::probe::Probe::thread)). Sessions, connections, crashes and pauses are the
/// process's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ActorId {
    /// Which process, from 0.
    pub process: u16,
    /// Which of its lives, from 0.
    pub life: u8,
    /// Which of its threads; 0 is the main one, and the process.
    pub thread: u8,
}

impl ActorId {
    /// The process itself, whose session, connection and fate are those of all its threads.
    pub fn main(self) -> ActorId {
        self.of_thread(0)
    }

    /// A thread of the same life.
    pub fn of_thread(self, thread: u8) -> ActorId {
        ActorId { thread, ..self }
    }
}

/// Hashes as one `u16`, as nothing else in an event or a promise does, so that a model checker's hasher recognises
/// actors. The process is the lower byte; in a model, a process has far fewer than sixteen threads or lives.
impl std::hash::Hash for ActorId {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u16(self.process ^ u16::from(self.life) << 12 ^ u16::from(self.thread) << 8);
    }
}

/// As `p1`, in its third life as `p1.2`; its second thread as `p1/1`.
impl std::fmt::Display for ActorId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "p{}", self.process)?;
        match self.life {
            0 => {}
            life => write!(f, ".{life}")?,
        }
        match self.thread {
            0 => Ok(()),
            thread => write!(f, "/{thread}"),
        }
    }
}

impl std::fmt::Debug for ActorId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// One thing that a monitor sees. Events are seen in the order in which they happened.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// An actor says this. What a dead actor or an actor of a dead session says is passed on as well: the promise
    /// decides whether it counts.
    Observed { actor: ActorId, what: Observation },
    /// This has happened, whether anybody knows of it or not.
    Is(GroundTruth),
}

/// What a trial says of itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Observation {
    /// It begins to ask for the lock.
    Attempts { lock: Text },
    /// It was granted the lock; `node` is its znode there, and `token` its fencing token if the recipe gives one.
    Granted { lock: Text, node: Text, token: Option<Zxid> },
    /// It was granted the lock in shared mode, possibly together with others.
    Shares { lock: Text, node: Text, token: Option<Zxid> },
    /// It enters the critical section, believing that it holds the lock; or a section within that, which it leaves
    /// first.
    Enters { lock: Text },
    /// It has left the critical section.
    Leaves { lock: Text },
    /// It has released the lock, or knows that it does not hold it any more.
    Released { lock: Text },
    /// Its attempt ended without the lock; `why` gives the reason.
    GivesUp { lock: Text, why: Text },
    /// Anything else that a trial wants promises to see: "takes" "/queue" 7. Made by [`note`](Observation::note).
    #[non_exhaustive]
    Notes { what: Text, about: Text, number: i64 },
    /// The same; and from here until it ends, a fault would hurt most: "takes" "/queue/item-0000000001" 1. Faults that
    /// are aimed at holders are aimed at actors between the two.
    #[non_exhaustive]
    Begins { what: Text, about: Text, number: i64 },
    /// What [began](Observation::Begins) about the same subject is over, whatever its word was, and a round with it.
    #[non_exhaustive]
    Ends { what: Text, about: Text, number: i64 },
}

/// In the words of a timeline.
impl std::fmt::Display for Observation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let with = |token: &Option<Zxid>| token.map(|t| format!(", with token {t}")).unwrap_or_default();
        // Not everybody tells by which znode.
        let by = |node: &Text| if node.is_empty() { String::new() } else { format!(" by {node}") };
        match self {
            Observation::Attempts { lock } => write!(f, "asks for {lock}"),
            Observation::Granted { lock, node, token } => {
                write!(f, "is granted {lock}{}{}", by(node), with(token))
            }
            Observation::Shares { lock, node, token } => {
                write!(f, "is granted a share of {lock}{}{}", by(node), with(token))
            }
            Observation::Enters { lock } => write!(f, "enters the critical section of {lock}"),
            Observation::Leaves { lock } => write!(f, "leaves the critical section of {lock}"),
            Observation::Released { lock } => write!(f, "holds {lock} no more"),
            Observation::GivesUp { lock, why } => write!(f, "gives up on {lock}: {why}"),
            Observation::Notes { what, about, number }
            | Observation::Begins { what, about, number }
            | Observation::Ends { what, about, number } => write!(f, "{what} {about} {number}"),
        }
    }
}

impl Observation {
    /// A note for your own promises.
    pub fn note(what: Word<'_>, about: &str, number: i64) -> Observation {
        Observation::Notes { what: what.text().into(), about: about.into(), number }
    }

    /// The beginning of a stretch in which a fault would hurt most.
    pub fn begins(what: Word<'_>, about: &str, number: i64) -> Observation {
        Observation::Begins { what: what.text().into(), about: about.into(), number }
    }

    /// The end of what began about this subject, and of a round.
    pub fn ends(what: Word<'_>, about: &str, number: i64) -> Observation {
        Observation::Ends { what: what.text().into(), about: about.into(), number }
    }

    /// What it is about: a lock, or the subject of a note, a beginning or an end.
    pub fn subject(&self) -> &Text {
        match self {
            Observation::Attempts { lock }
            | Observation::Granted { lock, .. }
            | Observation::Shares { lock, .. }
            | Observation::Enters { lock }
            | Observation::Leaves { lock }
            | Observation::Released { lock }
            | Observation::GivesUp { lock, .. } => lock,
            Observation::Notes { about, .. }
            | Observation::Begins { about, .. }
            | Observation::Ends { about, .. } => about,
        }
    }

    /// The word that it is reported by.
    pub fn word(&self) -> Word<'_> {
        match self {
            Observation::Attempts { .. } => words::ATTEMPTS,
            Observation::Granted { .. } | Observation::Shares { .. } => words::IS_GRANTED,
            Observation::Enters { .. } => words::ENTERS,
            Observation::Leaves { .. } => words::LEAVES,
            Observation::Released { .. } => words::RELEASED,
            Observation::GivesUp { .. } => words::GIVES_UP,
            Observation::Notes { what, .. }
            | Observation::Begins { what, .. }
            | Observation::Ends { what, .. } => Word::own(what),
        }
    }

    /// The word, the subject and the number of a note, a beginning or an end; `None` for others.
    pub fn told(&self) -> Option<(Word<'_>, &str, i64)> {
        match self {
            Observation::Notes { what, about, number }
            | Observation::Begins { what, about, number }
            | Observation::Ends { what, about, number } => Some((Word::own(what), about, *number)),
            Observation::Attempts { .. }
            | Observation::Granted { .. }
            | Observation::Shares { .. }
            | Observation::Enters { .. }
            | Observation::Leaves { .. }
            | Observation::Released { .. }
            | Observation::GivesUp { .. } => None,
        }
    }
}

/// What the ensemble, the network or the outside resource knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroundTruth {
    /// A session was opened for an actor. This comes before anything else about that actor: a session that was never
    /// announced is taken for an administrator's. An actor whose client [renews](crate::trial::Trial::renews_session)
    /// its session has several, one after the other.
    SessionOpened { session: SessionId, actor: ActorId },
    /// A session's close has first committed. What its actor does later cannot be held against exclusion.
    SessionClosed { session: SessionId, actor: ActorId, expired: bool },
    /// A znode was created by a session; `owner` is `NONE` unless it is ephemeral.
    NodeCreated { path: Text, by: SessionId, owner: SessionId, czxid: Zxid },
    /// A znode has this data from now on. Reported after its creation, and whenever its data is set; for a multi, one
    /// by one with the same zxid. `owner` is `NONE` unless it is ephemeral.
    NodeWritten { path: Text, by: SessionId, owner: SessionId, data: Data, mzxid: Zxid },
    /// A znode was deleted: by a request of the session `by`, or with its session or by the server itself (`by` is
    /// `NONE`). `zxid` is its transaction's, so that what one transaction did can be told from what two did; it may be
    /// unknown where that transaction neither creates nor sets anything.
    NodeDeleted { path: Text, by: SessionId, owner: SessionId, zxid: Option<Zxid> },
    /// One change fired the watches of these actors, each counted once. Reported even if there are none.
    Fired { path: Text, kind: EventType, woken: Vec<ActorId> },
    /// An actor learns that its connection is lost.
    Disconnected { actor: ActorId },
    /// An actor learns that it is connected.
    Connected { actor: ActorId },
    /// An actor learns that its session is dead.
    LearnsExpiry { actor: ActorId },
    /// An actor crashed; its session lives on until it expires.
    Crashed { actor: ActorId },
    /// An actor's process stopped, as in a garbage collection.
    Paused { actor: ActorId },
    /// It goes on, believing what it believed.
    Resumed { actor: ActorId },
    /// A write reached the outside resource, and was accepted or refused.
    Wrote { resource: Resource, actor: ActorId, token: Option<Zxid>, accepted: bool },
    /// An actor asks the same thing so many times while nothing happens to it: see [`crate::polling`].
    Polls { actor: ActorId, request: Text, times: u32 },
    /// An actor's code has ended.
    Finished { actor: ActorId, end: End },
    /// A thread of an actor beside the main one has ended: the task that was the last to tell as that thread.
    ThreadEnded { actor: ActorId },
}

impl GroundTruth {
    /// Whose session, process or write it is of; `None` of what is so of a znode.
    pub fn actor(&self) -> Option<ActorId> {
        match self {
            GroundTruth::SessionOpened { actor, .. }
            | GroundTruth::SessionClosed { actor, .. }
            | GroundTruth::Disconnected { actor }
            | GroundTruth::Connected { actor }
            | GroundTruth::LearnsExpiry { actor }
            | GroundTruth::Crashed { actor }
            | GroundTruth::Paused { actor }
            | GroundTruth::Resumed { actor }
            | GroundTruth::Wrote { actor, .. }
            | GroundTruth::Polls { actor, .. }
            | GroundTruth::ThreadEnded { actor }
            | GroundTruth::Finished { actor, .. } => Some(*actor),
            GroundTruth::NodeCreated { .. }
            | GroundTruth::NodeWritten { .. }
            | GroundTruth::NodeDeleted { .. }
            | GroundTruth::Fired { .. } => None,
        }
    }
}

/// The resource that a lock is to protect: outside the ensemble, reached by writes that may take long to arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// Remembers the highest token it has seen and refuses a write with a lower one, or with none.
    Fenced,
    /// The same resource, for holders in shared mode: it refuses a write if it has seen a higher token of an exclusive
    /// holder. Tokens of other sharers do not matter, as sharers do not contradict each other.
    FencedShared,
    /// Accepts every write.
    Unfenced,
}

/// How an actor's code ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// It did all it was to do.
    Done,
    /// Its session was lost; a new life with a new session may begin.
    SessionLost,
    /// It failed in a way the recipe did not handle.
    Failed,
    /// It has ended its own process, as some do when they lose their connection: what follows is what follows a
    /// [crash](GroundTruth::Crashed), and that is what promises see.
    Exited,
}

impl End {
    /// Whether the whole process has ended with its main thread.
    pub fn leaves_nothing_running(self) -> bool {
        matches!(self, End::SessionLost | End::Exited)
    }
}

/// An actor that ends without an error has done all it was to do.
impl<E: Into<End>> From<Result<(), E>> for End {
    fn from(done: Result<(), E>) -> End {
        done.map_or_else(E::into, |()| End::Done)
    }
}

/// How an actor that does not handle an error ends.
impl From<Error> for End {
    fn from(error: Error) -> End {
        if error.is_session_over() { End::SessionLost } else { End::Failed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
    use zk_api::ErrorCode;

    #[test]
    fn actors_that_differ_have_different_hashes() {
        let one = ActorId { process: 1, life: 1, thread: 1 };
        let others =
            [ActorId { process: 2, ..one }, ActorId { life: 2, ..one }, ActorId { thread: 2, ..one }];
        let hash = |actor| BuildHasherDefault::<DefaultHasher>::default().hash_one(actor);
        assert_eq!(others.map(|other| hash(other) == hash(one)), [false; 3]);
    }

    #[test]
    fn who_does_not_handle_the_end_of_its_session_has_lost_it_and_whatever_else_it_has_failed() {
        let ends = |code| End::from(Error { code, tried: "create", path: "/a".into() });
        let codes = [ErrorCode::SessionExpired, ErrorCode::ConnectionLoss];
        assert_eq!(codes.map(ends), [End::SessionLost, End::Failed]);
    }
}

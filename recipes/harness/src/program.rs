//! Programs in the place of actors: clients that others wrote, in other languages, stepped like any state machine.
//!
//! A program exchanges bytes of ZooKeeper's own protocol, and knows no time but what it is told. How and where it is
//! started is not known here: whoever starts programs implements [`Programs`].
//!
//! ```
//! use zk_harness::event::End;
//! use zk_harness::program::{Input, Now, Output, Program, ProgramStep};
//!
//! /// Comes to its end as soon as it is connected.
//! struct Visitor;
//!
//! impl Program for Visitor {
//!     fn step(&mut self, _: Now, inputs: &[Input]) -> Result<ProgramStep, String> {
//!         let is_connected = inputs.iter().any(|input| matches!(input, Input::Connected(_)));
//!         let outputs = if is_connected { vec![Output::Ends(End::Done)] } else { Vec::new() };
//!         Ok(ProgramStep { outputs, ..ProgramStep::default() })
//!     }
//! }
//! let step = Visitor.step(Now { steady_ns: 0, wall_ns: 0 }, &[Input::Connected(1)])?;
//! assert_eq!(step.outputs, [Output::Ends(End::Done)]);
//! # Ok::<(), String>(())
//! ```

use crate::event::{ActorId, End, Observation};
use std::fmt::Debug;
use zk_api::KeeperState;

/// What starts programs: one for each life of a client process.
pub trait Programs: Debug + Send + Sync {
    /// Starts one. The error is a line that names the program and says what is wrong with it.
    fn begin(&self, life: &Life, now: Now) -> Result<(Box<dyn Program>, ProgramStep), String>;

    /// What a program did wrong while it ran as [code](crate::trial::Code::Programs), which cannot report it itself: a
    /// line that names the program. A search in which this happens must give no verdict.
    fn fault(&self) -> Option<String> {
        None
    }

    /// How many different histories of inputs a search has taken programs through, if that is counted.
    fn histories(&self) -> Option<u64> {
        None
    }

    /// How a program goes by something that no search varies, so that one which has found nothing decides nothing.
    fn undecided(&self) -> Option<String> {
        None
    }

    /// What always goes one way when programs run as such code, and could go otherwise.
    fn left_out(&self) -> &'static str {
        ""
    }
}

/// One life of a client process. It is over when this is dropped.
pub trait Program: Send {
    /// Takes what has happened, in this order, and runs until everything in it waits. The error is a line that names
    /// the program and says what it has done wrong: nothing more can be had of it.
    fn step(&mut self, now: Now, inputs: &[Input]) -> Result<ProgramStep, String>;
}

/// What a program is told as it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// Who it is.
    pub me: ActorId,
    /// How many client processes there are.
    pub clients: u16,
    /// How often it is to do what it does.
    pub rounds: u8,
    /// For all that it leaves to chance.
    pub seed: u64,
    /// The servers, in the order in which it is told of them.
    pub servers: Vec<u8>,
    /// The session timeout that it is to ask for, in milliseconds.
    pub timeout_ms: u32,
    /// How many of 64 threads that are woken stand still for a while.
    pub stands_still: u8,
    /// For how long at most, in nanoseconds.
    pub stands_still_ns: u64,
}

/// The time, as a process sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Nanoseconds since some moment; it never jumps.
    pub steady_ns: u64,
    /// Nanoseconds since the Unix epoch; it may jump.
    pub wall_ns: i64,
}

/// Names a connection; chosen by the program, and not used again in its life.
pub type Socket = u32;

/// Something that happens to a program. A step without any is for its timer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A connection that it has asked for is open.
    Connected(Socket),
    /// It could not be opened.
    Refused(Socket),
    /// Bytes have come.
    Data(Socket, Vec<u8>),
    /// Nothing more will come: the other end is gone.
    End(Socket),
    /// What was asked is done; of a write, whether it was accepted.
    Done { ask: u32, accepted: bool },
}

/// What a program wants done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// Open a connection to a server; `None` for an address where nobody is.
    Connect { socket: Socket, server: Option<u8> },
    /// Send bytes.
    Send { socket: Socket, bytes: Vec<u8> },
    /// Close it, or stop opening it.
    Close(Socket),
    /// It says something, as one of its threads.
    Observed { thread: u8, what: Observation },
    /// It prints a line, which is shown and judged by nobody.
    Prints(String),
    /// It works for a while, whose length is drawn.
    Work { ask: u32 },
    /// It writes to the outside resource without a fence.
    Write { ask: u32, thread: u8 },
    /// Its main thread has come to its end.
    Ends(End),
    /// The same, and all is done; but its process is gone, and nobody keeps its session.
    Leaves,
    /// One of its threads sleeps by its own will, for so long: a good while.
    Sleeps { for_ns: u64 },
}

/// What a program that [exits](End::Exited) or takes its [session for over](End::SessionLost) may have done so for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Losses {
    is_connected: bool,
    /// Its connection or its session, since it last began anything.
    has_lost: bool,
    /// Either of them, or it has closed its session.
    has_ever_lost: bool,
}

impl Losses {
    /// Its session has this state now.
    pub fn is_in(&mut self, state: KeeperState) {
        let was_connected = self.is_connected;
        self.is_connected = !matches!(state, KeeperState::Disconnected | KeeperState::Expired);
        self.has_lost |= was_connected && !self.is_connected;
        self.has_ever_lost |= self.has_lost || state == KeeperState::Closed;
    }

    /// It tells something.
    pub fn hear(&mut self, what: &Observation) {
        let begins = matches!(what, Observation::Attempts { .. } | Observation::Begins { .. });
        self.has_lost &= !(begins && self.is_connected);
    }

    /// How it has ended: who exits, though all is well, has failed, and so has who takes a session for over that it
    /// was never without.
    pub fn end(&self, end: End) -> End {
        match end {
            End::Exited if self.is_connected && !self.has_lost => End::Failed,
            End::SessionLost if self.is_connected && !self.has_ever_lost => End::Failed,
            end => end,
        }
    }
}

/// What came of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProgramStep {
    /// What is to be done, in this order.
    pub outputs: Vec<Output>,
    /// When it wants to be stepped next though nothing happens, in nanoseconds of its steady clock.
    pub timer_ns: Option<u64>,
    /// How often it has gone from one of its threads to another. Runs that differ in nothing else differ here.
    pub switches: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_exits_has_failed_unless_it_has_lost_something_since_it_last_began_anything() {
        let attempts = Observation::Attempts { lock: "/lock".into() };
        let goes_on = Observation::Enters { lock: "/lock".into() };
        let mut losses = Losses::default();
        assert_eq!(losses.end(End::Exited), End::Exited, "it never was connected");
        losses.is_in(KeeperState::Disconnected);
        losses.is_in(KeeperState::SyncConnected);
        assert_eq!([End::Exited, End::Done].map(|end| losses.end(end)), [End::Failed, End::Done]);
        for lost in [KeeperState::Disconnected, KeeperState::Expired] {
            losses.is_in(lost);
            losses.hear(&attempts);
            losses.is_in(KeeperState::SyncConnected);
            losses.hear(&goes_on);
            assert_eq!(losses.end(End::Exited), End::Exited, "{lost:?}");
            losses.hear(&attempts);
            assert_eq!(losses.end(End::Exited), End::Failed, "it has gone on after {lost:?}");
        }
        losses.is_in(KeeperState::Closed);
        assert_eq!(losses.end(End::Exited), End::Failed, "it has closed its session itself");
    }

    #[test]
    fn who_takes_its_session_for_over_has_failed_unless_it_has_ever_been_without_it() {
        let mut losses = Losses::default();
        assert_eq!(losses.end(End::SessionLost), End::SessionLost, "it never was connected");
        losses.is_in(KeeperState::SyncConnected);
        assert_eq!(losses.end(End::SessionLost), End::Failed);
        for lost in [KeeperState::Disconnected, KeeperState::Expired, KeeperState::Closed] {
            let mut losses = losses;
            losses.is_in(lost);
            losses.is_in(KeeperState::SyncConnected);
            losses.hear(&Observation::Attempts { lock: "/lock".into() });
            assert_eq!(losses.end(End::SessionLost), End::SessionLost, "{lost:?}: it may notice late");
        }
    }
}

//! A client process: its session, its tasks' slots, its clock, and what a pause holds back.

use crate::choices::{Choices, Stream};
use crate::clock::Clock;
use crate::event::{Armed, SimEvent};
use crate::executor::TaskId;
use crate::fault::When;
use crate::hosted::Client;
use crate::mailbox::{CallCompleter, GuidOrder, Mailbox};
use crate::scenario::Scenario;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Index, IndexMut};
use std::sync::Arc;
use zk_api::{Completer, KeeperState, Request, SessionId, WatchedEvent};
use zk_harness::event::{ActorId, End};
use zk_harness::polling::{AskedAt, Polling};
use zk_proto::client::{ClientTimer, WatchId};
use zk_proto::message::ConnId;

/// All processes, by their numbers.
pub struct Processes(pub Vec<Process>);

impl Index<u16> for Processes {
    type Output = Process;

    fn index(&self, process: u16) -> &Process {
        &self.0[usize::from(process)]
    }
}

impl IndexMut<u16> for Processes {
    fn index_mut(&mut self, process: u16) -> &mut Process {
        &mut self.0[usize::from(process)]
    }
}

/// A client process over all its lives.
pub struct Process {
    /// Which process, and its present life.
    pub actor: ActorId,
    /// The present life's client. `None` before the first life and after a crash.
    pub client: Option<Client>,
    pub mailbox: Arc<Mailbox>,
    /// The session of the code that runs is over, and its client has asked for another one.
    pub renews: bool,
    pub clock: Clock,
    /// The connection that is being opened.
    pub opening: Option<ConnId>,
    pub calls: BTreeMap<u64, (Request, AskedAt, CallCompleter)>,
    pub polling: Polling,
    /// As which threads beside the main one a program has told: they end with it.
    pub threads: BTreeSet<u8>,
    /// Since when all that it has asked for is sleep.
    pub dozes_since_ns: Option<u64>,
    pub watches: BTreeMap<WatchId, Completer<WatchedEvent>>,
    pub next_call: u64,
    /// Counts the settings of each timer; only the last one counts.
    pub timers: [u32; 2],
    /// Rounds that are still to be done.
    pub rounds_left: u8,
    /// How the present life's code has ended.
    pub finished: Option<End>,
    /// Another life will begin.
    pub comes_back: bool,
    /// Events that wait for the end of a pause.
    pub held_back: Option<Vec<SimEvent>>,
    /// Counts pauses, so that the end of one that a crash cut short ends no other.
    pub pauses: u32,
    /// Tasks that are ready and stand still.
    pub standing: BTreeSet<TaskId>,
    /// It is told in this turn that it has lost its connection or its session: nobody stands still then. A promise
    /// takes what the client knows for what its code was told.
    pub learns_loss: bool,
    /// What waits for the process to do something.
    pub armed: Vec<(When, Armed)>,
}

impl Process {
    /// A process that has not begun.
    pub fn new(id: u16, scenario: &Scenario, choices: &mut Choices) -> Process {
        let actor = ActorId { process: id, life: 0, thread: 0 };
        let offset_ms = choices.below(Stream::Clock, 256 + u64::from(id), 4001) as i64 - 2000;
        Process {
            actor,
            client: None,
            // That of its first life comes with that.
            mailbox: Arc::new(Mailbox::new(actor, GuidOrder::Rising)),
            renews: false,
            clock: Clock::new(offset_ms),
            opening: None,
            calls: BTreeMap::new(),
            polling: Polling::of(scenario.rounds),
            threads: BTreeSet::new(),
            dozes_since_ns: None,
            watches: BTreeMap::new(),
            next_call: 0,
            timers: [0; 2],
            rounds_left: scenario.rounds,
            finished: None,
            comes_back: id < scenario.clients,
            held_back: None,
            pauses: 0,
            standing: BTreeSet::new(),
            learns_loss: false,
            armed: Vec::new(),
        }
    }

    /// Whether the process is there, and in this life; whichever thread it is.
    pub fn is(&self, actor: ActorId) -> bool {
        self.actor == actor.main() && self.client.is_some()
    }

    /// Whether any of its tasks waits for an answer.
    pub fn awaits_answers(&self) -> bool {
        self.calls.values().any(|(.., completer)| !completer.is_abandoned())
    }

    /// The state of its session, as far as it knows.
    pub fn state(&self) -> Option<KeeperState> {
        self.client.as_ref().map(Client::state)
    }

    /// Its session, if it has one.
    pub fn session(&self) -> SessionId {
        self.client.as_ref().map(Client::session).unwrap_or_default()
    }

    /// Whether nothing more is to come of it.
    pub fn is_done(&self) -> bool {
        !self.comes_back && (self.finished.is_some() || self.client.is_none())
    }

    /// The count of a timer's settings.
    pub fn timer(&mut self, timer: ClientTimer) -> &mut u32 {
        match timer {
            ClientTimer::Liveness => &mut self.timers[0],
            ClientTimer::Reconnect => &mut self.timers[1],
        }
    }

    /// Sets a timer. Gives the count of its settings.
    pub fn set_timer(&mut self, timer: ClientTimer) -> u32 {
        let count = self.timer(timer);
        *count += 1;
        *count
    }

    /// The present life is over: forgets all that belongs to it. Its tasks are the executor's.
    pub fn end_life(&mut self) {
        self.mailbox.die();
        self.client = None;
        self.renews = false;
        self.opening = None;
        self.held_back = None;
        self.calls.clear();
        self.watches.clear();
        self.standing.clear();
        self.timers = self.timers.map(|count| count + 1);
    }
}

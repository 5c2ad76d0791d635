//! [`Mailbox`]: what the tasks of a client process ask of the simulator, and what they may look at. It is the session
//! and the probe that their code sees.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zk_api::{
    Call, Completer, Error, KeeperState, Pending, Request, Response, SessionId, Text, Watch, ZooKeeper, Zxid,
};
use zk_harness::event::{ActorId, Observation, Resource};
use zk_harness::probe::{ASKS_PER_TURN, Probe, Task};

/// Fills the slot of a call.
pub type CallCompleter = Completer<Result<(Response, Option<Watch>), Error>>;

/// Something a task asks for.
pub enum Ask {
    Submit { request: Request, completer: CallCompleter },
    Sleep { duration: Duration, completer: Completer<()> },
    Point { completer: Completer<()> },
    Work { completer: Completer<()> },
    Write { thread: u8, resource: Resource, token: Option<Zxid>, completer: Completer<bool> },
    Observe { thread: u8, what: Observation },
    Spawn(Task),
    EndThread(u8),
}

/// What unwinds a task that asks for more than [`ASKS_PER_TURN`] things in one turn.
pub struct Spin;

/// One life of a client process as seen from inside. Locked for moments only, and by one thread.
pub struct Mailbox {
    actor: ActorId,
    inner: Mutex<Inner>,
}

struct Inner {
    asks: Vec<Ask>,
    asked_this_turn: u32,
    session: SessionId,
    state: KeeperState,
    waiting_for_state: Vec<Completer<KeeperState>>,
    guids: u32,
    guid_order: GuidOrder,
    dead: bool,
}

impl Mailbox {
    /// The mailbox of a life that begins.
    pub fn new(actor: ActorId, guid_order: GuidOrder) -> Mailbox {
        Mailbox {
            actor,
            inner: Mutex::new(Inner {
                asks: Vec::new(),
                asked_this_turn: 0,
                session: SessionId::NONE,
                state: KeeperState::Disconnected,
                waiting_for_state: Vec::new(),
                guids: 0,
                guid_order,
                dead: false,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock, for something that a task does; unwinds the task where it does too much of it.
    fn count(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.lock();
        inner.asked_this_turn += 1;
        // A second panic while the first unwinds would end the process.
        if inner.asked_this_turn > ASKS_PER_TURN && !inner.dead && !std::thread::panicking() {
            drop(inner);
            std::panic::panic_any(Spin);
        }
        inner
    }

    /// Takes an order. What a dead process asks for is forgotten: nobody will ever answer.
    fn ask(&self, ask: Ask) {
        let mut inner = self.count();
        if !inner.dead {
            inner.asks.push(ask);
        }
    }

    /// Takes an order that is answered.
    fn ask_for<T>(&self, ask: impl FnOnce(Completer<T>) -> Ask) -> Pending<T> {
        let (completer, pending) = Pending::slot();
        self.ask(ask(completer));
        pending
    }

    /// A turn begins.
    pub fn begin_turn(&self) {
        self.lock().asked_this_turn = 0;
    }

    /// Takes what was asked for.
    pub fn take(&self) -> Vec<Ask> {
        std::mem::take(&mut self.lock().asks)
    }

    /// The client has learned something.
    pub fn learn(&self, session: SessionId, state: KeeperState) {
        let waiting = {
            let mut inner = self.lock();
            let changed = inner.state != state;
            (inner.session, inner.state) = (session, state);
            if changed { std::mem::take(&mut inner.waiting_for_state) } else { Vec::new() }
        };
        for completer in waiting {
            completer.complete(state);
        }
    }

    /// The process is gone.
    pub fn die(&self) {
        let mut inner = self.lock();
        inner.dead = true;
        let dropped = (std::mem::take(&mut inner.asks), std::mem::take(&mut inner.waiting_for_state));
        drop(inner);
        drop(dropped);
    }
}

/// The session of this life.
impl ZooKeeper for Mailbox {
    fn submit(&self, request: Request) -> Call {
        self.ask_for(|completer| Ask::Submit { request, completer })
    }

    fn sleep(&self, duration: Duration) -> Pending<()> {
        self.ask_for(|completer| Ask::Sleep { duration, completer })
    }

    fn session(&self) -> SessionId {
        self.count().session
    }

    fn state(&self) -> KeeperState {
        self.count().state
    }

    fn state_change(&self) -> Pending<KeeperState> {
        let (completer, pending) = Pending::slot();
        self.count().waiting_for_state.push(completer);
        pending
    }
}

/// What a trial says in this life, and what else it needs.
impl Probe for Mailbox {
    fn observe_of(&self, thread: u8, what: Observation) {
        self.ask(Ask::Observe { thread, what });
    }

    fn point(&self) -> Pending<()> {
        self.ask_for(|completer| Ask::Point { completer })
    }

    fn work(&self) -> Pending<()> {
        self.ask_for(|completer| Ask::Work { completer })
    }

    fn write_of(&self, thread: u8, resource: Resource, token: Option<Zxid>) -> Pending<bool> {
        self.ask_for(|completer| Ask::Write { thread, resource, token, completer })
    }

    /// Who asks, and how often it did so before.
    fn guid(&self) -> Text {
        let mut inner = self.count();
        inner.guids += 1;
        guid(self.actor, inner.guids - 1, inner.guid_order)
    }

    fn spawn(&self, task: Task) {
        self.ask(Ask::Spawn(task));
    }

    fn thread_ends(&self, thread: u8) {
        self.ask(Ask::EndThread(thread));
    }
}

/// In which order guids are as texts.
#[derive(Clone, Copy, Debug)]
pub enum GuidOrder {
    /// By process, life and number.
    Rising,
    /// The other way round.
    Falling,
    /// As this number mixes them: no code may rely on the order of guids.
    Mixed(u64),
}

/// The text that a process is given as unlike any other, the `nth` of its life from 0 on.
pub fn guid(actor: ActorId, nth: u32, order: GuidOrder) -> Text {
    let ActorId { process, life, .. } = actor;
    let rising = format!("g{process:02x}x{life:02x}x{:x}", nth + 1);
    match order {
        GuidOrder::Rising => rising.into(),
        GuidOrder::Falling => {
            format!("g{:04x}x{:02x}x{:08x}", u16::MAX - process, u8::MAX - life, u32::MAX - nth).into()
        }
        GuidOrder::Mixed(by) => {
            let mixed = xxhash_rust::xxh3::xxh3_64_with_seed(rising.as_bytes(), by) as u16;
            format!("g{mixed:04x}{rising}").into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mailbox() -> Mailbox {
        Mailbox::new(ActorId { process: 1, life: 0, thread: 0 }, GuidOrder::Rising)
    }

    #[test]
    fn guids_are_unlike_and_fit_for_names() {
        let of = |process, life| Mailbox::new(ActorId { process, life, thread: 0 }, GuidOrder::Rising);
        let all = [of(1, 0).guid(), of(1, 1).guid(), of(2, 0).guid()];
        let again = mailbox();
        assert_eq!(again.guid(), all[0]);
        assert_ne!(again.guid(), all[0]);
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
        assert!(all.iter().all(|g| !g.contains(['-', '_', '/'])));
    }

    #[test]
    fn guids_rise_fall_or_are_in_no_order() {
        let guids = |order| {
            let actors = (0..40).map(|process| ActorId { process, life: 0, thread: 0 });
            actors.flat_map(|actor| (0..3).map(move |nth| guid(actor, nth, order))).collect::<Vec<_>>()
        };
        assert!(guids(GuidOrder::Rising).is_sorted());
        assert!(guids(GuidOrder::Falling).is_sorted_by(|one, next| one > next));
        let mixed = guids(GuidOrder::Mixed(7));
        let rises = mixed.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((30..90).contains(&rises), "{rises} of {}", mixed.len());
        assert_ne!(mixed, guids(GuidOrder::Mixed(8)));
    }

    #[test]
    fn a_state_change_is_told_to_who_asked_before_it() {
        let mailbox = mailbox();
        let mut before = mailbox.state_change();
        mailbox.learn(SessionId::new(7), KeeperState::Disconnected);
        assert_eq!(before.try_take(), None);
        mailbox.learn(SessionId::new(7), KeeperState::SyncConnected);
        let mut after = mailbox.state_change();
        assert_eq!(before.try_take(), Some(KeeperState::SyncConnected));
        assert_eq!(after.try_take(), None);
        assert_eq!(mailbox.session(), SessionId::new(7));
    }

    #[test]
    fn a_dead_process_is_not_served() {
        let mailbox = mailbox();
        mailbox.die();
        let (completer, _pending) = Pending::slot();
        mailbox.ask(Ask::Point { completer });
        assert!(mailbox.take().is_empty());
    }
}

//! Between the server and one connection's task: what is to be sent, and how much more may be asked.
//!
//! The server never waits for a client. It puts what is to be sent into the [`ClientLink`] and goes on; the
//! connection's task sends it as fast as the client reads. In the other direction each request needs a place
//! before it is handed over, and gives it back when it is answered: a task without places does not read, and
//! TCP tells the client.

use crate::Limits;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, Semaphore};

/// One connection as the server's side sees it.
#[derive(Debug)]
pub(crate) struct ClientLink {
    inner: Mutex<Inner>,
    /// Told whenever the writer has something to look at.
    writer: Notify,
    /// Places for requests that are not answered, and for their bytes.
    requests: Semaphore,
    bytes: Semaphore,
}

#[derive(Debug)]
struct Inner {
    /// What the writer has not taken yet.
    unsent: Vec<u8>,
    /// What the writer has taken and not sent.
    in_hand: usize,
    state: State,
    /// Whether the server wants to be told when there is room again.
    stalled: bool,
}

/// What is to become of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It goes on.
    Open,
    /// It ends when what was put in is sent.
    Flushing,
    /// It ends at once.
    Aborted,
    /// Nothing passes in either direction any more, and nobody is told.
    Silent,
}

/// What the writer finds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unsent {
    /// To be sent now.
    Bytes(Vec<u8>),
    /// Nothing, and nothing will come.
    End,
    /// Nothing yet.
    Nothing,
}

impl ClientLink {
    pub(crate) fn new(limits: &Limits) -> ClientLink {
        ClientLink {
            inner: Mutex::new(Inner { unsent: Vec::new(), in_hand: 0, state: State::Open, stalled: false }),
            writer: Notify::new(),
            requests: Semaphore::new(limits.outstanding_requests.max(1)),
            bytes: Semaphore::new(limits.outstanding_bytes()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Whoever panicked left nothing half done: every change is one assignment.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets `put` append what is to be sent. Nothing is appended to a connection that ends.
    pub(crate) fn send<E>(&self, put: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let mut inner = self.lock();
        if inner.state != State::Open {
            return Ok(());
        }
        put(&mut inner.unsent)?;
        drop(inner);
        self.writer.notify_one();
        Ok(())
    }

    /// Appends bytes to what is to be sent.
    pub(crate) fn append(&self, bytes: &[u8]) {
        // Appending does not fail.
        let _ = self.send(|out| {
            out.extend_from_slice(bytes);
            Ok::<(), std::convert::Infallible>(())
        });
    }

    /// How many bytes are not sent yet.
    pub(crate) fn unsent(&self) -> usize {
        let inner = self.lock();
        inner.unsent.len() + inner.in_hand
    }

    /// Asks to be told when less than `mark` is unsent. False if that is so already.
    pub(crate) fn stall(&self, mark: usize) -> bool {
        let mut inner = self.lock();
        inner.stalled = inner.unsent.len() + inner.in_hand >= mark;
        inner.stalled
    }

    /// Ends it, or silences it. What is on its way to the end does not come back, and what is silent only ends at
    /// once.
    pub(crate) fn turn(&self, state: State) {
        let mut inner = self.lock();
        match (inner.state, state) {
            (State::Aborted, _)
            | (State::Silent, State::Open | State::Flushing | State::Silent)
            | (State::Flushing, State::Open | State::Flushing) => return,
            (State::Open | State::Flushing, _) | (State::Silent, State::Aborted) => inner.state = state,
        }
        if matches!(state, State::Aborted | State::Silent) {
            inner.unsent = Vec::new();
        }
        drop(inner);
        self.writer.notify_one();
        // Whoever waits for a place waits for nothing.
        self.requests.close();
        self.bytes.close();
    }

    pub(crate) fn state(&self) -> State {
        self.lock().state
    }

    /// The writer takes what there is.
    pub(crate) fn take(&self) -> Unsent {
        let mut inner = self.lock();
        if !inner.unsent.is_empty() {
            let bytes = std::mem::take(&mut inner.unsent);
            inner.in_hand = bytes.len();
            return Unsent::Bytes(bytes);
        }
        match inner.state {
            State::Open | State::Silent => Unsent::Nothing,
            State::Flushing | State::Aborted => Unsent::End,
        }
    }

    /// The writer has sent so many of the bytes it took. Tells whether the server wants to know.
    pub(crate) fn sent(&self, bytes: usize, mark: usize) -> bool {
        let mut inner = self.lock();
        inner.in_hand = inner.in_hand.saturating_sub(bytes);
        let room = inner.unsent.len() + inner.in_hand < mark;
        let tell = inner.stalled && room;
        inner.stalled &= !tell;
        tell
    }

    /// Waits until there is something for the writer to look at.
    pub(crate) async fn changed(&self) {
        self.writer.notified().await;
    }

    /// Waits for a place for a request of so many bytes. False if the connection ends.
    pub(crate) async fn place(&self, bytes: usize) -> bool {
        let (Ok(request), Ok(room)) =
            (self.requests.acquire().await, self.bytes.acquire_many(units(bytes)).await)
        else {
            return false;
        };
        request.forget();
        room.forget();
        true
    }

    /// Takes a place if there is one.
    pub(crate) fn try_place(&self, bytes: usize) -> bool {
        let Ok(request) = self.requests.try_acquire() else { return false };
        let Ok(room) = self.bytes.try_acquire_many(units(bytes)) else { return false };
        request.forget();
        room.forget();
        true
    }

    /// A request of so many bytes is answered.
    pub(crate) fn give_back(&self, bytes: usize) {
        self.requests.add_permits(1);
        self.bytes.add_permits(units(bytes) as usize);
    }
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

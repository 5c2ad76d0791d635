//! Values that somebody else will provide: the futures of this API.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A value that will be there at some time: from a slot that a [`Completer`] fills, a boxed future, or a function to
/// poll.
///
/// Dropping it tells the completer that nobody waits any more. A slot may be filled more than once (a
/// persistent watch is); awaiting `&mut pending` then gives one value after the other, in order.
///
/// ```
/// use zk_api::Pending;
/// let (completer, pending) = Pending::<u8>::slot();
/// assert!(completer.complete(7));
/// # let mut pending = pending;
/// assert_eq!(pending.try_take(), Some(7));
/// ```
#[must_use = "a Pending that is dropped is abandoned"]
pub struct Pending<T>(Inner<T>);

enum Inner<T> {
    Slot(Arc<Mutex<Slot<T>>>),
    Ready(Option<T>),
    Boxed(Pin<Box<dyn Future<Output = T> + Send>>),
    Polled(Polled<T>),
}

type Polled<T> = Box<dyn FnMut(&mut Context<'_>) -> Poll<T> + Send>;

struct Slot<T> {
    values: VecDeque<T>,
    waker: Option<Waker>,
    abandoned: bool,
}

/// The other end of a [`Pending`] made by [`Pending::slot`].
pub struct Completer<T>(Arc<Mutex<Slot<T>>>);

fn lock<T>(slot: &Mutex<Slot<T>>) -> MutexGuard<'_, Slot<T>> {
    // A waker that panicked leaves the slot consistent.
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Pending<T> {
    /// An empty slot and the means to fill it.
    pub fn slot() -> (Completer<T>, Pending<T>) {
        let slot = Arc::new(Mutex::new(Slot { values: VecDeque::new(), waker: None, abandoned: false }));
        (Completer(slot.clone()), Pending(Inner::Slot(slot)))
    }

    /// A value that is there already.
    pub fn ready(value: T) -> Pending<T> {
        Pending(Inner::Ready(Some(value)))
    }

    /// The value that a future will return.
    pub fn boxed(future: impl Future<Output = T> + Send + 'static) -> Pending<T> {
        Pending(Inner::Boxed(Box::pin(future)))
    }

    /// What a function returns each time it is polled, for values that keep coming from a source without slots. The
    /// function is polled as a future is, and must arrange to be woken.
    pub fn polled(poll: impl FnMut(&mut Context<'_>) -> Poll<T> + Send + 'static) -> Pending<T> {
        Pending(Inner::Polled(Box::new(poll)))
    }

    /// The value, if it is there and nobody took it yet. Always `None` for a future or a function, which must be
    /// polled.
    pub fn try_take(&mut self) -> Option<T> {
        match &mut self.0 {
            Inner::Slot(slot) => lock(slot).values.pop_front(),
            Inner::Ready(value) => value.take(),
            Inner::Boxed(_) | Inner::Polled(_) => None,
        }
    }

    /// This value, put through a function.
    pub fn map<U>(self, f: impl FnOnce(T) -> U + Send + 'static) -> Pending<U>
    where
        T: Send + 'static,
    {
        Pending::boxed(async move { f(self.await) })
    }
}

// Nothing in it is pinned in place: the boxed future is pinned in its box.
impl<T> Unpin for Pending<T> {}

impl<T> Future for Pending<T> {
    type Output = T;

    /// A slot that is empty stays pending. A ready value or a boxed future must not be polled again once
    /// it has given its value.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match &mut self.0 {
            Inner::Slot(slot) => {
                let mut slot = lock(slot);
                match slot.values.pop_front() {
                    Some(value) => Poll::Ready(value),
                    None => {
                        match &mut slot.waker {
                            Some(waker) => waker.clone_from(cx.waker()),
                            none => *none = Some(cx.waker().clone()),
                        }
                        Poll::Pending
                    }
                }
            }
            Inner::Ready(value) => Poll::Ready(value.take().expect("a ready value is awaited once")),
            Inner::Boxed(future) => future.as_mut().poll(cx),
            Inner::Polled(poll) => poll(cx),
        }
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        if let Inner::Slot(slot) = &self.0 {
            let mut slot = lock(slot);
            slot.abandoned = true;
            slot.waker = None;
        }
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pending")
    }
}

impl<T> Completer<T> {
    /// Fills the slot for good. Tells whether anybody was waiting.
    pub fn complete(self, value: T) -> bool {
        self.send(value)
    }

    /// Adds one value, with more to come. Tells whether anybody was waiting.
    pub fn send(&self, value: T) -> bool {
        let waker = {
            let mut slot = lock(&self.0);
            if slot.abandoned {
                return false;
            }
            slot.values.push_back(value);
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// Whether a task has polled the other end and is to be woken.
    pub fn is_polled(&self) -> bool {
        lock(&self.0).waker.is_some()
    }

    /// Whether the other end was dropped, so that nobody waits any more.
    pub fn is_abandoned(&self) -> bool {
        lock(&self.0).abandoned
    }
}

impl<T> fmt::Debug for Completer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Completer")
    }
}

/// One of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Either<A, B> {
    /// The first.
    Left(A),
    /// The second.
    Right(B),
}

/// Waits for whichever comes first; the first future wins a tie, so that a run is deterministic. The other stays with
/// the caller, who may go on waiting for it.
///
/// ```
/// use zk_api::{race, Either, Pending};
/// # fn now<T>(f: impl Future<Output = T>) -> T {
/// #     let mut f = std::pin::pin!(f);
/// #     match f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
/// #         std::task::Poll::Ready(v) => v, std::task::Poll::Pending => panic!() } }
/// let (_never, mut a) = Pending::<u8>::slot();
/// let mut b = Pending::ready('b');
/// assert_eq!(now(race(&mut a, &mut b)), Either::Right('b'));
/// ```
pub async fn race<A, B>(first: A, second: B) -> Either<A::Output, B::Output>
where
    A: Future,
    B: Future,
{
    let mut first = std::pin::pin!(first);
    let mut second = std::pin::pin!(second);
    std::future::poll_fn(|cx| match first.as_mut().poll(cx) {
        Poll::Ready(a) => Poll::Ready(Either::Left(a)),
        Poll::Pending => second.as_mut().poll(cx).map(Either::Right),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poll<T>(f: &mut (impl Future<Output = T> + Unpin)) -> Poll<T> {
        Pin::new(f).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_slot_is_pending_until_it_is_filled() {
        let (completer, mut pending) = Pending::slot();
        assert_eq!(poll(&mut pending), Poll::Pending);
        assert!(completer.complete(1));
        assert_eq!(poll(&mut pending), Poll::Ready(1));
    }

    #[test]
    fn a_persistent_slot_gives_its_values_in_order() {
        let (completer, mut pending) = Pending::slot();
        assert!(completer.send(1) && completer.send(2));
        assert_eq!((poll(&mut pending), poll(&mut pending)), (Poll::Ready(1), Poll::Ready(2)));
        assert_eq!(poll(&mut pending), Poll::Pending);
    }

    #[test]
    fn a_polled_function_may_give_value_after_value() {
        let mut next = 0;
        let mut pending = Pending::polled(move |_| {
            next += 1;
            if next < 3 { Poll::Ready(next) } else { Poll::Pending }
        });
        assert_eq!((poll(&mut pending), poll(&mut pending)), (Poll::Ready(1), Poll::Ready(2)));
        assert_eq!((poll(&mut pending), pending.try_take()), (Poll::Pending, None));
    }

    #[test]
    fn an_abandoned_slot_tells_its_completer() {
        let (completer, pending) = Pending::slot();
        assert!(!completer.is_abandoned());
        drop(pending);
        assert!(completer.is_abandoned());
        assert!(!completer.complete(1));
    }

    #[test]
    fn a_mapped_slot_is_abandoned_with_its_map() {
        let (completer, pending) = Pending::<u8>::slot();
        drop(pending.map(|v| v + 1));
        assert!(completer.is_abandoned());
    }

    #[test]
    fn the_first_of_a_race_wins_a_tie() {
        let mut both = Box::pin(race(Pending::ready('a'), Pending::ready('b')));
        assert_eq!(poll(&mut both), Poll::Ready(Either::Left('a')));
    }
}

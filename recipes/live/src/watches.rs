//! Watches.

use crate::convert;
use crate::hub::Kept;
use std::future::Future;
use std::pin::pin;
use std::task::{Poll, ready};
use zk_api::{Pending, Watch};
use zookeeper_client::{EventType, OneshotWatcher, PersistentWatcher};

/// A watch that gives one event.
///
/// It is polled where it is awaited, and not forwarded by a task: an event that came before an answer is there before
/// the answer is. Dropping it removes the watch.
pub(crate) fn one_shot(watcher: OneshotWatcher) -> Watch {
    Pending::boxed(async move { convert::event(watcher.changed().await) })
}

/// A watch that gives event after event, and at last the end of the session.
pub(crate) fn persistent(mut watcher: PersistentWatcher, kept: Kept) -> Watch {
    let mut over = false;
    Pending::polled(move |cx| {
        let _ = &kept;
        while !over {
            // It waits for its channel alone, and loses nothing when it is dropped.
            let event = ready!(pin!(watcher.changed()).poll(cx));
            // It is told of lost connections as well, of which our watches are not told.
            let is_of_session = event.event_type == EventType::Session;
            over = is_of_session && event.session_state.is_terminated();
            if over || !is_of_session {
                return Poll::Ready(convert::event(event));
            }
        }
        Poll::Pending
    })
}

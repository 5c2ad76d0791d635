//! The state of a session for those who wait for a change of it, and its persistent watches.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zk_api::{AddWatchMode, Completer, KeeperState, Pending, Text};

/// What is known of a session, in one place: a state that was read before somebody asks for its change is the one
/// that has to change.
pub(crate) struct Hub(Mutex<Known>);

struct Known {
    state: KeeperState,
    waiting: Vec<Completer<KeeperState>>,
    /// By a number of their own.
    persistent: BTreeMap<u64, (Text, AddWatchMode)>,
    next: u64,
}

impl Hub {
    pub(crate) fn new(state: KeeperState) -> Hub {
        Hub(Mutex::new(Known { state, waiting: Vec::new(), persistent: BTreeMap::new(), next: 0 }))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Nothing in here panics half way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn state(&self) -> KeeperState {
        self.known().state
    }

    /// The next state that differs from the one now. After a final one there is none.
    pub(crate) fn change(&self) -> Pending<KeeperState> {
        let (completer, change) = Pending::slot();
        let mut known = self.known();
        known.waiting.retain(|waiting| !waiting.is_abandoned());
        known.waiting.push(completer);
        change
    }

    /// The state that will be final, or is.
    pub(crate) async fn end(&self) -> KeeperState {
        loop {
            let change = self.change();
            let now = self.state();
            if now.is_final() {
                return now;
            }
            change.await;
        }
    }

    /// The state is this now.
    pub(crate) fn learn(&self, state: KeeperState) {
        let waiting = {
            let mut known = self.known();
            if known.state == state || known.state.is_final() {
                return;
            }
            known.state = state;
            std::mem::take(&mut known.waiting)
        };
        for completer in waiting {
            completer.complete(state);
        }
    }

    /// The persistent watches that somebody holds.
    pub(crate) fn persistent(&self) -> Vec<(Text, AddWatchMode)> {
        self.known().persistent.values().cloned().collect()
    }
}

/// Keeps a persistent watch in the list of those that are added again on the next connection, until it is dropped.
pub(crate) struct Kept {
    hub: Arc<Hub>,
    number: u64,
}

impl Kept {
    pub(crate) fn new(hub: Arc<Hub>, path: Text, mode: AddWatchMode) -> Kept {
        let number = {
            let mut known = hub.known();
            known.next += 1;
            let number = known.next;
            known.persistent.insert(number, (path, mode));
            number
        };
        Kept { hub, number }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.hub.known().persistent.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use KeeperState::{Closed, Disconnected, SyncConnected};

    #[test]
    fn a_change_is_told_to_all_who_asked_before_it() {
        let hub = Hub::new(SyncConnected);
        let (mut one, mut other) = (hub.change(), hub.change());
        hub.learn(SyncConnected);
        assert_eq!(one.try_take(), None, "the same again is no change");
        hub.learn(Disconnected);
        let mut late = hub.change();
        assert_eq!((one.try_take(), other.try_take()), (Some(Disconnected), Some(Disconnected)));
        hub.learn(SyncConnected);
        assert_eq!(late.try_take(), Some(SyncConnected));
    }

    #[test]
    fn nothing_follows_a_final_state() {
        let hub = Hub::new(SyncConnected);
        hub.learn(Closed);
        let mut change = hub.change();
        hub.learn(SyncConnected);
        assert_eq!((hub.state(), change.try_take()), (Closed, None));
    }

    #[test]
    fn who_asks_for_changes_and_does_not_wait_leaves_nothing_behind() {
        let hub = Hub::new(SyncConnected);
        for _ in 0..100 {
            drop(hub.change());
        }
        assert!(hub.known().waiting.len() <= 1);
    }

    #[test]
    fn a_persistent_watch_is_kept_until_it_is_dropped() {
        let hub = Arc::new(Hub::new(SyncConnected));
        let kept = Kept::new(hub.clone(), "/a".into(), AddWatchMode::Persistent);
        assert_eq!(hub.persistent(), [("/a".into(), AddWatchMode::Persistent)]);
        drop(kept);
        assert_eq!(hub.persistent(), []);
    }
}

//! What was worked out once is remembered.

use crate::digest::{Digest, DigestMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A memory of results by the digests of what they follow from. Switched off it forgets everything at once,
/// which must change nothing but the time taken.
#[derive(Debug)]
pub struct Memo<V> {
    on: bool,
    known: Mutex<DigestMap<Digest, V>>,
}

impl<V: Clone> Memo<V> {
    /// An empty memory.
    pub fn new(on: bool) -> Memo<V> {
        Memo { on, known: Mutex::default() }
    }

    /// What is known by `key`, or else what `work` gives. Nothing is locked while it works.
    pub fn get(&self, key: Digest, work: impl FnOnce() -> V) -> V {
        if self.on
            && let Some(value) = self.lock().get(&key)
        {
            return value.clone();
        }
        let value = work();
        if self.on {
            self.lock().insert(key, value.clone());
        }
        value
    }

    fn lock(&self) -> MutexGuard<'_, DigestMap<Digest, V>> {
        // A panic between two calls leaves the map whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

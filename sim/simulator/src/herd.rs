//! The herd: how many a change wakes, by how many wait.

use std::collections::{BTreeMap, BTreeSet};
use zk_harness::event::{ActorId, Observation};

/// What changes woke while so many waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Herd {
    /// Changes that woke somebody.
    pub changes: u64,
    /// Whom they woke, all together.
    pub woken: u64,
    /// The most that one of them woke.
    pub most: u64,
}

/// Whether somebody who says this gets ahead. To ask and to give up is not enough: that can go on for ever.
pub fn gets_ahead(what: &Observation) -> bool {
    match what {
        Observation::Granted { .. }
        | Observation::Shares { .. }
        | Observation::Released { .. }
        | Observation::Ends { .. } => true,
        Observation::Attempts { .. }
        | Observation::Enters { .. }
        | Observation::Leaves { .. }
        | Observation::GivesUp { .. }
        | Observation::Notes { .. }
        | Observation::Begins { .. } => false,
    }
}

/// Counts wake-ups. Who waits has asked, and has neither been granted what it asked for nor given up.
#[derive(Debug, Default)]
pub struct Waiting {
    waiting: BTreeSet<ActorId>,
    herds: BTreeMap<u16, Herd>,
    granted: u64,
}

impl Waiting {
    /// An actor says something.
    pub fn says(&mut self, actor: ActorId, what: &Observation) {
        match what {
            Observation::Attempts { .. } => {
                self.waiting.insert(actor);
            }
            Observation::Granted { .. } | Observation::Shares { .. } => {
                self.granted += 1;
                self.gone(actor);
            }
            Observation::GivesUp { .. } | Observation::Released { .. } => self.gone(actor),
            Observation::Enters { .. }
            | Observation::Leaves { .. }
            | Observation::Notes { .. }
            | Observation::Begins { .. }
            | Observation::Ends { .. } => {}
        }
    }

    /// An actor has ended.
    pub fn gone(&mut self, actor: ActorId) {
        self.waiting.remove(&actor);
    }

    /// A process has ended, and all its threads.
    pub fn ended(&mut self, actor: ActorId) {
        self.waiting.retain(|other| other.main() != actor);
    }

    /// Whether a thread of that process, or what it has left running, waits.
    pub fn has_of(&self, process: ActorId) -> bool {
        self.waiting.iter().any(|other| other.main() == process)
    }

    /// A change wakes so many.
    pub fn fired(&mut self, woken: usize) {
        if woken == 0 || self.waiting.is_empty() {
            return;
        }
        let herd = self.herds.entry(self.waiting.len() as u16).or_default();
        herd.changes += 1;
        herd.woken += woken as u64;
        herd.most = herd.most.max(woken as u64);
    }

    /// By how many waited; and how often somebody was granted what he had asked for.
    pub fn finish(self) -> (BTreeMap<u16, Herd>, u64) {
        (self.herds, self.granted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_for_as_many_as_wait() {
        let actor = |process| ActorId { process, life: 0, thread: 0 };
        let mut waiting = Waiting::default();
        let asks = Observation::Attempts { lock: "/lock".into() };
        waiting.fired(1);
        (0..3).for_each(|process| waiting.says(actor(process), &asks));
        waiting.fired(3);
        waiting.fired(0);
        waiting
            .says(actor(0), &Observation::Granted { lock: "/lock".into(), node: "/n".into(), token: None });
        waiting.fired(2);
        waiting.fired(1);
        let (herds, granted) = waiting.finish();
        let herds: Vec<_> = herds.into_iter().collect();
        let three = Herd { changes: 1, woken: 3, most: 3 };
        assert_eq!(herds, [(2, Herd { changes: 2, woken: 3, most: 2 }), (3, three)]);
        assert_eq!(granted, 1);
    }
}

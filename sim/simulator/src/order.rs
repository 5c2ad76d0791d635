//! Orders: from some time on, other events than time alone would bring first.
//!
//! What is on its way may arrive at any time, in the order of its connection, its link, its disk; so may an actor's
//! work be over. A timer, a fault and its end keep their time: other events are late for them at most as long as a
//! message travels in this run.
//!
//! ```
//! use zk_simulator::order::Order;
//! use zk_simulator::{RunOptions, Scenario, run};
//!
//! let lock = zk_catalogue::trials().remove(0);
//! let calm = Scenario { clients: 2, rounds: 1, ..Scenario::default() }.without_faults();
//! let order = Some(Order { from_ns: 1_000_000_000, steps: 3, picks: vec![1] });
//! let run = run(&lock, &calm, 7, &RunOptions { order, ..RunOptions::default() });
//! assert_eq!(run.ordered.len(), 3);
//! assert!(run.ordered.iter().all(|step| step.of >= 1 && !step.what.is_empty()));
//! ```

/// Another order of some events of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// It begins with the first event that is not before this virtual time.
    pub from_ns: u64,
    /// Of how many events.
    pub steps: u32,
    /// Which of those that can come next does, for each step: 0 is the one that time brings. So is what is not given.
    pub picks: Vec<u32>,
}

/// One step of an order, taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// How many events could have come next.
    pub of: u32,
    /// What came.
    pub what: String,
}

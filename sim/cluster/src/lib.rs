//! What servers run on, as pure code without a clock: latencies and the times of timers are up to the caller.
//!
//! | module | what is in it |
//! |---|---|
//! | [`cluster`] | servers on their machines, and what is between them |
//! | [`disk`] | what is durable, what was asked for since, and what a crash leaves of that |
//! | [`peer`] | a bare Zab peer and its machine |
//! | [`links`] | links that break, dials, and what is cut off from what |
//! | [`loss`] | what is lost with a client's connection |

pub mod cluster;
pub mod disk;
pub mod links;
pub mod loss;
pub mod peer;

//! A ZooKeeper server and a client session as pure state machines: no I/O, clock, threads or randomness.
//!
//! | module | what is in it |
//! |---|---|
//! | [`message`] | what clients and servers say to each other |
//! | [`txn`] | transactions: the results of writes |
//! | [`tree`], [`prepare`], [`watch`], [`order`] | the znodes, what requests do to them, and who is told |
//! | [`sessions`] | who is connected, and who was silent for too long |
//! | [`disk`], [`codec`], [`log`], [`snapshot`], [`recovery`] | from transactions to bytes and back |
//! | [`server`] | a server: all of the above behind one `step` |
//! | [`client`] | a client's session |
//! | [`watching`] | watches as a client knows them |
//! | [`visible`] | what clients saw of a run, recorded |
//! | [`mutant`] | bugs that can be planted |
//! | [`zab`] | atomic broadcast among servers, on which [`server`] stands |

pub mod client;
pub mod codec;
pub mod disk;
mod ids;
pub mod log;
pub mod message;
pub mod mutant;
pub mod order;
pub mod prepare;
pub mod recovery;
pub mod server;
pub mod sessions;
pub mod snapshot;
pub mod tree;
pub mod txn;
pub mod visible;
pub mod watch;
pub mod watching;
pub mod zab;

//! A ZooKeeper server and a client session as pure state machines: no I/O, clock, threads or randomness.

pub mod client;
pub mod codec;
pub mod disk;
pub mod log;
pub mod message;
pub mod order;
pub mod prepare;
pub mod recovery;
pub mod server;
pub mod sessions;
pub mod snapshot;
pub mod tree;
pub mod txn;
pub mod watch;

//! A ZooKeeper server and a client session as pure state machines: no I/O, clock, threads or randomness.

pub mod client;
pub mod disk;
pub mod message;
pub mod order;
pub mod prepare;
pub mod server;
pub mod tree;
pub mod txn;
pub mod watch;

//! Compares servers that speak ZooKeeper's client protocol, answer by answer: a real one with ours, or any two.
//!
//! | module | what is in it |
//! |---|---|
//! | [`script`] | what clients do, one step a line; read and written |
//! | [`driver`] | runs a script, writes down what came |
//! | [`normal`] | makes legitimate differences between two servers alike |
//! | [`side`] | one of the two: how it is found, tried and left |
//! | [`ensemble`] | a real ensemble, started and stopped here: its servers killed and paused, its leader found |
//! | [`compare`] | one script on both: the first difference |
//! | [`generate`], [`hunt`], [`shrink`] | random scripts, many of them, and what differs made small |
//! | [`plant`] | known differences, planted, so that the hunt is seen to find them |
//! | `keeper` | a client of our own beside the script |
//! | `encode`, `answer`, `record`, `connection` | frames, by hand: independent of `zk-wire`, and able to say nonsense |

mod answer;
pub mod compare;
mod connection;
pub mod driver;
mod encode;
pub mod ensemble;
pub mod generate;
pub mod hunt;
mod keeper;
pub mod normal;
pub mod plant;
mod record;
pub mod script;
pub mod shrink;
pub mod side;

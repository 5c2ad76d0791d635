//! Trials on live servers: a real ZooKeeper where there is one, and the one that zoocheck serves.
#![cfg(feature = "live")]

#[path = "../../../sim/conform/tests/real/mod.rs"]
mod real;

mod command;
mod ensemble;
mod proxy;
#[cfg(feature = "serve")]
mod served;
mod wrong;

use real::Real;

/// So many real servers, if there are any here.
fn servers(count: u8) -> Option<Real> {
    Real::start(&["--servers", &count.to_string(), "--tick-ms", "500"])
}

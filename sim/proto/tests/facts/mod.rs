//! What was measured of a real ZooKeeper 3.9.3, fact by fact: the tree, its Stats and errors, and watches.

mod acl;
mod ephemeral;
mod error;
mod expiring;
mod multi;
mod order;
mod path;
mod sequence;
mod stat;
mod watch;
mod zxid;

use crate::harness::Harness;

/// What the last of these lines prints, on a fresh server.
fn last(lines: &[&str]) -> String {
    Harness::new().script(lines)
}

/// A server on which these lines were done.
fn after(lines: &[&str]) -> Harness {
    let mut harness = Harness::new();
    harness.script(lines);
    harness
}

//! External recipes and promises: written outside the workspace's crates, with what `zoocheck` gives and nothing
//! else. Each is right or wrong in a known way, and both engines must say so.
#![cfg(feature = "run")]

mod barrier;
mod checkpoints;
mod counter;
mod election;
mod guids;
mod idle;
mod judge;
mod lives;
mod pairs;
mod queue;
mod relief;
mod renew;
mod rest;
mod sees;
mod shared;
mod small;
mod starts;
mod stuck;
mod threads;
mod timers;
mod twins;
mod zxids;

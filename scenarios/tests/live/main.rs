//! Trials on live servers: a real ZooKeeper where there is one, and the one that zoocheck serves.
#![cfg(feature = "live")]

#[path = "../common/mod.rs"]
mod common;

mod command;
mod ensemble;
mod servers;
mod wrong;

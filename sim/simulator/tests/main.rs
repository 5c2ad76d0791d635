//! All tests of this crate that use it from outside: one program, which is linked once.

mod actors;
mod administrator;
mod common;
mod determinism;
mod disks;
mod endless;
mod ensemble;
mod faults;
mod judged;
mod lock;
mod orders;
mod requests;

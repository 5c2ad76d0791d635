//! External recipes as people typically write them: small ones, half of them wrong in a way that is often seen. Both
//! engines judge each.
#![cfg(feature = "run")]

mod data;
mod events;
mod judge;
mod leaders;
mod locks;
mod meetings;
mod odd;
mod promises;
mod services;
mod tasks;

//! The client against real servers. Skipped, with a line that says so, where there is none to be had.

mod lock;
mod order;
mod proxy;
mod real;
mod requests;
mod session;
mod watches;

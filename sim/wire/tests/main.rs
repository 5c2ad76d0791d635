//! All tests of this crate that use it from outside: one program, which is linked once.

mod common;
mod conversations;
mod golden;
mod leniency;
mod totality;

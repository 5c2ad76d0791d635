//! All tests of this crate that use it from outside: one program, which is linked once.

mod against_reference;
mod facts;
mod generate;
mod harness;
mod reference;
mod script;
mod scripts;
mod server;
mod tree;
mod watches;
mod zab;

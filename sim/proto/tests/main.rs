//! All tests of this crate that use it from outside: one program, which is linked once.

mod facts;
mod generate;
mod harness;
mod script;
mod scripts;
mod server;
mod tree;
mod twin;
mod twins;
mod watches;
mod zab;

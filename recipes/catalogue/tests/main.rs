//! All tests of this crate that use it from outside: one program, which is linked once.

mod lock;
mod mutation;
mod promises;
mod small;
mod too_weak;

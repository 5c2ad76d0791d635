//! All tests of this crate that use it from outside: one program, which is linked once.

mod browser;
mod drive;
mod judge;
mod merge;
mod open;
mod pages;
mod replays;
mod reports;
mod sample;

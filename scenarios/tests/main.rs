//! All tests of this crate that use it from outside: one program, which is linked once.

#[cfg(all(feature = "mimalloc", target_os = "linux", target_env = "gnu"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod bad_input;
mod between;
mod cause;
mod check;
mod clients;
mod command;
mod common;
mod compare;
mod conform;
mod deploy;
mod drive;
mod ensemble;
mod external_recipes;
mod hosted;
mod judge;
mod library;
mod live;
mod mutants;
mod mutate;
mod new;
mod observe;
mod own_recipe;
mod pages;
mod report;
mod serve;
mod service;
mod shrink;
mod statements;
mod structure;
mod suite;
mod sweeps;
mod tidy;
mod typical_recipes;

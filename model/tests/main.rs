//! All tests of this crate that use it from outside: one program, which is linked once.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod administrator;
mod awaits;
mod barriers_and_queues;
mod common;
mod ensemble;
mod faults;
mod guids;
mod lag;
mod livelock;
mod mutated;
mod oracle;
mod reads;
mod reductions;
mod replay;
mod runaways;
mod sessions;
mod starts;
mod tasks;
mod timers;
mod trace_validation;
mod verdicts;
mod withheld;

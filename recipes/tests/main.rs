//! All tests of this crate that use it from outside: one program, which is linked once.

mod barrier;
mod chubby;
mod configuration;
mod double_barrier;
mod election;
mod lock;
mod lock_delay;
mod lock_limits;
mod membership;
mod queue;
mod revoke;
mod script;
mod shared_lock;
mod two_phase_commit;

//! Third-party programs, in processes of their own, in lockstep with a simulation.
//!
//! A *worker* is a process with a host in it, which runs a program of its language: one life of a client process at a time, one
//! after the other. `PROTOCOL.md` says what is said between a worker and this crate; any host that keeps to it will do.
//!
//! | module | what is in it |
//! |---|---|
//! | `frame` | what is said, as bytes |
//! | `worker` | a worker: it is asked, answers, and is killed if it does not |
//! | `watch` | ends workers that do not answer |
//! | `hosts` | [`Hosts`]: the workers of one program, which are used again |
//! | `python` | the host for Python, and how it is started |
//! | `examples` | [`EXAMPLES`]: kazoo's recipes as programs that are built in |
//! | `memory` | what a program does at the end of each history of what it was told |
//! | `actor` | a program as code over `ZooKeeper`, for engines that explore |
//! | `trial` | [`hosted`]: a program on trial |

mod actor;
mod examples;
mod frame;
mod hosts;
mod memory;
mod python;
mod trial;
mod watch;
mod worker;

pub use examples::{EXAMPLES, Example};
pub use hosts::{Hosts, Limits, Start};
pub use trial::hosted;

//! Third-party programs, in processes of their own, in lockstep with a simulation.
//!
//! A *worker* is a process with a host in it, which runs a program of its language: one life of a client process at a
//! time, one after the other. `PROTOCOL.md` says what is said between a worker and this crate; any host that keeps to
//! it will do.
//!
//! | item | what it is |
//! |---|---|
//! | [`Hosts`], [`Start`], [`Limits`] | the workers of one program, how they are started, and how long each may take |
//! | [`hosted`] | a program on trial |
//! | [`Owes`] | what a program owes |
//! | [`EXAMPLES`], [`Example`] | kazoo's recipes as programs that are built in |
//!
//! ```
//! use zk_hosted::{Example, Hosts, Limits, Start};
//!
//! let lock = Example::find("kazoo/lock").expect("it is built in");
//! assert_eq!(lock.program, "lock.py:worker");
//! assert_eq!(lock.option("--promises"), ["fair-lock=/lock"]);
//!
//! let command = vec!["/nowhere/python".to_owned()];
//! let start = Start { program: lock.program.into(), command, environment: Vec::new(), preamble: Vec::new() };
//! let why = Hosts::start(start, Limits::default()).expect_err("there is no such command");
//! assert!(why.starts_with("lock.py:worker: "));
//! ```

// The private modules, for whoever works on them:
//
// | module | what is in it |
// |---|---|
// | `frame` | what is said, as bytes |
// | `worker` | a worker: it is asked, answers, and is killed if it does not |
// | `watch` | ends workers that do not answer |
// | `hosts` | `Hosts`: the workers of one program, which are used again |
// | `python` | the host for Python, and how it is started |
// | `examples` | `EXAMPLES`: kazoo's recipes as programs that are built in |
// | `memory` | what a program does at the end of each history of what it was told |
// | `stands` | a program's end of things: what it wants done |
// | `elapsed` | whether a program goes by how much time passes while it waits |
// | `actor` | a program as code over `ZooKeeper`, for engines that explore |
// | `owes` | `Owes`: what a program owes, of one kind or several |
// | `trial` | `hosted`: a program on trial |

mod actor;
mod elapsed;
mod examples;
mod frame;
mod hosts;
mod memory;
mod owes;
mod python;
mod stands;
mod trial;
mod watch;
mod worker;

pub use examples::{EXAMPLES, Example};
pub use hosts::Hosts;
pub use owes::Owes;
pub use trial::hosted;
pub use watch::Limits;
pub use worker::Start;

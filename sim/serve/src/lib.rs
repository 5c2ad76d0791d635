//! A server, or an ensemble of them, behind real sockets and in memory: for tests, not for production.
//!
//! ```no_run
//! # async fn example() -> Result<(), zk_serve::ServeError> {
//! let running = zk_serve::start(zk_serve::Options::default()).await?;
//! println!("clients connect to {}", running.addresses()[0]);
//! running.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! | module | what is in it |
//! |---|---|
//! | `options` | [`Options`], [`Limits`], [`ListOrder`] |
//! | `running` | [`start`], [`Running`] |
//! | `listener` | where clients connect, while the server is up |
//! | `connection`, `link` | one connection's task, and what it shares with the server |
//! | `driver` | the one task that owns the server |
//! | `control` | faults on demand, by HTTP |
//! | `fault` | [`Fault`]: what can be made to go wrong |
//! | `words` | four-letter words |
//! | `observer` | [`Observer`], which judges what clients say they do |
//! | `record`, `verdict` | what clients did, and what the invariants say of it |
//! | `core` | the servers, their disks, their timers, their connections; synchronous, without sockets |

mod connection;
mod control;
mod core;
mod driver;
mod fault;
mod link;
mod listener;
mod observer;
mod options;
mod record;
mod running;
mod verdict;
mod words;

pub use core::{Leadership, ServerInfo, SessionInfo};
pub use fault::{Fault, Loss, RequestKind, Target, When};
pub use observer::{Answer, Judgement, Moment, Observer};
pub use options::{Limits, ListOrder, Options};
pub use running::{FaultError, Running, ServeError, start};
pub use verdict::{Broken, Finding, Judged, Verdict};
pub use zk_api as api;

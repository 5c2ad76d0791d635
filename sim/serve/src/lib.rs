//! A server, or an ensemble of them, behind real sockets and in memory: for tests, not for production.
//!
//! ```
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! use tokio::net::TcpStream;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let running = zk_serve::start(zk_serve::Options::ensemble(3)).await?;
//! // Clients of any kind connect here; this one asks what an administrator asks.
//! let mut client = TcpStream::connect(running.addresses()[0]).await?;
//! client.write_all(b"ruok").await?;
//! let mut answer = String::new();
//! client.read_to_string(&mut answer).await?;
//! assert_eq!(answer, "imok");
//!
//! let verdict = running.stop().await;
//! assert!(verdict.held, "no invariant was broken");
//! # Ok(())
//! # }
//! ```
//!
//! | item | what it is |
//! |---|---|
//! | [`start`], [`Running`], [`ServeError`] | starts a server or an ensemble; what runs then, and why it may not |
//! | [`Options`], [`Limits`], [`ListOrder`] | how it is set up, and what a client may cost |
//! | [`Fault`], [`FaultError`] | what can be made to go wrong, and why it may not be |
//! | [`Target`], [`When`], [`RequestKind`], [`Loss`] | whom and when a fault strikes, and what it takes |
//! | [`Leadership`], [`ServerInfo`], [`SessionInfo`] | who leads, what each server does, and the open sessions |
//! | [`Verdict`], [`Judged`], [`Finding`], [`Broken`] | what the invariants say of what was served |
//! | [`Observer`], [`Answer`], [`Judgement`], [`Moment`] | judges what clients say they do |
//! | [`api`] | the crate `zk-api`, in whose words all this is |

// The private modules, for whoever works on them:
//
// | module | what is in it |
// |---|---|
// | `options` | `Options`, `Limits`, `ListOrder` |
// | `running` | `start`, `Running` |
// | `listener` | where clients connect, while the server is up |
// | `connection`, `link` | one connection's task, and what it shares with the server |
// | `driver` | the one task that owns the server |
// | `message`, `handle` | what connections tell the server, and how others talk to it |
// | `time` | time since the start, by a clock that nobody sets |
// | `info` | servers and sessions, as they are told to people |
// | `control` | faults on demand, by HTTP |
// | `fault` | `Fault`: what can be made to go wrong |
// | `words` | four-letter words |
// | `observer` | `Observer`, which judges what clients say they do |
// | `record`, `verdict` | what clients did, and what the invariants say of it |
// | `core` | the servers, their disks, their timers, their connections; synchronous, without sockets |

mod connection;
mod control;
mod core;
mod driver;
mod fault;
mod handle;
mod info;
mod link;
mod listener;
mod message;
mod observer;
mod options;
mod record;
mod running;
mod time;
mod verdict;
mod words;

pub use fault::{Fault, Loss, RequestKind, Target, When};
pub use handle::FaultError;
pub use info::{Leadership, ServerInfo, SessionInfo};
pub use observer::{Answer, Judgement, Moment, Observer};
pub use options::{Limits, ListOrder, Options};
pub use running::{Running, ServeError, start};
pub use verdict::{Broken, Finding, Judged, Verdict};
pub use zk_api as api;

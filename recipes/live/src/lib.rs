//! [`ZooKeeper`](zk_api::ZooKeeper) for a real ensemble, over the crate `zookeeper-client`: recipes ship as they were
//! checked.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use zk_api::{ZPath, ZooKeeper};
//! let zk = zk_live::LiveClient::connect("127.0.0.1:2181", Duration::from_secs(10)).await?;
//! let names = zk.children(&ZPath::parse("/")?).await?;
//! zk.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! Where nobody listens, no session is opened, and the error says with whom:
//!
//! ```
//! use std::net::TcpListener;
//! use std::time::Duration;
//! use zk_live::LiveClient;
//!
//! # #[tokio::main]
//! # async fn main() -> std::io::Result<()> {
//! // A port that was free a moment ago.
//! let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
//! let error = LiveClient::connect(&address, Duration::from_millis(300)).await.expect_err("nobody is there");
//! assert!(error.to_string().starts_with(&format!("no session with {address}: ")));
//! # Ok(())
//! # }
//! ```
//!
//! | item | what it is |
//! |---|---|
//! | [`LiveClient`] | a session: requests in their order, its end |
//! | [`ConnectError`] | why no session could be opened |
//!
//! **What it cannot do.** `zookeeper-client` does not support all of ZooKeeper:
//!
//! - `removeWatches` and `checkWatches` fail with `Unimplemented`, and nothing is sent. A watch that is dropped is
//!   removed.
//! - Null data is written as no bytes, and read as no bytes.
//! - An empty multi or multiRead is answered without asking a server.
//! - A path that no client may use, or an empty ACL, is refused before it is sent (`BadArguments`, `InvalidAcl`); so is
//!   a multi that holds one.
//! - `reconfig`, SASL and TLS are not offered.
//!
//! **`Expired` without a server's word.** That crate gives up a session that has not heard from any server for 7/5 of
//! its timeout, and calls it expired. The session may live on at the ensemble for a while, and its ephemeral znodes
//! with it.
//!
//! **Persistent watches.** After a lost connection they are added again by this crate, because `zookeeper-client`
//! 0.11.2 does not register them again. Events that happen before that are lost, as with ZooKeeper's own client.

// The private modules, for whoever works on them:
//
// | module | what is in it |
// |---|---|
// | `client` | `LiveClient`, a session: requests in their order, its end |
// | `hub` | the session's state, for anything that waits for it to change; its persistent watches |
// | `perform` | what each request is in `zookeeper-client`'s words |
// | `watches` | one-shot and persistent watches |
// | `convert` | `Stat`s, ACLs, states and events, converted both ways |
// | `failure` | what each error of `zookeeper-client` says about the request's effect |

mod client;
mod convert;
mod failure;
mod hub;
mod perform;
mod watches;

pub use client::{ConnectError, LiveClient};

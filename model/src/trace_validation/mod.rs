//! Whether [`Service`](crate::service::Service) allows what clients saw in a recorded run.
//!
//! Recipe models use `Service` in the place of an ensemble. That is sound only if it allows all that an ensemble
//! shows its clients. [`validate`] takes a [record](zk_proto::visible) and makes `Service` go through the same steps,
//! with what a recipe model can do and nothing else: a request is served, a view catches up, a connection drops, a
//! session expires, what was sent is delivered. The record's transactions say which to take next, so that nothing is
//! searched for: **a witness**. What `Service` then gives each client must be what that client got, answer by answer
//! and event by event, in the same order.
//!
//! Zxids are compared one by one: `Service` numbers every transaction here, and those of its numbers that stand for
//! the record's are in the same order. Not compared: times, the order of children's names, and the order of the events
//! of one transaction, which ZooKeeper does not promise either. A view may be further than the record's server was, if
//! the client cannot tell.
//!
//! ```
//! use zk_api::{ErrorCode, Request, Response, SessionId, Zxid};
//! use zk_model::trace_validation::{Why, validate};
//! use zk_proto::message::{ToClient, Xid};
//! use zk_proto::visible::{Cause, VisibleStep};
//!
//! let (session, zxid, xid) = (SessionId::new(7), Zxid::new(1, 1), Xid(1));
//! let record = |result| {
//!     let request = Request::Exists { path: "/a".into(), watch: false };
//!     [
//!         VisibleStep::Commits { zxid, session, xid: Xid(0), cause: Cause::Opening },
//!         VisibleStep::Begins { session },
//!         VisibleStep::Sends { session, xid, request },
//!         VisibleStep::Gets { session, message: ToClient::Reply { xid, zxid, result } },
//!     ]
//! };
//! let accepted = validate(&record(Ok(Response::Exists(None))), None).expect("there is no /a");
//! assert_eq!(accepted.answers, 1);
//! let rejection = validate(&record(Err(ErrorCode::NoAuth)), None).expect_err("everybody may look");
//! assert_eq!((rejection.why, rejection.step), (Why::DifferentAnswer, 3));
//! ```
#![doc = include_str!("../../SERVICE.md")]

// The private modules, for whoever works on them:
//
// | module | what is in it |
// |---|---|
// | `prophecy` | what the record says of later: which requests are answered, when, and which take effect |
// | `judge` | the steps |
// | `client` | what a client has sent and not got yet |
// | `verdict` | what comes of it, and restricted `Service`s |
// | `same` | one answer in the terms of the other: sessions, zxids and times have other names |

mod client;
mod judge;
mod prophecy;
mod same;
mod verdict;

pub use verdict::{Accepted, Rejection, Restriction, Why};

use zk_api::Text;
use zk_proto::visible::VisibleStep;

/// Whether `Service`, or a restricted one, allows what was recorded.
pub fn validate(steps: &[VisibleStep], restriction: Option<Restriction>) -> Result<Accepted, Rejection> {
    validate_from(&[], &[], steps, restriction)
}

/// The same of a record that begins with these znodes, each created by a transaction of epoch zero, in this order, of
/// which some have had so many children.
pub fn validate_from(
    paths: &[Text],
    counters: &[(Text, i32)],
    steps: &[VisibleStep],
    restriction: Option<Restriction>,
) -> Result<Accepted, Rejection> {
    judge::Judge::new(paths, counters, steps, restriction)?.run()
}

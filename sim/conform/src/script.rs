//! Scripts: what clients do, one step a line.
//!
//! ```text
//! # A comment. Connections have letters; a session is called after the connection that opened it: a, then a2.
//! a connect timeout=4000
//! => a connected timeout=4000 session=a password=right readonly=00
//! => a pong +1
//! a create /x "data" ephemeral sequential acl=cdrwa@world:anyone
//! b attach a password=wrong
//! a pipeline { get /x watch; set /x "new" v=3; close }
//! expire a
//! wait 500ms
//! ```
//!
//! With more than one server there is more to do, and to wait for:
//!
//! ```text
//! a connect server=leader
//! b connect server=follower2
//! c connect server=b
//! server 1 kill
//! follower pause
//! killed start
//! paused resume
//! begin a create /x
//! finish a
//! await serving
//! await zxid +5
//! await end a b
//! rounds 50 {
//!   a create /x
//!   b pipeline { sync /; exists /x }
//!   a delete /x
//! }
//! alike a b c children /x
//! alike a b c events
//! ```
//!
//! ```
//! use zk_conform::script::{Action, Conn, parse};
//!
//! let script = parse("a connect\na pipeline { get /x watch; close }\n").expect("a script");
//! assert_eq!(script.steps[1].action.conn(), Some(Conn('a')));
//! assert!(matches!(&script.steps[1].action, Action::Send { requests, .. } if requests.len() == 2));
//! let bad = parse("a connect\na gett /x\n").expect_err("there is no such request");
//! assert_eq!(bad.line, 2);
//! ```

// `script::step` and `script::request` are the types, and `script::write` is how they are written; `script::token` cuts
// a line into words, `script::parse` reads steps, `script::calls` reads requests.

mod calls;
mod parse;
mod request;
mod step;
#[cfg(test)]
mod tests;
mod token;
pub(crate) mod write;

pub(crate) use calls::open as open_acl;
pub use parse::{BadScript, parse};
pub use request::{
    AclArg, AclEntry, Bytes, Call, CreateKind, Looking, Naming, Numbered, Sent, Text, ZxidArg,
};
pub use step::{
    Action, Alike, ConformStep, Conn, Connect, Control, Password, ReadOnly, Script, Session, Which,
};

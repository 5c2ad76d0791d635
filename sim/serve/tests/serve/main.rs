//! A server behind real sockets, and clients of our own that can misbehave.
//!
//! | file | what is in it |
//! |---|---|
//! | `client` | a client over a socket, one message at a time |
//! | `sessions` | what every client relies on: connect, create, watch, expire, come back |
//! | `limits` | clients that stall, flood or talk nonsense harm nobody but themselves |
//! | `control` | faults, sessions, verdicts and words, asked for from outside |
//! | `ensemble` | several servers, and clients that go from one to another |
//! | `faults` | faults on demand, and what clients see of them |

mod client;
mod control;
mod ensemble;
mod faults;
mod limits;
mod sessions;

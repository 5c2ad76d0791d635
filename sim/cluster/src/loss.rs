//! What is lost with a client's connection, and the requests that this may wait for, in the words of scenario files.

use serde::{Deserialize, Serialize};

/// A kind of request to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestKind {
    /// Any.
    Any,
    /// A create, or any other request that makes or sets something: a setData, a setACL, a multi.
    Create,
    /// A delete.
    Delete,
    /// A request that reads.
    Read,
}

/// What is lost with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Loss {
    /// Requests under way do not arrive. Neither do answers under way.
    RequestsLost,
    /// Requests under way arrive and are served; their answers do not arrive.
    AnswersLost,
    /// The client learns at once that the connection is lost; its requests under way arrive only after
    /// `for_ms`, if the server still has the connection open then.
    InFlight {
        /// Milliseconds.
        for_ms: u64,
    },
    /// Nothing arrives any more in either direction, and nobody is told.
    Silence,
}

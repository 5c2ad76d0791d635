//! What can go wrong with a request, and what that says about its effect.

use crate::Text;
use std::fmt;

/// ZooKeeper's error codes.
///
/// Source: ZooKeeper 3.9, `KeeperException.Code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i32)]
pub enum ErrorCode {
    /// The server failed in a way it has no word for.
    SystemError = -1,
    /// The operation comes after the one that made its multi fail.
    RuntimeInconsistency = -2,
    /// The server found its data inconsistent.
    DataInconsistency = -3,
    /// The connection was lost while the request was outstanding.
    ConnectionLoss = -4,
    /// The request or the answer could not be read.
    MarshallingError = -5,
    /// The server does not know this operation.
    Unimplemented = -6,
    /// The server gave up on the operation.
    OperationTimeout = -7,
    /// An argument is not valid.
    BadArguments = -8,
    /// The API was used wrongly.
    ApiError = -100,
    /// The znode does not exist.
    NoNode = -101,
    /// Not permitted by the ACL.
    NoAuth = -102,
    /// The version given is not the znode's.
    BadVersion = -103,
    /// An ephemeral znode has no children.
    NoChildrenForEphemerals = -108,
    /// The znode exists already.
    NodeExists = -110,
    /// The znode has children.
    NotEmpty = -111,
    /// A server said that the session is dead.
    SessionExpired = -112,
    /// The ACL given is not valid.
    InvalidAcl = -114,
    /// The credentials were refused.
    AuthFailed = -115,
    /// The session is now at another server.
    SessionMoved = -118,
    /// The server is read-only, the request is not.
    NotReadOnly = -119,
    /// There is no such watch.
    NoWatcher = -121,
    /// The client gave up waiting for the answer.
    RequestTimeout = -122,
    /// Reconfiguration is switched off.
    ReconfigDisabled = -123,
    /// A quota would be exceeded.
    QuotaExceeded = -125,
    /// The server is too busy.
    ThrottledOp = -127,
}

/// What is known about the effect of a request that failed.
///
/// ```
/// use zk_api::{ErrorCode, Outcome};
/// // The servers have refused it.
/// assert_eq!(ErrorCode::BadVersion.outcome(), Outcome::NotApplied);
/// // Nobody has heard an answer: it may have been applied before the connection or the session ended.
/// assert_eq!(ErrorCode::ConnectionLoss.outcome(), Outcome::Unknown);
/// assert_eq!(ErrorCode::SessionExpired.outcome(), Outcome::Unknown);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It had none and will have none: it may be tried again.
    NotApplied,
    /// It may have been applied, or may still be: look before you try again.
    Unknown,
}

impl ErrorCode {
    /// All codes.
    pub const ALL: [ErrorCode; 25] = [
        ErrorCode::SystemError,
        ErrorCode::RuntimeInconsistency,
        ErrorCode::DataInconsistency,
        ErrorCode::ConnectionLoss,
        ErrorCode::MarshallingError,
        ErrorCode::Unimplemented,
        ErrorCode::OperationTimeout,
        ErrorCode::BadArguments,
        ErrorCode::ApiError,
        ErrorCode::NoNode,
        ErrorCode::NoAuth,
        ErrorCode::BadVersion,
        ErrorCode::NoChildrenForEphemerals,
        ErrorCode::NodeExists,
        ErrorCode::NotEmpty,
        ErrorCode::SessionExpired,
        ErrorCode::InvalidAcl,
        ErrorCode::AuthFailed,
        ErrorCode::SessionMoved,
        ErrorCode::NotReadOnly,
        ErrorCode::NoWatcher,
        ErrorCode::RequestTimeout,
        ErrorCode::ReconfigDisabled,
        ErrorCode::QuotaExceeded,
        ErrorCode::ThrottledOp,
    ];

    /// The number on the wire.
    pub const fn to_i32(self) -> i32 {
        self as i32
    }

    /// From the number on the wire. `None` if no code has it, such as 0, which stands for success.
    pub fn from_i32(code: i32) -> Option<ErrorCode> {
        ErrorCode::ALL.into_iter().find(|c| c.to_i32() == code)
    }

    /// Whether a request that failed with this code may have had an effect.
    pub const fn outcome(self) -> Outcome {
        match self {
            ErrorCode::SystemError
            | ErrorCode::DataInconsistency
            | ErrorCode::ConnectionLoss
            | ErrorCode::OperationTimeout
            | ErrorCode::RequestTimeout
            // What was outstanding when the session died may have been applied before it died.
            | ErrorCode::SessionExpired
            | ErrorCode::AuthFailed => Outcome::Unknown,
            ErrorCode::RuntimeInconsistency
            | ErrorCode::MarshallingError
            | ErrorCode::Unimplemented
            | ErrorCode::BadArguments
            | ErrorCode::ApiError
            | ErrorCode::NoNode
            | ErrorCode::NoAuth
            | ErrorCode::BadVersion
            | ErrorCode::NoChildrenForEphemerals
            | ErrorCode::NodeExists
            | ErrorCode::NotEmpty
            | ErrorCode::InvalidAcl
            | ErrorCode::SessionMoved
            | ErrorCode::NotReadOnly
            | ErrorCode::NoWatcher
            | ErrorCode::ReconfigDisabled
            | ErrorCode::QuotaExceeded
            | ErrorCode::ThrottledOp => Outcome::NotApplied,
        }
    }
}

/// A request that failed: what was tried, on what, and how it failed.
///
/// ```
/// use zk_api::{Error, ErrorCode};
/// let error = Error { code: ErrorCode::ConnectionLoss, tried: "create", path: "/lock/n-".into() };
/// assert_eq!(error.to_string(), "create /lock/n-: ConnectionLoss (may have been applied)");
/// assert!(!error.is_session_over(), "the session may live on");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Error {
    /// How it failed.
    pub code: ErrorCode,
    /// The operation that was tried, such as `delete`.
    pub tried: &'static str,
    /// The path it was tried on; empty where it has none.
    pub path: Text,
}

impl Error {
    /// What is known about the effect of the request.
    pub fn outcome(&self) -> Outcome {
        self.code.outcome()
    }

    /// Whether the session is over, so that nothing tried on it can succeed any more.
    pub fn is_session_over(&self) -> bool {
        matches!(self.code, ErrorCode::SessionExpired | ErrorCode::AuthFailed)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = match self.outcome() {
            Outcome::NotApplied => "not applied",
            Outcome::Unknown => "may have been applied",
        };
        let space = if self.path.is_empty() { "" } else { " " };
        write!(f, "{}{space}{}: {:?} ({known})", self.tried, self.path, self.code)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_survive_the_wire() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_i32(code.to_i32()), Some(code));
        }
        assert_eq!(ErrorCode::from_i32(0), None);
    }

    #[test]
    fn an_error_says_what_was_tried_on_what() {
        let e = Error { code: ErrorCode::BadVersion, tried: "delete", path: "/lock/n-7".into() };
        assert_eq!(e.to_string(), "delete /lock/n-7: BadVersion (not applied)");
    }
}

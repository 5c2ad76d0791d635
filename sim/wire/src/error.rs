//! Why a connection must be closed, why a request is refused, and the codes of errors.

use crate::jute::Malformed;
use zk_api::ErrorCode;

/// What ends a connection: the stream cannot be followed any further. A request that cannot be read does not;
/// it is [refused](crate::Decoded::Refused).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// A frame's length is negative or above `max`.
    #[error("a frame of {length} bytes, where at most {max} are allowed")]
    FrameLength { length: i64, max: u32 },
    /// A frame is not the encoding of `what`.
    #[error("a frame that is no {what}")]
    Malformed { what: &'static str },
    /// An answer to nothing that was asked.
    #[error("an answer to xid {xid}, which was not asked")]
    UnexpectedReply { xid: i32 },
    /// The server did not register the watches again. There is no message for it.
    #[error("setWatches was refused: {code:?}")]
    WatchesRefused { code: ErrorCode },
    /// A message that has no form on the wire.
    #[error("no form on the wire for {what}")]
    Unencodable { what: &'static str },
}

/// A request that is not handed on: what it is to be answered, and whether it takes a zxid as a write does that
/// fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: ErrorCode,
    pub(crate) takes_zxid: bool,
}

impl Refusal {
    /// Refused when it is read.
    pub(crate) fn unread(code: ErrorCode) -> Refusal {
        Refusal { code, takes_zxid: false }
    }

    /// Refused when its transaction was to be made.
    pub(crate) fn failed(code: ErrorCode) -> Refusal {
        Refusal { code, takes_zxid: true }
    }
}

impl From<Malformed> for Refusal {
    fn from(_: Malformed) -> Refusal {
        Refusal::unread(ErrorCode::MarshallingError)
    }
}

/// An error that has no name here is `SystemError`, whose effect is unknown.
pub(crate) fn error_code(code: i32) -> Option<ErrorCode> {
    (code != 0).then(|| ErrorCode::from_i32(code).unwrap_or(ErrorCode::SystemError))
}

//! What each error of `zookeeper-client` says about the request's effect.

use zk_api::ErrorCode;
use zookeeper_client::Error as Failure;

/// The code of a failed request, by what is known of its effect.
///
/// A request learns of two kinds of errors. Those that a server answered to it: they have a word each, and it was not
/// applied. And those that ended its connection, or its session, while it waited (an answer that could not be read, a
/// socket's error, silence, the session's end): then it may have been applied, and nothing is told that would say
/// otherwise. So `UnmarshalError` is not `MarshallingError`, by which a server tells that it could not read the
/// request.
///
/// - `Custom` is a socket's error, or that no answer came in time: the connection is lost.
/// - A code without a word there may have one here (`RequestTimeout`); that crate takes those that have none for
///   errors without an effect, which nobody has promised.
/// - `ClientClosed` is told to what was never sent. It stands for the end of the session, and the safe side.
///
/// Source: zookeeper-client 0.11.2, `session/mod.rs`: `handle_session_reply`, and what `serve_session` may fail with.
pub(crate) fn code(failure: &Failure) -> ErrorCode {
    match failure {
        Failure::BadArguments(_) => ErrorCode::BadArguments,
        Failure::NoNode => ErrorCode::NoNode,
        Failure::NoAuth => ErrorCode::NoAuth,
        Failure::BadVersion => ErrorCode::BadVersion,
        Failure::NoChildrenForEphemerals => ErrorCode::NoChildrenForEphemerals,
        Failure::NodeExists => ErrorCode::NodeExists,
        Failure::NotEmpty => ErrorCode::NotEmpty,
        Failure::InvalidAcl => ErrorCode::InvalidAcl,
        Failure::SessionMoved => ErrorCode::SessionMoved,
        Failure::NotReadOnly => ErrorCode::NotReadOnly,
        Failure::NoWatcher => ErrorCode::NoWatcher,
        Failure::QuotaExceeded => ErrorCode::QuotaExceeded,
        Failure::Throttled => ErrorCode::ThrottledOp,
        Failure::MarshallingError => ErrorCode::MarshallingError,
        Failure::Unimplemented => ErrorCode::Unimplemented,
        Failure::ReconfigDisabled => ErrorCode::ReconfigDisabled,
        Failure::RuntimeInconsistent => ErrorCode::RuntimeInconsistency,
        Failure::SessionExpired | Failure::ClientClosed => ErrorCode::SessionExpired,
        Failure::AuthFailed => ErrorCode::AuthFailed,
        Failure::ConnectionLoss | Failure::Timeout | Failure::NoHosts | Failure::Custom(_) => {
            ErrorCode::ConnectionLoss
        }
        Failure::UnexpectedErrorCode(number) => {
            ErrorCode::from_i32(*number).unwrap_or(ErrorCode::SystemError)
        }
        Failure::UnmarshalError { .. } | Failure::UnexpectedError(_) => ErrorCode::SystemError,
        // That crate may learn new words: nothing is known of them.
        _ => ErrorCode::SystemError,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_api::Outcome;

    #[test]
    fn what_ended_a_connection_or_a_session_may_have_been_applied() {
        for failure in [
            Failure::ConnectionLoss,
            Failure::Timeout,
            Failure::NoHosts,
            Failure::SessionExpired,
            Failure::AuthFailed,
            Failure::ClientClosed,
            Failure::UnexpectedError("an answer that nobody asked for".into()),
            Failure::UnmarshalError { entity: "answer", reason: &"too short" },
            Failure::UnexpectedErrorCode(-9999),
            Failure::UnexpectedErrorCode(0),
            Failure::UnexpectedErrorCode(ErrorCode::RequestTimeout.to_i32()),
        ] {
            assert_eq!(code(&failure).outcome(), Outcome::Unknown, "{failure:?}");
        }
    }

    #[test]
    fn what_a_server_refused_was_not_applied_and_keeps_its_name() {
        for (failure, name) in [
            (Failure::NodeExists, ErrorCode::NodeExists),
            (Failure::NoNode, ErrorCode::NoNode),
            (Failure::BadVersion, ErrorCode::BadVersion),
            (Failure::NotEmpty, ErrorCode::NotEmpty),
            (Failure::NoChildrenForEphemerals, ErrorCode::NoChildrenForEphemerals),
            (Failure::NoAuth, ErrorCode::NoAuth),
            (Failure::InvalidAcl, ErrorCode::InvalidAcl),
            (Failure::BadArguments(&"a path"), ErrorCode::BadArguments),
            (Failure::MarshallingError, ErrorCode::MarshallingError),
            (Failure::SessionMoved, ErrorCode::SessionMoved),
            (Failure::Throttled, ErrorCode::ThrottledOp),
        ] {
            assert_eq!((code(&failure), name.outcome()), (name, Outcome::NotApplied));
        }
    }

    #[test]
    fn the_end_of_the_session_is_told_as_such() {
        for failure in [Failure::SessionExpired, Failure::ClientClosed, Failure::AuthFailed] {
            let error = zk_api::Error { code: code(&failure), tried: "create", path: "/a".into() };
            assert!(error.is_session_over(), "{failure:?}");
        }
    }
}

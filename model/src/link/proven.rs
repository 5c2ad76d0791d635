//! Who a client is: what it has proven to its servers.

use std::sync::Arc;
use zk_api::{Identity, Request};
use zk_proto::prepare::acl;

/// What a client has proven once a server has taken this request, if it is one to authenticate: `None` if it is
/// refused.
pub(super) fn proven_by(identities: &Arc<[Identity]>, request: &Request) -> Option<Option<Arc<[Identity]>>> {
    match request {
        Request::Auth { scheme, credentials } => Some(acl::prove(identities, scheme, credentials, None)),
        _ => None,
    }
}

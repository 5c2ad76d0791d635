//! Requests become transactions, and reads become answers.

use crate::tree::DataTree;
use crate::txn::TxnBody;
use zk_api::{ErrorCode, Identity, Request, Response, SessionId};

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    /// The session.
    pub session: SessionId,
    /// Whom the server takes it for; `world:anyone` goes without saying.
    pub identities: &'a [Identity],
}

/// Switches that change what requests do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TreeConfig {
    /// Whether TTL znodes are known (`extendedTypesEnabled`).
    pub extended_types: bool,
    /// Decides the unspecified order of names and events: another salt, another order.
    pub order_salt: u64,
}

/// Works out what a write will do to `tree`, the tree as it will be when everything proposed so far is
/// applied. A request that fails gives `TxnBody::Error` or `TxnBody::MultiError`.
///
/// `CloseSession` lists the session's ephemerals. Panics if the request is not a write.
pub fn prepare(_tree: &DataTree, _config: &TreeConfig, _caller: Caller<'_>, _request: &Request) -> TxnBody {
    todo!()
}

/// Answers a request that reads the tree only: exists, getData, getChildren, getACL, multiRead,
/// getEphemerals, getAllChildrenNumber. Watches are the caller's business. Panics on any other request.
pub fn read(
    _tree: &DataTree,
    _config: &TreeConfig,
    _caller: Caller<'_>,
    _request: &Request,
) -> Result<Response, ErrorCode> {
    todo!()
}

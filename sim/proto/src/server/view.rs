//! What a server's clients are shown of it.

use super::config::ServerConfig;
use crate::tree::DataTree;
use zk_api::Zxid;

/// See the module.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) config: &'a ServerConfig,
    /// The tree as it is applied.
    pub(super) tree: &'a DataTree,
    /// The last transaction that answers tell of.
    pub(super) zxid: Zxid,
    /// The one that comes next, at the leader.
    pub(super) next: Option<Zxid>,
}

//! What is on a disk, as a server would read it.

use zk_proto::disk::Files;
use zk_proto::recovery::{RecoveryError, recover};
use zk_proto::sessions::SessionTable;
use zk_proto::tree::DataTree;

/// The tree and the sessions as they are if everything that is logged stands.
pub fn recovered(files: &Files) -> Result<(DataTree, SessionTable), RecoveryError> {
    let mut recovered = recover(files)?;
    for txn in &recovered.log {
        recovered.tree.apply(txn);
        recovered.sessions.apply(txn);
    }
    Ok((recovered.tree, recovered.sessions))
}

/// The tree of that.
pub fn recovered_tree(files: &Files) -> Result<DataTree, RecoveryError> {
    recovered(files).map(|(tree, _)| tree)
}

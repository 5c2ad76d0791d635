//! What reads find.

use super::Reference;
use zk_api::{ErrorCode, Perms, ReadOp, Request, Response, SessionId};

impl Reference {
    /// `None` for what is no question about the tree.
    pub(super) fn look(&self, session: SessionId, request: &Request) -> Option<Result<Response, ErrorCode>> {
        Some(match request {
            Request::Exists { path, .. } => Ok(Response::Exists(self.stat(path))),
            Request::GetData { path, .. } => self.data(path),
            Request::GetChildren { path, stat, .. } => self.children(path, *stat),
            Request::GetAcl { path } => self.acl(path),
            Request::Sync { path } => Ok(Response::Synced { path: path.clone() }),
            Request::MultiRead { ops } => {
                let outcomes = ops.iter().map(|op| match op {
                    ReadOp::GetData { path } => self.data(path),
                    ReadOp::GetChildren { path } => self.children(path, false),
                });
                Ok(Response::MultiRead(outcomes.collect()))
            }
            Request::GetEphemerals { prefix } => {
                let mine = self.nodes.iter().filter(|(path, node)| {
                    node.stat.ephemeral_owner == session && path.starts_with(&**prefix)
                });
                Ok(Response::Ephemerals(mine.map(|(path, _)| path.as_str().into()).collect()))
            }
            Request::GetAllChildrenNumber { path } => self.count(path),
            _ => return None,
        })
    }

    fn data(&self, path: &str) -> Result<Response, ErrorCode> {
        let node = self.find(path)?;
        Reference::allow(node, Perms::READ)?;
        Ok(Response::Data { data: node.data.clone(), stat: node.stat })
    }

    fn children(&self, path: &str, stat: bool) -> Result<Response, ErrorCode> {
        let node = self.find(path)?;
        Reference::allow(node, Perms::READ)?;
        let names = node.children.iter().map(|name| name.as_str().into()).collect();
        Ok(Response::Children { names, stat: stat.then_some(node.stat) })
    }

    fn acl(&self, path: &str) -> Result<Response, ErrorCode> {
        let node = self.find(path)?;
        Reference::allow(node, Perms::READ.and(Perms::ADMIN))?;
        Ok(Response::Acl { acl: node.acl.clone(), stat: node.stat })
    }

    fn count(&self, path: &str) -> Result<Response, ErrorCode> {
        let node = self.find(path)?;
        Reference::allow(node, Perms::READ)?;
        let prefix = if matches!(path, "" | "/") { "/".to_owned() } else { format!("{path}/") };
        let below = self.nodes.keys().filter(|other| other.len() > 1 && other.starts_with(&prefix)).count();
        Ok(Response::AllChildrenNumber(below as u32))
    }
}

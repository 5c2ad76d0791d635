//! Reads: what a server answers from its own tree.

use crate::order::Listed;
use crate::prepare::{Asked, Caller, TreeConfig, acl, made};
use crate::tree::{DataTree, Node};
use zk_api::{ErrorCode, Perms, ReadOp, Request, Response, Text};

/// Answers a request that reads the tree only: exists, getData, getChildren, getACL, multiRead,
/// getEphemerals, getAllChildrenNumber. Watches are the caller's business (see
/// [`one_shot`](crate::watch::one_shot)). Panics on any other request.
///
/// Paths are not validated: one that cannot be is just not there.
pub fn read(
    tree: &DataTree,
    config: &TreeConfig,
    caller: Caller<'_>,
    request: &Request,
) -> Result<Response, ErrorCode> {
    let asked = Asked { tree, config, caller };
    match request {
        Request::Exists { path, watch: _ } if path.contains('\0') => Err(ErrorCode::BadArguments),
        // That a znode does not exist needs no permission to be seen. Measured on 3.9.3; before 3.9.2, neither
        // did that it exists.
        Request::Exists { path, watch: _ } => match asked.readable(path) {
            Ok(node) => Ok(Response::Exists(Some(node.stat()))),
            Err(ErrorCode::NoNode) => Ok(Response::Exists(None)),
            Err(code) => Err(code),
        },
        Request::GetData { path, watch: _ } => asked.get_data(path),
        Request::GetChildren { path, watch: _, stat } => asked.get_children(path, *stat),
        Request::GetAcl { path } => asked.get_acl(path),
        Request::MultiRead { ops } => {
            let outcomes = ops.iter().map(|op| match op {
                ReadOp::GetData { path } => asked.get_data(path),
                ReadOp::GetChildren { path } => asked.get_children(path, false),
            });
            Ok(Response::MultiRead(outcomes.collect()))
        }
        Request::GetEphemerals { prefix } => Ok(Response::Ephemerals(asked.ephemerals(prefix))),
        Request::GetAllChildrenNumber { path } => {
            asked.readable(path)?;
            Ok(Response::AllChildrenNumber(tree.count_below(path) as u32))
        }
        Request::Create { .. }
        | Request::Delete { .. }
        | Request::SetData { .. }
        | Request::SetAcl { .. }
        | Request::Sync { .. }
        | Request::Multi { .. }
        | Request::AddWatch { .. }
        | Request::RemoveWatches { .. }
        | Request::CheckWatches { .. }
        | Request::WhoAmI
        | Request::Auth { .. }
        | Request::CloseSession => panic!("{} does not read the tree only", request.name()),
    }
}

impl<'a> Asked<'a> {
    fn readable(&self, path: &str) -> Result<&'a Node, ErrorCode> {
        let node = self.node(path)?;
        self.permitted(node, Perms::READ)?;
        Ok(node)
    }

    fn get_data(&self, path: &str) -> Result<Response, ErrorCode> {
        let node = self.readable(path)?;
        Ok(Response::Data { data: node.data.clone(), stat: node.stat() })
    }

    fn get_children(&self, path: &str, stat: bool) -> Result<Response, ErrorCode> {
        let node = self.readable(path)?;
        let mut names: Vec<Text> = node.children.iter().cloned().collect();
        let made =
            |name: &Text| made(self.tree, &format!("{}/{name}", path.strip_suffix('/').unwrap_or(path)));
        self.config.order.put(Listed::Children, &mut names, made);
        Ok(Response::Children { names, stat: stat.then(|| node.stat()) })
    }

    fn get_acl(&self, path: &str) -> Result<Response, ErrorCode> {
        let node = self.node(path)?;
        self.permitted(node, Perms::READ.and(Perms::ADMIN))?;
        let is_admin = self.permitted(node, Perms::ADMIN).is_ok();
        let acl = if is_admin { node.acl.clone() } else { acl::without_secrets(&node.acl) };
        Ok(Response::Acl { acl, stat: node.stat() })
    }

    fn ephemerals(&self, prefix: &str) -> Vec<Text> {
        // Cut as Java cuts: control characters count as blanks. Measured.
        let all = matches!(prefix.trim_matches(|c| c <= ' '), "" | "/");
        let mine = self.tree.ephemerals(self.caller.session);
        let mut paths: Vec<Text> = mine.filter(|path| all || path.starts_with(prefix)).cloned().collect();
        self.config.order.put(Listed::Ephemerals, &mut paths, |path| made(self.tree, path));
        paths
    }
}

//! What reads find.

use super::access::{Asker, proves};
use super::znodes::Znodes;
use zk_api::{ErrorCode, Perms, ReadOp, Request, Response};

/// See [`Reference::read`](super::Reference::read).
pub(super) fn read(
    znodes: &Znodes,
    asker: Asker<'_>,
    request: &Request,
) -> Option<Result<Response, ErrorCode>> {
    Some(match request {
        Request::Exists { path, .. } if path.contains('\0') => Err(ErrorCode::BadArguments),
        Request::Exists { path, .. } => match znodes.find(path) {
            Ok(node) => asker.may(Perms::READ, &node.acl).map(|()| Response::Exists(Some(node.stat.into()))),
            Err(_) => Ok(Response::Exists(None)),
        },
        Request::GetData { path, .. } => data(znodes, asker, path),
        Request::GetChildren { path, stat, .. } => children(znodes, asker, path, *stat),
        Request::GetAcl { path } => acl(znodes, asker, path),
        Request::Sync { path } => Ok(Response::Synced { path: path.clone() }),
        Request::MultiRead { ops } => {
            let outcomes = ops.iter().map(|op| match op {
                ReadOp::GetData { path } => data(znodes, asker, path),
                ReadOp::GetChildren { path } => children(znodes, asker, path, false),
            });
            Ok(Response::MultiRead(outcomes.collect()))
        }
        Request::GetEphemerals { prefix } => {
            let blank = |c: char| u32::from(c) <= 0x20;
            let bare = prefix.trim_start_matches(blank).trim_end_matches(blank);
            let start = if bare == "/" || bare.is_empty() { "" } else { prefix };
            let mine = znodes.owned(asker.session).filter(|path| path.starts_with(start));
            Ok(Response::Ephemerals(mine.map(Into::into).collect()))
        }
        Request::GetAllChildrenNumber { path } => count(znodes, asker, path),
        Request::AddWatch { .. } => Ok(Response::WatchAdded),
        Request::WhoAmI => Ok(Response::WhoAmI(asker.names())),
        Request::Auth { scheme, credentials } => proves(scheme, credentials).map(|_| Response::Authenticated),
        Request::RemoveWatches { .. } | Request::CheckWatches { .. } => return None,
        Request::Create { .. }
        | Request::Delete { .. }
        | Request::SetData { .. }
        | Request::SetAcl { .. }
        | Request::Multi { .. }
        | Request::CloseSession => panic!("{} is a write", request.name()),
    })
}

fn data(znodes: &Znodes, asker: Asker<'_>, path: &str) -> Result<Response, ErrorCode> {
    let node = znodes.find(path)?;
    asker.may(Perms::READ, &node.acl)?;
    Ok(Response::Data { data: node.data.clone(), stat: node.stat.into() })
}

fn children(znodes: &Znodes, asker: Asker<'_>, path: &str, stat: bool) -> Result<Response, ErrorCode> {
    let node = znodes.find(path)?;
    asker.may(Perms::READ, &node.acl)?;
    let names = node.children.iter().map(|name| name.as_str().into()).collect();
    Ok(Response::Children { names, stat: stat.then_some(node.stat.into()) })
}

fn acl(znodes: &Znodes, asker: Asker<'_>, path: &str) -> Result<Response, ErrorCode> {
    let node = znodes.find(path)?;
    asker.may(Perms::READ.and(Perms::ADMIN), &node.acl)?;
    Ok(Response::Acl { acl: asker.shown(&node.acl), stat: node.stat.into() })
}

fn count(znodes: &Znodes, asker: Asker<'_>, path: &str) -> Result<Response, ErrorCode> {
    let node = znodes.find(path)?;
    asker.may(Perms::READ, &node.acl)?;
    let prefix = if path == "/" { path.to_owned() } else { format!("{path}/") };
    let below = znodes.nodes.range(prefix.clone()..).take_while(|(other, _)| other.starts_with(&prefix));
    Ok(Response::AllChildrenNumber(below.filter(|(other, _)| *other != path).count() as u32))
}

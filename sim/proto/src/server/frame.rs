//! How long a request is on ZooKeeper's wire: a server cuts off whoever sends too long a one.

use zk_api::{Acl, Data, Op, ReadOp, Request};

/// The longest frame, the four bytes of its length not counted.
///
/// Source: ZooKeeper 3.9, `jute.maxbuffer`; measured: one byte more and the connection is closed.
pub const FRAME_BYTES_MAX: usize = 1_048_575;

/// The request's number and kind.
const HEADER: usize = 8;
/// Kind, end mark and error, before each operation of a multi and behind the last.
const MULTI_HEADER: usize = 9;
const INT: usize = 4;
const BOOL: usize = 1;

/// The bytes of a request with its header.
///
/// Source: ZooKeeper 3.9, `zookeeper.jute`: a text or data is four bytes of length and itself.
pub fn frame_bytes(request: &Request) -> usize {
    HEADER + body_bytes(request)
}

fn body_bytes(request: &Request) -> usize {
    match request {
        Request::Create { path, data, acl, mode, stat: _ } => {
            create(path, data, acl, mode.ttl_ms().is_some())
        }
        Request::Delete { path, version: _ } => text(path) + INT,
        Request::Exists { path, watch: _ }
        | Request::GetData { path, watch: _ }
        | Request::GetChildren { path, watch: _, stat: _ } => text(path) + BOOL,
        Request::SetData { path, data, version: _ } => text(path) + bytes(data) + INT,
        Request::SetAcl { path, acl, version: _ } => text(path) + acl_bytes(acl) + INT,
        Request::GetAcl { path } | Request::Sync { path } | Request::GetAllChildrenNumber { path } => {
            text(path)
        }
        Request::GetEphemerals { prefix } => text(prefix),
        Request::Multi { ops } => {
            ops.iter().map(|op| MULTI_HEADER + op_bytes(op)).sum::<usize>() + MULTI_HEADER
        }
        Request::MultiRead { ops } => {
            let read = |op: &ReadOp| match op {
                ReadOp::GetData { path } | ReadOp::GetChildren { path } => text(path) + BOOL,
            };
            ops.iter().map(|op| MULTI_HEADER + read(op)).sum::<usize>() + MULTI_HEADER
        }
        Request::AddWatch { path, mode: _ } => text(path) + INT,
        Request::RemoveWatches { path, kind: _ } | Request::CheckWatches { path, kind: _ } => {
            text(path) + INT
        }
        Request::WhoAmI | Request::CloseSession => 0,
        Request::Auth { scheme, credentials } => INT + text(scheme) + bytes(credentials),
    }
}

fn op_bytes(op: &Op) -> usize {
    match op {
        Op::Create { path, data, acl, mode, stat: _ } => create(path, data, acl, mode.ttl_ms().is_some()),
        Op::Delete { path, version: _ } | Op::Check { path, version: _ } => text(path) + INT,
        Op::SetData { path, data, version: _ } => text(path) + bytes(data) + INT,
    }
}

fn create(path: &str, data: &Data, acl: &[Acl], has_ttl: bool) -> usize {
    let ttl = if has_ttl { 8 } else { 0 };
    text(path) + bytes(data) + acl_bytes(acl) + INT + ttl
}

fn acl_bytes(acl: &[Acl]) -> usize {
    INT + acl.iter().map(|entry| INT + text(&entry.who.scheme) + text(&entry.who.id)).sum::<usize>()
}

fn text(text: &str) -> usize {
    INT + text.len()
}

fn bytes(data: &Data) -> usize {
    INT + data.bytes().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_api::{CreateMode, open_acl};

    #[test]
    fn a_create_is_as_long_as_on_the_wire() {
        let request = Request::Create {
            path: "/a".into(),
            data: "xyz".into(),
            acl: open_acl(),
            mode: CreateMode::Persistent,
            stat: false,
        };
        // header, path, data, one ACL entry for world:anyone, flags
        assert_eq!(frame_bytes(&request), 8 + 6 + 7 + (4 + 4 + 9 + 10) + 4);
    }
}

//! Requests: what follows the header, by the request's kind.
//!
//! Null texts are malformed but for the prefix of `getEphemerals`, where null stands for everything, and where
//! ZooKeeper does not look at them.

use crate::error::Refusal;
use crate::jute::{Reader, put_acl, put_bool, put_data, put_i32, put_one_of, put_text};
use crate::multi::{put_multi, put_multi_read, read_multi, read_multi_read};
use crate::writes::{Create, create_mode, put_create, put_delete, put_set_data, read_create};
use crate::{Asked, OpCode};
use zk_api::{AddWatchMode, CreateMode, ErrorCode, Request, WatcherKind};
use zk_proto::prepare::TTL_MS_MAX;

/// Appends a request without its header.
pub(crate) fn put_request(out: &mut Vec<u8>, request: &Request) {
    match request {
        Request::Create { path, data, acl, mode, stat: _ } => put_create(out, path, data, acl, *mode),
        Request::Delete { path, version } => put_delete(out, path, *version),
        Request::Exists { path, watch }
        | Request::GetData { path, watch }
        | Request::GetChildren { path, watch, stat: _ } => {
            put_text(out, path);
            put_bool(out, *watch);
        }
        Request::SetData { path, data, version } => put_set_data(out, path, data, *version),
        Request::GetAcl { path } | Request::Sync { path } | Request::GetAllChildrenNumber { path } => {
            put_text(out, path);
        }
        Request::SetAcl { path, acl, version } => {
            put_text(out, path);
            put_acl(out, acl);
            put_i32(out, *version);
        }
        Request::Multi { ops } => put_multi(out, ops),
        Request::MultiRead { ops } => put_multi_read(out, ops),
        Request::AddWatch { path, mode } => {
            put_text(out, path);
            put_one_of(out, &WATCH_MODES, *mode);
        }
        Request::RemoveWatches { path, kind } | Request::CheckWatches { path, kind } => {
            put_text(out, path);
            put_one_of(out, &WATCHER_KINDS, *kind);
        }
        Request::GetEphemerals { prefix } => put_text(out, prefix),
        Request::WhoAmI | Request::CloseSession => {}
        Request::Auth { scheme, credentials } => {
            put_i32(out, AUTH_TYPE);
            put_text(out, scheme);
            put_data(out, credentials);
        }
    }
}

/// Reads a request of a kind that is answered by a reply, and what is to be remembered until then. Fails with
/// what the server is to answer.
pub(crate) fn read_request(code: OpCode, reader: &mut Reader<'_>) -> Result<(Request, Asked), Refusal> {
    let mut ops = Vec::new();
    let request = match code {
        OpCode::Create | OpCode::Create2 | OpCode::CreateContainer | OpCode::CreateTtl => {
            create_request(code, read_create(code, reader)?)?
        }
        OpCode::Delete => {
            let (path, version) = (reader.text_or_null()?, reader.i32()?);
            let path = path.ok_or(Refusal::failed(ErrorCode::MarshallingError))?;
            Request::Delete { path, version }
        }
        OpCode::Exists => Request::Exists { path: reader.text()?, watch: reader.bool()? },
        OpCode::GetData => Request::GetData { path: reader.text()?, watch: reader.bool()? },
        OpCode::SetData => {
            let (path, data, version) = (reader.text_or_null()?, reader.data()?, reader.i32()?);
            let path = path.ok_or(Refusal::failed(ErrorCode::BadArguments))?;
            Request::SetData { path, data, version }
        }
        OpCode::GetAcl => Request::GetAcl { path: reader.text()? },
        OpCode::SetAcl => {
            let (path, acl, version) = (reader.text_or_null()?, reader.acl()?, reader.i32()?);
            let path = path.ok_or(Refusal::failed(ErrorCode::BadArguments))?;
            Request::SetAcl { path, acl, version }
        }
        OpCode::GetChildren | OpCode::GetChildren2 => Request::GetChildren {
            path: reader.text()?,
            watch: reader.bool()?,
            stat: code == OpCode::GetChildren2,
        },
        OpCode::Sync => Request::Sync { path: reader.text_even_null()? },
        OpCode::Multi => {
            let read = read_multi(reader)?;
            let (asked, asks) = read.into_iter().unzip();
            ops = asked;
            Request::Multi { ops: asks }
        }
        OpCode::MultiRead => {
            let reads = read_multi_read(reader)?;
            ops = reads.iter().map(Asked::of_read).collect();
            Request::MultiRead { ops: reads }
        }
        OpCode::AddWatch => {
            Request::AddWatch { path: reader.text_even_null()?, mode: reader.one_of(&WATCH_MODES)? }
        }
        OpCode::RemoveWatches => {
            Request::RemoveWatches { path: reader.text_even_null()?, kind: reader.one_of(&WATCHER_KINDS)? }
        }
        OpCode::CheckWatches => {
            Request::CheckWatches { path: reader.text_even_null()?, kind: reader.one_of(&WATCHER_KINDS)? }
        }
        OpCode::GetEphemerals => {
            Request::GetEphemerals { prefix: reader.text_or_null()?.unwrap_or_default() }
        }
        OpCode::GetAllChildrenNumber => Request::GetAllChildrenNumber { path: reader.text()? },
        OpCode::WhoAmI => Request::WhoAmI,
        OpCode::Auth => {
            reader.i32()?;
            // No scheme at all is an unknown one.
            let (scheme, credentials) = (reader.text_or_null()?, reader.data()?);
            Request::Auth { scheme: scheme.unwrap_or_default(), credentials }
        }
        OpCode::CloseSession => Request::CloseSession,
        OpCode::Reconfig => return Err(refuse_reconfig(reader)),
        // Not requests of their own, or not answered by a reply.
        OpCode::Error | OpCode::Check | OpCode::Ping | OpCode::SetWatches | OpCode::SetWatches2 => {
            return Err(Refusal::unread(ErrorCode::Unimplemented));
        }
    };
    let stat = matches!(request, Request::Create { stat: true, .. });
    Ok((request, Asked { code, stat, ops }))
}

/// A create of its own.
fn create_request(code: OpCode, read: Create) -> Result<Request, Refusal> {
    let Create { path, data, acl, flags, ttl_ms, stat } = read;
    let mode = create_mode(code, flags, ttl_ms).map_err(Refusal::failed)?;
    // Null is as invalid as an empty one.
    let acl = acl.unwrap_or_default();
    let path = path.ok_or(Refusal::failed(without_path(mode)))?;
    Ok(Request::Create { path, data, acl, mode, stat })
}

/// What a create without a path is answered: its mode is looked at first.
fn without_path(mode: CreateMode) -> ErrorCode {
    match mode.ttl_ms() {
        Some(ttl_ms) if !(1..=TTL_MS_MAX).contains(&ttl_ms) => ErrorCode::BadArguments,
        _ => ErrorCode::MarshallingError,
    }
}

/// The kind of an `AuthPacket`, which nobody looks at.
const AUTH_TYPE: i32 = 0;

/// Source: ZooKeeper 3.9, `AddWatchMode`.
const WATCH_MODES: [(AddWatchMode, i32); 2] =
    [(AddWatchMode::Persistent, 0), (AddWatchMode::PersistentRecursive, 1)];

/// Source: ZooKeeper 3.9, `Watcher.WatcherType`.
const WATCHER_KINDS: [(WatcherKind, i32); 5] = [
    (WatcherKind::Children, 1),
    (WatcherKind::Data, 2),
    (WatcherKind::Any, 3),
    (WatcherKind::Persistent, 4),
    (WatcherKind::PersistentRecursive, 5),
];

/// Reads who is to join, who is to leave, who is to be there, and of which configuration that is said.
fn refuse_reconfig(reader: &mut Reader<'_>) -> Refusal {
    let read = |r: &mut Reader<'_>| {
        for _ in 0..3 {
            r.text_or_null()?;
        }
        r.i64()
    };
    match read(reader) {
        Ok(_) => Refusal::failed(ErrorCode::ReconfigDisabled),
        Err(malformed) => malformed.into(),
    }
}

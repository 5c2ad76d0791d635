//! The records of writes, as requests of their own and within a multi.

use crate::OpCode;
use crate::jute::{Malformed, Reader, put_acl, put_data, put_i32, put_i64, put_text};
use zk_api::{Acl, AclList, CreateMode, Data, ErrorCode, Text};

/// A create as it is read.
pub(crate) struct Create {
    pub(crate) path: Option<Text>,
    pub(crate) data: Data,
    pub(crate) acl: Option<AclList>,
    /// As numbers, which mean something else within a multi.
    pub(crate) flags: i32,
    pub(crate) ttl_ms: i64,
    pub(crate) stat: bool,
}

/// Appends the record `CreateRequest`, or `CreateTTLRequest` where the mode has a time to live.
pub(crate) fn put_create(out: &mut Vec<u8>, path: &str, data: &Data, acl: &[Acl], mode: CreateMode) {
    put_text(out, path);
    put_data(out, data);
    put_acl(out, acl);
    put_i32(out, flags(mode));
    if let Some(ttl_ms) = mode.ttl_ms() {
        put_i64(out, ttl_ms);
    }
}

/// Reads a create of one of the four kinds.
pub(crate) fn read_create(code: OpCode, reader: &mut Reader<'_>) -> Result<Create, Malformed> {
    let (path, data, acl, flags) =
        (reader.text_or_null()?, reader.data()?, reader.acl_or_null()?, reader.i32()?);
    let ttl_ms = if code == OpCode::CreateTtl { reader.i64()? } else { NO_TTL };
    Ok(Create { path, data, acl, flags, ttl_ms, stat: code != OpCode::Create })
}

/// The time to live of a create that has none.
const NO_TTL: i64 = -1;

/// Source: ZooKeeper 3.9, `CreateMode`.
fn flags(mode: CreateMode) -> i32 {
    match mode {
        CreateMode::Persistent => 0,
        CreateMode::Ephemeral => 1,
        CreateMode::PersistentSequential => 2,
        CreateMode::EphemeralSequential => 3,
        CreateMode::Container => 4,
        CreateMode::PersistentTtl(_) => 5,
        CreateMode::PersistentSequentialTtl(_) => 6,
    }
}

/// The mode of a create within a multi, and whether it is answered with a Stat; `None` if there is none.
///
/// There the flags alone decide, but that a container stays one. Measured on ZooKeeper 3.9.3.
pub(crate) fn mode_in_multi(code: OpCode, flags: i32, ttl_ms: i64) -> Option<(CreateMode, bool)> {
    let with_ttl = code == OpCode::CreateTtl;
    let stat = code == OpCode::Create2;
    Some(match flags {
        0 | 1 | 4 if code == OpCode::CreateContainer => (CreateMode::Container, true),
        0 => (CreateMode::Persistent, stat),
        1 => (CreateMode::Ephemeral, stat),
        2 => (CreateMode::PersistentSequential, stat),
        3 => (CreateMode::EphemeralSequential, stat),
        4 => (CreateMode::Container, true),
        5 if with_ttl => (CreateMode::PersistentTtl(ttl_ms), true),
        6 if with_ttl => (CreateMode::PersistentSequentialTtl(ttl_ms), true),
        // No time to live is refused as that operation's own error, and so is no mode.
        _ if with_ttl => (CreateMode::PersistentTtl(0), true),
        _ => return None,
    })
}

/// The kind of the create decides whether a container is made, and the flags all the rest: a TTL mode in a
/// create without a time to live has one that is not valid, and the others must not have any.
///
/// A container whose flags say that it is sequential, which no client asks for, is refused; ZooKeeper makes one.
/// Source: ZooKeeper 3.9, `CreateMode.fromFlag` and `EphemeralType.validateTTL`, and measurements.
pub(crate) fn create_mode(code: OpCode, flags: i32, ttl_ms: i64) -> Result<CreateMode, ErrorCode> {
    let mode = match flags {
        0 | 1 | 4 if code == OpCode::CreateContainer => CreateMode::Container,
        2 | 3 if code == OpCode::CreateContainer => return Err(ErrorCode::BadArguments),
        0 => CreateMode::Persistent,
        1 => CreateMode::Ephemeral,
        2 => CreateMode::PersistentSequential,
        3 => CreateMode::EphemeralSequential,
        4 => CreateMode::Persistent,
        5 => CreateMode::PersistentTtl(ttl_ms),
        6 => CreateMode::PersistentSequentialTtl(ttl_ms),
        _ => return Err(ErrorCode::BadArguments),
    };
    if mode.ttl_ms().is_none() && code == OpCode::CreateTtl { Err(ErrorCode::BadArguments) } else { Ok(mode) }
}

pub(crate) fn put_delete(out: &mut Vec<u8>, path: &str, version: i32) {
    put_text(out, path);
    put_i32(out, version);
}

pub(crate) fn put_set_data(out: &mut Vec<u8>, path: &str, data: &Data, version: i32) {
    put_text(out, path);
    put_data(out, data);
    put_i32(out, version);
}

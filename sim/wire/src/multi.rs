//! Multi: a header before each operation and each result, and one behind the last.

use crate::error::{Refusal, error_code};
use crate::jute::{Malformed, Reader, put_bool, put_data, put_i32, put_stat, put_text, put_texts};
use crate::writes::{mode_in_multi, put_create, put_delete, put_set_data, read_create};
use crate::{Asked, OpCode, WireError};
use zk_api::{ErrorCode, MultiOutcome, Op, OpResult, ReadOp, Response, Text};

/// Stands in a header where there is nothing to say.
const NOTHING: i32 = -1;

/// The record `MultiHeader`, as far as it is looked at: what follows, or that nothing follows.
struct Header {
    kind: i32,
    done: bool,
}

fn put_header(out: &mut Vec<u8>, code: OpCode, error: i32) {
    put_i32(out, code.to_i32());
    put_bool(out, false);
    put_i32(out, error);
}

fn put_end(out: &mut Vec<u8>) {
    put_i32(out, NOTHING);
    put_bool(out, true);
    put_i32(out, NOTHING);
}

fn read_header(reader: &mut Reader<'_>) -> Result<Header, Malformed> {
    let header = Header { kind: reader.i32()?, done: reader.bool()? };
    // An error is told by the result itself as well.
    reader.i32()?;
    Ok(header)
}

/// Reads operations or results up to the header that ends them.
fn read_all<T>(
    reader: &mut Reader<'_>,
    mut read: impl FnMut(OpCode, &mut Reader<'_>) -> Result<T, Malformed>,
) -> Result<Vec<T>, Malformed> {
    let mut all = Vec::new();
    loop {
        let header = read_header(reader)?;
        if header.done {
            return Ok(all);
        }
        all.push(read(OpCode::from_i32(header.kind).ok_or(Malformed)?, reader)?);
    }
}

/// Appends the operations of a multi.
pub(crate) fn put_multi(out: &mut Vec<u8>, ops: &[Op]) {
    for op in ops {
        put_header(out, Asked::of_op(op).code, NOTHING);
        match op {
            Op::Create { path, data, acl, mode, stat: _ } => put_create(out, path, data, acl, *mode),
            Op::Delete { path, version } | Op::Check { path, version } => put_delete(out, path, *version),
            Op::SetData { path, data, version } => put_set_data(out, path, data, *version),
        }
    }
    put_end(out);
}

/// Reads the operations of a multi. One that is a read, is unknown, has no path, or is a create of a mode that
/// is no mode makes the whole multi malformed. One that has no ACL, not even an empty one, is found before a
/// zxid is given. Measured.
pub(crate) fn read_multi(reader: &mut Reader<'_>) -> Result<Vec<(Asked, Op)>, Refusal> {
    let (mut without_acl, mut without_path) = (false, false);
    let mut path = |path: Option<Text>| {
        without_path |= path.is_none();
        path.unwrap_or_default()
    };
    let read = read_all(reader, |code, reader| {
        let op = match code {
            OpCode::Create | OpCode::Create2 | OpCode::CreateContainer | OpCode::CreateTtl => {
                let create = read_create(code, reader)?;
                if create.acl.is_none() && code != OpCode::CreateTtl && (0..=6).contains(&create.flags) {
                    without_acl = true;
                    return Err(Malformed);
                }
                let (mode, stat) = mode_in_multi(code, create.flags, create.ttl_ms).ok_or(Malformed)?;
                let acl = create.acl.unwrap_or_default();
                Op::Create { path: path(create.path), data: create.data, acl, mode, stat }
            }
            OpCode::Delete => Op::Delete { path: path(reader.text_or_null()?), version: reader.i32()? },
            OpCode::SetData => {
                let (at, data, version) = (path(reader.text_or_null()?), reader.data()?, reader.i32()?);
                Op::SetData { path: at, data, version }
            }
            OpCode::Check => Op::Check { path: path(reader.text_or_null()?), version: reader.i32()? },
            _ => return Err(Malformed),
        };
        let stat = matches!(op, Op::Create { stat: true, .. });
        Ok((Asked { code, stat, ops: Vec::new() }, op))
    });
    match read {
        Err(Malformed) if without_acl => Err(Refusal::unread(ErrorCode::MarshallingError)),
        Ok(read) if !without_path => Ok(read),
        Ok(_) | Err(Malformed) => Err(Refusal::failed(ErrorCode::MarshallingError)),
    }
}

/// Appends the operations of a multi that reads. None sets a watch.
pub(crate) fn put_multi_read(out: &mut Vec<u8>, ops: &[ReadOp]) {
    for op in ops {
        put_header(out, Asked::of_read(op).code, NOTHING);
        match op {
            ReadOp::GetData { path } | ReadOp::GetChildren { path } => {
                put_text(out, path);
                put_bool(out, false);
            }
        }
    }
    put_end(out);
}

/// Reads the operations of a multi that reads. Watches asked for are not set, as ZooKeeper sets none.
pub(crate) fn read_multi_read(reader: &mut Reader<'_>) -> Result<Vec<ReadOp>, Malformed> {
    read_all(reader, |code, reader| {
        let op = match code {
            OpCode::GetData => ReadOp::GetData { path: reader.text()? },
            OpCode::GetChildren => ReadOp::GetChildren { path: reader.text()? },
            _ => return Err(Malformed),
        };
        reader.bool()?;
        Ok(op)
    })
}

/// No error is zero on the wire.
fn put_error(out: &mut Vec<u8>, code: Option<ErrorCode>) {
    let code = code.map_or(0, ErrorCode::to_i32);
    put_header(out, OpCode::Error, code);
    put_i32(out, code);
}

/// Appends the results of a multi.
pub(crate) fn put_outcome(out: &mut Vec<u8>, outcome: &MultiOutcome) {
    match outcome {
        MultiOutcome::Applied(results) => results.iter().for_each(|result| put_result(out, result)),
        MultiOutcome::Failed(codes) => codes.iter().for_each(|code| put_error(out, *code)),
    }
    put_end(out);
}

fn put_result(out: &mut Vec<u8>, result: &OpResult) {
    match result {
        OpResult::Created { path, stat } => {
            // Containers and TTL znodes as well. Measured.
            put_header(out, if stat.is_some() { OpCode::Create2 } else { OpCode::Create }, 0);
            put_text(out, path);
            stat.iter().for_each(|stat| put_stat(out, stat));
        }
        OpResult::Deleted => put_header(out, OpCode::Delete, 0),
        OpResult::DataSet(stat) => {
            put_header(out, OpCode::SetData, 0);
            put_stat(out, stat);
        }
        OpResult::Checked => put_header(out, OpCode::Check, 0),
    }
}

/// Reads the results of a multi: one for each operation, all done or all failed.
pub(crate) fn read_outcome(reader: &mut Reader<'_>, asked: &Asked) -> Result<MultiOutcome, Malformed> {
    let mut wanted = asked.ops.iter().map(|op| op.stat);
    let results =
        read_all(reader, |code, reader| read_result(code, reader, wanted.next().ok_or(Malformed)?))?;
    if results.len() != asked.ops.len() {
        return Err(Malformed);
    }
    let failed: Vec<_> = results.iter().filter_map(|result| result.as_ref().err().copied()).collect();
    match results.into_iter().collect::<Result<_, _>>() {
        Ok(done) => Ok(MultiOutcome::Applied(done)),
        Err(_) if failed.len() == asked.ops.len() => Ok(MultiOutcome::Failed(failed)),
        Err(_) => Err(Malformed),
    }
}

/// Reads a result of a multi as it stands on the wire, where done and failed may stand side by side.
fn read_result(
    code: OpCode,
    reader: &mut Reader<'_>,
    stat_wanted: bool,
) -> Result<Result<OpResult, Option<ErrorCode>>, Malformed> {
    Ok(Ok(match code {
        OpCode::Create => OpResult::Created { path: reader.text()?, stat: None },
        OpCode::Create2 | OpCode::CreateContainer | OpCode::CreateTtl => {
            let (path, stat) = (reader.text()?, reader.stat()?);
            OpResult::Created { path, stat: stat_wanted.then_some(stat) }
        }
        OpCode::Delete => OpResult::Deleted,
        OpCode::SetData => OpResult::DataSet(reader.stat()?),
        OpCode::Check => OpResult::Checked,
        OpCode::Error => return Ok(Err(read_error(reader)?)),
        _ => return Err(Malformed),
    }))
}

/// An error that this crate does not know is an error all the same.
fn read_error(reader: &mut Reader<'_>) -> Result<Option<ErrorCode>, Malformed> {
    Ok(error_code(reader.i32()?))
}

/// Appends the results of a multi that reads.
pub(crate) fn put_reads(
    out: &mut Vec<u8>,
    outcomes: &[Result<Response, ErrorCode>],
) -> Result<(), WireError> {
    for outcome in outcomes {
        match outcome {
            Ok(Response::Data { data, stat }) => {
                put_header(out, OpCode::GetData, 0);
                put_data(out, data);
                put_stat(out, stat);
            }
            Ok(Response::Children { names, stat: None }) => {
                put_header(out, OpCode::GetChildren, 0);
                put_texts(out, names);
            }
            Ok(_) => return Err(WireError::Unencodable { what: "a result of multiRead" }),
            Err(code) => put_error(out, Some(*code)),
        }
    }
    put_end(out);
    Ok(())
}

/// Reads the results of a multi that reads: one for each operation.
pub(crate) fn read_reads(
    reader: &mut Reader<'_>,
    asked: &Asked,
) -> Result<Vec<Result<Response, ErrorCode>>, Malformed> {
    let outcomes = read_all(reader, |code, reader| match code {
        OpCode::GetData => Ok(Ok(Response::Data { data: reader.data()?, stat: reader.stat()? })),
        OpCode::GetChildren => Ok(Ok(Response::Children { names: reader.texts()?, stat: None })),
        OpCode::Error => read_error(reader)?.map(Err).ok_or(Malformed),
        _ => Err(Malformed),
    })?;
    if outcomes.len() == asked.ops.len() { Ok(outcomes) } else { Err(Malformed) }
}

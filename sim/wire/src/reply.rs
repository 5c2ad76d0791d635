//! Answers: a header, and what follows it by the kind of the request.

use crate::error::error_code;
use crate::jute::{
    Malformed, Reader, put_acl, put_data, put_i32, put_identity, put_list, put_stat, put_text, put_texts,
    put_zxid,
};
use crate::multi::{put_outcome, put_reads, read_outcome, read_reads};
use crate::{Asked, OpCode, WireError};
use zk_api::{ErrorCode, Response, Zxid};

/// The record `ReplyHeader`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReplyHeader {
    pub(crate) xid: i32,
    pub(crate) zxid: Zxid,
    /// No error is zero on the wire.
    pub(crate) error: Option<ErrorCode>,
}

impl ReplyHeader {
    pub(crate) fn put(self, out: &mut Vec<u8>) {
        put_i32(out, self.xid);
        put_zxid(out, self.zxid);
        put_i32(out, self.error.map_or(0, ErrorCode::to_i32));
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<ReplyHeader, Malformed> {
        Ok(ReplyHeader { xid: reader.i32()?, zxid: reader.zxid()?, error: error_code(reader.i32()?) })
    }
}

/// Appends header and body of the answer to a request.
pub(crate) fn put_reply(
    out: &mut Vec<u8>,
    xid: i32,
    zxid: Zxid,
    result: &Result<Response, ErrorCode>,
) -> Result<(), WireError> {
    let (error, response) = match result {
        // What is no error to the user is one on the wire.
        Ok(Response::Exists(None)) => (Some(ErrorCode::NoNode), None),
        Ok(response) => (None, Some(response)),
        Err(code) => (Some(*code), None),
    };
    ReplyHeader { xid, zxid, error }.put(out);
    response.map_or(Ok(()), |response| put_response(out, response))
}

fn put_response(out: &mut Vec<u8>, response: &Response) -> Result<(), WireError> {
    match response {
        Response::Created { path, stat } => {
            put_text(out, path);
            stat.iter().for_each(|stat| put_stat(out, stat));
        }
        Response::Exists(Some(stat)) | Response::DataSet(stat) | Response::AclSet(stat) => {
            put_stat(out, stat);
        }
        Response::Data { data, stat } => {
            put_data(out, data);
            put_stat(out, stat);
        }
        Response::Children { names, stat } => {
            put_texts(out, names);
            stat.iter().for_each(|stat| put_stat(out, stat));
        }
        Response::Acl { acl, stat } => {
            put_acl(out, acl);
            put_stat(out, stat);
        }
        Response::Synced { path } => put_text(out, path),
        Response::Multi(outcome) => put_outcome(out, outcome),
        Response::MultiRead(outcomes) => put_reads(out, outcomes)?,
        // The record `ErrorResponse`, although there is none.
        Response::WatchAdded => put_i32(out, 0),
        Response::Ephemerals(paths) => put_texts(out, paths),
        Response::AllChildrenNumber(n) => put_i32(out, *n as i32),
        Response::WhoAmI(identities) => put_list(out, identities, put_identity),
        Response::Exists(None)
        | Response::Deleted
        | Response::WatchesRemoved
        | Response::WatchesPresent
        | Response::Authenticated
        | Response::Closed => {}
    }
    Ok(())
}

/// Reads the body of the answer to `asked`, where the header tells of no error.
pub(crate) fn read_response(reader: &mut Reader<'_>, asked: &Asked) -> Result<Response, Malformed> {
    Ok(match asked.code {
        OpCode::Create | OpCode::Create2 | OpCode::CreateContainer | OpCode::CreateTtl => {
            let path = reader.text()?;
            // One that was not asked for may be there all the same.
            let stat = if asked.stat { Some(reader.stat()?) } else { None };
            Response::Created { path, stat }
        }
        OpCode::Delete => Response::Deleted,
        OpCode::Exists => Response::Exists(Some(reader.stat()?)),
        OpCode::GetData => Response::Data { data: reader.data()?, stat: reader.stat()? },
        OpCode::SetData => Response::DataSet(reader.stat()?),
        OpCode::GetAcl => Response::Acl { acl: reader.acl()?, stat: reader.stat()? },
        OpCode::SetAcl => Response::AclSet(reader.stat()?),
        OpCode::GetChildren => Response::Children { names: reader.texts()?, stat: None },
        OpCode::GetChildren2 => Response::Children { names: reader.texts()?, stat: Some(reader.stat()?) },
        OpCode::Sync => Response::Synced { path: reader.text_or_null()?.unwrap_or_default() },
        OpCode::Multi => Response::Multi(read_outcome(reader, asked)?),
        OpCode::MultiRead => Response::MultiRead(read_reads(reader, asked)?),
        OpCode::CheckWatches => Response::WatchesPresent,
        OpCode::RemoveWatches => Response::WatchesRemoved,
        OpCode::AddWatch => {
            reader.i32()?;
            Response::WatchAdded
        }
        OpCode::GetEphemerals => Response::Ephemerals(reader.texts()?),
        OpCode::GetAllChildrenNumber => Response::AllChildrenNumber(reader.i32()? as u32),
        OpCode::WhoAmI => Response::WhoAmI(reader.list(Reader::identity)?.unwrap_or_default()),
        OpCode::Auth => Response::Authenticated,
        OpCode::CloseSession => Response::Closed,
        // Nothing of these is ever remembered by a client.
        OpCode::Error
        | OpCode::Ping
        | OpCode::Check
        | OpCode::Reconfig
        | OpCode::SetWatches
        | OpCode::SetWatches2 => return Err(Malformed),
    })
}

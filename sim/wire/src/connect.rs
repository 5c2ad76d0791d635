//! The handshake: a connection's first frame in each direction.
//!
//! Clients before 3.4 do not know the last byte, which tells of read-only servers. A server sends it to those
//! who have sent it.

use crate::WireError;
use crate::jute::{Malformed, Reader, put_bool, put_bytes, put_i32, put_i64, put_zxid};
use zk_api::SessionId;
use zk_proto::message::{ConnectRequest, ConnectResponse, Password};

/// The only version there is.
const PROTOCOL_VERSION: i32 = 0;

/// Appends the record `ConnectRequest`, with the byte `readOnly` if it is to be there. The client is content
/// with no read-only server.
pub(crate) fn put_request(out: &mut Vec<u8>, request: &ConnectRequest, read_only_byte: bool) {
    put_i32(out, PROTOCOL_VERSION);
    put_zxid(out, request.last_zxid);
    put_timeout(out, request.timeout_ms);
    put_i64(out, request.session.get());
    put_bytes(out, &request.password);
    if read_only_byte {
        put_bool(out, false);
    }
}

/// Reads the record `ConnectRequest`, and whether its byte `readOnly` is there.
pub(crate) fn read_request(frame: &[u8]) -> Result<(ConnectRequest, bool), WireError> {
    let mut reader = Reader::new(frame);
    let read = |r: &mut Reader<'_>| {
        r.i32()?;
        Ok(ConnectRequest {
            last_zxid: r.zxid_seen()?,
            timeout_ms: timeout(r.i32()?),
            session: SessionId::new(r.i64()?),
            // No session has the password that stands for one of another length.
            password: password(r)?.unwrap_or_default(),
        })
    };
    let request = read(&mut reader).map_err(|Malformed| WireError::Malformed { what: "connect request" })?;
    Ok((request, !reader.is_empty()))
}

/// Appends the record `ConnectResponse`. The server is not read-only.
pub(crate) fn put_response(out: &mut Vec<u8>, response: &ConnectResponse, read_only_byte: bool) {
    put_i32(out, PROTOCOL_VERSION);
    put_timeout(out, response.timeout_ms);
    put_i64(out, response.session.get());
    put_bytes(out, &response.password);
    if read_only_byte {
        put_bool(out, false);
    }
}

/// Reads the record `ConnectResponse`.
pub(crate) fn read_response(frame: &[u8]) -> Result<ConnectResponse, WireError> {
    let mut reader = Reader::new(frame);
    let read = |r: &mut Reader<'_>| {
        r.i32()?;
        let (timeout_ms, session) = (timeout(r.i32()?), SessionId::new(r.i64()?));
        let password = match password(r)? {
            Some(password) => password,
            None if session == SessionId::NONE => Password::default(),
            None => return Err(Malformed),
        };
        Ok(ConnectResponse { timeout_ms, session, password })
    };
    read(&mut reader).map_err(|Malformed| WireError::Malformed { what: "connect response" })
}

/// More than the wire can say is as good as the most it can.
fn put_timeout(out: &mut Vec<u8>, timeout_ms: u32) {
    put_i32(out, i32::try_from(timeout_ms).unwrap_or(i32::MAX));
}

/// Less than nothing is nothing: a server clamps both to its least.
fn timeout(wire: i32) -> u32 {
    u32::try_from(wire).unwrap_or(0)
}

/// A password; `None` if it has another length.
fn password(reader: &mut Reader<'_>) -> Result<Option<Password>, Malformed> {
    Ok(reader.bytes()?.and_then(|bytes| bytes.try_into().ok()))
}

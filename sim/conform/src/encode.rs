//! Requests as frames.

use crate::op;
use crate::record::Writer;
use crate::script::{AclArg, Call, Connect, CreateKind, ReadOnly, Sent, ZxidArg};

/// What a watch event, a ping, credentials and a list of watches have for a number.
pub(crate) const EVENT: i32 = -1;
pub(crate) const PING: i32 = -2;
pub(crate) const AUTH: i32 = -4;
pub(crate) const SET_WATCHES: i32 = -8;

/// The kind of a request.
pub(crate) fn op_of(call: &Call) -> i32 {
    match call {
        Call::Create { kind, .. } => *kind as i32,
        Call::Look { what, .. } => *what as i32,
        Call::Name { what, .. } => *what as i32,
        Call::Number { what, .. } => *what as i32,
        Call::SetData { .. } => op::SET_DATA,
        Call::SetAcl { .. } => op::SET_ACL,
        Call::Multi { reads: false, .. } => op::MULTI,
        Call::Multi { reads: true, .. } => op::MULTI_READ,
        Call::SetWatches { two: false, .. } => op::SET_WATCHES,
        Call::SetWatches { two: true, .. } => op::SET_WATCHES2,
        Call::Auth { .. } => op::AUTH,
        Call::Reconfig { .. } => op::RECONFIG,
        Call::WhoAmI => op::WHO_AM_I,
        Call::Ping => op::PING,
        Call::Close => op::CLOSE,
        Call::Raw { op, .. } => *op,
    }
}

/// The number that a request has if its script gives none; `None` is the connection's next.
pub(crate) fn own_xid(call: &Call) -> Option<i32> {
    match call {
        Call::Ping => Some(PING),
        Call::Auth { .. } => Some(AUTH),
        Call::SetWatches { .. } => Some(SET_WATCHES),
        _ => None,
    }
}

/// A request's frame, its length included.
pub(crate) fn request(sent: &Sent, xid: i32, zxid: &dyn Fn(ZxidArg) -> i64) -> Vec<u8> {
    let mut out = Writer::default();
    out.int(xid).int(op_of(&sent.call));
    put_body(&mut out, &sent.call, zxid);
    out.0.truncate(out.0.len().saturating_sub(sent.cut));
    out.0.extend_from_slice(&sent.more);
    framed(out.0)
}

/// What a handshake says beside what the script tells.
pub(crate) struct Handshake<'a> {
    pub(crate) last_zxid: i64,
    pub(crate) session: i64,
    pub(crate) password: Option<&'a [u8]>,
}

/// A handshake's frame.
pub(crate) fn handshake(connect: &Connect, with: &Handshake<'_>) -> Vec<u8> {
    let mut out = Writer::default();
    out.int(0).long(with.last_zxid).int(connect.timeout_ms).long(with.session).bytes(with.password);
    if connect.read_only != ReadOnly::Absent {
        out.byte(u8::from(connect.read_only == ReadOnly::Yes));
    }
    out.0.truncate(out.0.len().saturating_sub(connect.cut));
    framed(out.0)
}

fn framed(body: Vec<u8>) -> Vec<u8> {
    let mut frame = (body.len() as u32).to_be_bytes().to_vec();
    frame.extend(body);
    frame
}

fn put_body<'a>(out: &'a mut Writer, call: &Call, zxid: &dyn Fn(ZxidArg) -> i64) -> &'a mut Writer {
    match call {
        Call::Create { kind, path, data, acl, flags, ttl_ms } => {
            put_acl(out.text(path.as_deref()).bytes(data.as_deref()), acl).int(*flags);
            if *kind == CreateKind::Ttl { out.long(*ttl_ms) } else { out }
        }
        Call::Look { path, watch, .. } => out.text(path.as_deref()).byte(u8::from(*watch)),
        Call::Name { path, .. } => out.text(path.as_deref()),
        Call::Number { path, number, .. } => out.text(path.as_deref()).int(*number),
        Call::SetData { path, data, version } => {
            out.text(path.as_deref()).bytes(data.as_deref()).int(*version)
        }
        Call::SetAcl { path, acl, version } => put_acl(out.text(path.as_deref()), acl).int(*version),
        Call::Multi { ops, .. } => {
            for call in ops {
                out.int(op_of(call)).byte(0).int(-1);
                put_body(out, call, zxid);
            }
            out.int(-1).byte(1).int(-1)
        }
        Call::SetWatches { since, lists, .. } => {
            out.long(zxid(*since));
            for list in lists {
                out.list(list.as_deref(), |out, path| _ = out.text(path.as_deref()));
            }
            out
        }
        Call::Auth { scheme, credentials } => {
            out.int(0).text(scheme.as_deref()).bytes(credentials.as_deref())
        }
        Call::Reconfig { joining, leaving, members, version } => {
            out.text(joining.as_deref()).text(leaving.as_deref()).text(members.as_deref()).long(*version)
        }
        Call::WhoAmI | Call::Ping | Call::Close => out,
        Call::Raw { body, .. } => out.raw(body),
    }
}

fn put_acl<'a>(out: &'a mut Writer, acl: &AclArg) -> &'a mut Writer {
    out.list(acl.as_deref(), |out, entry| {
        _ = out.int(entry.perms).text(entry.scheme.as_deref()).text(entry.id.as_deref());
    })
}

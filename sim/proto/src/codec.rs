//! How transactions and znodes are written to disk: explicit, little-endian, and read back without trust.
//!
//! Integers have their fixed size. Texts, bytes and lists have a `u32` length before them; null data has
//! `u32::MAX` there. Every variant is a byte. Reading never panics, and never allocates more than what is
//! really there: whatever is not the encoding of a value is [`Malformed`].
//!
//! ```
//! use zk_proto::codec::{Decoder, Malformed, put_txn};
//! # use zk_api::{SessionId, Zxid};
//! # use zk_proto::{message::Xid, txn::{Txn, TxnBody}};
//! # let (session, xid, time_ms) = (SessionId::new(7), Xid(1), 0);
//! # let body = TxnBody::Delete { path: "/a".into() };
//!
//! let txn = Txn { zxid: Zxid::new(1, 1), session, xid, time_ms, body };
//! let mut bytes = Vec::new();
//! put_txn(&mut bytes, &txn);
//! let mut decoder = Decoder::new(&bytes);
//! assert_eq!(decoder.txn()?, txn);
//! decoder.finish()?;
//! assert_eq!(Decoder::new(&bytes[..bytes.len() - 1]).txn(), Err(Malformed));
//! # Ok::<(), Malformed>(())
//! ```

use crate::message::{Password, Xid};
use crate::tree::Node;
use crate::txn::{NodeKind, Txn, TxnBody};
use std::collections::BTreeSet;
use std::fmt;
use zk_api::{Acl, AclList, Data, ErrorCode, Identity, Perms, SessionId, Text, Zxid, open_acl};

/// Bytes that are not the encoding of what was to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an encoding")
    }
}

impl std::error::Error for Malformed {}

/// Appends a transaction. A multi within a multi, which no leader makes, cannot be read back.
pub fn put_txn(out: &mut Vec<u8>, txn: &Txn) {
    put_zxid(out, txn.zxid);
    put_i64(out, txn.session.get());
    put_i32(out, txn.xid.0);
    put_i64(out, txn.time_ms);
    put_body(out, &txn.body);
}

/// Appends a znode without its path, and without its children, which follow from the paths.
pub fn put_node(out: &mut Vec<u8>, node: &Node) {
    put_data(out, &node.data);
    put_acl(out, &node.acl);
    put_kind(out, node.kind);
    for zxid in [node.czxid, node.mzxid, node.pzxid] {
        put_zxid(out, zxid);
    }
    put_i64(out, node.ctime_ms);
    put_i64(out, node.mtime_ms);
    for counter in [node.version, node.aversion, node.created] {
        put_i32(out, counter);
    }
}

fn put_body(out: &mut Vec<u8>, body: &TxnBody) {
    match body {
        TxnBody::CreateSession { timeout_ms, password } => {
            out.push(1);
            put_u32(out, *timeout_ms);
            out.extend_from_slice(password);
        }
        TxnBody::CloseSession { ephemerals, expired } => {
            out.extend_from_slice(&[2, u8::from(*expired)]);
            put_u32(out, ephemerals.len() as u32);
            for path in ephemerals {
                put_text(out, path);
            }
        }
        TxnBody::Create { path, data, acl, kind, parent_created } => {
            out.push(3);
            put_text(out, path);
            put_data(out, data);
            put_acl(out, acl);
            put_kind(out, *kind);
            put_i32(out, *parent_created);
        }
        TxnBody::Delete { path } => {
            out.push(4);
            put_text(out, path);
        }
        TxnBody::SetData { path, data, version } => {
            out.push(5);
            put_text(out, path);
            put_data(out, data);
            put_i32(out, *version);
        }
        TxnBody::SetAcl { path, acl, aversion } => {
            out.push(6);
            put_text(out, path);
            put_acl(out, acl);
            put_i32(out, *aversion);
        }
        TxnBody::Check { path } => {
            out.push(7);
            put_text(out, path);
        }
        TxnBody::Multi { ops } => {
            out.push(MULTI);
            put_u32(out, ops.len() as u32);
            for op in ops {
                put_body(out, op);
            }
        }
        TxnBody::Error(code) => {
            out.push(9);
            put_i32(out, code.to_i32());
        }
        TxnBody::MultiError(codes) => {
            out.push(10);
            put_u32(out, codes.len() as u32);
            for code in codes {
                // No error is zero on ZooKeeper's wire either.
                put_i32(out, code.map_or(0, ErrorCode::to_i32));
            }
        }
    }
}

/// The tag of the one body that has others in it.
const MULTI: u8 = 8;

fn put_kind(out: &mut Vec<u8>, kind: NodeKind) {
    match kind {
        NodeKind::Persistent => out.push(0),
        NodeKind::Ephemeral(owner) => {
            out.push(1);
            put_i64(out, owner.get());
        }
        NodeKind::Container => out.push(2),
        NodeKind::Ttl(ttl_ms) => {
            out.push(3);
            put_i64(out, ttl_ms);
        }
    }
}

fn put_acl(out: &mut Vec<u8>, acl: &AclList) {
    put_u32(out, acl.len() as u32);
    for entry in &**acl {
        out.push(entry.perms.0);
        put_text(out, &entry.who.scheme);
        put_text(out, &entry.who.id);
    }
}

fn put_data(out: &mut Vec<u8>, data: &Data) {
    if data.is_null() {
        put_u32(out, u32::MAX);
    } else {
        put_u32(out, data.bytes().len() as u32);
        out.extend_from_slice(data.bytes());
    }
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_u32(out, text.len() as u32);
    out.extend_from_slice(text.as_bytes());
}

pub(crate) fn put_zxid(out: &mut Vec<u8>, zxid: Zxid) {
    put_i64(out, zxid.to_i64());
}

pub(crate) fn put_u32(out: &mut Vec<u8>, n: u32) {
    out.extend_from_slice(&n.to_le_bytes());
}

pub(crate) fn put_i32(out: &mut Vec<u8>, n: i32) {
    out.extend_from_slice(&n.to_le_bytes());
}

pub(crate) fn put_i64(out: &mut Vec<u8>, n: i64) {
    out.extend_from_slice(&n.to_le_bytes());
}

/// Reads values from the front of some bytes.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    /// Reads from the beginning of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Decoder<'a> {
        Decoder { rest: bytes }
    }

    /// Ends the reading; fails if something is left.
    pub fn finish(self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed) }
    }

    /// A transaction.
    pub fn txn(&mut self) -> Result<Txn, Malformed> {
        Ok(Txn {
            zxid: self.zxid()?,
            session: SessionId::new(self.i64()?),
            xid: Xid(self.i32()?),
            time_ms: self.i64()?,
            body: self.body(true)?,
        })
    }

    /// A znode, still without children.
    pub fn node(&mut self) -> Result<Node, Malformed> {
        Ok(Node {
            data: self.data()?,
            acl: self.acl()?,
            kind: self.kind()?,
            czxid: self.zxid()?,
            mzxid: self.zxid()?,
            pzxid: self.zxid()?,
            ctime_ms: self.i64()?,
            mtime_ms: self.i64()?,
            version: self.i32()?,
            aversion: self.i32()?,
            created: self.i32()?,
            children: BTreeSet::new(),
        })
    }

    /// Some bytes, as many as asked for.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn i32(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Result<i64, Malformed> {
        self.array().map(i64::from_le_bytes)
    }

    pub(crate) fn zxid(&mut self) -> Result<Zxid, Malformed> {
        self.i64().map(Zxid::from_i64)
    }

    pub(crate) fn text(&mut self) -> Result<Text, Malformed> {
        let len = self.u32()?;
        let text = std::str::from_utf8(self.take(len as usize)?).map_err(|_| Malformed)?;
        Ok(text.into())
    }

    pub(crate) fn password(&mut self) -> Result<Password, Malformed> {
        self.array()
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed)
    }

    /// A list. It grows as its items are read: a length that is a lie costs nothing.
    fn list<T>(&mut self, item: fn(&mut Self) -> Result<T, Malformed>) -> Result<Vec<T>, Malformed> {
        let len = self.u32()?;
        (0..len).map(|_| item(self)).collect()
    }

    fn data(&mut self) -> Result<Data, Malformed> {
        match self.u32()? {
            u32::MAX => Ok(Data::NULL),
            len => Ok(self.take(len as usize)?.into()),
        }
    }

    fn acl(&mut self) -> Result<AclList, Malformed> {
        let acl = self.list(|d| {
            let perms = Perms(d.u8()?);
            Ok(Acl { perms, who: Identity { scheme: d.text()?, id: d.text()? } })
        })?;
        // Nearly every znode has this one: share it, as it was shared before.
        if *acl == *open_acl() { Ok(open_acl()) } else { Ok(acl.into()) }
    }

    fn kind(&mut self) -> Result<NodeKind, Malformed> {
        match self.u8()? {
            0 => Ok(NodeKind::Persistent),
            1 => Ok(NodeKind::Ephemeral(SessionId::new(self.i64()?))),
            2 => Ok(NodeKind::Container),
            3 => Ok(NodeKind::Ttl(self.i64()?)),
            _ => Err(Malformed),
        }
    }

    /// A transaction's body; that of a multi's operation is no multi, so that crafted bytes cannot nest.
    fn body(&mut self, multi_allowed: bool) -> Result<TxnBody, Malformed> {
        Ok(match self.u8()? {
            1 => TxnBody::CreateSession { timeout_ms: self.u32()?, password: self.password()? },
            2 => {
                let expired = match self.u8()? {
                    0 => false,
                    1 => true,
                    _ => return Err(Malformed),
                };
                TxnBody::CloseSession { ephemerals: self.list(Decoder::text)?, expired }
            }
            3 => TxnBody::Create {
                path: self.text()?,
                data: self.data()?,
                acl: self.acl()?,
                kind: self.kind()?,
                parent_created: self.i32()?,
            },
            4 => TxnBody::Delete { path: self.text()? },
            5 => TxnBody::SetData { path: self.text()?, data: self.data()?, version: self.i32()? },
            6 => TxnBody::SetAcl { path: self.text()?, acl: self.acl()?, aversion: self.i32()? },
            7 => TxnBody::Check { path: self.text()? },
            MULTI if multi_allowed => TxnBody::Multi { ops: self.list(|d| d.body(false))? },
            9 => TxnBody::Error(self.code()?.ok_or(Malformed)?),
            10 => TxnBody::MultiError(self.list(Decoder::code)?),
            _ => return Err(Malformed),
        })
    }

    fn code(&mut self) -> Result<Option<ErrorCode>, Malformed> {
        match self.i32()? {
            0 => Ok(None),
            code => ErrorCode::from_i32(code).map(Some).ok_or(Malformed),
        }
    }
}

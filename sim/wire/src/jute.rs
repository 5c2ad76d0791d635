//! What records are made of: big-endian integers, texts, buffers and lists.
//!
//! A text, a buffer and a list have their length before them, in bytes or items; -1 there stands for null.
//! Source: ZooKeeper 3.9, `BinaryOutputArchive` and `BinaryInputArchive`.

use zk_api::{Acl, AclList, Data, Identity, Perms, SessionId, Stat, StatFields, Text, Zxid, open_acl};
use zk_proto::message::NULL_TEXT;

const NULL: i32 = -1;

pub(crate) fn put_bool(out: &mut Vec<u8>, flag: bool) {
    out.push(u8::from(flag));
}

pub(crate) fn put_i32(out: &mut Vec<u8>, n: i32) {
    out.extend_from_slice(&n.to_be_bytes());
}

pub(crate) fn put_i64(out: &mut Vec<u8>, n: i64) {
    out.extend_from_slice(&n.to_be_bytes());
}

pub(crate) fn put_zxid(out: &mut Vec<u8>, zxid: Zxid) {
    put_i64(out, zxid.to_i64());
}

/// Appends the number that a table has for a value.
pub(crate) fn put_one_of<T: Copy + PartialEq>(out: &mut Vec<u8>, numbers: &[(T, i32)], value: T) {
    let of_value = numbers.iter().find(|(known, _)| *known == value);
    put_i32(out, of_value.expect("every value has a number").1);
}

/// A length that does not fit makes the frame too long as well, which is found when the frame is closed.
fn put_length(out: &mut Vec<u8>, length: usize) {
    put_i32(out, length as i32);
}

pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, bytes.len());
    out.extend_from_slice(bytes);
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    if text == NULL_TEXT { put_i32(out, NULL) } else { put_bytes(out, text.as_bytes()) }
}

pub(crate) fn put_data(out: &mut Vec<u8>, data: &Data) {
    if data.is_null() { put_i32(out, NULL) } else { put_bytes(out, data.bytes()) }
}

pub(crate) fn put_list<T>(out: &mut Vec<u8>, items: &[T], put: impl Fn(&mut Vec<u8>, &T)) {
    put_length(out, items.len());
    for item in items {
        put(out, item);
    }
}

pub(crate) fn put_texts(out: &mut Vec<u8>, texts: &[Text]) {
    put_list(out, texts, |out, text| put_text(out, text));
}

pub(crate) fn put_identity(out: &mut Vec<u8>, identity: &Identity) {
    put_text(out, &identity.scheme);
    put_text(out, &identity.id);
}

pub(crate) fn put_acl(out: &mut Vec<u8>, acl: &[Acl]) {
    put_list(out, acl, |out, entry| {
        put_i32(out, entry.perms.0.into());
        put_identity(out, &entry.who);
    });
}

pub(crate) fn put_stat(out: &mut Vec<u8>, stat: &Stat) {
    put_zxid(out, stat.czxid());
    put_zxid(out, stat.mzxid());
    put_i64(out, stat.ctime_ms());
    put_i64(out, stat.mtime_ms());
    put_i32(out, stat.version());
    put_i32(out, stat.cversion());
    put_i32(out, stat.aversion());
    put_i64(out, stat.ephemeral_owner().get());
    put_i32(out, stat.data_length() as i32);
    put_i32(out, stat.num_children() as i32);
    put_zxid(out, stat.pzxid());
}

/// Bytes that are not the encoding of what was to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Reads values from the front of some bytes.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Anything but zero is true, as it is for Java.
    pub(crate) fn bool(&mut self) -> Result<bool, Malformed> {
        self.array::<1>().map(|[byte]| byte != 0)
    }

    pub(crate) fn i32(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_be_bytes)
    }

    /// A value by the number that a table has for it.
    pub(crate) fn one_of<T: Copy>(&mut self, numbers: &[(T, i32)]) -> Result<T, Malformed> {
        let number = self.i32()?;
        numbers.iter().find(|(_, known)| *known == number).map(|(value, _)| *value).ok_or(Malformed)
    }

    pub(crate) fn i64(&mut self) -> Result<i64, Malformed> {
        self.array().map(i64::from_be_bytes)
    }

    pub(crate) fn zxid(&mut self) -> Result<Zxid, Malformed> {
        self.i64().map(Zxid::from_i64)
    }

    /// A zxid that a client has seen. ZooKeeper compares them with their sign: less than zero is before all.
    pub(crate) fn zxid_seen(&mut self) -> Result<Zxid, Malformed> {
        self.i64().map(|zxid| Zxid::from_i64(zxid.max(0)))
    }

    /// A buffer; `None` for null.
    pub(crate) fn bytes(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        match self.i32()? {
            NULL => Ok(None),
            length => self.take(usize::try_from(length).map_err(|_| Malformed)?).map(Some),
        }
    }

    pub(crate) fn data(&mut self) -> Result<Data, Malformed> {
        Ok(self.bytes()?.map_or(Data::NULL, Data::from))
    }

    /// A text; `None` for null. What is no UTF-8 is replaced, as Java does.
    pub(crate) fn text_or_null(&mut self) -> Result<Option<Text>, Malformed> {
        Ok(self.bytes()?.map(|bytes| String::from_utf8_lossy(bytes).into()))
    }

    /// A text that may be null, and is [`NULL_TEXT`] then.
    pub(crate) fn text_even_null(&mut self) -> Result<Text, Malformed> {
        Ok(self.text_or_null()?.unwrap_or_else(|| NULL_TEXT.into()))
    }

    /// A text that is not null. A server stumbles over a path that is.
    pub(crate) fn text(&mut self) -> Result<Text, Malformed> {
        self.text_or_null()?.ok_or(Malformed)
    }

    /// A list; `None` for null. It grows as its items are read: a length that is a lie costs nothing.
    pub(crate) fn list<T>(
        &mut self,
        item: impl Fn(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Option<Vec<T>>, Malformed> {
        match self.i32()? {
            NULL => Ok(None),
            length => {
                let length = u32::try_from(length).map_err(|_| Malformed)?;
                (0..length).map(|_| item(self)).collect::<Result<_, _>>().map(Some)
            }
        }
    }

    pub(crate) fn texts(&mut self) -> Result<Vec<Text>, Malformed> {
        self.list(Reader::text)?.ok_or(Malformed)
    }

    pub(crate) fn identity(&mut self) -> Result<Identity, Malformed> {
        Ok(Identity { scheme: self.text_even_null()?, id: self.text_even_null()? })
    }

    /// An ACL; null is taken for an empty one, as both are equally invalid.
    pub(crate) fn acl(&mut self) -> Result<AclList, Malformed> {
        Ok(self.acl_or_null()?.unwrap_or_default())
    }

    /// An ACL; `None` for null. Bits above the lowest eight of
    /// what is permitted are ignored: none of them has a meaning.
    pub(crate) fn acl_or_null(&mut self) -> Result<Option<AclList>, Malformed> {
        let entry = |r: &mut Self| Ok(Acl { perms: Perms(r.i32()? as u8), who: r.identity()? });
        let Some(acl) = self.list(entry)? else { return Ok(None) };
        // Nearly every znode has this one: share it.
        Ok(Some(if *acl == *open_acl() { open_acl() } else { acl.into() }))
    }

    pub(crate) fn stat(&mut self) -> Result<Stat, Malformed> {
        Ok(Stat::from(StatFields {
            czxid: self.zxid()?,
            mzxid: self.zxid()?,
            ctime_ms: self.i64()?,
            mtime_ms: self.i64()?,
            version: self.i32()?,
            cversion: self.i32()?,
            aversion: self.i32()?,
            ephemeral_owner: SessionId::new(self.i64()?),
            data_length: self.i32()? as u32,
            num_children: self.i32()? as u32,
            pzxid: self.zxid()?,
        }))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed)
    }
}

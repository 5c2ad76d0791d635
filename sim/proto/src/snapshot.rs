//! Fuzzy snapshots: written in pieces while transactions go on.
//!
//! A file is `magic, zxid i64`, the sessions as they are when it is begun, then the znodes, each as it is when
//! its piece is written, and the end: the last transaction that any piece may show, the checksum of all bytes before
//! it, and the magic once more. Without its end a snapshot is none; as in ZooKeeper, one that has its end and fails its
//! checksum is a bad one.
//!
//! ```
//! use zk_proto::codec::Malformed;
//! use zk_proto::sessions::SessionTable;
//! use zk_proto::snapshot::{encode, is_finished, load};
//! use zk_proto::tree::DataTree;
//!
//! let tree = DataTree::new();
//! let mut bytes = encode(&tree, &SessionTable::default());
//! assert_eq!(load(&bytes)?.tree, tree);
//! bytes[10] ^= 1;
//! assert!(is_finished(&bytes) && load(&bytes) == Err(Malformed), "a bad snapshot");
//! bytes.pop();
//! assert!(!is_finished(&bytes), "no snapshot");
//! # Ok::<(), Malformed>(())
//! ```

use crate::codec::{Decoder, Malformed, put_i64, put_node, put_text, put_u32, put_zxid};
use crate::disk::{DiskOp, FileId};
use crate::server::Output;
use crate::sessions::{Session, SessionTable};
use crate::tree::DataTree;
use zk_api::{SessionId, Text, Zxid};

const MAGIC: &[u8; 4] = b"ZKS1";
const SESSION: u8 = 1;
const ZNODE: u8 = 2;
const END: u8 = 0;
/// Tag, zxid, checksum, magic.
const END_LEN: usize = 17;

/// What a valid snapshot holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The tree, fuzzy, at the transaction after which the snapshot was begun.
    pub tree: DataTree,
    /// The sessions at that transaction.
    pub sessions: SessionTable,
    /// The last transaction of which the tree may show something. tree.last_zxid() <= shows
    pub shows: Zxid,
}

/// Whether a snapshot was written to its end.
pub fn is_finished(bytes: &[u8]) -> bool {
    bytes.ends_with(MAGIC) && bytes.len() > MAGIC.len() + END_LEN
}

/// Reads a snapshot back. Fails if it is not complete or not as it was written.
pub fn load(bytes: &[u8]) -> Result<Snapshot, Malformed> {
    let (body, end) = bytes.split_at_checked(bytes.len().wrapping_sub(END_LEN)).ok_or(Malformed)?;
    let mut end = Decoder::new(end);
    if end.u8()? != END {
        return Err(Malformed);
    }
    let shows = end.zxid()?;
    let is_right = end.u32()? == crc32fast::hash(&bytes[..bytes.len() - MAGIC.len() - 4]);
    if !is_right || !is_finished(bytes) {
        return Err(Malformed);
    }
    let mut decoder = Decoder::new(body);
    if decoder.take(MAGIC.len())? != MAGIC {
        return Err(Malformed);
    }
    let zxid = decoder.zxid()?;
    let mut tree = DataTree::new();
    let mut sessions = SessionTable::default();
    while !decoder.is_empty() {
        match decoder.u8()? {
            SESSION => {
                let id = SessionId::new(decoder.i64()?);
                let session = Session { timeout_ms: decoder.u32()?, password: decoder.password()? };
                sessions.insert(id, session);
            }
            ZNODE => {
                let path = decoder.text()?;
                tree.restore(path, decoder.node()?);
            }
            _ => return Err(Malformed),
        }
    }
    tree.set_last_zxid(zxid);
    Ok(Snapshot { tree, sessions, shows })
}

/// A whole snapshot of a state that does not change meanwhile, as it goes over a link to a learner.
pub fn encode(tree: &DataTree, sessions: &SessionTable) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = SnapshotWriter::begin(tree, sessions, &mut out);
    writer.step(tree, u32::MAX, &mut 0, &mut out);
    let pieces = out.into_iter().filter_map(|output| match output {
        Output::Disk(DiskOp::Append { bytes, .. }) => Some(bytes),
        _ => None,
    });
    pieces.flatten().collect()
}

/// Writes one snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SnapshotWriter {
    /// The transaction after which it was begun; names the file.
    zxid: Zxid,
    /// The path of the last znode written; empty before the first.
    behind: Text,
    /// The checksum of what is written.
    crc: u32,
    /// Set when the last piece is written: the sync that makes it a snapshot.
    closing: Option<u64>,
}

impl SnapshotWriter {
    /// Begins a snapshot of the tree as it is now: writes the sessions.
    pub fn begin(tree: &DataTree, sessions: &SessionTable, out: &mut Vec<Output>) -> SnapshotWriter {
        let mut writer = SnapshotWriter { zxid: tree.last_zxid(), behind: "".into(), crc: 0, closing: None };
        let mut bytes = MAGIC.to_vec();
        put_zxid(&mut bytes, writer.zxid);
        for (id, session) in sessions.iter() {
            bytes.push(SESSION);
            put_i64(&mut bytes, id.get());
            put_u32(&mut bytes, session.timeout_ms);
            bytes.extend_from_slice(&session.password);
        }
        writer.write(bytes, out);
        writer
    }

    /// Writes the next `count` znodes as they are now, and the end behind the last. Does nothing then.
    pub fn step(&mut self, tree: &DataTree, count: u32, tickets: &mut u64, out: &mut Vec<Output>) {
        if self.closing.is_some() {
            return;
        }
        let mut bytes = Vec::new();
        let mut written = 0;
        let behind = self.behind.clone();
        for (path, node) in tree.nodes_after(&behind).take(count.max(1) as usize) {
            bytes.push(ZNODE);
            put_text(&mut bytes, path);
            put_node(&mut bytes, node);
            self.behind = path.clone();
            written += 1;
        }
        if written < count.max(1) {
            bytes.push(END);
            put_zxid(&mut bytes, tree.last_zxid());
            let crc = continued(self.crc, &bytes);
            put_u32(&mut bytes, crc);
            bytes.extend(MAGIC);
            *tickets += 1;
            self.closing = Some(*tickets);
        }
        self.write(bytes, out);
        if let Some(ticket) = self.closing {
            out.push(Output::Disk(DiskOp::Sync { file: self.file(), ticket }));
        }
    }

    /// Whether there are pieces to be written.
    pub fn is_open(&self) -> bool {
        self.closing.is_none()
    }

    /// Takes the disk's word for a sync; gives the snapshot's zxid if that completed it.
    pub fn on_synced(&self, ticket: u64) -> Option<Zxid> {
        (self.closing == Some(ticket)).then_some(self.zxid)
    }

    fn write(&mut self, bytes: Vec<u8>, out: &mut Vec<Output>) {
        self.crc = continued(self.crc, &bytes);
        out.push(Output::Disk(DiskOp::Append { file: self.file(), bytes }));
    }

    /// The file it is written to.
    pub fn file(&self) -> FileId {
        FileId::Snapshot(self.zxid)
    }
}

fn continued(crc: u32, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(crc);
    hasher.update(bytes);
    hasher.finalize()
}

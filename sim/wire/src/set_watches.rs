//! Watches that are registered again after a reconnection.

use crate::OpCode;
use crate::jute::{Malformed, Reader, put_texts, put_zxid};
use zk_api::{Text, Zxid};
use zk_proto::message::WatchList;

/// A list of watches is sent in parts of about so many bytes, as a long one would not fit into a frame.
///
/// Source: ZooKeeper 3.9, `ClientCnxn.SET_WATCHES_MAX_LENGTH`.
const PART_BYTES: usize = 128 * 1024;

/// Cuts a list of watches into parts that are sent one after the other, each a little above
/// [`PART_BYTES`] at most but for a single path that is longer. At least one, in the list's order.
pub(crate) fn parts(watches: &WatchList) -> Vec<WatchList> {
    type Kind = fn(&mut WatchList) -> &mut Vec<Text>;
    let kinds: [(&[Text], Kind); 5] = [
        (&watches.data, |part| &mut part.data),
        (&watches.exist, |part| &mut part.exist),
        (&watches.child, |part| &mut part.child),
        (&watches.persistent, |part| &mut part.persistent),
        (&watches.recursive, |part| &mut part.recursive),
    ];
    let (mut parts, mut part, mut bytes) = (Vec::new(), WatchList::default(), 0);
    for (paths, kind) in kinds {
        for path in paths {
            if bytes >= PART_BYTES {
                parts.push(std::mem::take(&mut part));
                bytes = 0;
            }
            bytes += 4 + path.len();
            kind(&mut part).push(path.clone());
        }
    }
    parts.push(part);
    parts
}

/// The kind of request that registers these watches: the older one, if it will do.
///
/// Source: ZooKeeper 3.9, `ClientCnxn.SendThread.primeConnection`.
pub(crate) fn set_watches_code(watches: &WatchList) -> OpCode {
    if watches.persistent.is_empty() && watches.recursive.is_empty() {
        OpCode::SetWatches
    } else {
        OpCode::SetWatches2
    }
}

/// Appends the record `SetWatches` or `SetWatches2`.
pub(crate) fn put_set_watches(out: &mut Vec<u8>, code: OpCode, since: Zxid, watches: &WatchList) {
    put_zxid(out, since);
    put_texts(out, &watches.data);
    put_texts(out, &watches.exist);
    put_texts(out, &watches.child);
    if code == OpCode::SetWatches2 {
        put_texts(out, &watches.persistent);
        put_texts(out, &watches.recursive);
    }
}

/// Reads the record `SetWatches` or `SetWatches2`.
pub(crate) fn read_set_watches(
    code: OpCode,
    reader: &mut Reader<'_>,
) -> Result<(Zxid, WatchList), Malformed> {
    let since = reader.zxid_seen()?;
    let mut watches = WatchList {
        data: reader.texts()?,
        exist: reader.texts()?,
        child: reader.texts()?,
        ..WatchList::default()
    };
    if code == OpCode::SetWatches2 {
        watches.persistent = reader.texts()?;
        watches.recursive = reader.texts()?;
    }
    Ok((since, watches))
}

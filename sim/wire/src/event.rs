//! Watch events.

use crate::jute::{Malformed, Reader, put_one_of, put_text};
use zk_api::{EventType, KeeperState, WatchedEvent};

/// Appends the record `WatcherEvent`.
pub(crate) fn put_event(out: &mut Vec<u8>, event: &WatchedEvent) {
    put_one_of(out, &KINDS, event.kind);
    put_one_of(out, &STATES, event.state);
    put_text(out, &event.path);
}

/// Reads the record `WatcherEvent`.
pub(crate) fn read_event(reader: &mut Reader<'_>) -> Result<WatchedEvent, Malformed> {
    Ok(WatchedEvent {
        kind: reader.one_of(&KINDS)?,
        state: reader.one_of(&STATES)?,
        path: reader.text_or_null()?.unwrap_or_default(),
    })
}

/// The other kinds tell of watches removed; no server sends them.
///
/// Source: ZooKeeper 3.9, `Watcher.Event.EventType`.
const KINDS: [(EventType, i32); 5] = [
    (EventType::None, -1),
    (EventType::NodeCreated, 1),
    (EventType::NodeDeleted, 2),
    (EventType::NodeDataChanged, 3),
    (EventType::NodeChildrenChanged, 4),
];

/// Without those of read-only servers and SASL, which are not ours.
///
/// Source: ZooKeeper 3.9, `Watcher.Event.KeeperState`.
const STATES: [(KeeperState, i32); 5] = [
    (KeeperState::Disconnected, 0),
    (KeeperState::SyncConnected, 3),
    (KeeperState::AuthFailed, 4),
    (KeeperState::Expired, -112),
    (KeeperState::Closed, 7),
];

//! Watch events.

use crate::jute::{Malformed, Reader, put_i32, put_text};
use zk_api::{EventType, KeeperState, WatchedEvent};

/// Appends the record `WatcherEvent`.
pub(crate) fn put_event(out: &mut Vec<u8>, event: &WatchedEvent) {
    put_i32(out, kind_to_i32(event.kind));
    put_i32(out, state_to_i32(event.state));
    put_text(out, &event.path);
}

/// Reads the record `WatcherEvent`.
pub(crate) fn read_event(reader: &mut Reader<'_>) -> Result<WatchedEvent, Malformed> {
    Ok(WatchedEvent {
        kind: kind_from_i32(reader.i32()?)?,
        state: state_from_i32(reader.i32()?)?,
        path: reader.text_or_null()?.unwrap_or_default(),
    })
}

/// Source: ZooKeeper 3.9, `Watcher.Event.EventType`.
fn kind_to_i32(kind: EventType) -> i32 {
    match kind {
        EventType::None => -1,
        EventType::NodeCreated => 1,
        EventType::NodeDeleted => 2,
        EventType::NodeDataChanged => 3,
        EventType::NodeChildrenChanged => 4,
    }
}

fn kind_from_i32(kind: i32) -> Result<EventType, Malformed> {
    match kind {
        -1 => Ok(EventType::None),
        1 => Ok(EventType::NodeCreated),
        2 => Ok(EventType::NodeDeleted),
        3 => Ok(EventType::NodeDataChanged),
        4 => Ok(EventType::NodeChildrenChanged),
        // The others tell of watches removed; no server sends them.
        _ => Err(Malformed),
    }
}

/// Source: ZooKeeper 3.9, `Watcher.Event.KeeperState`.
fn state_to_i32(state: KeeperState) -> i32 {
    match state {
        KeeperState::Disconnected => 0,
        KeeperState::SyncConnected => 3,
        KeeperState::AuthFailed => 4,
        KeeperState::Expired => -112,
        KeeperState::Closed => 7,
    }
}

fn state_from_i32(state: i32) -> Result<KeeperState, Malformed> {
    match state {
        0 => Ok(KeeperState::Disconnected),
        3 => Ok(KeeperState::SyncConnected),
        4 => Ok(KeeperState::AuthFailed),
        -112 => Ok(KeeperState::Expired),
        7 => Ok(KeeperState::Closed),
        // Read-only and SASL, which are not ours.
        _ => Err(Malformed),
    }
}

//! `Stat`s, ACLs, states and events, there and back.

use zk_api::{
    Acl, AclList, AddWatchMode, EventType, Identity, KeeperState, Perms, SessionId, Stat, StatFields,
    WatchedEvent, Zxid,
};
use zookeeper_client as theirs;

pub(crate) fn state(state: theirs::SessionState) -> KeeperState {
    match state {
        // A read-only server is no part of a quorum. Nobody asks for one here.
        theirs::SessionState::Disconnected | theirs::SessionState::ConnectedReadOnly => {
            KeeperState::Disconnected
        }
        theirs::SessionState::SyncConnected => KeeperState::SyncConnected,
        theirs::SessionState::AuthFailed => KeeperState::AuthFailed,
        theirs::SessionState::Expired => KeeperState::Expired,
        theirs::SessionState::Closed => KeeperState::Closed,
    }
}

pub(crate) fn event(event: theirs::WatchedEvent) -> WatchedEvent {
    let kind = match event.event_type {
        theirs::EventType::Session => return WatchedEvent::session_ended(state(event.session_state)),
        theirs::EventType::NodeCreated => EventType::NodeCreated,
        theirs::EventType::NodeDeleted => EventType::NodeDeleted,
        theirs::EventType::NodeDataChanged => EventType::NodeDataChanged,
        theirs::EventType::NodeChildrenChanged => EventType::NodeChildrenChanged,
    };
    WatchedEvent::node(kind, event.path.into())
}

pub(crate) fn stat(stat: &theirs::Stat) -> Stat {
    Stat::from(StatFields {
        czxid: Zxid::from_i64(stat.czxid),
        mzxid: Zxid::from_i64(stat.mzxid),
        pzxid: Zxid::from_i64(stat.pzxid),
        ctime_ms: stat.ctime,
        mtime_ms: stat.mtime,
        version: stat.version,
        cversion: stat.cversion,
        aversion: stat.aversion,
        ephemeral_owner: SessionId::new(stat.ephemeral_owner),
        // A server counts no fewer than none.
        data_length: u32::try_from(stat.data_length).unwrap_or(0),
        num_children: u32::try_from(stat.num_children).unwrap_or(0),
    })
}

const PERMISSIONS: [(Perms, theirs::Permission); 5] = [
    (Perms::READ, theirs::Permission::READ),
    (Perms::WRITE, theirs::Permission::WRITE),
    (Perms::CREATE, theirs::Permission::CREATE),
    (Perms::DELETE, theirs::Permission::DELETE),
    (Perms::ADMIN, theirs::Permission::ADMIN),
];

/// Fails if an entry has a permission that does not exist.
pub(crate) fn acl_to_theirs(acl: &AclList) -> Result<Vec<theirs::Acl>, theirs::Error> {
    let entry = |entry: &Acl| {
        if !Perms::ALL.contain(entry.perms) {
            return Err(theirs::Error::InvalidAcl);
        }
        let permitted = PERMISSIONS.iter().filter(|(ours, _)| entry.perms.contain(*ours));
        let permission = permitted.fold(theirs::Permission::NONE, |all, (_, one)| all | *one);
        Ok(theirs::Acl::new(permission, theirs::AuthId::new(&entry.who.scheme, &entry.who.id)))
    };
    acl.iter().map(entry).collect()
}

pub(crate) fn acl_from_theirs(acl: &[theirs::Acl]) -> AclList {
    let entry = |entry: &theirs::Acl| {
        let permitted = PERMISSIONS.iter().filter(|(_, theirs)| entry.permission().has(*theirs));
        let perms = permitted.fold(Perms(0), |all, (one, _)| all.and(*one));
        Acl { perms, who: Identity::new(entry.scheme(), entry.id()) }
    };
    acl.iter().map(entry).collect()
}

pub(crate) fn add_watch_mode(mode: AddWatchMode) -> theirs::AddWatchMode {
    match mode {
        AddWatchMode::Persistent => theirs::AddWatchMode::Persistent,
        AddWatchMode::PersistentRecursive => theirs::AddWatchMode::PersistentRecursive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acls_come_back_as_they_went() {
        let acl: AclList = (1..32u8)
            .map(|bits| Acl { perms: Perms(bits), who: Identity::new("digest", &format!("user{bits}:hash")) })
            .collect();
        assert_eq!(acl_from_theirs(&acl_to_theirs(&acl).expect("valid")), acl);
    }

    #[test]
    fn a_permission_that_does_not_exist_is_refused() {
        let acl: AclList = [Acl { perms: Perms(32), who: Identity::new("world", "anyone") }].into();
        assert_eq!(acl_to_theirs(&acl), Err(theirs::Error::InvalidAcl));
    }
}

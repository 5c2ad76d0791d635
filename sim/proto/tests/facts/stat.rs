//! What a Stat tells.

use crate::facts::{Harness, after};
use zk_api::{SessionId, Stat, StatFields, Zxid};

fn stat(h: &Harness, path: &str) -> Stat {
    h.tree.stat(path).unwrap_or_else(|| panic!("{path} is missing"))
}

fn zxid(counter: u32) -> Zxid {
    Zxid::new(0, counter)
}

#[test]
fn a_new_znode_has_versions_of_zero_and_three_equal_zxids() {
    let h = after(&["time 77", "create /a data"]);
    let expected = Stat::from(StatFields {
        czxid: zxid(1),
        mzxid: zxid(1),
        pzxid: zxid(1),
        ctime_ms: 77,
        mtime_ms: 77,
        data_length: 4,
        ..StatFields::default()
    });
    assert_eq!(stat(&h, "/a"), expected);
}

#[test]
fn creating_a_child_changes_cversion_pzxid_and_the_number_of_children() {
    let h = after(&["create /p", "create /p/c"]);
    let p = stat(&h, "/p");
    assert_eq!((p.cversion(), p.pzxid(), p.num_children()), (1, zxid(2), 1));
    assert_eq!((p.version(), p.mzxid(), p.aversion()), (0, zxid(1), 0));
}

#[test]
fn deleting_a_child_changes_cversion_pzxid_and_the_number_of_children() {
    let h = after(&["create /p", "create /p/c", "delete /p/c"]);
    let p = stat(&h, "/p");
    assert_eq!((p.cversion(), p.pzxid(), p.num_children()), (2, zxid(3), 0));
}

#[test]
fn setting_data_changes_version_mzxid_and_mtime_even_with_the_same_data() {
    let h = after(&["create /a x", "time 5", "set /a x"]);
    let a = stat(&h, "/a");
    assert_eq!((a.version(), a.mzxid(), a.mtime_ms()), (1, zxid(2), 5));
    assert_eq!((a.czxid(), a.pzxid(), a.ctime_ms(), a.cversion()), (zxid(1), zxid(1), 0, 0));
}

#[test]
fn setting_the_acl_changes_the_aversion_only() {
    let mut h = after(&["create /a x"]);
    let before = stat(&h, "/a");
    h.script(&["time 5", "setacl /a r:world:anyone"]);
    assert_eq!(stat(&h, "/a"), Stat::from(StatFields { aversion: 1, ..before.fields() }));
}

#[test]
fn neither_a_childs_data_nor_grandchildren_touch_the_parent() {
    let mut h = after(&["create /p", "create /p/c"]);
    let before = stat(&h, "/p");
    h.script(&["set /p/c x", "setacl /p/c cdrwa:world:anyone", "create /p/c/g", "delete /p/c/g"]);
    assert_eq!(stat(&h, "/p"), before);
}

#[test]
fn a_znode_created_again_starts_at_zero() {
    let lines = ["create /a", "set /a x", "create /a/b", "delete /a/b", "delete /a", "create /a"];
    let a = stat(&after(&lines), "/a");
    assert_eq!((a.version(), a.cversion(), a.czxid(), a.pzxid()), (0, 0, zxid(6), zxid(6)));
}

#[test]
fn the_deletions_of_a_sessions_end_count_the_same() {
    let h = after(&["create /p", "create /p/a ephemeral", "create /p/b ephemeral", "close"]);
    let p = stat(&h, "/p");
    assert_eq!((p.cversion(), p.pzxid(), p.num_children()), (4, zxid(4), 0));
}

#[test]
fn ephemeral_owner_is_the_session() {
    let h = after(&["s5 create /a ephemeral", "s5 create /b"]);
    assert_eq!(stat(&h, "/a").ephemeral_owner(), SessionId::new(5));
    assert_eq!(stat(&h, "/b").ephemeral_owner(), SessionId::NONE);
}

#[test]
fn ephemeral_owner_is_zero_for_containers_and_ttl_znodes() {
    let mut h = Harness::new();
    assert!(h.say("create /c container stat").contains("owner=0x0"));
    assert!(h.say("create /t ttl=5 stat").contains("owner=0x0"));
    assert!(h.say("exists /c").contains("owner=0x0"));
    assert!(h.say("exists /t").contains("owner=0x0"));
}

#[test]
fn null_data_is_stored_and_read_back_as_null() {
    let mut h = after(&["create /null", "create /empty \"\""]);
    assert_eq!((h.say("get /null"), h.say("get /empty")), ("null v=0".into(), "\"\" v=0".into()));
    assert_eq!(stat(&h, "/null").data_length(), 0);
    assert_eq!(h.script(&["set /empty null", "get /empty"]), "null v=1");
}

#[test]
fn the_root_begins_with_a_child_it_did_not_count() {
    let root = stat(&Harness::new(), "/");
    assert_eq!((root.cversion(), root.num_children()), (-1, 1));
}

#[test]
fn the_cversion_wraps_around_near_the_counters_maximum() {
    let h = after(&["create /q", "counter /q 2147483647"]);
    assert_eq!(stat(&h, "/q").cversion(), -2);
}

//! What takes a zxid.

use crate::facts::{after, last};
use zk_api::Zxid;

#[test]
fn every_write_takes_one_zxid_also_when_it_fails() {
    let mut h = after(&["create /a", "create /a/b"]);
    let failing = [
        "delete /none",
        "create /a",
        "set /a x v=9",
        "delete /a",
        "create /b acl=",
        "multi check /none",
        "multi check /a",
        "multi",
    ];
    for line in failing {
        let before = h.zxid;
        h.say(line);
        assert_eq!(h.zxid, before.next(), "{line}");
        assert_eq!(h.tree.last_zxid(), h.zxid, "{line}");
    }
}

#[test]
fn reads_take_none() {
    let mut h = after(&["create /a"]);
    for line in ["get /a", "exists /none", "ls /a", "getacl /a", "multiread get /a", "ephemerals", "count /a"]
    {
        h.say(line);
        assert_eq!(h.zxid, Zxid::new(0, 1), "{line}");
    }
}

#[test]
fn the_end_of_a_session_takes_one_for_all_its_ephemerals() {
    let made = ["create /a ephemeral", "create /b ephemeral", "close", "stat /"];
    assert!(last(&made).contains("pz=0:3 v=0 cv=3"));
}

#[test]
fn a_multi_has_one_zxid_for_all_its_operations() {
    let h = after(&["create /z", "multi create /a ; create /b ; set /z x"]);
    let stat = |path: &str| h.tree.stat(path).unwrap();
    assert_eq!([stat("/a").czxid(), stat("/b").czxid(), stat("/z").mzxid()], [Zxid::new(0, 2); 3]);
}

#[test]
fn zxids_go_on_in_the_next_epoch_from_one() {
    let h = after(&["create /a", "epoch 2", "create /b"]);
    assert_eq!(h.tree.stat("/b").unwrap().czxid(), Zxid::new(2, 1));
    assert_eq!(h.tree.last_zxid(), Zxid::new(2, 1));
}

//! Containers and TTL znodes.

use crate::facts::{after, last};

#[test]
fn a_container_that_never_had_a_child_stays() {
    assert_eq!(last(&["create /c container", "time 999999", "sweep"]), "");
}

#[test]
fn a_container_that_had_a_child_goes_when_it_is_empty() {
    let mut h = after(&["create /c container", "create /c/x"]);
    assert_eq!(h.say("sweep"), "");
    assert_eq!(h.script(&["delete /c/x", "sweep"]), "0:4 removed /c");
}

#[test]
fn a_container_goes_when_its_last_child_was_ephemeral() {
    assert_eq!(last(&["create /c container", "create /c/x ephemeral", "close", "sweep"]), "0:4 removed /c");
}

#[test]
fn a_ttl_znode_goes_when_it_was_not_changed_for_longer_than_its_time() {
    let mut h = after(&["create /t ttl=100", "time 100", "sweep"]);
    assert!(h.tree.node("/t").is_some());
    assert_eq!(h.script(&["time 101", "sweep"]), "0:2 removed /t");
}

#[test]
fn a_ttl_znode_with_children_survives() {
    let mut h = after(&["create /t ttl=100", "create /t/x", "time 1000"]);
    assert_eq!(h.say("sweep"), "");
    assert_eq!(h.script(&["delete /t/x", "sweep"]), "0:4 removed /t");
}

#[test]
fn a_clock_that_goes_back_removes_nothing() {
    assert_eq!(last(&["time 1000", "create /t ttl=10", "time 0", "sweep"]), "");
}

#[test]
fn neither_is_listed_by_get_ephemerals_nor_ends_with_the_session() {
    let mut h = after(&["create /c container", "create /t ttl=100"]);
    assert_eq!(h.say("ephemerals"), "[]");
    assert_eq!(h.script(&["close", "ls /"]), "[c t zookeeper]");
}

#[test]
fn each_is_removed_in_a_zxid_of_its_own() {
    let lines = ["create /t ttl=1", "create /u ttl=1", "time 9", "sweep"];
    assert_eq!(last(&lines), "0:3 removed /t\n0:4 removed /u");
}

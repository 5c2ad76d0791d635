//! Who may do what.

use crate::facts::{Harness, after};
use std::sync::Arc;
use zk_api::Data;
use zk_proto::prepare::acl::prove;

/// Session 1 is `digest:u:h` and has made `/a`, which only it may touch, and `/a/b`.
fn private() -> Harness {
    after(&["auth digest u:h", "create /a acl=cdrwa:auth:", "create /a/b"])
}

#[test]
fn auth_stands_for_every_identity_that_is_proven() {
    let mut h = after(&["auth ip 10.0.0.1", "auth digest u:h", "auth digest v:i", "create /a acl=ra:auth:"]);
    assert_eq!(h.say("getacl /a"), "ra:digest:u:h,ra:digest:v:i av=0");
    assert_eq!(h.say("s2 create /b acl=r:auth:"), "0:2 InvalidAcl");
}

#[test]
fn each_operation_needs_its_permission() {
    let mut h = private();
    for line in ["s2 get /a", "s2 ls /a", "s2 getacl /a", "s2 count /a"] {
        assert_eq!(h.say(line), "NoAuth", "{line}");
    }
    for line in ["s2 set /a x", "s2 create /a/c", "s2 delete /a/b", "s2 setacl /a r:world:anyone"] {
        assert!(h.say(line).ends_with(" NoAuth"), "{line}");
    }
    assert!(h.say("s2 multi check /a").ends_with("failed: NoAuth"));
    for line in ["get /a", "set /a x", "create /a/c", "delete /a/b", "setacl /a r:world:anyone"] {
        assert!(!h.say(line).contains("NoAuth"), "{line}");
    }
}

#[test]
fn existence_is_a_secret_and_absence_is_none() {
    assert!(private().say("s2 exists /a").ends_with("NoAuth"));
    assert!(private().say("s2 exists /none").contains("none"));
}

#[test]
fn deleting_is_permitted_by_the_parent() {
    let mut h = after(&[
        "create /p acl=rc:world:anyone",
        "create /p/c",
        "create /q",
        "create /q/c acl=r:world:anyone",
    ]);
    assert!(h.say("delete /p/c").ends_with("NoAuth"));
    assert!(h.say("delete /q/c").ends_with("deleted"));
}

#[test]
fn a_missing_permission_is_told_before_all_that_it_hides() {
    let mut h = private();
    assert!(h.say("s2 delete /a/none").ends_with("NoAuth"));
    assert!(h.say("s2 delete /a/b v=9").ends_with("NoAuth"), "but the permission before the version");
    assert!(h.say("s2 create /a/b").ends_with("NoAuth"), "and before what exists");
}

#[test]
fn super_may_do_everything() {
    let mut h = private();
    h.say("s2 auth super \"\"");
    assert!(h.say("s2 set /a x").ends_with("set v=1"));
    assert!(h.say("s2 delete /a/b").ends_with("deleted"));
}

#[test]
fn get_acl_is_for_readers_and_administrators_and_hides_hashes_from_the_former() {
    let mut h =
        after(&["auth digest u:h", "create /r acl=r:world:anyone,a:auth:", "create /w acl=w:world:anyone"]);
    assert_eq!(h.say("s2 getacl /r"), "r:world:anyone,a:digest:u:x av=0");
    assert_eq!(h.say("getacl /r"), "r:world:anyone,a:digest:u:h av=0");
    assert_eq!(h.say("getacl /w"), "NoAuth");
}

#[test]
fn a_read_that_is_refused_sets_no_watch() {
    let mut h = private();
    h.script(&["s2 get /a watch", "s2 ls /a watch"]);
    assert!(h.watches.is_empty());
}

#[test]
fn null_proves_nothing_and_is_not_taken_for_an_empty_text() {
    let proven = |credentials: &Data| prove(&Arc::from([]), "digest", credentials, None);
    assert_eq!(proven(&Data::NULL), None);
    assert_eq!(proven(&"".into()).expect("somebody without a name").len(), 1);
}

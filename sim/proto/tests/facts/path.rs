//! Which paths are refused, and by whom.

use crate::facts::{after, last};

#[test]
fn create_looks_the_parent_up_before_it_validates() {
    assert_eq!(last(&["create /a", "create /a//b"]), "0:2 NoNode");
    assert_eq!(last(&["create /a", "create /a/./x"]), "0:2 NoNode");
    assert_eq!(last(&["create /a", "create /a/../x"]), "0:2 NoNode");
}

#[test]
fn create_validates_what_it_would_create() {
    for path in ["", "a", "/a/", "/a/.", "/a/..", "/a/b\u{1}", "/a/\u{e000}"] {
        assert_eq!(last(&["create /a", &format!("create {}", quoted(path))]), "0:2 BadArguments", "{path:?}");
    }
}

#[test]
fn set_data_set_acl_and_check_validate() {
    for path in ["a", "/a/", "/a//b", "/a/../a"] {
        assert_eq!(last(&["create /a", &format!("set {path} x")]), "0:2 BadArguments", "{path}");
        let set_acl = format!("setacl {path} r:world:anyone");
        assert_eq!(last(&["create /a", &set_acl]), "0:2 BadArguments", "{path}");
        let check = format!("multi check {path}");
        assert_eq!(last(&["create /a", &check]), "0:2 failed: BadArguments", "{path}");
    }
}

#[test]
fn reads_and_delete_mostly_do_not() {
    for path in ["a", "/a/", "/a//b", "/a/../a"] {
        for verb in ["get", "ls", "getacl"] {
            assert_eq!(last(&["create /a", &format!("{verb} {path}")]), "NoNode", "{verb} {path}");
        }
        assert_eq!(last(&["create /a", &format!("exists {path}")]), "none", "{path}");
    }
    assert_eq!(last(&["create /a", "delete /a/"]), "0:2 NoNode");
    assert_eq!(last(&["create /a", "delete a"]), "0:2 BadArguments", "no parent can be cut off");
}

#[test]
fn the_empty_path_hits_the_root_in_reads() {
    let mut h = after(&["set / x"]);
    assert_eq!(h.say("get \"\""), "\"x\" v=1");
    assert_eq!(h.say("exists \"\""), h.say("exists /"));
    assert_eq!(h.say("set \"\" x"), "0:2 BadArguments");
    assert_eq!(h.say("delete \"\""), "0:3 BadArguments");
}

#[test]
fn a_nul_is_refused_where_zookeeper_looks_for_it() {
    // Read in the source of ZooKeeper 3.9, not measured.
    assert_eq!(last(&["exists /a\0"]), "BadArguments");
    assert_eq!(last(&["get /a\0"]), "NoNode");
    assert_eq!(last(&["delete /a\0"]), "0:1 BadArguments");
    assert_eq!(last(&["create /none\0/a"]), "0:1 BadArguments");
}

fn quoted(path: &str) -> String {
    if path.is_empty() { "\"\"".into() } else { path.into() }
}

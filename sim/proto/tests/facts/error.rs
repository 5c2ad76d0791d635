//! Which error is told, and which first.

use crate::facts::{Harness, after, last};

#[test]
fn a_wrong_version_wins_over_children() {
    let mut h = after(&["create /a", "create /a/b"]);
    assert_eq!(h.say("delete /a v=7"), "0:3 BadVersion");
    assert_eq!(h.say("delete /a v=0"), "0:4 NotEmpty");
}

#[test]
fn the_root_and_zookeepers_own_znode_cannot_be_deleted() {
    assert_eq!(last(&["delete /"]), "0:1 BadArguments");
    assert_eq!(last(&["delete /zookeeper"]), "0:1 BadArguments");
    assert_eq!(last(&["delete / v=5"]), "0:1 BadArguments");
}

#[test]
fn the_root_exists() {
    assert_eq!(last(&["create /"]), "0:1 NodeExists");
}

#[test]
fn version_minus_one_is_any_and_minus_two_is_none() {
    let mut h = after(&["create /a", "set /a x"]);
    assert_eq!(h.say("set /a y v=-2"), "0:3 BadVersion");
    assert_eq!(h.say("set /a y v=-1"), "0:4 set v=2");
    assert_eq!(h.say("delete /a v=-2"), "0:5 BadVersion");
    assert_eq!(h.say("setacl /a r:world:anyone v=-2"), "0:6 BadVersion");
    assert_eq!(h.say("multi check /a v=-2"), "0:7 failed: BadVersion");
}

#[test]
fn empty_and_unknown_lists_are_invalid() {
    for list in ["\"\"", "r:nobody:x", "r:world:somebody", "r:auth:", "r:digest:nohash", "r:super:", "r:ip:x"]
    {
        assert_eq!(last(&[&format!("create /a acl={}", list.trim_matches('"'))]), "0:1 InvalidAcl", "{list}");
        assert_eq!(last(&["create /a", &format!("setacl /a {list}")]).trim(), "0:2 InvalidAcl", "{list}");
    }
}

#[test]
fn an_invalid_list_is_told_before_a_missing_parent() {
    assert_eq!(last(&["create /none/a acl="]), "0:1 InvalidAcl");
}

#[test]
fn a_znode_that_is_not_there_is_told_so() {
    for line in ["delete /a", "set /a x", "setacl /a r:world:anyone", "create /a/b"] {
        assert_eq!(last(&[line]), "0:1 NoNode", "{line}");
    }
    for line in ["get /a", "ls /a", "getacl /a", "count /a"] {
        assert_eq!(last(&[line]), "NoNode", "{line}");
    }
    assert_eq!(last(&["exists /a"]), "none");
}

#[test]
fn an_ephemeral_znode_has_no_children() {
    assert_eq!(last(&["create /e ephemeral", "create /e/x"]), "0:2 NoChildrenForEphemerals");
}

#[test]
fn ttl_znodes_need_extended_types() {
    let mut h = after(&["extended off"]);
    assert_eq!(h.say("create /t ttl=5"), "0:1 Unimplemented");
    assert_eq!(h.say("create /t ttl=-1"), "0:2 Unimplemented");
    assert_eq!(h.say("create /c container"), "0:3 created /c");
}

#[test]
fn a_time_to_live_has_bounds() {
    let mut h = Harness::new();
    for ttl in ["0", "-1", "1099511627776", "9223372036854775807"] {
        assert!(h.say(&format!("create /t ttl={ttl}")).ends_with("BadArguments"), "{ttl}");
    }
    assert!(h.say("create /one ttl=1").ends_with("created /one"));
    assert!(h.say("create /max ttl=1099511627775").ends_with("created /max"));
}

#[test]
#[should_panic(expected = "getData is not a write")]
fn preparing_a_read_is_a_bug_of_ours() {
    use zk_api::{Request, SessionId};
    use zk_proto::prepare::{Caller, prepare};
    let h = Harness::new();
    let caller = Caller { session: SessionId::new(1), identities: &[] };
    prepare(&h.tree, &h.config, caller, &Request::GetData { path: "/".into(), watch: false });
}

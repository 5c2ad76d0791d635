//! Watches.

use crate::facts::{Harness, after, last};
use zk_api::SessionId;

/// The events that a line makes.
fn events(h: &mut Harness, line: &str) -> Vec<String> {
    h.say(line).lines().filter(|l| l.contains("<-")).map(str::to_owned).collect()
}

#[test]
fn several_data_and_exists_watches_of_one_session_on_one_path_fire_once() {
    let mut h = after(&["create /a", "s2 get /a watch", "s2 exists /a watch", "s2 get /a watch"]);
    assert_eq!(events(&mut h, "set /a x"), ["s2 <- NodeDataChanged /a"]);
    assert_eq!(events(&mut h, "set /a y"), [""; 0]);
}

#[test]
fn a_child_watch_is_another_watch() {
    let mut h = after(&["create /a", "s2 get /a watch", "s2 ls /a watch", "set /a x"]);
    assert_eq!(events(&mut h, "create /a/b"), ["s2 <- NodeChildrenChanged /a"]);
}

#[test]
fn a_deletion_is_told_once_to_who_holds_data_child_and_exists_watches() {
    let mut h = after(&["create /a", "s2 get /a watch", "s2 exists /a watch", "s2 ls /a watch"]);
    assert_eq!(events(&mut h, "delete /a"), ["s2 <- NodeDeleted /a"]);
    assert!(h.watches.is_empty());
}

#[test]
fn exists_registers_on_a_missing_znode_and_the_others_do_not() {
    let mut h = after(&["s2 exists /a watch", "s3 get /a watch", "s4 ls /a watch"]);
    assert_eq!(events(&mut h, "create /a"), ["s2 <- NodeCreated /a"]);
}

#[test]
fn a_data_watch_does_not_see_children_nor_acls() {
    let mut h = after(&["create /a", "s2 get /a watch"]);
    for line in ["create /a/b", "delete /a/b", "setacl /a cdrwa:world:anyone", "get /a"] {
        assert_eq!(events(&mut h, line), [""; 0], "{line}");
    }
    assert_eq!(events(&mut h, "delete /a"), ["s2 <- NodeDeleted /a"]);
}

#[test]
fn a_child_watch_does_not_see_data_nor_grandchildren() {
    let mut h = after(&["create /a", "create /a/b", "s2 ls /a watch"]);
    for line in ["set /a x", "set /a/b x", "create /a/b/c", "delete /a/b/c", "setacl /a/b r:world:anyone"] {
        assert_eq!(events(&mut h, line), [""; 0], "{line}");
    }
    assert_eq!(events(&mut h, "delete /a/b"), ["s2 <- NodeChildrenChanged /a"]);
}

#[test]
fn the_znodes_own_event_comes_before_its_parents() {
    let mut h = after(&["create /a", "s2 ls /a watch", "s2 exists /a/b watch"]);
    assert_eq!(events(&mut h, "create /a/b"), ["s2 <- NodeCreated /a/b", "s2 <- NodeChildrenChanged /a"]);
}

#[test]
fn the_events_of_a_multi_come_operation_by_operation() {
    let mut h = after(&["s2 addwatch / recursive"]);
    assert_eq!(
        events(&mut h, "multi create /a ; set /a x ; create /b ; delete /a"),
        ["s2 <- NodeCreated /a", "s2 <- NodeDataChanged /a", "s2 <- NodeCreated /b", "s2 <- NodeDeleted /a"]
    );
}

#[test]
fn what_fails_tells_nothing() {
    let mut h = after(&["create /a", "s2 addwatch / recursive", "s2 ls / watch"]);
    for line in ["create /a", "set /a x v=9", "multi create /b ; check /none", "delete /none"] {
        assert_eq!(events(&mut h, line), [""; 0], "{line}");
    }
}

#[test]
fn ones_own_write_tells_before_its_answer() {
    let h = last(&["create /a", "get /a watch", "set /a x"]);
    assert_eq!(h, "s1 <- NodeDataChanged /a\n0:2 set v=1");
}

#[test]
fn a_sessions_end_tells_in_the_order_of_its_deletions() {
    let made = ["create /g", "create /g/a ephemeral", "create /g/b ephemeral", "create /g/c ephemeral"];
    let mut h = after(&made);
    let listed = zk_proto::prepare::close_session(&h.tree, &h.config, SessionId::new(1), true);
    let zk_proto::txn::TxnBody::CloseSession { ephemerals, .. } = listed else { panic!("{listed:?}") };
    h.say("s2 addwatch /g recursive");
    let expected: Vec<_> = ephemerals.iter().map(|path| format!("s2 <- NodeDeleted {path}")).collect();
    assert_eq!(events(&mut h, "expire"), expected);
}

#[test]
fn a_persistent_watch_sees_data_and_children_and_stays() {
    let mut h = after(&["s2 addwatch /a"]);
    for _ in 0..2 {
        assert_eq!(events(&mut h, "create /a"), ["s2 <- NodeCreated /a"]);
        assert_eq!(events(&mut h, "set /a x"), ["s2 <- NodeDataChanged /a"]);
        assert_eq!(events(&mut h, "create /a/b"), ["s2 <- NodeChildrenChanged /a"]);
        assert_eq!(events(&mut h, "set /a/b x"), [""; 0]);
        assert_eq!(events(&mut h, "delete /a/b"), ["s2 <- NodeChildrenChanged /a"]);
        assert_eq!(events(&mut h, "delete /a"), ["s2 <- NodeDeleted /a"]);
    }
}

#[test]
fn a_recursive_watch_sees_descendants_but_no_lists_of_children() {
    let mut h = after(&["s2 addwatch /a recursive"]);
    for _ in 0..2 {
        assert_eq!(events(&mut h, "create /a"), ["s2 <- NodeCreated /a"]);
        assert_eq!(events(&mut h, "create /a/b"), ["s2 <- NodeCreated /a/b"]);
        assert_eq!(events(&mut h, "set /a/b x"), ["s2 <- NodeDataChanged /a/b"]);
        assert_eq!(events(&mut h, "delete /a/b"), ["s2 <- NodeDeleted /a/b"]);
        assert_eq!(events(&mut h, "create /ab ephemeral"), [""; 0]);
        assert_eq!(events(&mut h, "delete /ab"), [""; 0]);
        assert_eq!(events(&mut h, "delete /a"), ["s2 <- NodeDeleted /a"]);
    }
}

#[test]
fn a_persistent_and_a_one_shot_watch_on_one_path_give_one_event() {
    let mut h = after(&["create /a", "s2 addwatch /a", "s2 get /a watch", "s2 ls /a watch"]);
    assert_eq!(events(&mut h, "set /a x"), ["s2 <- NodeDataChanged /a"]);
    assert_eq!(events(&mut h, "create /a/b"), ["s2 <- NodeChildrenChanged /a"]);
    assert_eq!(h.watches.iter().count(), 1, "the one-shot watches are used up");
}

#[test]
fn removing_or_checking_a_watch_that_is_not_there_is_no_watcher() {
    let mut h = after(&["create /a", "s2 get /a watch"]);
    assert_eq!(h.say("s2 checkwatches /a child"), "NoWatcher");
    assert_eq!(h.say("s3 removewatches /a data"), "NoWatcher");
    assert_eq!(h.say("s2 removewatches /a data"), "ok");
    assert_eq!(h.say("s2 removewatches /a data"), "NoWatcher");
    assert_eq!(events(&mut h, "set /a x"), [""; 0]);
}

#[test]
fn without_set_watches_nothing_is_armed_again() {
    let mut h = after(&["create /a", "s2 get /a watch", "s2 addwatch /a", "s2 disconnect"]);
    assert_eq!(events(&mut h, "set /a x"), [""; 0]);
}

#[test]
fn a_data_watch_catches_up_with_a_change_a_new_incarnation_and_a_deletion() {
    let mut h =
        after(&["create /a", "create /b", "create /c", "create /d", "set /a x", "delete /b", "create /b"]);
    h.say("delete /c");
    assert_eq!(
        h.say("s2 setwatches since=0:4 data=/c,/b,/a,/d"),
        "s2 <- NodeDeleted /c\ns2 <- NodeDataChanged /b\ns2 <- NodeDataChanged /a"
    );
    assert_eq!(events(&mut h, "set /d x"), ["s2 <- NodeDataChanged /d"], "what did not change is armed");
    assert_eq!(events(&mut h, "set /a y"), [""; 0], "what was told is not");
}

#[test]
fn an_exist_watch_catches_up_with_a_creation_but_not_with_one_undone() {
    let mut h = after(&["create /a", "create /b", "delete /b"]);
    assert_eq!(h.say("s2 setwatches since=0:0 exist=/a,/b"), "s2 <- NodeCreated /a");
    assert_eq!(events(&mut h, "create /b"), ["s2 <- NodeCreated /b"]);
}

#[test]
fn a_child_watch_catches_up_with_any_change_and_with_the_end() {
    let mut h = after(&[
        "create /a",
        "create /b",
        "create /c",
        "create /a/x",
        "delete /a/x",
        "delete /b",
        "set /c x",
    ]);
    assert_eq!(
        h.say("s2 setwatches since=0:3 child=/a,/b,/c"),
        "s2 <- NodeChildrenChanged /a\ns2 <- NodeDeleted /b"
    );
    assert_eq!(events(&mut h, "create /c/x"), ["s2 <- NodeChildrenChanged /c"]);
}

#[test]
fn a_data_and_a_child_watch_on_a_znode_deleted_meanwhile_tell_it_twice() {
    let mut h = after(&["create /a", "delete /a"]);
    assert_eq!(
        h.say("s2 setwatches since=0:1 data=/a child=/a"),
        "s2 <- NodeDeleted /a\ns2 <- NodeDeleted /a"
    );
}

#[test]
fn catching_up_goes_data_exist_child_each_in_the_order_asked() {
    let mut h = after(&["create /a", "create /b", "create /a/x", "create /b/x", "set /a x", "set /b x"]);
    assert_eq!(
        h.say("s2 setwatches since=0:2 child=/b,/a exist=/b,/a data=/b,/a"),
        "s2 <- NodeDataChanged /b\ns2 <- NodeDataChanged /a\n\
         s2 <- NodeCreated /b\ns2 <- NodeCreated /a\n\
         s2 <- NodeChildrenChanged /b\ns2 <- NodeChildrenChanged /a"
    );
}

#[test]
fn persistent_watches_are_armed_again_without_catching_up() {
    let mut h = after(&["create /a", "set /a x"]);
    assert_eq!(h.say("s2 setwatches since=0:0 persistent=/a,/none recursive=/a"), "");
    assert_eq!(events(&mut h, "set /a y"), ["s2 <- NodeDataChanged /a"]);
    assert_eq!(events(&mut h, "create /none"), ["s2 <- NodeCreated /none"]);
}

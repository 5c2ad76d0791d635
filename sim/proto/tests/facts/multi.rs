//! Multi and multiRead.

use crate::facts::{Harness, after, last};

#[test]
fn a_multi_that_fails_says_so_for_each_operation() {
    let line = "multi create /a ; create /b ; create /a ; create /c ; delete /a";
    assert_eq!(last(&[line]), "0:1 failed: ok; ok; NodeExists; RuntimeInconsistency; RuntimeInconsistency");
}

#[test]
fn a_multi_that_fails_changes_nothing() {
    let mut h = after(&["create /z"]);
    let before: Vec<_> = h.tree.nodes().map(|(p, n)| (p.clone(), n.clone())).collect();
    h.say("multi set /z x ; create /z/c ; create /y seq ; delete /none");
    let now: Vec<_> = h.tree.nodes().map(|(p, n)| (p.clone(), n.clone())).collect();
    assert_eq!(before, now);
}

#[test]
fn an_empty_multi_succeeds() {
    assert_eq!(last(&["multi"]), "0:1 done:");
}

#[test]
fn operations_see_earlier_operations() {
    let line = "multi create /a ; create /a/b ; set /a x v=0 ; set /a y v=1 ; check /a v=2 ; delete /a/b ; delete /a v=2";
    assert_eq!(
        last(&[line]),
        "0:1 done: created /a; created /a/b; set v=1; set v=2; checked; deleted; deleted"
    );
    assert_eq!(last(&["create /a", "multi delete /a ; check /a"]), "0:2 failed: ok; NoNode");
}

#[test]
fn a_multi_answers_with_a_stat_for_create2_alone() {
    let line = "multi create /a ; create /b stat";
    assert_eq!(
        last(&[line]),
        "0:1 done: created /a; created /b (cz=0:1 mz=0:1 pz=0:1 v=0 cv=0 av=0 owner=0x0 len=0 children=0)"
    );
}

#[test]
fn a_multi_read_has_an_error_for_each_operation() {
    let mut h = after(&["create /a x", "create /a/b"]);
    assert_eq!(h.say("multiread get /none ; get /a ; ls /none ; ls /a"), "NoNode; \"x\" v=0; NoNode; [b]");
}

#[test]
fn a_check_fails_for_a_missing_znode_and_for_another_version() {
    let mut h = Harness::new();
    assert_eq!(h.say("multi check /a"), "0:1 failed: NoNode");
    h.say("create /a");
    assert_eq!(h.say("multi check /a v=0"), "0:3 done: checked");
    assert_eq!(h.say("multi check /a v=1"), "0:4 failed: BadVersion");
}

//! The numbers of sequential znodes.

use crate::facts::{after, last};
use zk_api::{Zxid, sequence_of};

#[test]
fn the_suffix_has_ten_digits() {
    assert_eq!(last(&["create /q", "create /q/n- seq"]), "0:2 created /q/n-0000000000");
}

#[test]
fn the_counter_is_how_many_children_the_parent_ever_had() {
    let made = ["create /q", "create /q/plain", "create /q/e ephemeral", "create /q/other- seq"];
    let mut h = after(&made);
    assert_eq!(h.say("create /q/n- seq"), "0:5 created /q/n-0000000003");
}

#[test]
fn each_parent_counts_for_itself() {
    let made = ["create /q", "create /r", "create /q/n- seq", "create /r/n- seq"];
    assert_eq!(last(&made), "0:4 created /r/n-0000000000");
}

#[test]
fn grandchildren_do_not_advance_the_counter() {
    let made = ["create /q", "create /q/a", "create /q/a/b", "create /q/n- seq"];
    assert_eq!(last(&made), "0:4 created /q/n-0000000001");
}

#[test]
fn deletions_neither_advance_nor_rewind_the_counter() {
    let made = ["create /q", "create /q/n- seq", "delete /q/n-0000000000", "create /q/n- seq"];
    assert_eq!(last(&made), "0:4 created /q/n-0000000001");
}

#[test]
fn failed_creates_do_not_advance_the_counter() {
    let made = ["create /q", "create /q/a", "create /q/a", "create /q/n- seq acl=", "create /q/n- seq"];
    assert_eq!(last(&made), "0:5 created /q/n-0000000001");
}

#[test]
fn a_multi_rolled_back_does_not_advance_the_counter() {
    let made = ["create /q", "multi create /q/n- seq ; check /none", "create /q/n- seq"];
    assert_eq!(last(&made), "0:3 created /q/n-0000000000");
}

#[test]
fn a_multi_advances_the_counter_for_each_of_its_creates() {
    let made = ["create /q", "multi create /q/n- seq ; create /q/n- seq", "create /q/n- seq"];
    assert_eq!(last(&made), "0:3 created /q/n-0000000002");
}

#[test]
fn the_counter_is_not_the_cversion() {
    let mut h = after(&["create /q", "create /q/a", "delete /q/a"]);
    assert_eq!(h.tree.stat("/q").unwrap().cversion(), 2);
    assert_eq!(h.say("create /q/n- seq"), "0:4 created /q/n-0000000001");
}

#[test]
fn a_parent_created_again_counts_from_zero() {
    let made = ["create /q", "create /q/a", "delete /q/a", "delete /q", "create /q", "create /q/n- seq"];
    assert_eq!(last(&made), "0:6 created /q/n-0000000000");
}

#[test]
fn a_sequential_name_may_be_only_digits() {
    assert_eq!(last(&["create /q", "create /q/ seq"]), "0:2 created /q/0000000000");
    assert_eq!(last(&["create / seq"]), "0:1 created /0000000000");
}

#[test]
fn dots_before_the_number_are_legal() {
    assert_eq!(last(&["create /q", "create /q/. seq"]), "0:2 created /q/.0000000000");
    assert_eq!(last(&["create /q", "create /q/.. seq"]), "0:2 created /q/..0000000000");
}

#[test]
fn the_counter_sticks_at_its_maximum() {
    // Chosen, not measured: see `Node::created`.
    let mut h = after(&["create /q", "counter /q 2147483646", "create /q/n- seq"]);
    assert_eq!(h.say("create /q/n- seq"), "0:3 created /q/n-2147483647");
    assert_eq!(h.say("create /q/n- seq"), "0:4 NodeExists");
    assert_eq!(h.say("create /q/m- seq"), "0:5 created /q/m-2147483647");
    assert_eq!(h.tree.node("/q").unwrap().created, i32::MAX);
    assert_eq!(h.tree.stat("/q").unwrap().pzxid(), Zxid::new(0, 5));
}

#[test]
fn numbers_that_were_given_are_read_again() {
    for at in [0, 7, 1_000_000_000, i32::MAX] {
        let mut h = after(&["create /q"]);
        h.say(&format!("counter /q {at}"));
        h.say("create /q/n- seq");
        let name = h.tree.node("/q").unwrap().children.first().unwrap().clone();
        assert_eq!(sequence_of(&name), Some(at));
    }
}

//! For CI. It is not right, and this test says so.

#[test]
#[should_panic(expected = "no-waiter-stuck is broken in the model")]
fn my_lock_is_right() {
    zoocheck::assert_right(super::my_lock(), 100);
}

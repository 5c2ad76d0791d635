//! The order of requests.

use crate::real::{path, with_server};
use zk_api::{CreateMode, Data, Error, ErrorCode, Text, ZooKeeper, sequence_of};

const SEQUENTIAL: CreateMode = CreateMode::EphemeralSequential;

#[test]
fn a_request_takes_its_place_when_it_is_submitted_not_when_it_is_polled() {
    with_server(|real| async move {
        let zk = real.session().await;
        let made: Vec<_> =
            (0..300).map(|_| zk.create(&path("/n-"), Data::NULL, SEQUENTIAL)).enumerate().collect();
        // The last is polled first, and a third of them never.
        for (number, call) in made.into_iter().rev().filter(|(number, _)| number % 3 > 0) {
            let name = call.await.expect("made");
            assert_eq!(sequence_of(&name), Some(i32::try_from(number).expect("small")), "{name}");
        }
        assert_eq!(zk.children(&path("/")).await.expect("listed").len(), 301, "all of them, and /zookeeper");
    });
}

#[test]
fn a_read_sees_what_was_submitted_before_it_and_not_what_comes_after() {
    with_server(|real| async move {
        let zk = real.session().await;
        for round in 0..100 {
            let node = path(&format!("/node{round}"));
            let before = zk.exists(&node);
            let made = zk.create(&node, Data::NULL, CreateMode::Persistent);
            let between = zk.exists(&node);
            drop(zk.delete(&node, -1));
            let after = zk.exists(&node);
            assert!(after.await.expect("looked").is_none());
            assert!(between.await.expect("looked").is_some());
            assert!(before.await.expect("looked").is_none());
            made.await.expect("made");
        }
    });
}

#[test]
fn a_dropped_call_is_not_taken_back_and_the_next_answer_reaches_its_own_caller() {
    with_server(|real| async move {
        let zk = real.session().await;
        drop(zk.create(&path("/a"), "a".into(), CreateMode::Persistent));
        let again: Result<Text, Error> = zk.create(&path("/a"), "b".into(), CreateMode::Persistent).await;
        assert_eq!(again.map_err(|error| error.code), Err(ErrorCode::NodeExists));
        let (data, _) = zk.data(&path("/a")).await.expect("read");
        assert_eq!(data.bytes(), b"a");
    });
}

#[test]
fn a_request_may_be_submitted_from_a_thread_that_knows_no_runtime() {
    with_server(|real| async move {
        let zk = real.session().await;
        let other = zk.clone();
        let submitted =
            std::thread::spawn(move || other.create(&path("/a"), Data::NULL, CreateMode::Persistent));
        submitted.join().expect("no panic").await.expect("made");
        let slept = std::thread::spawn(move || zk.sleep(std::time::Duration::from_millis(1)));
        slept.join().expect("no panic").await;
    });
}

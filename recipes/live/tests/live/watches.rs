//! Watches, one-shot and persistent.

use crate::real::{path, with_server};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use zk_api::{
    AddWatchMode, CreateMode, Data, Either, EventType, KeeperState, Watch, WatchedEvent, ZooKeeper, race,
};

fn node(kind: EventType, path: &str) -> WatchedEvent {
    WatchedEvent::node(kind, path.into())
}

/// The event that is there now.
fn now(watch: &mut Watch) -> Option<WatchedEvent> {
    match pin!(watch).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(event) => Some(event),
        Poll::Pending => None,
    }
}

#[test]
fn a_one_shot_watch_of_each_kind_tells_one_change() {
    with_server(|real| async move {
        let (zk, other) = (real.session().await, real.session().await);
        let a = path("/a");
        let (_, created) = zk.exists_watch(&a).await.expect("watched");
        other.create(&a, "1".into(), CreateMode::Persistent).await.expect("made");
        assert_eq!(created.await, node(EventType::NodeCreated, "/a"));
        zk.sync(&a).await.expect("caught up");
        let (_, changed) = zk.data_watch(&a).await.expect("watched");
        let (_, listed) = zk.children_watch(&a).await.expect("watched");
        other.set_data(&a, "2".into(), -1).await.expect("set");
        other.create(&path("/a/b"), Data::NULL, CreateMode::Persistent).await.expect("made");
        assert_eq!(changed.await, node(EventType::NodeDataChanged, "/a"));
        assert_eq!(listed.await, node(EventType::NodeChildrenChanged, "/a"));
    });
}

#[test]
fn an_event_is_there_before_the_answer_that_shows_the_change() {
    with_server(|real| async move {
        let (zk, other) = (real.session().await, real.session().await);
        let a = path("/a");
        other.create(&a, Data::NULL, CreateMode::Persistent).await.expect("made");
        zk.sync(&a).await.expect("caught up");
        let mut persistent = zk.add_watch(&a, AddWatchMode::Persistent).await.expect("watched");
        let (_, mut watch) = zk.data_watch(&a).await.expect("watched");
        let mut shown = 0;
        for round in 1..=200 {
            let set = other.set_data(&a, "x".into(), -1);
            let (_, stat) = zk.data(&a).await.expect("read");
            if stat.version() == round {
                shown += 1;
                assert!(now(&mut persistent).is_some(), "round {round}");
                assert!(now(&mut watch).is_some(), "round {round}");
            }
            set.await.expect("set");
            if stat.version() != round {
                (&mut persistent).await;
                watch.await;
            }
            let (_, again) = zk.data_watch(&a).await.expect("watched");
            watch = again;
        }
        assert!(shown > 0, "no answer has shown a change");
    });
}

#[test]
fn a_persistent_watch_tells_every_change_and_no_lost_connection() {
    with_server(|real| async move {
        let (zk, other) = (real.session().await, real.session().await);
        let mut one = zk.add_watch(&path("/a"), AddWatchMode::Persistent).await.expect("watched");
        let mut all = zk.add_watch(&path("/"), AddWatchMode::PersistentRecursive).await.expect("watched");
        for _ in 0..2 {
            other.create(&path("/a"), Data::NULL, CreateMode::Persistent).await.expect("made");
            other.create(&path("/a/b"), Data::NULL, CreateMode::Persistent).await.expect("made");
            other.delete(&path("/a/b"), -1).await.expect("deleted");
            other.delete(&path("/a"), -1).await.expect("deleted");
            let list = node(EventType::NodeChildrenChanged, "/a");
            let (made, gone) = (node(EventType::NodeCreated, "/a"), node(EventType::NodeDeleted, "/a"));
            for expected in [&made, &list, &list, &gone] {
                assert_eq!(&(&mut one).await, expected);
            }
            let (b_made, b_gone) =
                (node(EventType::NodeCreated, "/a/b"), node(EventType::NodeDeleted, "/a/b"));
            for expected in [&made, &b_made, &b_gone, &gone] {
                assert_eq!(&(&mut all).await, expected);
            }
        }
    });
}

#[test]
fn a_persistent_watch_goes_on_after_a_lost_connection() {
    with_server(|real| async move {
        let (zk, other) = (real.session().await, real.session().await);
        let mut watch = zk.add_watch(&path("/a"), AddWatchMode::Persistent).await.expect("watched");
        let change = zk.state_change();
        real.ask("kill");
        assert_eq!(change.await, KeeperState::Disconnected);
        let change = zk.state_change();
        real.ask("restart");
        assert_eq!(change.await, KeeperState::SyncConnected);
        // Behind what was sent anew.
        zk.sync(&path("/")).await.expect("caught up");
        while other.create(&path("/a"), Data::NULL, CreateMode::Ephemeral).await.is_err() {
            other.sleep(Duration::from_millis(50)).await;
        }
        let told = race(&mut watch, zk.sleep(Duration::from_secs(20))).await;
        assert_eq!(told, Either::Left(node(EventType::NodeCreated, "/a")));
    });
}

#[test]
fn a_watch_that_is_dropped_is_no_more_and_others_stay() {
    with_server(|real| async move {
        let (zk, other) = (real.session().await, real.session().await);
        let a = path("/a");
        let (_, dropped) = zk.exists_watch(&a).await.expect("watched");
        let (_, kept) = zk.exists_watch(&a).await.expect("watched");
        drop(dropped);
        drop(zk.exists_watch(&a));
        let persistent = zk.add_watch(&a, AddWatchMode::Persistent).await.expect("watched");
        drop(persistent);
        other.create(&a, Data::NULL, CreateMode::Persistent).await.expect("made");
        assert_eq!(kept.await, node(EventType::NodeCreated, "/a"));
    });
}

//! The lock of `zk-recipes`, on a real server.

use crate::real::{path, until, with_server};
use std::sync::Arc;
use std::time::Duration;
use zk_api::{CreateMode, Data, Either, ZooKeeper, race};
use zk_recipes::Lock;

#[test]
fn a_lock_that_is_dropped_gives_itself_away() {
    with_server(|real| async move {
        let (zk, other) = (real.session().await, real.session().await);
        let parent = path("/lock");
        zk.create(&parent, Data::NULL, CreateMode::Persistent).await.expect("made");
        let mut first = Lock::new(zk.clone(), &parent, "a").expect("a guid");
        let mut second = Lock::new(Arc::new(other), &parent, "b").expect("a guid");
        let held = first.acquire().await.expect("held");
        // The waiter gives up: its future is dropped, and takes its znode with it.
        let waits = race(second.acquire(), zk.sleep(Duration::from_millis(300))).await;
        assert!(matches!(waits, Either::Right(())), "it is held");
        drop(waits);
        until(&zk, || async { zk.children(&parent).await.expect("listed").len() == 1 }).await;
        drop(held);
        let held = second.acquire().await.expect("the first holder's znode is gone");
        held.release().await.expect("released");
        assert_eq!(zk.children(&parent).await.expect("listed"), [] as [zk_api::Text; 0]);
    });
}

#[test]
fn a_lock_moves_on_when_its_holder_closes_its_session() {
    with_server(|real| async move {
        let (zk, other) = (real.session().await, real.session().await);
        let parent = path("/lock");
        zk.create(&parent, Data::NULL, CreateMode::Persistent).await.expect("made");
        let mut first = Lock::new(zk.clone(), &parent, "a").expect("a guid");
        let mut second = Lock::new(other, &parent, "b").expect("a guid");
        let held = first.acquire().await.expect("held");
        let (first_token, next) = (held.token(), second.acquire());
        let end = async {
            zk.sleep(Duration::from_millis(100)).await;
            zk.close().await.expect("closed");
            std::future::pending::<()>().await;
        };
        match race(next, end).await {
            Either::Left(second) => assert!(second.expect("held").token() > first_token),
            Either::Right(()) => unreachable!("the end waits for ever"),
        }
    });
}

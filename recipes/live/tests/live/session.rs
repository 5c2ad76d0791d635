//! The session's states and its end.

use crate::proxy::Proxy;
use crate::real::{SHORT_TIMEOUT, TIMEOUT, path, until, with_server};
use zk_api::{
    CreateMode, Data, Either, ErrorCode, EventType, KeeperState, Outcome, WatchedEvent, ZooKeeper, race,
};
use zk_live::LiveClient;

#[test]
fn a_closed_session_takes_its_ephemerals_with_it_and_ends_every_watch() {
    with_server(|real| async move {
        let (zk, other) = (real.session().await, real.session().await);
        zk.create(&path("/mine"), Data::NULL, CreateMode::Ephemeral).await.expect("made");
        let (_, one) = zk.exists_watch(&path("/mine")).await.expect("watched");
        let (_, absent) = zk.exists_watch(&path("/absent")).await.expect("watched");
        let mut changed = zk.state_change();
        let ahead = zk.create(&path("/ahead"), Data::NULL, CreateMode::Persistent);
        let closed = zk.close();
        let late = zk.create(&path("/late"), Data::NULL, CreateMode::Persistent);
        closed.await.expect("closed");
        assert_eq!((zk.state(), changed.try_take()), (KeeperState::Closed, Some(KeeperState::Closed)));
        ahead.await.expect("what was asked before the end is done");
        assert!(late.await.expect_err("what was asked after it is not").is_session_over());
        // A watch may still be told of the deletion, which came with the end; after that there is nothing.
        for watch in [one, absent] {
            let event = watch.await;
            let ended = WatchedEvent::session_ended(KeeperState::Closed);
            assert!(event == ended || event.kind == EventType::NodeDeleted, "{event:?}");
        }
        assert_eq!(other.exists(&path("/mine")).await.expect("looked"), None);
        assert_eq!(other.exists(&path("/late")).await.expect("looked"), None);
        assert!(other.exists(&path("/ahead")).await.expect("looked").is_some());
        assert!(zk.close().await.expect_err("it is closed already").is_session_over());
    });
}

#[test]
fn the_session_is_closed_when_the_last_clone_is_dropped() {
    with_server(|real| async move {
        let (zk, other) = (real.session().await, real.session().await);
        zk.create(&path("/mine"), Data::NULL, CreateMode::Ephemeral).await.expect("made");
        let (_, watch) = zk.exists_watch(&path("/absent")).await.expect("watched");
        let clone = zk.clone();
        drop(zk);
        assert!(clone.exists(&path("/mine")).await.expect("looked").is_some());
        // A call that nobody takes, and one that is there and not awaited, do not keep the session.
        drop(clone.sync(&path("/")));
        let unawaited = clone.sync(&path("/"));
        drop(clone);
        assert_eq!(watch.await, WatchedEvent::session_ended(KeeperState::Closed));
        until(&other, || async { other.exists(&path("/mine")).await.expect("looked").is_none() }).await;
        unawaited.await.expect("it was done before the end");
    });
}

#[test]
fn a_lost_connection_is_told_and_requests_go_on_after_it() {
    with_server(|real| async move {
        let zk = real.session().await;
        let session = zk.session();
        zk.create(&path("/mine"), Data::NULL, CreateMode::Ephemeral).await.expect("made");
        let (_, watch) = zk.exists_watch(&path("/mine")).await.expect("watched");
        let change = zk.state_change();
        real.ask("kill");
        assert_eq!(change.await, KeeperState::Disconnected);
        let change = zk.state_change();
        let meanwhile = zk.exists(&path("/mine"));
        real.ask("restart");
        assert_eq!(change.await, KeeperState::SyncConnected);
        let stat = meanwhile.await.expect("it waited").expect("the znode lives with its session");
        assert_eq!((stat.ephemeral_owner(), zk.session()), (session, session));
        zk.delete(&path("/mine"), -1).await.expect("deleted");
        assert_eq!(watch.await.kind, EventType::NodeDeleted, "a watch outlives its connection");
    });
}

#[test]
fn what_was_outstanding_when_the_connection_went_may_have_been_applied() {
    with_server(|real| async move {
        let zk = real.session().await;
        real.ask("pause");
        let call = zk.create(&path("/a"), Data::NULL, CreateMode::Persistent);
        // Sent, and not answered: the server stands still, then its end closes the connection.
        zk.sleep(std::time::Duration::from_millis(50)).await;
        real.ask("kill");
        let error = call.await.expect_err("nobody has answered");
        assert_eq!((error.code, error.outcome()), (ErrorCode::ConnectionLoss, Outcome::Unknown));
    });
}

#[test]
fn without_any_server_the_session_is_given_up_and_everything_ends() {
    with_server(|real| async move {
        let zk = LiveClient::connect(real.address(), SHORT_TIMEOUT).await.expect("a session");
        assert_eq!(zk.session_timeout(), SHORT_TIMEOUT);
        let (_, one) = zk.exists_watch(&path("/absent")).await.expect("watched");
        let mut all = zk.add_watch(&path("/"), zk_api::AddWatchMode::Persistent).await.expect("watched");
        real.ask("kill");
        let mut states = Vec::new();
        loop {
            let change = zk.state_change();
            match zk.state() {
                state if state.is_final() => break,
                _ => states.push(change.await),
            }
        }
        assert_eq!(states.last(), Some(&KeeperState::Expired), "{states:?}");
        let ended = WatchedEvent::session_ended(KeeperState::Expired);
        assert_eq!((one.await, (&mut all).await), (ended.clone(), ended));
        assert!(zk.exists(&path("/")).await.expect_err("no session").is_session_over());
        let never = race(all, zk.sleep(std::time::Duration::from_millis(50))).await;
        assert_eq!(never, Either::Right(()), "an ended watch tells its end once");
    });
}

#[test]
fn a_server_that_is_not_there_is_said_in_one_line() {
    with_server(|real| async move {
        real.ask("kill");
        let timeout = std::time::Duration::from_millis(300);
        let error = LiveClient::connect(real.address(), timeout).await.expect_err("nobody listens");
        let text = error.to_string();
        assert!(text.starts_with(&format!("no session with {}: ", real.address())), "{text}");
        assert_eq!(text.lines().count(), 1);
    });
}

#[test]
fn refused_credentials_end_the_session_and_are_told_as_such() {
    with_server(|real| async move {
        let zk = real.session().await;
        let (_, watch) = zk.exists_watch(&path("/absent")).await.expect("watched");
        let error = zk.authenticate("nobody-knows-this", "me".into()).await.expect_err("refused");
        assert_eq!((error.code, zk.state_after().await), (ErrorCode::AuthFailed, KeeperState::AuthFailed));
        assert_eq!(watch.await, WatchedEvent::session_ended(KeeperState::AuthFailed));
        assert!(zk.exists(&path("/")).await.expect_err("no session").is_session_over());
    });
}

#[test]
fn a_server_that_does_not_know_the_session_any_more_ends_it() {
    with_server(|real| async move {
        // Through something that changes the session's number when the client comes back.
        let proxy = Proxy::before(real.address());
        let zk = LiveClient::connect(&proxy.address.to_string(), TIMEOUT).await.expect("a session");
        let (_, watch) = zk.exists_watch(&path("/absent")).await.expect("watched");
        proxy.cut();
        assert_eq!(zk.state_after().await, KeeperState::Expired);
        assert_eq!(watch.await, WatchedEvent::session_ended(KeeperState::Expired));
        let error = zk.create(&path("/a"), Data::NULL, CreateMode::Persistent).await.expect_err("no session");
        assert_eq!((error.code, error.outcome()), (ErrorCode::SessionExpired, Outcome::Unknown));
    });
}

/// The state that a session ends in.
trait StateAfter {
    async fn state_after(&self) -> KeeperState;
}

impl StateAfter for LiveClient {
    async fn state_after(&self) -> KeeperState {
        loop {
            let change = self.state_change();
            if self.state().is_final() {
                return self.state();
            }
            change.await;
        }
    }
}

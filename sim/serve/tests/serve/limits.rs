//! Clients that stall, flood or talk nonsense harm nobody but themselves.

use crate::client::{Client, LONG, closed, create, exists, get, held, quick_server, server, set};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;
use zk_api::{AddWatchMode, CreateMode, EventType, Request};
use zk_proto::message::{ToServer, WatchList};
use zk_serve::Limits;

/// What somebody does who must not notice anything: writes and reads that are answered one by one.
async fn works(client: &mut Client, times: usize) {
    for n in 0..times {
        client.done(set("/work", &n.to_string())).await;
        client.done(get("/work")).await;
    }
}

/// A worker, and a znode for its work.
async fn worker(running: &zk_serve::Running) -> Client {
    let mut client = Client::new(running).await;
    client.done(create("/work", CreateMode::Persistent)).await;
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_sends_half_a_frame_stalls_nobody_and_is_cut_off() {
    let limits = Limits { first_message: Duration::from_millis(300), ..Limits::default() };
    let running = quick_server(limits).await;
    let mut well = worker(&running).await;
    // One before its session, one within.
    let mut early = Client::silent(running.addresses()[0]).await;
    early.write_all(&[0, 0, 0, 44, 0, 0]).await.unwrap();
    let mut late = Client::with_timeout(&running, 0).await;
    late.stream.write_all(&[0, 0, 1, 0, 7]).await.unwrap();
    works(&mut well, 50).await;
    closed(&mut early).await;
    late.closed().await;
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_never_reads_stalls_nobody() {
    let limits = Limits { unsent_bytes: 1 << 20, ..Limits::default() };
    let running = quick_server(limits).await;
    let mut well = worker(&running).await;
    well.done(create("/big", CreateMode::Persistent)).await;
    well.done(set("/big", &"x".repeat(100_000))).await;
    let mut deaf = Client::new(&running).await;
    // 200 MB of answers: far more than what is between them holds.
    let asking = async {
        for _ in 0..2000 {
            deaf.submit(get("/big")).await;
        }
    };
    // It comes to no end, as the server does not take its requests while it does not read.
    let _ = timeout(Duration::from_millis(500), asking).await;
    works(&mut well, 50).await;
    // Silent while it is not heard, it loses its session, and by that the connection.
    let target = format!("{}", deaf.granted.session);
    while running.sessions().await.iter().any(|session| session.id == target) {
        works(&mut well, 1).await;
    }
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_may_be_longer_than_what_may_stay_unread() {
    let limits = Limits { unsent_bytes: 1 << 10, ..Limits::default() };
    let running = quick_server(limits).await;
    let mut well = worker(&running).await;
    well.done(set("/work", &"x".repeat(1_000_000))).await;
    for _ in 0..3 {
        well.done(get("/work")).await;
    }
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_its_events_is_cut_off_when_they_are_too_many() {
    let limits = Limits { unsent_bytes: 64 << 10, ..Limits::default() };
    let running = server(limits).await;
    let mut well = worker(&running).await;
    let mut deaf = Client::new(&running).await;
    deaf.done(Request::AddWatch { path: "/work".into(), mode: AddWatchMode::Persistent }).await;
    let target = format!("{}", deaf.granted.session);
    let is_connected = async || {
        let sessions = running.sessions().await;
        sessions.iter().any(|session| session.id == target && session.address.is_some())
    };
    // It pings, so that only what it does not read can cost it the connection.
    let mut rounds = 0;
    while is_connected().await {
        deaf.say(&ToServer::Ping).await;
        for n in 0..500 {
            well.submit(set("/work", &n.to_string())).await;
        }
        for _ in 0..500 {
            well.answer().await.expect("a connection").expect("a success");
        }
        rounds += 1;
        assert!(rounds < 1000, "it is never cut off");
    }
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_floods_does_not_keep_the_others_from_working() {
    let running = server(Limits::default()).await;
    let mut well = worker(&running).await;
    let mut flood = Client::new(&running).await;
    let (mut reader, mut writer) = flood.stream.into_split();
    let mut bytes = Vec::new();
    for xid in 1..=500 {
        let request = exists("/work", false);
        let message = ToServer::Request { xid: zk_proto::message::Xid(xid), request };
        zk_wire::ClientSide::new().encode(&message, &mut bytes).unwrap();
    }
    let flooding = tokio::spawn(async move { while writer.write_all(&bytes).await.is_ok() {} });
    let drained = tokio::spawn(async move {
        let _ = tokio::io::copy(&mut reader, &mut tokio::io::sink()).await;
    });
    works(&mut well, 50).await;
    flooding.abort();
    drained.abort();
    flood.granted.timeout_ms = 0;
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_that_is_too_long_closes_the_connection_and_the_longest_does_not() {
    let running = server(Limits::default()).await;
    let mut well = worker(&running).await;
    // Header, path and version are 22 bytes.
    let longest = "x".repeat(1_048_575 - 8 - 9 - 4 - 4);
    well.done(set("/work", &longest)).await;
    let mut long = Client::new(&running).await;
    long.submit(set("/work", &(longest + "x"))).await;
    long.closed().await;
    for garbage in [&[0xff; 64][..], b"GET / HTTP/1.1\r\n\r\n", &[0, 0, 0, 1, 0]] {
        let mut stream = Client::silent(running.addresses()[0]).await;
        stream.write_all(garbage).await.unwrap();
        closed(&mut stream).await;
    }
    works(&mut well, 10).await;
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_connection_more_than_allowed_is_closed_until_another_ends() {
    // Nothing else closes a connection that says nothing.
    let first_message = Duration::from_secs(3600);
    let running = server(Limits { connections: 2, first_message, ..Limits::default() }).await;
    let mut first = worker(&running).await;
    let second = Client::new(&running).await;
    let mut third = Client::silent(running.addresses()[0]).await;
    closed(&mut third).await;
    works(&mut first, 10).await;
    drop(second);
    let coming = async { while first.again(&running).await.is_none() {} };
    timeout(LONG, coming).await.expect("room for one more");
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_watch_more_than_allowed_closes_the_connection() {
    let running = server(Limits { watches: 3, ..Limits::default() }).await;
    let mut client = Client::new(&running).await;
    for path in ["/a", "/b", "/c"] {
        client.done(exists(path, true)).await;
    }
    client.done(exists("/d", false)).await;
    // One that has fired counts no more.
    client.done(create("/a", CreateMode::Persistent)).await;
    client.event(EventType::NodeCreated, "/a").await;
    client.done(exists("/d", true)).await;
    assert_eq!(client.ask(exists("/e", true)).await, None);
    let mut again = client.again(&running).await.expect("its session");
    let data = ["/1", "/2", "/3", "/4"].map(Into::into).to_vec();
    let watches = WatchList { data, ..WatchList::default() };
    again.say(&ToServer::SetWatches { since: client.zxid, watches }).await;
    again.closed().await;
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_idle_connections_are_held_and_the_others_work() {
    let running = server(Limits::default()).await;
    let mut well = worker(&running).await;
    let mut idle = Vec::new();
    for _ in 0..1000 {
        idle.push(Client::silent(running.addresses()[0]).await);
    }
    works(&mut well, 50).await;
    let connect = |session| zk_proto::message::ConnectRequest {
        last_zxid: zk_api::Zxid::ZERO,
        timeout_ms: 2000,
        session,
        password: [0; 16],
    };
    let mut bytes = Vec::new();
    let hello = ToServer::Connect(connect(zk_api::SessionId::NONE));
    zk_wire::ClientSide::new().encode(&hello, &mut bytes).unwrap();
    for stream in &mut idle {
        stream.write_all(&bytes).await.expect("it is still open");
    }
    works(&mut well, 50).await;
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_beyond_the_allowed_ones_wait_and_are_all_answered() {
    let limits = Limits { outstanding_requests: 3, outstanding_bytes: 0, ..Limits::default() };
    let running = server(limits).await;
    let mut client = worker(&running).await;
    for n in 0..500 {
        client.submit(set("/work", &n.to_string())).await;
    }
    for _ in 0..500 {
        client.answer().await.expect("a connection").expect("a success");
    }
    held(running).await;
}

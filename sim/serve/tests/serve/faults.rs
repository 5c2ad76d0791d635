//! Faults on demand, and what clients see of them.

use crate::client::{Client, LONG, TICK_MS, create, exists, get, held, quick_server, server, set};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::time::timeout;
use zk_api::{CreateMode, EventType, Response, SessionId};
use zk_proto::message::ToServer;
use zk_serve::{Fault, Limits, Loss, RequestKind, Running, Target, When};

/// The client's session on a new connection, as soon as there can be one.
async fn back(client: &Client, running: &Running) -> Client {
    let trying = async {
        loop {
            if let Some(back) = client.again(running).await {
                return back;
            }
        }
    };
    let back = timeout(LONG, trying).await.expect("the server comes back");
    assert_eq!(back.granted.session, client.granted.session);
    back
}

fn lose(client: &Client, kind: RequestKind, what: Loss) -> Fault {
    Fault::Drop { session: client.target(), when: When::NextRequest(kind), what }
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_writes_and_sessions_survive_a_crash_and_a_server_that_is_down_refuses() {
    let running = server(Limits::default()).await;
    let mut client = Client::new(&running).await;
    client.done(create("/a", CreateMode::Persistent)).await;
    client.done(create("/e", CreateMode::Ephemeral)).await;
    running.fault(Fault::ServerCrash { server: 0, down_ms: 1500, mid_sync: false }).await.unwrap();
    client.closed().await;
    let refused = TcpStream::connect(running.addresses()[0]).await;
    assert_eq!(refused.err().map(|error| error.kind()), Some(std::io::ErrorKind::ConnectionRefused));
    let down = running.fault(Fault::Expire { session: client.target() }).await;
    assert_eq!(down.unwrap_err().to_string(), "the server is down");
    let mut back = back(&client, &running).await;
    assert!(back.is_there("/a").await && back.is_there("/e").await);
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_in_the_middle_of_a_sync_loses_the_write_that_was_not_acknowledged() {
    let running = server(Limits::default()).await;
    let mut client = Client::new(&running).await;
    client.done(create("/before", CreateMode::Persistent)).await;
    running.fault(Fault::ServerCrash { server: 0, down_ms: 1, mid_sync: true }).await.unwrap();
    client.done(exists("/", false)).await;
    assert_eq!(client.ask(create("/during", CreateMode::Persistent)).await, None);
    let mut back = back(&client, &running).await;
    assert!(back.is_there("/before").await && !back.is_there("/during").await);
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_whose_answer_is_lost_is_served_and_one_that_is_lost_itself_is_not() {
    let running = server(Limits::default()).await;
    let mut client = Client::new(&running).await;
    for (path, what, served) in
        [("/answer", Loss::AnswersLost, true), ("/request", Loss::RequestsLost, false)]
    {
        running.fault(lose(&client, RequestKind::Create, what)).await.unwrap();
        // What is of another kind does not set it off.
        client.done(get("/")).await;
        assert_eq!(client.ask(create(path, CreateMode::Persistent)).await, None);
        client = back(&client, &running).await;
        assert_eq!(client.is_there(path).await, served, "{path}");
    }
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_in_flight_arrives_after_its_client_has_learnt_of_the_loss_unless_the_session_has_moved() {
    let running = server(Limits::default()).await;
    let mut watcher = Client::new(&running).await;
    let mut client = Client::new(&running).await;
    running.fault(lose(&client, RequestKind::Create, Loss::InFlight { for_ms: 200 })).await.unwrap();
    watcher.done(exists("/late", true)).await;
    assert_eq!(client.ask(create("/late", CreateMode::Persistent)).await, None);
    watcher.event(EventType::NodeCreated, "/late").await;
    client = back(&client, &running).await;
    let late = Loss::InFlight { for_ms: 3_600_000 };
    running.fault(lose(&client, RequestKind::Create, late)).await.unwrap();
    assert_eq!(client.ask(create("/never", CreateMode::Persistent)).await, None);
    client = back(&client, &running).await;
    assert!(!client.is_there("/never").await);
    // The connection on which it is under way is none of the server's any more.
    let record = running.record(100).await;
    assert!(record.iter().any(|event| event["why"] == "closed by the server"), "{record:?}");
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silenced_connection_stays_open_and_costs_the_session() {
    let running = quick_server(Limits::default()).await;
    let mut watcher = Client::new(&running).await;
    let mut client = Client::with_timeout(&running, 1000).await;
    client.done(create("/e", CreateMode::Ephemeral)).await;
    watcher.done(exists("/e", true)).await;
    let silence = Fault::Drop { session: client.target(), when: When::Now, what: Loss::Silence };
    running.fault(silence).await.unwrap();
    for _ in 0..10 {
        client.say(&ToServer::Ping).await;
    }
    while watcher.events.is_empty() {
        watcher.say(&ToServer::Ping).await;
        watcher.hear().await.expect("a connection");
    }
    let nothing = timeout(Duration::from_millis(200), client.hear());
    assert!(nothing.await.is_err(), "the client is told something");
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_silenced_client_sends_is_read_and_forgotten() {
    let running = server(Limits::default()).await;
    let mut client = Client::new(&running).await;
    let silence = Fault::Drop { session: client.target(), when: When::Now, what: Loss::Silence };
    running.fault(silence).await.unwrap();
    // Far more than what is between them holds, and than the server takes of what it is yet to answer.
    let long = "x".repeat(1_000_000);
    let sending = async {
        for _ in 0..64 {
            client.submit(set("/n", &long)).await;
        }
    };
    timeout(LONG, sending).await.expect("the server reads it");
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_expired_by_force_is_no_early_expiry() {
    let running = server(Limits::default()).await;
    let mut client = Client::new(&running).await;
    client.done(create("/e", CreateMode::Ephemeral)).await;
    running.fault(Fault::Expire { session: client.target() }).await.unwrap();
    client.closed().await;
    let again = client.again(&running).await.expect("an answer");
    assert_eq!(again.granted.session, SessionId::NONE);
    let mut other = Client::new(&running).await;
    assert!(!other.is_there("/e").await);
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_owns_what_a_session_looks_at_next_expires() {
    let running = server(Limits::default()).await;
    let mut owner = Client::new(&running).await;
    let mut reader = Client::new(&running).await;
    owner.done(create("/e", CreateMode::Ephemeral)).await;
    reader.done(create("/mine", CreateMode::Ephemeral)).await;
    running.fault(Fault::ExpireOwner { reader: reader.target() }).await.unwrap();
    reader.done(exists("/", false)).await;
    // What it looks at is to be another's.
    assert!(reader.is_there("/mine").await);
    owner.done(exists("/", false)).await;
    assert!(!reader.is_there("/e").await);
    owner.closed().await;
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_server_answers_when_it_goes_on() {
    let running = server(Limits::default()).await;
    let mut client = Client::new(&running).await;
    let begun = Instant::now();
    running.fault(Fault::ServerPause { server: 0, for_ms: 1000 }).await.unwrap();
    let refused = running.fault(Fault::Expire { session: client.target() }).await;
    assert_eq!(refused.unwrap_err().to_string(), "the server is paused");
    client.done(create("/a", CreateMode::Persistent)).await;
    assert!(begun.elapsed() >= Duration::from_millis(1000), "{:?}", begun.elapsed());
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_links_and_slow_disks_delay_answers_and_keep_their_order() {
    for slow_disk in [false, true] {
        let running = server(Limits::default()).await;
        let mut client = Client::new(&running).await;
        client.done(create("/a", CreateMode::Persistent)).await;
        let (session, for_ms) = (client.target(), 60_000);
        let fault = match slow_disk {
            true => Fault::SlowSync { server: 0, sync_ms: 200, for_ms },
            false => Fault::SlowLink { session, delay_ms: 100, for_ms },
        };
        running.fault(fault).await.unwrap();
        let begun = Instant::now();
        // Answers come in their order, or the client does not understand them.
        for n in 0..20 {
            client.submit(set("/a", &n.to_string())).await;
            client.submit(get("/a")).await;
        }
        for n in 0..20 {
            client.answer().await.expect("a connection").expect("a success");
            if n == 0 {
                assert!(begun.elapsed() >= Duration::from_millis(150), "{:?}", begun.elapsed());
            }
            let data = client.answer().await.expect("a connection").expect("a success");
            let right = n.to_string();
            assert!(matches!(data, Response::Data { data, .. } if data.bytes() == right.as_bytes()), "{n}");
        }
        held(running).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumps_expires_nobody() {
    let running = quick_server(Limits::default()).await;
    let mut client = Client::new(&running).await;
    for by_ms in [3_600_000, -7_200_000] {
        running.fault(Fault::ClockJump { server: 0, by_ms }).await.unwrap();
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_millis(TICK_MS.into())).await;
            client.done(set("/", "x")).await;
        }
    }
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_done_is_refused_in_one_line() {
    let running = server(Limits::default()).await;
    let nobody = Target::Session(SessionId::new(0x77));
    let error = running.fault(Fault::Expire { session: nobody }).await.unwrap_err();
    assert_eq!(error.to_string(), "0x77: no such session; GET /sessions lists them");
    let error = running.fault(Fault::ServerPause { server: 0, for_ms: u64::MAX }).await.unwrap_err();
    assert!(error.to_string().starts_with("for-ms: 18446744073709551615; it must be at most"), "{error}");
    let client = Client::new(&running).await;
    let target = client.target();
    drop(client);
    let gone = Fault::Drop { session: target, when: When::Now, what: Loss::AnswersLost };
    let refused = async {
        loop {
            match running.fault(gone.clone()).await {
                Err(error) => return error,
                Ok(()) => tokio::task::yield_now().await,
            }
        }
    };
    let error = timeout(LONG, refused).await.expect("it is noticed");
    assert!(error.to_string().ends_with("the session has no connection now"), "{error}");
    // Of all there are, none is no mistake.
    running.fault(Fault::Expire { session: Target::All }).await.unwrap();
    held(running).await;
}

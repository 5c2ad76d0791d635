//! Several servers, and clients that go from one to another.

use crate::client::{Client, LONG, TICK_MS, create, exists, get, held, set};
use crate::control::http;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use zk_api::{CreateMode, ErrorCode, Request, Response, SessionId, Zxid};
use zk_proto::message::ConnectRequest;
use zk_serve::{Fault, Options, Running, ServeError};

/// Three servers, whose sessions outlive whatever keeps a busy machine from going on.
async fn three() -> Running {
    zk_serve::start(Options::ensemble(3)).await.expect("an ensemble")
}

/// Three servers that notice soon if one of them is silent.
async fn quick_three() -> Running {
    zk_serve::start(Options { tick_ms: TICK_MS, ..Options::ensemble(3) }).await.expect("an ensemble")
}

/// A new session at a server, as soon as that serves.
async fn at(running: &Running, server: u8) -> Client {
    let (session, password) = (SessionId::NONE, [0; 16]);
    let request = ConnectRequest { last_zxid: Zxid::ZERO, timeout_ms: u32::MAX, session, password };
    connected(running, server, request).await
}

/// A client's session at another server, as soon as that serves and has seen as much.
async fn moved(client: &Client, running: &Running, server: u8) -> Client {
    let request = ConnectRequest {
        last_zxid: client.zxid,
        timeout_ms: client.granted.timeout_ms,
        session: client.granted.session,
        password: client.granted.password,
    };
    let moved = connected(running, server, request).await;
    assert_eq!(moved.granted.session, client.granted.session, "sessions outlive servers");
    moved
}

async fn connected(running: &Running, server: u8, request: ConnectRequest) -> Client {
    let address = running.addresses()[usize::from(server)];
    let trying = async {
        loop {
            match Client::open(address, request.clone()).await {
                Some(client) => return client,
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    };
    timeout(LONG, trying).await.expect("it serves in time")
}

/// Waits until this is so.
async fn until(running: &Running, what: impl Fn(&zk_serve::Leadership) -> bool) -> zk_serve::Leadership {
    let waiting = async {
        loop {
            let now = running.leadership().await;
            if what(&now) {
                return now;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONG, waiting).await.expect("it comes about in time")
}

async fn leader(running: &Running) -> u8 {
    until(running, |now| now.leader.is_some()).await.leader.expect("it leads")
}

/// One that follows.
async fn follower(running: &Running) -> u8 {
    let found = |now: &zk_serve::Leadership| now.servers.iter().find(|s| s.role == "follower").map(|s| s.id);
    found(&until(running, |now| found(now).is_some()).await).expect("it follows")
}

fn all_serve(now: &zk_serve::Leadership) -> bool {
    now.servers.iter().all(|server| ["leader", "follower"].contains(&server.role))
}

/// What a server answers to a word of an administrator's.
async fn word(running: &Running, server: usize, word: &str) -> String {
    let mut stream = TcpStream::connect(running.addresses()[server]).await.expect("a connection");
    stream.write_all(word.as_bytes()).await.expect("an open connection");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("text");
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_server_is_told_the_others_show_behind_a_sync() {
    let running = three().await;
    let addresses: BTreeSet<_> = running.addresses().iter().collect();
    assert_eq!(addresses.len(), 3, "each has its own");
    let mut clients = Vec::new();
    for server in 0..3 {
        clients.push(at(&running, server).await);
    }
    let sessions: BTreeSet<SessionId> = clients.iter().map(|client| client.granted.session).collect();
    let passwords: BTreeSet<[u8; 16]> = clients.iter().map(|client| client.granted.password).collect();
    assert_eq!((sessions.len(), passwords.len()), (3, 3), "no two are alike");
    for writer in 0..3 {
        let path = format!("/{writer}");
        clients[writer].done(create(&path, CreateMode::Ephemeral)).await;
        for reader in &mut clients {
            reader.done(Request::Sync { path: "/".into() }).await;
            assert!(reader.is_there(&path).await, "{path}");
        }
    }
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_at_one_server_tells_of_a_write_at_another() {
    let running = three().await;
    let (mut a, mut b) = (at(&running, 0).await, at(&running, 1).await);
    a.done(exists("/a", true)).await;
    b.done(create("/a", CreateMode::Persistent)).await;
    a.event(zk_api::EventType::NodeCreated, "/a").await;
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_and_writes_outlive_leaders_that_are_killed_by_http() {
    let running = three().await;
    let mut client = at(&running, follower(&running).await).await;
    client.done(create("/e", CreateMode::Ephemeral)).await;
    let mut epoch = 0;
    for round in 0..4 {
        client.done(create(&format!("/{round}"), CreateMode::Persistent)).await;
        let kill = r#"{"leader-crash":{"down-ms":200}}"#;
        assert_eq!(http(&running, "POST", "/faults", kill).await, (200, "done\n".to_owned()));
        client.closed().await;
        let now = until(&running, |now| now.epoch > Some(epoch) && now.leader.is_some()).await;
        epoch = now.epoch.expect("somebody leads");
        client = moved(&client, &running, follower(&running).await).await;
        for before in 0..=round {
            assert!(client.is_there(&format!("/{before}")).await);
        }
        assert!(client.is_there("/e").await, "the session lives, and so does what is its own");
        until(&running, all_serve).await;
    }
    let (status, body) = http(&running, "GET", "/leader", "").await;
    let told: serde_json::Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(status, 200);
    assert!(told["epoch"].as_u64() > Some(4) && told["servers"][2]["id"] == 2, "{body}");
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_that_is_cut_off_is_stale_and_then_closes_and_then_catches_up() {
    let running = quick_three().await;
    let (leader, cut_off) = (leader(&running).await, follower(&running).await);
    let (mut here, mut there) = (at(&running, cut_off).await, at(&running, leader).await);
    let cut = (0..3).filter(|id| *id != cut_off).flat_map(|id| [[id, cut_off], [cut_off, id]]).collect();
    running.fault(Fault::Partition { cut, for_ms: 6000 }).await.expect("it can be done");
    there.done(create("/a", CreateMode::Persistent)).await;
    // Until it gives up waiting for its leader it answers from what it has; if that has come, it has closed.
    let seen = here.ask(get("/a")).await;
    assert!(matches!(seen, None | Some(Err(ErrorCode::NoNode))), "{seen:?}");
    here.closed().await;
    let looking = until(&running, |now| now.servers[usize::from(cut_off)].role == "looking").await;
    assert_eq!(looking.leader, Some(leader), "the others go on");
    let not_serving = "This ZooKeeper instance is not currently serving requests\n";
    for question in ["srvr", "stat", "mntr", "cons", "dump", "wchs", "conf"] {
        assert_eq!(word(&running, cut_off.into(), question).await, not_serving, "{question}");
    }
    assert_eq!(word(&running, cut_off.into(), "isro").await, "null");
    assert_eq!(word(&running, cut_off.into(), "ruok").await, "imok");
    until(&running, all_serve).await;
    let mut back = at(&running, cut_off).await;
    back.done(Request::Sync { path: "/".into() }).await;
    assert!(back.is_there("/a").await);
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_tell_who_leads_and_who_follows() {
    for servers in [1, 3] {
        let running = zk_serve::start(Options::ensemble(servers)).await.expect("servers");
        let mut modes = Vec::new();
        for server in 0..usize::from(servers) {
            let srvr = word(&running, server, "srvr").await;
            let mode = srvr.lines().find_map(|line| line.strip_prefix("Mode: ")).expect("a mode").to_owned();
            let mntr = word(&running, server, "mntr").await;
            assert!(mntr.contains(&format!("zk_server_state\t{mode}\n")), "{mntr}");
            assert_eq!(mntr.contains("zk_quorum_size\t3\n"), servers == 3, "{mntr}");
            assert_eq!(word(&running, server, "isro").await, "rw");
            modes.push(mode);
        }
        let expected: &[&str] =
            if servers == 1 { &["standalone"] } else { &["follower", "follower", "leader"] };
        modes.sort();
        assert_eq!(modes, expected);
        held(running).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_server_holds_up_its_own_clients_alone() {
    let running = three().await;
    let paused = follower(&running).await;
    let other = (0..3).find(|id| *id != paused).expect("there are others");
    let (mut here, mut there) = (at(&running, paused).await, at(&running, other).await);
    running.fault(Fault::ServerPause { server: paused, for_ms: 1500 }).await.expect("it can be done");
    here.submit(create("/here", CreateMode::Persistent)).await;
    there.done(create("/there", CreateMode::Persistent)).await;
    assert!(!there.is_there("/here").await, "nobody has looked at that yet");
    assert!(matches!(here.answer().await, Some(Ok(Response::Created { .. }))));
    assert!(here.is_there("/there").await);
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_that_the_help_of_an_ensemble_shows_can_be_done() {
    let running = three().await;
    let (_, help) = http(&running, "GET", "/", "").await;
    let faults: Vec<&str> = help.lines().filter_map(|line| line.split('\'').nth(1)).collect();
    let faults: Vec<&&str> = faults.iter().filter(|text| text.starts_with('{')).collect();
    for name in ["leader-crash", "leader-pause", "partition", "server-lag", "link-break", "server-pause"] {
        assert!(faults.iter().any(|fault| fault.contains(name)), "{name}: {help}");
    }
    for fault in faults {
        let running = three().await;
        let mut client = at(&running, 0).await;
        let session = client.granted.session.to_string();
        let answer = http(&running, "POST", "/faults", &fault.replace("0x…", &session)).await;
        assert_eq!(answer, (200, "done\n".to_owned()), "{fault}");
        client.submit(set("/none", "x")).await;
        held(running).await;
    }
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_done_to_an_ensemble_is_refused_in_one_line() {
    let running = three().await;
    for (fault, part) in [
        (Fault::ServerPause { server: 3, for_ms: 1 }, "server: 3; expected a number from 0 to 2"),
        (Fault::LinkBreak { between: [1, 1] }, "between: [1,1]; expected two numbers from 0 to 2"),
        (Fault::Partition { cut: vec![[0, 1], [1, 9]], for_ms: 1 }, "cut: [1,9]; expected two numbers"),
        (Fault::LeaderCrash { down_ms: u64::MAX, mid_sync: false }, "down-ms: "),
    ] {
        let error = running.fault(fault).await.expect_err("refused").to_string();
        assert!(error.starts_with(part) && !error.contains('\n'), "{error}");
    }
    running.fault(Fault::ServerCrash { server: 1, down_ms: 60_000, mid_sync: false }).await.expect("done");
    let error = running.fault(Fault::ServerPause { server: 1, for_ms: 1 }).await.expect_err("refused");
    assert_eq!(error.to_string(), "server 1 is down");
    held(running).await;
    let alone = zk_serve::start(Options::default()).await.expect("a server");
    for fault in [Fault::LinkBreak { between: [0, 1] }, Fault::Partition { cut: Vec::new(), for_ms: 1 }] {
        let error = alone.fault(fault).await.expect_err("refused");
        assert_eq!(error.to_string(), "there is one server, and nothing between servers");
    }
    let options = Options { servers: 3, ..Options::default() };
    assert!(matches!(
        zk_serve::start(options).await,
        Err(ServeError::Addresses { addresses: 1, servers: 3 })
    ));
    assert!(matches!(zk_serve::start(Options::ensemble(6)).await, Err(ServeError::Servers(6))));
    held(alone).await;
}

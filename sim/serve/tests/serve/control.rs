//! Faults on demand, by HTTP.

use crate::client::{Client, create, held, server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use zk_api::CreateMode;
use zk_serve::{Limits, Options, Running};

/// Asks, and gives the status and the body.
pub async fn http(running: &Running, method: &str, path: &str, body: &str) -> (u16, String) {
    let host = format!("host: {}\r\n", running.control_address());
    http_as(running, &host, method, path, body).await
}

/// Asks with these headers.
async fn http_as(running: &Running, headers: &str, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(running.control_address()).await.expect("a connection");
    let head = format!("{method} {path} HTTP/1.1\r\n{headers}connection: close\r\n");
    let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(request.as_bytes()).await.expect("an open connection");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, answer.split_once("\r\n\r\n").expect("a body").1.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_that_the_help_shows_can_be_done() {
    let running = server(Limits::default()).await;
    let (status, help) = http(&running, "GET", "/", "").await;
    assert_eq!(status, 200);
    let faults: Vec<&str> = help.lines().filter_map(|line| line.split('\'').nth(1)).collect();
    let faults: Vec<&&str> = faults.iter().filter(|text| text.starts_with('{')).collect();
    assert!(faults.len() > 10, "{help}");
    for fault in faults {
        // Each on a server and a session that no other has struck.
        let running = server(Limits::default()).await;
        let client = Client::new(&running).await;
        let session = client.granted.session.to_string();
        let answer = http(&running, "POST", "/faults", &fault.replace("0x…", &session)).await;
        assert_eq!(answer, (200, "done\n".to_owned()), "{fault}");
        held(running).await;
    }
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_verdict_and_record_are_told() {
    let running = server(Limits::default()).await;
    let mut client = Client::new(&running).await;
    client.done(create("/e", CreateMode::Ephemeral)).await;
    let json = |(status, body): (u16, String)| {
        assert_eq!((status, body.ends_with('\n')), (200, true), "{body}");
        serde_json::from_str::<serde_json::Value>(&body).expect("JSON")
    };
    let sessions = json(http(&running, "GET", "/sessions", "").await);
    assert_eq!(sessions[0]["id"], client.granted.session.to_string());
    assert_eq!(sessions[0]["address"], client.stream.local_addr().unwrap().to_string());
    assert_eq!(sessions[0]["ephemerals"], serde_json::json!(["/e"]));
    let verdict = json(http(&running, "GET", "/verdict", "").await);
    assert_eq!((&verdict["held"], &verdict["requests"]), (&true.into(), &2.into()));
    let record = json(http(&running, "GET", "/record?last=2", "").await);
    assert_eq!((&record[0]["what"], &record[0]["path"]), (&"asked".into(), &"/e".into()));
    assert_eq!((&record[1]["what"], &record[1]["error"]), (&"answered".into(), &serde_json::Value::Null));
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_told_in_one_line_with_status_400() {
    let running = server(Limits::default()).await;
    for (method, path, body, status, part) in [
        ("POST", "/faults", "{", 400, "not a fault: "),
        ("POST", "/faults", r#"{"quake":{}}"#, 400, "unknown variant `quake`"),
        ("POST", "/faults", r#"{"expire":{"session":"0x7"}}"#, 400, "0x7: no such session"),
        ("GET", "/record?last=x", "", 400, "expected /record?last=N"),
        ("GET", "/record?last=-1", "", 400, "expected /record?last=N"),
        ("GET", "/record?last=1&last=2", "", 400, "expected /record?last=N"),
        ("GET", "/record?lst=3", "", 400, "expected /record?last=N"),
        ("GET", "/nowhere", "", 404, "GET / tells"),
        ("GET", "/faults", "", 405, "GET / tells"),
        ("PUT", "/faults", "{}", 405, "GET / tells"),
        ("DELETE", "/sessions", "", 405, "GET / tells"),
        ("POST", "/", "", 405, "GET / tells"),
        ("POST", "/observe", "{}", 400, "nothing is promised here, so nothing is judged"),
        ("GET", "/observe", "", 405, "GET / tells"),
        ("POST", "/observe", &"[".repeat(100 * 1024), 413, "no observation has more than 16384 bytes"),
        ("POST", "/faults", r#"{"server-crash":{"server":1,"down-ms":1}}"#, 400, "server: expected 0;"),
        (
            "POST",
            "/faults",
            r#"{"slow-sync":{"server":7,"sync-ms":1,"for-ms":1}}"#,
            400,
            "server: expected 0;",
        ),
        (
            "POST",
            "/faults",
            r#"{"clock-jump":{"by-ms":-86400001}}"#,
            400,
            "by-ms: -86400001; it must be from -",
        ),
        ("POST", "/faults", "{\"\\u001b[31m\":{}}", 400, "unknown variant `\\u{1b}[31m`"),
        ("POST", "/faults", &"[".repeat(16 * 1024), 400, "not a fault"),
        ("POST", "/faults", &"[".repeat(100 * 1024), 413, "no fault has more than 16384 bytes"),
        ("POST", "/faults", &format!(r#"{{"{}":{{}}}}"#, "z".repeat(9000)), 400, "unknown variant `zzz"),
    ] {
        let (found, text) = http(&running, method, path, body).await;
        let is_line = text.ends_with('\n') && text.lines().count() == 1 && text.chars().count() < 500;
        assert!(found == status && text.contains(part) && is_line, "{method} {path}: {found} {text}");
    }
    let one = r#"{"server-crash":{"server":0,"down-ms":1}}"#;
    assert_eq!(http(&running, "POST", "/faults", one).await, (200, "done\n".to_owned()));
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_can_be_asked_for_on_this_machine_alone() {
    let control = "0.0.0.0:0".parse().unwrap();
    let error = zk_serve::start(Options { control, ..Options::default() }).await.expect_err("refused");
    assert_eq!(error.to_string(), "the control address 0.0.0.0:0 is not on the loopback interface");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_web_page_of_somebody_else_can_do_nothing() {
    let running = server(Limits::default()).await;
    let port = running.control_address().port();
    let fault = r#"{"clock-jump":{"by-ms":1}}"#;
    let asks = async |headers: &str| http_as(&running, headers, "POST", "/faults", fault).await;
    for headers in [
        "host: localhost\r\n".to_owned(),
        format!("host: localhost:{port}\r\n"),
        format!("host: 127.0.0.1:{port}\r\n"),
        format!("host: [::1]:{port}\r\n"),
        format!("host: 127.0.0.1:{port}\r\norigin: http://127.0.0.1:{port}\r\n"),
        format!("host: localhost:{port}\r\norigin: http://localhost:{port}\r\n"),
    ] {
        assert_eq!(asks(&headers).await, (200, "done\n".to_owned()), "{headers}");
    }
    for (headers, part) in [
        (String::new(), "expected one Host header"),
        (format!("host: 127.0.0.1:{port}\r\nhost: evil.example\r\n"), "expected one Host header"),
        // A name of the page's own that was made to stand for 127.0.0.1.
        (format!("host: evil.example:{port}\r\n"), "Host is evil.example"),
        (
            format!("host: evil.example:{port}\r\norigin: http://evil.example:{port}\r\n"),
            "Host is evil.example",
        ),
        (format!("host: 127.0.0.1.evil.example:{port}\r\n"), "Host is 127.0.0.1.evil.example"),
        (
            format!("host: 127.0.0.1:{port}\r\norigin: http://evil.example\r\n"),
            "a web page of http://evil.example",
        ),
        (
            format!("host: 127.0.0.1:{port}\r\norigin: https://127.0.0.1:{port}\r\n"),
            "a web page of https://127.0.0.1",
        ),
        (
            format!("host: 127.0.0.1:{port}\r\norigin: http://127.0.0.1:1\r\n"),
            "a web page of http://127.0.0.1:1 ",
        ),
        (
            format!("host: 127.0.0.1:{port}\r\norigin: http://localhost:{port}\r\n"),
            "a web page of http://localhost",
        ),
        (format!("host: 127.0.0.1:{port}\r\norigin: null\r\n"), "a web page of null"),
    ] {
        let (status, text) = asks(&headers).await;
        assert!(
            status == 403 && text.contains(part) && text.lines().count() == 1,
            "{headers}: {status} {text}"
        );
    }
    for path in ["/", "/leader", "/sessions", "/verdict", "/record", "/nowhere"] {
        let (status, _) = http_as(&running, "host: evil.example\r\n", "GET", path, "").await;
        assert_eq!(status, 403, "{path}");
    }
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_are_answered_also_to_who_says_nothing_more() {
    let running = server(Limits::default()).await;
    let client = Client::new(&running).await;
    for (word, part) in [("ruok", "imok"), ("stat", "sent=1)"), ("cons", "sid=0x"), ("dump", "expire at")] {
        let mut stream = TcpStream::connect(running.addresses()[0]).await.unwrap();
        stream.write_all(word.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.contains(part), "{word}: {answer}");
    }
    drop(client);
    held(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_gets_every_event_as_a_line_of_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.jsonl");
    let running =
        zk_serve::start(Options { record: Some(path.clone()), recent_events: 1, ..Options::default() }).await;
    let running = running.expect("a server");
    let mut client = Client::new(&running).await;
    client.done(create("/a", CreateMode::Persistent)).await;
    assert_eq!(running.record(100).await.len(), 1);
    held(running).await;
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let whats: Vec<&str> = lines.iter().map(|line| line["what"].as_str().unwrap()).collect();
    let expected = ["server started", "opened", "connected", "asked", "answered", "server down", "ended"];
    assert_eq!(whats, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_take_every_event_is_told_at_the_end() {
    let running = zk_serve::start(Options { record: Some("/dev/full".into()), ..Options::default() }).await;
    let running = running.expect("a server");
    let mut client = Client::new(&running).await;
    client.done(create("/a", CreateMode::Persistent)).await;
    let verdict = running.stop().await;
    assert!(verdict.held, "the file is no matter of the server's");
    let lacks = verdict.record_lacks.expect("nothing was written");
    assert!(lacks.starts_with("it ends before its time: No space left"), "{lacks}");
}

#[tokio::test(flavor = "multi_thread")]
async fn measurements_count_what_a_zookeeper_counts() {
    let running = server(Limits::default()).await;
    let ask = async |word: &str| {
        let mut stream = TcpStream::connect(running.addresses()[0]).await.unwrap();
        stream.write_all(word.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    ask("srst").await;
    let mut client = Client::new(&running).await;
    client.done(create("/a", CreateMode::Persistent)).await;
    client.done(create("/a/e", CreateMode::Ephemeral)).await;
    let told = ask("mntr").await;
    let value = |name: &str| told.lines().find_map(|line| line.strip_prefix(&format!("zk_{name}\t")));
    // As a real 3.9.3 told them after the same.
    for (name, expected) in [
        ("packets_received", "4"),
        ("packets_sent", "4"),
        ("znode_count", "7"),
        ("ephemerals_count", "1"),
        ("global_sessions", "1"),
        ("num_alive_connections", "2"),
        ("connection_request_count", "1"),
        ("connection_drop_count", "0"),
        ("stale_sessions_expired", "0"),
        ("last_client_response_size", "24"),
        ("max_client_response_size", "24"),
        ("min_client_response_size", "22"),
    ] {
        assert_eq!(value(name), Some(expected), "{name}: {told}");
    }
    drop(client);
    while !ask("mntr").await.contains("zk_connection_drop_count\t1\n") {}
    held(running).await;
}

//! `zoocheck serve`, to run on: the lock while the server does what servers do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::thread;
use std::time::Duration;
use zoocheck::{Answer, Catalogue, Scenario};

/// `zoocheck serve`, until this is dropped.
pub struct Served {
    process: Child,
    stdout: BufReader<ChildStdout>,
    pub servers: String,
    control: String,
}

impl Served {
    /// So many servers.
    pub fn start(servers: u8) -> Served {
        let mut command = crate::common::command(Path::new(env!("CARGO_MANIFEST_DIR")));
        command.args(["serve", "--listen", "127.0.0.1:0", "--tick-ms", "500", "--until-stdin-closes"]);
        command.args(["--servers", &servers.to_string()]);
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the command starts");
        let mut line = String::new();
        let mut stdout = BufReader::new(process.stdout.take().expect("a pipe"));
        stdout.read_line(&mut line).expect("a line");
        let ready: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_string();
        let control = text(&ready["control"]).trim_start_matches("http://").to_string();
        let servers = ready["servers"].as_array().expect("servers").iter();
        let servers = servers.map(|server| text(&server["client"])).collect::<Vec<_>>().join(",");
        Served { process, stdout, servers, control }
    }

    /// Asks for a fault. A server that is paused or down may refuse it.
    fn fault(&self, json: &str) {
        let mut http = TcpStream::connect(&self.control).expect("it listens");
        let head = "POST /faults HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
        write!(http, "{head}Content-Length: {}\r\n\r\n{json}", json.len()).expect("sent");
        let mut answer = String::new();
        http.read_to_string(&mut answer).expect("answered");
        let refused =
            ["the server is ", "no server leads", " is down"].iter().any(|why| answer.contains(why));
        assert!(answer.starts_with("HTTP/1.1 200 ") || refused, "{json}: {answer}");
    }

    /// Tells it to leave; gives its exit status and what it says last.
    fn leave(mut self) -> (Option<i32>, String) {
        drop(self.process.stdin.take());
        let mut said = String::new();
        self.stdout.read_to_string(&mut said).expect("text");
        (self.process.wait().expect("it ends").code(), said)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// What is done to the server, one after the other, again and again.
const FAULTS: [&str; 8] = [
    r#"{"drop": {"session": "all", "when": {"next-request": "create"}, "what": "answers-lost"}}"#,
    r#"{"server-crash": {"down-ms": 300}}"#,
    r#"{"drop": {"session": "all", "what": "requests-lost"}}"#,
    r#"{"expire": {"session": "all"}}"#,
    r#"{"drop": {"session": "all", "when": {"next-request": "delete"}, "what": "answers-lost"}}"#,
    r#"{"server-pause": {"for-ms": 1500}}"#,
    r#"{"drop": {"session": "all", "when": {"next-request": "create"}, "what": {"in-flight": {"for-ms": 50}}}}"#,
    r#"{"server-crash": {"down-ms": 2500}}"#,
];

/// What is done to three of them: time for another to lead, and then to all.
const FAULTS_OF_THREE: [&str; 6] = [
    r#"{"leader-crash": {"down-ms": 600}}"#,
    r#"{"drop": {"session": "all", "when": {"next-request": "create"}, "what": "answers-lost"}}"#,
    r#"{"leader-crash": {"down-ms": 300, "mid-sync": true}}"#,
    r#"{"partition": {"cut": [[0, 1], [1, 0], [0, 2], [2, 0]], "for-ms": 1500}}"#,
    r#"{"expire": {"session": "all"}}"#,
    r#"{"leader-pause": {"for-ms": 1500}}"#,
];

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn the_lock_holds_while_the_server_crashes_sessions_expire_and_connections_drop() {
    the_lock_holds(1, &FAULTS);
}

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn the_lock_holds_while_the_leaders_of_three_servers_crash_and_servers_are_cut_off() {
    the_lock_holds(3, &FAULTS_OF_THREE);
}

fn the_lock_holds(servers: u8, faults: &[&str]) {
    let served = Served::start(servers);
    let catalogue = Catalogue::default();
    let scenario = catalogue.scenario("lock").expect("a recipe");
    let (clients, rounds) = (4, 6);
    let scenario = Scenario { clients, rounds, work_ms: [0, 1500], session_timeout_ms: 1000, ..scenario };
    let report = thread::scope(|scope| {
        let run = scope.spawn(|| catalogue.live(&scenario, &served.servers, Duration::from_secs(240)));
        for fault in faults.iter().cycle() {
            thread::sleep(Duration::from_millis(700));
            if run.is_finished() {
                break;
            }
            served.fault(fault);
        }
        run.join().expect("no panic").expect("it runs")
    });
    println!("{report}");
    // With faults to its very end, a run may not come to rest; nothing may be broken.
    assert_ne!(report.answer, Answer::Broken, "{report}");
    let tested = |name: &str| report.promise(name).expect("it is promised").tested;
    assert!(tested("exclusion-at-fenced-resource") > 0 && tested("tokens-increase") > 0, "{report}");
    assert!(report.happened.sessions_lost > 0 && report.happened.disconnections > 0, "{report}");
    let (status, verdict) = served.leave();
    assert_eq!(status, Some(0), "the invariants at the server: {verdict}");
}

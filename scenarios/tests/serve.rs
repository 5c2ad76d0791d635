//! The real `zoocheck serve`: ready, told to leave, judged; and what is wrong with a command line.
#![cfg(feature = "serve")]

use crate::common::zoocheck;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A server that ends with its test.
struct Serving {
    child: Child,
    stdout: BufReader<ChildStdout>,
    ready: serde_json::Value,
}

impl Serving {
    fn new(arguments: &str) -> Serving {
        let mut child = Command::new(env!("CARGO_BIN_EXE_zoocheck"))
            .args("serve --listen 127.0.0.1:0 --until-stdin-closes".split(' '))
            .args(arguments.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        Serving { child, stdout, ready }
    }

    fn address(&self) -> &str {
        self.ready["servers"][0]["client"].as_str().expect("an address")
    }

    /// What a raw connection is answered; nothing by a server that is down.
    fn says(&self, bytes: &[u8]) -> String {
        let mut answer = String::new();
        let Ok(mut stream) = TcpStream::connect(self.address()) else { return answer };
        let _ = stream.write_all(bytes);
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    /// Lets it leave: its status, the rest of stdout, and stderr.
    fn leave(mut self, tell: impl FnOnce(&mut Child)) -> (Option<i32>, String, String) {
        tell(&mut self.child);
        let status = self.child.wait().expect("it ends");
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.stdout.read_to_string(&mut stdout).expect("text");
        self.child.stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("text");
        (status.code(), stdout, stderr)
    }
}

fn close_stdin(child: &mut Child) {
    drop(child.stdin.take());
}

#[test]
fn it_says_where_it_is_in_one_line_and_leaves_with_a_verdict_when_stdin_closes() {
    let serving = Serving::new("");
    assert_eq!(serving.ready["servers"][0]["id"], 0);
    assert_eq!(serving.ready["pid"], serving.child.id());
    assert!(serving.ready["control"].as_str().expect("an address").starts_with("http://127.0.0.1:"));
    assert_eq!(serving.says(b"ruok"), "imok");
    let (status, stdout, stderr) = serving.leave(close_stdin);
    assert_eq!(status, Some(0), "{stdout}{stderr}");
    let verdict: serde_json::Value = serde_json::from_str(&stdout).expect("one line of JSON");
    assert_eq!((&verdict["held"], &verdict["schema"]), (&true.into(), &"zoocheck-serve-verdict/1".into()));
    assert!(stderr.starts_with("zoocheck serve: held: ") && stderr.lines().count() == 1, "{stderr}");
}

#[test]
fn three_servers_say_where_each_is_and_serve_when_they_say_so() {
    let serving = Serving::new("--servers 3");
    let servers = serving.ready["servers"].as_array().expect("servers").clone();
    let ids: Vec<_> = servers.iter().map(|server| server["id"].as_u64().expect("a number")).collect();
    assert_eq!(ids, [0, 1, 2]);
    let mut modes = Vec::new();
    for server in servers {
        let mut stream =
            TcpStream::connect(server["client"].as_str().expect("an address")).expect("it listens");
        stream.write_all(b"srvr").expect("an open connection");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        modes.extend(answer.lines().find_map(|line| line.strip_prefix("Mode: ")).map(str::to_owned));
    }
    modes.sort();
    assert_eq!(modes, ["follower", "follower", "leader"]);
    let (status, stdout, stderr) = serving.leave(close_stdin);
    assert_eq!(status, Some(0), "{stdout}{stderr}");
    assert!(stdout.contains(r#""name":"Leadership1","verdict":"held""#), "{stdout}");
}

#[test]
fn a_record_that_could_not_be_written_is_told_with_status_2() {
    let (status, stdout, stderr) = Serving::new("--record /dev/full").leave(close_stdin);
    assert_eq!(status, Some(2), "{stdout}{stderr}");
    assert!(stdout.starts_with(r#"{"schema":"zoocheck-serve-verdict/1","held":true"#), "{stdout}");
    let said = "\nzoocheck: --record: /dev/full: it ends before its time: No space left";
    assert!(stderr.contains(said) && stderr.lines().count() == 2, "{stderr}");
}

#[test]
fn it_leaves_when_it_is_told_to() {
    for signal in ["-TERM", "-INT"] {
        let serving = Serving::new("");
        let (status, stdout, _) = serving.leave(|child| {
            let told = Command::new("kill").args([signal, &child.id().to_string()]).status();
            assert!(told.expect("kill is there").success());
        });
        assert_eq!(status, Some(0), "{signal}: {stdout}");
    }
}

/// `timeout` sends its signal to the process, and again to its group.
#[test]
fn two_signals_close_together_are_one() {
    for signals in [["TERM", "INT"], ["INT", "TERM"]] {
        let (status, stdout, stderr) = Serving::new("--servers 3").leave(|child| send(child, &signals));
        assert_eq!(status, Some(0), "{signals:?}: {stdout}{stderr}");
        assert!(stderr.contains("held: "), "{stderr}");
    }
}

/// Sends these signals, one right after the other.
fn send(child: &Child, signals: &[&str]) {
    let pid = child.id();
    let all: Vec<String> = signals.iter().map(|signal| format!("kill -{signal} {pid}")).collect();
    assert!(Command::new("sh").args(["-c", &all.join("; ")]).status().expect("sh is there").success());
}

#[test]
fn what_is_wrong_with_a_command_line_is_one_line() {
    for (arguments, part) in [
        (
            "--servers 3 --listen 127.0.0.1:1,127.0.0.1:2",
            "--listen: 2 addresses for 3 servers; expected one for each",
        ),
        ("--servers 0", "expected a whole number from 1 to 5"),
        ("--servers -1", "expected a whole number from 1 to 5"),
        ("--servers many", "expected a whole number from 1 to 5"),
        ("--listen nowhere", "expected ADDRESS:PORT, such as 127.0.0.1:2181"),
        ("--listen 127.0.0.1:0,", "expected ADDRESS:PORT"),
        ("--listen 127.0.0.1:70000", "expected ADDRESS:PORT"),
        ("--control zk1:2181", "expected ADDRESS:PORT"),
        ("--listen 127.0.0.1:0 --control 0.0.0.0:0", "--control: the control address 0.0.0.0:0 is not on"),
        (
            "--listen 127.0.0.1:0 --record /none/such/file",
            "--record: cannot write the record to /none/such/file",
        ),
        ("--listen 192.0.2.1:2181", "--listen: cannot listen on 192.0.2.1:2181"),
        ("--tick-ms 0", "expected a whole number from 1 to 600000"),
        ("--super-digest super", "expected USER:BASE64"),
    ] {
        let ran = zoocheck(&format!("serve {arguments}"));
        assert_eq!(ran.status, 2, "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(part) && ran.stderr.lines().count() == 1, "{arguments}: {}", ran.stderr);
        assert!(ran.stdout.is_empty());
    }
}

/// What a FIFO holds is waited for: whoever waits can be told to leave.
#[test]
fn it_leaves_when_it_is_told_to_while_it_waits_for_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("it is there").success());
    for arguments in ["--record FILE", "--scenario FILE --seed 1"] {
        let arguments = arguments.replace("FILE", pipe.to_str().expect("UTF-8"));
        let mut child = Command::new(env!("CARGO_BIN_EXE_zoocheck"))
            .args("serve --listen 127.0.0.1:0".split(' ').chain(arguments.split(' ')))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command starts");
        // However far it is by then, it leaves.
        std::thread::sleep(std::time::Duration::from_millis(200));
        let told = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        assert!(told.expect("kill is there").success());
        let ended = (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            child.try_wait().expect("a child").is_some()
        });
        let _ = child.kill();
        assert!(ended, "{arguments}");
    }
}

/// Who was to read the record has stopped, and its pipe is full: the record cannot be ended.
#[test]
fn it_leaves_when_it_is_told_to_though_something_hangs() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("it is there").success());
    let mut full = std::fs::OpenOptions::new().read(true).write(true).open(&pipe).expect("a pipe");
    full.write_all(&[0; 65_536]).expect("as much as a pipe holds");
    let serving = Serving::new(&format!("--record {}", pipe.display()));
    let began = std::time::Instant::now();
    let (status, stdout, stderr) = serving.leave(|child| send(child, &["TERM"]));
    assert_eq!(status, Some(128 + 15), "{stdout}{stderr}");
    assert!(began.elapsed().as_secs() < 60);
    // Who does not want to wait sends another one.
    let serving = Serving::new(&format!("--record {}", pipe.display()));
    let (status, ..) = serving.leave(|child| {
        send(child, &["TERM", "INT"]);
        std::thread::sleep(std::time::Duration::from_secs(1));
        assert!(child.try_wait().expect("a child").is_none(), "the second one has ended it");
        std::thread::sleep(std::time::Duration::from_secs(3));
        send(child, &["INT"]);
    });
    assert_eq!(status, None, "a signal ends it");
}

#[test]
fn its_help_says_that_it_is_no_server_for_production() {
    let ran = zoocheck("serve --help");
    assert!(ran.stdout.contains("This is a test server, not a production one"), "{}", ran.stdout);
}

#[cfg(feature = "run")]
#[test]
fn the_faults_of_a_scenario_strike_and_those_that_are_not_a_servers_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("crashes.toml");
    let text =
        "servers = 1\ntick-ms = 100\nfault-seconds = 1\n[faults]\nserver-crashes = 20\nclient-crashes = 5\n";
    std::fs::write(&file, text).expect("a file");
    // A seed that draws both: each kind is on in half of the seeds.
    let (mut crashed, mut told) = (false, false);
    for seed in 0..12 {
        let serving = Serving::new(&format!(
            "--scenario {} --seed {seed} --record {}",
            file.display(),
            record(&folder)
        ));
        let conf = serving.says(b"conf");
        std::thread::sleep(std::time::Duration::from_millis(400));
        let (status, stdout, stderr) = serving.leave(close_stdin);
        assert_eq!(status, Some(0), "{stdout}{stderr}");
        assert!(conf.is_empty() || conf.contains("tickTime=100\n"), "{conf}");
        let events = std::fs::read_to_string(record(&folder)).expect("a record");
        crashed |= events.contains(r#""fault":{"server-crash":"#);
        told |= stderr.contains("not applicable, as a server cannot do them: client-crash × ");
        if crashed && told {
            return;
        }
    }
    panic!("crashed: {crashed}, told: {told}");
}

#[cfg(feature = "run")]
fn record(folder: &tempfile::TempDir) -> String {
    folder.path().join("record.jsonl").display().to_string()
}

//! Servers to run on, each test its own, ended with the test.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// Real servers in a folder of their own.
pub struct Real {
    dir: TempDir,
    pub servers: String,
}

fn script(arguments: &[&str]) -> Output {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sim/conform/real-zookeeper");
    Command::new(script).args(arguments).output().expect("the script can be run")
}

impl Real {
    /// Starts so many; `None`, said on stderr, where it cannot be done.
    pub fn start(servers: u8) -> Option<Real> {
        let check = script(&["check"]);
        if !check.status.success() {
            eprintln!("skipped: {}", String::from_utf8_lossy(&check.stdout).trim());
            return None;
        }
        let dir = tempfile::tempdir().expect("a folder");
        let mut real = Real { dir, servers: String::new() };
        real.servers = real.ask(&["start"], &["--servers", &servers.to_string(), "--tick-ms", "500"]);
        Some(real)
    }

    /// What the script answers: `kill`, `restart`, `leader`, …
    pub fn ask(&self, what: &[&str], more: &[&str]) -> String {
        let dir = self.dir.path().to_str().expect("a path in letters");
        let out = script(&[what, &[dir], more].concat());
        assert!(out.status.success(), "{what:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).expect("text").trim().to_string()
    }

    /// Has ZooKeeper's own client do something.
    pub fn client(&self, command: &[&str]) -> String {
        let out = script(&[&["cli", &self.servers], command].concat());
        String::from_utf8_lossy(&out.stdout).into_owned()
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        script(&["stop", self.dir.path().to_str().expect("a path in letters")]);
    }
}

/// `zoocheck serve`, until this is dropped.
#[cfg(feature = "serve")]
pub struct Served {
    process: Child,
    pub servers: String,
}

#[cfg(feature = "serve")]
impl Served {
    pub fn start() -> Served {
        let mut command = crate::common::command(Path::new(env!("CARGO_MANIFEST_DIR")));
        command.args(["serve", "--listen", "127.0.0.1:0", "--tick-ms", "500", "--until-stdin-closes"]);
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the command starts");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let ready: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let servers = ready["servers"][0]["client"].as_str().expect("an address").to_string();
        Served { process, servers }
    }
}

#[cfg(feature = "serve")]
impl Drop for Served {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

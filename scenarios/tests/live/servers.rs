//! Real servers to run on, each test its own, ended with the test.

use std::path::PathBuf;
use std::process::{Command, Output};
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
    /// Starts so many; `None`, said on stderr, where it cannot be done. With `ZOOCHECK_NO_SKIP` that is a failure.
    pub fn start(servers: u8) -> Option<Real> {
        let check = script(&["check"]);
        if !check.status.success() {
            let why = String::from_utf8_lossy(&check.stdout);
            assert!(std::env::var_os("ZOOCHECK_NO_SKIP").is_none(), "{why}");
            eprintln!("skipped: {}", why.trim());
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

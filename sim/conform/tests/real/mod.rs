//! Real servers, begun for a test and ended with it. For the tests of all crates, which take this file by its path.

#![allow(dead_code, reason = "each test uses some of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Real servers in a folder of their own.
#[derive(Debug)]
pub struct Real {
    folder: TempDir,
    /// `HOST:PORT[,HOST:PORT…]`
    pub servers: String,
}

/// The script that starts and stops servers, from whichever crate's tests.
fn script() -> PathBuf {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let found = folders
        .find_map(|folder| Some(folder.join("sim/conform/real-zookeeper")).filter(|path| path.exists()));
    found.expect("it is in the workspace")
}

fn run(arguments: &[&str]) -> Output {
    Command::new(script()).args(arguments).output().expect("the script can be run")
}

impl Real {
    /// Starts what these options say, such as `--servers 3`. `None`, said on stderr, where it cannot be done; with
    /// `ZOOCHECK_NO_SKIP` that is a failure.
    pub fn start(options: &[&str]) -> Option<Real> {
        let check = run(&["check"]);
        if !check.status.success() {
            let why = String::from_utf8_lossy(&check.stdout);
            assert!(std::env::var_os("ZOOCHECK_NO_SKIP").is_none(), "{why}");
            eprintln!("skipped: {}", why.trim());
            return None;
        }
        let mut real = Real { folder: tempfile::tempdir().expect("a folder"), servers: String::new() };
        real.servers = real.ask("start", options);
        Some(real)
    }

    /// What the script answers: `kill`, `restart`, `leader`, …
    pub fn ask(&self, what: &str, more: &[&str]) -> String {
        let out = run(&[&[what, self.folder()], more].concat());
        assert!(out.status.success(), "{what} {more:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).expect("text").trim().to_owned()
    }

    /// Has ZooKeeper's own client do something.
    pub fn client(&self, command: &[&str]) -> String {
        let out = run(&[&["cli", &self.servers], command].concat());
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    fn folder(&self) -> &str {
        self.folder.path().to_str().expect("a path in letters")
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        // Nothing more can be done about one that does not end.
        run(&["stop", self.folder()]);
    }
}

//! The real command, run in a directory of its own.

#![allow(dead_code, reason = "each test file uses some of it")]

pub mod needs;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// What a command gave.
pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

/// The command, with arguments split at blanks.
pub fn zoocheck(arguments: &str) -> Ran {
    zoocheck_in(Path::new(env!("CARGO_MANIFEST_DIR")), arguments)
}

/// The same in another directory.
pub fn zoocheck_in(dir: &Path, arguments: &str) -> Ran {
    ran(command(dir).args(arguments.split_whitespace()))
}

/// The command without arguments.
pub fn command(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zoocheck"));
    command.env_remove("GITHUB_ACTIONS").env_remove("GITHUB_STEP_SUMMARY").env_remove("CI");
    command.current_dir(dir).env_remove("RUST_LOG").env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

/// Waits for it.
pub fn ran(command: &mut Command) -> Ran {
    let Output { status, stdout, stderr } = command.output().expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran { status: status.code().expect("it ended by itself"), stdout: text(stdout), stderr: text(stderr) }
}

/// The JSON of a report, which has every key of its type, and no other.
pub fn report<T: Serialize + DeserializeOwned>(json: &str) -> Value {
    let value: Value = serde_json::from_str(json).expect("JSON");
    let report: T = serde_json::from_str(json).expect("a report");
    assert_eq!(serde_json::to_value(report).expect("plain data"), value);
    value
}

impl Ran {
    /// The standard output as the JSON of a report.
    pub fn json<T: Serialize + DeserializeOwned>(&self) -> Value {
        report::<T>(&self.stdout)
    }

    /// The digest at the end of a replay.
    pub fn digest(&self) -> &str {
        self.stdout.lines().last().and_then(|line| line.strip_prefix("digest ")).expect("a digest")
    }
}

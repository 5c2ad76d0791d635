//! `zoocheck serve`, to run on.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

/// `zoocheck serve`, until this is dropped.
pub struct Served {
    process: Child,
    pub servers: String,
}

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

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

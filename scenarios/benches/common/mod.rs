//! What is measured with: a `zoocheck serve`, and a client.

#[path = "../../../sim/serve/benches/client/mod.rs"]
mod client;

pub use client::*;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Starts a `zoocheck serve`, gives its process and address.
pub fn serve(options: &[&str]) -> Outcome<(Child, String)> {
    let mut process = Command::new(env!("CARGO_BIN_EXE_zoocheck"))
        .args(["serve", "--listen", "127.0.0.1:0", "--until-stdin-closes"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(process.stdout.as_mut().ok_or("a pipe")?).read_line(&mut line)?;
    let ready: serde_json::Value = serde_json::from_str(&line)?;
    let address = ready["servers"][0]["client"].as_str().ok_or("an address")?.to_owned();
    Ok((process, address))
}

//! `zoocheck serve`, until this is dropped, and questions by HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

pub struct Serving {
    child: Child,
    pub servers: String,
    control: String,
}

impl Serving {
    pub fn new(arguments: &str) -> Serving {
        let mut child = crate::common::command(Path::new(env!("CARGO_MANIFEST_DIR")))
            .args("serve --listen 127.0.0.1:0 --until-stdin-closes".split(' '))
            .args(arguments.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
        let ready: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        let servers: Vec<String> =
            ready["servers"].as_array().expect("servers").iter().map(|at| text(&at["client"])).collect();
        let control = text(&ready["control"]).trim_start_matches("http://").to_owned();
        Serving { child, servers: servers.join(","), control }
    }

    /// The whole answer.
    pub fn post(&self, path: &str, body: &str) -> String {
        self.post_as("", path, body)
    }

    pub fn post_as(&self, headers: &str, path: &str, body: &str) -> String {
        self.ask(&format!("POST {path} HTTP/1.1\r\n{headers}Content-Length: {}\r\n", body.len()), body)
    }

    pub fn verdict(&self) -> serde_json::Value {
        let answer = self.ask("GET /verdict HTTP/1.1\r\n", "");
        serde_json::from_str(answer.split_once("\r\n\r\n").expect("a body").1).expect("JSON")
    }

    fn ask(&self, head: &str, body: &str) -> String {
        let mut http = TcpStream::connect(&self.control).expect("it listens");
        write!(http, "{head}Host: localhost\r\nConnection: close\r\n\r\n{body}").expect("sent");
        let mut answer = String::new();
        http.read_to_string(&mut answer).expect("answered");
        answer
    }

    /// Tells it to leave; gives its exit status and stderr.
    pub fn leave(mut self) -> (Option<i32>, String) {
        drop(self.child.stdin.take());
        let mut stderr = String::new();
        self.child.stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("text");
        (self.child.wait().expect("it ends").code(), stderr)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

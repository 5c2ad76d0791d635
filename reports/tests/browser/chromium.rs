//! A headless Chromium, driven by its DevTools protocol. Debian's package `chromium` brings it.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

/// Longer than anything takes on a machine that does something else as well.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one page. Ends with its value.
pub struct Chromium {
    process: Child,
    socket: WebSocket<TcpStream>,
    session: Option<String>,
    asked: u64,
    /// What the page has told since it was opened: each a method with its parameters.
    pub told: Vec<Value>,
    _profile: tempfile::TempDir,
}

/// The browser to be tested with. `None`, with a word about it, where there is none; with `ZOOCHECK_NO_SKIP` set, that
/// is a failure.
pub fn program() -> Option<String> {
    let name = std::env::var("ZOOCHECK_CHROMIUM").unwrap_or_else(|_| "chromium".into());
    let found = Command::new(&name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) {
        return Some(name);
    }
    let missing =
        format!("no {name} here: Debian's package chromium brings it, ZOOCHECK_CHROMIUM names another");
    assert!(std::env::var_os("ZOOCHECK_NO_SKIP").is_none(), "{missing}");
    eprintln!("skipped: {missing}");
    None
}

impl Chromium {
    /// Starts a browser.
    pub fn start(program: &str) -> Chromium {
        let profile = tempfile::tempdir().expect("a directory");
        let mut process = Command::new(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            .args(["--hide-scrollbars", "--remote-debugging-port=0", "--remote-allow-origins=*"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("Chromium starts");
        let mut said = BufReader::new(process.stderr.take().expect("piped"));
        let url = loop {
            let mut line = String::new();
            assert!(said.read_line(&mut line).expect("text") > 0, "Chromium ended before it listened");
            if let Some((_, url)) = line.split_once("DevTools listening on ") {
                break url.trim().to_string();
            }
        };
        // What else it says must not fill the pipe.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let address = url.strip_prefix("ws://").and_then(|rest| rest.split('/').next()).expect("ws://…/");
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let (socket, _) = tungstenite::client(&url, stream).expect("a WebSocket");
        let (session, told) = (None, Vec::new());
        let mut browser = Chromium { process, socket, session, asked: 0, told, _profile: profile };
        let target = browser.ask("Target.createTarget", json!({"url": "about:blank"}));
        let to = json!({"targetId": target["targetId"], "flatten": true});
        browser.session = browser.ask("Target.attachToTarget", to)["sessionId"].as_str().map(String::from);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Asks for something, and waits for the answer. Panics if it is an error.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let mut asks = json!({"id": self.asked, "method": method, "params": params});
        if let Some(session) = &self.session {
            asks["sessionId"] = session.clone().into();
        }
        self.socket.send(Message::text(asks.to_string())).expect("sent");
        loop {
            let heard = self.hear();
            if heard["id"] == self.asked {
                assert!(heard["error"].is_null(), "{method}: {}", heard["error"]);
                return heard["result"].clone();
            }
        }
    }

    fn hear(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.read().expect("Chromium answers") {
                let heard: Value = serde_json::from_str(text.as_str()).expect("JSON");
                if heard["method"].is_string() {
                    self.told.push(heard.clone());
                }
                return heard;
            }
        }
    }

    /// Opens a file in a window of this size, and waits until it is there.
    pub fn open(&mut self, file: &std::path::Path, width: u32, height: u32, dark: bool) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500});
        self.ask("Emulation.setDeviceMetricsOverride", size);
        let scheme = json!([{"name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" }}]);
        self.ask("Emulation.setEmulatedMedia", json!({"features": scheme}));
        self.told.clear();
        self.ask("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        while !self.told.iter().any(|told| told["method"] == "Page.loadEventFired") {
            self.hear();
        }
    }

    /// What an expression comes to; a promise is waited for.
    pub fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.ask("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn wait_for(&mut self, expression: &str) {
        let since = Instant::now();
        while self.eval(expression) != true {
            assert!(since.elapsed() < PATIENCE, "never: {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A key is pressed and let go. `text` is what it types, if anything.
    pub fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            " " => 32,
            "ArrowDown" => 40,
            "ArrowUp" => 38,
            _ => 0,
        };
        let text = match key {
            "Enter" => "\r",
            one if one.chars().count() == 1 => one,
            _ => "",
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({"type": kind, "key": key, "windowsVirtualKeyCode": code});
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = text.into();
            }
            self.ask("Input.dispatchKeyEvent", event);
        }
    }

    /// What the window shows, as a PNG.
    pub fn screenshot(&mut self) -> Vec<u8> {
        use base64::Engine;
        let answer = self.ask("Page.captureScreenshot", json!({"format": "png"}));
        let data = answer["data"].as_str().expect("a picture");
        base64::engine::general_purpose::STANDARD.decode(data).expect("base64")
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

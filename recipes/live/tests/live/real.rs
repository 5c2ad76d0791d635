//! Real servers, each test its own.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;
use tempfile::TempDir;
use zk_api::{ZPath, ZooKeeper};
use zk_live::LiveClient;

/// The session timeout that is asked for: the most that these servers grant, as they may take long to restart.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// The least that they grant.
pub const SHORT_TIMEOUT: Duration = Duration::from_secs(1);

/// One server or several, ended with this.
pub struct Real {
    dir: TempDir,
    pub servers: String,
}

fn script(arguments: &[&str]) -> Output {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../sim/conform/real-zookeeper");
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
        let path = dir.path().to_str().expect("a path in letters");
        let out = script(&["start", path, "--servers", &servers.to_string(), "--tick-ms", "500"]);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let servers = String::from_utf8(out.stdout).expect("an address").trim().to_string();
        Some(Real { dir, servers })
    }

    /// A new session.
    pub async fn session(&self) -> LiveClient {
        LiveClient::connect(&self.servers, TIMEOUT).await.expect("a session")
    }

    /// `kill`, `restart`, `pause` or `resume` server 1.
    pub fn ask(&self, what: &str) {
        let out = script(&[what, self.dir.path().to_str().expect("a path in letters"), "1"]);
        assert!(out.status.success(), "{what}: {}", String::from_utf8_lossy(&out.stderr));
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        script(&["stop", self.dir.path().to_str().expect("a path in letters")]);
    }
}

pub fn path(text: &str) -> ZPath {
    ZPath::parse(text).expect("a valid path")
}

/// Runs a test with one real server, on two threads, with an end.
pub fn with_server<F: Future<Output = ()>>(test: impl FnOnce(Real) -> F) {
    let Some(real) = Real::start(1) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let limit = Duration::from_secs(300);
    let done = runtime.block_on(async { tokio::time::timeout(limit, test(real)).await });
    done.expect("the test comes to an end");
}

/// Waits until a condition holds, by asking again and again.
pub async fn until<F: Future<Output = bool>>(zk: &LiveClient, mut holds: impl FnMut() -> F) {
    while !holds().await {
        zk.sleep(Duration::from_millis(20)).await;
    }
}

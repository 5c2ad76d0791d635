//! A real server, each test its own.

#[path = "../../../../sim/conform/tests/real/mod.rs"]
mod servers;

use servers::Real;
use std::time::Duration;
use zk_api::{ZPath, ZooKeeper};
use zk_live::LiveClient;

/// The session timeout that is asked for: the most that these servers grant, as they may take long to restart.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// The least that they grant.
pub const SHORT_TIMEOUT: Duration = Duration::from_secs(1);

/// A real server.
pub struct Server(Real);

impl Server {
    /// Where it is.
    pub fn address(&self) -> &str {
        &self.0.servers
    }

    /// A new session.
    pub async fn session(&self) -> LiveClient {
        LiveClient::connect(self.address(), TIMEOUT).await.expect("a session")
    }

    /// `kill`, `restart`, `pause` or `resume`.
    pub fn ask(&self, what: &str) {
        self.0.ask(what, &["1"]);
    }
}

pub fn path(text: &str) -> ZPath {
    ZPath::parse(text).expect("a valid path")
}

/// Runs a test with one real server, on two threads, with an end.
pub fn with_server<F: Future<Output = ()>>(test: impl FnOnce(Server) -> F) {
    let Some(server) = Real::start(&["--tick-ms", "500"]) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let limit = Duration::from_secs(300);
    let done = runtime.block_on(async { tokio::time::timeout(limit, test(Server(server))).await });
    done.expect("the test comes to an end");
}

/// Waits until a condition holds, by asking again and again.
pub async fn until<F: Future<Output = bool>>(zk: &LiveClient, mut holds: impl FnMut() -> F) {
    while !holds().await {
        zk.sleep(Duration::from_millis(20)).await;
    }
}

//! Servers to compare.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use tokio::runtime::Runtime;
use zk_conform::driver::Alone;
use zk_conform::side::Side;

/// The ticks of all servers, so that the least timeout is half a second.
pub const TICK_MS: u32 = 250;

/// Our server, until this is dropped.
pub struct Ours {
    pub address: SocketAddr,
    running: zk_serve::Running,
    runtime: Runtime,
}

/// `super:test`
const SUPER: &str = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";

pub fn ours(container_check_ms: u32) -> Ours {
    let runtime = Runtime::new().expect("threads");
    let options = zk_serve::Options {
        tick_ms: TICK_MS,
        container_check_ms,
        super_digest: Some(SUPER.to_owned()),
        ..zk_serve::Options::default()
    };
    let running = runtime.block_on(zk_serve::start(options)).expect("loopback has a free port");
    Ours { address: running.addresses()[0], running, runtime }
}

impl Ours {
    pub fn side(&self, name: &str) -> Side {
        side(name, self.address)
    }

    /// What is always watched has found nothing.
    pub fn assert_sound(&self) {
        let verdict = self.runtime.block_on(self.running.verdict());
        assert!(verdict.broken.is_empty(), "{:?}", verdict.broken);
    }
}

pub fn side(name: &str, address: SocketAddr) -> Side {
    Side::open(name, Box::new(Alone(address))).expect("a server that scripts can be run on")
}

/// A real ZooKeeper, until this is dropped.
pub struct Real {
    pub address: SocketAddr,
    folder: tempfile::TempDir,
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("real-zookeeper")
}

/// Starts a real ZooKeeper. Says why, where there is none.
pub fn real(container_check_ms: u32) -> Option<Real> {
    let check = Command::new(script()).arg("check").output().expect("bash");
    if !check.status.success() {
        let why = String::from_utf8_lossy(&check.stdout);
        assert!(std::env::var_os("ZOOCHECK_NO_SKIP").is_none(), "{why}");
        eprintln!("skipped: {}", why.trim());
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let started = Command::new(script())
        .arg("start")
        .arg(folder.path())
        .args(["--tick-ms", &TICK_MS.to_string(), "--property"])
        .arg(format!("znode.container.checkIntervalMs={container_check_ms}"))
        .output()
        .expect("bash");
    assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
    let address = String::from_utf8(started.stdout).expect("an address");
    Some(Real { address: address.trim().parse().expect("an address"), folder })
}

impl Drop for Real {
    fn drop(&mut self) {
        // Nothing more can be done about one that does not end.
        let _ = Command::new(script()).arg("stop").arg(self.folder.path()).status();
    }
}

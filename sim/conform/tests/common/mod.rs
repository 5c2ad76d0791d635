//! Servers to compare.

pub mod ensemble;
pub mod plant;
#[path = "../real/mod.rs"]
pub mod real;

use real::Real;
use std::net::SocketAddr;
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

    /// No invariant is broken.
    pub fn assert_sound(&self) {
        let verdict = self.runtime.block_on(self.running.verdict());
        assert!(verdict.broken.is_empty(), "{:?}", verdict.broken);
    }
}

pub fn side(name: &str, address: SocketAddr) -> Side {
    Side::open(name, Box::new(Alone(address))).expect("a server that scripts can be run on")
}

/// A real ZooKeeper, until this is dropped. `None`, said on stderr, where there is none.
pub fn real(container_check_ms: u32) -> Option<(Real, SocketAddr)> {
    let (tick, check) =
        (TICK_MS.to_string(), format!("znode.container.checkIntervalMs={container_check_ms}"));
    let real = Real::start(&["--tick-ms", &tick, "--property", &check])?;
    let address = real.servers.parse().expect("an address");
    Some((real, address))
}

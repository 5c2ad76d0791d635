//! Starts a server, and stops it.

use crate::Options;
use crate::core::Core;
use crate::driver::{Command, Driver, QUEUE};
use crate::listener::{Door, Reserved};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Why a server cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address cannot be had.
    #[error("cannot listen on {address}: {error}")]
    Listen { address: SocketAddr, error: io::Error },
    /// Faults may be asked for on the loopback interface alone.
    #[error("the control address {0} is not on the loopback interface")]
    ControlNotLoopback(SocketAddr),
    /// Nobody could connect.
    #[error("no address to listen on")]
    NoAddress,
}

/// A server that serves. It ends with this value.
#[derive(Debug)]
pub struct Running {
    addresses: Vec<SocketAddr>,
    commands: mpsc::Sender<Command>,
    /// Ends them all when it is dropped.
    _tasks: JoinSet<()>,
}

/// Starts a server. It serves when this is done.
pub async fn start(options: Options) -> Result<Running, ServeError> {
    if options.listen.is_empty() {
        return Err(ServeError::NoAddress);
    }
    if !options.control.ip().is_loopback() {
        return Err(ServeError::ControlNotLoopback(options.control));
    }
    let mut listeners = Vec::new();
    for address in &options.listen {
        let failed = |error| ServeError::Listen { address: *address, error };
        let reserved = Reserved::new(*address).map_err(failed)?;
        let listener = reserved.listen().map_err(failed)?;
        listeners.push((reserved, listener));
    }
    let addresses = listeners.iter().map(|(reserved, _)| reserved.address).collect();
    let mut core = Core::new(&options, wall_ms());
    core.start(0);
    let (to_core, messages) = mpsc::channel(QUEUE);
    let (commands, asked) = mpsc::channel(QUEUE);
    let (is_up, up) = watch::channel(true);
    let mut tasks = JoinSet::new();
    tasks.spawn(Driver { core, started: Instant::now(), messages, commands: asked, is_up }.run());
    let places = Arc::new(Semaphore::new(options.limits.connections));
    let door = Door { core: to_core, limits: options.limits, next: Arc::default(), places, is_up: up };
    for (reserved, listener) in listeners {
        tasks.spawn(door.clone().keep(reserved, listener));
    }
    Ok(Running { addresses, commands, _tasks: tasks })
}

impl Running {
    /// Where clients connect.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Ends the server.
    pub async fn stop(self) {
        let (done, stopped) = oneshot::channel();
        if self.commands.send(Command::Stop { done }).await.is_ok() {
            let _ = stopped.await;
        }
    }
}

/// Milliseconds since the Unix epoch.
fn wall_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

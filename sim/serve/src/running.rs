//! Starts a server, and stops it.

use crate::Options;
use crate::control::control;
use crate::core::Core;
use crate::driver::{Driver, QUEUE};
use crate::fault::Fault;
use crate::handle::{FaultError, Handle};
use crate::info::{Leadership, SessionInfo};
use crate::listener::{Door, Entrance, Gate, Reserved};
use crate::observer::Moment;
use crate::record::{Record, RecordFile};
use crate::verdict::Verdict;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Why a server cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address cannot be bound.
    #[error("cannot listen on {address}: {error}")]
    Listen { address: SocketAddr, error: io::Error },
    /// The control address cannot be bound.
    #[error("cannot listen on {address}: {error}")]
    Control { address: SocketAddr, error: io::Error },
    /// The control address is not on the loopback interface.
    #[error("the control address {0} is not on the loopback interface")]
    ControlNotLoopback(SocketAddr),
    /// The file for the record cannot be made.
    #[error("cannot write the record to {path}: {error}")]
    Record { path: PathBuf, error: io::Error },
    /// The number of servers is not 1 to 5.
    #[error("{0} servers; expected 1 to 5")]
    Servers(u8),
    /// There are several servers, and not one address for each.
    #[error("{addresses} for {servers} servers; expected one for each", addresses = count(*.addresses))]
    Addresses { addresses: usize, servers: u8 },
    /// There is no address to listen on.
    #[error("no address to listen on")]
    NoAddress,
}

/// A running server or ensemble. It ends when this value is dropped.
#[derive(Debug)]
pub struct Running {
    servers: u8,
    addresses: Vec<SocketAddr>,
    control: SocketAddr,
    handle: Handle,
    /// Ends them all when it is dropped.
    _tasks: JoinSet<()>,
}

/// Starts a server or an ensemble, and returns when all servers serve.
pub async fn start(options: Options) -> Result<Running, ServeError> {
    if options.listen.is_empty() {
        return Err(ServeError::NoAddress);
    }
    if !(1..=5).contains(&options.servers) {
        return Err(ServeError::Servers(options.servers));
    }
    let (addresses, servers) = (options.listen.len(), options.servers);
    if servers > 1 && addresses != usize::from(servers) {
        return Err(ServeError::Addresses { addresses, servers });
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
    let failed = |error| ServeError::Control { address: options.control, error };
    let controls = TcpListener::bind(options.control).await.map_err(failed)?;
    let control_address = controls.local_addr().map_err(failed)?;
    let addresses: Vec<SocketAddr> = listeners.iter().map(|(reserved, _)| reserved.address).collect();
    let file = options.record.as_deref().map(|path| {
        RecordFile::create(path).map_err(|error| ServeError::Record { path: path.into(), error })
    });
    let record = Record::new(options.recent_events, file.transpose()?);
    let entrances = addresses[..servers.into()].iter().map(|at| (at.port(), Arc::<Gate>::default()));
    let entrances: Vec<Entrance> = entrances.collect();
    let mut core = Core::new(&options, entrances.clone(), record, wall_ms());
    core.start_all(0);
    let (to_core, messages) = mpsc::channel(QUEUE);
    let (to_driver, errands) = mpsc::channel(QUEUE);
    let (told, up): (Vec<_>, Vec<_>) = core.up().map(watch::channel).unzip();
    let (served, mut serves) = watch::channel(core.all_serve());
    let mut tasks = JoinSet::new();
    let started = Instant::now();
    tasks.spawn(Driver { core, started, messages, errands, up: told, served }.run());
    let places = Arc::new(Semaphore::new(options.limits.connections));
    let next = Arc::<AtomicU64>::default();
    // One server may have several addresses.
    let of_servers = (0..servers).zip(entrances).zip(up).cycle();
    for ((reserved, listener), ((server, (_, gate)), up)) in listeners.into_iter().zip(of_servers) {
        let (core, limits, places, next) = (to_core.clone(), options.limits, places.clone(), next.clone());
        tasks.spawn(Door { server, core, limits, next, places, up, gate }.keep(reserved, listener));
    }
    let handle = Handle { errands: to_driver };
    let observer = options.observer.clone();
    tasks.spawn(control(controls, control_address, servers > 1, handle.clone(), observer));
    // The task that tells lives as long as the servers.
    let _ = serves.wait_for(|serves| *serves).await;
    Ok(Running { servers, addresses, control: control_address, handle, _tasks: tasks })
}

impl Running {
    /// How many servers there are.
    pub fn servers(&self) -> u8 {
        self.servers
    }

    /// Where clients connect; of several servers, in order of their numbers.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Where faults can be requested by HTTP.
    pub fn control_address(&self) -> SocketAddr {
        self.control
    }

    /// Injects a fault, or arms it if it waits for a request.
    pub async fn fault(&self, fault: Fault) -> Result<(), FaultError> {
        self.handle.fault(fault).await
    }

    /// Who leads, and what each server does.
    pub async fn leadership(&self) -> Leadership {
        self.handle
            .with(|core, now| core.show(now).leadership())
            .await
            .expect("the servers live as long as this")
    }

    /// The open sessions, in order of their ids.
    pub async fn sessions(&self) -> Vec<SessionInfo> {
        self.handle.with(|core, now| core.show(now).sessions()).await.unwrap_or_default()
    }

    /// What the invariants say so far.
    pub async fn verdict(&self) -> Verdict {
        self.handle.with(|core, now| core.verdict(now)).await.expect("the server lives as long as this")
    }

    /// The servers at this moment, as an observer is shown them.
    pub async fn moment(&self) -> Moment {
        self.handle.with(|core, now| core.show(now).moment()).await.unwrap_or_default()
    }

    /// The last events, oldest first.
    pub async fn record(&self, n: usize) -> Vec<serde_json::Value> {
        self.handle.with(move |core, _| core.record(n)).await.unwrap_or_default()
    }

    /// Ends the server. Returns what the invariants say of it.
    pub async fn stop(self) -> Verdict {
        // The task that answers lives as long as this, and panics only if something of ours is wrong.
        self.handle.send(false, |core, now| core.end(now)).await.expect("the server lives as long as this")
    }
}

/// `1 address`, `2 addresses`.
fn count(addresses: usize) -> String {
    format!("{addresses} address{}", if addresses == 1 { "" } else { "es" })
}

/// Milliseconds since the Unix epoch.
fn wall_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

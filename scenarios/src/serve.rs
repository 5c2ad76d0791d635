//! `zoocheck serve`: a server or an ensemble behind real sockets, until it is told to leave.

#[cfg(feature = "run")]
pub(crate) mod schedule;

use crate::interrupt::Interrupt;
use crate::output::{note, print};
use crate::typed::{address, whole};
use crate::{Answer, BadInput};
use clap::Args;
use serde::Serialize;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::runtime::Runtime;
use zk_serve::{Limits, ListOrder, Options, Running, ServeError};

pub(crate) const ABOUT: &str = "\
Serves ZooKeeper's client protocol from memory, so that any client in any language can be tested
against it.

This is a test server, not a production one: what it holds is gone when it leaves, and it fails on
demand. When it is ready it prints one line of JSON: where clients connect, and where faults are
asked for by HTTP (`curl` that address: it answers with all there are, to be copied). It leaves on
SIGTERM and Ctrl-C, and prints what the invariants say of everything it served: a
line of JSON on stdout, and one for people on stderr.";

pub(crate) const EPILOGUE: &str = "\
Exit status:
  0  nothing was broken
  1  an invariant or a promise was broken
  2  bad command line, file or environment
  3  undecided: a promise was never put to the test, clients were in the midst of it, or nothing
     of a kind's own can be judged

Examples:
  zoocheck serve                                                  on port 2181 of this machine
  zoocheck serve --listen 127.0.0.1:0 --tick-ms 500               on any free port, for a test
  zoocheck serve --servers 3                                      an ensemble, on three free ports
  zoocheck serve --scenario scenarios/suite/drops.toml --seed 7   with that seed's faults
  zoocheck serve --promises fair-lock=/lock   judges what clients say they do, by POST /observe";

const LIMITS: &str = "Limits: what a client may cost";

/// How often it is looked whether to leave.
const LOOK: Duration = Duration::from_millis(20);

/// What can be typed behind `serve`.
#[derive(Args, Debug)]
pub(crate) struct ServeArguments {
    /// How many servers; several make an ensemble [default: 1, or the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1..=5u8))]
    servers: Option<u8>,
    /// Where clients connect; port 0 for any that is free [default: port 2181, of several 0]
    #[arg(long, value_name = "ADDRESS:PORT,…", value_delimiter = ',', value_parser = address)]
    listen: Vec<SocketAddr>,
    /// Where faults are asked for, by HTTP; this machine alone
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0", value_parser = address)]
    control: SocketAddr,
    /// A tick; sessions time out after 2 to 20 of them [default: 2000, or the scenario's]
    #[arg(long, value_name = "MS", allow_negative_numbers = true, value_parser = whole(1..=600_000u32))]
    tick_ms: Option<u32>,
    /// How often empty containers and overdue TTL znodes are looked for
    #[arg(long, value_name = "MS", default_value = "60000", allow_negative_numbers = true, value_parser = whole(1..=86_400_000u32))]
    container_check_ms: u32,
    /// The super user's identity, such as super:D/InIHSb7yEEbrWz8b9l71RjZJU=
    #[arg(long, value_name = "USER:BASE64", value_parser = digest)]
    super_digest: Option<String>,
    /// Order of children: any, or a real server's, by Java's hash of the names
    #[arg(long, value_name = "any|real", default_value = "any", value_parser = list_order)]
    list_order: ListOrder,
    /// What clients owe that say what they do: KIND=PATH, such as fair-lock=/lock
    #[cfg(feature = "live")]
    #[arg(long, value_name = "OWED", value_delimiter = ',')]
    promises: Vec<String>,
    /// Do the faults of a scenario file; of the rest, only its tick-ms counts
    #[cfg(feature = "run")]
    #[arg(long, value_name = "FILE", requires = "seed")]
    scenario: Option<String>,
    /// Which faults, and when: the same seed draws the same
    #[cfg(feature = "run")]
    #[arg(long, value_name = "S", requires = "scenario", allow_negative_numbers = true, value_parser = whole(0..=u64::MAX))]
    seed: Option<u64>,
    /// Write everything that clients do into this file, a line of JSON each
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// How many of the last events GET /record can tell
    #[arg(long, value_name = "N", default_value = "10000", allow_negative_numbers = true, value_parser = whole(0..=1_000_000usize))]
    recent_events: usize,
    /// Leave when stdin ends, as it does when whoever started this is gone
    #[arg(long)]
    until_stdin_closes: bool,
    #[command(flatten)]
    limits: LimitArguments,
}

#[derive(Args, Debug)]
struct LimitArguments {
    /// Connections in all; one more is closed
    #[arg(help_heading = LIMITS, long, value_name = "N", default_value = "10000", allow_negative_numbers = true, value_parser = whole(1..=1_000_000usize))]
    max_connections: usize,
    /// Unanswered requests of a connection; with so many it is not read
    #[arg(help_heading = LIMITS, long, value_name = "N", default_value = "1000", allow_negative_numbers = true, value_parser = whole(1..=1_000_000usize))]
    max_outstanding: usize,
    /// Bytes of these requests, likewise
    #[arg(help_heading = LIMITS, long, value_name = "BYTES", default_value = "4194304", allow_negative_numbers = true, value_parser = whole(1..=1usize << 30))]
    max_outstanding_bytes: usize,
    /// Watches of a connection; with more it is closed
    #[arg(help_heading = LIMITS, long, value_name = "N", default_value = "100000", allow_negative_numbers = true, value_parser = whole(0..=100_000_000usize))]
    max_watches: usize,
    /// Bytes that a client does not read; with more its connection is closed
    #[arg(help_heading = LIMITS, long, value_name = "BYTES", default_value = "16777216", allow_negative_numbers = true, value_parser = whole(1..=1usize << 30))]
    max_unsent_bytes: usize,
    /// How long a connection may take for its first message
    #[arg(help_heading = LIMITS, long, value_name = "MS", default_value = "10000", allow_negative_numbers = true, value_parser = whole(1..=86_400_000u64))]
    first_message_ms: u64,
}

impl LimitArguments {
    fn limits(&self) -> Limits {
        Limits {
            connections: self.max_connections,
            outstanding_requests: self.max_outstanding,
            outstanding_bytes: self.max_outstanding_bytes,
            watches: self.max_watches,
            unsent_bytes: self.max_unsent_bytes,
            first_message: Duration::from_millis(self.first_message_ms),
        }
    }
}

/// `user:base64`, the form of an identity.
fn digest(text: &str) -> Result<String, String> {
    match text.split_once(':') {
        Some((user, hash)) if !user.is_empty() && hash.len() == 28 && hash.ends_with('=') => Ok(text.into()),
        _ => Err("expected USER:BASE64, the hash of user:password in 28 characters".into()),
    }
}

fn list_order(text: &str) -> Result<ListOrder, String> {
    match text {
        "any" => Ok(ListOrder::Any),
        "real" => Ok(ListOrder::Real),
        _ => Err("expected any or real".into()),
    }
}

/// Serves until it is told to leave.
pub(crate) fn serve(arguments: &ServeArguments) -> Result<Answer, BadInput> {
    let runtime = Runtime::new().map_err(|error| bad!("cannot start threads: {error}"))?;
    runtime.block_on(until_told(arguments))
}

/// Where the clients of so many servers connect. One address of any free port does for all of them.
fn listen(typed: &[SocketAddr], servers: u8) -> Vec<SocketAddr> {
    match (typed, servers) {
        ([], 1) => vec![SocketAddr::from(([127, 0, 0, 1], 2181))],
        ([], several) => vec![SocketAddr::from(([127, 0, 0, 1], 0)); several.into()],
        ([any], 2..) if any.port() == 0 => vec![*any; servers.into()],
        (typed, _) => typed.to_vec(),
    }
}

async fn until_told(arguments: &ServeArguments) -> Result<Answer, BadInput> {
    #[cfg(feature = "run")]
    let plan = schedule::Plan::read(arguments.scenario.as_deref(), arguments.seed, arguments.servers)?;
    #[cfg(feature = "run")]
    let (tick_ms, servers) = plan.as_ref().map_or((2000, 1), |plan| (plan.tick_ms, plan.servers));
    #[cfg(not(feature = "run"))]
    let (tick_ms, servers) = (2000, 1);
    let servers = arguments.servers.unwrap_or(servers);
    // Who judges what clients say they do.
    #[cfg(feature = "live")]
    let observer = crate::observe::owes(&arguments.promises)?
        .map(|owes| Arc::new(crate::observe::Judge::new(owes, None)) as Arc<dyn zk_serve::Observer>);
    #[cfg(not(feature = "live"))]
    let observer = None;
    let options = Options {
        servers,
        listen: listen(&arguments.listen, servers),
        control: arguments.control,
        tick_ms: arguments.tick_ms.unwrap_or(tick_ms),
        container_check_ms: arguments.container_check_ms,
        super_digest: arguments.super_digest.clone(),
        order: arguments.list_order,
        recent_events: arguments.recent_events,
        record: arguments.record.clone(),
        limits: arguments.limits.limits(),
        observer,
    };
    let running = Arc::new(zk_serve::start(options).await.map_err(bad_input)?);
    #[cfg(feature = "live")]
    crate::observe::prepare(&arguments.promises, running.addresses()).await?;
    // Before anybody is told that the server is there, as whoever is may end it at once; and after every file is
    // opened, as one that is a pipe may keep us waiting, and a signal shall end that too.
    let leaves = told_to_leave(arguments.until_stdin_closes)?;
    print(&ready(&running))?;
    let faults = async {
        #[cfg(feature = "run")]
        if let Some(plan) = plan {
            plan.carry_out(&running).await;
        }
        std::future::pending::<()>().await
    };
    tokio::select! {
        () = leaves => {}
        () = faults => {}
    }
    let running = Arc::into_inner(running).expect("nobody else has it by now");
    judged(&running.stop().await, arguments.record.as_deref())
}

/// What the verdict says, for machines and for people.
fn judged(verdict: &zk_serve::Verdict, record: Option<&Path>) -> Result<Answer, BadInput> {
    let json = serde_json::to_string(verdict).expect("a verdict has a form in JSON");
    print(&format!("{json}\n"))?;
    note(verdict);
    if let (Some(path), Some(lacks), true) = (record, &verdict.record_lacks, verdict.held) {
        return Err(bad!("--record: {}: {lacks}", path.display()));
    }
    let is_decided = verdict.promises.as_ref().is_none_or(|judgement| judgement.is_decided);
    Ok(Answer::found(!verdict.held, !is_decided))
}

/// The line that says that clients may come.
fn ready(running: &Running) -> String {
    #[derive(Serialize)]
    struct Server {
        id: u8,
        client: String,
    }
    #[derive(Serialize)]
    struct Ready {
        servers: Vec<Server>,
        control: String,
        pid: u32,
    }
    // One server may have several addresses.
    let id = |at: usize| if running.servers() == 1 { 0 } else { at as u8 };
    let servers = running.addresses().iter().enumerate();
    let servers = servers.map(|(at, address)| Server { id: id(at), client: address.to_string() });
    let control = format!("http://{}", running.control_address());
    let ready = Ready { servers: servers.collect(), control, pid: std::process::id() };
    serde_json::to_string(&ready).expect("it has a form in JSON") + "\n"
}

/// From now on it is looked out for what tells the server to leave: a signal, or the end of stdin.
fn told_to_leave(until_stdin_closes: bool) -> Result<impl Future<Output = ()>, BadInput> {
    // It leaves even if a step of the servers does not end.
    let told = Interrupt::watch()?.flag();
    if until_stdin_closes {
        let told = told.clone();
        // A thread that nobody waits for: a read of stdin cannot be called off.
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
            told.store(true, Ordering::Relaxed);
        });
    }
    Ok(async move {
        while !told.load(Ordering::Relaxed) {
            tokio::time::sleep(LOOK).await;
        }
    })
}

fn bad_input(error: ServeError) -> BadInput {
    match &error {
        ServeError::Servers(_) => bad!("--servers: {error}"),
        ServeError::Listen { .. } | ServeError::NoAddress | ServeError::Addresses { .. } => {
            bad!("--listen: {error}")
        }
        ServeError::Control { .. } | ServeError::ControlNotLoopback(_) => {
            bad!("--control: {error}")
        }
        ServeError::Record { .. } => bad!("--record: {error}"),
    }
}

//! `zoocheck serve`: the server behind real sockets, until it is told to leave.

use crate::output::print;
use crate::{Answer, BadInput};
use clap::Args;
use std::net::SocketAddr;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use zk_serve::{Options, ServeError};

const ABOUT: &str = "\
Serves ZooKeeper's client protocol from memory, so that any client in any language can be tested against it.

This is a test server, not a production one: what it holds is gone when it leaves, and it fails on demand.
When it is ready it prints one line of JSON with its addresses. It leaves on SIGTERM and Ctrl-C.";

/// What can be typed behind `serve`.
#[derive(Args, Debug)]
#[command(long_about = ABOUT)]
pub(crate) struct ServeArguments {
    /// How many servers; one, until there are ensembles
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    servers: u8,
    /// Where clients connect, port 0 for any that is free; others than the loopback interface only if named here
    #[arg(long, value_name = "ADDRESS:PORT,…", value_delimiter = ',', default_value = "127.0.0.1:2181")]
    listen: Vec<SocketAddr>,
    /// Where faults are asked for, by HTTP; on the loopback interface alone
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    control: SocketAddr,
    /// The length of a tick in milliseconds; sessions time out after 2 to 20 of them
    #[arg(long, value_name = "MS", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=600_000))]
    tick_ms: u32,
    /// How often empty containers and overdue TTL znodes are looked for
    #[arg(long, value_name = "MS", default_value_t = 60_000, value_parser = clap::value_parser!(u32).range(1..))]
    container_check_ms: u32,
    /// Leave when stdin ends, as it does when whoever started this is gone
    #[arg(long)]
    until_stdin_closes: bool,
}

/// Serves until it is told to leave.
pub(crate) fn serve(arguments: &ServeArguments) -> Result<Answer, BadInput> {
    if arguments.servers != 1 {
        let problem = format!("--servers: {}; only one server can be served yet", arguments.servers);
        return Err(BadInput::new(problem));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| BadInput::new(format!("cannot start threads: {error}")))?;
    runtime.block_on(until_told(arguments))
}

async fn until_told(arguments: &ServeArguments) -> Result<Answer, BadInput> {
    let options = Options {
        listen: arguments.listen.clone(),
        control: arguments.control,
        tick_ms: arguments.tick_ms,
        container_check_ms: arguments.container_check_ms,
        ..Options::default()
    };
    let running = zk_serve::start(options).await.map_err(bad_input)?;
    print(&ready(running.addresses()))?;
    told_to_leave(arguments.until_stdin_closes).await?;
    running.stop().await;
    Ok(Answer::Held)
}

/// The line that says that clients may come.
fn ready(addresses: &[SocketAddr]) -> String {
    let servers: Vec<_> =
        addresses.iter().map(|at| serde_json::json!({ "id": 0, "client": at.to_string() })).collect();
    format!("{}\n", serde_json::json!({ "servers": servers, "pid": std::process::id() }))
}

async fn told_to_leave(until_stdin_closes: bool) -> Result<(), BadInput> {
    let failed = |error| BadInput::new(format!("cannot wait for signals: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        () = stdin_closes(until_stdin_closes) => {}
    }
    Ok(())
}

async fn stdin_closes(is_awaited: bool) {
    if !is_awaited {
        return std::future::pending().await;
    }
    let (closed, closes) = oneshot::channel();
    // A thread that nobody waits for: a read of stdin cannot be called off.
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        let _ = closed.send(());
    });
    let _ = closes.await;
}

fn bad_input(error: ServeError) -> BadInput {
    match &error {
        ServeError::Listen { .. } | ServeError::NoAddress => BadInput::new(format!("--listen: {error}")),
        ServeError::ControlNotLoopback(_) => BadInput::new(format!("--control: {error}")),
    }
}

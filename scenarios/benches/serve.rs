//! `zoocheck serve` beside a real ZooKeeper, in turns in one run: how soon it is ready, creates and reads per second,
//! memory.
//!
//! `cargo bench -p zoocheck --bench serve`. The real one is started by `sim/conform/real-zookeeper`; without it, ours
//! is measured alone. Neither forces its writes to a disk: ours has none, the real one runs with `forceSync=no`.

mod common;

use common::{Client, DATA, Outcome, create, memory};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Barrier;
use std::time::{Duration, Instant};
use zk_api::{CreateMode, Request};

/// How long each load is kept up.
const SPAN: Duration = Duration::from_secs(3);
/// How often each server is started and measured.
const TURNS: usize = 3;

/// A server to be measured.
enum Kind {
    Ours,
    Real,
}

/// A server that runs, and ends when it is dropped.
struct Running {
    address: String,
    pid: u32,
    ready: Duration,
    process: Option<Child>,
    folder: Option<tempfile::TempDir>,
}

fn script() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sim/conform/real-zookeeper")
}

impl Running {
    /// Starts one; it is ready when it answers a client's first message.
    fn start(kind: &Kind) -> Outcome<Running> {
        let begin = Instant::now();
        let mut running = match kind {
            Kind::Ours => {
                let (process, address) = common::serve(&[])?;
                let (pid, process) = (process.id(), Some(process));
                Running { address, pid, ready: Duration::ZERO, process, folder: None }
            }
            Kind::Real => {
                let folder = tempfile::tempdir()?;
                let output = Command::new(script())
                    .env("JVM_FLAGS", "-Xmx1000m") // as its own start script has it
                    .arg("start")
                    .arg(folder.path())
                    .args(["--tick-ms", "2000"])
                    .output()?;
                let address = String::from_utf8(output.stdout)?.trim().to_owned();
                let pid = std::fs::read_to_string(folder.path().join("1/pid"))?.trim().parse()?;
                Running { address, pid, ready: Duration::ZERO, process: None, folder: Some(folder) }
            }
        };
        Client::connect(&running.address)?;
        running.ready = begin.elapsed();
        Ok(running)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
        if let Some(folder) = &self.folder {
            let _ = Command::new(script()).arg("stop").arg(folder.path()).status();
        }
    }
}

#[derive(Clone, Copy)]
enum Load {
    Create,
    Read,
}

/// Requests per second of so many clients, each with one request outstanding.
fn rate(address: &str, load: Load, clients: usize) -> Outcome<f64> {
    let ready = Barrier::new(clients);
    let one = |number: usize| -> Outcome<u64> {
        let mut client = Client::connect(address)?;
        let request = match load {
            Load::Create => {
                // A parent of its own for each, which may be there from the load before.
                let parent = format!("/c{number}");
                let _ = client.request(create(&parent, CreateMode::Persistent));
                create(&format!("{parent}/n-"), CreateMode::PersistentSequential)
            }
            Load::Read => Request::GetData { path: "/read".into(), watch: false },
        };
        ready.wait();
        let (begin, mut done) = (Instant::now(), 0);
        while begin.elapsed() < SPAN {
            client.request(request.clone())?;
            done += 1;
        }
        Ok(done)
    };
    let done: Outcome<Vec<u64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients).map(|number| scope.spawn(move || one(number))).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a client panicked")?).collect()
    });
    Ok(done?.iter().sum::<u64>() as f64 / SPAN.as_secs_f64())
}

/// Everything that is measured of one server, by name.
fn measure(kind: &Kind) -> Outcome<Vec<(&'static str, f64)>> {
    let server = Running::start(kind)?;
    let idle = memory(server.pid)?;
    let mut client = Client::connect(&server.address)?;
    client.request(create("/read", CreateMode::Persistent))?;
    let mut figures = vec![("ready, ms", server.ready.as_secs_f64() * 1e3), ("idle, MiB", idle)];
    for (name, load, clients) in [
        ("creates/s, 1 client", Load::Create, 1),
        ("creates/s, 16 clients", Load::Create, 16),
        ("reads/s, 1 client", Load::Read, 1),
        ("reads/s, 16 clients", Load::Read, 16),
    ] {
        figures.push((name, rate(&server.address, load, clients)?));
    }
    figures.push(("after all that, MiB", memory(server.pid)?));
    Ok(figures)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Outcome<()> {
    let has_real = Command::new(script()).arg("check").output()?.status.success();
    if !has_real {
        eprintln!("no real ZooKeeper here; `sim/conform/real-zookeeper install` brings it");
    }
    let (mut ours, mut real) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        ours.push(measure(&Kind::Ours)?);
        if has_real {
            real.push(measure(&Kind::Real)?);
        }
    }
    println!("medians of {TURNS} turns; {DATA} bytes a znode; each client has one request outstanding");
    println!("{:<24} {:>10} {:>10} {:>8}", "", "zoocheck", "ZooKeeper", "ratio");
    for (index, (name, _)) in ours[0].iter().enumerate() {
        let of = |turns: &[Vec<(&str, f64)>]| median(turns.iter().map(|turn| turn[index].1).collect());
        if has_real {
            println!("{name:<24} {:>10.1} {:>10.1} {:>8.2}", of(&ours), of(&real), of(&ours) / of(&real));
        } else {
            println!("{name:<24} {:>10.1}", of(&ours));
        }
    }
    Ok(())
}

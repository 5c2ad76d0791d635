//! Three servers beside a real ensemble of three, in turns in one run: creates a second while there are so many znodes,
//! what each takes of the processor, whatever else runs, and memory behind so many short-lived ones.
//!
//! `cargo bench -p zk-serve --bench ensemble`. The real one is started by `sim/conform/real-zookeeper`; without it,
//! ours is measured alone. Neither forces its writes to a disk: ours has none, the real one runs with `forceSync=no`.

mod client;

use client::{Client, DATA, Outcome, create, memory};
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::time::Instant;
use zk_api::{CreateMode, Request};
use zk_serve::Options;

/// How often each ensemble is started and measured.
const TURNS: usize = 3;
/// How many znodes there are when creates are measured.
const ZNODES: [usize; 3] = [0, 10_000, 50_000];
/// Clients, as many on each server, each with one request outstanding; and what each of them creates. So many that each
/// of our servers begins a snapshot meanwhile, as it does for each 20,000 transactions: what is measured is a whole
/// round.
const CLIENTS: usize = 15;
const CREATES: usize = 1400;
/// So many requests are outstanding where nothing is measured.
const AT_ONCE: usize = 200;
/// How many znodes come and go before the memory is measured.
const SHORT_LIVED: [usize; 2] = [100_000, 1_000_000];

/// An ensemble that runs, and ends when it is dropped.
enum Running {
    Ours { addresses: Vec<String>, process: Child },
    Real { addresses: Vec<String>, folder: tempfile::TempDir },
}

fn script() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../conform/real-zookeeper")
}

fn split(line: &str) -> Vec<String> {
    line.trim().split(',').map(str::to_owned).collect()
}

impl Running {
    /// In a process of its own, whose memory is measured.
    fn ours() -> Outcome<Running> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut process = command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().ok_or("a pipe")?).read_line(&mut line)?;
        Ok(Running::Ours { addresses: split(&line), process })
    }

    fn real() -> Outcome<Running> {
        let folder = tempfile::tempdir()?;
        let output = Command::new(script())
            .env("JVM_FLAGS", "-Xmx1000m") // as its own start script has it
            .arg("start")
            .arg(folder.path())
            .args(["--servers", "3", "--tick-ms", "2000"])
            .output()?;
        Ok(Running::Real { addresses: split(&String::from_utf8(output.stdout)?), folder })
    }

    fn addresses(&self) -> &[String] {
        let (Running::Ours { addresses, .. } | Running::Real { addresses, .. }) = self;
        addresses
    }

    /// Of all servers together.
    fn sum(&self, of: fn(u32) -> Outcome<f64>) -> Outcome<f64> {
        match self {
            Running::Ours { process, .. } => of(process.id()),
            Running::Real { folder, .. } => (1..=3).try_fold(0.0, |sum, server| {
                let pid = std::fs::read_to_string(folder.path().join(format!("{server}/pid")))?;
                Ok(sum + of(pid.trim().parse()?)?)
            }),
        }
    }

    /// Resident memory in MiB.
    fn memory(&self) -> Outcome<f64> {
        self.sum(memory)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        match self {
            Running::Ours { process, .. } => {
                drop(process.stdin.take());
                let held = process.wait().is_ok_and(|status| status.success());
                assert!(held, "an invariant was broken");
            }
            Running::Real { folder, .. } => {
                let _ = Command::new(script()).arg("stop").arg(folder.path()).status();
            }
        }
    }
}

/// Creates a second of all clients together.
fn creates(running: &Running, folder: &str) -> Outcome<f64> {
    let ready = Barrier::new(CLIENTS + 1);
    let one = |number: usize| -> Outcome<()> {
        let addresses = running.addresses();
        let mut client = Client::connect(&addresses[number % addresses.len()])?;
        ready.wait();
        for n in 0..CREATES {
            client.request(create(&format!("{folder}/{number}-{n}"), CreateMode::Persistent))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let one = &one;
        let threads: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(move || one(number))).collect();
        ready.wait();
        let begin = Instant::now();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a client panicked")?)?;
        Ok((CLIENTS * CREATES) as f64 / begin.elapsed().as_secs_f64())
    })
}

/// What is measured of ensembles with so many znodes, each of its own, by name.
fn measure(start: fn() -> Outcome<Running>) -> Outcome<Vec<(String, f64)>> {
    let mut figures = Vec::new();
    for znodes in ZNODES {
        let (running, folder) = (start()?, "/folder");
        let mut client = Client::connect(&running.addresses()[0])?;
        client.request(create(folder, CreateMode::Persistent))?;
        for begin in (0..znodes).step_by(AT_ONCE) {
            let names = (begin..begin + AT_ONCE).map(|n| format!("{folder}/n-{n}"));
            client.all(names.map(|path| create(&path, CreateMode::Persistent)))?;
        }
        let before = running.sum(processor)?;
        figures.push((format!("creates/s at {znodes} znodes"), creates(&running, folder)?));
        let each = (running.sum(processor)? - before) / (CLIENTS * CREATES) as f64;
        figures.push(("  µs of the processor for each".to_owned(), each));
    }
    Ok(figures)
}

/// The memory behind so many znodes that came and went.
fn short_lived(running: &Running) -> Outcome<Vec<(String, f64)>> {
    let mut client = Client::connect(&running.addresses()[0])?;
    let mut figures = vec![("MiB at the start".to_owned(), running.memory()?)];
    let mut done = 0;
    for znodes in SHORT_LIVED {
        while done < znodes {
            let paths = (done..done + AT_ONCE / 2).map(|n| format!("/n-{n}"));
            client.all(paths.flat_map(|path| {
                let delete = Request::Delete { path: path.as_str().into(), version: -1 };
                [create(&path, CreateMode::Persistent), delete]
            }))?;
            done += AT_ONCE / 2;
        }
        figures.push((format!("MiB behind {znodes} short-lived"), running.memory()?));
    }
    Ok(figures)
}

/// Serves until stdin ends. Fails if an invariant was broken.
fn serve() -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let running = zk_serve::start(Options::ensemble(3)).await?;
        let addresses: Vec<String> = running.addresses().iter().map(ToString::to_string).collect();
        println!("{}", addresses.join(","));
        tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
        let verdict = running.stop().await;
        if verdict.held { Ok(()) } else { Err(verdict.to_string().into()) }
    })
}

/// Processor time of a process in µs. Source: `proc_pid_stat(5)`; a tick of these is a hundredth of a second.
fn processor(pid: u32) -> Outcome<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields: Vec<&str> = stat.rsplit(')').next().ok_or("a name")?.split_whitespace().collect();
    Ok((fields[11].parse::<f64>()? + fields[12].parse::<f64>()?) * 10_000.0)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn table(ours: &[Vec<(String, f64)>], real: &[Vec<(String, f64)>]) {
    println!("{:<32} {:>10} {:>10} {:>8}", "", "zoocheck", "ZooKeeper", "ratio");
    for (index, (name, _)) in ours[0].iter().enumerate() {
        let of = |turns: &[Vec<(String, f64)>]| median(turns.iter().map(|turn| turn[index].1).collect());
        match real {
            [] => println!("{name:<32} {:>10.1}", of(ours)),
            real => println!("{name:<32} {:>10.1} {:>10.1} {:>8.2}", of(ours), of(real), of(ours) / of(real)),
        }
    }
}

fn main() -> Outcome<()> {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return serve();
    }
    let has_real = Command::new(script()).arg("check").output()?.status.success();
    if !has_real {
        eprintln!("no real ZooKeeper here; `sim/conform/real-zookeeper install` brings it");
    }
    let load = std::fs::read_to_string("/proc/loadavg")?;
    println!("{DATA} bytes a znode, {CLIENTS} clients; medians of {TURNS} turns; load {}", load.trim());
    let (mut ours, mut real) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        ours.push(measure(Running::ours)?);
        if has_real {
            real.push(measure(Running::real)?);
        }
    }
    table(&ours, &real);
    let ours = [short_lived(&Running::ours()?)?];
    let real = if has_real { vec![short_lived(&Running::real()?)?] } else { Vec::new() };
    table(&ours, &real);
    Ok(())
}

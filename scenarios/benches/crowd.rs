//! `zoocheck serve` with thousands of clients: whether it holds them, and what one more client feels of it.
//!
//! `cargo bench -p zoocheck --bench crowd`. Needs 12,000 open files (`ulimit -n`).

mod common;

use common::{Client, Outcome, create, memory};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zk_api::{CreateMode, Request};
use zk_proto::message::ToServer;

const IDLE: usize = 5000;
const BUSY: usize = 500;
const SPAN: Duration = Duration::from_secs(15);

/// How long one client waits for each of its reads: the median and the 99th of a hundred, in milliseconds.
fn feel(address: &str, span: Duration) -> Outcome<(usize, f64, f64)> {
    let mut client = Client::connect(address)?;
    let (begin, mut waits) = (Instant::now(), Vec::new());
    while begin.elapsed() < span {
        let asked = Instant::now();
        client.request(Request::GetData { path: "/read".into(), watch: false })?;
        waits.push(asked.elapsed().as_secs_f64() * 1e3);
    }
    waits.sort_by(f64::total_cmp);
    Ok((waits.len(), waits[waits.len() / 2], waits[waits.len() * 99 / 100]))
}

fn main() -> Outcome<()> {
    let (mut process, address) = common::serve(&[])?;
    let mut first = Client::connect(&address)?;
    first.request(create("/read", CreateMode::Persistent))?;
    let say = |what: &str, (reads, median, late): (usize, f64, f64)| -> Outcome<()> {
        let mib = memory(process.id())?;
        println!(
            "{what:<40} {reads:>7} reads, median {median:.3} ms, 99 % within {late:.3} ms; {mib:.0} MiB"
        );
        Ok(())
    };
    say("one client alone", feel(&address, Duration::from_secs(3))?)?;
    let begin = Instant::now();
    let idle: Outcome<Vec<Client>> = (0..IDLE).map(|_| Client::connect(&address)).collect();
    let mut idle = idle?;
    println!("{IDLE} sessions opened one after the other in {:.1} s", begin.elapsed().as_secs_f64());
    say("beside 5,000 idle sessions", feel(&address, Duration::from_secs(3))?)?;
    let (over, served) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| -> Outcome<()> {
        for number in 0..BUSY {
            let (address, over, served) = (&address, &over, &served);
            scope.spawn(move || {
                let mut client = Client::connect(address).expect("a session");
                while !over.load(Ordering::Relaxed) {
                    let request = match number % 10 {
                        0 => create("/busy-", CreateMode::EphemeralSequential),
                        _ => Request::GetData { path: "/read".into(), watch: false },
                    };
                    client.request(request).expect("an answer");
                    served.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let felt = feel(&address, SPAN)?;
        let rate = served.load(Ordering::Relaxed) as f64 / SPAN.as_secs_f64();
        over.store(true, Ordering::Relaxed);
        say("beside 5,000 idle and 500 busy sessions", felt)?;
        println!("the busy ones were served {rate:.0} requests a second");
        Ok(())
    })?;
    for client in &mut idle {
        client.ask(&ToServer::Ping)?;
    }
    println!("all {IDLE} idle sessions live");
    drop(process.stdin.take());
    let status = process.wait()?;
    println!("served: {status}");
    Ok(())
}

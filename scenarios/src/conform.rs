//! `zoocheck conform`: a real server beside ours, answer by answer.

use crate::output::{Format, print};
use crate::progress::Progress;
use crate::typed::{server, whole};
use crate::{Answer, BadInput};
use clap::Args;
use std::fs;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;
use tokio::runtime::Runtime;
use zk_conform::compare::{compare, operations};
use zk_conform::driver::Alone;
use zk_conform::hunt::{Found, Hunt, Tally, hunt};
use zk_conform::normal::Era;
use zk_conform::script::parse;
use zk_conform::side::Side;
use zk_reports::{count, of, prepare_dir, write_whole};

pub(crate) const ABOUT: &str = "\
Runs the same operations on a real ZooKeeper and on ours, and compares every answer, Stat, error
and event.

The operations are random, over several sessions: watches of every kind, multis, sequences,
ephemerals, expiries, takeovers, ACLs, containers, malformed requests. A difference is made small
and printed as a script.

The real server must be a standalone one without data, for EVERYTHING ON IT IS DELETED, and its
super user must be super:test. sim/conform/real-zookeeper starts one.";

pub(crate) const EPILOGUE: &str = "\
Exit status:
  0  no difference
  1  a difference
  2  bad command line, file or environment
  3  cut short: a server could not be talked to any more

Examples:
  zoocheck conform --connect 127.0.0.1:2181 --operations 100000
  zoocheck conform --connect 127.0.0.1:2181 --script difference-7.txt     a script again
  zoocheck conform --connect 127.0.0.1:2181 --against 127.0.0.1:2182      any two servers";

/// What can be typed behind `conform`.
#[derive(Args, Debug)]
pub(crate) struct ConformArguments {
    /// The real server: a standalone one without data, all of which is deleted
    #[arg(long, value_name = "HOST:PORT", value_parser = server)]
    connect: String,
    /// Another server in place of ours, likewise without data
    #[arg(long, value_name = "HOST:PORT", value_parser = server)]
    against: Option<String>,
    /// How many operations at least
    #[arg(long, value_name = "N", default_value = "10000", allow_negative_numbers = true, value_parser = whole(1..=1_000_000_000_000u64))]
    operations: u64,
    /// The first script's seed; the others follow
    #[arg(long, value_name = "S", default_value = "0", allow_negative_numbers = true, value_parser = whole(0..=u64::MAX))]
    seed: u64,
    /// Of how many scripts one has sessions that expire, which takes its time; 0 for none
    #[arg(long, value_name = "N", default_value = "12", allow_negative_numbers = true, value_parser = whole(0..=u32::MAX))]
    expiries: u32,
    /// So many differences are enough
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = whole(1..=1000u16))]
    differences: u16,
    /// Run these scripts, not random ones; repeatable
    #[arg(long, value_name = "FILE", conflicts_with_all = ["operations", "seed", "expiries", "differences"])]
    script: Vec<PathBuf>,
    /// Write each difference into this directory, as a script
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// `super:test`, as the real server must have it as well.
const SUPER: &str = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";

/// Nothing is removed by itself meanwhile.
const NEVER_MS: u32 = u32::MAX;

/// Compares, and tells what was found.
pub(crate) fn conform(arguments: &ConformArguments) -> Result<Answer, BadInput> {
    let scripts = arguments.script.iter().map(read_script).collect::<Result<Vec<_>, _>>()?;
    if let Some(dir) = &arguments.out {
        prepare_dir(dir)?;
    }
    let connect = resolve("--connect", &arguments.connect)?;
    let against = arguments.against.as_deref().map(|typed| resolve("--against", typed)).transpose()?;
    if against == Some(connect) {
        return Err(bad!("--against: {connect} is --connect's; expected two servers"));
    }
    let mut left = open("real", connect)?;
    let runtime = Runtime::new().map_err(|error| bad!("cannot start threads: {error}"))?;
    let ours = match against {
        Some(_) => None,
        None => Some(runtime.block_on(zk_serve::start(options(&left))).map_err(BadInput::new)?),
    };
    let address = against.or(ours.as_ref().map(|running| running.addresses()[0]));
    let mut right = open(if ours.is_some() { "ours" } else { "other" }, address.expect("one of the two"))?;
    let mut progress = Progress::new(arguments.format, scripts.is_empty().then_some(arguments.operations));
    let mut told = |tally: &Tally| {
        let note = || format!("{} differences", tally.found.len());
        let line = || format!("{} of {} operations", count(tally.operations), count(arguments.operations));
        progress.at(tally.operations, note, line);
    };
    let tally = if scripts.is_empty() {
        hunt(&mut left, &mut right, &what(arguments), &mut told)
    } else {
        run_scripts(&mut left, &mut right, &scripts)?
    };
    drop(progress);
    let broken = ours.as_ref().and_then(|running| {
        let verdict = runtime.block_on(running.verdict());
        verdict.broken.first().map(|broken| format!("{}: {}", broken.invariant, broken.what))
    });
    if let Some(dir) = &arguments.out {
        for found in &tally.found {
            let path = dir.join(format!("difference-{}.txt", found.seed));
            write_whole(&path, found.difference.script.to_string().as_bytes())?;
        }
    }
    print(&match arguments.format {
        Format::Human => human(&left, &right, &tally, broken.as_deref()),
        Format::Json => json(&left, &right, &tally, broken.as_deref()),
    })?;
    Ok(Answer::found(!tally.found.is_empty() || broken.is_some(), tally.cut_short.is_some()))
}

fn what(arguments: &ConformArguments) -> Hunt {
    Hunt {
        first_seed: arguments.seed,
        operations: arguments.operations,
        differences: arguments.differences.into(),
        one_in_expires: arguments.expiries,
    }
}

/// Ours, with the other's ticks, as timeouts are compared.
fn options(other: &Side) -> zk_serve::Options {
    zk_serve::Options {
        tick_ms: u32::try_from(other.tick_ms).unwrap_or(0).max(1),
        container_check_ms: NEVER_MS,
        super_digest: Some(SUPER.to_owned()),
        ..zk_serve::Options::default()
    }
}

/// Where a server is: of a host's addresses, the first that can be connected to, or else the first.
fn resolve(option: &str, typed: &str) -> Result<SocketAddr, BadInput> {
    let none = |why: String| bad!("{option}: {typed}: {why}");
    let found: Vec<SocketAddr> = typed.to_socket_addrs().map_err(|error| none(error.to_string()))?.collect();
    let answers = |address: &&SocketAddr| TcpStream::connect_timeout(address, PATIENCE).is_ok();
    let first = match &found[..] {
        [only] => Some(only),
        several => several.iter().find(answers).or(several.first()),
    };
    first.copied().ok_or_else(|| none("the host has no address".into()))
}

/// How long one of several addresses of a host may take to be connected to.
const PATIENCE: Duration = Duration::from_secs(2);

fn open(name: &str, address: SocketAddr) -> Result<Side, BadInput> {
    Side::open(name, Box::new(Alone(address))).map_err(|why| bad!("conform: {why}"))
}

fn read_script(path: &PathBuf) -> Result<zk_conform::script::Script, BadInput> {
    let text = fs::read_to_string(path).map_err(|error| bad!("{}: cannot read: {error}", path.display()))?;
    let script = parse(&text).map_err(|bad| bad!("{}: {bad}", path.display()))?;
    if operations(&script) == 0 {
        let path = path.display();
        return Err(bad!("{path}: nothing is done in it; expected steps, such as 'a connect'"));
    }
    Ok(script)
}

/// Scripts are counted as seeds are, from zero.
fn run_scripts(
    left: &mut Side,
    right: &mut Side,
    scripts: &[zk_conform::script::Script],
) -> Result<Tally, BadInput> {
    let mut tally = Tally::default();
    for (seed, script) in (0..).zip(scripts) {
        let found = compare(left, right, script).map_err(|why| bad!("conform: {why}"))?;
        tally.scripts += 1;
        tally.operations += operations(script) as u64;
        tally.found.extend(found.map(|difference| Found { seed, difference }));
    }
    Ok(tally)
}

fn version(side: &Side) -> String {
    let version = if side.version.is_empty() { "of unknown version" } else { &side.version };
    format!("{} ({version})", side.name)
}

/// `broken` is what the invariants say of ours.
fn human(left: &Side, right: &Side, tally: &Tally, broken: Option<&str>) -> String {
    let mut text = String::new();
    if [left.era(), right.era()].contains(&Era::Before39) {
        text.push_str(
            "Before 3.9, events have no zxid and create2 in a multi no Stat: neither is compared.\n\n",
        );
    }
    for Found { seed, difference } in &tally.found {
        text.push_str(&format!("Seed {seed}, made small:\n\n{difference}\n"));
    }
    for Found { seed, difference } in &tally.unsteady {
        let last = difference.script.steps.last().map(|step| step.action.to_string()).unwrap_or_default();
        let [a, b] = difference.first();
        text.push_str(&format!("Seed {seed} differed once and not again, at '{last}': {a} | {b}\n"));
    }
    if let Some(why) = &tally.cut_short {
        text.push_str(&format!("Cut short: {why}\n"));
    }
    if let Some(broken) = broken {
        text.push_str(&format!("Ours broke an invariant, {broken}\n"));
    }
    let (a, b) = (version(left), version(right));
    let (ops, scripts) = (of(tally.operations, "operation"), of(tally.scripts, "script"));
    let found = of(tally.found.len() as u64, "difference");
    text.push_str(&format!("{a} and {b}: {ops} in {scripts}, {found}\n"));
    text
}

fn json(left: &Side, right: &Side, tally: &Tally, broken: Option<&str>) -> String {
    let found = |found: &Found| {
        serde_json::json!({
            "seed": found.seed,
            "script": found.difference.script.to_string(),
            "text": found.difference.to_string(),
        })
    };
    let value = serde_json::json!({
        "schema": "zoocheck-conform/1",
        "left": { "name": left.name, "version": left.version },
        "right": { "name": right.name, "version": right.version },
        "scripts": tally.scripts,
        "operations": tally.operations,
        "differences": tally.found.iter().map(found).collect::<Vec<_>>(),
        "unsteady": tally.unsteady.iter().map(found).collect::<Vec<_>>(),
        "broken": broken,
        "cut_short": tally.cut_short,
    });
    format!("{value:#}\n")
}

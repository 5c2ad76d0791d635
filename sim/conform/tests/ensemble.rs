//! The scripts under `testdata/ensemble` are what three real servers do, and three of ours.
//!
//! `UPDATE_TESTDATA=1` rewrites the transcripts that differ; read the difference before you commit it.
//! `ZOOCHECK_NO_SKIP=1` fails where there is no real ZooKeeper.

use crate::common::ensemble::{Ensemble, Machines};
use crate::common::real::Real;
use std::collections::VecDeque;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;
use std::{env, fs, thread};

use zk_conform::script::{Control, Script, parse};
use zk_serve::Fault;

/// So that the test of containers takes no minute; and not so often that a removal is asked for twice.
const OPTIONS: [&str; 4] = ["--servers", "3", "--property", "znode.container.checkIntervalMs=2000"];

/// How many at a time.
const ENSEMBLES: u32 = 2;

#[test]
fn three_real_servers_do_what_the_scripts_say() {
    let wrong = run_scripts(&start, env::var_os("UPDATE_TESTDATA").is_some());
    assert!(wrong.is_empty(), "{wrong}");
}

/// Real servers are asked first: transcripts are theirs.
#[test]
fn three_servers_of_ours_do_what_three_real_ones_do() {
    let wrong = run_scripts(&|| Some(ours()), false);
    assert!(wrong.is_empty(), "{wrong}");
}

/// Runs all scripts; what went otherwise than expected.
fn run_scripts(start: &(dyn Fn() -> Option<Ensemble> + Sync), update: bool) -> String {
    let queue = Mutex::new(VecDeque::from(scripts()));
    // Scripts wait for servers most of the time.
    thread::scope(|scope| {
        let workers: Vec<_> = (0..ENSEMBLES)
            .map(|_| {
                scope.spawn(|| start().map_or(String::new(), |ensemble| run_all(&queue, ensemble, update)))
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
    })
}

/// Runs what is in the queue on an ensemble of its own; what went otherwise than expected.
fn run_all(queue: &Mutex<VecDeque<PathBuf>>, mut ensemble: Ensemble, update: bool) -> String {
    let mut wrong = String::new();
    loop {
        let Some(path) = queue.lock().expect("no panic").pop_front() else { return wrong };
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a script");
        let script = parse(&text).unwrap_or_else(|bad| panic!("{name}: {bad}"));
        let begun = Instant::now();
        let told = match ensemble.run(&script) {
            Ok(told) => told,
            Err(failed) => {
                wrong.push_str(&format!("\n{name}: {failed}\n"));
                continue;
            }
        };
        eprintln!("{name}: {:.1?}", begun.elapsed());
        wrong.push_str(&difference(&name, &script, &told));
        if update {
            fs::write(&path, with(script, told)).expect("a script is rewritten");
        }
    }
}

/// Starts three servers, if there is a real ZooKeeper here. One ensemble after the other: ports are found free before
/// they are taken.
fn start() -> Option<Ensemble> {
    static STARTS: Mutex<()> = Mutex::new(());
    let _turn = STARTS.lock().expect("no panic");
    let real = Real::start(&OPTIONS)?;
    let addresses = real.servers.split(',').map(|address| address.parse().expect("an address")).collect();
    Some(Ensemble::of(Box::new(real), addresses))
}

/// Three servers of ours. When they end, every invariant must have held.
#[derive(Debug)]
struct Ours {
    running: Option<zk_serve::Running>,
    runtime: tokio::runtime::Runtime,
}

fn ours() -> Ensemble {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let options = zk_serve::Options {
        tick_ms: 500,
        container_check_ms: 2000,
        super_digest: Some("super:D/InIHSb7yEEbrWz8b9l71RjZJU=".to_owned()),
        ..zk_serve::Options::ensemble(3)
    };
    let running = runtime.block_on(zk_serve::start(options)).expect("loopback has free ports");
    let addresses = running.addresses().to_vec();
    Ensemble::of(Box::new(Ours { running: Some(running), runtime }), addresses)
}

impl Machines for Ours {
    fn control(&self, number: u8, control: Control) -> Result<(), String> {
        let server = number - 1;
        // Until it is told otherwise.
        let (down_ms, for_ms) = (1000 * 60 * 60, 1000 * 60 * 60);
        let kill = Fault::ServerCrash { server, down_ms, mid_sync: false };
        let running = self.running.as_ref().expect("it runs until it is dropped");
        let done = |fault| self.runtime.block_on(running.fault(fault)).map_err(|error| error.to_string());
        match control {
            Control::Kill => done(kill),
            // It may run already; then it starts anew.
            Control::Start => done(kill).or(Ok(())).and_then(|()| done(Fault::ServerStart { server })),
            Control::Pause => done(Fault::ServerPause { server, for_ms }),
            Control::Resume => done(Fault::ServerResume { server }),
        }
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        if let (Some(running), false) = (self.running.take(), thread::panicking()) {
            let verdict = self.runtime.block_on(running.stop());
            assert!(verdict.held, "{:?}", verdict.broken);
        }
    }
}

/// How often a leader is killed while writes are on their way, and how many.
const CRASHES: usize = 3;
const WRITES: usize = 2000;

/// Where chance decides how far it came, what must never be is still the same on every try.
#[test]
fn acknowledged_writes_survive_their_leader_and_the_others_are_the_next_ones_in_order() {
    let Some(mut ensemble) = start() else { return };
    let writes: Vec<String> = (0..WRITES).map(|n| format!("create /p/{n:04}")).collect();
    let script = format!(
        "b connect server=follower timeout=10000\n\
         c connect server=follower2 timeout=10000\n\
         b create /p\n\
         begin b pipeline {{ {} }}\n\
         leader kill\n\
         await end b c\n\
         await serving\n\
         killed start\n\
         await serving\n\
         a connect server=leader timeout=10000\n\
         b connect server=follower timeout=10000\n\
         c connect server=follower2 timeout=10000\n\
         a sync /p\n\
         b sync /p\n\
         c sync /p\n\
         a children /p\n\
         alike a b c children /p\n",
        writes.join("; ")
    );
    let script = parse(&script).expect("a script");
    for _ in 0..CRASHES {
        let told = ensemble.run(&script).expect("a run");
        let lines = told.iter().flatten().map(String::as_str);
        let answered =
            lines.filter_map(|line| line.starts_with("b ").then(|| line.split_once(" /p/")).flatten());
        let answered: Vec<&str> = answered.map(|(_, name)| name).collect();
        let [listed] = &told[15][..] else { panic!("{:?}", told[15]) };
        let (_, names) = listed.split_once('[').expect("a list");
        let found: Vec<&str> = names.trim_end_matches(']').split_whitespace().collect();
        eprintln!("{} answered, {} committed of {WRITES}", answered.len(), found.len());
        let expected: Vec<String> = (0..found.len()).map(|n| format!("{n:04}")).collect();
        assert_eq!(found, expected, "what is committed begins at the first and has no gap");
        assert!(answered.iter().all(|name| found.contains(name)), "an answered write is gone");
        assert_eq!(told[16], ["alike"]);
    }
}

/// Every script says on top what it shows, and expects something; rewritten as it is, it stays the same.
#[test]
fn scripts_are_well_formed() {
    let all = scripts();
    assert!(!all.is_empty());
    for path in all {
        let name = path.display();
        let text = fs::read_to_string(&path).expect("a script");
        let script = parse(&text).unwrap_or_else(|bad| panic!("{name}: {bad}"));
        assert_eq!(script.to_string(), text, "{name}");
        assert!(text.starts_with("# "), "{name}: expected what it shows on top");
        assert!(script.steps.iter().any(|step| !step.expected.is_empty()), "{name}: expects nothing");
    }
}

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/ensemble");
    let entries = fs::read_dir(folder).expect("testdata");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// The steps that went otherwise than expected.
fn difference(name: &str, script: &Script, told: &[Vec<String>]) -> String {
    let mut out = String::new();
    for (step, told) in script.steps.iter().zip(told).filter(|(step, told)| step.expected != **told) {
        if out.is_empty() {
            writeln!(out, "\n{name}:").expect("a text");
        }
        writeln!(out, "  {}", step.action).expect("a text");
        for line in step.expected.iter().filter(|line| !told.contains(line)) {
            writeln!(out, "    expected {line}").expect("a text");
        }
        for line in told.iter() {
            writeln!(out, "    came     {line}").expect("a text");
        }
    }
    out
}

fn with(mut script: Script, told: Vec<Vec<String>>) -> String {
    for (step, told) in script.steps.iter_mut().zip(told) {
        step.expected = told;
    }
    script.to_string()
}

//! The scripts under `testdata/ensemble` are what three real servers do.
//!
//! `UPDATE_TESTDATA=1` rewrites the transcripts that differ; read the difference before you commit it.
//! `ZOOCHECK_ONLY=takeover` runs the scripts with that in their names, and tells how long each took.
//! `ZOOCHECK_NO_SKIP=1` fails where there is no real ZooKeeper.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use zk_conform::ensemble::{Ensemble, missing};
use zk_conform::script::{Script, parse};

const REAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/real-zookeeper");

/// So that the test of containers takes no minute.
const PROPERTIES: [&str; 1] = ["znode.container.checkIntervalMs=100"];

#[test]
fn three_real_servers_do_what_the_scripts_say() {
    if let Some(why) = missing(Path::new(REAL)) {
        assert!(env::var_os("ZOOCHECK_NO_SKIP").is_none(), "{why}");
        eprintln!("skipped: {why}");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ensemble-{}", std::process::id()));
    let mut ensemble = Ensemble::start(Path::new(REAL), &folder, 3, &PROPERTIES).expect("three servers");
    let only = env::var("ZOOCHECK_ONLY").unwrap_or_default();
    let mut wrong = String::new();
    for path in scripts().into_iter().filter(|path| path.to_string_lossy().contains(&only)) {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a script");
        let script = parse(&text).unwrap_or_else(|bad| panic!("{name}: {bad}"));
        let begun = Instant::now();
        let told = ensemble.run(&script).unwrap_or_else(|failed| panic!("{name}: {failed}"));
        if !only.is_empty() {
            eprintln!("{name}: {:.1?}", begun.elapsed());
        }
        wrong.push_str(&difference(&name, &script, &told));
        if env::var_os("UPDATE_TESTDATA").is_some() {
            fs::write(&path, with(script, told)).expect("a script is rewritten");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
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

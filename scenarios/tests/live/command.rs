//! The command: exit statuses, reports, and whose data is left alone.

use crate::common::{zoocheck, zoocheck_in};
use crate::live::servers;
use zoocheck::reports::LiveReport;

const QUICK: &str = "--clients 3 --rounds 2 --set work-ms=[0,200] --set session-timeout-ms=2000";

#[test]
fn the_lock_holds_on_a_real_server_and_leaves_nothing_behind() {
    let Some(real) = servers(1) else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let run = format!("run lock --connect {} {QUICK} --format json --report out", real.servers);
    let ran = zoocheck_in(dir.path(), &run);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    let report = ran.json::<LiveReport>();
    let verdict = |name: &str| {
        let promises = report["promises"].as_array().expect("promises");
        promises.iter().find(|promise| promise["name"] == name).expect("it is there")["verdict"].clone()
    };
    for name in ["exclusion-among-live-sessions", "exclusion-at-unfenced-resource", "no-orphan-znode"] {
        assert_eq!(verdict(name), "held", "{name}");
    }
    assert_eq!(verdict("fifo"), serde_json::Value::Null, "nobody outside knows");
    assert_eq!(report["happened"]["grants"], 6);
    for file in ["out/report.json", "out/junit.xml"] {
        assert!(dir.path().join(file).exists(), "{file}");
    }
    assert!(!real.client(&["ls", "/"]).contains("lock"));
    let text = zoocheck(&format!("run lock --connect {} {QUICK}", real.servers));
    assert_eq!(text.status, 0, "{}{}", text.stdout, text.stderr);
    let fifo = text.stdout.lines().find(|line| line.starts_with("fifo ")).expect("a row");
    assert!(fifo.contains("not judged on a live ensemble") && !fifo.contains("held"), "{fifo}");
    let said = text.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let last =
        "every judged promise held; not judged from outside: fifo, one-woken-per-deletion, no-foreign-delete";
    assert!(said.ends_with(last), "{}", text.stdout);
}

#[test]
fn every_variant_runs_on_a_real_server() {
    let Some(real) = servers(1) else { return };
    let catalogue = ::zoocheck::Catalogue::default();
    // One family is enough to see that a variant does: each takes a second of real time or more.
    let names = catalogue.trials().iter().map(|trial| trial.about.name);
    let names: Vec<&str> = names.filter(|name| *name == "lock" || name.starts_with("lock/")).collect();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        let ran = zoocheck(&format!("run {name} --connect {} {QUICK} --format json", real.servers));
        // A race that it is known for may come about.
        assert!(matches!(ran.status, 0 | 1), "{name}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.json::<LiveReport>()["happened"]["grants"].as_u64() > Some(0), "{name}");
    }
}

#[test]
fn nobodys_data_is_touched() {
    let Some(real) = servers(1) else { return };
    real.client(&["create", "/lock", "precious"]);
    let run = format!("run lock --connect {} {QUICK}", real.servers);
    let ran = zoocheck(&run);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    let said = "/lock exists and is not empty (children: 0, bytes: 8)";
    assert!(ran.stderr.contains(said) && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    assert!(real.client(&["get", "/lock"]).contains("precious"));
    // Where nothing is in it, it is used, and stays.
    real.client(&["delete", "/lock"]);
    real.client(&["create", "/lock"]);
    assert_eq!(zoocheck(&run).status, 0);
    assert!(real.client(&["ls", "/"]).contains("lock"));
}

#[test]
fn an_ensemble_that_is_not_there_is_one_line() {
    // Port 1 is nobody's.
    let ran = zoocheck("run lock --connect 127.0.0.1:1 --time-limit 1s");
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("--connect: no session with 127.0.0.1:1"), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn a_command_line_that_makes_no_sense_is_one_line() {
    for (arguments, said) in [
        ("run lock --connect nowhere", "expected HOST:PORT"),
        ("run lock --connect a:1,b", "found 'b'"),
        ("run lock --connect 127.0.0.1:1 --clients 0", "from 1 to 1000"),
        ("run lok --connect 127.0.0.1:1", "did you mean 'lock'?"),
    ] {
        let ran = zoocheck(arguments);
        assert_eq!((ran.status, ran.stderr.lines().count()), (2, 1), "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{arguments}: {}", ran.stderr);
    }
}

#[test]
fn what_is_for_seeds_alone_is_refused_on_a_live_ensemble() {
    for option in [
        "--seeds 4",
        "--jobs 2",
        "--shard 1/2",
        "--fresh",
        "--until-covered 4",
        "--redraws 3 --report never",
        "--resume --report never",
    ] {
        let ran = zoocheck(&format!("run lock --connect 127.0.0.1:1 {option}"));
        assert_eq!((ran.status, ran.stderr.lines().count()), (2, 1), "{option}: {}", ran.stderr);
        let name = option.split(' ').next().expect("a name");
        assert!(ran.stderr.contains(&format!("cannot be used with '{name}")), "{option}: {}", ran.stderr);
    }
}

#[test]
fn a_run_that_is_cut_short_is_undecided() {
    let Some(real) = servers(1) else { return };
    let slow = "--clients 2 --rounds 50 --set work-ms=[500,500] --time-limit 2s";
    let ran = zoocheck(&format!("run lock --connect {} {slow}", real.servers));
    assert_eq!(ran.status, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("undecided: the time limit of 2s came"), "{}", ran.stdout);
    assert!(!real.client(&["ls", "/"]).contains("lock"), "it cleans up all the same");
}

#[cfg(feature = "serve")]
#[test]
fn the_lock_holds_on_what_zoocheck_serves() {
    let served = crate::live::served::Served::start(1);
    let ran = zoocheck(&format!("run lock --connect {} {QUICK}", served.servers));
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
}

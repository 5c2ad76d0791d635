//! Bad command lines, files and environments: one line on stderr that says what is wrong, exit status 2.
#![cfg(feature = "run")]

mod common;

use common::{Ran, command, ran, zoocheck, zoocheck_in};
use std::fs;

fn refused(what: &str, ran: &Ran, expected: &[&str]) {
    assert_eq!(ran.status, 2, "{what}: {}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "", "{what}");
    assert_eq!(ran.stderr.lines().count(), 1, "{what}: {}", ran.stderr);
    assert!(ran.stderr.starts_with("zoocheck: "), "{what}: {}", ran.stderr);
    for part in expected {
        assert!(ran.stderr.contains(part), "{what}: '{part}' in {}", ran.stderr);
    }
}

#[test]
fn odd_command_lines_are_refused_in_one_line() {
    let table: &[(&str, &[&str])] = &[
        ("", &["no command given", "--help"]),
        ("rnu lock", &["no command 'rnu'", "did you mean 'run'?"]),
        ("zebra", &["no command 'zebra'", "list, run, replay, check"]),
        ("run", &["WHAT"]),
        ("run lokc", &["'lokc'", "did you mean 'lock'?"]),
        ("run zebra", &["'zebra'", "zoocheck list"]),
        ("check lokc", &["did you mean 'lock'?"]),
        ("replay lokc --seed 1", &["did you mean 'lock'?"]),
        ("list lokc", &["did you mean 'lock'?"]),
        ("run lock --seeds 5..3", &["5..3", "100..200"]),
        ("run lock --seeds 0", &["no seed at all"]),
        ("run lock --seeds 7..7", &["empty"]),
        ("run lock --seeds x", &["'x' is no seed"]),
        ("run lock --seeds -1", &["'-1' is no seed"]),
        ("run lock --seeds 99999999999999999999", &["99999999999999999999"]),
        ("run lock --seeds 0..18446744073709551615", &["at most 1000000000"]),
        ("run lock --seeds", &["--seeds"]),
        ("run lock --shard 3/2", &["3/2", "I from 1 to N"]),
        ("run lock --shard 0/2", &["0/2"]),
        ("run lock --shard two", &["two"]),
        ("run lock --seeds 2 --shard 3/3", &["leave none"]),
        ("run lock --jobs 0", &["0"]),
        ("run lock --jobs 5000", &["1024"]),
        ("run lock --format yaml", &["yaml", "json"]),
        ("run lock --log a=b=c", &["--log 'a=b=c'"]),
        ("run lock --sedes 3", &["--sedes", "--seeds"]),
        ("run lock --set faults.drop=3", &["did you mean 'faults.drops'?"]),
        ("run lock --set clients=0", &["clients"]),
        ("run lock lock", &["unexpected"]),
        ("run missing.toml", &["missing.toml", "cannot read", "No such file"]),
        ("check missing.toml", &["missing.toml", "cannot read"]),
        ("run lock --report Cargo.toml", &["Cargo.toml", "directory"]),
        ("replay lock", &["--seed"]),
        ("replay lock --seed x", &["'x'", "--seed"]),
        ("check lock --clients 0", &["0", "1..=16"]),
        ("check lock --clients 300", &["300"]),
        ("check lock --drops -1", &["'-1'", "--drops"]),
        ("check lock --time-limit 5d", &["5d", "90s"]),
        ("check lock --max-states 0", &["0"]),
        ("check lock --engine z3", &["z3", "stateright"]),
        ("check lock --full --eager", &["--full", "--eager"]),
        ("explore lock --listen nowhere", &["nowhere"]),
    ];
    for (arguments, expected) in table {
        refused(arguments, &zoocheck(arguments), expected);
    }
}

#[test]
fn odd_files_are_refused_with_their_line() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("dir.toml")).expect("created");
    fs::write(dir.path().join("latin.toml"), [0xe9, b'\n']).expect("written");
    let table: &[(&str, &str, &[&str])] = &[
        ("a.toml", "clients = 2\ncleints = 3\n", &["a.toml:2: ", "'cleints'", "did you mean 'clients'?"]),
        ("b.toml", "[faults]\nzebras = 3\n", &["b.toml:2: ", "zebras"]),
        ("c.toml", "clients = 2\nclients = 2\n", &["c.toml:2: ", "duplicate"]),
        ("d.toml", "clients = \n", &["d.toml:1: "]),
        ("e.toml", "rounds = 1\nclients = 0\n", &["e.toml:2: clients: 0"]),
        ("f.toml", "clients = -1\n", &["f.toml:1: "]),
        ("g.toml", "clients = \"many\"\n", &["g.toml:1: ", "invalid type"]),
        ("h.toml", "[faults]\ndrops = 1000000\n", &["h.toml:2: faults.drops"]),
        ("i.toml", "work-ms = [9, 3]\n", &["i.toml:1: work-ms"]),
        ("j.toml", "latency-ms = [nan, 3]\n", &["j.toml:1: latency-ms"]),
        ("k.toml", "recipe = \"lokc\"\n", &["k.toml", "'lokc'", "did you mean 'lock'?"]),
        ("l.toml", "this is not TOML", &["l.toml:1: "]),
        ("m.toml", "work-ms = [1, 2, 3]\n", &["m.toml:1: work-ms", "must have 2"]),
    ];
    for (name, text, expected) in table {
        fs::write(dir.path().join(name), text).expect("written");
        refused(name, &zoocheck_in(dir.path(), &format!("run {name} --seeds 1")), expected);
    }
    refused("latin.toml", &zoocheck_in(dir.path(), "run latin.toml"), &["latin.toml", "UTF-8"]);
    refused("dir.toml", &zoocheck_in(dir.path(), "run dir.toml"), &["dir.toml", "cannot read"]);
}

#[test]
fn a_report_directory_that_cannot_be_is_noticed_before_the_sweep() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("file"), b"").expect("written");
    // So many seeds would not be over before the test's patience is.
    let arguments = "run lock --seeds 100000000 --report file/below";
    refused(arguments, &zoocheck_in(dir.path(), arguments), &["file/below"]);
    assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 1);
}

#[test]
fn an_address_in_use_is_refused() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address");
    refused("explore", &zoocheck(&format!("explore lock --listen {address}")), &["cannot listen"]);
}

#[test]
fn arguments_that_are_no_text_are_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let mut command = command(std::path::Path::new("."));
    refused("bytes", &ran(command.arg("run").arg(OsStr::from_bytes(&[0xff, b'x']))), &["UTF-8"]);
}

#[test]
fn help_and_version_are_no_errors() {
    for arguments in ["--help", "run --help", "check --help", "--version"] {
        let ran = zoocheck(arguments);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{arguments}");
        assert!(ran.stdout.contains("zoocheck"), "{arguments}");
    }
}

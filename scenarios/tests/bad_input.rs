//! Bad command lines, files and environments: one line on stderr that says what is wrong, exit status 2.
#![cfg(feature = "run")]

use crate::common::{Ran, command, ran, zoocheck, zoocheck_in};
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

/// What is typed, and what the line must say.
const COMMAND_LINES: &[(&str, &[&str])] = &[
    ("", &["no command given", "--help"]),
    ("rnu lock", &["no command 'rnu'", "did you mean 'run'?"]),
    ("zebra", &["no command 'zebra'", "run, report, replay, shrink, check"]),
    ("run", &["WHAT"]),
    ("run lokc", &["'lokc'", "did you mean 'lock'?"]),
    ("run my.py", &["'my.py' is no program: expected FILE.py:FUNCTION"]),
    ("run kazoo/lokc", &["'kazoo/lokc' is no program", "such as kazoo/lock"]),
    ("check my.py:a:b --promises fair-lock=/lock", &["'my.py:a:b' is no program"]),
    ("run zebra", &["'zebra'", "zoocheck list"]),
    ("check lokc", &["did you mean 'lock'?"]),
    ("replay lokc --seed 1", &["did you mean 'lock'?"]),
    ("list lokc", &["did you mean 'lock'?"]),
    ("run lock --seeds 5..3", &["5..3", "100..200"]),
    ("run lock --seeds 0", &["no seed at all"]),
    ("run lock --clients 0", &["'0'", "from 1 to 1000"]),
    ("replay lock --seed 1 --rounds 101", &["'101'", "from 1 to 100"]),
    ("run lock --time-limit 1s --shard 1/2", &["--time-limit", "--shard"]),
    ("check lock --engine stateright --ranks", &["--ranks", "stateright"]),
    ("check lock --engine stateright --time-limit 1s", &["--time-limit", "stateright"]),
    ("run lock --seeds 7..7", &["empty"]),
    ("run lock --seeds x", &["'x' is no seed"]),
    ("run lock --seeds -1", &["'-1' is no seed"]),
    ("run lock --seeds +5", &["'+5' is no seed"]),
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
    ("run lock --jobs 65536", &["from 1 to 1024"]),
    ("run lock --seeds 0..0", &["empty"]),
    ("run lock --log inof", &["no level 'inof'", "did you mean 'info'?"]),
    ("run lock --log x=info,debig", &["no level 'debig'", "'debug'"]),
    ("replay lock --seed 1 --log [[", &["--log '[['"]),
    ("run lock --log a=b=c", &["--log 'a=b=c'"]),
    ("run lock --sedes 3", &["--sedes", "--seeds"]),
    ("run lock --set faults.drop=3", &["did you mean 'faults.drops'?"]),
    ("run lock --set clients=0", &["clients"]),
    ("run lock --set =3", &["no key before '='"]),
    ("run lock --set latency-ms=[nan,1]", &["latency-ms"]),
    ("run lock --set latency-ms=[1,inf]", &["latency-ms", "60000"]),
    ("run lock --set clients=2.5", &["expected a whole number"]),
    ("run lock --set clients=2=3", &["no value in TOML"]),
    ("run lock --set clients=99999999999999999999", &["no value in TOML"]),
    ("run lock --set step-budget=18446744073709551615", &["step-budget", "no value in TOML"]),
    ("run lock --set faults={drops=1}", &["did you mean 'faults.drops'?"]),
    ("run lock --set fault-seconds=4294967295", &["fault-seconds", "86400"]),
    ("run a.toml b.toml", &["unexpected argument 'b.toml'"]),
    ("list missing.toml", &["missing.toml", "cannot read"]),
    ("run .", &["'.'", "zoocheck list"]),
    ("run /dev/null", &["'/dev/null'"]),
    ("run lock lock", &["unexpected"]),
    ("run missing.toml", &["missing.toml", "cannot read", "No such file"]),
    ("check missing.toml", &["missing.toml", "cannot read"]),
    ("run lock --report Cargo.toml", &["Cargo.toml", "directory"]),
    ("replay lock", &["--seed"]),
    ("replay lock --seed x", &["'x'", "--seed", "from 0"]),
    ("replay lock --seed 18446744073709551616", &["from 0 to 18446744073709551615"]),
    ("replay lock --seed 1 --seed 2", &["multiple times"]),
    ("replay lock --seed 1 --lines 0", &["'0'", "or all"]),
    ("replay lock --seed 1 --lines 5 --trace", &["--lines", "--trace"]),
    ("check lock --clients 0", &["'0'", "from 1 to 16"]),
    ("check lock --clients 300", &["300", "from 1 to 16"]),
    ("check lock --drops 256", &["256", "from 0 to 255"]),
    ("check lock --max-states 99999999999999999999", &["from 1 to 18446744073709551615"]),
    ("check lock --max-depth 0", &["'0'", "from 1"]),
    ("check lock --promise fifa", &["--promise", "'fifa'", "did you mean 'fifo'?"]),
    ("check lock --seeds 3", &["unexpected argument '--seeds'"]),
    ("check lock --time-limit 0", &["'0'", "90s"]),
    ("check lock missing.toml", &["unexpected argument 'missing.toml'"]),
    ("check lock --drops -1", &["'-1'", "--drops"]),
    ("check lock --time-limit 5d", &["5d", "90s"]),
    ("check lock --max-states 0", &["0"]),
    ("check lock --max-memory 0", &["from 1 to 100000"]),
    ("check ensemble --max-memory 2GB", &["from 1 to 100000"]),
    ("judge --herd=0", &["expected numbers from 1 to 1000, such as 1,10,100"]),
    ("judge --herd=", &["expected numbers from 1 to 1000"]),
    ("judge lok --herd", &["did you mean 'lock'?"]),
    ("judge kazoo/lock", &["'kazoo/lock' is a program; name a recipe or a variant"]),
    ("compare lock my.py:worker", &["'my.py:worker' is a program; name a recipe or a variant"]),
    ("judge --herd --seeds 3", &["--herd", "--seeds"]),
    ("check lock --engine z3", &["z3", "stateright"]),
    ("check lock --full --eager", &["--full", "--eager"]),
    ("explore lock --listen nowhere", &["nowhere", "expected ADDRESS:PORT"]),
];

#[test]
fn odd_command_lines_are_refused_in_one_line() {
    for (arguments, expected) in COMMAND_LINES {
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
        ("b.toml", "[faults]\nzebras = 3\n", &["b.toml:2: unknown key 'zebras'; there are server-crashes, "]),
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
        ("n.toml", "\u{feff}rounds = 1\r\nclients = 0\r\n", &["n.toml:2: clients: 0"]),
        ("o.toml", "[faults.deep]\nx = 1\n", &["o.toml:1: unknown key 'deep'"]),
        ("p.toml", "[zebra.deep]\nx = 1\n", &["p.toml:1: unknown key 'zebra'"]),
        ("q.toml", "clients = 2\nfaults = { drps = 2 }\n", &["q.toml:2: ", "did you mean 'drops'?"]),
        ("r.toml", "latency-ms = [0.1, inf]\n", &["r.toml:1: latency-ms"]),
        ("s.toml", "latency-ms = [1e308, 1e308]\n", &["s.toml:1: latency-ms", "60000"]),
        ("t.toml", "step-budget = 18446744073709551615\n", &["t.toml:1: step-budget", "at most"]),
        ("u.toml", "recipe = \"\"\n", &["u.toml: recipe: ''"]),
        ("v.toml", "recipe = 3\n", &["v.toml:1: ", "expected a string"]),
        ("w.toml", "clients = 2.0\n", &["w.toml:1: ", "expected a whole number"]),
        ("x.toml", "clients = 2\0\n", &["x.toml:1: "]),
        ("m.toml", "work-ms = [1, 2, 3]\n", &["m.toml:1: work-ms", "must have 2"]),
    ];
    let run = "[run]\nseed = 0\nbreaks = \"\"\nwhat = \"\"\ndigest = \"\"\nbuild = \"\"\n";
    let one = |at: &str, fault: &str| {
        format!("{run}[[run.schedule.faults]]\nat-ms = {at}\nfault = {{ {fault} }}\n")
    };
    let most = i64::MAX.to_string();
    let faults = [
        (one(&most, "expire = { client = 0 }"), "fault 1: at-ms: 9223372036854775807; it must be from 0 to "),
        (one("-1", "expire = { client = 0 }"), "expected a whole number"),
        (one("1", &format!("client-pause = {{ client = 0, for-ms = {most} }}")), "fault 1: for-ms: 92233720"),
        (one("1", &format!("server-crash = {{ server = 0, down-ms = {most} }}")), "fault 1: down-ms: 92233"),
        (one("1", "clock-skew = { node = { client = 0 }, permille = -1000 }"), "fault 1: permille: -1000"),
        (
            one("1", &format!("clock-jump = {{ node = {{ client = 0 }}, by-ms = -{most} }}")),
            "fault 1: by-ms: -92",
        ),
        (
            one("1", "slow-link = { client = 0, factor = 4294967295, for-ms = 1 }"),
            "fault 1: factor: 4294967295",
        ),
        (
            one("1", &format!("slow-sync = {{ server = 0, sync-ms = {most}, for-ms = 1 }}")),
            "fault 1: sync-ms: 9",
        ),
        (one("1", "expire = { client = 0, zebra = 1 }"), "zebra"),
        (format!("{run}[run.schedule]\nzebra = 1\nfaults = []\n"), "unknown key 'zebra'"),
        (format!("servers = 3\n{run}script = {{ effects = true, steps = [] }}\n"), "servers: 3"),
    ];
    for (text, expected) in &faults {
        fs::write(dir.path().join("one.toml"), text).expect("written");
        refused(expected, &zoocheck_in(dir.path(), "replay one.toml"), &["one.toml:", expected]);
    }
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
fn names_of_files_that_are_no_text_are_borne() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().expect("a directory");
    let odd = OsStr::from_bytes(b"\xffout");
    let checked = ran(command(dir.path()).args(["check", "lock/simple", "--report"]).arg(odd));
    assert_eq!(checked.status, 1, "{}{}", checked.stdout, checked.stderr);
    assert!(dir.path().join(odd).join("index.html").exists());
    let exported = ran(command(dir.path())
        .args(["check", "lock/simple", "--export"])
        .arg(OsStr::from_bytes(b"\xffout.toml")));
    assert_eq!(exported.status, 1, "{}{}", exported.stdout, exported.stderr);
}

#[test]
fn what_a_terminal_would_act_on_is_spelt_out_in_results_too() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("x.toml"), "recipe = \"lock/java\"\nabout = \"a\\u001B]0;b\\u0007c\"\n")
        .expect("written");
    for arguments in ["run x.toml --seeds 3", "replay x.toml --seed 0"] {
        let ran = zoocheck_in(dir.path(), arguments);
        assert_ne!(ran.status, 2, "{}", ran.stderr);
        assert!(!ran.stdout.contains(|c: char| c.is_control() && c != '\n'), "{:?}", ran.stdout);
        assert!(ran.stdout.contains("a\\u{1b}]0;b\\u{7}c"), "{}", ran.stdout);
    }
}

#[test]
fn a_file_whose_name_would_be_read_as_a_line_of_its_own_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let name = "x\n::error::y.toml";
    fs::write(dir.path().join(name), "recipe = \"lock/java\"\n").expect("written");
    for arguments in [
        &["run", name][..],
        &["replay", name, "--seed", "0"],
        &["run", "lock", "--scenario", name],
        &["shrink", "lock/java", "--seed", "0", "--tries", "2", "-o", "z\r.toml"],
        &["check", "lock/simple", "--export", "z\u{1b}.toml"],
    ] {
        let ran = ran(command(dir.path()).args(arguments));
        refused("a name", &ran, &["a scenario file's name has no line ends"]);
    }
    assert_eq!(fs::read_dir(dir.path()).expect("it is there").count(), 1);
}

#[test]
fn what_a_terminal_would_act_on_is_spelt_out() {
    let here = || command(std::path::Path::new("."));
    refused("colour", &ran(here().args(["run", "\u{1b}[31mred"])), &["'\\u{1b}[31mred'"]);
    refused("line end", &ran(here().args(["run", "a\nb.toml"])), &["\"a\\nb.toml\": a scenario file's name"]);
    refused("two keys", &ran(here().args(["run", "lock", "--set", "clients=2\nrounds=3"])), &["one value"]);
}

#[test]
fn a_result_that_cannot_be_written_is_told() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let mut command = command(std::path::Path::new("."));
    let ran = ran(command.arg("list").stdout(full));
    refused("a full disk", &ran, &["stdout: cannot write the result"]);
}

#[test]
fn a_command_whose_own_name_is_no_text_works() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::process::CommandExt;
    let ran =
        ran(command(std::path::Path::new(".")).arg0(OsStr::from_bytes(b"z\xff")).args(["run", "lock/java"]));
    assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn nothing_that_people_read_is_wider_than_their_terminal() {
    // Those with many possible values are wider: clap lists them in one line.
    let commands =
        "list run report replay shrink check explore serve conform judge compare mutate mutants new drive";
    let help = commands.split(' ').chain(["", "check ensemble"]).map(|command| format!("{command} --help"));
    let help: Vec<String> = help.collect();
    for arguments in
        help.iter().map(String::as_str).chain(["list", "list lock", "check lock", "run lock --seeds 20"])
    {
        let ran = zoocheck(arguments);
        // A check's verdict is one line however long it is: for programs as well, and with a command to copy.
        let is_verdict = |line: &str| arguments == "check lock" && ran.stdout.ends_with(&format!("{line}\n"));
        let wide = ran.stdout.lines().find(|line| line.chars().count() > 100 && !is_verdict(line));
        assert_eq!((ran.status, wide), (0, None), "{arguments}");
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for arguments in ["--help", "run --help", "check --help", "--version"] {
        let ran = zoocheck(arguments);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{arguments}");
        assert!(ran.stdout.contains("zoocheck"), "{arguments}");
    }
}

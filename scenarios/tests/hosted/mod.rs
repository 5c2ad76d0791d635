//! Programs of others as they are: kazoo's recipes under seeds, and programs that cannot be hosted.
//!
//! Where there is no kazoo or no greenlet these tests say that they are skipped; with `ZOOCHECK_NO_SKIP` set, as in CI,
//! that is a failure.

mod elapsed;
mod kinds;
mod programs;

use crate::common::needs;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn python() -> Option<String> {
    needs::python("kazoo, greenlet")
}

fn host() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../recipes/hosted/python")
}

/// Runs the command in a folder of programs. Of these tests several run at a time: one job each starts fewer workers.
fn zoocheck(folder: &Path, hash_seed: &str, words: &str) -> Output {
    let sweeps = words.starts_with("run ") && words.contains("--seeds");
    let jobs = (sweeps && !words.contains("--jobs")).then_some("--jobs=1");
    Command::new(env!("CARGO_BIN_EXE_zoocheck"))
        .args(words.split(' '))
        .args(jobs)
        .current_dir(folder)
        .env("PYTHONHASHSEED", hash_seed)
        .output()
        .expect("zoocheck starts")
}

fn json(output: &Output) -> Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"))
}

/// With several servers, kazoo's lock breaks: see KAZOO.md.
const ALONE: &str = "--set servers=1 --set observers=0";

#[test]
fn kazoos_lock_keeps_what_a_fair_lock_owes_under_all_faults() {
    if python().is_none() {
        return;
    }
    let words = format!("run lock.py:worker --promises fair-lock=/lock --seeds 60 --format json {ALONE}");
    let output = zoocheck(&host().join("examples"), "0", &words);
    let report = json(&output);
    assert_eq!(output.status.code(), Some(0), "{report:#}");
    for promise in report["promises"].as_array().expect("promises") {
        assert!(promise["tested"].as_u64() > Some(20), "{promise}");
    }
}

#[test]
fn a_seed_gives_one_run_in_another_process_with_another_hash_seed() {
    if python().is_none() {
        return;
    }
    for seed in 0..8 {
        let words = format!("replay lock.py:worker --promises fair-lock=/lock --seed {seed} --format json");
        let digest =
            |hash_seed| json(&zoocheck(&host().join("examples"), hash_seed, &words))["digest"].clone();
        let one = digest("1");
        assert!(one.is_string(), "{one}");
        assert_eq!(one, digest("2"), "seed {seed}");
    }
}

#[test]
fn a_sweep_finds_that_a_worker_is_used_again_by_nothing() {
    if python().is_none() {
        return;
    }
    // With one job, lives of many seeds are had by the same workers; a replay has new ones.
    let sweep = "run lock.py:worker --promises fair-lock=/lock --seeds 40 --jobs 1 --format json";
    let words = format!("{sweep} --set faults.drops=40 {ALONE}");
    let report = json(&zoocheck(&host().join("examples"), "0", &words));
    assert_eq!(report["answer"], "held", "{report:#}");
    assert!(report["seeds"]["twice"].as_u64() >= Some(1), "{report:#}");
}

#[test]
fn threads_that_take_turns_are_like_pythons_own() {
    let Some(python) = python() else { return };
    let output = Command::new(python).arg(host().join("tests/threads.py")).output().expect("Python starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "20 cases\n");
}

/// Programs that cannot be hosted, each with the end of the one line that says so.
const WRONG: [(&str, &str); 20] = [
    ("    while True:\n        pass\n", "it spins: wrong.py, line "),
    ("    sum(iter(int, 1))\n", "it spins: no answer after 5 s of processor time"),
    ("    while True:\n        import time; time.sleep(0)\n", "it spins: wrong.py, line 3, in worker"),
    (
        "    import asyncio\n    async def spins():\n        while True:\n            await asyncio.sleep(0)\n    \
         asyncio.run(spins())\n",
        "it spins: wrong.py, line 6, in worker",
    ),
    (
        "    from kazoo.exceptions import ConnectionClosedError\n    client.stop()\n    while True:\n        \
         try:\n            client.get('/lock')\n        except ConnectionClosedError:\n            continue\n",
        "it spins: wrong.py, line 6, in worker",
    ),
    (
        "    import _thread; _thread.start_new_thread(print, ())\n",
        "it starts a thread of the operating system: wrong.py, line 2, in worker",
    ),
    ("    import os; os.fork()\n", "it forks: wrong.py, line 2, in worker"),
    ("    import os; os.system('true')\n", "it starts a process: wrong.py, line 2, in worker"),
    ("    import subprocess; subprocess.run('true')\n", "it starts a process: wrong.py, line 2, in worker"),
    (
        "    import socket; socket.create_connection(('127.0.0.1', 9))\n",
        "it opens a connection of its own: wrong.py, line 2, in worker",
    ),
    (
        "    import os; os.write(1, b'hello, world')\n",
        "it writes to its stdout, which is for frames alone: 'hello, world'",
    ),
    ("    import ctypes; ctypes.string_at(0)\n", "it ends in the middle, by signal: 11 (SIGSEGV)"),
    (
        "    import os; os.read(os.pipe()[0], 1)\n",
        "it waits for something outside of the simulation: wrong.py, line 2, in worker",
    ),
    (
        "    import signal; signal.alarm(0), signal.alarm(5)\n",
        "it sets a timer of the operating system: wrong.py, line 2, in worker",
    ),
    (
        "    import socket; socket.gethostbyname('zk1.example')\n",
        "it looks up a name: wrong.py, line 2, in worker",
    ),
    (
        "    import os; os.kill(os.getppid(), 15)\n",
        "it sends a signal to another process: wrong.py, line 2, in worker",
    ),
    (
        "    client.handler.create_connection(('localhost', 2181), use_ssl=True)\n",
        "it wants TLS, which simulated servers do not have: wrong.py, line 2, in worker",
    ),
    (
        "    from kazoo.client import KazooClient\n    KazooClient().start()\n",
        "it starts a second client (a function that makes its own takes a probe alone): wrong.py, line 3, in worker",
    ),
    ("    client.command(b'ruok')\n", "it sends 'ruok', which simulated servers do not answer"),
    (
        "    client.handler.create_connection(('localhost', 2181))\n",
        "it connects to an address that is no server's",
    ),
];

/// The one line about a worker that has this body, of a command that says nothing else of it.
fn complaint(body: &str, words: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!("def worker(client, probe):\n{body}");
    std::fs::write(folder.path().join("wrong.py"), text).expect("it is written");
    let output = zoocheck(folder.path(), "0", words);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = stderr.lines().filter(|line| line.starts_with("zoocheck: ")).collect();
    let [line] = lines[..] else { panic!("{body}: {stderr}") };
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{body}");
    line.to_owned()
}

#[test]
fn a_program_that_cannot_be_hosted_is_told_of_in_one_line_and_ends_the_sweep() {
    if python().is_none() {
        return;
    }
    for (body, expected) in WRONG {
        let line =
            complaint(body, "run wrong.py:worker --promises lock=/lock --seeds 3 --jobs 1 --set clients=2");
        assert!(line.contains(&format!("wrong.py:worker: {expected}")), "{body}: {line}");
        assert!(line.starts_with("zoocheck: seed 0: p"), "{line}");
    }
}

/// The host imported the file, and ended in the middle; and words about what is no path were judged by nothing.
#[test]
fn files_beside_a_program_are_not_the_hosts_and_what_is_no_path_is_no_lock() {
    if python().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let program = "def worker(client, probe):\n    probe.attempts('/lock/')\n";
    std::fs::write(folder.path().join("program.py"), program).expect("a file");
    std::fs::write(folder.path().join("token.py"), "raise SystemExit(1)\n").expect("a file");
    let words = "run program.py:worker --promises lock=/lock --seeds 1 --format json";
    let report = json(&zoocheck(folder.path(), "0", words));
    assert_eq!(report["answer"], "broken", "{report:#}");
    assert!(report.to_string().contains("'/lock/' is no path of a znode"), "{report:#}");
}

/// What a search of a program comes to. Nothing is left to chance in it.
fn searched(folder: &Path, hash_seed: &str, words: &str) -> Value {
    let output = zoocheck(folder, hash_seed, &format!("check {words} --format json"));
    json(&output)
}

/// No fault, and views that do not lag.
const CALM: &str = "--drops 0 --expiries 0 --lag 0";

#[test]
fn a_search_of_kazoos_lock_comes_to_its_end_and_to_the_same_one_with_another_hash_seed() {
    if python().is_none() {
        return;
    }
    let words = format!("lock.py:worker --promises fair-lock=/lock {CALM}");
    let report = searched(&host().join("examples"), "1", &words);
    assert_eq!(report["verdict"], "holds", "{report:#}");
    assert!(report["states"].as_u64() > Some(1_000), "{report:#}");
    assert!(report["histories"].as_u64() > Some(100), "{report:#}");
    assert!(
        report["left_out"].as_str().expect("words").starts_with("one order of its threads"),
        "{report:#}"
    );
    for promise in report["promises"].as_array().expect("promises") {
        assert!(promise["tested"].as_u64() > Some(0), "{promise}");
    }
    let other = searched(&host().join("examples"), "2", &words);
    for key in ["verdict", "states", "transitions", "histories", "depth", "promises"] {
        assert_eq!(report[key], other[key], "{key}");
    }
}

/// Programs of which a search breaks a promise: what is asked, the promise, and a step that tells why.
const FOUND: [(&str, &str, &str); 4] = [
    (
        "double_barrier.py:worker --promises double-barrier=/barrier --drops 0 --expiries 0 --lag 0",
        "barrier-opens",
        "p1 looks whether /barrier/ready exists and watches: it does not",
    ),
    (
        "counter.py:worker --promises counter=/counter --drops 1 --expiries 0 --lag 0",
        "counts-each-once",
        "connection",
    ),
    (
        "barrier.py:worker --promises barrier=/gate/barrier --drops 1 --expiries 0 --lag 0",
        "barrier-releases",
        "connection",
    ),
    // It looks for a znode that it may have made, on a server that lags.
    (
        "lock.py:worker --promises fair-lock=/lock --drops 1 --expiries 0 --lag 1 --promise no-second-znode",
        "no-second-znode",
        "p0 lists /lock: ",
    ),
];

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn a_search_finds_the_defects_of_kazoos_recipes() {
    if python().is_none() {
        return;
    }
    for (words, promise, step) in FOUND {
        let report = searched(&host().join("examples"), "0", words);
        assert_eq!(
            (&report["verdict"], &report["promise"]),
            (&"violated".into(), &promise.into()),
            "{words}"
        );
        let steps = report["steps"].to_string();
        assert!(steps.contains(step), "{words}: {steps}");
    }
}

/// Programs that no search says anything of.
const UNSEARCHED: [(&str, &str); 7] = [
    (
        "    import time\n    client.stop()\n    time.sleep(1)\n    client.start()\n",
        "it opens another session though its first has not expired: no model has that",
    ),
    (
        "    client.stop()\n    client.start()\n",
        "it opens another session though its first has not expired: no model has that",
    ),
    (
        "    from kazoo.client import KazooClient\n    hosts = ','.join('%s:%s' % host for host in client.hosts)\n    \
         KazooClient(hosts, handler=client.handler).start()\n",
        "it opens another session though its first has not expired: no model has that",
    ),
    ("    import ctypes; ctypes.string_at(0)\n", "it ends in the middle, by signal: 11 (SIGSEGV)"),
    ("    client.command(b'ruok')\n", "it sends 'ruok', which simulated servers do not answer"),
    (
        "    client.handler.create_connection(('localhost', 2181))\n",
        "it connects to an address that is no server's",
    ),
    (
        "    import os\n    many = len(os.listdir('.'))\n    open('seen-%d' % many, 'w').close()\n    \
         client.create('/lock/%d' % many)\n    client.create('/lock/more')\n",
        "it does not do the same when it is told the same again",
    ),
];

#[test]
fn a_program_that_cannot_be_searched_is_told_of_in_one_line_and_nothing_is_said_of_it() {
    if python().is_none() {
        return;
    }
    let told = |command: &str, (body, expected): (&str, &str)| {
        let line = complaint(body, &format!("{command} wrong.py:worker --promises lock=/lock"));
        assert_eq!(line, format!("zoocheck: wrong.py:worker: {expected}"), "{command}: {body}");
    };
    UNSEARCHED.into_iter().for_each(|program| told("check", program));
    told("mutate", UNSEARCHED[0]);
    let words = "check lock.py:worker --promises fair-lock=/lock --export out.toml";
    let output = zoocheck(&host().join("examples"), "0", words);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with("zoocheck: --export: lock.py:worker is a program"), "{stderr}");
    assert_eq!(output.status.code(), Some(2));
}

/// Of kazoo's lock, at the first occasion of each kind: what is noticed, and by which promise.
#[test]
fn a_program_is_mutated_between_its_client_library_and_its_session() {
    if python().is_none() {
        return;
    }
    let words = "mutate lock.py:worker --promises fair-lock=/lock --seeds 3 --max-states 14000 --occasions 1";
    let output = zoocheck(&host().join("examples"), "0", &format!("{words} --format json"));
    let report = json(&output);
    let recipe = &report["recipes"][0];
    assert_eq!(recipe["broken"], serde_json::json!(["no-second-znode"]), "a server that lags: see FOUND");
    let mutations = recipe["mutations"].as_array().expect("mutations");
    let came = |kind: &str| {
        let found = mutations.iter().find(|mutation| mutation["kind"] == kind);
        let found = found.unwrap_or_else(|| panic!("no {kind}: {report:#}"));
        let promise = found["killed"]["promise"].as_str().unwrap_or_default();
        (found["fate"].as_str().expect("a fate").to_owned(), promise.to_owned())
    };
    for (kind, promise) in [
        ("delete-not-sent", "no-orphan-znode"),
        ("no-watch", "no-waiter-stuck"),
        ("not-sequential", "exclusion-among-live-sessions"),
        ("never-returns", "no-waiter-stuck"),
        ("returns-early", "exclusion-among-live-sessions is never put to the test"),
    ] {
        assert_eq!(came(kind), ("killed".into(), promise.into()), "{kind}");
    }
    assert_eq!(came("step-late"), ("equivalent".into(), String::new()));
    assert_eq!(came("says-nothing"), ("survived".into(), String::new()), "nobody promised what it says");
}

#[test]
fn what_cannot_be_loaded_is_told_of_before_anything_runs() {
    if python().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("broken.py"), "def worker(:\n").expect("it is written");
    std::fs::write(folder.path().join("empty.py"), "import threading\n").expect("it is written");
    std::fs::write(folder.path().join("waits.py"), "import time\ntime.sleep(1)\n").expect("it is written");
    let starts = "from kazoo.client import KazooClient\nKazooClient().start()\n";
    std::fs::write(folder.path().join("starts.py"), starts).expect("it is written");
    for (words, expected) in [
        ("absent.py:worker --promises lock=/lock", "absent.py:worker: FileNotFoundError: "),
        (
            "broken.py:worker --promises lock=/lock",
            "broken.py:worker: File \"broken.py\", line 1 def worker(:",
        ),
        (
            "empty.py:worker --promises lock=/lock",
            "empty.py:worker: AttributeError: empty.py has no function worker",
        ),
        (
            "waits.py:worker --promises lock=/lock",
            "waits.py:worker: RuntimeError: the program waits while it is loaded (waits.py, line 2, in <module>)",
        ),
        (
            "starts.py:worker --promises lock=/lock",
            "starts.py:worker: RuntimeError: it starts a client as its file is loaded, and not within its \
             function (starts.py, line 2, in <module>)",
        ),
        ("empty.py:worker", "empty.py:worker: say what is owed of it: --promises KIND=PATH"),
        ("empty.py:worker --promises lock", "--promises: 'lock': expected KIND=PATH"),
        ("lock --promises lock=/lock", "--promises lock=/lock: lock says itself what it owes"),
    ] {
        for command in ["run", "replay --seed 1", "shrink --seed 1 -o out.toml", "check", "mutate"] {
            let output = zoocheck(folder.path(), "0", &format!("{command} {words}"));
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(stderr.starts_with(&format!("zoocheck: {expected}")), "{command} {words}: {stderr}");
            assert_eq!(output.status.code(), Some(2), "{words}");
        }
    }
}

#[test]
fn in_a_virtual_environment_the_command_takes_its_python_active_or_not() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let scripts = folder.path().join("bin");
    std::fs::create_dir(&scripts).expect("it is made");
    let installed = scripts.join("zoocheck");
    std::fs::hard_link(env!("CARGO_BIN_EXE_zoocheck"), &installed).expect("it is installed");
    let starts = |python: &str| {
        let mut command = Command::new(&installed);
        command.args(["run", "lock.py:worker", "--promises", "lock=/lock"]).env("PATH", "/nowhere");
        let output = command.env_remove("ZOOCHECK_PYTHON").output().expect("zoocheck starts");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = format!("zoocheck: lock.py:worker: '{python}' cannot be started");
        assert!(stderr.starts_with(&line), "{stderr}");
    };
    starts("python3");
    std::fs::write(folder.path().join("pyvenv.cfg"), "").expect("it is written");
    starts(scripts.join("python").to_str().expect("UTF-8"));
}

#[test]
fn a_program_is_not_judged_on_a_live_ensemble() {
    if python().is_none() {
        return;
    }
    let words = "run lock.py:worker --promises fair-lock=/lock --connect 127.0.0.1:1";
    let output = zoocheck(&host().join("examples"), "0", words);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with("zoocheck: --connect: lock.py:worker is a program"), "{stderr}");
    assert_eq!(output.status.code(), Some(2));
}

/// What an external program did once passed for right, or could not be judged.
#[test]
fn a_barrier_that_falls_and_sharers_that_never_meet_do_not_hold_and_one_that_is_raised_again_does() {
    if python().is_none() {
        return;
    }
    let unnoticed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosted");
    for (folder, words, status, last) in [
        (
            &unnoticed,
            "unnoticed.py:readers_that_exclude_each_other --promises shared-lock=/lock --seeds 30",
            3,
            "sharers-meet",
        ),
        (
            &unnoticed,
            "unnoticed.py:barrier_that_falls_with_its_raiser --promises barrier=/gate/barrier --seeds 30",
            1,
            "BROKEN: barrier-holds",
        ),
        (
            &host().join("examples"),
            "barrier.py:watching --promises barrier-raised-again=/gate/barrier --seeds 60",
            0,
            "every promise held",
        ),
        (
            &host().join("examples"),
            "read_write_lock.py:worker --promises shared-lock=/lock --seeds 60 --set servers=1 --set observers=0",
            0,
            "every promise held",
        ),
    ] {
        let output = zoocheck(folder, "0", &format!("run {words}"));
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(status), "{words}: {stdout}");
        assert!(stdout.contains(last), "{words}: {stdout}");
    }
}

#[test]
fn an_error_of_the_program_is_shown_with_its_traceback_at_its_time() {
    if python().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let text = "def worker(client, probe):\n    print('here')\n    helper(client)\n\n\
                def helper(client):\n    client.get('/nowhere')\n";
    std::fs::write(folder.path().join("fails.py"), text).expect("it is written");
    let words = format!("replay fails.py:worker --promises lock=/lock --seed 1 --lines all {ALONE}");
    let output = zoocheck(folder.path(), "0", &words);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{stdout}");
    for line in [
        "prints: here",
        "prints:   fails.py, line 3, in worker: helper(client)",
        "prints:   fails.py, line 6, in helper: client.get('/nowhere')",
        "prints: kazoo.exceptions.NoNodeError",
        "BROKEN no-failure: p2 fails",
    ] {
        assert!(stdout.contains(line), "{line}: {stdout}");
    }
}

#[test]
fn a_shrunk_run_of_a_program_is_shown_again_by_the_command_that_is_printed() {
    if python().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let text = "def worker(client, probe):\n    client.get('/nowhere')\n";
    std::fs::write(folder.path().join("fails.py"), text).expect("it is written");
    let words = format!("shrink fails.py:worker --promises lock=/lock --seed 1 -o small.toml {ALONE}");
    let output = zoocheck(folder.path(), "0", &words);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let again = stdout.lines().last().and_then(|line| line.strip_prefix("zoocheck ")).expect("a command");
    assert_eq!(again, "replay small.toml --promises lock=/lock", "{stdout}");
    let output = zoocheck(folder.path(), "0", again);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(1) && stdout.contains("BROKEN no-failure"), "{stdout}");
}

/// They are the files of the folder of examples, so a seed is the same run by either name.
#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn kazoos_recipes_are_built_in_and_each_of_them_runs() {
    if python().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for example in zk_hosted::EXAMPLES {
        let output = zoocheck(folder.path(), "0", &format!("run {} --seeds 1", example.name));
        assert_ne!(output.status.code(), Some(2), "{}: {output:?}", example.name);
    }
    let built_in = zoocheck(folder.path(), "0", &format!("replay kazoo/counter --seed 0 {ALONE}"));
    let words = format!("replay counter.py:worker --promises counter=/counter --seed 0 {ALONE}");
    let file = zoocheck(&host().join("examples"), "0", &words);
    let digest = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stdout);
        text.lines().last().and_then(|line| line.strip_prefix("digest ")).expect("a digest").to_owned()
    };
    assert_eq!(digest(&built_in), digest(&file));
    let searched = searched(folder.path(), "0", &format!("kazoo/counter {CALM}"));
    assert_eq!(searched["verdict"], "holds", "{searched:#}");
    let output = zoocheck(folder.path(), "0", "run kazoo/lock --promises lock=/lock");
    let line = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(2) && line.contains("kazoo/lock says itself what it owes"),
        "{line}"
    );
}

/// Each row of defects in KAZOO.md is a run that anybody can see again.
#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn each_defect_of_kazoo_is_shown_by_the_command_beside_it() {
    if python().is_none() {
        return;
    }
    let page = std::fs::read_to_string(host().join("../KAZOO.md")).expect("the page");
    let commands: Vec<&str> =
        page.split('`').filter(|words| words.contains(".py:") && words.contains("--seed ")).collect();
    assert!(commands.len() >= 15, "{commands:?}");
    // What happened long before the break, and has led to it.
    let why = [
        ("barrier.py", "was not made again. p1 was without its connection from 1.150 s to 4.627 s"),
        ("barrier.py", "Its watch was set on the connection that was lost."),
        ("counter.py", "p4 has written /counter 2 times for 1 addition that it began."),
        (
            "counter.py",
            "p4 asked at 0.427 s: 'setData /counter \"6\" at version 5': done, and the answer is lost",
        ),
        (
            "lock.py",
            "p2.1 was told at 32.560 s that its session is dead, and had another since 34.846 s; the servers ended it at 37.407 s.",
        ),
        // Both znodes were made in one instant.
        ("lock.py", "__lock__0000000000 was made at 5.340 s by p2, which never got the answer."),
        ("locking_queue.py", "It printed a traceback at 3.446 s: kazoo.exceptions.ConnectionLoss"),
        ("party.py", "__party__ was deleted at 16.001 s, when a former session of p1 ended"),
        (
            "plain_queue.py",
            "p4 asked at 7.196 s: 'delete /queue/entry-100-0000000004': done, and the answer is",
        ),
    ];
    let mut told = 0;
    for words in commands {
        let (_, promise) = words.rsplit_once("--promise ").expect("a row names the promise");
        let output = zoocheck(&host().join("examples"), "0", &format!("replay {words} --format json"));
        let report = json(&output);
        let is_broken = |it: &Value| it["name"] == promise && it["verdict"] == "broken";
        let all = ["promises", "invariants"]
            .into_iter()
            .flat_map(|which| report[which].as_array().expect("a list"));
        assert!(all.into_iter().any(is_broken), "{words}: {report:#}");
        assert_eq!(output.status.code(), Some(1), "{words}");
        for (_, expected) in why.iter().filter(|(file, _)| words.starts_with(file)) {
            let sentences = report["cause"]["why"].to_string().replace("\\\"", "\"");
            told += usize::from(sentences.contains(expected));
        }
    }
    assert_eq!(told, why.len(), "each of these is told in the cause of one row");
}

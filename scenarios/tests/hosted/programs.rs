//! What programs may do: threads of every kind, logging, coroutines, trying again at once; and what is said of what
//! they do wrong.

use super::{ALONE, CALM, host, json, python, searched, zoocheck};
use serde_json::Value;
use std::process::{Command, Output};

/// Runs a command in the folder of these programs.
fn of_programs(hash_seed: &str, words: &str) -> Output {
    zoocheck(&host().join("tests"), hash_seed, words)
}

#[test]
fn threads_of_every_kind_logging_and_event_loops_take_their_turns_in_virtual_time() {
    if python().is_none() {
        return;
    }
    // With one job, lives of many seeds are had by the same workers.
    let run = |function: &str, hash_seed| {
        let words =
            format!("run programs.py:{function} --promises lock=/lock --seeds 24 --jobs 1 --format json");
        let output = of_programs(hash_seed, &format!("{words} {ALONE}"));
        (output.status.code(), json(&output))
    };
    for function in ["means", "coroutine"] {
        let (status, report) = run(function, "1");
        assert_eq!((status, &report["answer"]), (Some(0), &"held".into()), "{report:#}");
        assert!(report["seeds"]["twice"].as_u64() >= Some(1), "{report:#}");
    }
    let digest = |hash_seed, seed| {
        let words = format!("replay programs.py:means --promises lock=/lock --seed {seed} --format json");
        json(&of_programs(hash_seed, &words))["digest"].clone()
    };
    for seed in 0..4 {
        let one = digest("1", seed);
        assert!(one.is_string(), "{one}");
        assert_eq!(one, digest("2", seed), "seed {seed}");
    }
    for function in ["means", "coroutine"] {
        let words = format!("programs.py:{function} --promises lock=/lock {CALM}");
        let report = searched(&host().join("tests"), "0", &words);
        assert_eq!(report["verdict"], "holds", "{report:#}");
    }
}

#[test]
fn time_goes_on_for_a_program_that_tries_again_at_once() {
    if python().is_none() {
        return;
    }
    // In the second run a session expires while its program asks.
    let words =
        format!("run programs.py:tries_again_at_once --promises lock=/lock --seeds 6 --format json {ALONE}");
    let output = of_programs("0", &words);
    let report = json(&output);
    assert_eq!((output.status.code(), &report["answer"]), (Some(0), &"held".into()), "{report:#}");
    let words = "programs.py:tries_again_at_once --promises lock=/lock --drops 0 --expiries 1 --lag 0";
    let report = searched(&host().join("tests"), "0", &format!("{words} --max-states 4000"));
    assert_ne!(report["verdict"], "violated", "{report:#}");
}

#[test]
fn a_callback_that_never_returns_is_the_programs_fault_and_no_servers() {
    if python().is_none() {
        return;
    }
    let words = "run programs.py:a_listener_blocks --promises lock=/lock --seeds 12 --format json";
    let report = json(&of_programs("0", words));
    let broken = |which: &str| {
        let all = report[which].as_array().expect("a list").iter();
        all.filter(|it| it["verdict"] == "broken").map(|it| it["name"].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(broken("invariants"), Vec::<Value>::new(), "{report:#}");
    assert_eq!(broken("promises"), ["no-waiter-stuck"], "{report:#}");
    let words = "programs.py:a_listener_blocks --promises lock=/lock --drops 1 --expiries 0 --lag 0";
    let report = searched(&host().join("tests"), "0", words);
    assert_eq!(report["promise"], "no-waiter-stuck", "{report:#}");
}

#[test]
fn the_cause_of_a_failure_is_the_programs_own_error() {
    if python().is_none() {
        return;
    }
    for (function, error) in [
        (
            "fails",
            "RuntimeError: it was not there (programs.py, line 97, in fails). Its last request was that",
        ),
        ("exits", "SystemExit: 1 (programs.py, line 102, in exits). Its last request was that"),
        // A request that was answered well was named in its place.
        ("loses_a_callback", " fails: TypeError: int() argument must be "),
    ] {
        let words =
            format!("replay programs.py:{function} --promises lock=/lock --seed 1 --format json {ALONE}");
        let report = json(&of_programs("0", &words));
        let cause = report["cause"].to_string();
        assert!(cause.contains(error), "{cause}");
    }
}

#[test]
fn a_program_that_exits_with_status_0_has_not_failed() {
    if python().is_none() {
        return;
    }
    let words = format!("run programs.py:exits_well --promises lock=/lock --seeds 2 --format json {ALONE}");
    let output = of_programs("0", &words);
    let report = json(&output);
    assert_eq!((output.status.code(), &report["answer"]), (Some(0), &"held".into()), "{report:#}");
}

/// Its client kept a session for ever, or its worker was gone and nothing could be said.
#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn who_ends_for_what_it_has_lost_has_not_failed() {
    if python().is_none() {
        return;
    }
    let run = |function: &str| {
        let words = format!("run programs.py:{function} --promises lock=/lock --seeds 24 --format json");
        json(&of_programs("0", &words))
    };
    let broken = |report: &Value, promise: &str| {
        let mut promises = report["promises"].as_array().expect("a list").iter();
        promises.any(|it| it["name"] == promise && it["verdict"] == "broken")
    };
    let check = |function: &str, faults: &str| {
        let words = format!("programs.py:{function} --promises lock=/lock --rounds 1 --lag 0 {faults}");
        searched(&host().join("tests"), "0", &words)
    };
    for function in ["exits_when_it_loses", "exits_when_it_has_lost"] {
        let report = run(function);
        assert!(!broken(&report, "no-failure") && !broken(&report, "no-waiter-stuck"), "{report:#}");
        assert!(!broken(&report, "no-orphan-znode"), "{report:#}");
    }
    for faults in ["--expiries 0 --drops 1", "--expiries 1 --drops 0"] {
        assert_eq!(check("exits_when_it_loses", faults)["verdict"], "holds", "{faults}");
    }
    assert!(broken(&run("exits_late"), "exclusion-at-unfenced-resource"));
    for function in ["exits_at_once", "expires_at_once"] {
        assert!(broken(&run(function), "no-failure"), "{function}");
        assert_eq!(check(function, "--expiries 0 --drops 0")["promise"], "no-failure", "{function}");
    }
}

/// The end of any session excused all that waited, and so did naps without end.
#[test]
fn who_waits_for_ever_in_a_new_session_or_for_itself_is_stuck() {
    if python().is_none() {
        return;
    }
    let words =
        "programs.py:waits_by_a_watch_of_its_session --promises counter=/counter --expiries 1 --drops 0";
    let report = searched(&host().join("tests"), "0", &format!("{words} --lag 0"));
    assert_eq!(report["promise"], "no-waiter-stuck", "{report:#}");
    let words = "run programs.py:locks_what_it_has --promises lock=/lock --seeds 4 --format json";
    let report = json(&of_programs("0", &format!("{words} --set rounds=1 {ALONE}")));
    let is_stuck = |it: &Value| it["name"] == "no-waiter-stuck" && it["verdict"] == "broken";
    assert!(report["promises"].as_array().expect("a list").iter().any(is_stuck), "{report:#}");
}

/// They were forgotten, and the lock with them.
#[test]
fn what_is_registered_to_run_at_exit_runs_as_a_life_ends() {
    if python().is_none() {
        return;
    }
    let words = format!(
        "run programs.py:releases_at_exit --promises lock=/lock --set rounds=1 --seeds 8 --format json {ALONE}"
    );
    let report = json(&of_programs("0", &words));
    assert_eq!(report["answer"], "held", "{report:#}");
    let words = format!("programs.py:releases_at_exit --promises lock=/lock {CALM}");
    let report = searched(&host().join("tests"), "0", &words);
    assert_eq!(report["verdict"], "holds", "{report:#}");
}

/// What the threads were at was of no account once the function had returned: a search dropped them.
#[test]
fn a_program_ends_with_its_last_thread_that_is_no_daemon() {
    if python().is_none() {
        return;
    }
    let run = |function: &str| {
        let words =
            format!("run programs.py:{function} --promises lock=/lock --seeds 12 --format json {ALONE}");
        json(&of_programs("0", &words))
    };
    let check = |function: &str| {
        let words = format!("programs.py:{function} --promises lock=/lock {CALM}");
        searched(&host().join("tests"), "0", &words)
    };
    let report = run("leaves_work_to_its_threads");
    assert_eq!(report["answer"], "held", "{report:#}");
    let report = check("leaves_work_to_its_threads");
    assert_eq!(report["verdict"], "holds", "{report:#}");
    let report = run("leaves_a_thread_stuck");
    let is_stuck = |it: &Value| it["name"] == "no-waiter-stuck" && it["verdict"] == "broken";
    assert!(report["promises"].as_array().expect("a list").iter().any(is_stuck), "{report:#}");
    let report = check("leaves_a_thread_stuck");
    assert_eq!(report["promise"], "no-waiter-stuck", "{report:#}");
}

/// The machine's clocks and zone, the parent and entropy.
#[test]
fn what_a_program_asks_the_machine_is_the_same_on_each() {
    if python().is_none() {
        return;
    }
    let run = |zone| {
        let words = "replay outside.py:asks_the_machine --promises lock=/lock --seed 1 --format json";
        let mut command = Command::new(env!("CARGO_BIN_EXE_zoocheck"));
        command.args(words.split(' ')).current_dir(host().join("tests")).env("TZ", zone);
        json(&command.output().expect("zoocheck starts"))["digest"].clone()
    };
    let one = run("America/New_York");
    assert!(one.is_string(), "{one}");
    assert_eq!(one, run("Asia/Kolkata"));
    // Of workers that have had no life before, and of one that has had all.
    let swept = |jobs| {
        let words = format!("run outside.py:asks_the_machine --promises lock=/lock --seeds 4 --jobs {jobs}");
        json(&of_programs("0", &format!("{words} --format json {ALONE}")))["digest"].clone()
    };
    assert_eq!(swept(4), swept(1));
}

#[test]
fn addresses_that_a_program_prints_are_those_of_no_process() {
    if python().is_none() {
        return;
    }
    let words =
        format!("replay outside.py:tells_of_objects --promises lock=/lock --seed 1 --lines all {ALONE}");
    let [one, other] = [(); 2].map(|()| of_programs("0", &words).stdout);
    assert_eq!(String::from_utf8_lossy(&one), String::from_utf8_lossy(&other));
    assert!(String::from_utf8_lossy(&one).contains("kazoo.recipe.lock.Lock object at 0x…>"));
    let report = searched(
        &host().join("tests"),
        "0",
        &format!("outside.py:tells_of_objects --promises lock=/lock {CALM}"),
    );
    assert_eq!(report["verdict"], "holds", "{report:#}");
}

#[test]
fn what_a_life_changes_of_its_environment_and_of_packages_is_undone() {
    if python().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let packages = folder.path().join("site-packages");
    std::fs::create_dir_all(packages.join("package")).expect("a folder");
    for (name, text) in [
        ("__init__", ""),
        ("inner", "class Class:\n    def says(self):\n        return 'inner'\n"),
        ("outer", "from package import inner\n\ninner.is_patched_by = __name__\nchance = []\n"),
    ] {
        std::fs::write(packages.join("package").join(name).with_extension("py"), text)
            .expect("it is written");
    }
    // With one job, lives of many seeds are had by the same workers.
    let words = "run leaves.py:worker --promises lock=/lock --seeds 12 --jobs 1 --format json";
    let mut command = Command::new(env!("CARGO_BIN_EXE_zoocheck"));
    command.args(words.split(' ')).args(ALONE.split(' '));
    command.current_dir(host().join("tests")).env("PYTHONPATH", packages);
    let output = command.output().expect("zoocheck starts");
    let report = json(&output);
    assert_eq!((output.status.code(), &report["answer"]), (Some(0), &"held".into()), "{report:#}");
}

/// A counter that is added to under a lock, and one to which nothing is added.
#[test]
fn a_program_may_owe_a_lock_and_a_counter() {
    if python().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let text = "
def worker(client, probe, adds=True):
    lock = client.Lock('/lock', probe.name)
    counter = client.Counter('/count')
    for _ in probe.rounds():
        probe.attempts('/lock')
        with lock:
            probe.enters('/lock', lock.node)
            probe.write()
            probe.begins('adds', '/count', 1)
            counter += 1 if adds else 0
            probe.ends('has added', '/count', 1)
            probe.leaves('/lock')
        probe.released('/lock')


def adds_nothing(client, probe):
    worker(client, probe, adds=False)
";
    std::fs::write(folder.path().join("both.py"), text).expect("it is written");
    let owes = "--promises lock=/lock,counter=/count";
    for (function, status, counts) in [("worker", 0, "held"), ("adds_nothing", 1, "broken")] {
        let words = format!("run both.py:{function} {owes} --seeds 4 --format json {ALONE}");
        let calm = " --set faults.drops=0 --set faults.server-crashes=0 --set faults.client-crashes=0 --set faults.expiries=0";
        let output = zoocheck(folder.path(), "0", &format!("{words}{calm} --set faults.client-pauses=0"));
        let report = json(&output);
        assert_eq!(output.status.code(), Some(status), "{function}: {report:#}");
        let all = report["promises"].as_array().expect("promises");
        let found = |name: &str| &all.iter().find(|promise| promise["name"] == name).expect(name)["verdict"];
        assert_eq!(found("counts-each-once"), counts);
        assert_eq!(found("exclusion-among-live-sessions"), "held");
        assert_eq!(all.iter().filter(|promise| promise["name"] == "no-failure").count(), 1);
    }
    let report = searched(folder.path(), "0", &format!("both.py:adds_nothing {owes} {CALM}"));
    assert_eq!((&report["verdict"], &report["promise"]), (&"violated".into(), &"counts-each-once".into()));
}

/// Who was there twice was taken for one that had the lock twice.
#[test]
fn two_threads_at_one_lock_need_two_probes_and_one_probe_may_be_handed_over() {
    if python().is_none() {
        return;
    }
    let run = |function: &str| {
        of_programs("0", &format!("run programs.py:{function} --promises lock=/lock --seeds 4 {ALONE}"))
    };
    for (function, place) in [("by_one_probe", "237, in is_there"), ("by_tasks_of_one_probe", "261, in asks")]
    {
        let output = run(function);
        let line = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}");
        let told = "two of its threads tell of one lock by one probe, each needs a probe.thread(n) of its own: \
                    programs.py, line ";
        assert!(line.contains(&format!("{told}{place}")), "{line}");
    }
    assert_eq!(run("hands_over").status.code(), Some(0));
}

/// Python goes on, and the main thread said that all was well.
#[test]
fn a_program_fails_by_an_error_that_ends_one_of_its_threads() {
    if python().is_none() {
        return;
    }
    let run = |function: &str| {
        let words =
            format!("run programs.py:{function} --promises lock=/lock --seeds 4 --format json {ALONE}");
        json(&of_programs("0", &words))
    };
    let report = run("loses_a_thread");
    let fails = |it: &Value| it["name"] == "no-failure" && it["verdict"] == "broken";
    assert!(report["promises"].as_array().expect("a list").iter().any(fails), "{report:#}");
    let report = searched(
        &host().join("tests"),
        "0",
        &format!("programs.py:loses_a_thread --promises lock=/lock {CALM} --rounds 1"),
    );
    assert_eq!(report["promise"], "no-failure", "{report:#}");
    assert_eq!(run("loses_a_thread_with_its_session")["answer"], "held");
}

/// Its session was kept for ever, or expired while its client was taken for one that was connected.
#[test]
fn the_session_of_who_exits_with_status_0_ends_some_time_later() {
    if python().is_none() {
        return;
    }
    let words = "run programs.py:exits_with_the_lock --promises lock=/lock --seeds 6 --format json";
    let calm = "--set faults.client-crashes=0 --set faults.expiries=0 --set faults.client-pauses=0";
    let report = json(&of_programs("0", &format!("{words} {calm} --set faults.drops=0 {ALONE}")));
    assert_eq!(report["answer"], "held", "{report:#}");
    let check = |owed: &str| searched(&host().join("tests"), "0", &format!("programs.py:{owed} {CALM}"));
    let report = check("exits_with_the_lock --promises lock=/lock");
    assert_eq!(report["verdict"], "holds", "{report:#}");
    let report = check("exits_in_the_midst --promises counter=/counter");
    assert_eq!(report["promise"], "no-failure", "{report:#}");
}

/// It had to owe something else, which was never put to the test.
#[test]
fn a_program_may_owe_the_standard_promises_alone() {
    if python().is_none() {
        return;
    }
    for (function, status, verdict) in [("finds_what_it_has_made", 0, "holds"), ("fails", 1, "violated")] {
        let words = format!("programs.py:{function} --promises program=/program");
        let output = of_programs("0", &format!("run {words} --seeds 4 {ALONE}"));
        assert_eq!(output.status.code(), Some(status), "{function}: {output:?}");
        let report = searched(&host().join("tests"), "0", &format!("{words} {CALM}"));
        assert_eq!(report["verdict"], verdict, "{function}: {report:#}");
    }
}

/// They were logged at most, and the main thread said that all was well.
#[test]
fn a_program_fails_by_an_error_that_nobody_hears_of_and_by_no_other() {
    if python().is_none() {
        return;
    }
    let tests = host().join("tests");
    let calm = format!("--promises lock=/lock {CALM} --clients 1 --rounds 1");
    for function in ["loses_a_future", "loses_a_task", "loses_a_callback", "loses_a_watch"] {
        let report = searched(&tests, "0", &format!("programs.py:{function} {calm}"));
        assert_eq!(report["promise"], "no-failure", "{function}: {report:#}");
    }
    let run = |function: &str| {
        let words = format!("run programs.py:{function} --promises lock=/lock --seeds 4 --format json");
        json(&of_programs("0", &format!("{words} {ALONE}")))
    };
    for function in
        ["loses_a_future", "loses_a_task", "loses_a_pools_callback", "loses_a_watch", "loses_a_listener"]
    {
        let report = run(function);
        let fails = |it: &Value| it["name"] == "no-failure" && it["verdict"] == "broken";
        assert!(report["promises"].as_array().expect("a list").iter().any(fails), "{function}: {report:#}");
    }
    assert_eq!(run("asks_what_came_of_it")["answer"], "held");
}

/// The others put everything to the test, and nothing told that one of them was never judged.
#[test]
fn words_that_nothing_hears_are_named_and_who_tells_no_others_leaves_it_undecided() {
    if python().is_none() {
        return;
    }
    let run = |function: &str, owes: &str| {
        let words = format!("run programs.py:{function} --promises {owes} --seeds 2 {ALONE}");
        let output = of_programs("0", &words);
        let text = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        (output.status.code(), text)
    };
    let (status, text) = run("holds_another", "lock=/lock");
    let line = "nothing is owed about /lck, but p0 told \"attempts\", \"enters\", \"is granted\", \"leaves\", \"released\" of it";
    assert!(text.contains(line) && text.contains(": is /lock meant?"), "{text}");
    assert!(text.contains("undecided: nothing that p0 tells is judged: it is about /lck"), "{text}");
    assert_eq!(status, Some(3));
    let (status, text) = run("holds_another", "lock=/lock,program=/lck");
    assert!(status == Some(0) && !text.contains("nothing is owed about"), "{text}");
    let (status, text) = run("hums", "lock=/lock");
    assert!(status == Some(0) && text.contains("no promise hears \"hums\", but p0, "), "{text}");
    let words = format!("check programs.py:holds_another --promises lock=/lock {CALM} --rounds 1");
    let output = of_programs("0", &words);
    let text = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("nothing is owed about /lck, but p0 told "), "{text}");
}

/// Most people's do: they were refused, as they open connections of their own.
#[test]
fn a_program_may_make_its_client_itself_one_at_a_time() {
    if python().is_none() {
        return;
    }
    for (program, promises) in
        [("makes_its_client", "lock=/app/lock"), ("makes_a_client_a_round", "lock=/lock")]
    {
        let words =
            format!("run programs.py:{program} --promises {promises} --seeds 24 --jobs 1 --format json");
        let output = of_programs("0", &words);
        let report = json(&output);
        assert_eq!((output.status.code(), &report["answer"]), (Some(0), &"held".into()), "{report:#}");
        let words = format!("programs.py:{program} --promises {promises} {CALM}");
        let report = searched(&host().join("tests"), "0", &words);
        assert_eq!(report["verdict"], "holds", "{report:#}");
    }
    let words = "programs.py:makes_its_client_and_forgets_the_lock --promises lock=/app/lock";
    let report = json(&of_programs("0", &format!("run {words} --seeds 4 --format json")));
    assert_eq!(report["answer"], "broken", "{report:#}");
    let report = searched(&host().join("tests"), "0", &format!("{words} {CALM}"));
    assert_eq!(report["promise"], "exclusion-among-live-sessions", "{report:#}");
}

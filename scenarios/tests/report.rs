//! What a run leaves behind for people: pages, summaries, annotations, sequence diagrams.
#![cfg(feature = "run")]

use crate::common::{command, ran, report, zoocheck, zoocheck_in};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use zoocheck::reports::{CheckReport, EnsembleReport, JudgeReport, MutantsReport, SweepReport};

fn read(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join("out").join(name)).expect("the file")
}

#[test]
fn a_sweep_draws_what_broke_up_to_where_it_broke() {
    let dir = tempfile::tempdir().expect("a directory");
    let ran = zoocheck_in(dir.path(), "run lock/java --seeds 10 --redraws 2 --report out");
    assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
    let report = report::<SweepReport>(&read(dir.path(), "report.json"));
    let failures = report["failures"].as_array().expect("failures");
    let drawn: Vec<&Value> = failures.iter().filter(|failure| !failure["diagram"].is_null()).collect();
    assert!(!drawn.is_empty() && drawn.len() <= 10, "{} drawn", drawn.len());
    for failure in drawn {
        let diagram = &failure["diagram"];
        assert_eq!(diagram["until"], failure["virtual_ns"]);
        let points = diagram["points"].as_array().expect("points");
        let broken = |point: &&Value| point["kind"] == "broken" && point["promise"] == failure["promise"];
        assert!(points.iter().any(|point| broken(&point)), "{}: the break itself", failure["promise"]);
        let turns =
            |point: &Value| point["what"].as_str().is_some_and(|it| it.contains(" of 2 runs break it"));
        assert!(points.iter().any(turns), "{}: the turning point", failure["promise"]);
        assert!(!diagram["arrows"].as_array().expect("arrows").is_empty());
    }
    let page = read(dir.path(), "index.html");
    assert!(page.contains("<svg class=\"body\"") && page.contains("shrink lock/java --seed"), "a picture");
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(read(dir.path(), "summary.md").contains("❌ zoocheck: lock/java"));
}

#[test]
fn wake_ups_are_counted_by_how_many_wait() {
    let report = zoocheck("run lock --seeds 10 --format json").json::<SweepReport>();
    let herd = report["herd"].as_array().expect("somebody waits");
    let number = |point: &Value, key: &str| point[key].as_u64().expect("a number");
    assert!(herd.iter().any(|point| number(point, "contenders") > 1), "{herd:?}");
    for point in herd {
        assert!(number(point, "woken") >= number(point, "changes"), "{point}");
        assert!(number(point, "most") >= 1, "{point}");
    }
}

#[test]
fn a_counterexample_is_drawn_step_by_step() {
    let dir = tempfile::tempdir().expect("a directory");
    let ran = zoocheck_in(dir.path(), "check lock/simple --report out");
    assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
    let page = read(dir.path(), "index.html");
    for part in ["step 1<", "<svg class=\"body\"", "p1 waits for ever", "zoocheck check lock/simple"] {
        assert!(page.contains(part), "{part}");
    }
    report::<CheckReport>(&read(dir.path(), "report.json"));
}

#[test]
fn judgements_are_a_page() {
    let dir = tempfile::tempdir().expect("a directory");
    let ran = zoocheck_in(dir.path(), "judge lock/simple --seeds 20 --report out");
    assert!(matches!(ran.status, 0 | 3), "{}{}", ran.stdout, ran.stderr);
    assert!(read(dir.path(), "index.html").contains("lock/simple"));
    report::<JudgeReport>(&read(dir.path(), "report.json"));
}

#[test]
fn a_replay_is_a_sequence_diagram_if_asked_for() {
    let ran = zoocheck("replay lock/java --seed 1 --format mermaid");
    assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.starts_with("sequenceDiagram\n    participant l0 as s0\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("BROKEN") && ran.stdout.lines().count() < 300, "{}", ran.stdout);
    assert_eq!(zoocheck("replay lock/java --seed 1 --format mermaid").stdout, ran.stdout);
}

#[test]
fn an_ensemble_and_the_kill_matrix_leave_pages_too() {
    let dir = tempfile::tempdir().expect("a directory");
    for (command, held, part) in [
        (
            "check ensemble --servers 2 --crashes 0",
            report::<EnsembleReport> as fn(&str) -> Value,
            "bounds: 2 voters",
        ),
        (
            "mutants canary --seeds 1 --max-states 0",
            report::<MutantsReport>,
            "every mutant that should be found was found",
        ),
    ] {
        let ran = zoocheck_in(dir.path(), &format!("{command} --report out"));
        assert_eq!(ran.status, 0, "{command}: {}{}", ran.stdout, ran.stderr);
        held(&read(dir.path(), "report.json"));
        let page = read(dir.path(), "index.html");
        assert!(page.contains(part) && page.contains(&format!("zoocheck {command}<")), "{page}");
    }
}

#[test]
fn a_build_on_github_is_told_and_the_result_stays_json() {
    let dir = tempfile::tempdir().expect("a directory");
    let summary = dir.path().join("summary");
    let run = |summary: &Path| {
        let mut command = command(dir.path());
        command.args(["run", "lock/java", "--seeds", "5", "--format", "json"]);
        ran(command.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", summary))
    };
    let told = run(&summary);
    told.json::<SweepReport>();
    let errors: Vec<&str> = told.stderr.lines().filter(|line| line.starts_with("::error title=")).collect();
    assert!(!errors.is_empty(), "{}", told.stderr);
    run(&summary);
    let text = fs::read_to_string(&summary).expect("the summary");
    assert_eq!(text.matches("### ❌ zoocheck: lock/java").count(), 2, "appended, not overwritten");
    let nowhere = run(&dir.path().join("no/such/folder"));
    assert_eq!(nowhere.status, 2);
    assert!(nowhere.stderr.contains("GITHUB_STEP_SUMMARY: "), "{}", nowhere.stderr);
    nowhere.json::<SweepReport>();
}

/// A check and a judgement tell as a sweep does: files, annotations, a summary; each break once.
#[test]
fn checks_and_judgements_are_told_as_sweeps_are() {
    let dir = tempfile::tempdir().expect("a directory");
    let summary = dir.path().join("summary");
    let run = |arguments: &str, out: &str| {
        let mut command = command(dir.path());
        command.args(arguments.split(' ')).args(["--format", "json", "--report", out]);
        let ran = ran(command.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", &summary));
        let told = ran.stderr.lines().filter(|line| line.starts_with("::")).map(String::from).collect();
        let read = |name: &str| fs::read_to_string(dir.path().join(out).join(name)).expect(name);
        let junit = quick_junit::Report::deserialize_from_str(&read("junit.xml")).expect("JUnit");
        (ran.status, told, junit, read("summary.md"))
    };
    let (status, told, junit, text): (_, Vec<String>, _, _) =
        run("check lock/simple --promise no-waiter-stuck", "one");
    assert_eq!((status, told.len(), junit.failures, junit.errors), (1, 1, 1, 0), "{told:?}");
    let error = "::error title=check lock/simple%3A no-waiter-stuck is broken::broken in 13 steps%0A";
    let command = "%0Azoocheck check lock/simple --promise no-waiter-stuck --format json";
    assert!(told[0].starts_with(error) && told[0].ends_with(command), "{told:?}");
    assert!(text.starts_with("### ❌ zoocheck: lock/simple"), "{text}");

    // What is known to be broken is as expected.
    let (status, told, junit, text) = run("judge lock/simple --seeds 20", "two");
    assert_eq!((status, told.len(), junit.tests, junit.failures), (0, 0, 1, 0), "{told:?}");
    assert!(text.starts_with("### ✅ zoocheck: judge"), "{text}");
    let (status, told, junit, _) = run("judge lock --seeds 1 --max-states 10", "three");
    assert!(status == 3 || status == 1, "{status}");
    assert!(told.iter().any(|line| line.contains("title=judge lock%3A ")), "{told:?}");
    let is_passed =
        |case: &quick_junit::TestCase| matches!(case.status, quick_junit::TestCaseStatus::Success { .. });
    let cases = &junit.test_suites[0].test_cases;
    assert!(cases.len() > 10 && cases.iter().filter(|case| is_passed(case)).count() < cases.len());

    let (status, told, junit, _) = run("check ensemble --servers 2 --crashes 0 --max-depth 2", "four");
    assert_eq!((status, told.len(), junit.failures), (3, 1, 0), "{told:?}");
    assert!(told[0].starts_with("::warning title=check ensemble%3A undecided::undecided ("), "{told:?}");
    let all = fs::read_to_string(&summary).expect("the summary");
    assert_eq!(all.lines().filter(|line| line.starts_with("### ")).count(), 4, "{all}");
}

#[test]
fn shells_can_complete_its_words() {
    for (shell, word) in
        [("bash", "complete -F _zoocheck"), ("zsh", "#compdef zoocheck"), ("fish", "complete -c zoocheck")]
    {
        let ran = zoocheck(&format!("completions {shell}"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains(word) && ran.stdout.contains("replay"), "{shell}");
    }
    assert_eq!(zoocheck("completions tcsh").status, 2);
    let schema = zoocheck("schema zoocheck-sweep/3").stdout;
    assert!(
        schema.contains("json-schema.org/draft/2020-12") && schema.contains("\"until_covered\""),
        "{schema}"
    );
    assert_eq!(zoocheck("schema zoocheck-sweep/0").status, 2);
}

/// All words of a text that are options.
fn options(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let is_option =
        |word: &&str| word.strip_prefix("--").is_some_and(|it| it.starts_with(char::is_alphabetic));
    words.filter(is_option).map(String::from).collect()
}

#[test]
fn every_command_has_a_manual_page_with_all_of_its_options() {
    let of_all = zoocheck("manual").stdout;
    assert!(of_all.contains(".SH SYNOPSIS") && of_all.contains("Exit status:"), "{of_all}");
    let commands = of_all.lines().filter_map(|line| line.strip_prefix("zoocheck\\-")?.strip_suffix("(1)"));
    let commands: Vec<&str> = commands.collect();
    assert!(commands.len() > 15 && commands.contains(&"run"), "{commands:?}");
    for command in commands.into_iter().chain(["check ensemble", "scenario explain"]) {
        let page = zoocheck(&format!("manual {command}"));
        assert_eq!(page.status, 0, "{command}: {}", page.stderr);
        let name = format!("zoocheck-{}", command.replace(' ', "-"));
        assert!(page.stdout.contains(&format!(".TH {name} 1 ")), "{command}: {}", page.stdout);
        let (page, help) = (page.stdout.replace("\\-", "-"), zoocheck(&format!("{command} --help")).stdout);
        let missing: Vec<_> = options(&help).into_iter().filter(|option| !page.contains(option)).collect();
        assert!(missing.is_empty(), "{command}: {missing:?}");
    }
    let unknown = zoocheck("manual chek");
    assert_eq!((unknown.status, unknown.stderr.lines().count()), (2, 1), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("did you mean 'check'?"), "{}", unknown.stderr);
}

/// `UPDATE_TESTDATA` writes it.
#[test]
fn the_page_of_all_keys_of_a_scenario_is_what_the_command_writes() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/SCENARIO.md");
    let page = zoocheck("scenario explain --format markdown").stdout;
    if std::env::var_os("UPDATE_TESTDATA").is_some() {
        fs::write(file, &page).expect("written");
    }
    assert!(fs::read_to_string(file).expect("the page") == page, "UPDATE_TESTDATA=1 writes {file}");
    let some = zoocheck("scenario explain faults.drops clients").stdout;
    assert!(some.starts_with("clients = 5  (from 1 to 1000)\n    Client processes"), "{some}");
    assert!(zoocheck("scenario explain faults").stdout.matches(" = ").count() > 20);
    let unknown = zoocheck("scenario explain clints");
    assert_eq!((unknown.status, unknown.stderr.lines().count()), (2, 1), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("did you mean 'clients'?"), "{}", unknown.stderr);
}

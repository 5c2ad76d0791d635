//! The files under `deploy` are YAML, and the commands in them do what they are there for.
#![cfg(feature = "run")]

use crate::common::{command, ran, zoocheck};
use saphyr::{LoadableYamlNode, Yaml};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A variant that is broken. Looking for turning points takes longer than the rest of a sweep.
const BROKEN: &str = "lock/fails-at-loss --redraws 1";

fn files() -> Vec<(PathBuf, String)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy");
    let paths = fs::read_dir(dir).expect("the files").map(|entry| entry.expect("an entry").path());
    let paths = paths.filter(|path| path.extension().is_some_and(|it| it == "yml" || it == "yaml"));
    let mut files: Vec<_> =
        paths.map(|path| (path.clone(), fs::read_to_string(path).expect("UTF-8"))).collect();
    files.sort();
    assert!(files.len() >= 4);
    files
}

fn text_of(name: &str) -> String {
    files().into_iter().find(|(path, _)| path.ends_with(name)).expect(name).1
}

/// All texts of a document that hold a command of zoocheck.
fn scripts(node: &Yaml<'_>, out: &mut Vec<String>) {
    if let Some(text) = node.as_str()
        && text.contains("zoocheck r")
    {
        out.push(text.into());
    }
    for inner in node.as_sequence().into_iter().flatten() {
        scripts(inner, out);
    }
    for (_, inner) in node.as_mapping().into_iter().flat_map(|mapping| mapping.iter()) {
        scripts(inner, out);
    }
}

fn scripts_of(name: &str) -> Vec<String> {
    let text = text_of(name);
    let documents = Yaml::load_from_str(&text).expect(name);
    assert_eq!(documents.len(), 1, "{name}");
    let mut found = Vec::new();
    scripts(&documents[0], &mut found);
    assert!(!found.is_empty() || text.contains("args: [lock, "), "{name} runs zoocheck");
    found
}

#[test]
fn every_file_is_yaml_and_every_flag_in_it_is_there() {
    for (path, text) in files() {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(text.starts_with("# "), "{name} begins with its purpose");
        for script in scripts_of(&name) {
            for line in script.lines().filter(|line| line.contains("zoocheck r")) {
                let rest = line.split_once("zoocheck r").expect("a command").1;
                let verb = format!("r{}", rest.split(' ').next().expect("a verb"));
                let help = zoocheck(&format!("{verb} --help")).stdout;
                let flags = |text: &str| -> BTreeSet<String> {
                    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
                    words.filter(|word| word.starts_with("--")).map(String::from).collect()
                };
                let unknown: Vec<_> = flags(rest).difference(&flags(&help)).cloned().collect();
                assert!(unknown.is_empty(), "{name}: {line}: {unknown:?}");
            }
        }
    }
}

/// Runs a script of a file as CI or Kubernetes would, with zoocheck in the path and in the directory. What it wrote on
/// stderr comes with its status.
fn sh(dir: &Path, script: &str, variables: &[(&str, &str)]) -> (i32, String) {
    let path = format!("{}:{}", dir.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    for inherited in ["CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"] {
        command.env_remove(inherited);
    }
    command.current_dir(dir).args(["-ec", script]).env("PATH", path).envs(variables.iter().copied());
    let output = command.output().expect("sh is there");
    let status = output.status.code().unwrap_or_else(|| panic!("{script}: {output:?}"));
    (status, String::from_utf8(output.stderr).expect("UTF-8"))
}

/// A directory with zoocheck where the scripts look for it, and what that is called in there.
fn with_zoocheck() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("bin")).expect("created");
    let link = dir.path().join("bin/zoocheck");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_zoocheck"), link).expect("a link");
    dir
}

/// The files of a report, those of a sweep that was not shared with the name that the program has in the scripts.
fn same_as_whole(dir: &Path, report: &str) {
    let whole =
        ran(command(dir).args(["run"]).args(BROKEN.split(' ')).args(["--seeds", "60", "--report", "whole"]));
    assert_eq!(whole.status, 1, "{}", whole.stderr);
    for file in ["report.json", "junit.xml", "summary.md"] {
        let read = |report: &str| fs::read_to_string(dir.join(report).join(file)).expect("a file");
        let whole = read("whole").replace(env!("CARGO_BIN_EXE_zoocheck"), "zoocheck");
        assert!(read(report) == whole, "{file}, to the byte");
    }
}

/// Each bug is annotated once, and nothing that CI shows has a path of its machine.
fn told_once(dir: &Path, report: &str, said: &str) {
    let read = |file: &str| fs::read_to_string(dir.join(report).join(file)).expect("a file");
    let annotated: Vec<&str> = said.lines().filter(|line| line.starts_with("::error title=")).collect();
    let broken = read("junit.xml").matches("<failure ").count();
    assert!(broken > 1, "several promises are broken");
    let each: BTreeSet<&str> = annotated.iter().filter_map(|line| line.split("::").nth(1)).collect();
    assert_eq!((annotated.len(), each.len()), (broken, broken), "{said}");
    let root = dir.display().to_string();
    let all =
        [said.to_owned(), read("report.json"), read("junit.xml"), read("summary.md"), read("index.html")];
    for path in [root.as_str(), env!("CARGO_BIN_EXE_zoocheck")] {
        assert!(all.iter().all(|text| !text.contains(path)), "{path}");
    }
}

#[test]
fn the_matrix_of_github_actions_comes_to_the_unsharded_sweep_and_annotates_each_bug_once() {
    let dir = with_zoocheck();
    let dir = dir.path();
    let scripts = scripts_of("github-actions.yml");
    let [sweep, report] = scripts.as_slice() else { panic!("two scripts: {scripts:?}") };
    // A program of the test's is not to be changed; the artifact has lost its mode on its way.
    let shown = |script: &str| script.replace("chmod +x bin/zoocheck\n", "");
    // A variant that is broken: shares that find it are no errors, the whole is.
    let sweep = shown(sweep).replace("run lock ", &format!("run {BROKEN} "));
    let sweep = sweep.replace("${{ needs.build.outputs.seeds }}", "--seeds 60");
    let summary = dir.join("summary").display().to_string();
    let github = [("CI", "true"), ("GITHUB_ACTIONS", "true"), ("GITHUB_STEP_SUMMARY", summary.as_str())];
    let mut said = String::new();
    for index in 1..=4 {
        let sweep = sweep.replace("${{ matrix.shard }}", &index.to_string());
        assert!(!sweep.contains("${{"), "every expression was understood: {sweep}");
        let (status, stderr) = sh(dir, &sweep, &github);
        assert_eq!(status, 0, "{sweep}: {stderr}");
        said.push_str(&stderr);
    }
    assert!(!Path::new(&summary).exists(), "shards have no summary");
    let (status, stderr) = sh(dir, &shown(report), &github);
    assert_eq!(status, 1, "{report}: {stderr}");
    said.push_str(&stderr);
    told_once(dir, "report", &said);
    assert_eq!(fs::read_to_string(&summary).expect("one").matches("### ").count(), 1);
    same_as_whole(dir, "report");
}

#[test]
fn the_jobs_of_gitlab_come_to_the_unsharded_sweep() {
    let dir = with_zoocheck();
    let dir = dir.path();
    let text = text_of("gitlab-ci.yml");
    let scripts = scripts_of("gitlab-ci.yml");
    let [sweep, report] = scripts.as_slice() else { panic!("two scripts: {scripts:?}") };
    assert_eq!(text.matches("junit:").count(), 1, "each bug once");
    let changed = sweep.replace("run lock ", &format!("run {BROKEN} ")).replace("--seeds 2000", "--seeds 60");
    for index in ["1", "2", "3", "4"] {
        let job = [("CI", "true"), ("CI_NODE_INDEX", index), ("CI_NODE_TOTAL", "4")];
        let (status, stderr) = sh(dir, &changed, &job);
        assert_eq!(status, 0, "{changed}: {stderr}");
    }
    assert_eq!(sh(dir, report, &[("CI", "true")]).0, 1, "{report}");
    same_as_whole(dir, "report");

    // A nightly pipeline has the seeds of its day, whenever its jobs run.
    let dated = [
        ("CI_NODE_INDEX", "1"),
        ("CI_NODE_TOTAL", "4000"),
        ("CI_PIPELINE_SOURCE", "schedule"),
        ("CI_PIPELINE_CREATED_AT", "2026-11-22T23:59:58Z"),
    ];
    let other = tempfile::tempdir().expect("a directory");
    fs::rename(dir.join("bin"), other.path().join("bin")).expect("moved");
    assert_eq!(sh(other.path(), sweep, &dated).0, 0);
    let report = fs::read_to_string(other.path().join("shard-1/report.json")).expect("a report");
    let first = "\"first\": 20779000000000,";
    assert!(report.contains(first), "{first}");
}

/// The entry of the image, as a pod starts it.
fn pod(dir: &Path, arguments: &[&str], index: &str) -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/shard"));
    let path = format!("{}:{}", dir.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    command.current_dir(dir).args(arguments).env("PATH", path).env("ZOOCHECK_REPORTS", dir.join("reports"));
    command.env("ZOOCHECK_SHARDS", "4").env("JOB_COMPLETION_INDEX", index).stderr(Stdio::null());
    command
}

#[test]
fn the_pods_of_kubernetes_come_to_the_unsharded_sweep_though_each_is_started_again() {
    let dir = with_zoocheck();
    let dir = dir.path();
    let text = text_of("kubernetes-shards.yaml");
    assert!(text.contains("completions: 4") && text.contains("value: \"4\""), "the same number twice");
    assert!(text.contains("args: [lock, --seeds, \"20000\"]"), "{text}");
    for index in ["0", "1", "2", "3"] {
        // The second time is that of a pod that was started again.
        for _ in 0..2 {
            let arguments: Vec<&str> = BROKEN.split(' ').chain(["--seeds", "60"]).collect();
            let output = pod(dir, &arguments, index).output().expect("it starts");
            assert_eq!(output.status.code(), Some(0), "{output:?}");
        }
    }
    let reports = dir.join("reports").display().to_string();
    let report = scripts_of("kubernetes-report.yaml")[0].replace("/reports", &reports);
    assert_eq!(sh(dir, &report, &[]).0, 1, "{report}");
    same_as_whole(dir, "reports/all");
}

#[test]
fn a_pod_that_is_stopped_keeps_its_seeds_and_goes_on_from_there() {
    let dir = with_zoocheck();
    let dir = dir.path();
    let seeds: Vec<&str> = BROKEN.split(' ').chain(["--seeds", "1600", "--jobs", "1"]).collect();
    let mut child = pod(dir, &seeds, "2").stdout(Stdio::null()).spawn().expect("it starts");
    let saved = dir.join("reports/shard-2/report.json");
    while !saved.exists() {
        std::thread::yield_now();
    }
    let stopped = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(stopped.expect("kill is there").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(1), "it is to be started again");
    let read = || -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(&saved).expect("a report")).expect("JSON")
    };
    let (count, missing) =
        (read()["seeds"]["count"].as_u64().expect("a number"), read()["seeds"]["missing"][0].clone());
    assert!((1..400).contains(&count), "{count}");
    // All seeds of its share before that were run: 2, 6, 10 …
    assert_eq!(missing["from"].as_u64(), Some(2 + 4 * count), "{missing}");
    let output = pod(dir, &seeds, "2").output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(read()["seeds"]["count"], 400);
}

#[test]
fn what_cannot_be_run_fails_the_pod() {
    let dir = with_zoocheck();
    let output = pod(dir.path(), &["lock/jaba"], "0").output().expect("it starts");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn the_image_has_the_files_that_it_is_made_of() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = fs::read_to_string(root.join("scenarios/deploy/Dockerfile")).expect("UTF-8");
    let copied: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("COPY ")).collect();
    assert_eq!(copied.len(), 4, "{copied:?}");
    for line in copied.iter().filter(|line| !line.starts_with("--from=")) {
        let source = line.split(' ').next().expect("a source");
        assert!(root.join(source).exists(), "{source}");
    }
    assert!(text.contains("COPY scenarios/deploy/shard /usr/local/bin/shard\n"), "{text}");
    assert!(text.ends_with("ENTRYPOINT [\"shard\"]\n"), "{text}");
}

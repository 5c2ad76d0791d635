//! The files under `deploy` are YAML, and the commands in them do what they are there for.
#![cfg(feature = "run")]

mod common;

use common::{command, ran, zoocheck, zoocheck_in};
use saphyr::{LoadableYamlNode, Yaml};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn files() -> Vec<(PathBuf, String)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy");
    let paths = fs::read_dir(dir).expect("the files").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> =
        paths.map(|path| (path.clone(), fs::read_to_string(path).expect("UTF-8"))).collect();
    files.sort();
    assert!(files.len() >= 3);
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
    assert!(!found.is_empty(), "{name} runs zoocheck");
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

/// Runs a script of a file as CI or Kubernetes would, with zoocheck in the path and in the directory.
fn sh(dir: &Path, script: &str, variables: &[(&str, &str)]) -> i32 {
    let path = format!("{}:{}", dir.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.current_dir(dir).args(["-ec", script]).env("PATH", path).envs(variables.iter().copied());
    let output = command.output().expect("sh is there");
    output.status.code().unwrap_or_else(|| panic!("{script}: {output:?}"))
}

fn with_zoocheck(dir: &Path, name: &str) {
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_zoocheck"), dir.join(name)).expect("a link");
}

#[test]
fn the_matrix_of_github_actions_comes_to_the_unsharded_sweep() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    with_zoocheck(dir, "zoocheck");
    let scripts = scripts_of("github-actions.yml");
    let [sweep, report] = scripts.as_slice() else { panic!("two scripts: {scripts:?}") };
    // A program of the test's is not to be changed; the artifact has lost its mode on its way.
    let sweep = sweep.replace("chmod +x zoocheck\n", "");
    // A variant that is broken: shares that find it are no errors, the whole is.
    let sweep = sweep
        .replace("run lock ", "run lock/java ")
        .replace("${{ needs.build.outputs.seeds }}", "--seeds 60");
    for index in 1..=4 {
        let sweep = sweep.replace("${{ matrix.shard }}", &index.to_string());
        assert!(!sweep.contains("${{"), "every expression was understood: {sweep}");
        assert_eq!(sh(dir, &sweep, &[]), 0, "{sweep}");
    }
    let report =
        report.replace("chmod +x zoocheck/zoocheck\n", "").replace("./zoocheck/zoocheck", "./zoocheck");
    assert_eq!(sh(dir, &report, &[]), 1, "{report}");
    assert_eq!(ran(command(dir).args(["run", "lock/java", "--seeds", "60", "--report", "whole"])).status, 1);
    // The command to copy names the program as it was called.
    let read = |report: &str| {
        let text = fs::read_to_string(dir.join(report).join("report.json")).expect("a report");
        text.replace(env!("CARGO_BIN_EXE_zoocheck"), "zoocheck").replace("./zoocheck", "zoocheck")
    };
    assert!(read("report") == read("whole"), "to the byte");
}

#[test]
fn the_pods_of_kubernetes_come_to_the_unsharded_sweep_though_each_is_started_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    with_zoocheck(dir, "zoocheck");
    let reports = dir.join("reports").display().to_string();
    fs::create_dir(&reports).expect("created");
    let text = text_of("kubernetes-shards.yaml");
    let there = |script: &str| script.replace("/reports", &reports);
    let sweep = there(&scripts_of("kubernetes-shards.yaml")[0]);
    let sweep = sweep.replace("run lock --seeds 20000", "run lock/java --seeds 60");
    assert!(text.contains("completions: 4") && text.contains("value: \"4\""), "the same number twice");
    for index in ["0", "1", "2", "3"] {
        let pod = [("ZOOCHECK_SHARDS", "4"), ("JOB_COMPLETION_INDEX", index)];
        // The second time is that of a pod that was started again.
        assert_eq!((sh(dir, &sweep, &pod), sh(dir, &sweep, &pod)), (0, 0), "{sweep}");
    }
    let report = there(&scripts_of("kubernetes-report.yaml")[0]);
    assert_eq!(sh(dir, &report, &[]), 1, "{report}");
    assert_eq!(zoocheck_in(dir, "run lock/java --seeds 60 --report whole").status, 1);
    let read = |report: &str| {
        let text = fs::read_to_string(dir.join(report).join("report.json")).expect("a report");
        text.replace(env!("CARGO_BIN_EXE_zoocheck"), "zoocheck")
    };
    assert!(read("reports/all") == read("whole"), "to the byte");
}

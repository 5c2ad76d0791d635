//! What `zoocheck new` writes: each kind of recipe, judged; and the files.
#![cfg(feature = "run")]

use crate::common::zoocheck_in;

#[allow(dead_code, reason = "it has a main of its own")]
#[path = "../templates/barrier.rs"]
mod barrier;
#[allow(dead_code, reason = "it has a main of its own")]
#[path = "../templates/election.rs"]
mod election;
// Its own tests are among these.
#[allow(dead_code, reason = "it has a main of its own")]
#[path = "../examples/own-recipe/src/main.rs"]
mod lock;
#[allow(dead_code, reason = "it has a main of its own")]
#[path = "../templates/queue.rs"]
mod queue;

#[test]
fn each_kind_is_a_crate_of_its_own() {
    let dir = tempfile::tempdir().expect("a directory");
    for kind in ["lock", "queue", "barrier", "election"] {
        let ran = zoocheck_in(dir.path(), &format!("new any-{kind} --kind {kind}"));
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
        assert!(ran.stdout.contains(&format!("cargo run -- check any-{kind} ")), "{}", ran.stdout);
        let read = |file: &str| {
            let file = dir.path().join(format!("any-{kind}")).join(file);
            std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
        };
        let manifest: toml::Table = read("Cargo.toml").parse().expect("TOML");
        assert_eq!(manifest["package"]["name"].as_str(), Some(format!("any-{kind}").as_str()));
        let path = manifest["dependencies"]["zoocheck"]["path"].as_str().expect("a path");
        assert!(std::path::Path::new(path).join("src/lib.rs").exists(), "{path}");
        assert!(read("src/main.rs").contains("fn main()"));
        assert!(read(".cargo/config.toml").contains("madsim"));
        assert!(read(".github/workflows/recipe.yml").contains(&format!("run any-{kind} --seeds")));
    }
}

#[test]
fn nothing_is_written_over_and_a_bad_name_is_told() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(dir.path().join("my-lock")).expect("a directory can be made");
    for (arguments, words) in [
        ("new my-lock", "my-lock: cannot make this directory"),
        ("new My_Lock", "'My_Lock' cannot be its name"),
        ("new mylock", "at least two words of lower-case letters and digits, joined by '-'"),
        ("new try-lock", "'try-lock' is a recipe of zoocheck's"),
        ("new your-lock --zoocheck .", "the sources of zoocheck are not in ."),
    ] {
        let ran = zoocheck_in(dir.path(), arguments);
        assert_eq!(ran.status, 2, "{arguments}");
        assert!(ran.stderr.contains(words), "{arguments}: {}", ran.stderr);
    }
    assert_eq!(std::fs::read_dir(dir.path()).expect("a directory").count(), 1, "nothing else is there");
}

//! Interaction scripts: `testdata/*/*.txt`, one verb or one fact a file.

#[path = "common/harness.rs"]
mod harness;
#[path = "common/script.rs"]
mod script;

use harness::Harness;

#[test]
fn the_tree_follows_its_scripts() {
    script::run_dir("tree", Harness::new, Harness::run);
}

#[test]
fn the_watches_follow_their_scripts() {
    script::run_dir("watch", Harness::new, Harness::run);
}

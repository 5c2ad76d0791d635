//! Interaction scripts: `testdata/*/*.txt`, one verb or one fact a file.

use crate::harness::Harness;

#[test]
fn the_tree_follows_its_scripts() {
    crate::script::run_dir("tree", Harness::new, Harness::run);
}

#[test]
fn the_watches_follow_their_scripts() {
    crate::script::run_dir("watch", Harness::new, Harness::run);
}

//! Interaction scripts: `testdata/*/*.txt`, one verb or one fact a file.

#[path = "common/script.rs"]
mod script;

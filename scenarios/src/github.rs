//! What a build on GitHub is told: annotations, and a summary of the job.

use crate::BadInput;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;
use zk_reports::{Report, annotations};

/// Tells what came of a command, if this is a build on GitHub and the report has cases.
///
/// Annotations go to stderr: GitHub reads both, and stdout is for results, which may be JSON.
pub(crate) fn tell(report: &impl Report) -> Result<(), BadInput> {
    let Some(suite) = report.suite() else { return Ok(()) };
    if std::env::var_os("GITHUB_ACTIONS").is_some_and(|is| is == "true") {
        // Nobody to tell is no reason to fail.
        let _ = std::io::stderr().write_all(annotations(&suite).as_bytes());
    }
    match std::env::var_os("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty()) {
        Some(file) => append(&file, &report.markdown()),
        None => Ok(()),
    }
}

fn append(file: &OsString, text: &str) -> Result<(), BadInput> {
    let opened = OpenOptions::new().append(true).create(true).open(file);
    opened
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| bad!("GITHUB_STEP_SUMMARY: {}: cannot write: {error}", file.to_string_lossy()))
}

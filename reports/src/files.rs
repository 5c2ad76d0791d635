//! Files that are there whole or not at all.

use crate::{REPORT_FILE, Report, SweepReport, junit, to_json};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {tried}: {source}")]
pub struct FileError {
    path: String,
    tried: &'static str,
    source: io::Error,
}

/// Writes all that a sweep leaves behind into a directory, each file whole.
///
/// `report.json` comes first: the others can be made from it again. How long it took is in none of them, so that they
/// are the same to the byte wherever and however often a sweep is run.
pub fn write_dir(report: &SweepReport, dir: &Path) -> Result<(), FileError> {
    let mut report = SweepReport { wall_seconds: None, ..report.clone() };
    // Where shards were merged, each had the first of its own.
    report.draw(|_, _| None);
    write_report(&report, dir)
}

/// As [`write_dir`], for any report: as data and as a page and, if it has cases, those and a summary.
pub fn write_report(report: &impl Report, dir: &Path) -> Result<(), FileError> {
    let write = |name: &str, text: String| write_whole(&dir.join(name), text.as_bytes());
    write(REPORT_FILE, to_json(report))?;
    if let Some(suite) = report.suite() {
        write("junit.xml", junit(&suite))?;
        write("summary.md", report.markdown())?;
    }
    write("index.html", report.html())
}

/// Writes only `report.json`, with what an unfinished sweep has so far.
pub fn write_so_far(report: &SweepReport, dir: &Path) -> Result<(), FileError> {
    let report = SweepReport { wall_seconds: None, ..report.clone() };
    write_whole(&dir.join(REPORT_FILE), to_json(&report).as_bytes())
}

/// Makes sure that files can be written into a directory, which is created if it is missing.
///
/// Called before the work that fills it, so that an hour's sweep does not end at a read-only disk.
pub fn prepare_dir(dir: &Path) -> Result<(), FileError> {
    fs::create_dir_all(dir).map_err(|source| error(dir, "cannot create the directory", source))?;
    let probe = beside(&dir.join("probe"));
    fs::write(&probe, b"").map_err(|source| error(dir, "cannot write into the directory", source))?;
    fs::remove_file(&probe).map_err(|source| error(dir, "cannot write into the directory", source))
}

/// As [`prepare_dir`], for a directory that is to hold a report. A report of ours will be replaced; a file that is not
/// ours is an error.
pub fn prepare_report_dir(dir: &Path) -> Result<(), FileError> {
    if let Some((file, why)) = crate::saved::foreign(dir) {
        let source = io::Error::new(io::ErrorKind::AlreadyExists, format!("{why}, and is not overwritten"));
        return Err(error(&file, "cannot write the report", source));
    }
    prepare_dir(dir)
}

/// As [`prepare_dir`], for a directory that must be new or empty.
pub fn prepare_new_dir(dir: &Path) -> Result<(), FileError> {
    let full = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
    if full || dir.is_file() {
        let source = io::Error::new(io::ErrorKind::AlreadyExists, "it exists, and is not overwritten");
        return Err(error(dir, "cannot write the report", source));
    }
    prepare_dir(dir)
}

/// Makes sure that a new file can be written there. Called before the work that fills it.
pub fn prepare_file(path: &Path) -> Result<(), FileError> {
    if path.exists() {
        let source = io::Error::new(io::ErrorKind::AlreadyExists, "it exists, and is not overwritten");
        return Err(error(path, "cannot write the file", source));
    }
    let probe = beside(path);
    let written = fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe));
    written.map_err(|source| error(path, "cannot write the file", source))
}

/// Writes a file under another name and renames it, so that nobody ever sees half of it.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let temporary = beside(path);
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    written.map_err(|source| {
        // The first error is the one to tell; what is left behind has a name that says so.
        let _ = fs::remove_file(&temporary);
        error(path, "cannot write the file", source)
    })
}

/// A hidden name in the same directory, hence on the same file system; no other process uses it.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

fn error(path: &Path, tried: &'static str, source: io::Error) -> FileError {
    FileError { path: path.display().to_string(), tried, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("report.json");
        write_whole(&path, b"one").expect("written");
        write_whole(&path, b"two").expect("replaced");
        assert_eq!(fs::read(&path).expect("there"), b"two");
        assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 1);
    }

    #[test]
    fn a_failed_write_leaves_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("taken");
        fs::create_dir(&path).expect("created");
        let error = write_whole(&path, b"one").expect_err("a directory is in the way").to_string();
        assert!(error.contains("taken: cannot write the file"), "{error}");
        assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 1);
    }

    #[test]
    fn a_new_file_neither_replaces_another_nor_lies_where_nothing_can_be() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("new.toml");
        prepare_file(&path).expect("there is room");
        assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 0);
        fs::write(&path, b"one").expect("written");
        let error = prepare_file(&path).expect_err("it is taken").to_string();
        assert!(error.contains("not overwritten"), "{error}");
        prepare_file(&dir.path().join("none/new.toml")).expect_err("there is no such directory");
    }

    #[test]
    fn a_directory_that_cannot_be_is_noticed() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("file");
        fs::write(&file, b"").expect("written");
        prepare_dir(&file).expect_err("a file is in the way");
        prepare_dir(&dir.path().join("a/b")).expect("created");
        assert_eq!(fs::read_dir(dir.path().join("a/b")).expect("there").count(), 0);
    }
}

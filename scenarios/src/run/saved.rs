//! What a sweep saves as it goes, so that another one can go on.

use super::SoFar;
use crate::BadInput;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use zk_reports::{
    FileError, SweepReport, difference, prepare_dir, prepare_report_dir, read_sweep, report_file,
    write_so_far,
};

/// The time between two savings: what a process that is killed loses.
const BETWEEN: Duration = Duration::from_secs(5);

/// What is kept free for the last report, by a file that is there for nothing else.
const RESERVED_BYTES: usize = 1 << 20;

/// The report of a sweep that goes on, in its directory.
pub(crate) struct Saving {
    dir: PathBuf,
    last: Option<Instant>,
    reserve: Reserve,
    /// Why it could not be saved any more.
    pub(crate) failed: Option<FileError>,
}

impl Saving {
    /// Into a directory that is made, or is there. `asked` is the report of the sweep before its first seed; with
    /// `resume` it is compared with the one in the directory, and that is given back. Without, a sweep in there that
    /// has not ended is not overwritten.
    pub(crate) fn open(
        dir: &Path,
        resume: bool,
        asked: &SweepReport,
    ) -> Result<(Saving, Option<SweepReport>), BadInput> {
        let reserve = Reserve::of(dir)?;
        let file = report_file(dir);
        let shown = file.display();
        let before = match (file.exists(), resume) {
            (false, _) => None,
            (true, true) => {
                let before = read_sweep(dir).map_err(BadInput::new)?;
                if let Some(difference) = other(asked, &before) {
                    return Err(bad!("--resume: {shown}: {difference} as asked for"));
                }
                Some(before)
            }
            // A report of something else than a sweep is replaced.
            (true, false) => match read_sweep(dir) {
                Ok(before) if !before.is_complete() && before.seeds.count > 0 => {
                    return Err(bad!(
                        "{shown}: a sweep that did not end; --resume goes on with it, another --report leaves it"
                    ));
                }
                Ok(_) | Err(_) => None,
            },
        };
        Ok((Saving { dir: dir.to_path_buf(), last: None, reserve, failed: None }, before))
    }

    /// Saves if it is time to, and so at once the first time: a disk that is full is noticed then. Breaks if it cannot:
    /// what was saved before is there still, and seeds that cannot be saved are run for nothing.
    pub(crate) fn now_and_then(&mut self, so_far: &SoFar<'_>) -> ControlFlow<()> {
        if self.last.is_some_and(|last| last.elapsed() < BETWEEN) {
            return ControlFlow::Continue(());
        }
        match write_so_far(&so_far.report(), &self.dir) {
            Ok(()) => {
                self.last = Some(Instant::now());
                ControlFlow::Continue(())
            }
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Gives back what was kept free: what is written next is the last.
    pub(crate) fn free(&self) {
        self.reserve.free();
    }

    /// The directory.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
}

/// A file of a sweep that goes on: it keeps others out, and is as large as what is to be kept free.
struct Reserve {
    path: PathBuf,
    /// Locked. Whoever is gone has it no more, however he went.
    file: File,
}

impl Reserve {
    /// Fails if a report cannot be written there, or another sweep is writing one.
    fn of(dir: &Path) -> Result<Reserve, BadInput> {
        prepare_dir(dir)?;
        let path = dir.join(".reserve.tmp");
        let shown = path.display();
        let file = File::options().write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|error| bad!("{shown}: cannot write the file: {error}"))?;
        // Where nothing can be locked, nothing is.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(bad!("{}: another sweep is being written there", dir.display()));
        }
        let reserve = Reserve { path, file };
        prepare_report_dir(dir)?;
        // Without it a full disk keeps what was saved last, which is less.
        let _ = (&reserve.file).write_all(&vec![b'.'; RESERVED_BYTES]);
        Ok(reserve)
    }

    /// Gives the room back; others are still kept out.
    fn free(&self) {
        let _ = self.file.set_len(0);
    }
}

impl Drop for Reserve {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// How a report is not that of the sweep that is asked for.
fn other(asked: &SweepReport, before: &SweepReport) -> Option<String> {
    let shard = |report: &SweepReport| report.seeds.shard.clone().unwrap_or_else(|| "none".into());
    difference(asked, before).or_else(|| {
        let (one, other) = (shard(asked), shard(before));
        // What is missing of several shards is no end of one sweep.
        let merged = before.seeds.missing.iter().any(|missing| missing.shard != before.seeds.shard);
        let other = if merged { "several, merged".into() } else { other };
        (one != other).then(|| format!("shard: {other}, and not {one}"))
    })
}

//! `shared-lock/writer-watches-writers`: writers wait for writers alone.

use super::stage::{of_reader, promises_without_tokens, round};
use crate::common::Stop;
use crate::lock::{LockKind, Stage};
use crate::promise::AnyPromise;
use crate::trial::{About, Bounds, Breaks, Reductions};

/// A writer waits for the next lower writer, as a reader does, and enters beside readers that came before it (S-123).
#[derive(Clone, Copy, Debug)]
pub struct WriterWatchesWriters;

impl LockKind for WriterWatchesWriters {
    fn about(&self) -> About {
        About {
            name: "shared-lock/writer-watches-writers",
            summary: "Writers wait for the writers before them, and not for readers.",
            source: "mutant of the recipe",
            breaks: Some(Breaks { promise: "exclusion-among-live-sessions", defect: "S-123", fault: "none" }),
            bounds: Bounds::clients(2),
            reductions: Reductions::default(),
        }
    }

    fn promises(&self) -> Vec<Box<dyn AnyPromise>> {
        promises_without_tokens()
    }

    async fn turn(&self, stage: &Stage) -> Result<(), Stop> {
        // The rule of a reader for both.
        round(stage, of_reader, of_reader).await
    }
}

//! Work on many cores, with one result whatever the number of cores.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;

/// Does this with each of these numbers on so many threads, and gives out what came of them in their order, until
/// `each` has enough. What is done by then of later ones is thrown away.
pub(crate) fn in_order<R: Send>(
    numbers: Range<u64>,
    jobs: usize,
    work: impl Fn(u64) -> R + Sync,
    mut each: impl FnMut(R) -> ControlFlow<()>,
) {
    let (next, stop) = (&AtomicU64::new(numbers.start), &AtomicBool::new(false));
    let (end, work) = (numbers.end, &work);
    let all = usize::try_from(end.saturating_sub(numbers.start)).unwrap_or(usize::MAX);
    let jobs = jobs.clamp(1, all.max(1));
    let (sender, receiver) = mpsc::sync_channel(4 * jobs);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let sender = sender.clone();
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= end || sender.send((number, work(number))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        // What came before its turn.
        let mut early = BTreeMap::new();
        let mut turn = numbers.start;
        for (number, result) in receiver {
            early.insert(number, result);
            while let Some(result) = early.remove(&turn) {
                turn += 1;
                if each(result).is_break() {
                    stop.store(true, Ordering::Relaxed);
                    return;
                }
            }
        }
    });
}

/// What came of each, in their order. `progress` learns how many are done.
pub(crate) fn each_of<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    work: impl Fn(&T) -> R + Sync,
    progress: &mut dyn FnMut(u64),
) -> Vec<R> {
    let mut all = Vec::new();
    in_order(
        0..items.len() as u64,
        jobs,
        |nth| work(&items[nth as usize]),
        |result| {
            all.push(result);
            progress(all.len() as u64);
            ControlFlow::Continue(())
        },
    );
    all
}

//! Somebody wants the command to end.

use crate::BadInput;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
#[cfg(feature = "run")]
use signal_hook::low_level::signal_name;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// What is under way is waited for so long: a step that never ends is found before.
const GRACE: Duration = Duration::from_secs(20);

/// Signals within so long after the first one are one with it.
const SOON: Duration = Duration::from_secs(2);

/// Whether Ctrl-C was pressed, or the machine that runs this is taken away.
pub(crate) struct Interrupt {
    #[cfg(feature = "run")]
    signal: Arc<AtomicUsize>,
    seen: Arc<AtomicBool>,
}

impl Interrupt {
    /// From now on the first signal is seen here. One that comes soon after it is the same: `timeout` sends its signal
    /// to the process, and again to its group. A later one ends the process, as ever: who sends two means it. So does
    /// the first, after a while, where nobody looks at it.
    pub(crate) fn watch() -> Result<Interrupt, BadInput> {
        let signal = Arc::new(AtomicUsize::new(0));
        let (seen, again) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        for number in [SIGINT, SIGTERM] {
            flag::register_conditional_default(number, again.clone())
                .and_then(|_| flag::register(number, seen.clone()))
                .and_then(|_| flag::register_usize(number, signal.clone(), number as usize))
                .map_err(unheard)?;
        }
        let sent = signal.clone();
        std::thread::spawn(move || {
            while sent.load(Ordering::Relaxed) == 0 {
                std::thread::sleep(Duration::from_millis(100));
            }
            std::thread::sleep(SOON);
            again.store(true, Ordering::Relaxed);
            std::thread::sleep(GRACE - SOON);
            std::process::exit(128 + sent.load(Ordering::Relaxed) as i32);
        });
        Ok(Interrupt {
            #[cfg(feature = "run")]
            signal,
            seen,
        })
    }

    /// Set when it comes, for who looks at that alone.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        self.seen.clone()
    }

    /// The signal's name.
    #[cfg(feature = "run")]
    pub(crate) fn seen(&self) -> Option<&'static str> {
        signal_name(i32::try_from(self.signal.load(Ordering::Relaxed)).ok()?)
    }
}

/// From now on a signal ends the process, and tells how far it was.
#[cfg(feature = "run")]
pub(crate) fn end_with(how_far: Arc<std::sync::Mutex<String>>) -> Result<(), BadInput> {
    use std::io::Write;
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).map_err(unheard)?;
    std::thread::spawn(move || {
        let Some(number) = signals.forever().next() else { return };
        let how_far = how_far.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let by = signal_name(number).unwrap_or("a signal");
        let _ = writeln!(std::io::stderr(), "stopped by {by}, without an answer: {how_far}");
        std::process::exit(128 + number);
    });
    Ok(())
}

fn unheard(error: std::io::Error) -> BadInput {
    bad!("cannot wait for signals: {error}")
}

//! What a run or a search is at, for whoever waits for it: a step that never ends cannot say so itself.
//!
//! The only place of a run where the time outside counts: the processor time that one step takes, and what a step may
//! last that takes none, as it waits for something that no run can bring.
//!
//! ```
//! use zk_harness::pulse::{Acting, Pulse, watch};
//!
//! let pulse = Pulse::default();
//! let of_run = pulse.clone();
//! let run = move || {
//!     of_run.acts(Acting::Task(3));
//!     "done"
//! };
//! assert_eq!(watch(&pulse, run, || ()), Ok("done"));
//! // Of a run that hung there, the error would say:
//! assert_eq!(Acting::Task(3).to_string(), "the recipe of p3 does not end its turn");
//! ```

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// One step may take so much processor time: thousands of times what any takes.
const MOST: Duration = Duration::from_secs(8);

/// And may wait so long.
const MOST_WAIT: Duration = Duration::from_secs(120);

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Of the thread that is waited for: code that is not optimised needs more.
const STACK_BYTES: usize = 8 << 20;

/// Shared by a run and whoever waits for it.
#[derive(Clone, Debug, Default)]
pub struct Pulse {
    beat: Arc<Mutex<Beat>>,
    /// Whose steps do not end.
    #[cfg(feature = "mutants")]
    endless: Option<Acting>,
}

/// Steps are counted, so that one is told from the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Beat {
    count: u64,
    acts: Acting,
    /// The run's thread, where the operating system shows it.
    thread: Option<PathBuf>,
}

/// Who acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acting {
    /// The simulator itself.
    #[default]
    Simulation,
    /// A search, which may take as long as it likes: what it does has limits of its own.
    Search,
    /// The server of this number.
    Server(u8),
    /// The client library of this process.
    Client(u16),
    /// A task of this process: its recipe.
    Task(u16),
    /// The invariants, as they are shown something by this call.
    Invariants(&'static str),
    /// The promise of this name.
    Promise(&'static str),
}

impl fmt::Display for Acting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Acting::Simulation => write!(f, "the simulator does not end its step"),
            Acting::Search => write!(f, "the search goes on"),
            Acting::Server(id) => write!(f, "s{id} does not end its step"),
            Acting::Client(id) => write!(f, "the session of p{id} does not end its step"),
            Acting::Task(id) => write!(f, "the recipe of p{id} does not end its turn"),
            // As in `invariants.applied(…)`.
            Acting::Invariants(call) => {
                let what = call.split('(').next().unwrap_or_default().trim();
                write!(f, "an invariant does not end as it is shown '{what}'")
            }
            Acting::Promise(name) => write!(f, "the promise {name} does not end its look"),
        }
    }
}

impl Pulse {
    /// Of a run in which somebody's steps do not end.
    #[cfg(feature = "mutants")]
    pub fn endless(acting: Acting) -> Pulse {
        Pulse { endless: Some(acting), ..Pulse::default() }
    }

    /// It begins in this thread.
    fn begin(&self) {
        self.beat().thread = std::fs::read_link("/proc/thread-self").ok();
    }

    /// Somebody begins to act. Returns who acted before. A run calls it many times a step, out of another crate.
    #[inline]
    pub fn acts(&self, acts: Acting) -> Acting {
        let mut beat = self.beat();
        beat.count += 1;
        let former = std::mem::replace(&mut beat.acts, acts);
        drop(beat);
        #[cfg(feature = "mutants")]
        while self.endless == Some(acts) {
            std::hint::spin_loop();
        }
        former
    }

    #[inline]
    fn beat(&self) -> std::sync::MutexGuard<'_, Beat> {
        self.beat.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does `work` in a new thread, and returns its result; or fails with whoever acts in there without coming to an end,
/// in which case that thread goes on until the process ends. A step has no end if it takes more than 8 s of processor
/// time, or lasts for more than 120 s. Calls `meanwhile` twice a second. A panic of `work` goes on in the caller.
pub fn watch<T: Send + 'static>(
    pulse: &Pulse,
    work: impl FnOnce() -> T + Send + 'static,
    mut meanwhile: impl FnMut(),
) -> Result<T, Acting> {
    let (sender, ended) = mpsc::channel();
    let of_thread = pulse.clone();
    let run = move || {
        of_thread.begin();
        // Nobody waits for one that came to no end.
        sender.send(catch_unwind(AssertUnwindSafe(work))).ok();
    };
    let thread = Builder::new().stack_size(STACK_BYTES).spawn(run).expect("a thread can be started");
    let mut watchdog = Watchdog::new(pulse.clone());
    loop {
        match ended.recv_timeout(LOOK_EVERY) {
            Ok(done) => {
                thread.join().ok();
                return Ok(done.unwrap_or_else(|panic| resume_unwind(panic)));
            }
            Err(RecvTimeoutError::Timeout) => {
                meanwhile();
                if let Some(acting) = watchdog.looks() {
                    return Err(acting);
                }
            }
            Err(RecvTimeoutError::Disconnected) => panic!("a thread has ended without a word"),
        }
    }
}

/// Looks at a run now and then.
struct Watchdog {
    pulse: Pulse,
    seen: Beat,
    cpu: Duration,
    since: Instant,
}

impl Watchdog {
    fn new(pulse: Pulse) -> Watchdog {
        let seen = pulse.beat().clone();
        Watchdog { pulse, seen, cpu: Duration::ZERO, since: Instant::now() }
    }

    /// Who does not end his step, if somebody does not.
    fn looks(&mut self) -> Option<Acting> {
        let now = self.pulse.beat().clone();
        let cpu = now.thread.as_ref().and_then(cpu_of).unwrap_or_else(|| self.since.elapsed());
        if now != self.seen || now.acts == Acting::Search {
            (self.seen, self.cpu, self.since) = (now, cpu, Instant::now());
            return None;
        }
        let is_endless = cpu.saturating_sub(self.cpu) > MOST || self.since.elapsed() > MOST_WAIT;
        is_endless.then_some(now.acts)
    }
}

/// The processor time of a thread. Source: `proc_pid_stat(5)`; a tick of these is a hundredth of a second.
fn cpu_of(thread: &PathBuf) -> Option<Duration> {
    let stat = std::fs::read_to_string(PathBuf::from("/proc").join(thread).join("stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    Some(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
}

//! Ends workers that do not answer. The only place of a hosted run where the time outside counts.

use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long a worker may be about one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of processor time.
    pub cpu: Duration,
    /// Outside, without any processor time: a machine that is busy with something else leaves some.
    pub wait: Duration,
    /// Outside, whatever it does: some wake up now and then for ever.
    pub all: Duration,
}

impl Default for Limits {
    /// Ten thousands of times what a step takes.
    fn default() -> Limits {
        Limits { cpu: Duration::from_secs(5), wait: Duration::from_secs(30), all: Duration::from_secs(600) }
    }
}

/// A worker's process, shared by who asks it and who looks whether it answers.
pub(crate) struct Guard(Mutex<State>);

struct State {
    child: Child,
    /// How often it was asked.
    asked: u64,
    /// It was asked and has not answered.
    is_busy: bool,
    /// Why it was ended, if it was.
    ended_for: Option<String>,
}

impl Guard {
    pub(crate) fn new(child: Child) -> Guard {
        Guard(Mutex::new(State { child, asked: 0, is_busy: false, ended_for: None }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It is asked.
    pub(crate) fn asks(&self) {
        let mut state = self.state();
        state.asked += 1;
        state.is_busy = true;
    }

    /// It has answered.
    pub(crate) fn has_answered(&self) {
        self.state().is_busy = false;
    }

    /// Ends the process. Gives how it ended: by us, for this reason, or by itself.
    pub(crate) fn end(&self) -> Result<std::process::ExitStatus, String> {
        let mut state = self.state();
        if let Some(why) = &state.ended_for {
            return Err(why.clone());
        }
        // Its end of the pipe may be closed a moment before it has ended.
        let mut looks = 0;
        let ended = loop {
            match state.child.try_wait() {
                Ok(None) if looks < LOOKS_AT_END => std::thread::yield_now(),
                ended => break ended,
            }
            looks += 1;
        };
        match ended {
            Ok(Some(status)) => Ok(status),
            Ok(None) | Err(_) => {
                let _ = state.child.kill();
                let _ = state.child.wait();
                Err("it has closed its stdout".into())
            }
        }
    }

    /// Ends the process, whatever it does.
    pub(crate) fn kill(&self) {
        let mut state = self.state();
        let _ = state.child.kill();
        let _ = state.child.wait();
    }
}

const LOOKS_AT_END: u32 = 20_000;

/// Looks at workers now and then, from a thread of its own, until there is nobody to look for.
pub(crate) struct Watch(Mutex<Vec<Weak<Guard>>>);

impl Watch {
    pub(crate) fn start(limits: Limits) -> Arc<Watch> {
        let watch = Arc::new(Watch(Mutex::default()));
        let looked_for = Arc::downgrade(&watch);
        std::thread::spawn(move || {
            let mut seen: Vec<Seen> = Vec::new();
            while let Some(watch) = looked_for.upgrade() {
                seen = watch.looks(seen, limits);
                drop(watch);
                std::thread::sleep(LOOK_EVERY);
            }
        });
        watch
    }

    pub(crate) fn over(&self, guard: &Arc<Guard>) {
        self.guards().push(Arc::downgrade(guard));
    }

    fn guards(&self) -> MutexGuard<'_, Vec<Weak<Guard>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn looks(&self, seen: Vec<Seen>, limits: Limits) -> Vec<Seen> {
        let mut guards = self.guards();
        guards.retain(|guard| guard.strong_count() > 0);
        let guards: Vec<Arc<Guard>> = guards.iter().filter_map(Weak::upgrade).collect();
        guards.iter().filter_map(|guard| guard.look(&seen, limits)).collect()
    }
}

/// A worker that was busy when it was looked at.
struct Seen {
    pid: u32,
    asked: u64,
    /// When it was first seen to be busy, and its processor time then.
    first: Instant,
    before: Duration,
    /// Its processor time when it was last seen to be, and since when it has not grown.
    cpu: Duration,
    since: Instant,
}

impl Guard {
    fn look(&self, seen: &[Seen], limits: Limits) -> Option<Seen> {
        let mut state = self.state();
        if !state.is_busy || state.ended_for.is_some() {
            return None;
        }
        let (pid, asked) = (state.child.id(), state.asked);
        let cpu = cpu_of(pid);
        let now = Instant::now();
        let now = Seen { pid, asked, first: now, before: cpu, cpu, since: now };
        let Some(last) = seen.iter().find(|last| last.pid == pid && last.asked == asked) else {
            return Some(now);
        };
        let since = if last.cpu == cpu { last.since } else { now.since };
        let why = if cpu.saturating_sub(last.before) > limits.cpu {
            format!("it spins: no answer after {} s of processor time", limits.cpu.as_secs_f32())
        } else if let Some(limit) = [(since, limits.wait), (last.first, limits.all)]
            .into_iter()
            .find(|(since, limit)| since.elapsed() > *limit)
        {
            format!("it hangs: no answer after {} s", limit.1.as_secs_f32())
        } else {
            return Some(Seen { first: last.first, before: last.before, since, ..now });
        };
        state.ended_for = Some(why);
        let _ = state.child.kill();
        let _ = state.child.wait();
        None
    }
}

/// The processor time of a process, where the operating system shows it. Source: `proc_pid_stat(5)`; a tick of these is
/// a hundredth of a second.
fn cpu_of(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis(10 * (ticks(11) + ticks(12)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::{Start, Worker};

    /// Whoever is seen to be about the same twice, with no processor time between, hangs.
    const AT_ONCE: Limits =
        Limits { cpu: Duration::from_secs(60), wait: Duration::ZERO, all: Duration::from_secs(60) };

    #[test]
    fn who_is_about_one_answer_after_the_other_does_not_hang() {
        let child = std::process::Command::new("sleep").arg("60").spawn().expect("it starts");
        let guard = Guard::new(child);
        guard.asks();
        let first = guard.look(&[], AT_ONCE).expect("it is busy");
        guard.has_answered();
        guard.asks();
        let next = guard.look(&[first], AT_ONCE).expect("it is busy with something else");
        assert!(guard.look(&[next], AT_ONCE).is_none());
        assert_eq!(guard.end().map(|_| ()), Err("it hangs: no answer after 0 s".into()));
    }

    #[test]
    fn who_has_answered_is_not_looked_at() {
        // It says that it is `x`.
        let says = r"printf '\0\0\0\6\1\0\0\0\1x'; exec cat >/dev/null";
        let command = ["sh", "-c", says].map(String::from).to_vec();
        let start = Start { program: "it".into(), command, environment: Vec::new(), preamble: Vec::new() };
        let watch = Watch(Mutex::default());
        let (_worker, who) = Worker::start(&start, &watch).expect("it is there");
        assert_eq!(who, "x");
        assert!(watch.looks(Vec::new(), AT_ONCE).is_empty());
    }
}

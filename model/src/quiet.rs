//! Code of others: who of them acts, for whoever waits for it; and their panics, caught without a word on stderr.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use zk_harness::pulse::{Acting, Pulse};

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
    static PROMISE: Cell<Option<&'static str>> = const { Cell::new(None) };
    static PULSE: RefCell<Option<Pulse>> = const { RefCell::new(None) };
}

/// From now on this thread tells who acts in it.
pub fn tell_of(pulse: Pulse) {
    pulse.acts(Acting::Search);
    PULSE.set(Some(pulse));
}

fn acts(acting: Acting) {
    PULSE.with_borrow(|pulse| pulse.as_ref().map(|pulse| pulse.acts(acting)));
}

/// Runs the code of a process.
pub fn in_turn<T>(process: u16, work: impl FnOnce() -> T) -> T {
    acts(Acting::Task(process));
    let done = work();
    acts(Acting::Search);
    done
}

/// Runs a promise's code, so that [`in_which_promise`] can tell who panicked.
pub fn in_promise<T>(name: &'static str, work: impl FnOnce() -> T) -> T {
    PROMISE.set(Some(name));
    acts(Acting::Promise(name));
    let done = work();
    acts(Acting::Search);
    PROMISE.set(None);
    done
}

/// After a panic that was caught: the promise whose code it came from, if it was one.
pub fn in_which_promise() -> Option<&'static str> {
    PROMISE.take()
}

/// Runs recipe code; gives what it says if it panics. Other threads and other panics are as loud as ever.
pub fn quietly<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = take_hook();
        set_hook(Box::new(move |info| {
            if !QUIET.get() {
                loud(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    PROMISE.set(None);
    // What the closure borrows is dropped or not used again by the caller if it panics.
    let ran = catch_unwind(AssertUnwindSafe(work));
    QUIET.set(before);
    if ran.is_err() {
        acts(Acting::Search);
    }
    ran.map_err(|payload| saying(&*payload))
}

fn saying(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "something".to_owned())
}

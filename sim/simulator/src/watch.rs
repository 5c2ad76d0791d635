//! Showing the invariants what happens.

/// Shows something to a watcher, in a run that is checked. A function would hold on to the whole simulation. Promises
/// see all; where servers were right to break what always holds, all others see no more, as that would only be its
/// consequences.
macro_rules! watch {
    ($simulation:ident . judge, $($call:tt)*) => {
        watch!(@ !$simulation.options.unchecked, $simulation . judge, $($call)*);
    };
    ($simulation:ident . $watcher:ident, $($call:tt)*) => {
        watch!(
            @ !$simulation.options.unchecked && !$simulation.judge.has_violated_assumption,
            $simulation . $watcher,
            $($call)*
        );
    };
    (@ $watches:expr, $simulation:ident . $watcher:ident, $($call:tt)*) => {
        if $watches {
            let former = $simulation.pulse.acts(zk_trials::pulse::Acting::Invariants(stringify!($($call)*)));
            $simulation.$watcher.$($call)*;
            $simulation.pulse.acts(former);
        }
    };
}

pub(crate) use watch;

//! Showing the invariants what happens.

/// Shows something to a watcher, in a run that is checked. A function would hold on to the whole stage. Promises
/// see all; where servers were right to break what always holds, all others see no more, as that would only be its
/// consequences.
macro_rules! watch {
    ($stage:expr, judge . $($call:tt)*) => {
        watch!(@ !$stage.options.unchecked, $stage, judge . $($call)*);
    };
    ($stage:expr, $watcher:ident . $($call:tt)*) => {
        watch!(
            @ !$stage.options.unchecked && !$stage.judge.has_violated_assumption,
            $stage,
            $watcher . $($call)*
        );
    };
    (@ $watches:expr, $stage:expr, $watcher:ident . $($call:tt)*) => {
        if $watches {
            let former = $stage.pulse.acts(zk_harness::pulse::Acting::Invariants(stringify!($($call)*)));
            $stage.$watcher.$($call)*;
            $stage.pulse.acts(former);
        }
    };
}

pub(crate) use watch;

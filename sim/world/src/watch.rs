//! Showing what happens to what is always watched.

/// Shows something to a watcher, in a run that is watched. A function would hold on to the whole world. Promises see all;
/// where servers were right to break what always holds, all others see no more, as that would only be its consequences.
macro_rules! watch {
    ($world:ident . judge, $($call:tt)*) => {
        watch!(@ $world.watches, $world . judge, $($call)*);
    };
    ($world:ident . $watcher:ident, $($call:tt)*) => {
        watch!(@ $world.watches && !$world.judge.has_excused(), $world . $watcher, $($call)*);
    };
    (@ $watches:expr, $world:ident . $watcher:ident, $($call:tt)*) => {
        if $watches {
            let former = $world.pulse.acts(zk_trials::pulse::Acting::Invariants(stringify!($($call)*)));
            $world.$watcher.$($call)*;
            $world.pulse.acts(former);
        }
    };
}

pub(crate) use watch;

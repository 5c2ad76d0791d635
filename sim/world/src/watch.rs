//! Showing what happens to what is always watched.

/// Shows something to a watcher, in a run that is watched. A function would hold on to the whole world.
macro_rules! watch {
    ($world:ident . $watcher:ident, $($call:tt)*) => {
        if $world.watches {
            let former = $world.pulse.acts(zk_trials::pulse::Acting::Invariants(stringify!($($call)*)));
            $world.$watcher.$($call)*;
            $world.pulse.acts(former);
        }
    };
}

pub(crate) use watch;

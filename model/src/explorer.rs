//! Our own breadth-first search, of whatever has states: shortest ways, honest limits.

use crate::limits::Limits;
use crate::livelock::Edges;
use crate::quiet::{in_which_promise, quietly};
use crate::tree::{Number, Tree, Way};
use crate::verdict::Progress;
use std::time::Instant;

/// How often the clock is looked at, in states.
const LOOK_EVERY: u64 = 1024;
/// How often progress is told, in states.
const TELL_EVERY: u64 = 1 << 16;
/// With several threads, so many states are expanded before what they lead to is taken in.
const CHUNK: usize = 1024;
/// For less than so many it is not worth to begin threads.
const CHUNK_LEAST: usize = 128;

/// What can be explored. What it says depends on the state alone, and not on the thread that asks.
pub(crate) trait Space: Sync {
    type State: Send + Sync;
    type Action: Copy + Send;
    /// What a step comes to: the state behind it, and what is to be said of the step.
    type Taken: Send;

    /// What can happen next, always in the same order; gives how many of these are free, which come first.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>) -> usize;
    /// One step; `None` if it leads beyond the bounds.
    fn take(&self, state: &Self::State, action: Self::Action) -> Option<Self::Taken>;
    /// What tells the state behind a step from all others.
    fn fingerprint(taken: &Self::Taken) -> u64;
    /// The state behind a step.
    fn into_state(taken: Self::Taken) -> Self::State;
    /// Whether a state is one that liveness asks for, where so many actions are free.
    fn is_end(&self, state: &Self::State, free: usize) -> bool;
    /// What a free action is called where liveness is looked for, and whether nothing came of it that promises see.
    fn label(action: Self::Action, taken: &Self::Taken) -> (u16, bool);
}

/// Who looks at all that is explored. It is told in an order that does not depend on the number of threads.
pub(crate) trait Judge<S: Space> {
    /// A state is about to be expanded, in which so many actions are free.
    fn expands(&mut self, _tree: &Tree, _state: &S::State, _free: usize, _at: Place) {}
    /// A step was taken from a state; `None` if it leads beyond the bounds.
    fn takes(
        &mut self,
        tree: &Tree,
        state: &S::State,
        action: S::Action,
        taken: Option<&S::Taken>,
        at: Place,
    );
    /// The state behind the step that was just taken is new.
    fn arrives(&mut self, _tree: &Tree, _taken: &S::Taken, _at: Place) {}
    /// Something panicked.
    fn panics(&mut self, tree: &Tree, panic: &Panic, at: Place);
    /// Whether what was looked for is found. States as deep as that one are still looked at, and no deeper ones.
    fn is_answered(&self) -> bool;
    /// Whether nothing that comes now can be relied on.
    fn must_stop(&mut self) -> bool {
        false
    }
    /// Whether the search would be begun anew.
    fn is_outdated(&self) -> bool {
        false
    }
}

/// A state, or a step from there, by the number of its action.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub state: Number,
    pub nth: Option<u16>,
    /// How many steps lead there.
    pub steps: u32,
}

impl Place {
    /// The way there.
    pub fn path(self, tree: &Tree) -> Way {
        let (start, mut path) = tree.path(self.state);
        path.extend(self.nth);
        (start, path)
    }
}

/// A panic that was caught.
#[derive(Debug)]
pub(crate) struct Panic {
    /// What it says.
    pub what: String,
    /// The promise whose code it came from, if it was one.
    pub promise: Option<&'static str>,
}

impl Panic {
    pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Panic> {
        quietly(work).map_err(|what| Panic { what, promise: in_which_promise() })
    }
}

/// What a search has come to.
pub(crate) struct Explored {
    /// The states found.
    pub tree: Tree,
    /// What liveness is looked for in, or why it is not.
    pub edges: Result<Edges, String>,
    /// Steps taken.
    pub transitions: u64,
    /// The longest of the shortest paths.
    pub depth: u32,
    /// What ran out before everything was explored.
    pub ran_out: Option<String>,
}

/// What can happen in a state, or why that panics, and what came of it as far as it was tried.
struct Expanded<S: Space> {
    enabled: Result<Enabled<S>, Panic>,
    taken: Vec<Result<Option<S::Taken>, Panic>>,
}

struct Enabled<S: Space> {
    free: usize,
    actions: Vec<S::Action>,
    is_end: bool,
}

struct Explorer<'a, S, J> {
    space: &'a S,
    judge: &'a mut J,
    limits: Limits<'a>,
    started: Instant,
    explored: Explored,
}

/// Explores everything within the limits from these states on, which the judge has seen, or until it has its answer.
pub(crate) fn explore<S: Space, J: Judge<S>>(
    (space, judge): (&S, &mut J),
    (limits, started): (Limits<'_>, Instant),
    (tree, edges): (Tree, Result<Edges, String>),
    starts: Vec<(S::State, Number)>,
    progress: &mut dyn FnMut(Progress),
) -> Explored {
    let explored = Explored { tree, edges, transitions: 0, depth: 0, ran_out: None };
    let mut explorer = Explorer { space, judge, limits, started, explored };
    explorer.run(starts, progress);
    explorer.explored
}

impl<S: Space, J: Judge<S>> Explorer<'_, S, J> {
    fn run(&mut self, mut level: Vec<(S::State, Number)>, progress: &mut dyn FnMut(Progress)) {
        let (mut seen, mut depth) = (0_u64, 0);
        let at_once = if self.limits.threads > 1 { CHUNK } else { 1 };
        while !level.is_empty() && !self.judge.is_answered() {
            // Only states from which nothing can happen are still looked at.
            let is_deepest = self.limits.depth.is_some_and(|max| depth >= max);
            if is_deepest && level.iter().any(|(state, _)| can_move(self.space, state)) {
                self.explored.ran_out = Some(format!("depth {depth}"));
                return;
            }
            let (mut next, mut behind) = (Vec::new(), level.into_iter());
            while behind.len() > 0 {
                let chunk: Vec<_> = behind.by_ref().take(at_once).collect();
                for (nth, expanded) in self.expand_all(&chunk).into_iter().enumerate() {
                    seen += 1;
                    if seen.is_multiple_of(LOOK_EVERY) && self.has_run_out() {
                        return;
                    }
                    if seen.is_multiple_of(TELL_EVERY) {
                        let frontier = (chunk.len() - nth + behind.len() + next.len()) as u64;
                        progress(Progress { states: self.explored.tree.len(), frontier, depth });
                    }
                    let (state, number) = &chunk[nth];
                    self.take_in((state, *number, depth), expanded, &mut next);
                    if self.is_full() || self.judge.is_outdated() || self.judge.must_stop() {
                        return;
                    }
                }
            }
            if !next.is_empty() {
                depth += 1;
                self.explored.depth = depth;
            }
            level = next;
        }
    }

    fn has_run_out(&mut self) -> bool {
        self.explored.ran_out = self.limits.reached(self.started);
        self.explored.ran_out.is_some()
    }

    fn is_full(&mut self) -> bool {
        // A violation that was found before is a better answer.
        let max = self.limits.states.unwrap_or(u64::MAX).min(u64::from(u32::MAX));
        let is_full = self.explored.tree.len() >= max;
        if is_full {
            self.explored.ran_out = Some(format!("states: {max}"));
        }
        is_full
    }

    /// What can happen in each of these states; and what comes of it, where several threads work that out ahead.
    fn expand_all(&self, states: &[(S::State, Number)]) -> Vec<Expanded<S>> {
        let (space, threads) = (self.space, self.limits.threads);
        let (records, is_ahead) = (self.explored.edges.is_ok(), threads > 1);
        let all = |states: &[(S::State, Number)]| -> Vec<Expanded<S>> {
            states.iter().map(|(state, _)| expand(space, state, records, is_ahead)).collect()
        };
        if !is_ahead || states.len() < CHUNK_LEAST {
            return all(states);
        }
        std::thread::scope(|scope| {
            let parts = states.chunks(states.len().div_ceil(threads));
            let running: Vec<_> = parts.map(|part| scope.spawn(move || all(part))).collect();
            let done = running.into_iter().map(|thread| thread.join().expect("what panics is caught"));
            done.flatten().collect()
        })
    }

    fn take_in(
        &mut self,
        (state, number, depth): (&S::State, Number, u32),
        expanded: Expanded<S>,
        next: &mut Vec<(S::State, Number)>,
    ) {
        let Explored { tree, edges, transitions, .. } = &mut self.explored;
        let here = Place { state: number, nth: None, steps: depth };
        let Enabled { free, actions, is_end } = match expanded.enabled {
            Ok(enabled) => enabled,
            Err(panic) => return self.judge.panics(tree, &panic, here),
        };
        if edges.as_ref().is_ok_and(Edges::is_full) {
            *edges = Err("there are too many transitions to be recorded".to_owned());
        }
        if let Ok(edges) = edges {
            edges.state(is_end);
        }
        self.judge.expands(tree, state, free, here);
        let mut ahead = expanded.taken.into_iter();
        for (nth, action) in actions.into_iter().enumerate() {
            *transitions += 1;
            let place = Place { nth: Some(nth as u16), steps: depth + 1, ..here };
            let taken = ahead.next().unwrap_or_else(|| Panic::caught(|| self.space.take(state, action)));
            let taken = match taken {
                Ok(taken) => taken,
                Err(panic) => {
                    // It leads nowhere.
                    *edges = Err("a step panics".to_owned());
                    self.judge.panics(tree, &panic, place);
                    continue;
                }
            };
            if self.judge.must_stop() {
                return;
            }
            self.judge.takes(tree, state, action, taken.as_ref(), place);
            let Some(taken) = taken else { continue };
            let fingerprint = S::fingerprint(&taken);
            if self.judge.is_answered() {
                if !tree.knows(fingerprint) {
                    self.judge.arrives(tree, &taken, place);
                }
                continue;
            }
            let (label, is_silent) = S::label(action, &taken);
            let target = match tree.reach(fingerprint, number, nth as u16) {
                Err(known) => known,
                Ok(new) => {
                    self.judge.arrives(tree, &taken, place);
                    next.push((S::into_state(taken), new));
                    new
                }
            };
            if let (Ok(edges), true) = (&mut *edges, nth < free) {
                edges.add(label, is_silent, target);
            }
        }
    }
}

fn can_move<S: Space>(space: &S, state: &S::State) -> bool {
    let mut actions = Vec::new();
    let looked = quietly(|| space.actions(state, &mut actions));
    looked.is_err() || !actions.is_empty()
}

fn expand<S: Space>(space: &S, state: &S::State, records: bool, is_ahead: bool) -> Expanded<S> {
    let enabled = Panic::caught(|| {
        let mut actions = Vec::with_capacity(16);
        let free = space.actions(state, &mut actions);
        Enabled { free, actions, is_end: records && space.is_end(state, free) }
    });
    let tried = enabled.as_ref().map_or(&[][..], |enabled| if is_ahead { &enabled.actions } else { &[] });
    let taken = tried.iter().map(|action| Panic::caught(|| space.take(state, *action))).collect();
    Expanded { enabled, taken }
}

//! Why a promise was broken: a few sentences, and the lines that matter.
//!
//! It works back from the break. Whom and what that names is where it begins; from there it goes to the request on which
//! somebody acted, to the last writer of what was read, to what fired a watch or could have, and to the fault that took a
//! claim or an answer.

mod kinds;
mod trail;
mod waits;
mod znodes;

pub(crate) use trail::Cause;

use super::Line;
use super::past::{Past, claims};
use kinds::Process;
use trail::Trail;
use waits::Waits;
use zk_harness::event::ActorId;
use zk_harness::promises::NoSecondZnode;
use znodes::Znode;

/// Why the promise was broken whose break is told in the line `broken`. `clock` tells times.
pub(crate) fn cause(lines: &[Line], broken: usize, clock: &dyn Fn(u64) -> String) -> Cause {
    let trail = Trail::of(Past::of(&lines[..broken]), clock);
    let mut search = Search { trail, broken_at: lines[broken].at };
    let what = lines[broken].what.split_once(": ").map_or(lines[broken].what.as_str(), |(_, what)| what);
    // Behind it stands for whom it is owed.
    let what = what.split(" (a standard promise").next().unwrap_or(what);
    search.look(what);
    search.trail.fill(what);
    search.trail.cause(broken)
}

struct Search<'a> {
    trail: Trail<'a>,
    /// When it broke.
    broken_at: u64,
}

impl<'a> Search<'a> {
    fn look(&mut self, what: &str) {
        let actors = actors(what);
        let paths = paths(what);
        let says = |words: &[&str]| words.iter().any(|word| what.contains(word));
        let left = says(&[" is left", " is one more of", " and has left", "has left, and"]);
        if says(&[" once more"]) {
            actors.iter().for_each(|actor| self.process(actor.process).already());
        }
        if says(&["only after one that comes behind it"]) {
            paths.iter().for_each(|path| self.znode(path).overtaken());
        }
        match actors.as_slice() {
            all if says(&["session is over", "goes on though it was told"]) => {
                all.iter().for_each(|actor| self.process(actor.process).goes_on());
            }
            [first, ..] if says(&[" waits"]) => {
                Waits { trail: &mut self.trail, broken_at: self.broken_at }.waits(first.process)
            }
            _ if says(&[" woke "]) => {
                paths.iter().for_each(|path| self.znode(path).wakes(says(&["the list of"])))
            }
            [first] if what.ends_with(" fails") => self.process(first.process).fails(),
            [first, others @ ..] if says(&[" holds ", " shares ", "later holder"]) => {
                let other = others.first().copied().or_else(|| self.other_holder(*first));
                other.into_iter().for_each(|other| self.process(other.process).holds(other, true));
                self.process(first.process).holds(*first, false);
            }
            all if left && !paths.is_empty() => {
                all.iter().for_each(|actor| self.process(actor.process).is_through(&paths[0]));
            }
            all => {
                let mut seen: Vec<u16> = Vec::new();
                for actor in all {
                    if !seen.contains(&actor.process) {
                        self.process(actor.process).acts();
                    }
                    seen.push(actor.process);
                }
            }
        }
        paths.iter().for_each(|path| self.znode(path).has_become(left));
        if says(&["a write of"]) {
            actors.iter().take(1).for_each(|actor| self.process(actor.process).said_last());
        }
        if says(&[NoSecondZnode::DIFFERS]) {
            paths.iter().for_each(|path| self.znode(path).second_znode());
        }
        if says(&[" were added"]) && !says(&[" in the end"]) {
            paths.iter().for_each(|path| self.znode(path).counted_twice());
        }
    }

    fn process(&mut self, process: u16) -> Process<'_, 'a> {
        Process { trail: &mut self.trail, process }
    }

    fn znode<'t>(&'t mut self, path: &'t str) -> Znode<'t, 'a> {
        Znode { trail: &mut self.trail, path }
    }

    /// Who else was granted something last.
    fn other_holder(&self, first: ActorId) -> Option<ActorId> {
        let others = self.trail.past.says().rev().filter(|(_, actor, what)| *actor != first && claims(what));
        others.map(|(_, actor, _)| actor).next()
    }
}

/// The actors that a text names, such as `p1`, `p1.2` and `p1/1`, each once.
fn actors(text: &str) -> Vec<ActorId> {
    let mut actors: Vec<ActorId> = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '\'')) {
        let Some(name) = word.strip_prefix('p') else { continue };
        let (name, thread) = name.split_once('/').unwrap_or((name, "0"));
        let (process, life) = name.split_once('.').unwrap_or((name, "0"));
        if let (Ok(process), Ok(life), Ok(thread)) = (process.parse(), life.parse(), thread.parse()) {
            let actor = ActorId { process, life, thread };
            if !actors.contains(&actor) {
                actors.push(actor);
            }
        }
    }
    actors
}

/// The znodes that a text names, without what is said of them in braces.
fn paths(text: &str) -> Vec<String> {
    let words = text.split_whitespace().filter(|word| word.starts_with('/'));
    let bare = words.map(|word| {
        let word = word.split('{').next().unwrap_or_default();
        word.trim_end_matches([',', ';', ':', '.']).to_string()
    });
    let mut paths: Vec<String> = bare.filter(|path| path.len() > 1).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

//! Why a promise was broken: a few sentences, and the lines that matter.
//!
//! It works back from the break. Whom and what that names is where it begins; from there it goes to the request on
//! which somebody acted, to the last writer of what was read, to what fired a watch or could have, and to the fault
//! that took a claim or an answer.

mod processes;
mod trail;
mod waits;
mod znodes;

pub(crate) use trail::Cause;

use super::Line;
use super::past::{Past, claims};
use trail::Trail;
use zk_harness::event::ActorId;
use zk_harness::promises::NoSecondZnode;
use zk_reports::each_once;

/// Why the promise was broken whose break is told in the line `broken`. `clock` tells times.
pub(crate) fn cause(lines: &[Line], broken: usize, clock: &dyn Fn(u64) -> String) -> Cause {
    let mut trail = Trail::of(Past::of(&lines[..broken]), clock);
    let what = lines[broken].what.split_once(": ").map_or(lines[broken].what.as_str(), |(_, what)| what);
    // Behind it stands for whom it is owed.
    let what = what.split(" (a standard promise").next().unwrap_or(what);
    look(&mut trail, what, lines[broken].at);
    trail.fill(what);
    trail.cause(broken)
}

fn look(trail: &mut Trail<'_>, what: &str, broken_at: u64) {
    let actors = actors(what);
    let paths = paths(what);
    let says = |words: &[&str]| words.iter().any(|word| what.contains(word));
    let left = says(&[" is left", " is one more of", " and has left", "has left, and"]);
    if says(&[" once more"]) {
        actors.iter().for_each(|actor| processes::already(trail, actor.process));
    }
    if says(&["only after one that comes behind it"]) {
        paths.iter().for_each(|path| znodes::overtaken(trail, path));
    }
    match actors.as_slice() {
        all if says(&["session is over", "goes on though it was told"]) => {
            all.iter().for_each(|actor| processes::goes_on(trail, actor.process));
        }
        [first, ..] if says(&[" waits"]) => waits::waits(trail, first.process, broken_at),
        _ if says(&[" woke "]) => {
            paths.iter().for_each(|path| znodes::wakes(trail, path, says(&["the list of"])))
        }
        [first] if what.ends_with(" fails") => processes::fails(trail, first.process),
        [first, others @ ..] if says(&[" holds ", " shares ", "later holder"]) => {
            let other = others.first().copied().or_else(|| other_holder(trail, *first));
            other.into_iter().for_each(|other| processes::holds(trail, other, true));
            processes::holds(trail, *first, false);
        }
        all if left && !paths.is_empty() => {
            all.iter().for_each(|actor| processes::is_through(trail, actor.process, &paths[0]));
        }
        all => {
            let each = each_once(all.iter().map(|actor| actor.process));
            each.into_iter().for_each(|process| processes::acts(trail, process));
        }
    }
    paths.iter().for_each(|path| znodes::has_become(trail, path, left));
    if says(&["a write of"]) {
        actors.iter().take(1).for_each(|actor| processes::said_last(trail, actor.process));
    }
    if says(&[NoSecondZnode::DIFFERS]) {
        paths.iter().for_each(|path| znodes::second_znode(trail, path));
    }
    if says(&[" were added"]) && !says(&[" in the end"]) {
        paths.iter().for_each(|path| znodes::counted_twice(trail, path));
    }
}

/// Who else was granted something last.
fn other_holder(trail: &Trail<'_>, first: ActorId) -> Option<ActorId> {
    let others = trail.past.says().rev().filter(|(_, actor, what)| *actor != first && claims(what));
    others.map(|(_, actor, _)| actor).next()
}

/// The actors that a text names, such as `p1`, `p1.2` and `p1/1`, each once.
fn actors(text: &str) -> Vec<ActorId> {
    let actor = |word: &str| {
        let name = word.strip_prefix('p')?;
        let (name, thread) = name.split_once('/').unwrap_or((name, "0"));
        let (process, life) = name.split_once('.').unwrap_or((name, "0"));
        Some(ActorId {
            process: process.parse().ok()?,
            life: life.parse().ok()?,
            thread: thread.parse().ok()?,
        })
    };
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '\''));
    each_once(words.filter_map(actor))
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

#[cfg(test)]
mod tests {
    use crate::check::{check, default_config};
    use std::sync::Arc;
    use zk_api::{AddWatchMode, Data, ZPath, ZooKeeper};
    use zk_harness::event::End;
    use zk_harness::promises::NoWaiterStuck;
    use zk_harness::trial::{Bounds, Trial};

    /// Why one waits for ever that has set this watch of a znode of the setup, which somebody sets before.
    fn why(persistent: bool) -> String {
        let trial = Trial::new("waits", move |zk: Arc<dyn ZooKeeper>, _, _| async move {
            let path = ZPath::parse("/flag").expect("a path");
            let watch = match persistent {
                true => zk.add_watch(&path, AddWatchMode::Persistent).await.ok(),
                false => zk.exists_watch(&path).await.ok().map(|(_, watch)| watch),
            };
            if persistent {
                let _ = zk.set_data(&path, Data::NULL, -1).await;
            }
            let Some(watch) = watch else { return End::Failed };
            watch.await;
            std::future::pending().await
        });
        let trial = trial.promises(|| vec![Box::new(NoWaiterStuck)]).setup(["/flag"]);
        let trial = Arc::new(trial.bounds(Bounds::clients(1)));
        let report = check("waits", &trial, &default_config(&trial.about), &mut |_| {});
        report.promises[0].broken.as_ref().expect("it is stuck").why.join(" ")
    }

    /// It was said not to be there.
    #[test]
    fn a_znode_of_the_setup_has_been_there_from_the_beginning() {
        let why = why(false);
        assert!(why.contains("of /flag: it has been there from the beginning, and was not changed"), "{why}");
    }

    /// Whoever had set one was said to have set none.
    #[test]
    fn a_persistent_watch_is_one() {
        let why = why(true);
        let told = "p0 waits by its persistent watch of /flag, set at step ";
        assert!(why.contains(told), "{why}");
    }
}

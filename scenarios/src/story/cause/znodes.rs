//! What there is to say of a znode that a break names: what has become of it, who asked for that, and which others it
//! stands beside.

use super::trail::Trail;
use crate::story::Deed;
use crate::story::past::{Change, Changed};
use std::collections::BTreeMap;
use zk_api::Request;
use zk_harness::event::{ActorId, GroundTruth};
use zk_harness::words::{ADDS, TAKES};
use zk_reports::of;

/// What has become of a znode that the break names. `left` if nobody should have left it there.
pub(super) fn has_become(trail: &mut Trail<'_>, path: &str, left: bool) {
    let made = trail.past.last(path, Changed::Made);
    made.into_iter().for_each(|made| trail.follow(made.line, 1));
    match trail.past.last_change(path) {
        Some(last) => {
            trail.follow(last.line, 1);
            let before = trail.past.before(last.line).last(path, Changed::Set);
            before.into_iter().for_each(|set| trail.pick(set.line, 2));
            let made = made.filter(|made| made.line != last.line).map(|made| trail.gone_or_made(&made));
            let made = made.map(|made| format!("{made}, and ")).unwrap_or_default();
            let what = trail.gone_or_made(&last);
            if !trail.has_said(|why| why.contains(path) && why.contains(&what)) {
                let again = asks_again(trail, &last);
                trail.say(format!("{path} {made}{what}.{again}"));
            }
            trail.answers_lost(Some(path));
        }
        None => {
            let below =
                trail.past.changes().rev().filter(|change| {
                    change.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
                });
            below.take(4).for_each(|change| trail.follow(change.line, 2));
        }
    }
    if left {
        who_deletes(trail, path);
    }
    said_of(trail, path);
}

/// Who took an item that comes behind this one while this one was there, and by which list.
pub(super) fn overtaken(trail: &mut Trail<'_>, path: &str) {
    let Some((made, parent)) = trail.past.last(path, Changed::Made).zip(path.rsplit_once('/')) else {
        return;
    };
    let takes = trail.past.says().rev().find(|(line, _, what)| {
        let about = what.told().filter(|(verb, ..)| *verb == TAKES).map(|(_, about, _)| about);
        let is_behind = about.is_some_and(|other| {
            other > path && other.rsplit_once('/').is_some_and(|(up, _)| up == parent.0)
        });
        *line > made.line && is_behind
    });
    let Some((line, actor, what)) = takes else { return };
    trail.pick(line, 0);
    let before = trail.past.before(line);
    let list = before
        .calls(actor.process)
        .rfind(|(_, call)| matches!(call.request, Request::GetChildren { .. }) && call.heard.is_some());
    let list = list.map(|(line, call)| {
        trail.pick(line, 0);
        format!(", by its list of {}: {}", trail.at(line), trail.told(line, call))
    });
    trail.say(format!("{actor} {what} at {}{}.", trail.at(line), list.unwrap_or_default()));
}

/// What somebody who never learned that it has changed a znode asks of that next.
fn asks_again(trail: &mut Trail<'_>, change: &Change<'_>) -> String {
    let untold = trail.past.line(change.line).deeds.iter().find_map(|deed| match deed {
        Deed::Call(call) if call.is_done_untold() => Some(call.actor.process),
        Deed::Call(_) | Deed::Event(_) => None,
    });
    untold.map_or(String::new(), |process| trail.asked_again(change.line, process, change.path))
}

/// The other znode of the same session whose name differs only in its number.
pub(super) fn second_znode(trail: &mut Trail<'_>, path: &str) {
    let Some(made) = trail.past.last(path, Changed::Made) else { return };
    let name = |path: &str| zk_api::sequence_of(path).map(|_| path[..path.len() - 10].to_owned());
    // Both may have been made in the same instant, which is one line.
    let others = trail.past.before(made.line + 1);
    let other = others.changes().rev().find(|other| {
        let is_like = other.owner == made.owner && name(other.path) == name(path);
        other.kind == Changed::Made && is_like && other.path != path
    });
    if let Some(other) = other {
        trail.follow(other.line, 0);
        trail.say(format!("{} {}.", other.path, trail.gone_or_made(&other)));
    }
}

/// Who asked to delete what is left.
fn who_deletes(trail: &mut Trail<'_>, path: &str) {
    let asked =
        trail.past.all_calls().rev().find(
            |(_, call)| matches!(&call.request, Request::Delete { path: asked, .. } if **asked == *path),
        );
    let sentence = match asked {
        None => "Nobody asks to delete it.".into(),
        Some((line, call)) => {
            trail.follow(line, 0);
            let told = trail.told(line, call);
            if trail.has_said(|why| why.contains(&told)) {
                return;
            }
            format!("{} asks to delete it at {}: {told}.", call.actor, trail.at(line))
        }
    };
    trail.say(sentence);
}

/// What is said of a znode, by each process in its last words of each kind.
fn said_of(trail: &mut Trail<'_>, path: &str) {
    let mut kinds = Vec::new();
    for (line, actor, what) in trail.past.says().rev() {
        let Some((verb, about, _)) = what.told() else { continue };
        let kind = (actor.process, verb);
        if about == path && !kinds.contains(&kind) && kinds.len() < 4 {
            kinds.push(kind);
            trail.pick(line, 2);
        }
    }
}

/// One change woke several: who had watched it, since when, and what changed.
pub(super) fn wakes(trail: &mut Trail<'_>, path: &str, of_children: bool) {
    let fires = trail.past.truths().rev().filter_map(|(line, truth)| match truth {
        GroundTruth::Fired { path: at, woken, .. } if **at == *path => Some((line, woken)),
        _ => None,
    });
    let mut fires = fires.skip_while(|(_, woken)| woken.len() < 2).peekable();
    let Some((line, woken)) = fires.peek().copied() else { return };
    trail.follow(line, 0);
    // Of those that a change wakes at several servers it is told each time, the earlier ones among them.
    let mut more = usize::MAX;
    let told: Vec<_> =
        fires.take_while(|(_, woken)| std::mem::replace(&mut more, woken.len()) > woken.len()).collect();
    let watch = |actor: &ActorId| {
        let (woken_at, _) = told.iter().rev().find(|(_, woken)| woken.contains(actor))?;
        let mut all = trail.past.before(*woken_at).watches(actor.process).into_iter().rev();
        all.find(|watch| watch.path == path && watch.of_children == of_children)
    };
    let mut watches: Vec<usize> = woken.iter().filter_map(watch).map(|watch| watch.line).collect();
    watches.sort_unstable();
    watches.iter().for_each(|line| trail.pick(*line, 1));
    let mut woken = woken.clone();
    woken.sort_unstable();
    let names: Vec<String> = woken.iter().map(ToString::to_string).collect();
    let since = match watches.as_slice() {
        [] => String::new(),
        [first, .., last] if trail.at(*first) != trail.at(*last) => {
            format!(" (set from {} to {})", trail.at(*first), trail.at(*last))
        }
        [first, ..] => format!(" (set at {})", trail.at(*first)),
    };
    let what = if of_children { "the children of " } else { "" };
    trail.say(format!("{} watched {what}{path}{since}: one change wakes them all.", names.join(", ")));
    if let Some(change) = trail.past.last_below(path).filter(|_| of_children) {
        trail.follow(change.line, 0);
        trail.say(format!("{} {}.", change.path, trail.gone_or_made(&change)));
    }
}

/// Who has set a counter more often than it tells of additions: that of a znode that was made once, where each adds 1.
pub(super) fn counted_twice(trail: &mut Trail<'_>, path: &str) {
    let mut told: BTreeMap<u16, (usize, usize)> = BTreeMap::new();
    let mut made = trail.past.changes().filter(|it| it.path == path && it.kind == Changed::Made);
    let (Some(first), None) = (made.next(), made.next()) else { return };
    let is_set = |change: &Change<'_>| change.kind == Changed::Set && change.line != first.line;
    for change in trail.past.changes().filter(|change| change.path == path && is_set(change)) {
        let owner = trail.past.owner(change.by);
        owner.into_iter().for_each(|owner| told.entry(owner.process).or_default().0 += 1);
    }
    for (_, actor, what) in trail.past.says() {
        match what.told() {
            Some((ADDS, about, 1)) if about == path => told.entry(actor.process).or_default().1 += 1,
            Some((ADDS, about, _)) if about == path => return,
            Some(_) | None => {}
        }
    }
    if told.values().all(|(writes, adds)| writes <= adds) {
        return;
    }
    // Who has begun more than it has written makes up for some of what was counted twice.
    for (process, (writes, adds)) in told.into_iter().filter(|(_, (writes, adds))| writes != adds) {
        let name = trail.past.name(process);
        let times = of(writes as u64, "time");
        let additions = of(adds as u64, "addition");
        trail.say(format!("{name} has written {path} {times} for {additions} that it began."));
    }
}

//! What there is to say of who waits for ever: for what, since when, and who should have woken it.

use super::trail::Trail;
use crate::story::past::{Change, Changed, Watch, fires};
use crate::story::words::answered;
use crate::story::{Call, Deed};
use zk_api::{Response, SessionId};
use zk_harness::event::{End, Observation};
use zk_harness::words::ARRIVES_AT;

/// Of a watch that fires as it breaks.
const FIRES: &str = " Its watch fires in the instant of the break.";

/// A process waits, and nobody wakes it: nor those, perhaps, for whom it waits. `broken_at` is when it broke.
pub(super) fn waits(trail: &mut Trail<'_>, process: u16, broken_at: u64) {
    let (mut chain, mut next) = (Vec::new(), Some(process));
    while let Some(waiting) = next.filter(|next| !chain.contains(next)) {
        chain.push(waiting);
        next = waits_for(trail, waiting);
    }
    let last = chain.len() - 1;
    for (nth, process) in chain.into_iter().enumerate() {
        waits_so(trail, process, if nth == 0 || nth == last { 0 } else { 2 }, nth == last, broken_at);
    }
}

/// Whose znode a process waits for, if that process waits as well.
fn waits_for(trail: &Trail<'_>, process: u16) -> Option<u16> {
    let watch = trail.past.watches(process).pop().filter(|watch| !watch.of_children)?;
    let change = trail.past.last_change(&watch.path).filter(|change| change.kind != Changed::Gone)?;
    let owner = trail.past.owner(change.owner)?.process;
    trail.past.finished(owner).is_none().then_some(owner)
}

fn waits_so(trail: &mut Trail<'_>, process: u16, weight: u8, is_last: bool, broken_at: u64) {
    let begins =
        |what: &Observation| matches!(what, Observation::Attempts { .. } | Observation::Begins { .. });
    let asks = trail.past.says_of(process).rfind(|(_, _, what)| begins(what));
    asks.into_iter().for_each(|(line, ..)| trail.pick(line, weight + 3));
    let mut calls = trail.past.calls(process).rev();
    let (last, before) = (calls.next(), calls.next());
    last.into_iter().for_each(|(line, _)| trail.follow(line, weight + 1));
    before.into_iter().for_each(|(line, _)| trail.pick(line, weight + 2));
    still_has(trail, process, weight);
    if is_last {
        went_wrong(trail, process);
    }
    let Some((watch, fires)) = waits_by(trail, process, broken_at) else {
        return watches_nothing(trail, process, last);
    };
    trail.follow(watch.line, weight);
    let (name, since, path) = (trail.past.name(process), trail.at(watch.line), watch.path.as_str());
    if watch.of_children {
        let change = trail.past.last_below(path);
        let last = change.map_or(", and none has come or gone".into(), |change| {
            trail.follow(change.line, weight + 1);
            format!("; the last that changed: {} {}", change.path, trail.gone_or_made(&change))
        });
        let lost = trail.past.loses_connection(process, Some(watch.line));
        let lost = lost.map_or(String::new(), |lost| format!(" {}", trail.gap(process, lost)));
        let fires = if fires { FIRES } else { "" };
        trail.say(format!(
            "{name} has waited since {since} for the children of {path} to change{last}.{fires}{lost}"
        ));
        return;
    }
    if !is_last {
        let owner = trail.past.last_change(path).and_then(|change| trail.past.owner(change.owner));
        let owner = owner.map(|owner| format!(", which belongs to {owner}")).unwrap_or_default();
        trail.say(format!("{name} has waited since {since} for a change of {path}{owner}."));
        return;
    }
    let state = trail.state_of(path);
    let stale = if fires { FIRES.into() } else { trail.overlooked(watch.line, path) };
    // Only what changes behind the watch is missed with its connection. Whether it is set again on the next one is
    // up to the client.
    let is_missed = trail.past.last_change(path).is_some_and(|change| change.line > watch.line) && !fires;
    let lost = trail.past.loses_connection(process, Some(watch.line)).filter(|_| is_missed);
    let lost = lost.map_or(String::new(), |lost| {
        format!(" {} Its watch was set on the connection that was lost.", trail.gap(process, lost))
    });
    let told = told_of(trail, process, path);
    let former = is_of_before(trail, &watch, process);
    let missing = if finds(trail, &watch) == Some(false) { ", which was not there" } else { "" };
    trail.say(format!(
        "{name} has waited since {since} for a change of {path}{missing}: it {state}.{former}{told}{stale}{lost}"
    ));
    let last = trail.past.last_change(path).filter(|last| last.kind != Changed::Gone && !fires);
    match last.and_then(|last| trail.past.owner(last.owner)).map(|owner| owner.process) {
        Some(own) if own == process => {
            trail.say(format!("{path} is {name}'s own znode: {name} waits for itself."))
        }
        Some(other) => should_wake(trail, other, path),
        None => {}
    }
}

/// By which watch a process waits: the last that is set, or the one that fires in the instant of the break.
fn waits_by(trail: &Trail<'_>, process: u16, broken_at: u64) -> Option<(Watch, bool)> {
    let fired = trail.past.last_woken(process).filter(|(line, ..)| trail.past.line(*line).at == broken_at);
    let fired = fired.and_then(|(line, path, kind)| {
        let before = trail.past.before(line).watches(process);
        before.into_iter().rfind(|watch| fires(kind, watch, path))
    });
    let set = trail.past.watches(process).pop().map(|watch| (watch, false));
    set.into_iter().chain(fired.map(|watch| (watch, true))).max_by_key(|(watch, _)| watch.line)
}

/// Whether an `exists` that sets a watch has found the znode.
fn finds(trail: &Trail<'_>, watch: &Watch) -> Option<bool> {
    trail.past.line(watch.line).deeds.iter().find_map(|deed| match deed {
        Deed::Call(call) => match call.result() {
            Some(Ok(Response::Exists(stat))) => Some(stat.is_some()),
            _ => None,
        },
        Deed::Event(_) => None,
    })
}

/// Says that a process found a persistent znode of others in a turn that began after that was made.
fn is_of_before(trail: &Trail<'_>, watch: &Watch, process: u16) -> String {
    let change = trail.past.last_change(&watch.path);
    let is_flag = |change: &Change<'_>| {
        let is_own = trail.past.owner(change.by).is_some_and(|owner| owner.process == process);
        change.kind == Changed::Made && change.owner == SessionId::NONE && !is_own
    };
    let is_found = finds(trail, watch) == Some(true);
    let mut says = trail.past.before(watch.line).says_of(process);
    let began = says.rfind(|(_, _, what)| {
        let arrives = what.told().is_some_and(|(verb, ..)| verb == ARRIVES_AT);
        arrives || matches!(what, Observation::Attempts { .. })
    });
    match change.filter(|change| is_found && is_flag(change)).zip(began) {
        Some((change, (line, actor, what))) if change.line < line => {
            format!(" It was already there when, at {}, {actor} {what}.", trail.at(line))
        }
        Some(_) | None => String::new(),
    }
}

/// What went wrong before a process waited: its last request was lost, or an error that it only printed.
fn went_wrong(trail: &mut Trail<'_>, process: u16) {
    let last = trail.past.calls(process).next_back();
    if let Some((line, call)) = last.filter(|(_, call)| call.heard.is_none() && !call.is_open) {
        trail.follow(line, 0);
        let (name, at, told) = (trail.past.name(process), trail.at(line), trail.told(line, call));
        trail.say(format!("The last request of {name}, at {at}: {told}."));
    }
    if let Some((line, error)) = trail.past.traceback(process) {
        trail.pick(line, 0);
        trail.say(format!("It printed a traceback at {}: {error}.", trail.at(line)));
    }
}

/// The last data of a znode that a process was told, and those before.
fn told_of(trail: &mut Trail<'_>, process: u16, path: &str) -> String {
    let data = |call: &Call| matches!(call.result(), Some(Ok(Response::Data { .. })));
    let calls = trail.past.calls(process).rev();
    let told = calls.filter(|(_, call)| *call.request.path() == *path && data(call)).take(2);
    let told: Vec<String> = told
        .map(|(line, call)| {
            trail.pick(line, 1);
            let told = call.result().map(|result| answered(&call.request, result));
            format!("{} at {}", told.unwrap_or_default(), trail.at(line))
        })
        .collect();
    if told.is_empty() { String::new() } else { format!(" It was told {}.", told.join(", and ")) }
}

/// What a process that waits was granted, and has not released.
fn still_has(trail: &mut Trail<'_>, process: u16, weight: u8) {
    let mut says = trail.past.says_of(process).rev();
    let last = says.find_map(|(line, actor, what)| match what {
        Observation::Granted { .. } | Observation::Shares { .. } => Some(Some((line, actor))),
        Observation::Released { .. } | Observation::Attempts { .. } => Some(None),
        _ => None,
    });
    if let Some((line, actor)) = last.flatten() {
        trail.follow(line, weight + 1);
        trail.say(format!("{actor} was granted it at {}, and has not released it.", trail.at(line)));
    }
}

/// A process whose znode another waits for, and which waits for nobody: what has become of it.
fn should_wake(trail: &mut Trail<'_>, process: u16, path: &str) {
    let Some((line, end)) = trail.past.finished(process) else { return };
    trail.follow(line, 1);
    let last = trail.past.calls(process).next_back().map(|(line, call)| {
        trail.follow(line, 1);
        format!(". Its last request, at {}: {}", trail.at(line), trail.told(line, call))
    });
    let how = if end == End::Done { "was done" } else { "gave up" };
    // Its session lives, or the znode would be gone.
    let lives = trail.past.last_change(path).is_some_and(|change| change.owner != SessionId::NONE);
    let lives = if lives { ", and its session lives" } else { "" };
    let (name, at, last) = (trail.past.name(process), trail.at(line), last.unwrap_or_default());
    trail.say(format!("{name} should delete it, but {how} at {at}{lives}{last}."));
}

/// A process waits, and has nothing to wake it.
fn watches_nothing(trail: &mut Trail<'_>, process: u16, last: Option<(usize, &Call)>) {
    let woken = trail.past.last_woken(process);
    if let Some((line, path)) = trail.past.watches_for_good(process) {
        trail.follow(line, 0);
        let told = woken.filter(|(woken, ..)| *woken > line).map(|(woken, path, kind)| {
            trail.follow(woken, 0);
            format!("; the last that it told was of {path} at {} ({kind:?})", trail.at(woken))
        });
        let (name, at) = (trail.past.name(process), trail.at(line));
        let told = told.unwrap_or_else(|| ", which has told nothing".into());
        return trail.say(format!("{name} waits by its persistent watch of {path}, set at {at}{told}."));
    }
    let asked_last = last.map(|(line, call)| (line, trail.told(line, call), trail.at(line)));
    let sentence = match (woken, asked_last) {
        (Some((line, path, kind)), asked) => {
            trail.follow(line, 0);
            let what = format!("its last, for {path}, fired at {} ({kind:?})", trail.at(line));
            let lost = trail.past.lost_event(process, path, line);
            match asked.filter(|(asked, ..)| *asked > line) {
                None if lost.is_some() => {
                    lost.into_iter().for_each(|lost| trail.pick(lost, 0));
                    let connection = trail.past.loses_connection(process, lost);
                    let gap =
                        connection.map_or(String::new(), |lost| format!(". {}", trail.gap(process, lost)));
                    let gap = gap.trim_end_matches('.');
                    format!("{what}, and that event was lost with its connection{gap}")
                }
                None => format!("{what}, and it has asked nothing since"),
                Some((_, call, at)) => format!("{what}; its last request, at {at}: {call}"),
            }
        }
        (None, Some((_, call, at))) => format!("it has set none; its last request, at {at}: {call}"),
        (None, None) => "it has asked nothing".into(),
    };
    let name = trail.past.name(process);
    trail.say(format!("{name} waits without any watch: {sentence}."));
}

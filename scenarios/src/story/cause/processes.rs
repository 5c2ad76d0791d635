//! What there is to say of a process: that it fails, goes on, holds what another holds, leaves something behind, or
//! what it said.

use super::trail::{LOSSES, Trail};
use crate::story::Call;
use crate::story::past::{Changed, claims};
use zk_api::{ErrorCode, Request, Response};
use zk_harness::event::{ActorId, End, GroundTruth, Observation};

/// A process fails: the error that it shows, and the request.
pub(super) fn fails(trail: &mut Trail<'_>, process: u16) {
    let is_failure = |truth| matches!(truth, &GroundTruth::Finished { end: End::Failed, .. });
    let end = trail.past.truths_of(process).rfind(|(_, truth)| is_failure(*truth));
    let Some((end, _)) = end else { return acts(trail, process) };
    trail.pick(end, 1);
    let (name, until) = (trail.past.name(process), trail.past.line(end).at);
    let error = trail.past.before(end).printed(&trail.past.line(end).who, until);
    error.into_iter().for_each(|(line, _)| trail.pick(line, 0));
    let is_own = error.is_some();
    let fails = error.map_or(format!("{name} fails"), |(_, error)| format!("{name} fails: {error}"));
    let decided = trail.past.decided_by(process, until);
    let after = |line: usize| decided.is_none_or(|(decided, _)| line > decided);
    let is_loss = |truth| matches!(truth, &GroundTruth::Disconnected { .. });
    let lost = trail.past.truths_of(process).rfind(|(line, truth)| after(*line) && is_loss(*truth));
    let gives_up = trail.past.says_of(process).rev().find_map(|(line, _, what)| match what {
        Observation::GivesUp { why, .. } if after(line) => Some((line, why)),
        _ => None,
    });
    lost.into_iter().for_each(|(line, _)| trail.follow(line, 0));
    let open = trail.past.calls(process).next_back().filter(|(_, call)| call.heard.is_none());
    let open = open.map(|(line, call)| {
        trail.follow(line, 0);
        format!(" Unanswered: {}.", trail.told(line, call))
    });
    let open = open.unwrap_or_default();
    let when = lost.map(|(line, _)| format!(" Its connection was lost at {}.", trail.at(line)));
    let when = when.unwrap_or_default();
    match (gives_up, decided) {
        (Some((line, why)), _) if error.is_none() => {
            trail.pick(line, 0);
            let lost = match lost {
                None if why.contains("ConnectionLoss") => lost_request(trail, process, line, why),
                None | Some(_) => String::new(),
            };
            trail.say(format!("{name} gives up at {}: {why}.{when}{open}{lost}", trail.at(line)));
        }
        _ if lost.is_some() => trail.say(format!("{fails}.{when}{open}")),
        (_, Some((line, call))) => {
            trail.follow(line, 0);
            let path = call.request.path();
            let state = match call.result() {
                Some(Err(ErrorCode::NoNode | ErrorCode::NodeExists | ErrorCode::NotEmpty)) => {
                    format!("; {path} {}", trail.before(line).state_of(&path))
                }
                _ => String::new(),
            };
            let (at, told) = (trail.at(line), trail.told(line, call));
            let of = if error.is_some() { ". Its last request was that" } else { " at its request" };
            trail.say(format!("{fails}{of} of {at}: {told}{state}."));
        }
        _ if is_own => trail.say(format!("{fails}.")),
        _ => {}
    }
    if is_own {
        last_write(trail, process, end);
        trail.answers_lost(None);
    }
}

/// The request that a process gives up for in a line, if that was lost with its connection.
fn lost_request(trail: &mut Trail<'_>, process: u16, gives_up: usize, why: &str) -> String {
    let before = trail.past.before(gives_up);
    let is_that = |call: &Call| {
        let tried = format!("{} {}", call.request.name(), call.request.path());
        call.heard.is_none() && why.strip_prefix(tried.trim_end()).is_some_and(|rest| rest.starts_with(':'))
    };
    let Some((line, call)) = before.calls(process).rfind(|(_, call)| is_that(call)) else {
        let fault = before.last_fault(process, &LOSSES, true, None);
        fault.into_iter().for_each(|fault| trail.pick(fault, 1));
        return String::new();
    };
    trail.follow(line, 0);
    let sentence = format!(" At {}: {}.", trail.at(line), trail.told(line, call));
    // What is sent as the connection goes is told of behind that.
    let still = |lost: &usize| trail.past.connects(process, *lost).is_none_or(|again| again > line);
    let lost = before.loses_connection(process, Some(line));
    let lost = lost.or_else(|| before.before(line).loses_connection(process, None).filter(still));
    let gap = lost.map_or(String::new(), |lost| format!(" {}", trail.gap(process, lost)));
    sentence + &gap
}

/// The last write that a process was answered before a line, and what has become of its znode.
fn last_write(trail: &mut Trail<'_>, process: u16, end: usize) {
    let before = trail.past.before(end);
    let write = before.calls(process).rfind(|(_, call)| call.request.is_write() && call.heard.is_some());
    let Some((line, call)) = write else { return };
    trail.follow(line, 1);
    let (at, told) = (trail.at(line), trail.told(line, call));
    let path = match call.result() {
        Some(Ok(Response::Created { path, .. })) => path.clone(),
        _ => call.request.path(),
    };
    let fate = trail.past.last_change(&path).filter(|change| change.line != line).map(|change| {
        trail.follow(change.line, 1);
        format!("; {path} {}", trail.gone_or_made(&change))
    });
    trail.say(format!("Its last write, at {at}: {told}{}.", fate.unwrap_or_default()));
}

/// A process goes on, though its session is over or it was told that it may be.
pub(super) fn goes_on(trail: &mut Trail<'_>, process: u16) {
    ended(trail, process, 0);
    let news = trail.past.truths_of(process).rfind(|(_, truth)| {
        matches!(truth, GroundTruth::LearnsExpiry { .. } | GroundTruth::Disconnected { .. })
    });
    news.into_iter().for_each(|(line, _)| trail.follow(line, 1));
    let since = |line: usize| news.is_none_or(|(news, _)| line > news);
    let acts = trail.past.truths_of(process).rev().filter(|(line, truth)| {
        since(*line) && matches!(truth, GroundTruth::Wrote { .. } | GroundTruth::Finished { .. })
    });
    let acts: Vec<(usize, &GroundTruth)> = acts.take(4).collect();
    acts.iter().for_each(|(line, _)| trail.pick(*line, 0));
    let name = trail.past.name(process);
    let wrote = acts.iter().rev().filter(|(_, truth)| matches!(truth, GroundTruth::Wrote { .. }));
    let wrote: Vec<String> = wrote.map(|(line, _)| trail.at(*line)).collect();
    if let (Some((news, _)), false) = (news, wrote.is_empty()) {
        let (told, wrote) = (trail.at(news), wrote.join(" and "));
        trail.say(format!("{name} was told at {told}, and yet its writes reach the resource at {wrote}."));
    }
    if let Some((line, _, what)) = trail.past.says_of(process).next_back() {
        trail.pick(line, 0);
        trail.say(format!("The last thing that {name} reported, at {}: it {what}.", trail.at(line)));
    }
    if let Some((line, call)) = trail.past.calls(process).next_back() {
        trail.pick(line, 1);
        trail.say(format!("Its last request, at {}: {}.", trail.at(line), trail.told(line, call)));
    }
}

/// A process is through with something that it leaves behind: with what it was about when it made that.
pub(super) fn is_through(trail: &mut Trail<'_>, process: u16, path: &str) {
    let made = trail.past.last(path, Changed::Made).map_or(0, |made| made.line);
    let said = trail.past.says_of(process).filter(|(line, ..)| *line > made);
    let ends = said.filter(|(_, _, what)| {
        matches!(what, Observation::GivesUp { .. } | Observation::Released { .. } | Observation::Ends { .. })
    });
    if let Some((line, _, what)) = ends.into_iter().next() {
        trail.pick(line, 1);
        trail.say(format!("At {} {} {what}.", trail.at(line), trail.past.name(process)));
    }
    let lost = trail.past.calls(process).rev().find(|(_, call)| {
        call.heard.is_none() && matches!(call.request, Request::Delete { .. } | Request::Multi { .. })
    });
    if let Some((line, call)) = lost {
        trail.follow(line, 0);
        trail.say(format!("Its request of {}: {}.", trail.at(line), trail.told(line, call)));
    }
    trail.past.finished(process).into_iter().for_each(|(line, _)| trail.pick(line, 1));
}

/// An actor believes that it holds something: by what, and what has become of that. `was_first` of who held it before
/// another came.
pub(super) fn holds(trail: &mut Trail<'_>, holder: ActorId, was_first: bool) {
    let process = holder.process;
    let claim = trail.past.says().rev().find(|(_, actor, what)| *actor == holder && claims(what));
    let Some((line, _, what)) = claim else { return acts(trail, process) };
    trail.follow(line, 0);
    let at = trail.past.line(line).at;
    let decided = trail.past.before(line).decided_by(holder.process, at);
    let node = match what {
        Observation::Granted { node, .. } | Observation::Shares { node, .. } => Some(node.to_string()),
        _ => granted_by(trail, holder, line),
    };
    let by = node.as_ref().map(|node| format!(" by {node}")).unwrap_or_default();
    let fate = node.map(|node| {
        let fate = fate_of_claim(trail, &node, line, was_first);
        format!(", which {fate}")
    });
    let mut why = format!("{holder} has held it since {}{by}{}", trail.at(line), fate.unwrap_or_default());
    match decided.filter(|_| !was_first) {
        Some(_) if acts_on_watch(trail, holder, line) => {
            trail.say(format!("{why}."));
            woken_before(trail, holder, line);
        }
        Some((asked, call)) => {
            why.push_str(&format!(". It acts on {}", trail.told(asked, call)));
            let path = call.request.path();
            if let Some(Ok(Response::Exists(None)) | Err(ErrorCode::NoNode)) = call.result() {
                why.push_str(&format!("; it {}", trail.before(asked).state_of(&path)));
            }
            let overlooked = trail.overlooked(asked, &path);
            trail.say(format!("{why}.{overlooked}"));
        }
        None => trail.say(format!("{why}.")),
    }
    gap_before(trail, process, line);
    ended(trail, process, 1);
}

/// The znode by which an actor was granted what it acts on now.
fn granted_by(trail: &Trail<'_>, holder: ActorId, line: usize) -> Option<String> {
    let before = trail.past.before(line + 1);
    let mut says = before.says().rev().filter(|(_, actor, _)| *actor == holder);
    let granted = says.find_map(|(_, _, what)| match what {
        Observation::Granted { node, .. } | Observation::Shares { node, .. } => Some(node.to_string()),
        _ => None,
    });
    granted.filter(|node| node.starts_with('/'))
}

/// What has become of the znode by which somebody claimed something in a line.
fn fate_of_claim(trail: &mut Trail<'_>, node: &str, claimed: usize, was_first: bool) -> String {
    match trail.past.last_change(node) {
        None => "nobody has made".into(),
        Some(change) => {
            trail.follow(change.line, if change.kind == Changed::Gone { 1 } else { 2 + u8::from(was_first) });
            match change.kind {
                Changed::Gone => trail.gone_or_made(&change),
                Changed::Made | Changed::Set => match trail.past.gone_since(node, claimed) {
                    // In its place stands another of its name.
                    Some(gone) => {
                        trail.follow(gone.line, 1);
                        format!("{}, and {}", trail.gone_or_made(&gone), trail.gone_or_made(&change))
                    }
                    None => "is still there".into(),
                },
            }
        }
    }
}

/// Whether a watch told a process something after all that it asked before it acted.
fn acts_on_watch(trail: &Trail<'_>, holder: ActorId, line: usize) -> bool {
    let before = trail.past.before(line + 1);
    let woken = before.last_woken(holder.process);
    woken.is_some_and(|(woken, ..)| before.calls(holder.process).all(|(asked, _)| asked <= woken))
}

fn woken_before(trail: &mut Trail<'_>, holder: ActorId, line: usize) {
    let Some((woken, path, kind)) = trail.past.before(line + 1).last_woken(holder.process) else {
        return;
    };
    trail.follow(woken, 1);
    let change = trail.past.before(woken + 1).last_change(path);
    let what =
        change.map_or_else(|| format!("{kind:?}"), |change| format!("it {}", trail.gone_or_made(&change)));
    let (at, name) = (trail.at(woken), trail.past.name(holder.process));
    trail.say(format!(
        "It acts on its watch of {path}, which fired at {at}: {what}. {name} has looked at nothing since."
    ));
}

/// Whether a process's session is over, by what, and whether it was told.
fn ended(trail: &mut Trail<'_>, process: u16, weight: u8) {
    let opened: Vec<_> = trail.past.sessions_of(process).rev().collect();
    let Some((_, life, _)) = opened.first().copied() else { return };
    let closed = trail.past.truths_of(process).rev().find_map(|(line, truth)| match truth {
        GroundTruth::SessionClosed { actor, expired, session } if *actor == life => {
            Some((line, *expired, *session))
        }
        _ => None,
    });
    let Some((line, expired, session)) = closed else { return };
    let began = opened.iter().find(|(.., of)| *of == session).map_or(0, |(began, ..)| *began);
    let is_news = |truth| matches!(truth, &GroundTruth::LearnsExpiry { .. });
    let mut learns = trail.past.truths_of(process).filter(|(at, truth)| *at >= began && is_news(*truth));
    let learns = learns.next().map(|(at, _)| at);
    trail.follow(line, weight);
    let how = if expired { "expired" } else { "was closed" };
    let learns = match learns {
        Some(told) if told >= line => format!(", and it learned of that at {}", trail.at(told)),
        Some(told) => {
            trail.pick(told, weight);
            let next = opened.iter().rev().find(|(next, ..)| *next > told).map(|(next, ..)| *next);
            let next = next.map(|next| {
                trail.pick(next, weight);
                format!(", and had another since {}", trail.at(next))
            });
            let (name, at, told) = (trail.past.name(process), trail.at(line), trail.at(told));
            let next = next.unwrap_or_default();
            trail.say(format!(
                "{name} was told at {told} that its session is dead{next}; the servers ended it at {at}."
            ));
            return;
        }
        None if expired => {
            let next = opened.iter().rev().find(|(next, ..)| *next > began).map(|(next, ..)| *next);
            let next = next.map(|next| format!(": it has had another since {}", trail.at(next)));
            format!(", which it was not told{}", next.unwrap_or_default())
        }
        None => String::new(),
    };
    let (name, at) = (trail.past.name(process), trail.at(line));
    trail.say(format!("The session of {name} {how} at {at}{learns}."));
}

/// Whether a process was without its connection between the last two times that it claimed something.
fn gap_before(trail: &mut Trail<'_>, process: u16, line: usize) {
    let claims =
        trail.past.says_of(process).rev().filter(|(at, _, what)| {
            *at < line && claims(what) && !matches!(what, Observation::Granted { .. })
        });
    let Some(before) = claims.map(|(at, ..)| at).next() else { return };
    if let Some(lost) = trail.past.loses_connection(process, Some(before)).filter(|lost| *lost < line) {
        let gap = trail.gap(process, lost);
        trail.say(gap);
    }
}

/// What a process said last, and on which answer.
pub(super) fn acts(trail: &mut Trail<'_>, process: u16) {
    let name = trail.past.name(process);
    let mut says = trail.past.says_of(process).rev();
    let said = says.next();
    let until = said.map_or(u64::MAX, |(line, ..)| trail.past.line(line).at);
    if let Some((line, _, what)) = said {
        trail.follow(line, 0);
        // The same that it said of something else.
        let kind = |what: &Observation| {
            (std::mem::discriminant(what), what.told().map(|(verb, ..)| verb.to_string()))
        };
        let same = says.find(|(_, _, other)| kind(other) == kind(what));
        same.into_iter().for_each(|(line, ..)| trail.pick(line, 2));
    }
    let decided = trail.past.decided_by(process, until);
    if let Some((line, call)) = decided {
        trail.follow(line, 0);
        let overlooked = trail.overlooked(line, &call.request.path());
        let (at, told) = (trail.at(line), trail.told(line, call));
        // What it wrote is the deed itself, and not what it was told.
        let is_write = call.request.is_write();
        trail.say(match is_write {
            true => format!("{name} asked at {at}: {told}."),
            false => format!("{name} acts on the answer of {at} to {told}.{overlooked}"),
        });
        if let Some((woken, path, kind)) =
            said.and_then(|(said, ..)| trail.past.before(said + 1).last_woken(process))
            && woken > line
            && !is_write
        {
            trail.follow(woken, 0);
            trail.say(format!("Its watch of {path} fired at {} ({kind:?}).", trail.at(woken)));
        }
        let earlier = trail.past.before(line);
        earlier.calls(process).rev().take(2).for_each(|(line, _)| trail.pick(line, 2));
    }
    let last = trail.past.calls(process).next_back().filter(|(_, call)| call.heard.is_none());
    if let Some((line, call)) = last {
        trail.follow(line, 1);
        trail.say(format!("Its request of {}: {}.", trail.at(line), trail.told(line, call)));
    }
    if let Some((line, ..)) = said {
        gap_before(trail, process, line);
    }
    ended(trail, process, 1);
}

/// When a process said before what it says once more.
pub(super) fn already(trail: &mut Trail<'_>, process: u16) {
    let mut says = trail.past.says_of(process).rev();
    let Some((_, _, now)) = says.next() else { return };
    let before = says.find(|(_, _, what)| std::mem::discriminant(*what) == std::mem::discriminant(now));
    let Some((line, actor, what)) = before else { return };
    trail.follow(line, 0);
    trail.say(format!("Once before, at {}: {actor} {what}.", trail.at(line)));
}

/// The last that a process said, beside what it has.
pub(super) fn said_last(trail: &mut Trail<'_>, process: u16) {
    let says = trail.past.says_of(process).rev();
    let notes = says.filter(|(_, _, what)| matches!(what, Observation::Notes { .. }));
    let notes: Vec<usize> = notes.map(|(line, ..)| line).take(2).collect();
    notes.into_iter().for_each(|line| trail.pick(line, 1));
}

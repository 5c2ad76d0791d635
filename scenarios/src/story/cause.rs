//! Why a promise was broken: a few sentences, and the lines that matter.
//!
//! It works back from the break. Whom and what that names is where it begins; from there it goes to the request on which
//! somebody acted, to the last writer of what was read, to what fired a watch or could have, and to the fault that took a
//! claim or an answer.

mod kinds;
mod waits;
mod znodes;

use super::past::{Change, Changed, Past, claims};
use super::words::{answered, asked};
use super::{Call, Deed, Line};
use std::collections::BTreeMap;
use zk_api::{ErrorCode, Request, Response, SessionId, Zxid};
use zk_reports::named_in;
use zk_trials::event::{ActorId, Event, GroundTruth};
use zk_trials::promises::NoSecondZnode;

/// Why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cause {
    /// In sentences.
    pub(crate) why: Vec<String>,
    /// The numbers of the lines that matter, in order; the break is the last.
    pub(crate) lines: Vec<usize>,
}

/// How many lines there are at most beside that of the break, by how far they are from it.
const MOST: [usize; 6] = [12, 12, 10, 7, 5, 4];
/// How far it goes back from what the break names.
const FAR: u8 = MOST.len() as u8 - 1;

/// Why the promise was broken whose break is told in the line `broken`. `clock` tells times.
pub(crate) fn cause(lines: &[Line], broken: usize, clock: &dyn Fn(u64) -> String) -> Cause {
    let mut search = Search::of(Past::of(&lines[..broken]), lines[broken].at, clock);
    let what = lines[broken].what.split_once(": ").map_or(lines[broken].what.as_str(), |(_, what)| what);
    // Behind it stands for whom it is owed.
    let what = what.split(" (a standard promise").next().unwrap_or(what);
    search.look(what);
    search.fill(what);
    let mut weighed: Vec<(u8, usize)> =
        search.weights.iter().map(|(line, weight)| (*weight, *line)).collect();
    // Of those that matter as much, the later.
    weighed.sort_by_key(|(weight, line)| (*weight, usize::MAX - line));
    let mut chosen: Vec<usize> = Vec::new();
    for (weight, line) in weighed {
        if chosen.len() < MOST[usize::from(weight)] {
            chosen.push(line);
        }
    }
    chosen.push(broken);
    chosen.sort_unstable();
    Cause { why: search.why, lines: chosen }
}

struct Search<'a> {
    past: Past<'a>,
    /// When it broke.
    broken_at: u64,
    clock: &'a dyn Fn(u64) -> String,
    /// How far each line is from the break.
    weights: BTreeMap<usize, u8>,
    why: Vec<String>,
}

impl<'a> Search<'a> {
    fn of(past: Past<'a>, broken_at: u64, clock: &'a dyn Fn(u64) -> String) -> Search<'a> {
        Search { past, broken_at, clock, weights: BTreeMap::new(), why: Vec::new() }
    }

    fn look(&mut self, what: &str) {
        let actors = actors(what);
        let paths = paths(what);
        let says = |words: &[&str]| words.iter().any(|word| what.contains(word));
        let left = says(&[" is left", " is one more of", " and has left", "has left, and"]);
        if says(&[" once more"]) {
            actors.iter().for_each(|actor| self.already(actor.process));
        }
        if says(&["only after one that comes behind it"]) {
            paths.iter().for_each(|path| self.overtaken(path));
        }
        match actors.as_slice() {
            all if says(&["session is over", "goes on though it was told"]) => {
                all.iter().for_each(|actor| self.goes_on(actor.process));
            }
            [first, ..] if says(&[" waits"]) => self.waits(first.process),
            _ if says(&[" woke "]) => paths.iter().for_each(|path| self.wakes(path, says(&["the list of"]))),
            [first] if what.ends_with(" fails") => self.fails(first.process),
            [first, others @ ..] if says(&[" holds ", " shares ", "later holder"]) => {
                let other = others.first().copied().or_else(|| self.other_holder(*first));
                other.into_iter().for_each(|other| self.holds(other, true));
                self.holds(*first, false);
            }
            all if left && !paths.is_empty() => {
                all.iter().for_each(|actor| self.is_through(actor.process, &paths[0]));
            }
            all => {
                let mut seen: Vec<u16> = Vec::new();
                for actor in all {
                    if !seen.contains(&actor.process) {
                        self.acts(actor.process);
                    }
                    seen.push(actor.process);
                }
            }
        }
        paths.iter().for_each(|path| self.znode(path, left));
        if says(&["a write of"]) {
            actors.iter().take(1).for_each(|actor| self.said_last(actor.process));
        }
        if says(&[NoSecondZnode::DIFFERS]) {
            paths.iter().for_each(|path| self.second_znode(path));
        }
        if says(&[" were added"]) && !says(&[" in the end"]) {
            paths.iter().for_each(|path| self.counted_twice(path));
        }
    }

    /// Those who are named, as far as there is room.
    fn fill(&mut self, what: &str) {
        let names = named_in(what);
        for line in (0..self.past.len()).rev() {
            if self.weights.len() >= MOST[usize::from(FAR)] {
                break;
            }
            let told = self.past.line(line);
            let who =
                named_in(&told.who).into_iter().chain(named_in(&told.what)).any(|name| names.contains(&name));
            if who || names.is_empty() {
                self.pick(line, FAR);
            }
        }
    }

    fn pick(&mut self, line: usize, weight: u8) {
        let known = self.weights.entry(line).or_insert(weight);
        *known = weight.min(*known);
    }

    /// Takes a line, and what it comes of.
    fn follow(&mut self, line: usize, weight: u8) {
        if weight > FAR || self.weights.get(&line).is_some_and(|known| *known <= weight) {
            return;
        }
        self.pick(line, weight);
        for deed in &self.past.line(line).deeds {
            for before in self.comes_of(line, deed) {
                self.follow(before, weight + 1);
            }
        }
    }

    /// The lines that something comes of.
    fn comes_of(&self, line: usize, deed: &Deed) -> Vec<usize> {
        let before = self.past.before(line);
        match deed {
            Deed::Call(call) => {
                let mut lines = self.read(&before, call);
                if call.heard.is_none() {
                    let process = call.actor.process;
                    let lost = self.past.loses_connection(process, Some(line));
                    lines.extend(lost.or_else(|| before.last_fault(process, &LOSSES, false, None)));
                }
                lines
            }
            Deed::Event(Event::Observed { actor, what }) if claims(what) => before
                .decided_by(actor.process, self.past.line(line).at)
                .map(|(line, _)| line)
                .into_iter()
                .collect(),
            Deed::Event(Event::Observed { .. }) => Vec::new(),
            Deed::Event(Event::Is(truth)) => self.comes_of_truth(&before, line, truth),
        }
    }

    fn comes_of_truth(&self, before: &Past<'_>, line: usize, truth: &GroundTruth) -> Vec<usize> {
        // What strikes in the same line counts.
        let until = self.past.before(line + 1);
        let one = |line: Option<usize>| line.into_iter().collect();
        match truth {
            GroundTruth::NodeDeleted { by: SessionId::NONE, owner, .. } => one(before
                .truths()
                .rev()
                .find(|(_, truth)| {
                    matches!(truth, GroundTruth::SessionClosed { session, .. } if session == owner)
                })
                .map(|(line, _)| line)),
            GroundTruth::Fired { path, .. } => {
                one(until.last_change(path).or(until.last_below(path)).map(|change| change.line))
            }
            GroundTruth::SessionClosed { actor, expired: true, .. } => {
                let fault = before.last_fault(actor.process, &ENDS, false, None);
                let stopped = before.truths().rev().find(|(_, truth)| match truth {
                    GroundTruth::Paused { actor: who }
                    | GroundTruth::Crashed { actor: who }
                    | GroundTruth::Disconnected { actor: who } => who.process == actor.process,
                    _ => false,
                });
                let stopped = stopped.map(|(line, _)| line);
                one(stopped.max(fault))
            }
            GroundTruth::Paused { actor } => one(until.last_fault(actor.process, &["paused"], false, None)),
            GroundTruth::Crashed { actor } => one(until.last_fault(actor.process, &["crash"], false, None)),
            // Whichever struck last, since it had lost the former one.
            GroundTruth::Disconnected { actor } => {
                let former = before.loses_connection(actor.process, None);
                one(until.last_fault(actor.process, &LOSSES, true, former))
            }
            _ => Vec::new(),
        }
    }

    /// The last writers of what a request has read.
    fn read(&self, before: &Past<'_>, call: &Call) -> Vec<usize> {
        let Some(result) = call.result() else { return Vec::new() };
        let path = call.request.path();
        let change = match result {
            Ok(Response::Exists(None)) => before.last(&path, Changed::Gone),
            Ok(Response::Exists(Some(_)) | Response::Data { .. }) => before.last_change(&path),
            Ok(Response::Children { .. }) => before.last_below(&path),
            Err(ErrorCode::NodeExists) => before.last(&path, Changed::Made),
            Err(ErrorCode::NotEmpty) => before.last_below(&path),
            Err(ErrorCode::BadVersion) => before.last_change(&path),
            Err(ErrorCode::NoNode) => {
                let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
                let is_create = matches!(call.request, Request::Create { .. });
                before.last(if is_create { parent } else { &path }, Changed::Gone)
            }
            Ok(_) | Err(_) => None,
        };
        change.map(|change| change.line).into_iter().collect()
    }

    /// What an answer does not show, though it had happened before that answer was heard.
    fn overlooked(&mut self, line: usize, path: &str) -> String {
        let call = self.past.line(line).deeds.iter().find_map(|deed| match deed {
            Deed::Call(call) => Some(call),
            Deed::Event(_) => None,
        });
        let Some(call) = call.filter(|call| !call.request.is_write()) else { return String::new() };
        let zxid = call.answer.as_ref().and_then(|(_, zxid)| *zxid);
        let is_child = |change: &Change<'_>| match call.request {
            Request::GetChildren { .. } => {
                change.kind != Changed::Set && change.path.rsplit_once('/').is_some_and(|(up, _)| up == path)
            }
            _ => change.path == path,
        };
        let until = call.heard.unwrap_or(self.past.line(line).at);
        let unseen = |change: &Change<'_>| match change.line < line {
            true => zxid.zip(change.zxid).is_some_and(|(seen, made): (Zxid, Zxid)| seen < made),
            false => self.past.line(change.line).at <= until,
        };
        let found = self.past.changes().find(|change| is_child(change) && unseen(change));
        let Some(change) = found else { return String::new() };
        self.follow(change.line, 1);
        let when = if change.line < line {
            "its server did not know this yet"
        } else {
            "this had changed by the time it got the answer"
        };
        format!(" But {when}: {} {}.", change.path, self.gone_or_made(&change))
    }

    /// A request with its answer.
    fn told(&self, line: usize, call: &Call) -> String {
        let changes = self.past.line(line).deeds.iter().any(|deed| matches!(deed, Deed::Event(Event::Is(_))));
        let answer = match (call.result(), call.heard) {
            (Some(result), Some(_)) => answered(&call.request, result),
            (Some(Err(code)), None) if call.is_open => format!("{code:?}, and the answer is on its way"),
            (Some(Err(code)), None) => format!("{code:?}, and the answer is lost"),
            (Some(Ok(_)) | None, None) if call.is_open => "the answer is on its way".into(),
            (Some(Ok(_)), None) => "done, and the answer is lost".into(),
            (None, None) if changes => "done, and the answer is lost".into(),
            (None, None) => "lost".into(),
            (None, Some(_)) => "done".into(),
        };
        format!("'{}': {answer}", asked(&call.request))
    }

    fn before(&self, line: usize) -> Search<'a> {
        Search::of(self.past.before(line), self.broken_at, self.clock)
    }

    fn at(&self, line: usize) -> String {
        (self.clock)(self.past.line(line).at)
    }

    /// Whether a znode is there, and since when.
    fn state_of(&mut self, path: &str) -> String {
        match self.past.last_change(path) {
            None => "was not there before, and was not made".into(),
            Some(change) => {
                self.follow(change.line, 1);
                let what = self.gone_or_made(&change);
                match change.kind {
                    Changed::Gone => format!("{what}, and was not made again"),
                    Changed::Made | Changed::Set => format!("{what}, and is there"),
                }
            }
        }
    }

    /// `was made at 3.2 s by p1`, `was deleted at 4.1 s, when the session of p1 ended`.
    fn gone_or_made(&self, change: &Change<'_>) -> String {
        let at = self.at(change.line);
        let name = |session: SessionId| match self.past.owner(session) {
            Some(actor) => actor.to_string(),
            None if session == SessionId::NONE => "the server".into(),
            None => "an administrator".into(),
        };
        let by = name(change.by);
        let untold = self.past.line(change.line).deeds.iter().any(|deed| match deed {
            Deed::Call(call) => call.is_done_untold(),
            Deed::Event(_) => false,
        });
        let untold = if untold { ", which never got the answer" } else { "" };
        match change.kind {
            Changed::Made => format!("was made at {at} by {by}{untold}"),
            Changed::Set => format!("was set at {at} by {by}{untold}"),
            Changed::Gone if change.by == SessionId::NONE && change.owner != SessionId::NONE => {
                let before = self.past.before(change.line);
                let which = if before.has_another(change.owner) { "a former session" } else { "the session" };
                format!("was deleted at {at}, when {which} of {} ended", name(change.owner))
            }
            Changed::Gone => format!("was deleted at {at} by {by}{untold}"),
        }
    }
}

/// What a connection is lost by.
const LOSSES: [&str; 2] = ["connection", "crash"];
/// What a session ends by.
const ENDS: [&str; 5] = ["session", "connection", "paused", "crash", "messages from"];

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

//! What is found on the way back from a break: the lines that matter, and what there is to say.

use crate::story::past::{Change, Changed, Past, claims};
use crate::story::words::{answered, asked, whose};
use crate::story::{Call, Deed};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{ErrorCode, Request, Response, SessionId, Zxid};
use zk_harness::event::{Event, GroundTruth};
use zk_reports::named_in;

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

/// What a connection is lost by.
pub(super) const LOSSES: [&str; 2] = ["connection", "crash"];
/// What a session ends by.
const ENDS: [&str; 5] = ["session", "connection", "paused", "crash", "messages from"];

/// See the module.
pub(super) struct Trail<'a> {
    /// The lines before the break.
    pub(super) past: Past<'a>,
    clock: &'a dyn Fn(u64) -> String,
    /// How far each line is from the break.
    weights: BTreeMap<usize, u8>,
    why: Vec<String>,
}

impl<'a> Trail<'a> {
    /// Nothing is found yet. `clock` tells times.
    pub(super) fn of(past: Past<'a>, clock: &'a dyn Fn(u64) -> String) -> Trail<'a> {
        Trail { past, clock, weights: BTreeMap::new(), why: Vec::new() }
    }

    /// Of the lines that were found as many as there is room for, and that of the break.
    pub(super) fn cause(self, broken: usize) -> Cause {
        let mut weighed: Vec<(u8, usize)> =
            self.weights.iter().map(|(line, weight)| (*weight, *line)).collect();
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
        Cause { why: self.why, lines: chosen }
    }

    /// Those who are named, as far as there is room.
    pub(super) fn fill(&mut self, what: &str) {
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

    /// Says a sentence.
    pub(super) fn say(&mut self, sentence: String) {
        self.why.push(sentence);
    }

    /// Whether a sentence like this was said.
    pub(super) fn has_said(&self, is_so: impl Fn(&String) -> bool) -> bool {
        self.why.iter().any(is_so)
    }

    pub(super) fn pick(&mut self, line: usize, weight: u8) {
        let known = self.weights.entry(line).or_insert(weight);
        *known = weight.min(*known);
    }

    /// Takes a line, and what it comes of.
    pub(super) fn follow(&mut self, line: usize, weight: u8) {
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
                let stopped = before.truths_of(actor.process).rfind(|(_, truth)| {
                    matches!(
                        truth,
                        GroundTruth::Paused { .. }
                            | GroundTruth::Crashed { .. }
                            | GroundTruth::Disconnected { .. }
                    )
                });
                one(stopped.map(|(line, _)| line).max(fault))
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
    pub(super) fn overlooked(&mut self, line: usize, path: &str) -> String {
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
    pub(super) fn told(&self, line: usize, call: &Call) -> String {
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

    pub(super) fn before(&self, line: usize) -> Trail<'a> {
        Trail::of(self.past.before(line), self.clock)
    }

    pub(super) fn at(&self, line: usize) -> String {
        (self.clock)(self.past.line(line).at)
    }

    /// Whether a znode is there, and since when.
    pub(super) fn state_of(&mut self, path: &str) -> String {
        match self.past.last_change(path) {
            None if self.past.has_found(path) => {
                "has been there from the beginning, and was not changed".into()
            }
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
    pub(super) fn gone_or_made(&self, change: &Change<'_>) -> String {
        let at = self.at(change.line);
        let name = |session: SessionId| whose(self.past.owner(session), session);
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

    /// From when until when a process was without its connection, which it lost in a line.
    pub(super) fn gap(&mut self, process: u16, lost: usize) -> String {
        self.follow(lost, 1);
        let (name, at) = (self.past.line(lost).who.clone(), self.at(lost));
        let deeds = &self.past.line(lost).deeds;
        if deeds.iter().any(|deed| matches!(deed, Deed::Event(Event::Is(GroundTruth::Crashed { .. })))) {
            return format!("{name} crashed at {at}.");
        }
        match self.past.connects(process, lost) {
            Some(again) => {
                self.pick(again, 1);
                format!("{name} was without its connection from {at} to {}.", self.at(again))
            }
            None => format!("{name} lost its connection at {at}."),
        }
    }

    /// The last writes that were done and whose answers were lost: of one znode, or of all.
    pub(super) fn answers_lost(&mut self, path: Option<&str>) {
        const MOST: usize = 2;
        let is_one = |call: &Call| {
            let is_there = path.is_none_or(|path| *call.request.path() == *path);
            call.request.is_write() && call.is_done_untold() && is_there
        };
        let changed: BTreeSet<usize> = self.past.changes().map(|change| change.line).collect();
        let lost = self.past.all_calls().rev().filter(|(line, call)| is_one(call) && changed.contains(line));
        let lost: Vec<(usize, &Call)> = lost.collect();
        for (line, call) in lost.into_iter().take(MOST) {
            let (at, told) = (self.at(line), self.told(line, call));
            self.follow(line, 1);
            let again = self.asked_again(line, call.actor.process, &call.request.path());
            let is_told = |why: &String| why.contains(&told) || (!again.is_empty() && why.ends_with(&again));
            if !self.why.iter().any(is_told) {
                self.why.push(format!("{} asked at {at}: {told}.{again}", call.actor));
            }
        }
    }

    /// What a process asks of a znode next, behind a line.
    pub(super) fn asked_again(&mut self, behind: usize, process: u16, path: &str) -> String {
        let mut calls = self.past.calls(process).filter(|(line, _)| *line > behind);
        let Some((line, call)) = calls.find(|(_, call)| *call.request.path() == *path) else {
            return String::new();
        };
        self.pick(line, 1);
        format!(" It asks again at {}: {}.", self.at(line), self.told(line, call))
    }
}

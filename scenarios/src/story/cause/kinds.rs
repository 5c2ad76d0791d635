//! What there is to say of each kind of break: somebody waits, fails, goes on, holds what another holds, or leaves
//! something behind.

use super::{LOSSES, Search};
use crate::story::past::{Change, Changed, claims};
use crate::story::{Call, Deed};
use std::collections::{BTreeMap, BTreeSet};
use zk_api::{ErrorCode, Request, Response};
use zk_reports::of;
use zk_trials::event::{ActorId, End, Event, GroundTruth, Observation};
use zk_trials::words::ADDS;

impl Search<'_> {
    /// One change woke several: who had watched it, since when, and what changed.
    pub(super) fn wakes(&mut self, path: &str, of_children: bool) {
        let fires = self.past.truths().rev().filter_map(|(line, truth)| match truth {
            GroundTruth::Fired { path: at, woken, .. } if **at == *path => Some((line, woken)),
            _ => None,
        });
        let mut fires = fires.skip_while(|(_, woken)| woken.len() < 2).peekable();
        let Some((line, woken)) = fires.peek().copied() else { return };
        self.follow(line, 0);
        // Of those that a change wakes at several servers it is told each time, the earlier ones among them.
        let mut more = usize::MAX;
        let told: Vec<_> =
            fires.take_while(|(_, woken)| std::mem::replace(&mut more, woken.len()) > woken.len()).collect();
        let watch = |actor: &ActorId| {
            let (woken_at, _) = told.iter().rev().find(|(_, woken)| woken.contains(actor))?;
            let mut all = self.past.before(*woken_at).watches(actor.process).into_iter().rev();
            all.find(|watch| watch.path == path && watch.of_children == of_children)
        };
        let mut watches: Vec<usize> = woken.iter().filter_map(watch).map(|watch| watch.line).collect();
        watches.sort_unstable();
        watches.iter().for_each(|line| self.pick(*line, 1));
        let mut woken = woken.clone();
        woken.sort_unstable();
        let names: Vec<String> = woken.iter().map(ToString::to_string).collect();
        let since = match watches.as_slice() {
            [] => String::new(),
            [first, .., last] if self.at(*first) != self.at(*last) => {
                format!(" (set from {} to {})", self.at(*first), self.at(*last))
            }
            [first, ..] => format!(" (set at {})", self.at(*first)),
        };
        let what = if of_children { "the children of " } else { "" };
        self.why
            .push(format!("{} watched {what}{path}{since}: one change wakes them all.", names.join(", ")));
        if let Some(change) = self.past.last_below(path).filter(|_| of_children) {
            self.follow(change.line, 0);
            self.why.push(format!("{} {}.", change.path, self.gone_or_made(&change)));
        }
    }

    /// A process fails: the error that it shows, and the request.
    pub(super) fn fails(&mut self, process: u16) {
        let end = self.past.truths().rev().find(|(_, truth)| {
            matches!(truth, GroundTruth::Finished { actor, end: End::Failed } if actor.process == process)
        });
        let Some((end, _)) = end else { return self.acts(process) };
        self.pick(end, 1);
        let (name, until) = (self.past.name(process), self.past.line(end).at);
        let error = self.past.before(end).printed(&self.past.line(end).who, until);
        error.into_iter().for_each(|(line, _)| self.pick(line, 0));
        let is_own = error.is_some();
        let fails = error.map_or(format!("{name} fails"), |(_, error)| format!("{name} fails: {error}"));
        let decided = self.past.decided_by(process, until);
        let after = |line: usize| decided.is_none_or(|(decided, _)| line > decided);
        let lost = self.past.truths().rev().find(|(line, truth)| {
            after(*line) && matches!(truth, GroundTruth::Disconnected { actor } if actor.process == process)
        });
        let gives_up = self.past.says().rev().find_map(|(line, actor, what)| match what {
            Observation::GivesUp { why, .. } if actor.process == process && after(line) => Some((line, why)),
            _ => None,
        });
        lost.into_iter().for_each(|(line, _)| self.follow(line, 0));
        let open = self.past.calls(process).next_back().filter(|(_, call)| call.heard.is_none());
        let open = open.map(|(line, call)| {
            self.follow(line, 0);
            format!(" Unanswered: {}.", self.told(line, call))
        });
        let open = open.unwrap_or_default();
        let when = lost.map(|(line, _)| format!(" Its connection was lost at {}.", self.at(line)));
        let when = when.unwrap_or_default();
        match (gives_up, decided) {
            (Some((line, why)), _) if error.is_none() => {
                self.pick(line, 0);
                let lost = match lost {
                    None if why.contains("ConnectionLoss") => self.lost_request(process, line, why),
                    None | Some(_) => String::new(),
                };
                self.why.push(format!("{name} gives up at {}: {why}.{when}{open}{lost}", self.at(line)));
            }
            _ if lost.is_some() => self.why.push(format!("{fails}.{when}{open}")),
            (_, Some((line, call))) => {
                self.follow(line, 0);
                let path = call.request.path();
                let state = match call.result() {
                    Some(Err(ErrorCode::NoNode | ErrorCode::NodeExists | ErrorCode::NotEmpty)) => {
                        format!("; {path} {}", self.before(line).state_of(&path))
                    }
                    _ => String::new(),
                };
                let (at, told) = (self.at(line), self.told(line, call));
                let of = if error.is_some() { ". Its last request was that" } else { " at its request" };
                self.why.push(format!("{fails}{of} of {at}: {told}{state}."));
            }
            _ if is_own => self.why.push(format!("{fails}.")),
            _ => {}
        }
        if is_own {
            self.last_write(process, end);
            self.answers_lost(None);
        }
    }

    /// The request that a process gives up for in a line, if that was lost with its connection.
    fn lost_request(&mut self, process: u16, gives_up: usize, why: &str) -> String {
        let before = self.past.before(gives_up);
        let is_that = |call: &Call| {
            let tried = format!("{} {}", call.request.name(), call.request.path());
            call.heard.is_none()
                && why.strip_prefix(tried.trim_end()).is_some_and(|rest| rest.starts_with(':'))
        };
        let Some((line, call)) = before.calls(process).rfind(|(_, call)| is_that(call)) else {
            let fault = before.last_fault(process, &LOSSES, true, None);
            fault.into_iter().for_each(|fault| self.pick(fault, 1));
            return String::new();
        };
        self.follow(line, 0);
        let sentence = format!(" At {}: {}.", self.at(line), self.told(line, call));
        // What is sent as the connection goes is told of behind that.
        let still = |lost: &usize| self.past.connects(process, *lost).is_none_or(|again| again > line);
        let lost = before.loses_connection(process, Some(line));
        let lost = lost.or_else(|| before.before(line).loses_connection(process, None).filter(still));
        let gap = lost.map_or(String::new(), |lost| format!(" {}", self.gap(process, lost)));
        sentence + &gap
    }

    /// Who has set a counter more often than it tells of additions: that of a znode that was made once, where each adds 1.
    pub(super) fn counted_twice(&mut self, path: &str) {
        let mut told: BTreeMap<u16, (usize, usize)> = BTreeMap::new();
        let mut made = self.past.changes().filter(|it| it.path == path && it.kind == Changed::Made);
        let (Some(first), None) = (made.next(), made.next()) else { return };
        let is_set = |change: &Change<'_>| change.kind == Changed::Set && change.line != first.line;
        for change in self.past.changes().filter(|change| change.path == path && is_set(change)) {
            let owner = self.past.owner(change.by);
            owner.into_iter().for_each(|owner| told.entry(owner.process).or_default().0 += 1);
        }
        for (_, actor, what) in self.past.says() {
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
            let name = self.past.name(process);
            let times = of(writes as u64, "time");
            let additions = of(adds as u64, "addition");
            self.why.push(format!("{name} has written {path} {times} for {additions} that it began."));
        }
    }

    /// The last write that a process was answered before a line, and what has become of its znode.
    fn last_write(&mut self, process: u16, end: usize) {
        let before = self.past.before(end);
        let write = before.calls(process).rfind(|(_, call)| call.request.is_write() && call.heard.is_some());
        let Some((line, call)) = write else { return };
        self.follow(line, 1);
        let (at, told) = (self.at(line), self.told(line, call));
        let path = match call.result() {
            Some(Ok(Response::Created { path, .. })) => path.clone(),
            _ => call.request.path(),
        };
        let fate = self.past.last_change(&path).filter(|change| change.line != line).map(|change| {
            self.follow(change.line, 1);
            format!("; {path} {}", self.gone_or_made(&change))
        });
        self.why.push(format!("Its last write, at {at}: {told}{}.", fate.unwrap_or_default()));
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

    /// A process goes on, though its session is over or it was told that it may be.
    pub(super) fn goes_on(&mut self, process: u16) {
        self.ended(process, 0);
        let news = self.past.truths().rev().find(|(_, truth)| match truth {
            GroundTruth::LearnsExpiry { actor } | GroundTruth::Disconnected { actor } => {
                actor.process == process
            }
            _ => false,
        });
        news.into_iter().for_each(|(line, _)| self.follow(line, 1));
        let acts = |truth: &GroundTruth| match truth {
            GroundTruth::Wrote { actor, .. } | GroundTruth::Finished { actor, .. } => {
                actor.process == process
            }
            _ => false,
        };
        let since =
            self.past.truths().rev().take_while(|(line, _)| news.is_none_or(|(news, _)| *line > news));
        let acts: Vec<(usize, &GroundTruth)> = since.filter(|(_, truth)| acts(truth)).take(4).collect();
        acts.iter().for_each(|(line, _)| self.pick(*line, 0));
        let name = self.past.name(process);
        let wrote = acts.iter().rev().filter(|(_, truth)| matches!(truth, GroundTruth::Wrote { .. }));
        let wrote: Vec<String> = wrote.map(|(line, _)| self.at(*line)).collect();
        if let (Some((news, _)), false) = (news, wrote.is_empty()) {
            let (told, wrote) = (self.at(news), wrote.join(" and "));
            self.why.push(format!(
                "{name} was told at {told}, and yet its writes reach the resource at {wrote}."
            ));
        }
        if let Some((line, _, what)) = self.past.says().rev().find(|(_, actor, _)| actor.process == process) {
            self.pick(line, 0);
            self.why.push(format!("The last thing that {name} reported, at {}: it {what}.", self.at(line)));
        }
        if let Some((line, call)) = self.past.calls(process).next_back() {
            self.pick(line, 1);
            self.why.push(format!("Its last request, at {}: {}.", self.at(line), self.told(line, call)));
        }
    }

    /// A process is through with something that it leaves behind: with what it was about when it made that.
    pub(super) fn is_through(&mut self, process: u16, path: &str) {
        let made = self.past.last(path, Changed::Made).map_or(0, |made| made.line);
        let said = self.past.says().filter(|(line, actor, _)| *line > made && actor.process == process);
        let ends = said.filter(|(_, _, what)| {
            matches!(
                what,
                Observation::GivesUp { .. } | Observation::Released { .. } | Observation::Ends { .. }
            )
        });
        if let Some((line, _, what)) = ends.into_iter().next() {
            self.pick(line, 1);
            self.why.push(format!("At {} {} {what}.", self.at(line), self.past.name(process)));
        }
        let lost = self.past.calls(process).rev().find(|(_, call)| {
            call.heard.is_none() && matches!(call.request, Request::Delete { .. } | Request::Multi { .. })
        });
        if let Some((line, call)) = lost {
            self.follow(line, 0);
            self.why.push(format!("Its request of {}: {}.", self.at(line), self.told(line, call)));
        }
        self.finished(process).into_iter().for_each(|(line, _)| self.pick(line, 1));
    }

    /// Who else was granted something last.
    pub(super) fn other_holder(&self, first: ActorId) -> Option<ActorId> {
        let others = self.past.says().rev().filter(|(_, actor, what)| *actor != first && claims(what));
        others.map(|(_, actor, _)| actor).next()
    }

    /// An actor believes that it holds something: by what, and what has become of that. `was_first` of who held it before
    /// another came.
    pub(super) fn holds(&mut self, holder: ActorId, was_first: bool) {
        let claim = self.past.says().rev().find(|(_, actor, what)| *actor == holder && claims(what));
        let Some((line, _, what)) = claim else { return self.acts(holder.process) };
        self.follow(line, 0);
        let at = self.past.line(line).at;
        let decided = self.past.before(line).decided_by(holder.process, at);
        let node = match what {
            Observation::Granted { node, .. } | Observation::Shares { node, .. } => Some(node.to_string()),
            _ => self.granted_by(holder, line),
        };
        let by = node.as_ref().map(|node| format!(" by {node}")).unwrap_or_default();
        let fate = node.map(|node| {
            let fate = self.fate_of_claim(&node, was_first);
            format!(", which {fate}")
        });
        let mut why = format!("{holder} has held it since {}{by}{}", self.at(line), fate.unwrap_or_default());
        match decided.filter(|_| !was_first) {
            Some(_) if self.acts_on_watch(holder, line) => {
                self.why.push(format!("{why}."));
                self.woken_before(holder, line);
            }
            Some((asked, call)) => {
                why.push_str(&format!(". It acts on {}", self.told(asked, call)));
                let path = call.request.path();
                if let Some(Ok(Response::Exists(None)) | Err(ErrorCode::NoNode)) = call.result() {
                    why.push_str(&format!("; it {}", self.before(asked).state_of(&path)));
                }
                let overlooked = self.overlooked(asked, &path);
                self.why.push(format!("{why}.{overlooked}"));
            }
            None => self.why.push(format!("{why}.")),
        }
        self.gap_before(holder.process, line);
        self.ended(holder.process, 1);
    }

    /// The znode by which an actor was granted what it acts on now.
    fn granted_by(&self, holder: ActorId, line: usize) -> Option<String> {
        let before = self.past.before(line + 1);
        let mut says = before.says().rev().filter(|(_, actor, _)| *actor == holder);
        let granted = says.find_map(|(_, _, what)| match what {
            Observation::Granted { node, .. } | Observation::Shares { node, .. } => Some(node.to_string()),
            _ => None,
        });
        granted.filter(|node| node.starts_with('/'))
    }

    fn fate_of_claim(&mut self, node: &str, was_first: bool) -> String {
        match self.past.last_change(node) {
            None => "nobody has made".into(),
            Some(change) => {
                self.follow(
                    change.line,
                    if change.kind == Changed::Gone { 1 } else { 2 + u8::from(was_first) },
                );
                match change.kind {
                    Changed::Gone => self.gone_or_made(&change),
                    Changed::Made | Changed::Set => "is still there".into(),
                }
            }
        }
    }

    /// Whether a watch told a process something after all that it asked before it acted.
    fn acts_on_watch(&self, holder: ActorId, line: usize) -> bool {
        let before = self.past.before(line + 1);
        let woken = before.last_woken(holder.process);
        woken.is_some_and(|(woken, ..)| before.calls(holder.process).all(|(asked, _)| asked <= woken))
    }

    fn woken_before(&mut self, holder: ActorId, line: usize) {
        let Some((woken, path, kind)) = self.past.before(line + 1).last_woken(holder.process) else { return };
        self.follow(woken, 1);
        let change = self.past.before(woken + 1).last_change(path);
        let what =
            change.map_or_else(|| format!("{kind:?}"), |change| format!("it {}", self.gone_or_made(&change)));
        let (at, name) = (self.at(woken), self.past.name(holder.process));
        self.why.push(format!(
            "It acts on its watch of {path}, which fired at {at}: {what}. {name} has looked at nothing since."
        ));
    }

    /// Whether a process's session is over, by what, and whether it was told.
    fn ended(&mut self, process: u16, weight: u8) {
        let opened = self.past.truths().rev().filter_map(|(line, truth)| match truth {
            GroundTruth::SessionOpened { actor, session } if actor.process == process => {
                Some((line, *actor, *session))
            }
            _ => None,
        });
        let opened: Vec<_> = opened.collect();
        let Some((_, life, _)) = opened.first().copied() else { return };
        let closed = self.past.truths().rev().find_map(|(line, truth)| match truth {
            GroundTruth::SessionClosed { actor, expired, session } if *actor == life => {
                Some((line, *expired, *session))
            }
            _ => None,
        });
        let Some((line, expired, session)) = closed else { return };
        let began = opened.iter().find(|(.., of)| *of == session).map_or(0, |(began, ..)| *began);
        let learns = self.past.truths().find_map(|(at, truth)| match truth {
            GroundTruth::LearnsExpiry { actor } if actor.process == process && at >= began => Some(at),
            _ => None,
        });
        self.follow(line, weight);
        let how = if expired { "expired" } else { "was closed" };
        let learns = match learns {
            Some(told) if told >= line => format!(", and it learned of that at {}", self.at(told)),
            Some(told) => {
                self.pick(told, weight);
                let next = opened.iter().rev().find(|(next, ..)| *next > told).map(|(next, ..)| *next);
                let next = next.map(|next| {
                    self.pick(next, weight);
                    format!(", and had another since {}", self.at(next))
                });
                let (name, at, told) = (self.past.name(process), self.at(line), self.at(told));
                let next = next.unwrap_or_default();
                self.why.push(format!(
                    "{name} was told at {told} that its session is dead{next}; the servers ended it at {at}."
                ));
                return;
            }
            None if expired => ", which it was not told".into(),
            None => String::new(),
        };
        let (name, at) = (self.past.name(process), self.at(line));
        self.why.push(format!("The session of {name} {how} at {at}{learns}."));
    }

    /// Whether a process was without its connection between the last two times that it claimed something.
    fn gap_before(&mut self, process: u16, line: usize) {
        let claims = self.past.says().rev().filter(|(at, actor, what)| {
            *at < line
                && actor.process == process
                && claims(what)
                && !matches!(what, Observation::Granted { .. })
        });
        let Some(before) = claims.map(|(at, ..)| at).next() else { return };
        if let Some(lost) = self.past.loses_connection(process, Some(before)).filter(|lost| *lost < line) {
            let gap = self.gap(process, lost);
            self.why.push(gap);
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

    /// What a process said last, and on which answer.
    pub(super) fn acts(&mut self, process: u16) {
        let name = self.past.name(process);
        let mut says = self.past.says().rev().filter(|(_, actor, _)| actor.process == process);
        let said = says.next();
        let until = said.map_or(u64::MAX, |(line, ..)| self.past.line(line).at);
        if let Some((line, _, what)) = said {
            self.follow(line, 0);
            // The same that it said of something else.
            let kind = |what: &Observation| {
                (std::mem::discriminant(what), what.told().map(|(verb, ..)| verb.to_string()))
            };
            let same = says.find(|(_, _, other)| kind(other) == kind(what));
            same.into_iter().for_each(|(line, ..)| self.pick(line, 2));
        }
        let decided = self.past.decided_by(process, until);
        if let Some((line, call)) = decided {
            self.follow(line, 0);
            let overlooked = self.overlooked(line, &call.request.path());
            let (at, told) = (self.at(line), self.told(line, call));
            // What it wrote is the deed itself, and not what it was told.
            let is_write = call.request.is_write();
            self.why.push(match is_write {
                true => format!("{name} asked at {at}: {told}."),
                false => format!("{name} acts on the answer of {at} to {told}.{overlooked}"),
            });
            if let Some((woken, path, kind)) =
                said.and_then(|(said, ..)| self.past.before(said + 1).last_woken(process))
                && woken > line
                && !is_write
            {
                self.follow(woken, 0);
                self.why.push(format!("Its watch of {path} fired at {} ({kind:?}).", self.at(woken)));
            }
            let earlier = self.past.before(line);
            earlier.calls(process).rev().take(2).for_each(|(line, _)| self.pick(line, 2));
        }
        let last = self.past.calls(process).next_back().filter(|(_, call)| call.heard.is_none());
        if let Some((line, call)) = last {
            self.follow(line, 1);
            self.why.push(format!("Its request of {}: {}.", self.at(line), self.told(line, call)));
        }
        if let Some((line, ..)) = said {
            self.gap_before(process, line);
        }
        self.ended(process, 1);
    }

    /// When a process said before what it says once more.
    pub(super) fn already(&mut self, process: u16) {
        let mut says = self.past.says().rev().filter(|(_, actor, _)| actor.process == process);
        let Some((_, _, now)) = says.next() else { return };
        let before = says.find(|(_, _, what)| std::mem::discriminant(*what) == std::mem::discriminant(now));
        let Some((line, actor, what)) = before else { return };
        self.follow(line, 0);
        self.why.push(format!("Once before, at {}: {actor} {what}.", self.at(line)));
    }

    /// The last that a process said, beside what it has.
    pub(super) fn said_last(&mut self, process: u16) {
        let notes =
            self.past.says().rev().filter(|(_, actor, what)| {
                actor.process == process && matches!(what, Observation::Notes { .. })
            });
        let notes: Vec<usize> = notes.map(|(line, ..)| line).take(2).collect();
        notes.into_iter().for_each(|line| self.pick(line, 1));
    }
}

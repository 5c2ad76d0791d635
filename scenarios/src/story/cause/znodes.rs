//! What there is to say of a znode that a break names: what has become of it, who asked for that, and which others it
//! stands beside.

use super::Search;
use crate::story::Deed;
use crate::story::past::{Change, Changed};
use zk_api::Request;
use zk_trials::words::TAKES;

impl Search<'_> {
    /// What has become of a znode that the break names. `left` if nobody should have left it there.
    pub(super) fn znode(&mut self, path: &str, left: bool) {
        let made = self.past.last(path, Changed::Made);
        made.into_iter().for_each(|made| self.follow(made.line, 1));
        match self.past.last_change(path) {
            Some(last) => {
                self.follow(last.line, 1);
                let before = self.past.before(last.line).last(path, Changed::Set);
                before.into_iter().for_each(|set| self.pick(set.line, 2));
                let made = made.filter(|made| made.line != last.line).map(|made| self.gone_or_made(&made));
                let made = made.map(|made| format!("{made}, and ")).unwrap_or_default();
                let what = self.gone_or_made(&last);
                if !self.why.iter().any(|why| why.contains(path) && why.contains(&what)) {
                    let again = self.asks_again(&last);
                    self.why.push(format!("{path} {made}{what}.{again}"));
                }
                self.answers_lost(Some(path));
            }
            None => {
                let below = self.past.changes().rev().filter(|change| {
                    change.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
                });
                below.take(4).for_each(|change| self.follow(change.line, 2));
            }
        }
        if left {
            self.left(path);
        }
        self.said_of(path);
    }

    /// Who took an item that comes behind this one while this one was there, and by which list.
    pub(super) fn overtaken(&mut self, path: &str) {
        let Some((made, parent)) = self.past.last(path, Changed::Made).zip(path.rsplit_once('/')) else {
            return;
        };
        let takes = self.past.says().rev().find(|(line, _, what)| {
            let about = what.told().filter(|(verb, ..)| *verb == TAKES).map(|(_, about, _)| about);
            let is_behind = about.is_some_and(|other| {
                other > path && other.rsplit_once('/').is_some_and(|(up, _)| up == parent.0)
            });
            *line > made.line && is_behind
        });
        let Some((line, actor, what)) = takes else { return };
        self.pick(line, 0);
        let before = self.past.before(line);
        let list = before
            .calls(actor.process)
            .rfind(|(_, call)| matches!(call.request, Request::GetChildren { .. }) && call.heard.is_some());
        let list = list.map(|(line, call)| {
            self.pick(line, 0);
            format!(", by its list of {}: {}", self.at(line), self.told(line, call))
        });
        self.why.push(format!("{actor} {what} at {}{}.", self.at(line), list.unwrap_or_default()));
    }

    /// What somebody who never learned that it has changed a znode asks of that next.
    fn asks_again(&mut self, change: &Change<'_>) -> String {
        let untold = self.past.line(change.line).deeds.iter().find_map(|deed| match deed {
            Deed::Call(call) if call.is_done_untold() => Some(call.actor.process),
            Deed::Call(_) | Deed::Event(_) => None,
        });
        untold.map_or(String::new(), |process| self.asked_again(change.line, process, change.path))
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

    /// The other znode of the same session whose name differs only in its number.
    pub(super) fn second_znode(&mut self, path: &str) {
        let Some(made) = self.past.last(path, Changed::Made) else { return };
        let name = |path: &str| zk_api::sequence_of(path).map(|_| path[..path.len() - 10].to_owned());
        // Both may have been made in the same instant, which is one line.
        let others = self.past.before(made.line + 1);
        let other = others.changes().rev().find(|other| {
            let is_like = other.owner == made.owner && name(other.path) == name(path);
            other.kind == Changed::Made && is_like && other.path != path
        });
        if let Some(other) = other {
            self.follow(other.line, 0);
            self.why.push(format!("{} {}.", other.path, self.gone_or_made(&other)));
        }
    }

    /// Who asked to delete what is left.
    fn left(&mut self, path: &str) {
        let asked = self.past.all_calls().rev().find(
            |(_, call)| matches!(&call.request, Request::Delete { path: asked, .. } if **asked == *path),
        );
        let sentence = match asked {
            None => "Nobody asks to delete it.".into(),
            Some((line, call)) => {
                self.follow(line, 0);
                let told = self.told(line, call);
                if self.why.iter().any(|why| why.contains(&told)) {
                    return;
                }
                format!("{} asks to delete it at {}: {told}.", call.actor, self.at(line))
            }
        };
        self.why.push(sentence);
    }

    /// What is said of a znode, by each process in its last words of each kind.
    fn said_of(&mut self, path: &str) {
        let mut kinds = Vec::new();
        for (line, actor, what) in self.past.says().rev() {
            let Some((verb, about, _)) = what.told() else { continue };
            let kind = (actor.process, verb);
            if about == path && !kinds.contains(&kind) && kinds.len() < 4 {
                kinds.push(kind);
                self.pick(line, 2);
            }
        }
    }
}

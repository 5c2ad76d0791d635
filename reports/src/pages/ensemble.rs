//! A check of an ensemble.

use super::check::{explored, how_far, in_a_line, limits, untested, verdicts, ways};
use crate::answers::{at_most, ensemble_answer};
use crate::page::{self, Block, Page, below};
use crate::suite::of_ensemble;
use crate::words::wall;
use crate::{EnsembleBounds, EnsembleReport, Judgement, Report, Suite, WholeServers, count, of};

impl Report for EnsembleReport {
    fn heading(&self) -> String {
        "check ensemble".into()
    }

    fn page(&self) -> Page {
        let about = format!("real servers over links that break, {}", level(&self.level));
        let merged = format!("merged: {}", self.merged.join(", "));
        let mut page = vec![
            Block::Title("ensemble".into(), about),
            below(format!("servers: {}", servers(self.whole.as_ref()))),
            below(format!("bounds: {}", bounds(&self.bounds))),
        ];
        page.extend((!self.merged.is_empty()).then(|| below(merged)));
        page.extend(limits(&self.limits));
        page.extend(self.command.clone().map(Block::Command));
        page.push(verdicts("invariant", &self.invariants, self.exhaustive, None));
        page.extend(in_a_line("liveness", &self.liveness));
        page.push(Block::Cases(self.sometimes.clone(), None));
        page.extend(ways(self.all(), self.promise.as_deref(), &self.pictures));
        let rate = count((self.states as f64 / self.wall_seconds.max(1e-6)) as u64);
        let took = format!("{} ({rate} states a second)", wall(self.wall_seconds));
        page.extend(explored(self.states, self.transitions, took));
        page.extend(untested(&self.untested().collect::<Vec<_>>(), self.exhaustive));
        page.extend(how_far(self.verdict == Judgement::Undecided));
        page.push(page::answer(self.verdict.answer(), ensemble_answer(self)));
        page
    }

    fn suite(&self) -> Option<Suite> {
        Some(of_ensemble(self))
    }
}

fn level(name: &str) -> String {
    match name {
        "election" => "from the start, and no further than an election".to_owned(),
        "synchronisation" => "from a decided election on".to_owned(),
        "competing-leaders" => "from the moment when two of three voters compete for one epoch".to_owned(),
        "broadcast" => "from an established leader on".to_owned(),
        "whole" => "from the start".to_owned(),
        other => other.to_owned(),
    }
}

/// What they are.
fn servers(whole: Option<&WholeServers>) -> String {
    match whole {
        None => "peers without trees, sessions or clients".to_owned(),
        Some(WholeServers { asks, snapshots }) => {
            let own = if *snapshots { ", with snapshots of their own" } else { "" };
            format!("whole{own}, and a client that asks for {asks}")
        }
    }
}

/// What there is, and then what there is not.
fn bounds(b: &EnsembleBounds) -> String {
    let (most, none) = at_most(&[
        (b.txns, "transaction", "transactions"),
        (b.crashes, "crash", "crashes"),
        (b.breaks, "broken link", "broken links"),
        (b.partitions, "partition", "partitions"),
        (b.elections, "further election", "further elections"),
        (b.timeouts, "early timer", "early timers"),
    ]);
    let mut text = of(b.servers.into(), "voter");
    if b.observers > 0 {
        text.push_str(&format!(" and {}", of(b.observers.into(), "observer")));
    }
    if b.past > 0 {
        text.push_str(&format!("; {} of a past epoch", of(b.past.into(), "transaction")));
    }
    text.push_str(&most);
    if !none.is_empty() {
        text.push_str(&format!("; no {}", none.join(", ")));
    }
    text
}

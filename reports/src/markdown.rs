//! A sweep for a job's summary, and as annotations of a build.

use crate::html::shrink_command;
use crate::sweep::{Failure, PromiseResult, SweepReport};
use crate::text::{
    count, covered_words, failed, missing_words, rate_words, seconds, sweep_answer, unseen_words,
    verdict_words,
};
use crate::verdict::{Answer, Verdict};
use std::fmt::Write;

/// How many breaks are annotated, or shown with their commands.
const SHOWN: usize = 10;

/// A sweep as Markdown, for `$GITHUB_STEP_SUMMARY` and its like.
pub fn sweep_markdown(report: &SweepReport) -> String {
    let mut out = String::new();
    let sign = match report.answer {
        Answer::Held => "✅",
        Answer::Broken => "❌",
        Answer::Undecided => "⚠️",
    };
    let _ = writeln!(out, "### {sign} zoocheck: {}\n", plain(&report.what));
    let seeds = &report.seeds;
    let _ = writeln!(
        out,
        "**{}** in {} seeds ({}..{}), {} virtual seconds\n",
        plain(&sweep_answer(report)),
        count(seeds.count),
        seeds.first,
        seeds.end,
        count(report.virtual_seconds as u64)
    );
    for line in limits(report) {
        let _ = writeln!(out, "{}\n", plain(&line));
    }
    table(&mut out, "promise", &report.promises, seeds.count);
    let bad: Vec<PromiseResult> =
        report.invariants.iter().filter(|result| result.verdict == Verdict::Broken).cloned().collect();
    table(&mut out, "always watched", &bad, seeds.count);
    let firsts = report.firsts().filter(|(_, _, verdict)| *verdict == Verdict::Broken);
    for (_, failure, _) in firsts.take(SHOWN) {
        first(&mut out, report, failure);
    }
    let unreached: Vec<String> =
        report.sometimes.iter().filter(|case| case.times == 0).map(|case| plain(&case.name)).collect();
    if !unreached.is_empty() {
        let _ = writeln!(out, "Never reached: {}\n", unreached.join(", "));
    }
    out
}

/// What was not run, what was not reached, and what such a sweep cannot have missed.
fn limits(report: &SweepReport) -> impl Iterator<Item = String> {
    let unseen = unseen_words(report).filter(|_| report.confidence.rates.is_empty());
    [missing_words(report), covered_words(report).map(|(_, words)| words), unseen].into_iter().flatten()
}

fn table(out: &mut String, first: &str, results: &[PromiseResult], seeds: u64) {
    if results.is_empty() {
        return;
    }
    let _ = writeln!(out, "| {first} | verdict | tested |\n|---|---|--:|");
    for result in results {
        let sign = match result.verdict {
            Verdict::Held => "🟢",
            Verdict::Broken => "🔴",
            Verdict::BrokenAsExpected => "🟡",
            Verdict::NeverTested => "⚪",
        };
        let mut words = plain(&verdict_words(result, seeds, "seed"));
        if result.verdict == Verdict::BrokenAsExpected {
            let _ = write!(words, ": {}", plain(&failed(&result.assumptions)));
        }
        let _ = writeln!(out, "| {} | {sign} {words} | {} |", plain(&result.name), count(result.tested));
    }
    out.push('\n');
}

fn first(out: &mut String, report: &SweepReport, failure: &Failure) {
    let _ = writeln!(
        out,
        "#### {}\nSeed {}, at {}: {}\n",
        plain(&failure.promise),
        failure.seed,
        seconds(failure.virtual_ns),
        plain(&failure.what)
    );
    if let Some(rate) = rate_words(report, &failure.promise) {
        let _ = writeln!(out, "{}\n", plain(&rate));
    }
    let mut commands = vec![failure.replay.clone()];
    commands.extend(shrink_command(&failure.replay, &failure.promise));
    fenced(out, "sh", &commands.join("\n"));
}

/// A block of code, whatever is in it.
pub(crate) fn fenced(out: &mut String, language: &str, code: &str) {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(out, "{fence}{language}\n{}\n{fence}\n", code.trim_end());
}

/// Text that means nothing to Markdown, nor to the HTML in it; in one line.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' | '$' => out.extend(['\\', c]),
            // Nobody is to be called by a znode's name.
            '@' => out.push_str("&#64;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// What broke as annotations: a GitHub workflow command a line.
pub fn sweep_annotations(report: &SweepReport) -> String {
    let mut out = String::new();
    let broken = report.firsts().filter(|(_, _, verdict)| *verdict == Verdict::Broken);
    for (result, failure, _) in broken.take(SHOWN) {
        let title = format!("{}: {} is broken", report.what, failure.promise);
        let message = format!(
            "{} of {} seeds break it; first {}, at {}:\n{}\n{}",
            count(result.broken),
            count(report.seeds.count),
            failure.seed,
            seconds(failure.virtual_ns),
            failure.what,
            failure.replay
        );
        let _ = writeln!(out, "::error title={}::{}", property(&title), data(&message));
    }
    if report.answer == Answer::Undecided {
        let title = format!("{}: undecided", report.what);
        let _ = writeln!(out, "::warning title={}::{}", property(&title), data(&sweep_answer(report)));
    }
    out
}

/// The message of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// One of its properties.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_means_anything_to_markdown() {
        assert_eq!(plain("/a|b\n<script>*x*`@you"), "/a\\|b &lt;script&gt;\\*x\\*\\`&#64;you");
        let mut out = String::new();
        fenced(&mut out, "sh", "a ``` b");
        assert_eq!(out, "````sh\na ``` b\n````\n\n");
    }

    #[test]
    fn a_workflow_command_is_one_line_whatever_it_says() {
        assert_eq!(data("50 %\r\n::error::x"), "50 %25%0D%0A::error::x");
        assert_eq!(property("a: b, c\n"), "a%3A b%2C c%0A");
    }
}

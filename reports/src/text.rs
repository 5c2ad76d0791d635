//! Reports for people.

mod check;
mod ensemble;
mod exhaust;
mod judge;
mod live;
mod mutants;
mod replay;
mod sweep;

pub use check::check_text;
pub(crate) use check::{bounds as check_bounds, check_answer};
pub use ensemble::ensemble_text;
pub(crate) use ensemble::{
    bounds as ensemble_bounds, ensemble_answer, level as ensemble_level, servers as ensemble_servers,
};
pub use exhaust::exhaust_text;
pub(crate) use judge::{judge_answer, judged_promise, judged_trial};
pub use judge::{judge_markdown, judge_text};
pub use live::live_text;
pub(crate) use live::{NOT_JUDGED, live_answer, live_verdict};
pub use mutants::mutants_text;
pub(crate) use mutants::{fate_words, mutants_answer};
pub use replay::replay_text;
pub(crate) use sweep::{
    answer_words as sweep_answer, covered_words, missing_words, rate_words, unseen_words,
};
pub use sweep::{sweep_brief, sweep_text};

use crate::verdict::{Answer, Verdict};
use crate::{PromiseResult, Reached};
use anstyle::{AnsiColor, Style};
use std::fmt::Write;

/// Whether to paint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paint {
    colours: bool,
}

impl Paint {
    /// No colours: files, pipes, `NO_COLOR`.
    pub const PLAIN: Paint = Paint { colours: false };
    /// Colours: a terminal.
    pub const COLOURS: Paint = Paint { colours: true };

    pub(crate) fn good(self, text: &str) -> String {
        self.with(Style::new().fg_color(Some(AnsiColor::Green.into())), text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.with(Style::new().bold().fg_color(Some(AnsiColor::Red.into())), text)
    }

    pub(crate) fn odd(self, text: &str) -> String {
        self.with(Style::new().fg_color(Some(AnsiColor::Yellow.into())), text)
    }

    /// For headings and for the command to copy.
    pub fn strong(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.colours { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    pub(crate) fn verdict(self, verdict: Verdict, text: &str) -> String {
        match verdict {
            Verdict::Held => self.good(text),
            Verdict::Broken => self.bad(text),
            Verdict::BrokenAsExpected | Verdict::NeverTested => self.odd(text),
        }
    }

    pub(crate) fn answer(self, answer: Answer, text: &str) -> String {
        match answer {
            Answer::Held => self.good(text),
            Answer::Broken => self.bad(text),
            Answer::Undecided => self.odd(text),
        }
    }
}

/// What a sweep, a replay and an exhausted run begin with: what was run, and in which scenario.
fn heading(out: &mut String, paint: Paint, recipe: &str, about: &str, facts: &[String]) {
    let line = wrapped(&format!("{recipe}: {about}"), 4);
    let _ = writeln!(out, "{}", line.replacen(recipe, &paint.strong(recipe), 1));
    for fact in facts {
        let _ = writeln!(out, "  {}", wrapped(fact, 4));
    }
}

/// A number with its thousands apart: `1,204`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Wall time, with more digits the shorter it was.
pub(crate) fn wall(seconds: f64) -> String {
    if seconds < 10.0 { format!("{seconds:.2} s") } else { format!("{seconds:.0} s") }
}

/// Virtual nanoseconds as seconds: `12.040 s`.
pub fn seconds(ns: u64) -> String {
    // Rounded down, so that a time is never shown later than it was.
    let millis = ns / 1_000_000;
    format!("{}.{:03} s", millis / 1000, millis % 1000)
}

/// `1 seed`, `2 seeds`.
pub(crate) fn of(number: u64, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{} {one}s", count(number)),
    }
}

/// Rows with their columns under one another, without trailing blanks. The width of a cell is that of its first
/// text; the second is what is printed.
pub fn table(rows: &[Vec<(String, String)>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|(plain, _)| plain.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        for (at, (plain, painted)) in row.iter().enumerate() {
            out.push_str(painted);
            if at + 1 < row.len() {
                out.extend(std::iter::repeat_n(' ', widths[at] - plain.chars().count() + 2));
            }
        }
        out.push('\n');
    }
    out
}

/// The verdict of a promise over so many seeds, in words.
/// `all` are so many seeds, or orders.
pub(crate) fn verdict_words(result: &PromiseResult, all: u64, one: &str) -> String {
    let rate = |n: u64| if all == 0 { 0.0 } else { 100.0 * n as f64 / all as f64 };
    let all = of(all, one);
    match result.verdict {
        Verdict::Held => "held".into(),
        Verdict::Broken if result.expected > 0 => {
            format!(
                "BROKEN in {} of {all}, and as expected in {}",
                count(result.broken),
                count(result.expected)
            )
        }
        Verdict::Broken => format!("BROKEN in {} of {all}", count(result.broken)),
        Verdict::BrokenAsExpected => {
            let n = result.expected;
            format!("broken as expected in {} of {all} ({:.1} %)", count(n), rate(n))
        }
        Verdict::NeverTested => "never put to the test".into(),
    }
}

/// Servers and client processes that a text names, such as `s0`, `p1`, `p1.2` and `p1/1`, without the lives and threads of
/// a process: each once, in order.
pub fn named_in(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '(' | ')')) {
        // `p1's`, a life behind a point, and a thread behind a stroke.
        let name = word.split(['\'', '.', '/']).next().unwrap_or_default();
        let number = name.strip_prefix(['s', 'p']).unwrap_or_default();
        let is_name = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        if is_name && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The headings of a table of promises.
fn headings(paint: Paint, first: &str) -> Vec<(String, String)> {
    [first, "verdict", "tested"].map(|cell| (cell.to_string(), paint.strong(cell))).to_vec()
}

/// A promise in a table; `tested` is `None` where nobody counts.
fn row(
    paint: Paint,
    name: &str,
    verdict: Verdict,
    words: String,
    tested: Option<u64>,
) -> Vec<(String, String)> {
    let plain = |text: String| (text.clone(), text);
    let painted = paint.verdict(verdict, &words);
    vec![plain(name.into()), (words, painted), plain(tested.map_or("not counted".into(), count))]
}

/// Why a break was expected, in words that end a sentence.
pub(crate) fn failed(assumptions: &[String]) -> String {
    format!("the assumption failed that {}", assumptions.join(", and that "))
}

/// What a terminal shows in one line.
const WIDTH: usize = 80;

/// Text in lines that a terminal shows whole; those after the first begin with so many blanks. The first is to follow
/// what is as wide as that.
pub fn wrapped(text: &str, indent: usize) -> String {
    let (mut out, mut column) = (String::new(), indent);
    for word in text.split(' ') {
        let wide = word.chars().count();
        if column > indent && column + 1 + wide > WIDTH {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if !out.is_empty() {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += wide;
    }
    out
}

/// Promises and invariants under their headings.
fn promise_tables(
    out: &mut String,
    paint: Paint,
    promises: &[PromiseResult],
    invariants: &[PromiseResult],
    words: &dyn Fn(&PromiseResult) -> String,
) {
    // One table in two parts, so that their columns agree.
    let mut rows = Vec::new();
    for (heading, results) in [("promise", promises), ("always watched", invariants)] {
        rows.push(headings(paint, heading));
        for result in results {
            rows.push(row(paint, &result.name, result.verdict, words(result), Some(result.tested)));
        }
    }
    let text = table(&rows);
    let mut lines = text.lines();
    for _ in 0..=promises.len() {
        out.push_str(lines.next().expect("a line for each row"));
        out.push('\n');
    }
    for result in promises.iter().filter(|result| !result.assumptions.is_empty()) {
        let why = format!("{} as expected: {}", result.name, failed(&result.assumptions));
        out.push_str(&format!("  {}\n", wrapped(&why, 4).trim_start()));
    }
    if !invariants.is_empty() {
        out.push('\n');
        for line in lines {
            out.push_str(line);
            out.push('\n');
        }
    }
}

/// What was reached, and what was not.
fn coverage(out: &mut String, paint: Paint, sometimes: &[Reached], value: &dyn Fn(&Reached) -> String) {
    let (reached, missed): (Vec<&Reached>, Vec<&Reached>) = sometimes.iter().partition(|case| case.seeds > 0);
    if !reached.is_empty() {
        out.push('\n');
        let mut rows = vec![vec![("reached".to_string(), paint.strong("reached"))]];
        for case in reached {
            let value = value(case);
            rows.push(vec![(case.name.clone(), case.name.clone()), (value.clone(), value)]);
        }
        out.push_str(&table(&rows));
    }
    if !missed.is_empty() {
        let names: Vec<&str> = missed.iter().map(|case| case.name.as_str()).collect();
        out.push_str(&format!("\n{}\n  {}\n", paint.odd("never reached"), wrapped(&names.join(", "), 2)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let numbers = [0, 12, 999, 1000, 123_456, 1_234_567];
        assert_eq!(numbers.map(count), ["0", "12", "999", "1,000", "123,456", "1,234,567"]);
    }

    #[test]
    fn long_text_is_wrapped_between_words_and_indented() {
        let text = wrapped(&"abcd ".repeat(50), 7);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.starts_with("abcd") && text.lines().skip(1).all(|line| line.starts_with("       abcd")));
        assert_eq!(text.split_whitespace().count(), 50);
        let word = "x".repeat(300);
        assert_eq!(wrapped(&word, 3), word);
    }

    #[test]
    fn virtual_time_is_never_rounded_up() {
        assert_eq!(seconds(12_040_999_999), "12.040 s");
        assert_eq!(seconds(0), "0.000 s");
    }

    #[test]
    fn columns_stand_under_one_another_whatever_the_colours() {
        let cell = |text: &str| (text.to_string(), text.to_string());
        let painted = (String::from("bb"), Paint::COLOURS.bad("bb"));
        let rows = [vec![cell("a"), painted, cell("c")], vec![cell("aaa"), cell("b"), cell("c")]];
        let plain: String = anstyle_free(&table(&rows));
        assert_eq!(plain, "a    bb  c\naaa  b   c\n");
    }

    fn anstyle_free(text: &str) -> String {
        let mut inside = false;
        let mut keep = |c: char| {
            let was = inside;
            inside = if was { c != 'm' } else { c == '\u{1b}' };
            !was && !inside
        };
        text.chars().filter(|c| keep(*c)).collect()
    }
}

//! Pages as text.

use crate::page::{Block, Cell, Group, Line, Mood, Page, below, missed};
use crate::words::broken;
use crate::{Mark, Moment, Reached, of, seconds, wrapped};
use anstyle::{AnsiColor, Style};
use std::fmt::Write;

/// Whether to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paint {
    colours: bool,
}

impl Paint {
    /// No colours: files, pipes, `NO_COLOR`.
    pub const PLAIN: Paint = Paint { colours: false };
    /// Colours: a terminal.
    pub const COLOURS: Paint = Paint { colours: true };

    /// For headings and for the command to copy.
    pub fn strong(self, text: &str) -> String {
        self.with(Mood::Strong, text)
    }

    fn with(self, mood: Mood, text: &str) -> String {
        let coloured = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        let style = match mood {
            Mood::Plain => return text.to_owned(),
            _ if !self.colours => return text.to_owned(),
            Mood::Strong => Style::new().bold(),
            Mood::Good => coloured(AnsiColor::Green),
            Mood::Bad => coloured(AnsiColor::Red).bold(),
            Mood::Odd => coloured(AnsiColor::Yellow),
        };
        format!("{style}{text}{style:#}")
    }
}

/// A page as text.
pub(crate) fn text(page: &Page, paint: Paint) -> String {
    let mut out = String::new();
    page.iter().for_each(|block| show(&mut out, block, paint));
    out
}

fn show(out: &mut String, block: &Block, paint: Paint) {
    match block {
        Block::Title(name, about) => {
            let line = Line::new(Mood::Strong, name).then(Mood::Plain, format!(": {about}"));
            show_line(out, &line.wrapped(4), paint);
        }
        Block::Line(line) | Block::Answer(_, line) => show_line(out, line, paint),
        Block::Facts(facts) => facts.iter().for_each(|fact| show(out, &below(fact.as_str()), paint)),
        Block::Blank => out.push('\n'),
        Block::Table(_, groups) => show_groups(out, groups, paint),
        Block::Cases(cases, seeds) => show_cases(out, cases, seeds.is_some(), paint),
        Block::Card(title, body) => {
            out.push('\n');
            show_line(out, title, paint);
            body.iter().for_each(|block| show(out, block, paint));
        }
        Block::Steps(steps, matters) => show_steps(out, steps, matters),
        Block::Moments(moments) => show_moments(out, moments, paint),
        Block::Told(lines) => lines.iter().for_each(|line| out.extend([line, "\n"])),
        Block::Command(_) | Block::Diagram(_) | Block::Herd(_) | Block::Aside(..) => {}
    }
}

fn show_line(out: &mut String, line: &Line, paint: Paint) {
    let words = line.words();
    let shown = line.hang.map_or_else(|| words.clone(), |hang| broken(&words, line.indent, hang));
    let mut rest = shown.as_str();
    out.extend(std::iter::repeat_n(' ', line.indent));
    // Where the line is broken, this stands for a blank.
    let end = format!("\n{}", " ".repeat(line.hang.unwrap_or(0)));
    for (mood, words) in &line.spans {
        let before = rest;
        for c in words.chars() {
            let left = rest.strip_prefix(c).or_else(|| rest.strip_prefix(&end).filter(|_| c == ' '));
            rest = left.unwrap_or(rest);
        }
        out.push_str(&paint.with(*mood, &before[..before.len() - rest.len()]));
    }
    out.push('\n');
}

/// Groups under one another; their columns agree.
fn show_groups(out: &mut String, groups: &[Group], paint: Paint) {
    let painted = |mood, words: &str| (words.to_owned(), paint.with(mood, words));
    let mut rows = Vec::new();
    for group in groups {
        rows.push(group.heads.iter().map(|head| painted(Mood::Strong, head)).collect());
        let cells = |row: &Vec<Cell>| row.iter().map(|cell| painted(cell.mood, &cell.words)).collect();
        rows.extend(group.rows.iter().map(cells));
    }
    let mut lines = table(&rows).into_iter();
    for group in groups {
        let own: Vec<String> = lines.by_ref().take(1 + group.rows.len()).collect();
        // A group of nothing is not shown, unless it is the only one.
        if !group.rows.is_empty() || groups.len() == 1 {
            let _ = writeln!(out, "\n{}", own.join("\n"));
        }
        group.notes.iter().for_each(|note| show_line(out, note, paint));
    }
}

/// What was reached, and what was not.
fn show_cases(out: &mut String, cases: &[Reached], of_seeds: bool, paint: Paint) {
    let mut rows = Vec::new();
    for case in cases.iter().filter(|case| case.times > 0) {
        let value = if of_seeds { of(case.seeds, "seed") } else { of(case.times, "time") };
        rows.push(vec![Cell::from(&case.name), value.into()]);
    }
    if !rows.is_empty() {
        show_groups(out, &[Group::new(["reached"], rows)], paint);
    }
    let missed = missed(cases);
    if !missed.is_empty() {
        out.push('\n');
        show_line(out, &Line::new(Mood::Odd, "never reached"), paint);
        show_line(out, &Line::from(missed.join(", ")).indent(2).wrapped(2), paint);
    }
}

/// Those that matter are marked, unless all do.
fn show_steps(out: &mut String, steps: &[String], matters: &[u32]) {
    let width = steps.len().to_string().len();
    for (step, nth) in steps.iter().zip(1..) {
        let mark = if matters.contains(&nth) && matters.len() < steps.len() { '>' } else { ' ' };
        let _ = writeln!(out, "{mark} {nth:>width$}. {}", wrapped(step, width + 4));
    }
}

fn show_moments(out: &mut String, moments: &[Moment], paint: Paint) {
    let width = moments.iter().map(|moment| moment.who.chars().count()).max().unwrap_or(0);
    for moment in moments {
        // Narrower than with a blank, for a column.
        let (time, who) = (seconds(moment.virtual_ns).replace(' ', ""), &moment.who);
        let (sign, mood) = match moment.mark {
            Mark::Event => (' ', Mood::Plain),
            Mark::Fault => ('!', Mood::Odd),
            Mark::Expected | Mark::Undecided => ('>', Mood::Odd),
            Mark::Broken => ('>', Mood::Bad),
        };
        let what = wrapped(&format!("{}{}", moment.mark.word(), moment.what), width + 15);
        let line = paint.with(mood, &format!("{sign} {time:>9}  {who:<width$}  {what}"));
        let _ = writeln!(out, "{line}");
    }
}

/// Rows with their columns under one another, without trailing blanks. The width of a cell is that of its first
/// text; the second is what is printed.
fn table(rows: &[Vec<(String, String)>]) -> Vec<String> {
    let width = |(plain, _): &(String, String)| plain.chars().count();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |at| rows.iter().filter_map(|row| row.get(at)).map(width).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let line = |row: &Vec<(String, String)>| {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            line.push_str(&cell.1);
            if at + 1 < row.len() {
                line.extend(std::iter::repeat_n(' ', widths[at] - width(cell) + 2));
            }
        }
        line
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_one_another_whatever_the_colours() {
        let cell = |text: &str| (text.to_string(), text.to_string());
        let painted = (String::from("bb"), Paint::COLOURS.with(Mood::Bad, "bb"));
        let rows = [vec![cell("a"), painted, cell("c")], vec![cell("aaa"), cell("b"), cell("c")]];
        let plain: String = anstyle_free(&table(&rows).join("\n"));
        assert_eq!(plain, "a    bb  c\naaa  b   c");
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

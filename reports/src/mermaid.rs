//! A diagram as a Mermaid sequence diagram, for wherever Markdown is shown.

use crate::diagram::{ArrowKind, Bar, BarKind, Diagram, Point, PointKind};
use crate::html::shortened;
use std::fmt::Write;

/// How many messages and notes there are at most: more than that nobody reads, and some viewers refuse.
pub const MERMAID_KEPT: usize = 120;

/// What stands at one time: in which order, and its line.
type Line = (u64, u8, String);

/// The latest piece of a diagram as a Mermaid sequence diagram. Messages between servers are left out.
pub fn mermaid(diagram: &Diagram) -> String {
    let mut piece = diagram.clone();
    piece.arrows.retain(|arrow| arrow.kind != ArrowKind::Peer);
    // Of what lasts, Mermaid shows when a process is active.
    piece.bars.retain(|bar| bar.kind == BarKind::Critical);
    let until = piece.until;
    let piece = piece.up_to(until, MERMAID_KEPT);
    let mut out = String::from("sequenceDiagram\n");
    for (nth, lane) in piece.lanes.iter().enumerate() {
        let _ = writeln!(out, "    participant l{nth} as {}", text(&lane.name));
    }
    if piece.left_out.earlier > 0 && !piece.lanes.is_empty() {
        let first = piece.unit.words(piece.from);
        let _ = writeln!(out, "    Note over {}: what came before {first} is left out", everybody(&piece));
    }
    let mut lines: Vec<Line> = piece.bars.iter().flat_map(|bar| active(bar, &piece)).collect();
    lines.extend(piece.points.iter().map(|point| note(point, &piece)));
    lines.extend(piece.arrows.iter().map(|arrow| {
        let (from, to) = (arrow.from, arrow.to);
        let arrives = piece.arrives(arrow);
        let way = match (arrives, arrow.arrived, arrow.kind) {
            (None, None, _) => "-x",
            // Still under way at the end.
            (None, Some(_), _) => "-)",
            (Some(_), _, ArrowKind::Answer | ArrowKind::Watch) => "-->>",
            (Some(_), _, _) => "->>",
        };
        let line = format!("l{from}{way}l{to}: {}", text(&arrow.label));
        (arrives.unwrap_or(arrow.sent), 1, line)
    }));
    lines.sort_by_key(|(at, order, _)| (*at, *order));
    for (_, _, line) in lines {
        let _ = writeln!(out, "    {line}");
    }
    out
}

/// A process is active from here to there; both ends are in the piece, or the end is open.
fn active(bar: &Bar, piece: &Diagram) -> Vec<Line> {
    let from = bar.from.max(piece.from);
    let mut lines = vec![(from, 0, format!("activate l{}", bar.lane))];
    lines.extend(bar.until.map(|until| (until.max(from), 3, format!("deactivate l{}", bar.lane))));
    lines
}

fn note(point: &Point, piece: &Diagram) -> Line {
    let sign = point.kind.sign();
    let place = match (point.kind, point.lanes.first()) {
        (PointKind::Broken | PointKind::Expected | PointKind::Undecided, _) | (_, None) => everybody(piece),
        (_, Some(lane)) => format!("l{lane}"),
    };
    let who = if point.who == "--" { String::new() } else { format!("{} ", point.who) };
    let what = text(&format!("{sign}{who}{}", point.what));
    (point.at, 2, format!("Note over {place}: {} {what}", piece.unit.words(point.at)))
}

fn everybody(piece: &Diagram) -> String {
    match piece.lanes.len() {
        0 | 1 => "l0".into(),
        n => format!("l0,l{}", n - 1),
    }
}

/// Text that means nothing to Mermaid, in one line: what could is written by its number.
fn text(text: &str) -> String {
    let mut out = String::new();
    for c in shortened(text, 110).chars() {
        match c {
            c if c.is_control() => out.push(' '),
            ';' | '#' | '<' | '>' | ':' | '%' | '"' | '`' | '{' | '}' | '\\' | '&' => {
                let _ = write!(out, "#{};", u32::from(c));
            }
            c => out.push(c),
        }
    }
    // A line that is blank behind its colon is none.
    if out.trim().is_empty() { "-".into() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_means_anything_to_mermaid() {
        assert_eq!(text("a; b\nend %% <br>"), "a#59; b end #37;#37; #60;br#62;");
        assert_eq!(text(" \n"), "-");
    }
}

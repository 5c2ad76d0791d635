//! Where everything of a diagram stands on the page: time runs downwards, a lane is a column.
//!
//! Time is not to scale: what is idle for long takes little room, and each line of words has a row of its own. The
//! page's script moves things about when lanes are hidden or when it is zoomed; it knows only what stands here.

use crate::diagram::{Arrow, ArrowKind, Bar, BarKind, Diagram, LaneKind, LeftOut, Point, PointKind, Unit};
use crate::words::{count, of};
use std::collections::{BTreeMap, BTreeSet};

/// Columns before the first lane: times.
const GUTTER: u64 = 74;
/// From lane to lane.
const LANE: u64 = 72;
/// From one line of words to the next.
const ROW: u64 = 17;
/// Above the first and below the last.
const MARGIN: u64 = 16;
/// From time to time in the gutter.
const TICK: u64 = 34;
/// What a character of the words at the right takes at most, until the page's script has measured them.
const CHARACTER: u64 = 8;

/// A diagram, ready to be written.
pub struct Drawn {
    pub width: u64,
    pub height: u64,
    pub gutter: u64,
    pub words_x: u64,
    pub lanes: Vec<DrawnLane>,
    pub ticks: Vec<Tick>,
    pub bars: Vec<DrawnBar>,
    pub arrows: Vec<DrawnArrow>,
    pub points: Vec<DrawnPoint>,
    pub paths: Vec<String>,
    pub kinds: Vec<(&'static str, &'static str)>,
    pub notes: Vec<String>,
}

pub struct DrawnLane {
    pub x: u64,
    pub name: String,
    pub kind: &'static str,
}

pub struct Tick {
    pub y: u64,
    pub text: String,
}

pub struct DrawnBar {
    pub lane: usize,
    pub x: u64,
    pub y: [u64; 2],
    pub width: u64,
    pub kind: &'static str,
    pub znodes: String,
    pub title: String,
}

pub struct DrawnArrow {
    pub lanes: [usize; 2],
    pub x: [u64; 2],
    pub y: [u64; 2],
    pub kind: &'static str,
    /// How it ends: at its lane, halfway, or there and still under way.
    pub end: &'static str,
    pub znodes: String,
    pub title: String,
}

pub struct DrawnPoint {
    pub lanes: String,
    /// Where it is marked: at none, at its own lane, or where something broke at all that it concerns.
    pub x: Vec<u64>,
    pub y: u64,
    pub kind: &'static str,
    /// Its classes: its kind, and whether it says why.
    pub class: String,
    pub time: String,
    pub who: String,
    pub what: String,
    /// The same, not longer than what there is room for.
    pub short: String,
    pub znodes: String,
}

impl DrawnBar {
    pub fn height(&self) -> u64 {
        (self.y[1] - self.y[0]).max(3)
    }

    pub fn left(&self) -> u64 {
        self.x - self.width / 2
    }
}

/// Lays a diagram out.
pub fn lay_out(diagram: &Diagram) -> Drawn {
    let rows = Rows::new(diagram);
    let paths: Vec<String> = diagram.paths().into_iter().map(String::from).collect();
    let znodes = |of: &[String]| {
        let number = |path: &String| paths.binary_search(path).map_or(String::new(), |at| at.to_string());
        of.iter().map(number).collect::<Vec<_>>().join(" ")
    };
    let x = |lane: usize| GUTTER + LANE / 2 + LANE * lane as u64;
    let words_x = GUTTER + LANE * diagram.lanes.len() as u64 + 12;
    let mut kinds: Vec<ArrowKind> = diagram.arrows.iter().map(|arrow| arrow.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let is_break = |point: &&Point| matches!(point.kind, PointKind::Broken | PointKind::Expected);
    let breaks = diagram.points.iter().filter(is_break).map(|point| point.at).collect();
    let points = points(diagram, &rows, &x, &znodes);
    let longest = points.iter().map(|point| point.short.chars().count() as u64).max().unwrap_or(0);
    Drawn {
        width: words_x + CHARACTER * longest,
        height: rows.height,
        gutter: GUTTER,
        words_x,
        lanes: lanes(diagram, &x),
        ticks: rows.ticks(diagram.unit, &breaks),
        bars: diagram.bars.iter().map(|bar| drawn_bar(bar, diagram, &rows, &x, &znodes)).collect(),
        arrows: diagram.arrows.iter().map(|arrow| drawn_arrow(arrow, diagram, &rows, &x, &znodes)).collect(),
        points,
        kinds: kinds.into_iter().map(|kind| (arrow_class(kind), arrow_words(kind))).collect(),
        notes: notes(diagram),
        paths,
    }
}

/// Which times are in a diagram, and how far down each stands.
struct Rows {
    /// The first row of each time.
    y: BTreeMap<u64, u64>,
    height: u64,
}

impl Rows {
    fn new(diagram: &Diagram) -> Rows {
        let mut lines: BTreeMap<u64, u64> = BTreeMap::from([(diagram.from, 0), (diagram.until, 0)]);
        let mut see = |time: u64, words: u64| {
            *lines.entry(time.clamp(diagram.from, diagram.until)).or_insert(0) += words;
        };
        diagram.points.iter().for_each(|point| see(point.at, 1));
        diagram.arrows.iter().for_each(|arrow| {
            see(arrow.sent, 0);
            see(diagram.arrives(arrow).unwrap_or(arrow.sent), 0);
        });
        diagram.bars.iter().for_each(|bar| {
            see(bar.from, 0);
            see(bar.until.unwrap_or(diagram.until), 0);
        });
        let (mut y, mut at, mut before) = (BTreeMap::new(), MARGIN, None);
        // The last line of words must not be run over by the next one.
        let mut free = 0;
        for (time, words) in lines {
            at += before.map_or(0, |before| gap(diagram.unit, time - before));
            if words > 0 {
                at = at.max(free);
                free = at + ROW * words;
            }
            y.insert(time, at);
            at = at.max(free.saturating_sub(if words > 0 { ROW } else { free }));
            before = Some(time);
        }
        Rows { y, height: at.max(free) + MARGIN }
    }

    /// A time before the first is at the very top.
    fn y(&self, time: u64) -> u64 {
        self.y.range(..=time).next_back().map_or(0, |(_, y)| *y)
    }

    fn end(&self, time: Option<u64>) -> u64 {
        // What goes on does so below the last line.
        time.map_or(self.height - MARGIN / 2, |time| self.y(time))
    }

    /// Times in the gutter: those of breaks, and others as far as there is room.
    fn ticks(&self, unit: Unit, breaks: &BTreeSet<u64>) -> Vec<Tick> {
        let mut ticks: Vec<Tick> = Vec::new();
        for (time, y) in &self.y {
            let has_room = ticks.last().is_none_or(|last| last.y + TICK <= *y);
            if has_room || breaks.contains(time) {
                ticks.push(Tick { y: *y, text: unit.words(*time) });
            }
        }
        ticks
    }
}

/// How much room a time takes: the more the longer, but ever less.
fn gap(unit: Unit, time: u64) -> u64 {
    match unit {
        Unit::Steps => ROW * time.min(2),
        // 4 at once, 8 for a millisecond, 12 for ten, 24 for ten seconds.
        Unit::Nanoseconds => 4 + u64::from((4 * (1 + time / 100_000).ilog10()).min(28)),
    }
}

fn lanes(diagram: &Diagram, x: &dyn Fn(usize) -> u64) -> Vec<DrawnLane> {
    let lane = |(nth, lane): (usize, &crate::Lane)| DrawnLane {
        x: x(nth),
        name: lane.name.clone(),
        kind: match lane.kind {
            LaneKind::Server => "server",
            LaneKind::Client => "client",
            LaneKind::Resource => "resource",
        },
    };
    diagram.lanes.iter().enumerate().map(lane).collect()
}

fn drawn_bar(
    bar: &Bar,
    diagram: &Diagram,
    rows: &Rows,
    x: &dyn Fn(usize) -> u64,
    znodes: &dyn Fn(&[String]) -> String,
) -> DrawnBar {
    let (kind, width) = match bar.kind {
        BarKind::Session => ("session", 6),
        BarKind::Leads => ("leads", 12),
        BarKind::Holds => ("holds", 14),
        BarKind::Critical => ("critical", 22),
        BarKind::Pause => ("pause", 30),
        BarKind::Down => ("down", 30),
        BarKind::Partition => ("partition", 36),
    };
    let end = bar.until.map_or("on".into(), |until| diagram.unit.words(until));
    DrawnBar {
        lane: bar.lane,
        x: x(bar.lane),
        y: [rows.y(bar.from), rows.end(bar.until)],
        width,
        kind,
        znodes: znodes(&bar.paths),
        title: format!("{}: {} to {end}", bar.label, diagram.unit.words(bar.from)),
    }
}

/// A message's kind as a class of the style sheet.
fn arrow_class(kind: ArrowKind) -> &'static str {
    match kind {
        ArrowKind::Request => "request",
        ArrowKind::Answer => "answer",
        ArrowKind::Watch => "watch",
        ArrowKind::Session => "hello",
        ArrowKind::Peer => "peer",
        ArrowKind::Write => "write",
    }
}

fn arrow_words(kind: ArrowKind) -> &'static str {
    match kind {
        ArrowKind::Request => "requests",
        ArrowKind::Answer => "answers",
        ArrowKind::Watch => "watch events",
        ArrowKind::Session => "sessions opened",
        ArrowKind::Peer => "between servers",
        ArrowKind::Write => "writes outside",
    }
}

fn drawn_arrow(
    arrow: &Arrow,
    diagram: &Diagram,
    rows: &Rows,
    x: &dyn Fn(usize) -> u64,
    znodes: &dyn Fn(&[String]) -> String,
) -> DrawnArrow {
    let sent = rows.y(arrow.sent);
    let ends = [x(arrow.from), x(arrow.to)];
    let arrives = diagram.arrives(arrow);
    let (end, fate) = match (arrives, arrow.arrived) {
        (Some(arrived), _) => ("", format!("arrives at {}", diagram.unit.words(arrived))),
        (None, Some(_)) => (" short late", "is still under way at the end".into()),
        (None, None) => (" short lost", "does not arrive".into()),
    };
    let names = [arrow.from, arrow.to].map(|lane| diagram.lanes[lane].name.as_str());
    DrawnArrow {
        lanes: [arrow.from, arrow.to],
        // What does not arrive ends halfway.
        x: [ends[0], if arrives.is_some() { ends[1] } else { ends[0].midpoint(ends[1]) }],
        y: [sent, arrives.map_or(sent + ROW / 2, |arrived| rows.y(arrived))],
        kind: arrow_class(arrow.kind),
        end,
        znodes: znodes(&arrow.paths),
        title: format!(
            "{} to {}: {}, sent at {}, {fate}",
            names[0],
            names[1],
            arrow.label,
            diagram.unit.words(arrow.sent)
        ),
    }
}

fn points(
    diagram: &Diagram,
    rows: &Rows,
    x: &dyn Fn(usize) -> u64,
    znodes: &dyn Fn(&[String]) -> String,
) -> Vec<DrawnPoint> {
    let mut before = (u64::MAX, 0);
    let point = |point: &Point| {
        let nth = if before.0 == point.at { before.1 + 1 } else { 0 };
        before = (point.at, nth);
        let marks = match point.kind {
            PointKind::Broken | PointKind::Expected => usize::MAX,
            // Whoever it concerns: those whom a change wakes, say.
            PointKind::Is | PointKind::Observed if point.who == "--" => usize::MAX,
            PointKind::Observed | PointKind::Is | PointKind::Fault => 1,
        };
        let lanes: Vec<String> = point.lanes.iter().map(ToString::to_string).collect();
        let kind = match point.kind {
            PointKind::Observed => "observed",
            PointKind::Is => "is",
            PointKind::Fault => "fault",
            PointKind::Broken => "broken",
            PointKind::Expected => "expected",
        };
        DrawnPoint {
            lanes: lanes.join(" "),
            x: point.lanes.iter().take(marks).map(|lane| x(*lane)).collect(),
            y: rows.y(point.at) + ROW * nth,
            kind,
            class: format!("{kind}{}", if point.is_cause { " cause" } else { "" }),
            time: diagram.unit.words(point.at),
            who: point.who.clone(),
            what: point.what.clone(),
            short: shortened(&said(point), if point.is_cause { 160 } else { 96 }),
            znodes: znodes(&point.paths),
        }
    };
    diagram.points.iter().map(point).collect()
}

fn said(point: &Point) -> String {
    match (point.kind.sign(), point.who.as_str()) {
        ("", "--" | "") => point.what.clone(),
        ("", who) => format!("{who} {}", point.what),
        (sign, _) => format!("{sign}{}", point.what),
    }
}

/// At most so many characters.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
        None => text.into(),
    }
}

fn notes(diagram: &Diagram) -> Vec<String> {
    let LeftOut { earlier, later, idle, peers } = diagram.left_out;
    let mut notes = Vec::new();
    if earlier > 0 {
        notes.push(format!("{} before {} left out", of(earlier, "item"), diagram.unit.words(diagram.from)));
    }
    if later > 0 {
        notes.push(format!("{} after {} left out", of(later, "item"), diagram.unit.words(diagram.until)));
    }
    if peers > 0 {
        notes.push(format!("{} messages between servers left out", count(peers)));
    }
    if idle > 0 {
        notes.push(format!("{} messages that keep sessions and links alive left out", count(idle)));
    }
    notes
}

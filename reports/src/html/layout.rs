//! Where everything of a diagram stands on the page: time runs downwards, a lane is a column.
//!
//! Time is not to scale: what is idle for long takes little room, and each line of words has a row of its own. The
//! page's script moves things about when lanes are hidden or when it is zoomed; it knows only what stands here.

use crate::{Arrow, ArrowKind, Bar, BarKind, Diagram, Lane, LeftOut, Point, PointKind, Unit, count, of};
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
    let layout = Layout { diagram, rows: Rows::new(diagram), paths: diagram.paths() };
    let words_x = GUTTER + LANE * diagram.lanes.len() as u64 + 12;
    let mut kinds: Vec<ArrowKind> = diagram.arrows.iter().map(|arrow| arrow.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let is_break =
        |point: &&Point| matches!(point.kind, PointKind::Broken | PointKind::Expected | PointKind::Undecided);
    let breaks = diagram.points.iter().filter(is_break).map(|point| point.at).collect();
    let points = layout.points();
    let longest = points.iter().map(|point| point.short.chars().count() as u64).max().unwrap_or(0);
    Drawn {
        width: words_x + CHARACTER * longest,
        height: layout.rows.height,
        gutter: GUTTER,
        words_x,
        lanes: diagram.lanes.iter().enumerate().map(lane).collect(),
        ticks: layout.rows.ticks(diagram.unit, &breaks),
        bars: diagram.bars.iter().map(|bar| layout.bar(bar)).collect(),
        arrows: diagram.arrows.iter().map(|arrow| layout.arrow(arrow)).collect(),
        points,
        kinds: kinds.into_iter().map(|kind| (kind.into(), arrow_words(kind))).collect(),
        notes: notes(diagram),
        paths: layout.paths.into_iter().map(String::from).collect(),
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

fn lane((nth, lane): (usize, &Lane)) -> DrawnLane {
    DrawnLane { x: x(nth), name: lane.name.clone(), kind: lane.kind.into() }
}

/// The middle of a lane.
fn x(lane: usize) -> u64 {
    GUTTER + LANE / 2 + LANE * lane as u64
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

/// What everything on a diagram is placed by.
struct Layout<'a> {
    diagram: &'a Diagram,
    rows: Rows,
    /// The znodes that anything is about, in order.
    paths: Vec<&'a str>,
}

impl Layout<'_> {
    /// Znodes by their numbers.
    fn znodes(&self, of: &[String]) -> String {
        let number = |path: &String| {
            self.paths.binary_search(&path.as_str()).map_or(String::new(), |at| at.to_string())
        };
        of.iter().map(number).collect::<Vec<_>>().join(" ")
    }

    fn bar(&self, bar: &Bar) -> DrawnBar {
        let (kind, width) = match bar.kind {
            BarKind::Session => ("session", 6),
            BarKind::Leads => ("leads", 12),
            BarKind::Holds => ("holds", 14),
            BarKind::Critical => ("critical", 22),
            BarKind::Pause => ("pause", 30),
            BarKind::Down => ("down", 30),
            BarKind::Partition => ("partition", 36),
        };
        let unit = self.diagram.unit;
        let end = bar.until.map_or("on".into(), |until| unit.words(until));
        DrawnBar {
            lane: bar.lane,
            x: x(bar.lane),
            y: [self.rows.y(bar.from), self.rows.end(bar.until)],
            width,
            kind,
            znodes: self.znodes(&bar.paths),
            title: format!("{}: {} to {end}", bar.label, unit.words(bar.from)),
        }
    }

    fn arrow(&self, arrow: &Arrow) -> DrawnArrow {
        let unit = self.diagram.unit;
        let sent = self.rows.y(arrow.sent);
        let ends = [x(arrow.from), x(arrow.to)];
        let arrives = self.diagram.arrives(arrow);
        let (end, fate) = match (arrives, arrow.arrived) {
            (Some(arrived), _) => ("", format!("arrives at {}", unit.words(arrived))),
            (None, Some(_)) => (" short late", "is still under way at the end".into()),
            (None, None) => (" short lost", "does not arrive".into()),
        };
        let [from, to] = [arrow.from, arrow.to].map(|lane| self.diagram.lanes[lane].name.as_str());
        let (label, time) = (&arrow.label, unit.words(arrow.sent));
        DrawnArrow {
            lanes: [arrow.from, arrow.to],
            // What does not arrive ends halfway.
            x: [ends[0], if arrives.is_some() { ends[1] } else { ends[0].midpoint(ends[1]) }],
            y: [sent, arrives.map_or(sent + ROW / 2, |arrived| self.rows.y(arrived))],
            kind: arrow.kind.into(),
            end,
            znodes: self.znodes(&arrow.paths),
            title: format!("{from} to {to}: {label}, sent at {time}, {fate}"),
        }
    }

    fn points(&self) -> Vec<DrawnPoint> {
        let mut before = (u64::MAX, 0);
        let point = |point: &Point| {
            let nth = if before.0 == point.at { before.1 + 1 } else { 0 };
            before = (point.at, nth);
            let marks = match point.kind {
                PointKind::Broken | PointKind::Expected | PointKind::Undecided => usize::MAX,
                // Whoever it concerns: those whom a change wakes, say.
                PointKind::Is | PointKind::Observed if point.who == "--" => usize::MAX,
                PointKind::Observed | PointKind::Is | PointKind::Fault => 1,
            };
            let lanes: Vec<String> = point.lanes.iter().map(ToString::to_string).collect();
            let kind: &'static str = point.kind.into();
            DrawnPoint {
                lanes: lanes.join(" "),
                x: point.lanes.iter().take(marks).map(|lane| x(*lane)).collect(),
                y: self.rows.y(point.at) + ROW * nth,
                kind,
                class: format!("{kind}{}", if point.is_cause { " cause" } else { "" }),
                time: self.diagram.unit.words(point.at),
                who: point.who.clone(),
                what: point.what.clone(),
                short: shortened(&said(point), if point.is_cause { 160 } else { 96 }),
                znodes: self.znodes(&point.paths),
            }
        };
        self.diagram.points.iter().map(point).collect()
    }
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
    let [from, until] = [diagram.from, diagram.until].map(|time| diagram.unit.words(time));
    let notes = [
        (earlier, format!("{} before {from} left out", of(earlier, "item"))),
        (later, format!("{} after {until} left out", of(later, "item"))),
        (peers, format!("{} messages between servers left out", count(peers))),
        (idle, format!("{} messages that keep sessions and links alive left out", count(idle))),
    ];
    notes.into_iter().filter(|(many, _)| *many > 0).map(|(_, note)| note).collect()
}

//! A run as a space-time diagram, as plain data: lanes, what goes between them, what lasts, and what happens.

use crate::words::seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of [`Diagram`]'s JSON.
pub const DIAGRAM_SCHEMA: &str = "zoocheck-diagram/2";

/// A piece of a run that ends where a promise was broken.
///
/// Lanes are numbered by their place in `lanes`. Times are in `unit`, and all of them lie in `from..=until`, except for
/// what began or was sent before the piece, or ends after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Diagram {
    /// [`DIAGRAM_SCHEMA`].
    pub schema: String,
    /// What times are counted in.
    pub unit: Unit,
    /// Where the piece begins.
    pub from: u64,
    /// Where it ends.
    pub until: u64,
    /// From left to right: servers, then clients, then whatever else there is.
    pub lanes: Vec<Lane>,
    /// In the order in which they were sent.
    pub arrows: Vec<Arrow>,
    /// In the order in which they began.
    pub bars: Vec<Bar>,
    /// In the order in which they happened: also the run in words.
    pub points: Vec<Point>,
    /// What is not in it.
    pub left_out: LeftOut,
}

/// What times are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Virtual nanoseconds.
    Nanoseconds,
    /// Steps of a model.
    Steps,
}

/// Where something happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lane {
    /// `s0`, `p1`, …
    pub name: String,
    /// What it is.
    pub kind: LaneKind,
}

/// What a lane is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum LaneKind {
    /// A server, or in a model the whole ensemble.
    Server,
    /// A client process, in all of its lives.
    Client,
    /// What the recipe protects, outside the ensemble.
    Resource,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arrow {
    /// The lane it leaves.
    pub from: usize,
    /// The lane it goes to.
    pub to: usize,
    /// When it was sent.
    pub sent: u64,
    /// When it arrived, perhaps after the end of the piece; `None` if it did not.
    pub arrived: Option<u64>,
    /// What kind of message it is.
    pub kind: ArrowKind,
    /// What it says, in a few words.
    pub label: String,
    /// The znodes it is about.
    pub paths: Vec<String>,
}

/// What kind of message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum ArrowKind {
    /// From a client.
    Request,
    /// To a client.
    Answer,
    /// A watch that fired, on its way to a client.
    Watch,
    /// A session is opened or taken over.
    #[strum(serialize = "hello")]
    Session,
    /// From server to server.
    Peer,
    /// A write to what is protected.
    Write,
}

/// Something that lasts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bar {
    /// Its lane.
    pub lane: usize,
    /// When it begins.
    pub from: u64,
    /// When it ends; `None` if it goes on.
    pub until: Option<u64>,
    /// What lasts.
    pub kind: BarKind,
    /// The same in a few words.
    pub label: String,
    /// The znodes it is about.
    pub paths: Vec<String>,
}

/// What lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BarKind {
    /// A session lives.
    Session,
    /// A process believes that it holds what it asked for.
    Holds,
    /// A process is in its critical section, or does what a fault would hurt most.
    Critical,
    /// A server leads.
    Leads,
    /// A process or a server stands still.
    Pause,
    /// A process or a server is down.
    Down,
    /// A server is cut off from another.
    Partition,
}

/// Something that happens: a line of the run in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The lanes that it concerns; it happens at the first. Empty if it happens at none of them.
    pub lanes: Vec<usize>,
    /// When.
    pub at: u64,
    /// What kind it is.
    pub kind: PointKind,
    /// Who, as in a timeline.
    pub who: String,
    /// What, in a short sentence that may begin with `who`.
    pub what: String,
    /// The promise, where one is broken.
    pub promise: Option<String>,
    /// The znodes it is about.
    pub paths: Vec<String>,
    /// Whether it is one of those that say why the promise was broken.
    #[serde(default)]
    pub is_cause: bool,
}

/// What kind of thing happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum PointKind {
    /// A process says so.
    Observed,
    /// It is so.
    Is,
    /// A fault strikes.
    Fault,
    /// A promise is broken.
    Broken,
    /// A promise is broken, as was to be expected.
    Expected,
    /// A promise is broken, unless that was meant.
    Undecided,
}

/// How much is not in a diagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Messages, bars and points that were over before it begins.
    pub earlier: u64,
    /// Those that came after it ends.
    pub later: u64,
    /// Messages that only keep sessions and links alive.
    pub idle: u64,
    /// Messages between servers, where there are too many of them.
    pub peers: u64,
}

impl Unit {
    /// A time in words.
    pub(crate) fn words(self, time: u64) -> String {
        match self {
            Unit::Nanoseconds => seconds(time),
            Unit::Steps => format!("step {time}"),
        }
    }
}

impl PointKind {
    /// What words begin with that tell of it.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            PointKind::Observed | PointKind::Is => "",
            PointKind::Fault => "fault: ",
            PointKind::Broken => "BROKEN ",
            PointKind::Expected => "BROKEN AS EXPECTED ",
            PointKind::Undecided => "UNDECIDED ",
        }
    }
}

impl Diagram {
    /// How many messages, bars and points a diagram has at most.
    pub const KEPT: usize = 1000;

    /// A diagram without anything on its lanes.
    pub fn new(unit: Unit, lanes: Vec<Lane>) -> Diagram {
        Diagram {
            schema: DIAGRAM_SCHEMA.into(),
            unit,
            from: 0,
            until: 0,
            lanes,
            arrows: Vec::new(),
            bars: Vec::new(),
            points: Vec::new(),
            left_out: LeftOut::default(),
        }
    }

    /// Whether it is consistent, whatever somebody has written into a file.
    pub fn is_sound(&self) -> bool {
        let many = self.lanes.len();
        self.from <= self.until
            && self.arrows.iter().all(|arrow| arrow.from < many && arrow.to < many)
            && self.bars.iter().all(|bar| bar.lane < many)
            && self.points.iter().all(|point| point.lanes.iter().all(|lane| *lane < many))
    }

    /// When a message arrived in this piece.
    pub fn arrives(&self, arrow: &Arrow) -> Option<u64> {
        arrow.arrived.filter(|arrived| *arrived <= self.until)
    }

    /// How much there is on its lanes.
    pub fn items(&self) -> usize {
        self.arrows.len() + self.bars.len() + self.points.len()
    }

    /// The piece that ends at `until`, with at most `most` messages, bars and points: the latest of them. What was left
    /// out before stays counted.
    #[must_use]
    pub fn up_to(mut self, until: u64, most: usize) -> Diagram {
        let before = self.items();
        self.arrows.retain(|arrow| arrow.sent <= until);
        self.bars.retain(|bar| bar.from <= until);
        self.points.retain(|point| point.at <= until);
        self.left_out.later += (before - self.items()) as u64;
        for bar in &mut self.bars {
            bar.until = bar.until.filter(|end| *end <= until);
        }
        self.until = until;
        self.from = self.begin(most);
        let (before, from) = (self.items(), self.from);
        self.arrows.retain(|arrow| last_seen(arrow) >= from);
        self.bars.retain(|bar| bar.until.is_none_or(|end| end >= from));
        self.points.retain(|point| point.at >= from);
        self.left_out.earlier += (before - self.items()) as u64;
        self.arrows.sort_by_key(|arrow| arrow.sent);
        self.bars.sort_by_key(|bar| (bar.from, bar.lane, bar.kind));
        self
    }

    /// Where a piece of at most so many items begins. What goes on to its end is in it in any case.
    fn begin(&self, most: usize) -> u64 {
        let mut times: Vec<u64> = self.arrows.iter().map(last_seen).collect();
        times.extend(self.bars.iter().filter_map(|bar| bar.until));
        times.extend(self.points.iter().map(|point| point.at));
        let open = self.items() - times.len();
        times.sort_unstable();
        let most = most.saturating_sub(open);
        match times.len().checked_sub(most) {
            // All of an instant, or nothing of it.
            Some(over @ 1..) => times.get(over - 1).map_or(self.until, |last| last + 1),
            _ => times.first().map_or(0, |first| self.earliest().min(*first)),
        }
    }

    fn earliest(&self) -> u64 {
        let sent = self.arrows.iter().map(|arrow| arrow.sent);
        sent.chain(self.bars.iter().map(|bar| bar.from)).min().unwrap_or(u64::MAX)
    }

    /// The znodes that anything is about, each once, in order.
    pub fn paths(&self) -> Vec<&str> {
        let arrows = self.arrows.iter().flat_map(|arrow| &arrow.paths);
        let bars = self.bars.iter().flat_map(|bar| &bar.paths);
        let points = self.points.iter().flat_map(|point| &point.paths);
        let mut paths: Vec<&str> = arrows.chain(bars).chain(points).map(String::as_str).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }
}

fn last_seen(arrow: &Arrow) -> u64 {
    arrow.arrived.unwrap_or(arrow.sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(at: u64) -> Point {
        Point {
            lanes: vec![0],
            at,
            kind: PointKind::Observed,
            who: "p0".into(),
            what: format!("says {at}"),
            promise: None,
            paths: vec!["/b".into(), "/a".into()],
            is_cause: false,
        }
    }

    fn bar(from: u64, until: Option<u64>) -> Bar {
        Bar { lane: 0, from, until, kind: BarKind::Session, label: String::new(), paths: Vec::new() }
    }

    fn arrow(sent: u64, arrived: Option<u64>) -> Arrow {
        let (kind, label, paths) = (ArrowKind::Request, String::new(), vec!["/c".into()]);
        Arrow { from: 0, to: 1, sent, arrived, kind, label, paths }
    }

    fn diagram() -> Diagram {
        let mut diagram = Diagram::new(Unit::Nanoseconds, Vec::new());
        diagram.points = (0..10).map(point).collect();
        diagram.bars = vec![bar(0, Some(3)), bar(1, Some(9)), bar(2, None), bar(9, None)];
        diagram.arrows = vec![arrow(0, Some(1)), arrow(7, Some(9)), arrow(9, None)];
        diagram
    }

    #[test]
    fn a_piece_ends_at_the_violation_and_says_what_was_left_out() {
        let piece = diagram().up_to(8, 6);
        assert_eq!((piece.from, piece.until), (6, 8));
        let times: Vec<u64> = piece.points.iter().map(|point| point.at).collect();
        assert_eq!(times, [6, 7, 8]);
        let bars: Vec<(u64, Option<u64>)> = piece.bars.iter().map(|bar| (bar.from, bar.until)).collect();
        assert_eq!(bars, [(1, None), (2, None)], "what goes on at its end is open");
        assert_eq!(piece.arrows, [arrow(7, Some(9))]);
        assert_eq!(piece.arrives(&piece.arrows[0]), None, "it has not arrived yet");
        assert_eq!(piece.left_out, LeftOut { earlier: 8, later: 3, ..LeftOut::default() });
        assert_eq!(piece.items() as u64 + 8 + 3, diagram().items() as u64);
    }

    #[test]
    fn a_diagram_that_is_small_enough_is_whole() {
        let whole = diagram().up_to(9, 100);
        assert_eq!((whole.items(), whole.left_out), (diagram().items(), LeftOut::default()));
        assert_eq!(whole.from, 0);
    }

    #[test]
    fn a_piece_never_has_more_than_it_may_but_for_what_goes_on() {
        for most in 0..20 {
            let piece = diagram().up_to(9, most);
            assert!(piece.items() <= most.max(2), "{most}: {}", piece.items());
        }
    }

    #[test]
    fn znodes_are_listed_once() {
        assert_eq!(diagram().paths(), ["/a", "/b", "/c"]);
    }
}

//! Pages for browsers: one file each, that works from a disk, fetches nothing, and is read by keyboard and on a phone.
//!
//! | file | what is in it |
//! |---|---|
//! | `templates/page.html`, `block.html` | the page, and each of its blocks; whatever is put into them is escaped by the templates' crate |
//! | `templates/diagram.html`, `herd.html` | pictures |
//! | `templates/report.css`, `report.js` | the style sheet, and what a page does; both are put into it |
//! | `layout` | where everything of a diagram stands |
//!
//! Each page forbids itself the network, and every script and style but its own, which are named by their hashes.

mod layout;

pub(crate) use layout::shortened;

use crate::page::{Block, Group, Mood, Page};
use crate::{Diagram, HerdPoint, count, of};
use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use layout::Drawn;
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("../templates/report.css");
const SCRIPT: &str = include_str!("../templates/report.js");

/// How many messages, bars and points all diagrams of a page have together, so that it stays small.
const ITEMS: usize = 4_500;

/// A page for browsers: the answer first, then each kind of block under a heading. `what` is what it is of.
pub(crate) fn html(what: &str, page: &Page) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    let policy = format!(
        "default-src 'none'; img-src data:; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; \
         form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    let most = ITEMS / diagrams(page).max(1);
    let (mut title, mut answer, mut head, mut main) = (("", ""), ("", String::new()), Vec::new(), Vec::new());
    for block in page {
        let shown = Shown { block, most };
        if let Block::Title(name, about) = block {
            title = (name, about);
        } else if let Block::Answer(verdict, line) = block {
            answer = (Mood::from(*verdict).class(), line.words());
        } else if let Some(place) = heading(block) {
            main.push((place, shown));
        } else {
            head.push(shown);
        }
    }
    main.sort_by_key(|((place, _), _)| *place);
    // Those of one kind stand under one heading.
    let mut above = None;
    for ((place, heading), _) in &mut main {
        *heading = if above.replace(*place) == Some(*place) { "" } else { *heading };
    }
    let whole = Whole { what, policy, style: STYLE, script: SCRIPT, title, answer, head, main };
    let text = whole.render().expect("writing into memory does not fail");
    text.replace(|c: char| c.is_control() && !matches!(c, '\n' | '\t'), "\u{fffd}")
}

/// Where a block stands among the others, and under which heading; nowhere, if it is one of the page's head.
fn heading(block: &Block) -> Option<(u8, &'static str)> {
    match block {
        Block::Card(..) => Some((0, "What broke")),
        Block::Table(heading, _) => Some((1, heading)),
        Block::Aside(..) => Some((2, "More")),
        Block::Herd(_) => Some((3, "Woken together")),
        Block::Cases(..) => Some((4, "What was reached")),
        Block::Title(..) | Block::Facts(_) | Block::Line(_) | Block::Blank | Block::Answer(..) => None,
        Block::Steps(..) | Block::Moments(_) | Block::Told(_) | Block::Command(_) | Block::Diagram(_) => None,
    }
}

fn diagrams(page: &Page) -> usize {
    let of_block = |block: &Block| match block {
        Block::Card(_, body) | Block::Aside(_, body) => diagrams(body),
        other => usize::from(matches!(other, Block::Diagram(_))),
    };
    page.iter().map(of_block).sum()
}

#[derive(Template)]
#[template(path = "page.html")]
struct Whole<'a> {
    what: &'a str,
    policy: String,
    style: &'static str,
    script: &'static str,
    title: (&'a str, &'a str),
    answer: (&'static str, String),
    head: Vec<Shown<'a>>,
    main: Vec<((u8, &'static str), Shown<'a>)>,
}

#[derive(Template)]
#[template(path = "block.html")]
struct Shown<'a> {
    block: &'a Block,
    /// How many items a diagram of this page may have.
    most: usize,
}

impl<'a> Shown<'a> {
    fn inner(&self, block: &'a Block) -> Shown<'a> {
        Shown { block, most: self.most }
    }

    /// A diagram, cut to its share of the page.
    fn drawn(&self, diagram: &Diagram) -> Drawn {
        layout::lay_out(&match diagram.items() > self.most {
            true => diagram.clone().up_to(diagram.until, self.most),
            false => diagram.clone(),
        })
    }

    fn is_number(&self, group: &Group, column: &usize) -> bool {
        group.is_number(*column)
    }

    fn many(&self, steps: &[String]) -> String {
        of(steps.len() as u64, "step")
    }
}

/// Wake-ups by contenders, as a curve.
struct Curve {
    grid: Vec<(u64, String)>,
    mean: String,
    most: String,
    dots: Vec<(u64, u64, u64, String)>,
    told: String,
}

fn herd(points: &[HerdPoint]) -> Curve {
    let widest = points.iter().map(|point| point.contenders).max().unwrap_or(1).max(2);
    let highest = points.iter().map(|point| point.most).max().unwrap_or(1).max(2);
    let x = |contenders: u64| 50 + (contenders.saturating_sub(1)) * 490 / (widest - 1);
    // In thousandths, as a mean is no whole number.
    let y = |thousandths: u64| 205 - thousandths * 190 / (highest * 1000);
    let mean = |point: &HerdPoint| (u128::from(point.woken) * 1000 / u128::from(point.changes.max(1))) as u64;
    let line = |value: &dyn Fn(&HerdPoint) -> u64| {
        let dots = points.iter().map(|point| format!("{},{}", x(point.contenders), y(value(point))));
        dots.collect::<Vec<_>>().join(" ")
    };
    let dot = |point: &HerdPoint| {
        let mean = mean(point);
        let tip = format!(
            "{} wait: {}.{:02} woken by a change, {} at most, over {} changes",
            point.contenders,
            mean / 1000,
            mean % 1000 / 10,
            point.most,
            count(point.changes)
        );
        (x(point.contenders), y(mean), point.contenders, tip)
    };
    let dots: Vec<_> = points.iter().map(dot).collect();
    let step = highest.div_ceil(5);
    Curve {
        grid: (0..=highest / step).map(|nth| (y(nth * step * 1000), (nth * step).to_string())).collect(),
        mean: line(&mean),
        most: line(&|point| point.most * 1000),
        told: dots.last().map(|(_, _, _, tip)| format!("With {tip}.")).unwrap_or_default(),
        dots,
    }
}

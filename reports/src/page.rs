//! A report as a page: what stands on it, whatever shows it. `pages` writes it; `text`, `html` and `markdown` show it.

use crate::{Answer, Diagram, HerdPoint, Moment, Reached, Verdict};

/// What is on a page, in the order in which text has it.
pub type Page = Vec<Block>;

/// A block of a page.
pub enum Block {
    /// What it is about, in a word and in a sentence.
    Title(String, String),
    /// What was run: a page for browsers hides it, and a summary leaves it out.
    Facts(Vec<String>),
    Line(Line),
    Blank,
    /// The answer of the whole: a page for browsers begins with it.
    Answer(Answer, Line),
    /// With the heading that it has on pages.
    Table(&'static str, Vec<Group>),
    /// The interesting cases, of so many seeds; if not of seeds, how often each came is told.
    Cases(Vec<Reached>, Option<u64>),
    /// Something that broke: its title, and what is told of it.
    Card(Line, Page),
    /// Steps, and the numbers from 1 of those that matter.
    Steps(Vec<String>, Vec<u32>),
    Moments(Vec<Moment>),
    /// Lines that are shown as they are.
    Told(Vec<String>),
    /// A command to copy; in text there are others.
    Command(String),
    /// A picture; in text there is none.
    Diagram(Diagram),
    /// Wake-ups by contenders, as a curve; in text there is none.
    Herd(Vec<HerdPoint>),
    /// What only a page for browsers has room for, and hides behind these words.
    Aside(String, Page),
}

/// How something looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Mood {
    #[strum(serialize = "")]
    Plain,
    Strong,
    Good,
    Bad,
    Odd,
}

impl From<Answer> for Mood {
    fn from(answer: Answer) -> Mood {
        match answer {
            Answer::Held => Mood::Good,
            Answer::Broken => Mood::Bad,
            Answer::Undecided => Mood::Odd,
        }
    }
}

impl From<Verdict> for Mood {
    fn from(verdict: Verdict) -> Mood {
        match verdict {
            Verdict::Held => Mood::Good,
            Verdict::Broken => Mood::Bad,
            Verdict::BrokenAsExpected | Verdict::NeverTested | Verdict::Undecided => Mood::Odd,
        }
    }
}

/// Words in a line.
pub struct Line {
    /// How many blanks it begins with.
    pub indent: usize,
    /// How many blanks those after the first begin with, if it is to be broken into several.
    pub hang: Option<usize>,
    pub spans: Vec<(Mood, String)>,
}

impl Line {
    pub fn new(mood: impl Into<Mood>, words: impl Into<String>) -> Line {
        Line { indent: 0, hang: None, spans: vec![(mood.into(), words.into())] }
    }

    pub fn then(mut self, mood: impl Into<Mood>, words: impl Into<String>) -> Line {
        self.spans.push((mood.into(), words.into()));
        self
    }

    pub fn indent(self, indent: usize) -> Line {
        Line { indent, ..self }
    }

    pub fn wrapped(self, hang: usize) -> Line {
        Line { hang: Some(hang), ..self }
    }

    pub fn is_odd(&self) -> bool {
        self.spans.iter().any(|(mood, _)| matches!(mood, Mood::Odd | Mood::Bad))
    }

    pub fn words(&self) -> String {
        self.spans.iter().map(|(_, words)| words.as_str()).collect()
    }
}

impl Mood {
    pub fn is_plain(self) -> bool {
        self == Mood::Plain
    }

    /// Its class in the style sheet.
    pub fn class(self) -> &'static str {
        self.into()
    }
}

impl<T: Into<String>> From<T> for Line {
    fn from(words: T) -> Line {
        Line::new(Mood::Plain, words)
    }
}

impl From<Line> for Block {
    fn from(line: Line) -> Block {
        Block::Line(line)
    }
}

/// The answer of the whole.
pub(crate) fn answer(answer: Answer, words: impl Into<String>) -> Block {
    Block::Answer(answer, Line::new(answer, words))
}

/// The cases that were not reached.
pub(crate) fn missed(cases: &[Reached]) -> Vec<&str> {
    cases.iter().filter(|case| case.seeds == 0).map(|case| case.name.as_str()).collect()
}

/// A line below a heading.
pub(crate) fn below(words: impl Into<Line>) -> Block {
    Block::Line(words.into().indent(2).wrapped(4))
}

/// Rows of a table under their own heads; all columns of a table agree.
pub struct Group {
    pub heads: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
    pub notes: Vec<Line>,
    /// Of interest only where something is broken.
    pub aside: bool,
}

impl Group {
    pub fn new<const N: usize>(heads: [&str; N], rows: Vec<Vec<Cell>>) -> Group {
        Group { heads: heads.map(String::from).into(), rows, notes: Vec::new(), aside: false }
    }

    /// Whether a column has numbers alone.
    pub fn is_number(&self, column: usize) -> bool {
        self.rows.iter().all(|row| row.get(column).is_some_and(Cell::is_number))
    }

    pub fn is_hidden(&self) -> bool {
        self.aside && self.rows.iter().flatten().all(|cell| cell.meter.is_none())
    }
}

pub struct Cell {
    pub mood: Mood,
    pub words: String,
    /// What pages have room for.
    pub about: String,
    /// Thousandths: broken, and broken as expected.
    pub meter: Option<[u64; 2]>,
}

impl Cell {
    pub fn new(mood: impl Into<Mood>, words: impl Into<String>) -> Cell {
        Cell { mood: mood.into(), words: words.into(), about: String::new(), meter: None }
    }

    pub fn about(self, about: &str) -> Cell {
        Cell { about: about.into(), ..self }
    }

    pub fn is_number(&self) -> bool {
        !self.words.is_empty() && self.words.chars().all(|c| c.is_ascii_digit() || ",.*-".contains(c))
    }
}

/// A row of a table: a name, and cells behind it.
pub(crate) fn row(name: impl Into<Cell>, cells: impl IntoIterator<Item = Cell>) -> Vec<Cell> {
    std::iter::once(name.into()).chain(cells).collect()
}

impl<T: Into<String>> From<T> for Cell {
    fn from(words: T) -> Cell {
        Cell::new(Mood::Plain, words)
    }
}

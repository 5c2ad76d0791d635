//! Results, on stdout.

use crate::BadInput;
use clap::ValueEnum;
use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use zk_reports::{Paint, Report, to_json, write_report};

/// How results are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    // Plain comments: help that describes values fills a screen.
    // Text for people.
    #[default]
    Human,
    // For machines.
    Json,
}

impl Format {
    /// A report so.
    pub(crate) fn of(self, report: &impl Report) -> String {
        match self {
            Format::Human => report.text(paint()),
            Format::Json => to_json(report),
        }
    }
}

/// Leaves a report in a directory, if one was named, prints it as it is `shown`, and tells a build of it.
pub(crate) fn show(report: &impl Report, shown: &str, dir: Option<&Path>) -> Result<(), BadInput> {
    dir.map(|dir| write_report(report, dir)).transpose()?;
    print(shown)?;
    crate::github::tell(report)
}

/// Colours only where a terminal shows them, and `NO_COLOR` does not forbid them.
pub(crate) fn paint() -> Paint {
    match anstream::AutoStream::choice(&std::io::stdout()) {
        anstream::ColorChoice::Never => Paint::PLAIN,
        _ => Paint::COLOURS,
    }
}

/// Writes all of a result. A reader that has gone away (`| head`) is no error: the verdict stands.
pub(crate) fn print(text: &str) -> Result<(), BadInput> {
    let text = shown(text);
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(bad!("stdout: cannot write the result: {error}")),
    }
}

/// A line for people, beside what `serve` prints.
#[cfg(feature = "serve")]
pub(crate) fn note(line: impl std::fmt::Display) {
    // Nobody to tell: the verdict says it.
    let _ = writeln!(std::io::stderr(), "zoocheck serve: {line}");
}

/// What a terminal would act on is spelt out, whoever named it so: but for lines, columns, and colours.
fn shown(text: &str) -> Cow<'_, str> {
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let colours = paint() == Paint::COLOURS;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(acts) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let colour = if colours { colour(from) } else { 0 };
        let c = from.chars().next().expect("it was found there");
        match colour {
            0 => out.extend(c.escape_default()),
            length => out.push_str(&from[..length]),
        }
        rest = &from[colour.max(c.len_utf8())..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// How long the sequence is that a text begins with, if it is one that sets a colour.
fn colour(text: &str) -> usize {
    let Some(inner) = text.strip_prefix("\u{1b}[") else { return 0 };
    match inner.find(|c: char| !c.is_ascii_digit() && c != ';') {
        Some(at) if inner[at..].starts_with('m') => at + 3,
        Some(_) | None => 0,
    }
}

/// Whether somebody watches stderr.
pub(crate) fn is_interactive() -> bool {
    std::io::stderr().is_terminal()
}

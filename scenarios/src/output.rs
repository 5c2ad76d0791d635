//! Results, on stdout.

use crate::BadInput;
use clap::ValueEnum;
use std::io::{ErrorKind, IsTerminal, Write};
use zk_reports::Paint;

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

/// Colours only where a terminal shows them, and `NO_COLOR` does not forbid them.
pub(crate) fn paint() -> Paint {
    match anstream::AutoStream::choice(&std::io::stdout()) {
        anstream::ColorChoice::Never => Paint::PLAIN,
        _ => Paint::COLOURS,
    }
}

/// Writes all of a result. A reader that has gone away (`| head`) is no error: the verdict stands.
pub(crate) fn print(text: &str) -> Result<(), BadInput> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(BadInput::new(format!("stdout: cannot write the result: {error}"))),
    }
}

/// Whether somebody watches stderr.
pub(crate) fn is_watched() -> bool {
    std::io::stderr().is_terminal()
}

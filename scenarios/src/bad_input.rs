//! What is wrong with a command line, a file or the environment.

use std::fmt;

/// What is wrong with a command line, a file or the environment: one line that says what, where, and what was
/// expected. Exit status 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadInput(String);

impl BadInput {
    /// From a line of text. Line ends become blanks: it is one line, whatever a parser had to say.
    pub fn new(line: impl fmt::Display) -> BadInput {
        let words = line.to_string();
        BadInput(words.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" "))
    }
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadInput {}

impl From<zk_reports::FileError> for BadInput {
    fn from(error: zk_reports::FileError) -> BadInput {
        BadInput::new(error)
    }
}

/// The name that was probably meant.
pub(crate) fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // One slip of the fingers weighs much in a short word, and little by the other measure.
    let score =
        |name| strsim::jaro_winkler(typed, name).max(0.9 * f64::from(strsim::osa_distance(typed, name) < 2));
    let scored = names.into_iter().map(|name| (score(name), name));
    // The best score, and among equals the first.
    let best = scored.fold(None, |best: Option<(f64, &str)>, (score, name)| match best {
        Some((so_far, _)) if so_far >= score => best,
        _ => Some((score, name)),
    });
    best.filter(|(score, _)| *score > 0.75).map(|(_, name)| name)
}

/// `; did you mean 'lock'?`, or nothing.
pub(crate) fn did_you_mean<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(typed, names).map(|name| format!("; did you mean '{name}'?")).unwrap_or_default()
}

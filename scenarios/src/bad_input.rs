//! What is wrong with a command line, a file or the environment.

use std::fmt;

/// An error in a command line, a file or the environment: one line that says what is wrong, where, and what was
/// expected. The command then exits with status 2.
///
/// ```
/// use zoocheck::{BadInput, Catalogue};
/// let Err(bad) = Catalogue::default().check_config("lokc") else { panic!("there is no such trial") };
/// assert!(bad.to_string().ends_with("did you mean 'lock'?"));
/// assert_eq!(BadInput::new("latency-ms:\n  'fast' is no number").to_string(), "latency-ms: 'fast' is no number");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadInput(String);

impl BadInput {
    /// Makes an error from a text. Line ends become blanks, so that it is one line whatever a parser had to say.
    /// Control characters are escaped, and overlong words are cut.
    pub fn new(line: impl fmt::Display) -> BadInput {
        let text = line.to_string();
        let words = text.split_whitespace().map(|word| cut(&printable(word)));
        BadInput(words.collect::<Vec<_>>().join(" "))
    }
}

/// Makes an error as `format!` makes a text.
macro_rules! bad {
    ($($text:tt)*) => {
        $crate::BadInput::new(format_args!($($text)*))
    };
}

/// A file's path is well below it.
const LONGEST_WORD: usize = 400;

/// A word in which nothing is to be acted upon.
pub(crate) fn printable(word: &str) -> String {
    let spelt = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    word.chars().map(spelt).collect()
}

fn cut(word: &str) -> String {
    match word.char_indices().nth(LONGEST_WORD) {
        Some((at, _)) => format!("{}…", &word[..at]),
        None => word.into(),
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
    let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.filter(|(score, _)| *score > 0.75).map(|(_, name)| name)
}

/// `; did you mean 'lock'?`, or nothing.
pub(crate) fn did_you_mean<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(typed, names).map(|name| format!("; did you mean '{name}'?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_line_that_a_terminal_only_shows() {
        let text = |line: &str| BadInput::new(line).to_string();
        assert_eq!(text("a\n  b\r\n\n c"), "a b c");
        assert_eq!(text("'\u{1b}[31mred'"), "'\\u{1b}[31mred'");
        let long = text(&format!("latency: {}; too large", "1".repeat(9000)));
        assert!(long.chars().count() < 500 && long.ends_with("1… too large"), "{long}");
    }
}

//! Logs, on stderr.

use crate::BadInput;
use crate::bad_input::nearest;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::Directive;

/// Sends logs to stderr if there is a filter; gives whether there is.
///
/// The lines carry virtual time already: the wall's would only make two runs of one seed look different.
pub(crate) fn logs(filter: Option<&str>) -> Result<bool, BadInput> {
    let Some(text) = filter else { return Ok(false) };
    let bad =
        |why: String| bad!("--log '{text}': {why}; expected a level, or target=level, with commas between");
    if text.trim().is_empty() {
        return Err(bad("the filter is empty".into()));
    }
    if let Some((word, level)) = text.split(',').find_map(mistyped_level) {
        return Err(bad(format!("no level '{word}'; did you mean '{level}'?")));
    }
    // madsim's own spans number tasks through the whole process, so they differ from run to run.
    let quiet: Directive = "madsim=off".parse().expect("the directive is a constant");
    let filter =
        EnvFilter::builder().parse(text).map_err(|error| bad(error.to_string()))?.add_directive(quiet);
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(crate::output::is_interactive())
        .without_time()
        .with_target(false)
        .finish();
    tracing::subscriber::set_global_default(subscriber)
        .map_err(|_| bad!("--log: this process has a subscriber of its own already"))?;
    Ok(true)
}

/// A lone word is a target to the filter, and so a slip of the fingers would log nothing and say nothing.
fn mistyped_level(part: &str) -> Option<(&str, &'static str)> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let word = part.trim();
    let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic());
    let level = LEVELS.into_iter().find(|level| level.eq_ignore_ascii_case(word));
    if !is_word || level.is_some() { None } else { Some((word, nearest(word, LEVELS)?)) }
}

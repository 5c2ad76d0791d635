//! Scenario files, and other values for their keys.

use crate::BadInput;
use crate::bad_input::did_you_mean;
use serde::Deserialize;
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use zk_simulator::{Scenario, ScenarioError};

/// Reads a scenario from a file; an error says in which line.
pub(crate) fn read_scenario(file: &str) -> Result<Scenario, BadInput> {
    named(file)?;
    let text =
        std::fs::read_to_string(file).map_err(|error| bad!("{file}: cannot read the scenario: {error}"))?;
    parse(file, &text)
}

/// Fails if a file's name has a line end in it, or what a terminal would act on: it stands in reports, in commands to
/// copy, and in lines that a CI system reads.
pub(super) fn named(file: &str) -> Result<(), BadInput> {
    match file.contains(char::is_control) {
        true => Err(bad!("{file:?}: a scenario file's name has no line ends or the like in it")),
        false => Ok(()),
    }
}

fn parse(file: &str, text: &str) -> Result<Scenario, BadInput> {
    let at = |span: Option<Range<usize>>| match span {
        Some(span) => format!("{file}:{}", line_of(text, span.start)),
        None => file.to_string(),
    };
    let bad = |error: toml::de::Error| bad!("{}: {}", at(error.span()), helped(error.message()));
    let mut keys = DeTable::parse(text).map_err(bad)?;
    if keys.get_ref().is_empty() {
        let expected = "expected a scenario's keys, such as recipe = \"lock\"";
        return Err(bad!("{file}: there is nothing in it; {expected}"));
    }
    if let Some((key, version)) = newer(keys.get_ref()) {
        let own = env!("CARGO_PKG_VERSION");
        let problem = format!("{key}: made for zoocheck {version}; this one is {own}, and older");
        return Err(bad!("{}: {problem}", at(span_of(text, key))));
    }
    let made_for = keys.get_mut().remove(MADE_FOR);
    if let Some(value) =
        made_for.filter(|value| value.get_ref().as_str().is_none_or(|it| version(it).is_none()))
    {
        let problem = format!("{MADE_FOR}: expected a version as text, such as \"{}\"", made_for_own());
        return Err(bad!("{}: {problem}", at(Some(value.span()))));
    }
    let mut scenario = Scenario::deserialize(toml::Deserializer::from(keys)).map_err(bad)?;
    let table = text.parse().unwrap_or_default();
    if let Some((key, found, expected)) = wrong_length(&table) {
        let problem = format!("{key}: {found} values; it must have {expected}");
        return Err(bad!("{}: {problem}", at(span_of(text, &key))));
    }
    possible(&scenario).map_err(|error| bad!("{}: {error}", at(span_of(text, &error.key))))?;
    if !table.contains_key("about") {
        // What the default scenario says of itself is not so of this one.
        scenario.about = String::new();
    }
    Ok(scenario)
}

/// The key of a file that says which zoocheck it was made for; no part of the scenario.
pub(super) const MADE_FOR: &str = "zoocheck";

/// What this one writes there.
pub(super) fn made_for_own() -> String {
    let (major, minor) = version(env!("CARGO_PKG_VERSION")).expect("cargo knows it");
    format!("{major}.{minor}")
}

/// `0.1`, as the beginning of a longer version as well.
fn version(text: &str) -> Option<(u64, u64)> {
    let mut parts = text.split(['.', ' ']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The version of a later zoocheck that a file was made for, or made by, and the key that says so. Told before anything
/// that this one cannot know is called wrong.
fn newer<'a>(table: &'a DeTable<'_>) -> Option<(&'static str, &'a str)> {
    let made_for = table.get(MADE_FOR).and_then(|value| value.get_ref().as_str());
    let run = table.get("run").and_then(|run| run.get_ref().as_table());
    let built = run.and_then(|run| run.get("build")).and_then(|build| build.get_ref().as_str());
    let own = version(env!("CARGO_PKG_VERSION"));
    let all = [(MADE_FOR, made_for), ("run.build", built)];
    let known = all.into_iter().filter_map(|(key, text)| Some((key, text?)));
    known.into_iter().find(|(_, text)| version(text).is_some_and(|other| Some(other) > own))
}

/// A scenario that can be run, and written as TOML, whose whole numbers are smaller than ours.
fn possible(scenario: &Scenario) -> Result<(), ScenarioError> {
    scenario.validate()?;
    match i64::try_from(scenario.step_budget) {
        Ok(_) => Ok(()),
        Err(_) => Err(ScenarioError {
            key: "step-budget".into(),
            problem: format!("{}; it must be at most {}", scenario.step_budget, i64::MAX),
        }),
    }
}

/// A key whose array is too long, how long it is, and how long it should be. serde reads as many values as it
/// wants and lets the rest be.
fn wrong_length(table: &toml::Table) -> Option<(String, usize, usize)> {
    let known = toml::Table::try_from(Scenario::default()).expect("a scenario is a table");
    keys_of(&known, "").into_iter().find_map(|key| {
        let length = |table| Some(value_at(table, &key)?.as_array()?.len());
        let (found, expected) = (length(table)?, length(&known)?);
        (found != expected).then_some((key, found, expected))
    })
}

fn value_at<'a>(table: &'a toml::Table, key: &str) -> Option<&'a toml::Value> {
    match key.split_once('.') {
        None => table.get(key),
        Some((outer, inner)) => table.get(outer)?.get(inner),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

/// Where a key such as `faults.drops` stands.
fn span_of(text: &str, key: &str) -> Option<Range<usize>> {
    let root = DeTable::parse(text).ok()?;
    let mut table = root.get_ref();
    let mut span = None;
    for part in key.split('.') {
        let (name, value) = table.iter().find(|(name, _)| name.get_ref() == part)?;
        span = Some(name.span());
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    span
}

/// serde's words for people: the nearest of all keys it lists is enough, and who writes TOML need not know Rust.
fn helped(message: &str) -> String {
    if !message.starts_with("unknown field") {
        return match message.rsplit_once("expected ") {
            Some((before, "u8" | "u16" | "u32" | "u64")) => format!("{before}expected a whole number"),
            Some((before, "f64")) => format!("{before}expected a number"),
            _ => message.to_string(),
        };
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let Some(typed) = quoted.next() else { return message.to_string() };
    let known: Vec<&str> = quoted.collect();
    match did_you_mean(typed, known.iter().copied()) {
        hint if hint.is_empty() => format!("unknown key '{typed}'; there are {}", known.join(", ")),
        hint => format!("unknown key '{typed}'{hint}"),
    }
}

/// The scenario with another value for a key: `faults.drops=5`.
pub(crate) fn set(scenario: &Scenario, assignment: &str) -> Result<Scenario, BadInput> {
    let bad = |problem: String| bad!("--set {assignment}: {problem}");
    let Some((key, value)) = assignment.split_once('=') else {
        return Err(bad("expected KEY=VALUE, such as faults.drops=5".into()));
    };
    let (key, value) = (key.trim(), value.trim());
    if key.is_empty() {
        return Err(bad("no key before '='; expected KEY=VALUE, such as faults.drops=5".into()));
    }
    if key == "recipe" {
        return Err(bad("the recipe is named by WHAT".into()));
    }
    let mut table = toml::Table::try_from(scenario).expect("a scenario is a table");
    // What one run is made of is not changed piece by piece.
    let keys: Vec<String> = keys_of(&table, "").into_iter().filter(|key| !key.starts_with("run.")).collect();
    if !keys.iter().any(|known| known == key) {
        return Err(bad(format!("unknown key{}", did_you_mean(key, keys.iter().map(String::as_str)))));
    }
    let slot = match key.split_once('.') {
        None => table.get_mut(key),
        Some((outer, inner)) => table.get_mut(outer).and_then(|it| it.get_mut(inner)),
    };
    let slot = slot.expect("the key is known");
    *slot = value_of(value, slot.is_str()).map_err(bad)?;
    if let Some((_, found, expected)) = wrong_length(&table) {
        return Err(bad(format!("{found} values; it must have {expected}")));
    }
    let changed: Scenario =
        table.try_into().map_err(|error: toml::de::Error| bad(helped(error.message())))?;
    possible(&changed).map_err(|error| bad(error.to_string()))?;
    Ok(changed)
}

/// A value as TOML has it; a text also without its quotes, as a shell takes them away.
fn value_of(text: &str, is_text: bool) -> Result<toml::Value, String> {
    let Ok(parsed) = toml::from_str::<toml::Table>(&format!("value = {text}")) else {
        return match is_text {
            true => Ok(text.into()),
            false => Err(format!("'{text}' is no value in TOML, such as 5, [0.5, 2] or \"text\"")),
        };
    };
    let mut entries = parsed.into_iter();
    // More than one is a value with a line end and another key in it.
    match (entries.next(), entries.next()) {
        (Some((_, value)), None) => Ok(value),
        _ => Err("expected one value".into()),
    }
}

/// All keys, with those of tables as `faults.drops`.
fn keys_of(table: &toml::Table, prefix: &str) -> Vec<String> {
    let keys = table.iter().flat_map(|(key, value)| match value {
        toml::Value::Table(inner) => keys_of(inner, &format!("{prefix}{key}.")),
        _ => vec![format!("{prefix}{key}")],
    });
    keys.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_simulator::SyncRule;

    fn error(text: &str) -> String {
        parse("x.toml", text).expect_err(text).to_string()
    }

    #[test]
    fn an_error_names_file_and_line_and_the_key_that_was_meant() {
        assert_eq!(
            error("clients = 2\n\n[faults]\ndrps = 1\n"),
            "x.toml:4: unknown key 'drps'; did you mean 'drops'?"
        );
        assert!(error("clients = 2\nclients = 3\n").starts_with("x.toml:2: "));
        assert!(error("rounds = \"many\"\n").starts_with("x.toml:1: invalid type"));
        assert!(error("clients = 70000\n").starts_with("x.toml:1: "));
        assert!(error("[faults\n").starts_with("x.toml:1: "));
    }

    #[test]
    fn a_file_of_a_newer_version_is_refused_as_that_and_one_of_this_is_read() {
        let newer = "clients = 2\nzebra = 1\nzoocheck = \"0.2\"\n";
        let own = env!("CARGO_PKG_VERSION");
        assert_eq!(
            error(newer),
            format!("x.toml:3: zoocheck: made for zoocheck 0.2; this one is {own}, and older")
        );
        assert!(error("zoocheck = \"1.0.3\"\n").contains("made for zoocheck 1.0.3"));
        let built = "[run]\nzebra = 1\nbuild = \"0.9.1 (00aa)\"\n";
        assert!(error(built).starts_with("x.toml:3: run.build: made for zoocheck 0.9.1"), "{}", error(built));
        for bad in ["0", "\"new\"", "true"] {
            assert!(error(&format!("zoocheck = {bad}\n")).contains("expected a version as text"), "{bad}");
        }
        for good in [made_for_own(), own.to_string(), "0.0".into()] {
            let text = format!("zoocheck = \"{good}\"\nclients = 2\n");
            assert_eq!(parse("x.toml", &text).expect("a scenario").clients, 2);
        }
        assert_eq!(
            error("zoocheck = \"0.1\"\ncleints = 2\n"),
            "x.toml:2: unknown key 'cleints'; did you mean 'clients'?"
        );
    }

    #[test]
    fn an_impossible_value_is_found_in_its_line() {
        let budget = "step-budget = 9223372036854775808\n";
        assert!(error(budget).starts_with("x.toml:1: step-budget: "), "{}", error(budget));
        assert_eq!(error("rounds = 1\nclients = 0\n"), "x.toml:2: clients: 0; it must be from 1 to 1000");
        let faults = "[faults]\n# too many\ndrops = 100000\n";
        assert_eq!(error(faults), "x.toml:3: faults.drops: 100000; it must be from 0 to 1000");
    }

    #[test]
    fn a_file_that_says_nothing_of_itself_does_not_say_what_the_default_says() {
        assert_eq!(parse("x.toml", "clients = 2\n").expect("a scenario").about, "");
    }

    #[test]
    fn a_byte_order_mark_and_line_ends_of_windows_are_borne() {
        let scenario = parse("x.toml", "\u{feff}clients = 2\r\nrounds = 1\r\n").expect("a scenario");
        assert_eq!((scenario.clients, scenario.rounds), (2, 1));
        assert!(error("\u{feff}clients = 2\r\nclients = 3\r\n").starts_with("x.toml:2: "));
    }

    #[test]
    fn a_value_can_be_replaced() {
        let base = Scenario::default();
        assert_eq!(set(&base, "clients=7").expect("known").clients, 7);
        assert_eq!(set(&base, "faults.drops = 9").expect("known").faults.drops, 9);
        assert_eq!(set(&base, "latency-ms=[1, 2]").expect("known").latency_ms, [1.0, 2.0]);
        for text in ["sync=asks-quorum", "sync = \"asks-quorum\""] {
            assert_eq!(set(&base, text).expect("known").sync, SyncRule::AsksQuorum);
        }
        let bad = |text| set(&base, text).expect_err(text).to_string();
        assert!(bad("faults.drop=9").contains("did you mean 'faults.drops'?"));
        assert!(bad("clients").contains("expected KEY=VALUE"));
        assert!(bad("clients=x").contains("no value in TOML"));
        assert!(bad("clients=\"x\"").contains("invalid type"));
        assert!(bad("clients=1001").contains("from 1 to 1000"));
        assert!(bad("faults=3").contains("unknown key"));
        assert!(bad("recipe=\"x\"").contains("WHAT"));
        assert!(bad("clients=").contains("no value"));
        assert!(bad("clients=2\nrounds=3").contains("expected one value"));
        assert!(bad("=3").contains("no key before '='"));
        assert!(bad("faults.drops=2.5").contains("expected a whole number"));
        assert!(bad("step-budget=18446744073709551615").contains("no value in TOML"));
        assert!(bad("work-ms=[1, 2, 3]").contains("must have 2"));
    }
}

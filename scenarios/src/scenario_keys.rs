//! The keys of scenario files, from the types that are read: what each is for, what it may be, and what it is if
//! nothing is said.

use crate::bad_input::did_you_mean;
use crate::output::print;
use crate::run::set;
use crate::{Answer, BadInput};
use clap::{Args, ValueEnum};
use serde_json::Value;
use std::fmt::Write;
use zk_reports::wrapped;
use zk_simulator::Scenario;

pub(crate) const ABOUT: &str = "\
Tells of the keys of scenario files: what each is for, what it may be, its default

They may stand in a file, for `run FILE.toml`, or behind --set, as KEY=VALUE.";

#[derive(Args, Debug)]
pub(crate) struct ExplainArguments {
    /// Keys, such as clients or faults.drops; faults stands for all of its own [default: all]
    keys: Vec<String>,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    format: KeysFormat,
}

/// How keys are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum KeysFormat {
    // Text for people.
    #[default]
    Human,
    // The page scenarios/SCENARIO.md.
    Markdown,
}

/// A key of a scenario file.
struct Key {
    /// With its table, as in `faults.drops`.
    name: String,
    /// As it would stand in a file.
    default: String,
    /// What it may be.
    allowed: String,
    about: String,
}

/// Tells of keys.
pub(crate) fn explain(arguments: &ExplainArguments) -> Result<Answer, BadInput> {
    let all = keys();
    let is_asked = |key: &Key, typed: &str| {
        key.name == typed || key.name.strip_prefix(typed).is_some_and(|rest| rest.starts_with('.'))
    };
    for typed in &arguments.keys {
        if !all.iter().any(|key| is_asked(key, typed)) {
            let hint = did_you_mean(typed, all.iter().map(|key| key.name.as_str()));
            return Err(bad!("no scenario has a key '{typed}'{hint}"));
        }
    }
    let asked = &arguments.keys;
    let chosen = all.iter().filter(|key| asked.is_empty() || asked.iter().any(|typed| is_asked(key, typed)));
    let chosen: Vec<&Key> = chosen.collect();
    print(&match arguments.format {
        KeysFormat::Human => human(&chosen),
        KeysFormat::Markdown => page(&chosen),
    })?;
    Ok(Answer::Held)
}

fn human(keys: &[&Key]) -> String {
    let told = |key: &&Key| {
        let allowed = if key.allowed.is_empty() { String::new() } else { format!("  ({})", key.allowed) };
        let head = format!("{} = {}{allowed}", key.name, key.default);
        format!("{}\n    {}\n", wrapped(&head, 4), wrapped(&key.about, 4))
    };
    keys.iter().map(told).collect::<Vec<_>>().join("\n")
}

fn page(keys: &[&Key]) -> String {
    let mut out = String::from(
        "# The keys of a scenario\n\n\
         Written by `zoocheck scenario explain --format markdown`, from the types that are read. A file may have any of\n\
         them; what it does not say is as in the default scenario. `--set KEY=VALUE` replaces one of any scenario. A file\n\
         may also say for which version it was made (`zoocheck = \"0.1\"`), and a table `run` makes one run of it:\n\
         [`shrink`](SWEEPS.md#shrinking) and `check --export` write that.\n\n\
         | key | default | may be | |\n|---|---|---|---|\n",
    );
    for key in keys {
        let about = key.about.replace('|', "\\|");
        let _ = writeln!(out, "| `{}` | `{}` | {} | {about} |", key.name, key.default, key.allowed);
    }
    out
}

/// All keys, in the order in which a file is written.
fn keys() -> Vec<Key> {
    let default = Scenario::default();
    let schema = schemars::schema_for!(Scenario).to_value();
    let text = toml::to_string(&default).expect("a scenario is a table");
    let mut table = "";
    let mut keys = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            table = name;
        }
        let Some((key, value)) = line.split_once(" = ") else { continue };
        let name = if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") };
        let about = about(&schema, &name);
        keys.push(Key { allowed: allowed(&default, &schema, &name), default: value.into(), about, name });
    }
    keys
}

/// The schema of a key.
fn schema_of<'a>(root: &'a Value, name: &str) -> &'a Value {
    let resolved = |schema: &'a Value| match schema["$ref"].as_str() {
        Some(path) => root.pointer(path.trim_start_matches('#')).expect("a definition"),
        None => schema,
    };
    name.split('.').fold(root, |table, key| &resolved(table)["properties"][key])
}

fn about(root: &Value, name: &str) -> String {
    let text = schema_of(root, name)["description"].as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a key may be: what a scenario that has none of it is refused with, or the words that there are for it.
fn allowed(default: &Scenario, root: &Value, name: &str) -> String {
    let schema = schema_of(root, name);
    let definition = schema["$ref"].as_str().and_then(|path| root.pointer(path.trim_start_matches('#')));
    let words = definition.and_then(|it| it["oneOf"].as_array()).into_iter().flatten();
    let words: Vec<String> =
        words.filter_map(|word| Some(format!("`{}`", word["const"].as_str()?))).collect();
    if !words.is_empty() {
        return words.join(" or ");
    }
    let too_much = match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("boolean"), _) => return "`true` or `false`".into(),
        (Some("array"), _) => "[4294967295, 4294967295]",
        (_, Some("uint8")) => "255",
        (_, Some("uint16")) => "65535",
        (_, Some("uint32")) => "4294967295",
        _ => return String::new(),
    };
    let refused = set(default, &format!("{name}={too_much}")).expect_err(name).to_string();
    let (_, must) = refused.split_once("must be ").expect("it says what must be");
    if schema["type"] == "array" { format!("two, {must}") } else { must.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_says_what_it_is_for_and_what_a_number_may_be() {
        let keys = keys();
        assert!(keys.len() > 40, "{}", keys.len());
        for key in keys {
            assert!(!key.about.is_empty(), "{}", key.name);
            let is_number = key.default.parse::<f64>().is_ok() || key.default.starts_with('[');
            assert!(!is_number || !key.allowed.is_empty() || key.name == "step-budget", "{}", key.name);
        }
    }
}

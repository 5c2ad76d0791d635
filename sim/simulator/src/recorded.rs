//! Choices as a scenario file holds them, so that its run does not hang on how a seed draws them.

use crate::choices::Record;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Recorded choices. In a file each stream of an entity has a key, `latency-3`, and its values in the order in which
/// they were drawn, `"12 0 7"`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
pub struct Recorded {
    /// As [`RunOptions::choices`](crate::RunOptions) takes them.
    pub choices: Record,
}

impl Recorded {
    /// Whether all is left to the seed.
    pub fn is_empty(&self) -> bool {
        self.choices.is_empty()
    }
}

impl TryFrom<BTreeMap<String, String>> for Recorded {
    type Error = String;

    fn try_from(lines: BTreeMap<String, String>) -> Result<Recorded, String> {
        let mut choices = Record::new();
        for (key, values) in lines {
            let parts =
                key.rsplit_once('-').and_then(|(stream, entity)| Some((stream, entity.parse().ok()?)));
            let (stream, entity): (_, u64) = parts
                .ok_or_else(|| format!("choices: '{key}': expected a stream and a number, as latency-3"))?;
            for (ordinal, value) in (0..).zip(values.split_whitespace()) {
                let value = value.parse().map_err(|_| format!("choices: {key}: '{value}' is no number"))?;
                choices.insert((stream.to_owned(), entity, ordinal), value);
            }
        }
        Ok(Recorded { choices })
    }
}

impl From<Recorded> for BTreeMap<String, String> {
    fn from(recorded: Recorded) -> BTreeMap<String, String> {
        let mut lines: BTreeMap<String, String> = BTreeMap::new();
        for ((stream, entity, _), value) in recorded.choices {
            let line = lines.entry(format!("{stream}-{entity}")).or_default();
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&value.to_string());
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let choices = [("crash-loss", 3, 0, 7), ("crash-loss", 3, 1, u64::MAX), ("latency", u64::MAX, 0, 0)];
        let choices = choices.map(|(stream, entity, nth, value)| ((stream.to_owned(), entity, nth), value));
        let recorded = Recorded { choices: choices.into() };
        let text = toml::to_string(&recorded).expect("a table");
        let expected = "crash-loss-3 = \"7 18446744073709551615\"\nlatency-18446744073709551615 = \"0\"\n";
        assert_eq!(text, expected);
        assert_eq!(toml::from_str::<Recorded>(&text).expect("choices"), recorded);
    }

    #[test]
    fn what_is_no_choice_is_named() {
        for (text, expected) in [
            ("latency = \"1\"", "'latency': expected a stream and a number"),
            ("latency-x = \"1\"", "'latency-x': expected"),
            ("latency-1 = \"1 -2\"", "latency-1: '-2' is no number"),
        ] {
            let error = toml::from_str::<Recorded>(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

//! Reports as JSON.

/// A report as JSON, indented, with a newline at its end.
pub fn to_json<T: serde::Serialize>(report: &T) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("reports have string keys and finite numbers");
    text.push('\n');
    text
}

/// A 64-bit number as 16 hex digits: JSON readers keep 53 bits of a number.
pub(crate) mod hex {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{value:016x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map_err(serde::de::Error::custom)
    }
}

//! Holds JSON to one of the schemas in `schema/`.
//!
//! The schemas use little of JSON Schema, and a validator of all of it is forty crates. What this does not know it
//! panics at, so that nothing passes unseen.

use serde_json::Value;

/// What is wrong with a value, each with its place. `schema` is a file's name.
pub fn errors(schema: &str, value: &Value) -> Vec<String> {
    let file = format!("{}/../reports/schema/{schema}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).expect("the schema's file");
    let root: Value = serde_json::from_str(&text).expect("the schema is JSON");
    let mut errors = Vec::new();
    check(&root, &root, value, schema, &mut errors);
    errors
}

fn check(root: &Value, schema: &Value, value: &Value, place: &str, errors: &mut Vec<String>) {
    let schema = schema.as_object().expect("a schema is an object");
    for (keyword, rule) in schema {
        let holds = match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let name = rule
                    .as_str()
                    .and_then(|name| name.strip_prefix("#/$defs/"))
                    .expect("a definition's name");
                check(root, &root["$defs"][name], value, place, errors);
                true
            }
            "type" => is(rule.as_str().expect("one type"), value),
            "const" => rule == value,
            "enum" => rule.as_array().expect("an array").contains(value),
            "minimum" => value.as_f64() >= rule.as_f64(),
            "maximum" => value.as_f64() <= rule.as_f64(),
            "pattern" => matches(rule.as_str().expect("a pattern"), value.as_str().unwrap_or_default()),
            "anyOf" => rule.as_array().expect("an array").iter().any(|one| {
                let mut found = Vec::new();
                check(root, one, value, place, &mut found);
                found.is_empty()
            }),
            "items" => {
                for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{place}/{at}"), errors);
                }
                true
            }
            "required" => rule
                .as_array()
                .expect("an array")
                .iter()
                .all(|key| value.get(key.as_str().expect("a key")).is_some()),
            "properties" => {
                for (key, one) in rule.as_object().expect("an object") {
                    if let Some(inner) = value.get(key) {
                        check(root, one, inner, &format!("{place}/{key}"), errors);
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = schema["properties"].as_object().expect("an object");
                value.as_object().is_none_or(|object| object.keys().all(|key| known.contains_key(key)))
            }
            unknown => panic!("{place}: this test does not know '{unknown}'"),
        };
        if !holds {
            errors.push(format!("{place}: {keyword}: {rule} and {value}"));
        }
    }
}

fn is(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        unknown => panic!("this test does not know the type '{unknown}'"),
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    match pattern {
        "^[0-9a-f]{16}$" => text.len() == 16 && text.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')),
        "^[0-9]+/[0-9]+$" => {
            let digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
            text.split_once('/').is_some_and(|(one, other)| digits(one) && digits(other))
        }
        unknown => panic!("this test does not know the pattern '{unknown}'"),
    }
}

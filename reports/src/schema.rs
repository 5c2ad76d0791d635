//! The JSON Schemas of all reports, derived from their types.

use crate::*;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// Makes the JSON Schema of a report that has this in its key `schema`.
pub type SchemaMaker = fn(&str) -> Value;

/// What makes the JSON Schema of each report, by what stands in its key `schema`. Every command asks for the names, and
/// hardly any for a schema.
pub const SCHEMAS: [(&str, SchemaMaker); 13] = [
    (CHECK_SCHEMA, of::<CheckReport>),
    (COMPARE_SCHEMA, of::<CompareReport>),
    (DIAGRAM_SCHEMA, of::<Diagram>),
    (DRIVE_SCHEMA, of::<DriveReport>),
    (ENSEMBLE_SCHEMA, of::<EnsembleReport>),
    (EXHAUST_SCHEMA, of::<ExhaustReport>),
    (HERD_SCHEMA, of::<HerdReport>),
    (JUDGE_SCHEMA, of::<JudgeReport>),
    (LIVE_SCHEMA, of::<LiveReport>),
    (MUTANTS_SCHEMA, of::<MutantsReport>),
    (MUTATE_SCHEMA, of::<MutateReport>),
    (REPLAY_SCHEMA, of::<ReplayReport>),
    (SWEEP_SCHEMA, of::<SweepReport>),
];

fn of<T: JsonSchema>(name: &str) -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    schema["$id"] = name.into();
    schema["properties"]["schema"] = json!({ "const": name });
    schema
}

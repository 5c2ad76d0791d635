//! The JSON Schemas of all reports, derived from their types.

use crate::*;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// The JSON Schema of each report, by what stands in its key `schema`.
pub fn schemas() -> [(&'static str, Value); 13] {
    [
        of::<CheckReport>(CHECK_SCHEMA),
        of::<CompareReport>(COMPARE_SCHEMA),
        of::<Diagram>(DIAGRAM_SCHEMA),
        of::<DriveReport>(DRIVE_SCHEMA),
        of::<EnsembleReport>(ENSEMBLE_SCHEMA),
        of::<ExhaustReport>(EXHAUST_SCHEMA),
        of::<HerdReport>(HERD_SCHEMA),
        of::<JudgeReport>(JUDGE_SCHEMA),
        of::<LiveReport>(LIVE_SCHEMA),
        of::<MutantsReport>(MUTANTS_SCHEMA),
        of::<MutateReport>(MUTATE_SCHEMA),
        of::<ReplayReport>(REPLAY_SCHEMA),
        of::<SweepReport>(SWEEP_SCHEMA),
    ]
}

fn of<T: JsonSchema>(name: &'static str) -> (&'static str, Value) {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    schema["$id"] = name.into();
    schema["properties"]["schema"] = json!({ "const": name });
    (name, schema)
}

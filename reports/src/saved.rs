//! Reports that were saved, read again.

use crate::{HerdPoint, SCHEMAS, SWEEP_SCHEMA, SweepReport};
use std::path::{Path, PathBuf};

/// Why a saved report cannot be used: its file, and what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct ReadError {
    path: String,
    problem: String,
}

/// The name of the file in a report's directory.
pub const REPORT_FILE: &str = "report.json";

/// Where the report of a directory is; a file stands for itself.
pub fn report_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(REPORT_FILE) } else { path.to_path_buf() }
}

/// Reads the report of a sweep: a file, or the one in a directory. The `report.json` of a run that was killed is whole,
/// as it is written in one piece; if one is not whole, somebody has cut it.
pub fn read_sweep(path: &Path) -> Result<SweepReport, ReadError> {
    let file = report_file(path);
    let bad = |problem: String| ReadError { path: file.display().to_string(), problem };
    let text =
        std::fs::read_to_string(&file).map_err(|error| bad(format!("cannot read the report: {error}")))?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| {
        bad(match error.classify() {
            serde_json::error::Category::Eof => {
                format!("the report is cut off: the JSON ends in line {}, before its end", error.line())
            }
            _ => format!("no JSON, so no report: {error}"),
        })
    })?;
    let schema = value.get("schema").and_then(serde_json::Value::as_str);
    let schema = schema.ok_or_else(|| bad("no report of zoocheck: it names no 'schema'".into()))?;
    if let Some(problem) = unreadable(schema) {
        return Err(bad(problem));
    }
    // From the text again: numbers are read as what they are to be.
    let mut report: SweepReport =
        serde_json::from_str(&text).map_err(|error| bad(format!("not as {SWEEP_SCHEMA} is: {error}")))?;
    match wrong(&report) {
        Some(problem) => Err(bad(problem)),
        None => {
            // What follows from the rest is worked out again: a decimal number may lose its last bit on the way.
            report.settle();
            Ok(report)
        }
    }
}

/// A file in a directory that a report would replace though it is not of one, and what it is. What a newer zoocheck
/// wrote is not ours to replace either.
pub(crate) fn foreign(dir: &Path) -> Option<(PathBuf, String)> {
    let file = dir.join(REPORT_FILE);
    if !file.exists() {
        let others = ["index.html", "junit.xml", "summary.md"].map(|name| dir.join(name));
        let other = others.into_iter().find(|other| other.exists())?;
        return Some((other, format!("it is no report of ours, as there is no {REPORT_FILE} beside it")));
    }
    #[derive(serde::Deserialize)]
    struct Named {
        schema: String,
    }
    let named = std::fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<Named>(&bytes).ok());
    let why = match named.as_ref().map(|named| named.schema.rsplit_once('/')) {
        Some(Some((kind, version))) if kind.starts_with("zoocheck-") => {
            let versions =
                SCHEMAS.iter().map(|(own, _)| own.strip_prefix(kind)?.strip_prefix('/')?.parse().ok());
            let own: Option<u64> = versions.flatten().next();
            match (version.parse::<u64>(), own) {
                (Ok(version), Some(own)) if version <= own => return None,
                _ => "a newer zoocheck wrote it",
            }
        }
        _ => "it is no report of zoocheck",
    };
    Some((file, why.into()))
}

/// What is wrong with a schema's name, if anything is.
fn unreadable(schema: &str) -> Option<String> {
    let (kind, version) = schema.rsplit_once('/').unwrap_or((schema, ""));
    let (own_kind, own) = SWEEP_SCHEMA.rsplit_once('/').expect("a name and a number");
    let own: u64 = own.parse().expect("a number");
    match version.parse::<u64>() {
        _ if schema == SWEEP_SCHEMA => None,
        Ok(version) if kind == own_kind && version > own => {
            Some(format!("{schema}: made by a newer zoocheck; this one reads up to {SWEEP_SCHEMA}"))
        }
        Ok(_) if kind == own_kind => Some(format!(
            "{schema}: made by an older zoocheck, and lacks what {SWEEP_SCHEMA} has; run it again"
        )),
        _ if kind.starts_with("zoocheck-") => {
            Some(format!("{schema}: another kind of report; expected {SWEEP_SCHEMA}, that of a sweep"))
        }
        _ => Some(format!("{schema}: no report of zoocheck; expected {SWEEP_SCHEMA}")),
    }
}

/// What cannot be, though it is of the right form: somebody has edited it.
fn wrong(report: &SweepReport) -> Option<String> {
    let seeds = &report.seeds;
    if seeds.first >= seeds.end {
        return Some(format!("seeds {}..{}: there is none in it", seeds.first, seeds.end));
    }
    if seeds.count > seeds.end - seeds.first {
        return Some(format!("seeds: {} in {}..{}", seeds.count, seeds.first, seeds.end));
    }
    if let Some(shard) = seeds.shard.as_ref().filter(|_| report.shard().is_none()) {
        return Some(format!("seeds: shard {shard}: expected I/N"));
    }
    if let Some(point) = report.herd.iter().find(|point| !is_herd(point)) {
        return Some(format!("herd: {} contenders: what cannot have been counted", point.contenders));
    }
    let firsts = report.all().filter_map(|result| result.first_expected.as_ref());
    let mut all = report.failures.iter().chain(firsts);
    let drawn = all.find(|one| one.diagram.as_ref().is_some_and(|diagram| !diagram.is_sound()))?;
    Some(format!("the diagram of seed {}: a time or a lane that it does not have", drawn.seed))
}

/// Whether so many can have waited and been woken. Every wait is a client's.
fn is_herd(point: &HerdPoint) -> bool {
    const CLIENTS: u64 = 255;
    point.contenders <= CLIENTS
        && point.most <= CLIENTS
        && point.changes <= point.woken
        && point.woken <= point.changes.saturating_mul(point.most)
}

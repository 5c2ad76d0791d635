//! Merges the reports of shards into that of the sweep that they share.

use crate::sweep::{Missing, SweepReport};
use std::collections::BTreeMap;

/// Why reports are not parts of one sweep: which report is not, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MergeError(String);

/// Merges the reports of shards, each with the name of its file, in any order: the report of one sweep over all seeds,
/// to the byte.
///
/// They must be of the same build, scenario and seeds, and no two of the same shard. A shard of which there is no
/// report is an error, unless `partial`: then it is in `seeds.missing`. A single report that is no shard is returned as
/// it is.
pub fn merge(mut parts: Vec<(String, SweepReport)>, partial: bool) -> Result<SweepReport, MergeError> {
    if let [(_, only)] = parts.as_slice()
        && only.seeds.shard.is_none()
    {
        return Ok(parts.remove(0).1);
    }
    let Some((first_name, first)) = parts.first() else {
        return Err(MergeError("there is no report to merge".into()));
    };
    let mut shards: BTreeMap<u64, usize> = BTreeMap::new();
    let mut of_all = 0;
    for (at, (name, part)) in parts.iter().enumerate() {
        let bad = |problem: String| Err(MergeError(format!("{name}: {problem}")));
        if let Some(difference) = difference(first, part) {
            return bad(format!("{difference} as in {first_name}"));
        }
        let Some((index, of)) = part.shard() else {
            return bad("it is no shard, so there is nothing to merge it with".into());
        };
        if at > 0 && of != of_all {
            return bad(format!("shard {index}/{of}, where {first_name} is one of {of_all}"));
        }
        of_all = of;
        if let Some(other) = shards.insert(index, at) {
            return bad(format!("shard {index}/{of}, as {} is", parts[other].0));
        }
    }
    let range = (first.seeds.first, first.seeds.end);
    // The first seeds of all shards are the first of the range. A share of a short one may have no seed at all; nobody
    // can have run that.
    let firsts = (range.0..range.1).take(usize::try_from(of_all).unwrap_or(usize::MAX));
    let absent =
        firsts.map(|from| (from % of_all + 1, from)).filter(|(index, _)| !shards.contains_key(index));
    let absent = absent.map(|(index, from)| Missing { shard: Some(format!("{index}/{of_all}")), from });
    // Nobody reads more names than these, whatever number a file claims.
    let mut absent: Vec<Missing> = absent.take(MOST_ABSENT).collect();
    absent.sort_by_key(|missing| missing.from % of_all);
    if !absent.is_empty() && !partial {
        let names: Vec<&str> = absent.iter().filter_map(|missing| missing.shard.as_deref()).collect();
        let problem = format!("no report of shard {}; --partial merges what there is", names.join(", "));
        return Err(MergeError(problem));
    }
    let mut parts: Vec<SweepReport> = parts.into_iter().map(|(_, part)| part).collect();
    parts.sort_by_key(SweepReport::shard);
    // One of them is added to: whichever, as addition does not mind.
    let mut whole = parts.pop().expect("there is one");
    parts.into_iter().for_each(|part| whole.add(part));
    whole.wall_seconds = None;
    whole.seeds.shard = None;
    whole.seeds.missing.append(&mut absent);
    whole.seeds.missing.sort();
    whole.settle();
    Ok(whole)
}

/// More shards than anybody has.
const MOST_ABSENT: usize = 10_000;

/// Why two reports are not of the same sweep: the key, its value, and what it should be; `None` if they are. Which
/// shards they are, and how far they got, is not looked at.
pub fn difference(one: &SweepReport, other: &SweepReport) -> Option<String> {
    let seeds = |report: &SweepReport| {
        let end = report.until_covered.as_ref().map_or(report.seeds.end, |until| until.at_most);
        format!("{}..{end}", report.seeds.first)
    };
    let quiet = |report: &SweepReport| {
        report.until_covered.as_ref().map_or("no".into(), |until| until.quiet.to_string())
    };
    let pairs = [
        ("build", one.build.clone(), other.build.clone()),
        ("what", one.what.clone(), other.what.clone()),
        ("recipe", one.recipe.clone(), other.recipe.clone()),
        ("seeds", seeds(one), seeds(other)),
        ("until covered", quiet(one), quiet(other)),
    ];
    if let Some((key, one, other)) = pairs.into_iter().find(|(_, one, other)| one != other) {
        return Some(format!("{key}: {other}, and not {one}"));
    }
    let other_of = |(key, value): (&String, &serde_json::Value)| {
        let other = other.scenario.get(key)?;
        (other != value).then(|| format!("scenario: {key}: {other}, and not {value}"))
    };
    if let Some(found) = one.scenario.as_object().into_iter().flatten().find_map(other_of) {
        return Some(found);
    }
    let same = one.scenario == other.scenario && names(one).eq(names(other));
    (!same).then(|| "other keys of the scenario, or other promises".into())
}

fn names(report: &SweepReport) -> impl Iterator<Item = &str> {
    report.promises.iter().map(|result| result.name.as_str())
}

/// The first seed of a range that a shard has. A seed is shard I's if it leaves I - 1 when divided by N.
pub fn first_of_shard(range: (u64, u64), index: u64, of: u64) -> Option<u64> {
    let ahead = (u128::from(index) - 1 + u128::from(of) - u128::from(range.0 % of)) % u128::from(of);
    let first = u64::try_from(u128::from(range.0) + ahead).ok()?;
    (first < range.1).then_some(first)
}

//! Which share of the seeds is this machine's, by what runs it.

use super::seeds::{MOST_SEEDS, Shard};
use std::str::FromStr;

/// What tells a machine which of how many it is.
struct Source {
    index: &'static str,
    of: &'static str,
    /// The index of the first machine.
    from: u64,
    /// Who sets them.
    whose: &'static str,
}

/// A job of Kubernetes tells no pod how many there are, so that has to be said. What starts with a number of its own,
/// such as a matrix of GitHub Actions, says `--shard I/N`.
const SOURCES: [Source; 4] = [
    Source {
        index: "JOB_COMPLETION_INDEX",
        of: "ZOOCHECK_SHARDS",
        from: 0,
        whose: "an Indexed Job of Kubernetes",
    },
    Source { index: "CI_NODE_INDEX", of: "CI_NODE_TOTAL", from: 1, whose: "GitLab's parallel" },
    Source { index: "CIRCLE_NODE_INDEX", of: "CIRCLE_NODE_TOTAL", from: 0, whose: "CircleCI's parallelism" },
    Source {
        index: "BUILDKITE_PARALLEL_JOB",
        of: "BUILDKITE_PARALLEL_JOB_COUNT",
        from: 0,
        whose: "Buildkite's parallelism",
    },
];

impl FromStr for Shard {
    type Err = String;

    /// `2/4`, or `auto`: what the environment says.
    fn from_str(text: &str) -> Result<Shard, String> {
        if text == "auto" {
            return from_environment(&|name| std::env::var(name).ok());
        }
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index, of)) if 1 <= index && index <= of && of <= MOST_SEEDS => Ok(Shard { index, of }),
            _ => Err("expected I/N with I from 1 to N, such as 2/4, or auto".into()),
        }
    }
}

fn from_environment(variable: &dyn Fn(&str) -> Option<String>) -> Result<Shard, String> {
    let mut found: Option<(Shard, &Source)> = None;
    for source in &SOURCES {
        let Some(index) = variable(source.index) else { continue };
        let shard = shard_of(source, &index, variable)?;
        match found {
            Some((other, first)) if other != shard => {
                return Err(format!("{} and {} say different things; say I/N", first.index, source.index));
            }
            _ => found = Some((shard, source)),
        }
    }
    found.map(|(shard, _)| shard).ok_or_else(|| {
        let known = SOURCES.iter().map(|source| format!("{} ({})", source.index, source.whose));
        format!("none of these is set: {}", known.collect::<Vec<_>>().join(", "))
    })
}

fn shard_of(
    source: &Source,
    index: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Shard, String> {
    let Source { index: name, of, from, .. } = source;
    let total =
        variable(of).ok_or_else(|| format!("{name} is set; set {of} to the number of shards, too"))?;
    let number = |name: &str, text: &str| {
        text.parse::<u64>().map_err(|_| format!("{name}={text}: expected a whole number"))
    };
    let (at, total) = (number(name, index)?, number(of, &total)?);
    match at.checked_sub(*from) {
        Some(before) if before < total && total <= MOST_SEEDS => Ok(Shard { index: before + 1, of: total }),
        _ => Err(format!("{name}={at}: there are {total} from {from} on, as {of} says")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(variables: &[(&str, &str)]) -> Result<Shard, String> {
        from_environment(&|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        })
    }

    #[test]
    fn every_machine_of_a_job_has_a_share_of_its_own() {
        for source in &SOURCES {
            let shards = (0..4).map(|at| {
                let index = (at + source.from).to_string();
                auto(&[(source.index, &index), (source.of, "4")]).expect(source.whose)
            });
            let expected = (1..=4).map(|index| Shard { index, of: 4 });
            assert!(shards.eq(expected), "{}", source.whose);
        }
    }

    #[test]
    fn an_environment_that_does_not_say_it_is_refused_by_name() {
        let refused = |variables: &[(&str, &str)], expected: &str| {
            let error = auto(variables).expect_err(expected);
            assert!(error.contains(expected), "{error}");
        };
        refused(&[], "none of these is set: JOB_COMPLETION_INDEX");
        refused(&[("JOB_COMPLETION_INDEX", "0")], "set ZOOCHECK_SHARDS");
        refused(&[("JOB_COMPLETION_INDEX", "4"), ("ZOOCHECK_SHARDS", "4")], "there are 4 from 0 on");
        refused(&[("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "4")], "there are 4 from 1 on");
        refused(&[("CI_NODE_INDEX", "one"), ("CI_NODE_TOTAL", "4")], "CI_NODE_INDEX=one");
        refused(&[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "0")], "there are 0");
        let two = [
            ("CI_NODE_INDEX", "1"),
            ("CI_NODE_TOTAL", "4"),
            ("JOB_COMPLETION_INDEX", "1"),
            ("ZOOCHECK_SHARDS", "4"),
        ];
        refused(&two, "different things");
        assert_eq!(auto(&[("CI_NODE_TOTAL", "1"), two[2], two[3]]), Ok(Shard { index: 2, of: 4 }));
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for bad in ["", "3/2", "0/2", "1/0", "1", "a/b", "1/2/3", "-1/2"] {
            bad.parse::<Shard>().expect_err(bad);
        }
    }
}

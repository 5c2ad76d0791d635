//! What stands in the znodes of a transaction.

use std::collections::BTreeSet;
use zk_api::{Data, PathError, Text, ZPath};

/// The znode of a transaction's decision.
pub(super) const DECISION: &str = "decision";

/// A vote or a decision.
///
/// ```
/// use zk_api::Data;
/// use zk_recipes::Verdict;
/// assert_eq!(Verdict::read(&Verdict::Commit.data()), Some(Verdict::Commit));
/// assert_eq!(Verdict::read(&Data::NULL), None, "an empty znode is no vote, and no abort");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Do it.
    Commit,
    /// Leave it.
    Abort,
}

impl Verdict {
    /// As it is written: `commit` or `abort`.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Commit => "commit",
            Verdict::Abort => "abort",
        }
    }

    /// As a znode's data.
    pub fn data(self) -> Data {
        self.word().into()
    }

    /// Reads a znode's data; `None` if nothing is written yet.
    pub fn read(data: &Data) -> Option<Verdict> {
        [Verdict::Commit, Verdict::Abort]
            .into_iter()
            .find(|verdict| verdict.word().as_bytes() == data.bytes())
    }
}

/// Who watches the votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Watching {
    /// Every site: no coordinator is waited for, and n² reads are made.
    EachOther,
    /// The coordinator, who writes the decision that the others wait for: one step more, and n reads.
    Coordinator,
}

impl Watching {
    fn word(self) -> &'static str {
        match self {
            Watching::EachOther => "each-other",
            Watching::Coordinator => "coordinator",
        }
    }
}

/// What a transaction is about, and which sites it is among.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Terms {
    /// The sites. All must vote to commit.
    pub sites: Vec<Text>,
    /// Who watches the votes.
    pub watching: Watching,
    /// What it is about: for the sites to understand.
    pub text: Data,
}

impl Terms {
    /// The data of the transaction's znode: three lines and the text. Fails if a name is not fit for one.
    pub(super) fn written(&self, coordinator: &str) -> Result<Data, PathError> {
        let mut known = BTreeSet::new();
        for site in &self.sites {
            checked_name(site)?;
            if !known.insert(site) || **site == *DECISION {
                return Err(unfit(site));
            }
        }
        let head = format!("{}\n{coordinator}\n{}\n", self.watching.word(), self.sites.join(" "));
        Ok([head.as_bytes(), self.text.bytes()].concat().into())
    }

    /// Reads it: the coordinator and the terms.
    pub(super) fn read(data: &Data) -> Option<(Text, Terms)> {
        let mut parts = data.bytes().splitn(4, |byte| *byte == b'\n');
        let mut line = || std::str::from_utf8(parts.next()?).ok();
        let (watching, coordinator, sites) = (line()?, line()?, line()?);
        let watching =
            [Watching::EachOther, Watching::Coordinator].into_iter().find(|w| w.word() == watching)?;
        let sites = sites.split(' ').map(Text::from).collect();
        Some((coordinator.into(), Terms { sites, watching, text: parts.next()?.into() }))
    }
}

/// A name of a site that is fit for a znode's, and for a list of names.
pub(super) fn checked_name(name: &str) -> Result<(), PathError> {
    ZPath::parse("/sites").and_then(|parent| parent.join(name))?;
    match name.contains([' ', '\n']) {
        true => Err(unfit(name)),
        false => Ok(()),
    }
}

fn unfit(name: &str) -> PathError {
    PathError { path: name.to_owned(), at: 0, problem: "not fit for the name of a site" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(sites: &[&str]) -> Terms {
        let sites = sites.iter().map(|site| Text::from(*site)).collect();
        Terms { sites, watching: Watching::Coordinator, text: "pay\n10".into() }
    }

    #[test]
    fn what_is_written_is_read() {
        let data = terms(&["a", "b"]).written("a").unwrap();
        assert_eq!(Terms::read(&data), Some(("a".into(), terms(&["a", "b"]))));
        for torn in ["", "coordinator\na\n", "nobody\na\na b\n"] {
            assert_eq!(Terms::read(&torn.into()), None);
        }
    }

    #[test]
    fn names_that_cannot_be_told_apart_are_refused() {
        for sites in [&["a", "a"][..], &["a b"], &["decision"], &["a/b"], &[""]] {
            assert!(terms(sites).written("a").is_err(), "{sites:?}");
        }
    }

    #[test]
    fn what_is_empty_is_no_verdict() {
        assert_eq!(Verdict::read(&Data::NULL), None);
        assert_eq!(Verdict::read(&"".into()), None);
        assert_eq!(Verdict::read(&Verdict::Abort.data()), Some(Verdict::Abort));
    }
}

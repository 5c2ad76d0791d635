//! `content-reaches`.

use super::findings::broken_at;
use crate::context::{below, parent};
use crate::event::{Event, GroundTruth};
use crate::promise::{Finding, Promise, Terms};
use crate::words;
use std::collections::BTreeMap;
use zk_api::{Data, Text};

/// A site that hears of a transaction takes it to be about what the end of the znode's data says.
///
/// Such a site says that it [is to do](words::IS_TO_DO) this, with the znode's path before it: `/tx/7: pay`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContentReaches {
    root: &'static str,
    contents: BTreeMap<Text, Data>,
}

impl ContentReaches {
    /// For the transactions below one znode.
    pub fn of(root: &'static str) -> Self {
        ContentReaches { root, contents: BTreeMap::new() }
    }
}

impl Promise for ContentReaches {
    fn terms(&self) -> Terms {
        Terms::of("content-reaches")
            .about("Whoever hears of a transaction learns what it is about as it was written.")
            .tested_when("A site that hears of a transaction says what it is about.")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match event {
            Event::Is(GroundTruth::NodeWritten { path, data, .. }) if parent(path) == self.root => {
                self.contents.insert(path.clone(), data.clone());
            }
            Event::Observed { actor, what } => {
                let Some((words::IS_TO_DO, about, _)) = what.told() else { return };
                let Some((transaction, text)) = about.split_once(": ") else { return };
                if below(self.root, transaction) {
                    let written = self.contents.get(transaction);
                    found.push(match written.is_some_and(|data| data.bytes().ends_with(text.as_bytes())) {
                        true => Finding::Tested,
                        false => {
                            let what = format!("{actor} is to do {about}, which was not written there");
                            broken_at(what, [transaction])
                        }
                    });
                }
            }
            Event::Is(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::commitment::testing::written;
    use super::super::testing::*;
    use super::*;

    #[test]
    fn what_was_not_written_is_not_to_be_done() {
        let judge = |about| {
            let events = vec![written("/tx/1", "a b\npay"), notes(1, "is to do", about)];
            findings(ContentReaches::of("/tx"), events)
        };
        assert_eq!(judge("/tx/1: pay"), [Finding::Tested]);
        let what = "p1 is to do /tx/1: get paid, which was not written there";
        assert_eq!(broken_by(&judge("/tx/1: get paid")), [(what, None)]);
    }
}

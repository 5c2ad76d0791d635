//! What a program told that nobody heard.

use crate::words::of;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a program told: by whom anything that is heard, and what is heard by nothing that is owed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Told {
    /// The numbers of the processes that have told something that is heard.
    pub heard_by: BTreeSet<u16>,
    /// What is not heard, by words and what they are about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unheard: Vec<Unheard>,
}

/// A word that is heard by nothing that is owed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unheard {
    /// The word.
    pub word: String,
    /// The path that it is about, with as many names as have those that something is owed about; empty if it is none.
    pub about: String,
    /// Whether something that is owed has this word, so that it is the path that nothing is owed about.
    pub is_known: bool,
    /// How often it was told; in a check, in how many transitions.
    pub times: u64,
    /// The numbers of the processes that told it.
    pub by: BTreeSet<u16>,
    /// What may have been meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meant: Option<String>,
}

impl Told {
    /// Adds what was told in other seeds.
    pub(crate) fn add(&mut self, other: Told) {
        self.heard_by.extend(other.heard_by);
        let of = |one: &Unheard| (one.word.clone(), one.about.clone());
        let mut all: BTreeMap<_, _> = self.unheard.drain(..).map(|one| (of(&one), one)).collect();
        for one in other.unheard {
            match all.get_mut(&of(&one)) {
                None => drop(all.insert(of(&one), one)),
                Some(same) => {
                    same.times = same.times.saturating_add(one.times);
                    same.by.extend(one.by);
                }
            }
        }
        self.unheard = all.into_values().collect();
    }

    /// Why nothing can be said to hold, where some process tells only of what nothing is owed about, and others do not.
    pub fn unjudged(&self) -> Option<String> {
        let is_deaf = |process: &u16| !self.heard_by.contains(process);
        let elsewhere = self.unheard.iter().filter(|one| one.is_known && !self.heard_by.is_empty());
        let (about, process) =
            elsewhere.filter_map(|one| Some((&one.about, *one.by.iter().find(|by| is_deaf(by))?))).next()?;
        let path = about.trim_end_matches(['/', '…']);
        Some(format!(
            "nothing that p{process} tells is judged: it is about {about}, which nothing is owed about (if that is \
             meant, add program={path} to --promises)"
        ))
    }

    /// What is not heard, each in a line.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut places: BTreeMap<&str, Vec<&Unheard>> = BTreeMap::new();
        let mut words: BTreeMap<&str, Vec<&Unheard>> = BTreeMap::new();
        for one in &self.unheard {
            let (all, key) = if one.is_known { (&mut places, &one.about) } else { (&mut words, &one.word) };
            all.entry(key).or_default().push(one);
        }
        let places = places.into_iter().map(|(about, all)| {
            let said: Vec<String> = all.iter().map(|one| format!("\"{}\"", one.word)).collect();
            format!(
                "nothing is owed about {about}, but {}{}",
                told(&all, &format!("{} of it", said.join(", "))),
                meant(&all)
            )
        });
        let words = words.into_iter().map(|(word, all)| {
            format!("no promise hears \"{word}\", but {}{}", told(&all, "it"), meant(&all))
        });
        places.chain(words).collect()
    }
}

fn told(all: &[&Unheard], what: &str) -> String {
    let by: BTreeSet<u16> = all.iter().flat_map(|one| &one.by).copied().collect();
    let by: Vec<String> = by.into_iter().map(|process| format!("p{process}")).collect();
    let times = all.iter().map(|one| one.times).sum();
    format!("{} told {what} {}", by.join(", "), of(times, "time"))
}

fn meant(all: &[&Unheard]) -> String {
    let meant = all.iter().find_map(|one| one.meant.as_ref());
    meant.map(|meant| format!(": is {meant} meant?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unheard(word: &str, about: &str, is_known: bool, by: u16, meant: &str) -> Unheard {
        let meant = Some(meant.to_owned());
        Unheard { word: word.into(), about: about.into(), is_known, times: 6, by: [by].into(), meant }
    }

    #[test]
    fn what_nobody_hears_is_told_by_path_or_by_word_with_what_is_meant() {
        let enters = unheard("enters", "/lck", true, 4, "/lock");
        let those = vec![
            enters.clone(),
            unheard("leaves", "/lck", true, 3, "/lock"),
            unheard("gets", "/q/…", false, 1, "\"takes\""),
        ];
        let mut told = Told { heard_by: [0, 1, 3].into(), unheard: those };
        assert_eq!(
            told.lines(),
            [
                "nothing is owed about /lck, but p3, p4 told \"enters\", \"leaves\" of it 12 times: is /lock meant?",
                "no promise hears \"gets\", but p1 told it 6 times: is \"takes\" meant?",
            ]
        );
        let why = "nothing that p4 tells is judged: it is about /lck, which nothing is owed about (if that is meant, \
                   add program=/lck to --promises)";
        assert_eq!(told.unjudged().as_deref(), Some(why));
        told.add(Told { heard_by: [4].into(), unheard: vec![enters] });
        assert_eq!((told.unheard[0].times, told.unheard.len()), (12, 3));
        told.add(Told {
            heard_by: BTreeSet::new(),
            unheard: vec![unheard("enters", "/lck", true, 5, "/lock")],
        });
        assert_eq!(told.unheard[0].by, [4, 5].into());
        let why = told.unjudged().expect("p5 is heard nowhere");
        assert!(why.contains("p5"), "{why}");
        told.heard_by.insert(5);
        assert_eq!(told.unjudged(), None, "in another seed it is heard");
        let of = |is_known| Told {
            heard_by: [0].into(),
            unheard: vec![unheard("gets", "/q/…", is_known, 1, "/queue")],
        };
        assert_eq!(of(false).unjudged(), None, "it is the word that nobody hears");
        let why = of(true).unjudged().expect("it is the path");
        assert!(why.contains("add program=/q to"), "{why}");
        let all_elsewhere = Told { heard_by: BTreeSet::new(), ..told };
        assert_eq!(all_elsewhere.unjudged(), None, "then nothing is put to the test");
    }
}

//! Whether two recipes show the same from outside: all of their outcomes, compared as sets.
//!
//! An outcome is what is seen in a run to where nothing moves, or for ever: what processes say and how they end, what
//! takes effect on the tree and at the outside resource, all in one order, and in the end the tree and who still waits.
//! Two models are gone through together, one word of outcomes after the other, each with the set of all states that it
//! can be in after that word. So nothing is enumerated twice, and the first difference is one of the shortest.
//!
//! Guids are all one name. Zxids, and who was told what, are not seen. Faults are not seen either, but by what they do.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use zk_harness::event::{Event, GroundTruth, Observation};
use zk_harness::mutation::{Mutated, SAME};
use zk_model::CheckConfig;
use zk_model::digest::{Digest, digest_of};
use zk_model::model::{RecipeModel, Taken};
use zk_model::reads::Reads;
use zk_model::state::State;

/// What came of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    /// The outcomes are the same.
    Same,
    /// A run of one alone, and whether it is one that the first has and the second has lost.
    Differs { run: Vec<String>, lost: bool },
    /// Not decided, and why.
    Cut(String),
}

/// Compares a recipe with another one, within `most` states of each.
pub(super) fn compare(right: &Mutated, other: &Mutated, config: &CheckConfig, most: usize) -> Compared {
    let mut varied = Reads::at_first();
    loop {
        let graph = |trial: &Mutated| Graph::new(trial, config, varied);
        let mut both = Both { right: graph(right), other: graph(other), labels: Labels::default(), most };
        let compared = both.compare();
        let read = both.right.model.reads().and(both.other.model.reads());
        if varied.has(read) {
            let of = [&both.right, &both.other].into_iter().find_map(|graph| graph.model.leaves_out());
            return match (compared, of) {
                (Compared::Same, Some(left_out)) => Compared::Cut(left_out),
                (compared, _) => compared,
            };
        }
        varied = varied.and(read);
    }
}

/// What is seen, by number.
#[derive(Default)]
struct Labels {
    numbers: HashMap<String, u32>,
    words: Vec<String>,
}

impl Labels {
    fn number(&mut self, word: String) -> u32 {
        let next = self.words.len() as u32;
        *self.numbers.entry(word).or_insert_with_key(|word| {
            self.words.push(word.clone());
            next
        })
    }
}

/// A model, as far as it was gone through.
struct Graph {
    model: RecipeModel,
    trial: Mutated,
    nodes: Vec<Node>,
    known: HashMap<u64, u32>,
}

#[derive(Default)]
struct Node {
    /// Until it is gone on from.
    state: Option<State>,
    /// What leads on without being seen.
    silent: Vec<u32>,
    seen: Vec<(u32, u32)>,
    /// What is there when nothing moves.
    rest: Option<u32>,
}

impl Graph {
    fn new(trial: &Mutated, config: &CheckConfig, varied: Reads) -> Graph {
        let model = RecipeModel::new(std::sync::Arc::new(trial.explored()), config, varied);
        Graph { model, trial: trial.clone(), nodes: vec![Node::default()], known: HashMap::new() }
    }

    fn begin(&mut self, labels: &mut Labels) {
        let taken = self.model.init();
        self.lead(0, taken, labels);
    }

    /// One step leads from a node to what it makes of it.
    fn lead(&mut self, from: u32, taken: Taken, labels: &mut Labels) {
        let seen: Vec<u32> = taken
            .events
            .iter()
            .flat_map(|events| &events.items)
            .filter_map(seen)
            .map(|word| labels.number(word))
            .collect();
        let next = self.nodes.len() as u32;
        let target = *self.known.entry(taken.state.fingerprint).or_insert(next);
        if target == next {
            self.nodes.push(Node { state: Some(taken.state), ..Node::default() });
        }
        let Some((last, before)) = seen.split_last() else {
            return self.nodes[from as usize].silent.push(target);
        };
        // What is seen in one step is seen in this order.
        let at = before.iter().fold(from, |at, label| {
            let between = self.nodes.len() as u32;
            self.nodes.push(Node::default());
            self.nodes[at as usize].seen.push((*label, between));
            between
        });
        self.nodes[at as usize].seen.push((*last, target));
    }

    fn expand(&mut self, node: u32, labels: &mut Labels) {
        let Some(state) = self.nodes[node as usize].state.take() else { return };
        let mut actions = Vec::new();
        if self.model.actions(&state, &mut actions) == 0 {
            self.nodes[node as usize].rest = Some(labels.number(self.rest(&state)));
        }
        for action in actions {
            let taken = self.model.step(&state, action);
            self.lead(node, taken, labels);
        }
        let node = &mut self.nodes[node as usize];
        node.silent.sort_unstable();
        node.silent.dedup();
        node.seen.sort_unstable();
        node.seen.dedup();
    }

    fn rest(&self, state: &State) -> String {
        let rest = state.rest(&self.trial.trial);
        let waiting: Vec<String> = rest.unfinished.iter().map(ToString::to_string).collect();
        let mut nodes: Vec<String> = rest.nodes.iter().map(|(path, _)| reduced(path)).collect();
        nodes.sort();
        let or_none = |names: Vec<String>| if names.is_empty() { "nothing".into() } else { names.join(", ") };
        format!("nothing moves any more; waiting: {}; left: {}", or_none(waiting), or_none(nodes))
    }

    /// All that can be reached without anything being seen.
    fn closed(&mut self, from: Vec<u32>, labels: &mut Labels, most: usize) -> Result<Vec<u32>, String> {
        let mut known: HashSet<u32> = from.iter().copied().collect();
        let mut open = from;
        while let Some(node) = open.pop() {
            self.expand(node, labels);
            if let Some(stop) = self.model.stop() {
                return Err(stop.why());
            }
            if self.nodes.len() > most {
                return Err(format!("outcomes beyond {most} states"));
            }
            let silent = &self.nodes[node as usize].silent;
            open.extend(silent.iter().copied().filter(|next| known.insert(*next)));
        }
        let mut all: Vec<u32> = known.into_iter().collect();
        all.sort_unstable();
        Ok(all)
    }

    /// What can be seen next, and where it leads.
    fn next(&self, nodes: &[u32]) -> BTreeMap<u32, Vec<u32>> {
        let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for node in nodes.iter().map(|node| &self.nodes[*node as usize]) {
            node.seen.iter().for_each(|(label, target)| next.entry(*label).or_default().push(*target));
            // Nothing comes after it.
            if let Some(rest) = node.rest {
                next.entry(rest).or_default();
            }
        }
        for targets in next.values_mut() {
            targets.sort_unstable();
            targets.dedup();
        }
        next
    }
}

struct Both {
    right: Graph,
    other: Graph,
    labels: Labels,
    most: usize,
}

impl Both {
    fn compare(&mut self) -> Compared {
        self.right.begin(&mut self.labels);
        self.other.begin(&mut self.labels);
        self.go_through().unwrap_or_else(Compared::Cut)
    }

    fn go_through(&mut self) -> Result<Compared, String> {
        let Both { right, other, labels, most } = self;
        let mut known: HashSet<Digest> = HashSet::new();
        // Words of outcomes, each by the one that it goes on from.
        let mut words: Vec<(usize, u32)> = vec![(0, 0)];
        let mut open = VecDeque::from([(vec![0], vec![0], 0)]);
        let (mut lost, mut work) = (None, 0);
        while let Some((ours, theirs, word)) = open.pop_front() {
            let ours = right.closed(ours, labels, *most)?;
            let theirs = other.closed(theirs, labels, *most)?;
            work += ours.len() + theirs.len();
            if work > SETS * *most {
                return Err(format!("outcomes beyond {most} states, in sets"));
            }
            let (ours, theirs) = (right.next(&ours), other.next(&theirs));
            if let Some(new) = theirs.keys().find(|label| !ours.contains_key(label)) {
                return Ok(Compared::Differs { run: told(&words, word, *new, labels), lost: false });
            }
            for (label, ours) in ours {
                let Some(theirs) = theirs.get(&label) else {
                    lost = lost.or_else(|| Some(told(&words, word, label, labels)));
                    continue;
                };
                if known.insert(digest_of(0x0c, &(&ours, theirs))) {
                    words.push((word, label));
                    open.push_back((ours, theirs.clone(), words.len() - 1));
                }
            }
        }
        Ok(lost.map_or(Compared::Same, |run| Compared::Differs { run, lost: true }))
    }
}

/// How often each state may be in a set.
const SETS: usize = 100;

/// A word, and what comes behind it.
fn told(words: &[(usize, u32)], mut word: usize, last: u32, labels: &Labels) -> Vec<String> {
    let mut numbers = vec![last];
    while word != 0 {
        numbers.push(words[word].1);
        word = words[word].0;
    }
    numbers.iter().rev().map(|number| labels.words[*number as usize].clone()).collect()
}

/// What is seen of an event from outside.
fn seen(event: &Event) -> Option<String> {
    let told = match event {
        Event::Observed { actor, what } => format!("{actor} {}", without_token(what)),
        Event::Is(GroundTruth::NodeCreated { path, owner, .. }) => {
            let kind = if *owner == zk_api::SessionId::NONE { "" } else { ", ephemeral" };
            format!("{path} is created{kind}")
        }
        Event::Is(GroundTruth::NodeWritten { path, data, .. }) => {
            format!("{path} has data '{}'", String::from_utf8_lossy(data.bytes()))
        }
        Event::Is(GroundTruth::NodeDeleted { path, by, .. }) => {
            let how = if *by == zk_api::SessionId::NONE { "gone with its session" } else { "deleted" };
            format!("{path} is {how}")
        }
        Event::Is(GroundTruth::Wrote { resource, actor, accepted, .. }) => {
            let how = if *accepted { "accepted" } else { "refused" };
            format!("{actor} writes to the {resource:?} resource: {how}")
        }
        Event::Is(GroundTruth::Finished { actor, end }) => format!("{actor} ends: {end:?}"),
        Event::Is(
            GroundTruth::SessionOpened { .. }
            | GroundTruth::SessionClosed { .. }
            | GroundTruth::Fired { .. }
            | GroundTruth::Disconnected { .. }
            | GroundTruth::Connected { .. }
            | GroundTruth::LearnsExpiry { .. }
            | GroundTruth::Crashed { .. }
            | GroundTruth::Paused { .. }
            | GroundTruth::Resumed { .. }
            | GroundTruth::ThreadEnded { .. }
            | GroundTruth::Polls { .. },
        ) => return None,
    };
    Some(reduced(&told))
}

fn without_token(what: &Observation) -> Observation {
    let mut what = what.clone();
    if let Observation::Granted { token, .. } | Observation::Shares { token, .. } = &mut what {
        *token = None;
    }
    what
}

/// A text in which every guid has the same name.
fn reduced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        out.push_str(if word == SAME || is_guid(word) { "GUID" } else { word });
        let next = after.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(after.len());
        out.push_str(&after[..next]);
        rest = &after[next..];
    }
    out
}

/// Whether a word is what a model gives for a guid, such as p1g0 or p1l2g0.
fn is_guid(word: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let Some((actor, nth)) = word.strip_prefix('p').and_then(|rest| rest.rsplit_once('g')) else {
        return false;
    };
    let (process, life) = actor.split_once('l').unwrap_or((actor, "0"));
    number(nth) && number(process) && number(life)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_harness::event::ActorId;
    use zk_model::symmetry::guid;

    #[test]
    fn guids_have_one_name_and_processes_have_their_own() {
        let guids = [(0, 0), (12, 0), (1, 3)]
            .map(|(process, life)| guid(ActorId { process, life, thread: 0 }, 7, false));
        assert!(guids.iter().all(|guid| is_guid(guid)), "{guids:?}");
        let text = format!("p1 is granted /lock by /lock/{}-lock-0000000003, not same-lock", guids[1]);
        assert_eq!(reduced(&text), "p1 is granted /lock by /lock/GUID-lock-0000000003, not GUID-lock");
        assert_eq!(reduced("p0.1 ends: Done"), "p0.1 ends: Done");
    }
}

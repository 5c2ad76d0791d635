//! One life of a mutated process: how many occasions there were, and what is remembered for those to come.

use super::kind::{Kind, Mutation};
use crate::event::Observation;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zk_api::{Completer, Request, Response, SessionId, StatReads, Text, Zxid};

/// What a thread says.
pub type Word = (u8, Observation);

/// What was seen of occasions in all runs so far. It changes nothing in them.
#[derive(Debug, Default)]
pub struct Log(Mutex<Seen>);

/// What a [`Log`] has seen.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The occasions of a recipe that is not mutated, and where each was seen first.
    pub places: BTreeMap<(Kind, u8), String>,
    /// What was said first at each number: what can be said before it is due.
    pub words: BTreeMap<u8, Word>,
    /// Whether the mutation came about.
    pub acted: bool,
}

impl Log {
    /// All of it.
    pub fn seen(&self) -> Seen {
        self.open().clone()
    }

    fn open(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What to do with an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relay {
    Nothing,
    Once,
    Twice,
}

#[derive(Debug)]
pub struct Life {
    pub mutation: Option<Mutation>,
    /// What is said too early.
    word: Option<Word>,
    log: Arc<Log>,
    state: Mutex<State>,
    end: Completer<()>,
}

#[derive(Debug, Default)]
struct State {
    /// How many occasions there were; of a mutated process, up to the one that matters.
    counts: BTreeMap<Kind, u8>,
    /// What reads have given.
    former: BTreeMap<Request, Response>,
    /// Guids given, for people to read over them.
    guids: Vec<Text>,
    /// How many observations there were, up to the one that matters.
    said: u8,
    /// Something was asked since the last.
    asked: bool,
    /// The observation that matters was told too early.
    early: bool,
    /// The sum of what [`Held`] stand for.
    held: u64,
}

impl Life {
    /// The beginning. `end` is told when the code is to return.
    pub fn new(mutation: Option<Mutation>, word: Option<Word>, log: Arc<Log>, end: Completer<()>) -> Life {
        Life { mutation, word, log, state: Mutex::default(), end }
    }

    fn open(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it goes wrong in this way at all.
    pub fn is(&self, kind: Kind) -> bool {
        self.mutation.is_some_and(|mutation| mutation.kind == kind)
    }

    /// An occasion for this kind: whether it is the one at which it goes wrong.
    pub fn meets(&self, kind: Kind, request: &Request) -> bool {
        self.counts(kind, |guids| place(request, guids))
    }

    /// The same, where no request is concerned.
    pub fn counts(&self, kind: Kind, place: impl FnOnce(&[Text]) -> String) -> bool {
        let mut state = self.open();
        let count = state.counts.get(&kind).copied().unwrap_or(0);
        match self.mutation {
            Some(mutation) if mutation.kind != kind || count == mutation.nth => false,
            Some(mutation) => {
                state.counts.insert(kind, count + 1);
                let is_met = count + 1 == mutation.nth;
                self.log.open().acted |= is_met;
                is_met
            }
            None => {
                let count = count.saturating_add(1);
                state.counts.insert(kind, count);
                self.log.open().places.entry((kind, count)).or_insert_with(|| place(&state.guids));
                false
            }
        }
    }

    /// The code is to return.
    pub fn end(&self) {
        self.end.send(());
    }

    /// It is told nothing of the end of its session: whether this is so, where somebody would tell it.
    pub fn is_deaf(&self) -> bool {
        if self.mutation.is_none() {
            let told = || "the end of the session is told".to_owned();
            self.log.open().places.entry((Kind::DeafToEnd, 1)).or_insert_with(told);
        }
        let is_deaf = self.is(Kind::DeafToEnd);
        self.log.open().acted |= is_deaf;
        is_deaf
    }

    pub fn gives_guid(&self, guid: &Text) {
        if self.mutation.is_none() {
            self.open().guids.push(guid.clone());
        }
    }

    /// A request is about to be sent. What is to be said too early, if it is now.
    pub fn asks(&self) -> Option<Word> {
        let mut state = self.open();
        state.asked = true;
        let mutation = self.mutation.filter(|mutation| mutation.kind == Kind::SaysEarly)?;
        if state.early || state.said != mutation.nth - 1 {
            return None;
        }
        state.early = true;
        self.log.open().acted = true;
        self.word.clone()
    }

    /// A thread is about to say something.
    pub fn says(&self, thread: u8, what: &Observation) -> Relay {
        let what_it_is = |guids: &[Text]| without_guids(&what.to_string(), guids);
        if self.counts(Kind::SaysTwice, what_it_is) {
            return Relay::Twice;
        }
        if self.counts(Kind::SaysNothing, what_it_is) {
            return Relay::Nothing;
        }
        let mut state = self.open();
        let most = if self.is(Kind::SaysEarly) { self.mutation.map_or(0, |m| m.nth) } else { u8::MAX };
        let is_due = state.said < most && state.said + 1 == most;
        state.said = state.said.saturating_add(1).min(most);
        if self.mutation.is_none() {
            let said = state.said;
            let mut log = self.log.open();
            if std::mem::take(&mut state.asked) {
                log.places.entry((Kind::SaysEarly, said)).or_insert_with(|| what_it_is(&state.guids));
            }
            log.words.entry(said).or_insert_with(|| (thread, what.clone()));
        }
        let was_early = is_due && state.early && self.word.as_ref() == Some(&(thread, what.clone()));
        if was_early { Relay::Nothing } else { Relay::Once }
    }

    /// What this read gave before, if anything.
    pub fn former(&self, read: &Request) -> Option<Response> {
        self.open().former.get(read).cloned()
    }

    /// A read has given this. It is remembered as long as it can matter.
    pub fn read(&self, read: Request, response: &Response) {
        let mut state = self.open();
        let over = |m: Mutation| state.counts.get(&m.kind).is_some_and(|count| *count == m.nth);
        match self.mutation {
            Some(mutation) if mutation.kind != Kind::NoSecondLook => {}
            Some(mutation) if over(mutation) => state.former.clear(),
            Some(_) | None => drop(state.former.insert(read, response.clone())),
        }
    }

    /// From now on until it is dropped, something waits in the wrapper: checkpoints tell it.
    pub fn holds(self: &Arc<Life>, what: &impl Hash) -> Held {
        let digest = digest_of(what);
        let mut state = self.open();
        state.held = state.held.wrapping_add(digest);
        Held { life: self.clone(), digest }
    }

    /// Of all that happened, what can still matter to the wrapper. A checkpoint that did not tell it would take
    /// processes for alike of which one is about to go wrong and the other is not.
    pub fn locals(&self) -> [i64; 3] {
        let Some(mutation) = self.mutation else { return [0; 3] };
        let state = self.open();
        let count = state.counts.get(&mutation.kind).copied().unwrap_or(0).max(state.said_so_far(mutation));
        let former = if state.former.is_empty() { 0 } else { digest_of(&state.former) };
        [i64::from(count) << 1 | i64::from(state.early), former as i64, state.held as i64]
    }
}

impl State {
    fn said_so_far(&self, mutation: Mutation) -> u8 {
        if mutation.kind == Kind::SaysEarly { self.said } else { 0 }
    }
}

/// Something that waits in the wrapper.
#[derive(Debug)]
pub struct Held {
    life: Arc<Life>,
    digest: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut state = self.life.open();
        state.held = state.held.wrapping_sub(self.digest);
    }
}

/// The same in every process and on every day. To look at a whole Stat here is not to read it: the recipe does not see
/// it.
fn digest_of(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    StatReads::unnoted(|| SessionId::unnoted(|| Zxid::unnoted(|| what.hash(&mut hasher))));
    hasher.finish()
}

fn without_guids(text: &str, guids: &[Text]) -> String {
    guids.iter().fold(text.to_owned(), |text, guid| text.replace(&**guid, "GUID"))
}

/// A request in a few words, the same for every process: guids and numbers are left out.
fn place(request: &Request, guids: &[Text]) -> String {
    use zk_api::Op;
    let short = |path: &str| {
        let named = without_guids(path, guids);
        let cut = named.trim_end_matches(|c: char| c.is_ascii_digit());
        if cut.len() + 10 == named.len() { format!("{cut}N") } else { named }
    };
    match request {
        Request::Multi { ops } => {
            let op = |op: &Op| match op {
                Op::Create { path, .. } => format!("create {}", short(path)),
                Op::Delete { path, .. } => format!("delete {}", short(path)),
                Op::SetData { path, .. } => format!("setData {}", short(path)),
                Op::Check { path, .. } => format!("check {}", short(path)),
            };
            format!("multi of {}", ops.iter().map(op).collect::<Vec<_>>().join(", "))
        }
        request => format!("{} {}", request.name(), short(&request.path())).trim_end().to_owned(),
    }
}

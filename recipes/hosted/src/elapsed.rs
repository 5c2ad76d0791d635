//! Whether a program goes by how much time passes while it waits for something. No search varies that: a program's
//! clock moves there only with a timer that makes it do what others can tell.
//!
//! Some histories are told to the program anew, and before each input time passes, for as long as it does nothing that
//! others can tell. If it then does something else than it did, no search of it decides anything. Paths and data are
//! not compared: names may be random, and data may tell the time.

use crate::memory::{At, History, Memory, Place};
use crate::stands::{Act, IDLE_NS, Stands};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use zk_api::split;
use zk_harness::program::Output;

/// One history of so many is told anew, and so is each at whose end the program ends.
const ONE_OF: u64 = 8;
/// So many timers go off one by one, and then all that are over when the time has passed.
const TIMERS: u32 = 12;
/// So long before it would do something by itself.
const BEFORE_NS: u64 = 1_000_000;

/// Looks at the history that ends there, if it is its turn.
pub(crate) fn look(memory: &Arc<Memory>, at: Place) {
    let Some(history) = memory.to_look_at(at).filter(is_due) else { return };
    // What it gets wrong in another time, or what ends its worker, is nothing that it was seen to do.
    let told = catch_unwind(AssertUnwindSafe(|| differs(memory, &history, at)));
    if let Ok(Some(how)) = told {
        let who = history.life.me;
        memory.decides_nothing(format!("{who} goes by how much time passes while it waits: {how}"));
    }
}

fn is_due(history: &History) -> bool {
    let Some((.., step)) = history.told.last() else { return false };
    let mut hasher = DefaultHasher::new();
    history.told.iter().for_each(|(_, told, _)| told.hash(&mut hasher));
    let ends = step.outputs.iter().any(|output| matches!(output, Output::Ends(_) | Output::Leaves));
    ends || hasher.finish().is_multiple_of(ONE_OF)
}

/// What it does otherwise where time passes, up to where it first did anything by itself.
fn differs(memory: &Arc<Memory>, history: &History, at: Place) -> Option<String> {
    let recorded = At::Place(history.told.first()?.0);
    let (mut as_it_was, mut later) = (Stands::at(memory.clone(), recorded), begin(memory, history)?);
    as_it_was.take(&history.begun);
    let mut was_ns = as_it_was.now_ns;
    (acts_of(&mut as_it_was) == acts_of(&mut later)).then_some(())?;
    for (nth, (from, told, step)) in history.told.iter().enumerate() {
        if told.inputs.is_empty() || let_pass(&mut later, memory.known_to_move(*from), was_ns) {
            return None;
        }
        was_ns = told.now_ns;
        for stands in [&mut as_it_was, &mut later] {
            stands.opens(&told.inputs);
        }
        as_it_was.take(step);
        later.tell(told.inputs.clone());
        later.answer_pings();
        let (was, is) = (acts_of(&mut as_it_was), acts_of(&mut later));
        if was != is {
            // What it would do by itself next it may have done by now.
            let after = history.told.get(nth + 1).map_or(at, |(from, ..)| *from);
            let goes_on = memory.known_to_move(after).is_none_or(|when| when.is_some());
            let is_ahead = goes_on && was.iter().all(|act| is.contains(act));
            let (was, is) = (in_words(&was), in_words(&is));
            return (!is_ahead).then(|| format!("it {was}, and it {is} where a minute has passed"));
        }
    }
    None
}

fn begin(memory: &Memory, history: &History) -> Option<Stands> {
    let memory = memory.anew();
    let (at, step) = At::begin(&memory, false, &history.life).ok()?;
    let mut stands = Stands::at(memory, at);
    stands.take(&step);
    Some(stands)
}

/// Lets time pass, up to where a program does something by itself, if that is known; whether it does something all the
/// same. Not while it has no connection that is answered, or is to have another.
fn let_pass(later: &mut Stands, moves: Option<Option<u64>>, was_ns: u64) -> bool {
    let Some(moves) = moves.filter(|_| later.is_connected()) else { return false };
    let for_ns = moves.map_or(IDLE_NS, |when| when.saturating_sub(was_ns)).saturating_sub(BEFORE_NS);
    let until_ns = later.now_ns + for_ns;
    later.passes(until_ns, TIMERS, true) || later.wakes(until_ns, true)
}

/// What it has done, as far as it is compared; nothing of it is left to be seen to.
fn acts_of(stands: &mut Stands) -> Vec<String> {
    let acts = std::mem::take(&mut stands.acts);
    let mut told: Vec<String> = acts
        .into_iter()
        .filter_map(|act| {
            Some(match act {
                Act::Pings(_) => return None,
                Act::Connects(_) => "opens a connection".to_owned(),
                Act::Greets(socket, _) => {
                    stands.greeted(socket);
                    "asks for a session".to_owned()
                }
                Act::Asks(.., request) => {
                    let path = request.path();
                    format!("asks for {} in {}", request.name(), split(&path).0)
                }
                Act::WatchesAgain(..) => "sets its watches again".to_owned(),
                Act::Closes(socket) => {
                    stands.conns.remove(&socket);
                    "closes its connection".to_owned()
                }
                Act::Observed(_, what) => format!("says {}", what.word()),
                Act::Works(_) => "works".to_owned(),
                Act::Writes(..) => "writes".to_owned(),
                Act::Ends(_) | Act::Leaves => "ends".to_owned(),
            })
        })
        .collect();
    // The order in which threads run may be another one as well.
    told.sort();
    told
}

fn in_words(acts: &[String]) -> String {
    if acts.is_empty() { "does nothing".to_owned() } else { acts.join(", ") }
}

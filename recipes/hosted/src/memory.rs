//! What a program does at the end of each history of what it was told.
//!
//! A search comes back to one history again and again, and a program stands still in one place at a time: what it has
//! done is remembered, and it is told the whole history anew only where it is to go on from its end. Each time it must
//! do what it did before.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use zk_harness::event::ActorId;
use zk_harness::program::{Input, Life, Now, Program, ProgramStep, Programs};

/// What a search of a program takes in one way: its verdict says so.
const LEFT_OUT: &str = "one order of its threads, which have done with each message before the next one comes; one \
    drawing of its chance; no wait beyond a minute but sleeps; no time but that of its timers, in seven of \
    eight histories; nothing behind the end of its main thread; times, session ids and zxids as the model numbers them";

/// So many programs are kept where they stand, each in a process of its own.
const STANDING: usize = 6;

/// The time when a life begins. It may be any: no engine that explores knows when one does.
pub(crate) const BEGINS_NS: u64 = 1_000_000_000;
const BEGINS_WALL_NS: i64 = 1_600_000_000_000_000_000;

/// A history, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place(usize);

/// What a program is told at the end of a history.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Told {
    pub(crate) now_ns: u64,
    pub(crate) inputs: Vec<Input>,
}

#[derive(Debug)]
enum Came {
    Begun(Life),
    From(Place, Told),
}

/// A life and all that was told in it, each with where that was and what came of it.
pub(crate) struct History {
    pub(crate) life: Life,
    pub(crate) begun: Arc<ProgramStep>,
    pub(crate) told: Vec<(Place, Told, Arc<ProgramStep>)>,
}

/// The histories of a program's lives.
#[derive(Debug)]
pub(crate) struct Memory {
    /// The program's, as it is told to people.
    pub(crate) name: String,
    programs: Arc<dyn Programs>,
    known: Mutex<Known>,
    fault: OnceLock<String>,
    /// How it goes by what no search varies.
    undecided: OnceLock<String>,
}

#[derive(Default)]
struct Known {
    all: Vec<(Came, Arc<ProgramStep>)>,
    begun: HashMap<(ActorId, u16, u8), Place>,
    next: HashMap<(Place, Told), Place>,
    /// See [`Memory::moves_by_itself`].
    moves: HashMap<(Place, bool), Option<u64>>,
    standing: Vec<(Place, Box<dyn Program>)>,
    /// See [`Memory::to_look_at`].
    looked_at: HashSet<Place>,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Known").field("histories", &self.all.len()).finish_non_exhaustive()
    }
}

impl Programs for Memory {
    fn begin(&self, life: &Life, now: Now) -> Result<(Box<dyn Program>, ProgramStep), String> {
        self.programs.begin(life, now)
    }

    fn fault(&self) -> Option<String> {
        self.fault.get().cloned()
    }

    fn histories(&self) -> Option<u64> {
        Some(self.known().all.len() as u64)
    }

    fn left_out(&self) -> &'static str {
        LEFT_OUT
    }

    fn undecided(&self) -> Option<String> {
        self.undecided.get().cloned()
    }
}

impl Memory {
    pub(crate) fn of(name: &str, programs: Arc<dyn Programs>) -> Memory {
        let (known, fault, undecided) = (Mutex::default(), OnceLock::new(), OnceLock::new());
        Memory { name: name.into(), programs, known, fault, undecided }
    }

    /// The code that runs ends by unwinding, and the search with it: nothing that it could go on to find says anything.
    pub(crate) fn is_wrong(&self, what: String) -> ! {
        let what = self.fault.get_or_init(|| what).clone();
        std::panic::resume_unwind(Box::new(what))
    }

    /// The beginning of a life, and what the program does there.
    pub(crate) fn begin(&self, life: &Life) -> Result<(Place, Arc<ProgramStep>), String> {
        let key = (life.me, life.clients, life.rounds);
        if let Some(begun) = self.remembered(|known| known.begun.get(&key))? {
            return Ok(begun);
        }
        let (program, step) = self.programs.begin(life, now(BEGINS_NS))?;
        let mut known = self.known();
        let place = known.add(Came::Begun(life.clone()), step);
        known.begun.insert(key, place);
        known.keep(place, program);
        Ok((place, known.step(place)))
    }

    /// What follows when it is told this.
    pub(crate) fn tell(
        &self,
        at: Place,
        now_ns: u64,
        inputs: Vec<Input>,
    ) -> Result<(Place, Arc<ProgramStep>), String> {
        let key = (at, Told { now_ns, inputs });
        if let Some(next) = self.remembered(|known| known.next.get(&key))? {
            return Ok(next);
        }
        let mut program = self.standing_at(at)?;
        let step = program.step(now(now_ns), &key.1.inputs)?;
        let mut known = self.known();
        // Another thread may have been here meanwhile.
        let place = match known.next.get(&key) {
            Some(place) => *place,
            None => known.add(Came::From(at, key.1.clone()), step.clone()),
        };
        known.next.insert(key, place);
        if *known.step(place) != step {
            return Err(self.differs());
        }
        known.keep(place, program);
        Ok((place, known.step(place)))
    }

    /// When a program does something by itself that others can tell, if nothing else happens: worked out once.
    pub(crate) fn moves_by_itself(
        &self,
        at: Place,
        is_answered: bool,
        work: impl FnOnce() -> Option<u64>,
    ) -> Option<u64> {
        let known = self.known().moves.get(&(at, is_answered)).copied();
        known.unwrap_or_else(|| {
            let when = work();
            self.known().moves.insert((at, is_answered), when);
            when
        })
    }

    /// When it does so, if that was worked out, and its connection is answered.
    pub(crate) fn known_to_move(&self, at: Place) -> Option<Option<u64>> {
        self.known().moves.get(&(at, true)).copied()
    }

    /// The history that ends there, the first time it is asked for, and as long as nothing was found.
    pub(crate) fn to_look_at(&self, at: Place) -> Option<History> {
        let mut known = self.known();
        let is_due = self.undecided.get().is_none() && known.looked_at.insert(at);
        is_due.then(|| known.history(at))
    }

    /// A search decides nothing, for this reason.
    pub(crate) fn decides_nothing(&self, why: String) {
        let _ = self.undecided.set(why);
    }

    /// A memory of nothing, for the same program.
    pub(crate) fn anew(&self) -> Arc<Memory> {
        Arc::new(Memory::of(&self.name, self.programs.clone()))
    }

    /// A place that is known, and what the program does there. Once one has gone wrong, none is asked for anything.
    fn remembered(
        &self,
        find: impl Fn(&Known) -> Option<&Place>,
    ) -> Result<Option<(Place, Arc<ProgramStep>)>, String> {
        let known = self.known();
        let found = find(&known).map(|place| (*place, known.step(*place)));
        if found.is_some() { Ok(found) } else { self.fault().map_or(Ok(None), Err) }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn differs(&self) -> String {
        format!("{}: it does not do the same when it is told the same again", self.name)
    }

    /// A program that stands there.
    fn standing_at(&self, at: Place) -> Result<Box<dyn Program>, String> {
        let History { life, begun, told } = {
            let mut known = self.known();
            if let Some(kept) = known.standing.iter().position(|(place, _)| *place == at) {
                return Ok(known.standing.remove(kept).1);
            }
            known.history(at)
        };
        let (mut program, step) = self.programs.begin(&life, now(BEGINS_NS))?;
        let mut is_same = step == *begun;
        for (_, told, step) in &told {
            is_same &= program.step(now(told.now_ns), &told.inputs)? == **step;
        }
        if is_same { Ok(program) } else { Err(self.differs()) }
    }
}

/// Where a program stands.
#[derive(Clone)]
pub(crate) enum At {
    /// At the end of a history, to which the engine comes back.
    Place(Place),
    /// Nowhere but here.
    Once(Arc<Mutex<Box<dyn Program>>>),
}

impl At {
    /// The beginning of a life, for an engine that explores or for one that does not.
    pub(crate) fn begin(
        memory: &Memory,
        is_explored: bool,
        life: &Life,
    ) -> Result<(At, Arc<ProgramStep>), String> {
        if is_explored {
            return memory.begin(life).map(|(place, step)| (At::Place(place), step));
        }
        let (program, step) = memory.programs.begin(life, now(BEGINS_NS))?;
        Ok((At::Once(Arc::new(Mutex::new(program))), Arc::new(step)))
    }

    /// What follows when the program is told this.
    pub(crate) fn tell(
        &mut self,
        memory: &Memory,
        now_ns: u64,
        inputs: Vec<Input>,
    ) -> Result<Arc<ProgramStep>, String> {
        match self {
            At::Place(at) => {
                let (next, step) = memory.tell(*at, now_ns, inputs)?;
                *at = next;
                Ok(step)
            }
            At::Once(program) => {
                let mut program = program.lock().unwrap_or_else(PoisonError::into_inner);
                program.step(now(now_ns), &inputs).map(Arc::new)
            }
        }
    }
}

/// What a program's clocks show.
fn now(steady_ns: u64) -> Now {
    Now { steady_ns, wall_ns: BEGINS_WALL_NS + steady_ns as i64 }
}

impl Known {
    fn add(&mut self, came: Came, step: ProgramStep) -> Place {
        self.all.push((came, Arc::new(step)));
        Place(self.all.len() - 1)
    }

    fn step(&self, Place(at): Place) -> Arc<ProgramStep> {
        self.all[at].1.clone()
    }

    fn keep(&mut self, place: Place, program: Box<dyn Program>) {
        if self.standing.len() == STANDING {
            self.standing.remove(0);
        }
        self.standing.push((place, program));
    }

    fn history(&self, mut at: Place) -> History {
        let mut told = Vec::new();
        loop {
            let (came, step) = &self.all[at.0];
            match came {
                Came::Begun(life) => {
                    told.reverse();
                    return History { life: life.clone(), begun: step.clone(), told };
                }
                Came::From(before, was) => {
                    told.push((*before, was.clone(), step.clone()));
                    at = *before;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use zk_harness::program::Output;

    /// A program that prints who it is, and then how often it was stepped. One that drifts counts in all its lives.
    #[derive(Debug, Default)]
    struct Counts {
        begun: AtomicU32,
        drifts: bool,
    }

    struct Count(u32);

    fn prints(text: String) -> ProgramStep {
        ProgramStep { outputs: vec![Output::Prints(text)], ..ProgramStep::default() }
    }

    impl Programs for Counts {
        fn begin(&self, life: &Life, _: Now) -> Result<(Box<dyn Program>, ProgramStep), String> {
            let begun = self.begun.fetch_add(1, Ordering::Relaxed);
            let count = Count(if self.drifts { begun } else { 0 });
            Ok((Box::new(count), prints(format!("{} of {} rounds", life.me, life.rounds))))
        }
    }

    impl Program for Count {
        fn step(&mut self, _: Now, _: &[Input]) -> Result<ProgramStep, String> {
            self.0 += 1;
            Ok(prints(self.0.to_string()))
        }
    }

    fn memory(drifts: bool) -> Memory {
        Memory::of("it", Arc::new(Counts { drifts, ..Counts::default() }))
    }

    fn life(life: u8, rounds: u8) -> Life {
        Life {
            me: ActorId { process: 0, life, thread: 0 },
            clients: 2,
            rounds,
            seed: 0,
            servers: vec![0],
            timeout_ms: 1,
            stands_still: 0,
            stands_still_ns: 1,
        }
    }

    #[test]
    fn each_life_begins_as_itself_and_with_its_own_rounds() {
        let memory = memory(false);
        for (nth, rounds, said) in
            [(0, 1, "p0 of 1"), (1, 1, "p0.1 of 1"), (1, 2, "p0.1 of 2"), (0, 1, "p0 of 1")]
        {
            let (_, step) = memory.begin(&life(nth, rounds)).expect("it begins");
            assert_eq!(*step, prints(format!("{said} rounds")));
        }
        assert_eq!(memory.histories(), Some(3), "what is known is not begun again");
    }

    #[test]
    fn a_program_that_is_told_the_same_again_must_do_the_same() {
        for drifts in [false, true] {
            let memory = memory(drifts);
            let (begun, _) = memory.begin(&life(0, 1)).expect("it begins");
            let (first, _) = memory.tell(begun, 1, Vec::new()).expect("it goes on from there");
            memory.tell(begun, 2, Vec::new()).expect("it goes on from there");
            memory.tell(first, 2, Vec::new()).expect("it stands there");
            let again = memory.tell(first, 3, Vec::new()).map(|(_, step)| step);
            let differs = Err("it: it does not do the same when it is told the same again".to_owned());
            let same = Ok(Arc::new(prints("2".into())));
            assert_eq!(again, if drifts { differs } else { same });
        }
    }

    #[test]
    fn once_a_program_has_gone_wrong_it_is_asked_for_nothing_that_is_not_known() {
        let memory = memory(false);
        let (begun, _) = memory.begin(&life(0, 1)).expect("it begins");
        let wrong =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| memory.is_wrong("it hangs".into())));
        assert!(wrong.is_err());
        assert!(memory.begin(&life(0, 1)).is_ok(), "that is known");
        assert_eq!(memory.tell(begun, 1, Vec::new()).map(|_| ()), Err("it hangs".into()));
    }

    #[test]
    fn what_it_does_by_itself_without_a_connection_is_not_what_it_does_with_one() {
        let memory = memory(false);
        let (at, _) = memory.begin(&life(0, 1)).expect("it begins");
        assert_eq!(memory.moves_by_itself(at, false, || None), None);
        assert_eq!(memory.known_to_move(at), None);
        assert_eq!(memory.moves_by_itself(at, true, || Some(5)), Some(5));
        assert_eq!(memory.moves_by_itself(at, true, || unreachable!("it is known")), Some(5));
        assert_eq!(memory.known_to_move(at), Some(Some(5)));
    }
}

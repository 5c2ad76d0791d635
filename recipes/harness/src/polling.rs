//! Finds code that asks the same thing again and again while nothing happens to it.
//!
//! ```
//! use zk_api::{Request, Response};
//! use zk_harness::event::ActorId;
//! use zk_harness::polling::{FEWEST, Polling};
//!
//! let (mut polling, actor) = (Polling::of(1), ActorId { process: 0, life: 0, thread: 0 });
//! let (asks, absent) = (Request::Exists { path: "/lock".into(), watch: false }, Response::Exists(None));
//! let found: Vec<bool> = (0..FEWEST)
//!     .map(|_| {
//!         let asked_at = polling.ask();
//!         polling.answer(actor, asked_at, &asks, Ok(&absent)).is_some()
//!     })
//!     .collect();
//! assert_eq!(found, [false, false, false, false, true]);
//! ```

use crate::event::{ActorId, GroundTruth, Observation};
use zk_api::{ErrorCode, MultiOutcome, Outcome, Request, Response, StatReads};

/// How many times in a row the same request must get the same answer, at the least, before it is called polling. A
/// recipe whose tasks all look at one znode when they begin asks less often; one that looks once a round may ask twice
/// more than it has rounds.
pub const FEWEST: u32 = 5;

/// The answers that an actor has got since anything else happened to it: an event, a change of its connection, a write
/// that took effect, something new that it has told of, or another answer to the same request.
///
/// Both engines ask it, at the seam between an actor and its client; in a model, polling that passes a checkpoint is
/// looked for in the graph of states instead.
#[derive(Clone, Debug)]
pub struct Polling {
    polls_at: u32,
    same: Vec<Same>,
    /// What it has told of.
    told: Vec<Observation>,
    answers: u64,
}

/// When a request was submitted, counted in answers.
#[derive(Clone, Copy, Debug)]
pub struct AskedAt(u64);

#[derive(Clone, Debug)]
struct Same {
    request: Request,
    answer: Result<Response, ErrorCode>,
    times: u32,
    answered_at: u64,
}

impl Polling {
    /// For an actor with so many rounds before it.
    pub fn of(rounds: u8) -> Polling {
        let polls_at = FEWEST.max(u32::from(rounds) + 2);
        Polling { polls_at, same: Vec::new(), told: Vec::new(), answers: 0 }
    }

    /// The mark for a request that is submitted now. Of several requests under way at the same time, one counts.
    pub fn ask(&self) -> AskedAt {
        AskedAt(self.answers)
    }

    /// Something else has happened.
    pub fn forget(&mut self) {
        self.same.clear();
        self.told.clear();
    }

    /// The actor reports something; reporting it a second time does not count as progress.
    pub fn tells(&mut self, what: &Observation) {
        if !self.told.contains(what) {
            self.same.clear();
            self.told.push(what.clone());
        }
    }

    /// A request is answered; returns the event to report if that was once too often.
    pub fn answer(
        &mut self,
        actor: ActorId,
        asked_at: AskedAt,
        request: &Request,
        answer: Result<&Response, ErrorCode>,
    ) -> Option<GroundTruth> {
        self.answers += 1;
        let failed = matches!(answer, Err(_) | Ok(Response::Multi(MultiOutcome::Failed(_))));
        let took_effect = request.is_write() && !failed;
        let is_lost = answer.is_err_and(|code| code.outcome() == Outcome::Unknown);
        if took_effect || is_lost {
            self.forget();
            return None;
        }
        if let Request::Sync { .. } = request {
            return None;
        }
        let known = self.same.iter().position(|same| same.request == *request);
        let is_same = |same: &Same| same.answer.as_ref().map_err(|code| *code) == answer;
        match known {
            Some(nth) if StatReads::unnoted(|| is_same(&self.same[nth])) => {
                let same = &mut self.same[nth];
                if asked_at.0 < same.answered_at {
                    return None;
                }
                (same.times, same.answered_at) = (same.times + 1, self.answers);
                let is_polling = same.times == self.polls_at;
                is_polling.then(|| GroundTruth::Polls {
                    actor,
                    request: format!("{} {}", request.name(), request.path()).into(),
                    times: self.polls_at,
                })
            }
            known => {
                if known.is_some() {
                    self.forget();
                }
                let (request, answer) = (request.clone(), answer.cloned());
                self.same.push(Same { request, answer, times: 1, answered_at: self.answers });
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: ActorId = ActorId { process: 0, life: 0, thread: 0 };

    fn exists(path: &str) -> Request {
        Request::Exists { path: path.into(), watch: false }
    }

    fn nothing() -> Response {
        Response::Exists(None)
    }

    fn polls(polling: &mut Polling, request: &Request) -> bool {
        let asked_at = polling.ask();
        polling.answer(ME, asked_at, request, Ok(&nothing())).is_some()
    }

    #[test]
    fn the_same_question_with_the_same_answer_is_polling_once_it_was_too_often() {
        let mut polling = Polling::of(3);
        let found: Vec<bool> = (0..7).map(|_| polls(&mut polling, &exists("/a"))).collect();
        assert_eq!(found, [false, false, false, false, true, false, false]);
    }

    #[test]
    fn questions_between_do_not_hide_it() {
        let mut polling = Polling::of(3);
        let found =
            (0..10).filter(|_| polls(&mut polling, &exists("/a")) | polls(&mut polling, &exists("/b")));
        assert_eq!(found.count(), 1);
        let sync = Request::Sync { path: "/a".into() };
        let mut polling = Polling::of(3);
        for _ in 0..4 {
            assert!(!polls(&mut polling, &exists("/a")));
            for _ in 0..2 {
                let asked_at = polling.ask();
                let synced = Response::Synced { path: "/a".into() };
                assert_eq!(polling.answer(ME, asked_at, &sync, Ok(&synced)), None);
            }
        }
        assert!(polls(&mut polling, &exists("/a")));
    }

    #[test]
    fn what_happens_between_makes_it_none() {
        let create = Request::Create {
            path: "/a".into(),
            data: zk_api::Data::NULL,
            acl: zk_api::open_acl(),
            mode: zk_api::CreateMode::Persistent,
            stat: false,
        };
        let happens: [&dyn Fn(&mut Polling); 4] = [
            &|polling| polling.forget(),
            &|polling| {
                let asked_at = polling.ask();
                let _ = polling.answer(ME, asked_at, &create, Ok(&nothing()));
            },
            &|polling| {
                let asked_at = polling.ask();
                let _ = polling.answer(ME, asked_at, &exists("/b"), Err(ErrorCode::ConnectionLoss));
            },
            &|polling| {
                let asked_at = polling.ask();
                let _ = polling.answer(ME, asked_at, &exists("/a"), Err(ErrorCode::NoNode));
            },
        ];
        for happens in happens {
            let mut polling = Polling::of(3);
            for nth in 0..10 {
                assert!(!polls(&mut polling, &exists("/a")));
                if nth % 3 == 2 {
                    happens(&mut polling);
                }
            }
        }
        // A write that is refused takes no effect.
        let mut polling = Polling::of(3);
        let refused = (0..5).filter(|_| {
            let asked_at = polling.ask();
            polling.answer(ME, asked_at, &create, Err(ErrorCode::NodeExists)).is_some()
        });
        assert_eq!(refused.count(), 1);
    }

    #[test]
    fn who_tells_of_the_same_again_polls_all_the_same() {
        let polled = |tells: &dyn Fn(usize) -> i64| {
            let mut polling = Polling::of(3);
            let asks = |nth| {
                polling.tells(&Observation::note(crate::words::SEES, "/a", tells(nth)));
                polls(&mut polling, &exists("/a"))
            };
            (0..7).position(asks)
        };
        assert_eq!(polled(&|_| 1), Some(4));
        assert_eq!(polled(&|nth| nth as i64), None);
        assert_eq!(polled(&|nth| i64::from(nth == 2)), Some(6), "what it tells of changes");
        // What it has told before something else happened is new behind that.
        let mut polling = Polling::of(3);
        let said = Observation::note(crate::words::SEES, "/a", 1);
        polling.tells(&said);
        polling.forget();
        assert!((0..4).all(|_| !polls(&mut polling, &exists("/a"))));
        polling.tells(&said);
        assert!(!polls(&mut polling, &exists("/a")));
    }

    #[test]
    fn questions_that_are_under_way_together_are_one() {
        let mut polling = Polling::of(3);
        let asked: Vec<AskedAt> = (0..9).map(|_| polling.ask()).collect();
        let found = asked.into_iter().filter_map(|at| polling.answer(ME, at, &exists("/a"), Ok(&nothing())));
        assert_eq!(found.count(), 0);
    }
}

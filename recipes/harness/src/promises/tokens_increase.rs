//! `tokens-increase`.

use super::findings::broken;
use crate::context::{Overwritten, SessionTracker};
use crate::event::{Event, Observation};
use crate::promise::{Assumption, Finding, Promise, Terms};
use zk_api::Zxid;

/// Every grant's token is higher than that of every grant before it. In shared mode, it need only be higher than those
/// of exclusive grants.
///
/// A grant to an actor whose session has ended does not count: it may learn late of an answer given in time. So may one
/// whose token is of its own writing, and that was written over before it tells of its grant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TokensIncrease {
    lock: &'static str,
    tracker: SessionTracker,
    overwritten: Overwritten,
    /// The highest so far of exclusive grants.
    exclusive: Option<Zxid>,
    /// And of shared ones.
    shared: Option<Zxid>,
}

impl TokensIncrease {
    /// For one lock.
    pub fn of(lock: &'static str) -> Self {
        let (tracker, overwritten) = (SessionTracker::of(lock), Overwritten::default());
        TokensIncrease { lock, tracker, overwritten, exclusive: None, shared: None }
    }
}

impl Promise for TokensIncrease {
    fn terms(&self) -> Terms {
        Terms::of("tokens-increase")
            .about("Each grant has a higher fencing token than every grant before it.")
            .tested_when("Somebody is granted the lock with a token after a grant whose token must be lower.")
            .assumes(&[Assumption::NoAdministrator])
            // Tokens are told with the grants. Who lives on after its grant was told has told of it in time.
            .judged_from_outside()
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        self.tracker.see(event);
        self.overwritten.see(event, &self.tracker);
        let Event::Observed { actor, what } = event else { return };
        let (lock, token, shares) = match what {
            Observation::Granted { lock, token: Some(token), .. } => (lock, token, false),
            Observation::Shares { lock, token: Some(token), .. } => (lock, token, true),
            _ => return,
        };
        if **lock == *self.lock
            && !self.overwritten.tells(*actor, Some(*token))
            && !self.tracker.is_dead(*actor)
        {
            match if shares { self.exclusive } else { self.exclusive.max(self.shared) } {
                // Its own, of which it keeps a share.
                Some(highest) if shares && *token == highest => {}
                Some(highest) if *token <= highest => {
                    let assumption =
                        self.tracker.lost_to_administrator(*actor).then_some(Assumption::NoAdministrator);
                    found
                        .push(broken(format!("{actor} was given token {token} after {highest}"), assumption));
                }
                Some(_) => found.push(Finding::Tested),
                None => {}
            }
            let seen = if shares { &mut self.shared } else { &mut self.exclusive };
            *seen = (*seen).max(Some(*token));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    fn grant(p: u16, token: u32) -> Event {
        granted_as(p, "/lock/a-lock-0000000000", Some(token))
    }

    #[test]
    fn a_lower_token_or_the_same_again_breaks_it() {
        let found = findings(TokensIncrease::of(LOCK), vec![grant(0, 5), grant(1, 4), grant(1, 5)]);
        assert_eq!(
            broken_by(&found),
            [("p1 was given token 1:4 after 1:5", None), ("p1 was given token 1:5 after 1:5", None)]
        );
    }

    #[test]
    fn sharers_come_in_any_order_but_behind_those_who_held_it_alone() {
        let share = |p, token| shares_as(p, "/lock/a-read-0000000000", Some(token));
        let found =
            findings(TokensIncrease::of(LOCK), vec![grant(0, 3), share(1, 6), share(2, 5), grant(0, 5)]);
        assert_eq!(broken_by(&found), [("p0 was given token 1:5 after 1:6", None)]);
        let found = findings(TokensIncrease::of(LOCK), vec![grant(0, 3), share(1, 2)]);
        assert_eq!(broken_by(&found), [("p1 was given token 1:2 after 1:3", None)]);
    }

    #[test]
    fn higher_tokens_are_tests_it_passes() {
        let found = findings(TokensIncrease::of(LOCK), vec![grant(0, 5), grant(1, 6), grant(0, 9)]);
        assert_eq!(found, [Finding::Tested, Finding::Tested]);
    }

    #[test]
    fn a_grant_learnt_after_an_administrator_took_it_is_expected() {
        let loses = vec![opened(0), deleted("/lock/a-lock-0000000000", 99, 0)];
        let found = findings(TokensIncrease::of(LOCK), [loses, vec![grant(1, 6), grant(0, 5)]].concat());
        assert_eq!(broken_by(&found)[0].1, Some(Assumption::NoAdministrator));
    }

    #[test]
    fn a_grant_learnt_after_an_actor_took_it_is_none() {
        let loses = vec![opened(0), opened(1), deleted("/lock/a-lock-0000000000", 1, 0)];
        let found = findings(TokensIncrease::of(LOCK), [loses, vec![grant(1, 6), grant(0, 5)]].concat());
        assert_eq!(broken_by(&found)[0].1, None);
    }

    #[test]
    fn a_grant_learnt_after_the_session_has_ended_does_not_count() {
        let found = findings(TokensIncrease::of(LOCK), vec![closed(0), grant(1, 6), grant(0, 5)]);
        assert_eq!(found, []);
    }

    /// A lease that is taken over by a write to its znode was blamed if the former holder had a slow answer.
    #[test]
    fn who_tells_late_of_what_it_wrote_before_it_was_written_over_was_granted_it_before() {
        let both =
            || vec![opened(0), opened(1), attempts(0), attempts(1), sets(LOCK, 0, 2), sets(LOCK, 1, 3)];
        let judge = |then: Vec<Event>| {
            broken_by(&findings(TokensIncrease::of(LOCK), [both(), vec![grant(1, 3)], then].concat())).len()
        };
        assert_eq!(judge(vec![grant(0, 2)]), 0);
        assert_eq!(judge(vec![grant(0, 2), grant(0, 2)]), 1, "it was granted that before");
        assert_eq!(judge(vec![attempts(0), grant(0, 2)]), 1, "it has asked anew");
        assert_eq!(judge(vec![grant(0, 3)]), 1, "it is another's");
        let (lock, node, token) = ("/b".into(), "".into(), Some(Zxid::new(1, 2)));
        let of_another =
            Event::Observed { actor: actor(0), what: Observation::Granted { lock, node, token } };
        assert_eq!(judge(vec![of_another, grant(0, 2)]), 0, "it was granted another lock");
        let not_over = vec![released(1), attempts(1), sets(LOCK, 1, 4), grant(0, 5), grant(1, 4)];
        assert_eq!(judge(not_over), 1, "nobody has written it over");
    }

    #[test]
    fn a_token_of_another_lock_is_no_matter() {
        let of_another =
            Observation::Granted { lock: "/other".into(), node: "".into(), token: Some(Zxid::new(1, 4)) };
        let of_another = Event::Observed { actor: actor(1), what: of_another };
        assert_eq!(findings(TokensIncrease::of(LOCK), vec![grant(0, 5), of_another]), []);
    }
}

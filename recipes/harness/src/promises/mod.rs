//! The promises there are, in one file each, or in one for a family that shares code.
//!
//! Each is set up for one znode: that which stands for a lock or a barrier, or holds the contenders or items.
//! Sessions are known from [`GroundTruth::SessionOpened`](crate::event::GroundTruth::SessionOpened): an engine must
//! tell it for every actor, or every other session is taken for an administrator's.
//!
//! | promises | of what |
//! |---|---|
//! | [`of_fenced_lock`], [`of_fair_lock`], [`of_shared_lock`] | all that such a lock owes |
//! | [`of_commitment`], [`of_published_commitment`] | all that such a protocol owes |
//! | [`of_queue`], [`of_membership`], [`of_configuration`] | what every queue, group or configuration owes |
//! | [`ExclusionAmongLiveSessions`], [`ExclusionAtResource`], [`TokensIncrease`] | locks and elections: safety |
//! | [`Fifo`], [`OneWokenPerDeletion`], [`NoForeignDelete`], [`NoOrphanZnode`] | lines of contenders |
//! | [`SharersMeet`], [`SharersWakeTogether`], [`RevocationHeeded`], [`TrySucceedsUncontended`] | kinds of locks |
//! | [`SequencerNamesAHolder`] | sequencers |
//! | [`AnnouncedLeaderLed`], [`OneTermPerElection`], [`StopsAtLoss`] | leaders |
//! | [`BarrierHolds`], [`BarrierReleases`], [`NoOpeningMissed`], [`RaisedAsTold`] | barriers |
//! | [`EntersTogether`], [`LeavesTogether`], [`RoundsDoNotMix`], [`BarrierOpens`], [`WokenWhenDue`] | double barriers |
//! | [`NothingLost`], [`TakenOnce`], [`TakesInOrder`], [`QueueProgress`] | queues |
//! | [`Agreement`], [`CommitValidity`], [`AbortValidity`], [`Irrevocability`], [`VotersLearn`] | atomic commitment |
//! | [`AbortsEarly`], [`ContentReaches`], [`NoOrphanTransaction`] | the same, beyond what every protocol promises |
//! | [`Views`], [`LiveMembersListed`], [`LeaversUnlisted`] | what readers see; groups |
//! | [`CountsEachOnce`] | counters |
//! | [`NoWaiterStuck`](struct@NoWaiterStuck), [`NoFailure`](struct@NoFailure) | the [standard](STANDARD) ones |
//! | [`SessionEndNoticed`], [`NoSecondZnode`], [`NoLitter`], [`NoPolling`] | the other standard ones |
//! | [`NothingLeftBehind`] | znodes after the end |
//! | [`TellsInOrder`] | the words of actors |
//! | [`Undisturbed`], [`Measured`] | other promises, with an assumption added |
//! | [`Owed`] | promises of a program, as the command line names them |
//!
//! ```
//! use zk_api::SessionId;
//! use zk_harness::event::{ActorId, Event, GroundTruth, Observation};
//! use zk_harness::promise::{Finding, Promise};
//! use zk_harness::promises::ExclusionAmongLiveSessions;
//!
//! let (mut promise, mut found) = (ExclusionAmongLiveSessions::of("/lock"), Vec::new());
//! for process in 0..2 {
//!     let actor = ActorId { process, life: 0, thread: 0 };
//!     let session = SessionId::new(i64::from(process) + 1);
//!     promise.see(&Event::Is(GroundTruth::SessionOpened { session, actor }), &mut found);
//!     let what = Observation::Granted { lock: "/lock".into(), node: "".into(), token: None };
//!     promise.see(&Event::Observed { actor, what }, &mut found);
//! }
//! let Some(Finding::Broken(violation)) = found.last() else { panic!("{found:?}") };
//! assert_eq!(violation.what, "p1 holds /lock while p0 still holds it");
//! ```

mod abort_validity;
mod aborts_early;
mod agreement;
mod announced_leader_led;
mod barrier;
mod by_recipe;
mod commit_validity;
mod commitment;
mod content_reaches;
mod counts_each_once;
mod double_barrier;
mod exclusion_among_live_sessions;
mod exclusion_at_resource;
mod fifo;
mod findings;
mod irrevocability;
mod leavers_unlisted;
mod live_members_listed;
mod measured;
mod no_failure;
mod no_foreign_delete;
mod no_litter;
mod no_orphan_transaction;
mod no_orphan_znode;
mod no_polling;
mod no_second_znode;
mod no_waiter_stuck;
mod nothing_left_behind;
mod one_term_per_election;
mod one_woken_per_deletion;
mod owed;
mod queue;
mod revocation_heeded;
mod sequencer_names_a_holder;
mod session_end_noticed;
mod sharers_meet;
mod sharers_wake_together;
mod standard;
mod stops_at_loss;
mod tells_in_order;
mod tokens_increase;
mod try_succeeds_uncontended;
mod undisturbed;
mod views;
mod voters_learn;
mod woken_when_due;

pub use abort_validity::AbortValidity;
pub use aborts_early::AbortsEarly;
pub use agreement::Agreement;
pub use announced_leader_led::AnnouncedLeaderLed;
pub use barrier::{BarrierHolds, BarrierReleases, NoOpeningMissed, RaisedAsTold};
pub use by_recipe::{
    of_commitment, of_configuration, of_fair_lock, of_fenced_lock, of_lock, of_membership,
    of_published_commitment, of_queue, of_shared_lock, without_tokens,
};
pub use commit_validity::CommitValidity;
pub use content_reaches::ContentReaches;
pub use counts_each_once::CountsEachOnce;
pub use double_barrier::{BarrierOpens, EntersTogether, LeavesTogether, RoundsDoNotMix};
pub use exclusion_among_live_sessions::ExclusionAmongLiveSessions;
pub use exclusion_at_resource::ExclusionAtResource;
pub use fifo::Fifo;
pub use irrevocability::Irrevocability;
pub use leavers_unlisted::LeaversUnlisted;
pub use live_members_listed::LiveMembersListed;
pub use measured::Measured;
pub use no_failure::NoFailure;
pub use no_foreign_delete::NoForeignDelete;
pub use no_litter::NoLitter;
pub use no_orphan_transaction::NoOrphanTransaction;
pub use no_orphan_znode::NoOrphanZnode;
pub use no_polling::{NO_POLLING, NoPolling};
pub use no_second_znode::NoSecondZnode;
pub use no_waiter_stuck::NoWaiterStuck;
pub use nothing_left_behind::NothingLeftBehind;
pub use one_term_per_election::OneTermPerElection;
pub use one_woken_per_deletion::OneWokenPerDeletion;
pub use owed::Owed;
pub use queue::{NothingLost, QueueProgress, TakenOnce, TakesInOrder};
pub use revocation_heeded::RevocationHeeded;
pub use sequencer_names_a_holder::SequencerNamesAHolder;
pub use session_end_noticed::SessionEndNoticed;
pub use sharers_meet::SharersMeet;
pub use sharers_wake_together::SharersWakeTogether;
pub use standard::{STANDARD, with_standard};
pub use stops_at_loss::StopsAtLoss;
pub use tells_in_order::{DONE, OF_LOCKS, Order, START, TellsInOrder};
pub use tokens_increase::TokensIncrease;
pub use try_succeeds_uncontended::TrySucceedsUncontended;
pub use undisturbed::Undisturbed;
pub use views::{Of, Views, shown};
pub use voters_learn::VotersLearn;
pub use woken_when_due::WokenWhenDue;
pub use zk_recipes::OnDisconnect;
pub use zk_recipes::queue::Delivery;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_more_ground_truth_than_is_known_outside_is_not_judged_from_outside() {
        let names = |judged| {
            let all = of_fenced_lock("/lock").into_iter();
            let some = all.filter(|promise| promise.terms().judged_from_outside == judged);
            some.map(|promise| promise.name()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(false), "fifo one-woken-per-deletion no-foreign-delete");
        let judged = "exclusion-among-live-sessions exclusion-at-fenced-resource exclusion-at-unfenced-resource \
                      tokens-increase no-waiter-stuck no-orphan-znode no-failure";
        assert_eq!(names(true), judged);
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Events in short: actor `n` has the session `n + 1`.

    use crate::event::{ActorId, End, Event, GroundTruth, Observation, Resource};
    use crate::promise::{Assumption, Finding, Promise, Rest};
    use zk_api::{EventType, SessionId, Zxid};

    pub const LOCK: &str = "/lock";
    /// In the place of an administrator's or of nobody's process.
    pub const ADMIN: u16 = 99;
    pub const NOBODY: u16 = 98;

    pub fn actor(process: u16) -> ActorId {
        ActorId { process, life: 0, thread: 0 }
    }

    pub fn session(process: u16) -> SessionId {
        SessionId::new(i64::from(process) + 1)
    }

    fn says(process: u16, what: Observation) -> Event {
        Event::Observed { actor: actor(process), what }
    }

    /// The same, of another thread of its process.
    pub fn by_thread(thread: u8, event: Event) -> Event {
        match event {
            Event::Observed { actor, what } => Event::Observed { actor: actor.of_thread(thread), what },
            event @ Event::Is(_) => event,
        }
    }

    pub fn notes(p: u16, what: &str, about: &str) -> Event {
        says(p, Observation::note(crate::words::Word::own(what), about, 2))
    }
    pub fn opened(p: u16) -> Event {
        Event::Is(GroundTruth::SessionOpened { session: session(p), actor: actor(p) })
    }
    /// Another one.
    pub fn opened_anew(p: u16) -> Event {
        Event::Is(GroundTruth::SessionOpened { session: session(7), actor: actor(p) })
    }
    pub fn closed(p: u16) -> Event {
        Event::Is(GroundTruth::SessionClosed { session: session(p), actor: actor(p), expired: true })
    }
    /// By its own client.
    pub fn closes(p: u16) -> Event {
        Event::Is(GroundTruth::SessionClosed { session: session(p), actor: actor(p), expired: false })
    }
    pub fn crashed(p: u16) -> Event {
        Event::Is(GroundTruth::Crashed { actor: actor(p) })
    }
    pub fn attempts(p: u16) -> Event {
        says(p, Observation::Attempts { lock: LOCK.into() })
    }
    pub fn granted(p: u16) -> Event {
        granted_as(p, "/lock/a-lock-0000000000", None)
    }
    pub fn granted_as(p: u16, node: &str, token: Option<u32>) -> Event {
        let token = token.map(|counter| Zxid::new(1, counter));
        says(p, Observation::Granted { lock: LOCK.into(), node: node.into(), token })
    }
    pub fn shares(p: u16) -> Event {
        shares_as(p, "/lock/a-read-0000000000", None)
    }
    pub fn shares_as(p: u16, node: &str, token: Option<u32>) -> Event {
        let token = token.map(|counter| Zxid::new(1, counter));
        says(p, Observation::Shares { lock: LOCK.into(), node: node.into(), token })
    }
    pub fn gives_up(p: u16) -> Event {
        says(p, Observation::GivesUp { lock: LOCK.into(), why: "".into() })
    }
    pub fn enters(p: u16) -> Event {
        says(p, Observation::Enters { lock: LOCK.into() })
    }
    pub fn leaves(p: u16) -> Event {
        says(p, Observation::Leaves { lock: LOCK.into() })
    }
    pub fn released(p: u16) -> Event {
        says(p, Observation::Released { lock: LOCK.into() })
    }
    pub fn finished(p: u16) -> Event {
        Event::Is(GroundTruth::Finished { actor: actor(p), end: End::Done })
    }
    pub fn created(path: &str, p: u16) -> Event {
        let (path, by) = (path.into(), session(p));
        Event::Is(GroundTruth::NodeCreated { path, by, owner: by, czxid: Zxid::new(1, 1) })
    }
    /// By an actor or [`ADMIN`]; owned by an actor or [`NOBODY`].
    pub fn deleted(path: &str, by: u16, owner: u16) -> Event {
        gone(path, session(by), owner)
    }
    /// With its session.
    pub fn vanished(path: &str, owner: u16) -> Event {
        gone(path, SessionId::NONE, owner)
    }
    fn gone(path: &str, by: SessionId, owner: u16) -> Event {
        let owner = if owner == NOBODY { SessionId::NONE } else { session(owner) };
        Event::Is(GroundTruth::NodeDeleted { path: path.into(), by, owner, zxid: None })
    }
    pub fn fired(path: &str, kind: EventType, woken: &[u16]) -> Event {
        let woken = woken.iter().map(|p| actor(*p)).collect();
        Event::Is(GroundTruth::Fired { path: path.into(), kind, woken })
    }
    /// By somebody else's session.
    pub fn asked_back(path: &str) -> Event {
        let (path, by, owner, mzxid) = (path.into(), session(50), session(0), Zxid::new(1, 9));
        Event::Is(GroundTruth::NodeWritten { path, by, owner, data: "unlock".into(), mzxid })
    }
    /// Writes into a znode that stays.
    pub fn sets(path: &str, by: u16, counter: u32) -> Event {
        let (by, mzxid) = (session(by), Zxid::new(1, counter));
        let (path, owner, data) = (path.into(), SessionId::NONE, by.to_string().as_str().into());
        Event::Is(GroundTruth::NodeWritten { path, by, owner, data, mzxid })
    }
    pub fn wrote(resource: Resource, p: u16, accepted: bool) -> Event {
        Event::Is(GroundTruth::Wrote { resource, actor: actor(p), token: None, accepted })
    }

    /// What a promise finds in these events: the same if threads do it all beside the main ones.
    pub fn findings(promise: impl Promise, events: Vec<Event>) -> Vec<Finding> {
        let by_threads = in_threads(&events).collect();
        let found = seen(&mut promise.clone(), events);
        assert_same(&found, &seen(&mut promise.clone(), by_threads));
        found
    }

    /// What a promise finds at rest after these events, where whoever is unfinished has a session: the same if threads
    /// do it all beside the main ones.
    pub fn resting(promise: impl Promise, events: Vec<Event>, rest: &Rest) -> Vec<Finding> {
        let by_threads = in_threads(&events).collect();
        let mut live = rest.clone();
        live.sessions.extend(rest.unfinished.iter().map(|actor| (session(actor.process), *actor)));
        let found = found_at_rest(promise.clone(), events, &live);
        assert_same(&found, &found_at_rest(promise, by_threads, &live));
        found
    }

    fn seen(promise: &mut impl Promise, events: Vec<Event>) -> Vec<Finding> {
        let mut found = Vec::new();
        for event in events {
            promise.see(&event, &mut found);
        }
        found
    }

    fn found_at_rest(mut promise: impl Promise, events: Vec<Event>, rest: &Rest) -> Vec<Finding> {
        seen(&mut promise, events);
        let mut found = Vec::new();
        promise.at_rest(rest, &mut found);
        found
    }

    const THREAD: u8 = 77;

    /// The same events, where a thread of each process does what its main one does, and ends before that.
    fn in_threads(events: &[Event]) -> impl Iterator<Item = Event> {
        events.iter().cloned().flat_map(|event| match event {
            Event::Is(GroundTruth::Wrote { resource, actor, token, accepted }) if actor.thread == 0 => {
                let actor = actor.of_thread(THREAD);
                vec![Event::Is(GroundTruth::Wrote { resource, actor, token, accepted })]
            }
            Event::Is(GroundTruth::Finished { actor, .. }) => {
                vec![Event::Is(GroundTruth::ThreadEnded { actor: actor.of_thread(THREAD) }), event]
            }
            Event::Observed { actor, .. } if actor.thread == 0 => vec![by_thread(THREAD, event)],
            event => vec![event],
        })
    }

    /// For whose deed an assumption is violated, of several threads nobody knows.
    fn assert_same(found: &[Finding], by_threads: &[Finding]) {
        let told = |found: &[Finding]| {
            let mut found = found.to_vec();
            for finding in &mut found {
                if let Finding::Broken(violation) = finding {
                    violation.violated_assumption = None;
                }
            }
            format!("{found:?}")
        };
        assert_eq!(told(found), told(by_threads).replace(&format!("/{THREAD}"), ""), "in threads");
    }

    pub fn broken_by(found: &[Finding]) -> Vec<(&str, Option<Assumption>)> {
        found
            .iter()
            .filter_map(|finding| match finding {
                Finding::Tested => None,
                Finding::Broken(violation) => Some((&*violation.what, violation.violated_assumption)),
            })
            .collect()
    }
}

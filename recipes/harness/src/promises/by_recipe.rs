//! All that a kind of recipe promises: a lock, a queue, a group, a configuration, or a protocol of atomic commitment.

use super::{
    AbortValidity, AbortsEarly, Agreement, CommitValidity, ContentReaches, ExclusionAmongLiveSessions,
    ExclusionAtResource, Fifo, Irrevocability, LeaversUnlisted, LiveMembersListed, NoFailure,
    NoForeignDelete, NoOrphanTransaction, NoOrphanZnode, NoWaiterStuck, NothingLost, Of, OneWokenPerDeletion,
    QueueProgress, SharersMeet, SharersWakeTogether, TakenOnce, TakesInOrder, TokensIncrease, Undisturbed,
    Views, VotersLearn,
};
use crate::promise::AnyPromise;
use zk_recipes::queue::Delivery;

/// The ten promises of a fair lock with tokens, in the order of the reports.
pub fn of_fenced_lock(lock: &'static str) -> Vec<Box<dyn AnyPromise>> {
    of_lock(lock, vec![Box::new(Fifo::of(lock)), Box::new(OneWokenPerDeletion::of(lock))])
}

/// The eleven promises of a fair lock with tokens that can also be shared: a contender that wants it alone has
/// `exclusive` in the name of its znode.
pub fn of_shared_lock(lock: &'static str, exclusive: &'static str) -> Vec<Box<dyn AnyPromise>> {
    let of_line: Vec<Box<dyn AnyPromise>> = vec![
        Box::new(Fifo::of_shared(lock, exclusive)),
        Box::new(SharersWakeTogether::of(lock, exclusive)),
        Box::new(SharersMeet::of(lock, exclusive)),
    ];
    of_lock(lock, of_line)
}

/// The eight promises of a fair lock without tokens.
pub fn of_fair_lock(lock: &'static str) -> Vec<Box<dyn AnyPromise>> {
    without_tokens(of_fenced_lock(lock))
}

/// What every lock with tokens promises, with what it promises of the line in which its contenders stand.
pub fn of_lock(lock: &'static str, of_line: Vec<Box<dyn AnyPromise>>) -> Vec<Box<dyn AnyPromise>> {
    let mut all: Vec<Box<dyn AnyPromise>> = vec![
        Box::new(ExclusionAmongLiveSessions::of(lock)),
        Box::new(ExclusionAtResource::fenced(lock)),
        Box::new(ExclusionAtResource::unfenced(lock)),
        Box::new(TokensIncrease::of(lock)),
    ];
    all.extend(of_line);
    all.push(Box::new(NoWaiterStuck));
    all.push(Box::new(NoOrphanZnode::of(lock)));
    all.push(Box::new(NoForeignDelete::of(lock)));
    all.push(Box::new(Undisturbed::of(NoFailure).sparing(lock)));
    all
}

/// What is left of these where no tokens are given.
pub fn without_tokens(mut all: Vec<Box<dyn AnyPromise>>) -> Vec<Box<dyn AnyPromise>> {
    all.retain(|promise| !["exclusion-at-fenced-resource", "tokens-increase"].contains(&promise.name()));
    all
}

/// The six promises of every queue whose items are below this znode.
pub fn of_queue(items: &'static str, delivery: Delivery) -> Vec<Box<dyn AnyPromise>> {
    vec![
        Box::new(Undisturbed::of(NothingLost::of(items, delivery)).sparing(items)),
        Box::new(Undisturbed::of(TakenOnce::of(items, delivery))),
        Box::new(Undisturbed::of(TakesInOrder::of(items))),
        Box::new(Undisturbed::of(QueueProgress::of(items, delivery))),
        Box::new(Undisturbed::of(NoWaiterStuck::while_all_live())),
        Box::new(Undisturbed::of(NoFailure).sparing(items)),
    ]
}

/// The ten promises of atomic commitment: agreement, the two validities, that nothing is revoked, that every live site
/// decides, that none gives up, that nobody fails, that contents reach the sites, that one vote to abort is enough, and
/// that transactions are removed.
pub fn of_commitment(root: &'static str, sites: &'static str) -> Vec<Box<dyn AnyPromise>> {
    let mut all = of_published_commitment(root, sites);
    all.push(Box::new(Undisturbed::of(ContentReaches::of(root)).within(root)));
    all.push(Box::new(Undisturbed::of(AbortsEarly::of(root)).within(root)));
    all.push(Box::new(Undisturbed::of(NoOrphanTransaction::of(root)).within(root)));
    all
}

/// As [`of_commitment`], without the last three: published protocols do not say who removes what.
///
/// After an administrator's change of a transaction, its violations are expected. Deleting a site's presence counts for
/// the rest of the site's life, and only aborts are expected after it.
pub fn of_published_commitment(root: &'static str, sites: &'static str) -> Vec<Box<dyn AnyPromise>> {
    with_abort_validity(root, AbortValidity::of(root, sites))
}

/// The same, of sites that show in a way of their own that they are there.
pub(super) fn with_abort_validity(root: &'static str, validity: AbortValidity) -> Vec<Box<dyn AnyPromise>> {
    vec![
        Box::new(Undisturbed::of(Agreement::of(root)).within(root)),
        Box::new(Undisturbed::of(CommitValidity::of(root)).within(root)),
        Box::new(Undisturbed::of(Irrevocability::of(root)).within(root)),
        Box::new(Undisturbed::of(validity)),
        Box::new(Undisturbed::of(NoWaiterStuck).within(root)),
        Box::new(Undisturbed::of(VotersLearn::of(root)).within(root)),
        Box::new(Undisturbed::of(NoFailure).within(root)),
    ]
}

/// The eight promises of a group whose members are the children of this znode.
pub fn of_membership(group: &'static str) -> Vec<Box<dyn AnyPromise>> {
    let mut all = of_views(group, Of::Names);
    // Who is through with its rounds keeps itself listed no more.
    all.push(Box::new(Undisturbed::of(LiveMembersListed::of(group))));
    all.push(Box::new(LeaversUnlisted::of(group)));
    all.extend(of_readers(group));
    all
}

/// The six promises of a configuration whose values are the children of this znode.
pub fn of_configuration(config: &'static str) -> Vec<Box<dyn AnyPromise>> {
    let mut all = of_views(config, Of::Values);
    all.extend(of_readers(config));
    all
}

fn of_views(root: &'static str, of: Of) -> Vec<Box<dyn AnyPromise>> {
    vec![
        Box::new(Views::committed(root, of)),
        Box::new(Views::untorn(root, of)),
        Box::new(Views::monotone(root, of)),
        Box::new(Views::fresh(root, of)),
    ]
}

fn of_readers(root: &'static str) -> [Box<dyn AnyPromise>; 2] {
    [
        Box::new(Undisturbed::of(NoWaiterStuck::while_all_live())),
        Box::new(Undisturbed::of(NoFailure).sparing(root)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_promises_what_it_says() {
        let names = |all: Vec<Box<dyn AnyPromise>>| {
            all.iter().map(|promise| promise.name()).collect::<Vec<_>>().join(" ")
        };
        let safe = "exclusion-among-live-sessions exclusion-at-fenced-resource exclusion-at-unfenced-resource \
                    tokens-increase";
        let without = "exclusion-among-live-sessions exclusion-at-unfenced-resource";
        let fair = "fifo one-woken-per-deletion";
        let shared = "fifo sharers-wake-together sharers-meet";
        let rest = "no-waiter-stuck no-orphan-znode no-foreign-delete no-failure";
        assert_eq!(names(of_fenced_lock("/lock")), format!("{safe} {fair} {rest}"));
        assert_eq!(names(of_fair_lock("/lock")), format!("{without} {fair} {rest}"));
        assert_eq!(names(of_shared_lock("/lock", "-write-")), format!("{safe} {shared} {rest}"));
        let queue = "nothing-lost taken-once takes-in-order queue-progress no-waiter-stuck no-failure";
        assert_eq!(names(of_queue("/queue", Delivery::AtLeastOnce)), queue);
        let views = "committed-reads no-torn-reads monotone-reads fresh-at-rest";
        let group = "live-members-listed leavers-unlisted no-waiter-stuck no-failure";
        assert_eq!(names(of_membership("/group")), format!("{views} {group}"));
        assert_eq!(names(of_configuration("/config")), format!("{views} no-waiter-stuck no-failure"));
        let published = "agreement commit-validity irrevocability abort-validity no-waiter-stuck voters-learn \
                         no-failure";
        assert_eq!(names(of_published_commitment("/tx", "/sites")), published);
        let ours = format!("{published} content-reaches aborts-early no-orphan-transaction");
        assert_eq!(names(of_commitment("/tx", "/sites")), ours);
    }
}

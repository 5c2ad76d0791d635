//! The interesting cases that a run can reach, and what it takes: so that those that no run reached can be named.

use crate::scenario::{Faults, Scenario};

/// A case, and whether the scenario has the faults that lead there.
type Case = (&'static str, fn(&Scenario) -> bool);

/// The cases that the faults of a scenario can lead to. Which a seed reaches is a matter of chance; one that no seed of
/// many reaches is worth a look.
pub fn cases(scenario: &Scenario) -> impl Iterator<Item = &'static str> {
    CASES.iter().filter(|(_, can)| can(scenario)).map(|(name, _)| *name)
}

fn several(s: &Scenario) -> bool {
    s.servers > 1
}

fn crashes(f: &Faults) -> bool {
    f.server_crashes + f.leader_crashes > 0
}

/// What any trial comes to under these faults is not asked here, so what takes a trial of a certain kind (who holds,
/// who looks at another's znode) is not expected of all.
const CASES: [Case; 75] = [
    ("a client's clock jumped", |s| s.faults.clock_jump_ms > 0),
    ("a disk was spared, or less than a quorum would have been whole", |s| {
        s.faults.disk_rot > 0 && several(s)
    }),
    ("a later part of a write survived an earlier one", |s| s.faults.disk_reorder && crashes(&s.faults)),
    ("a ready task stood still", |_| false),
    ("a request was longer than a server takes", |_| false),
    ("a server lacked nothing though its disk had rotten", |s| s.faults.disk_rot > 0 && several(s)),
    ("a server stayed out for good, as too many disks had rotten", |_| false),
    ("a server stayed out, as its disk had rotten", |s| s.faults.disk_rot > 0 && several(s)),
    ("a server that stayed out was given another's files", |s| s.faults.disk_rot > 0 && several(s)),
    ("a server was behind at the end", |_| false),
    ("a stranger asked for a session", |s| s.faults.strangers > 0),
    ("an administrator deleted a holder's znode", |_| false),
    ("an administrator deleted a znode", |s| s.faults.admin_deletes > 0),
    ("an administrator wrote to a znode", |s| s.faults.admin_writes > 0),
    ("answer arrived after its server's crash", |s| crashes(&s.faults)),
    ("answer lost after commit", |s| s.faults.drops > 0),
    ("bits of a disk rotted", |s| s.faults.disk_rot > 0),
    ("connection dropped at a request", |s| s.faults.drops > 0),
    ("connection went silent", |s| s.faults.drops > 0),
    ("crashed at an operation of the disk", |_| false),
    ("crashed in the middle of a sync", |s| crashes(&s.faults)),
    ("crashed while holding", |s| s.faults.client_crashes > 0),
    ("datagram between servers lost", several),
    ("datagram between servers repeated", several),
    ("disk-intact failed: a server's disk silently lacked what was durable", |s| {
        s.faults.disk_rot > 0 && several(s)
    }),
    ("fault: admin-delete", |s| s.faults.admin_deletes > 0),
    ("fault: admin-write", |s| s.faults.admin_writes > 0),
    ("fault: client-crash", |s| s.faults.client_crashes > 0),
    ("fault: client-pause", |s| s.faults.client_pauses > 0),
    ("fault: clock-jump", |s| s.faults.clock_jump_ms > 0),
    ("fault: clock-skew", |s| s.faults.clock_skew_permille > 0),
    ("fault: disk-error", |s| s.faults.disk_errors > 0),
    ("fault: disk-full", |s| s.faults.disk_full > 0),
    ("fault: disk-rot", |s| s.faults.disk_rot > 0),
    ("fault: drop", |s| s.faults.drops > 0),
    ("fault: expire", |s| s.faults.expiries > 0),
    ("fault: expire-owner", |s| s.faults.expiries > 0),
    ("fault: leader-crash", |s| s.faults.leader_crashes > 0 && several(s)),
    ("fault: leader-pause", |s| s.faults.server_pauses > 0 && several(s)),
    ("fault: link-break", |s| s.faults.link_breaks > 0 && several(s)),
    ("fault: partition", |s| s.faults.partitions > 0 && several(s)),
    ("fault: server-crash", |s| s.faults.server_crashes > 0),
    ("fault: server-lag", |s| s.faults.server_lags > 0 && several(s)),
    ("fault: server-pause", |s| s.faults.server_pauses > 0 && several(s)),
    ("fault: slow-link", |s| s.faults.slow_links > 0),
    ("fault: slow-sync", |s| s.faults.slow_syncs > 0),
    ("fault: stranger", |s| s.faults.strangers > 0),
    ("leader crashed", |s| s.faults.leader_crashes > 0 && several(s)),
    ("leader crashed with a proposal in flight", |s| s.faults.leader_crashes > 0 && several(s)),
    ("leader of a past epoch established", |_| false),
    ("leader paused", |s| s.faults.server_pauses > 0 && several(s)),
    ("learned of expiry while holding", |s| s.faults.expiries > 0),
    ("link between servers broke", |s| s.faults.link_breaks > 0 && several(s)),
    ("link broke behind a leader's state", |_| false),
    ("owner of what was looked at expired", |_| false),
    ("pause outlived the session", |s| s.faults.client_pauses > 0),
    ("paused while holding", |s| s.faults.client_pauses > 0),
    ("request arrived after its client knew of the loss", |s| s.faults.drops > 0),
    ("request lost", |s| s.faults.drops > 0),
    ("server caught up by a snapshot", |_| false),
    ("server lost its leader", |s| s.faults.leader_crashes + s.faults.partitions > 0 && several(s)),
    ("server paused", |s| s.faults.server_pauses > 0 && several(s)),
    ("server restarted", |s| crashes(&s.faults)),
    ("server stopped: its disk failed", |s| s.faults.disk_errors > 0),
    ("server stopped: its disk was full", |s| s.faults.disk_full > 0),
    ("servers were partitioned", |s| s.faults.partitions > 0 && several(s)),
    ("session ended while its actor held the lock", |s| s.faults.expiries + s.faults.client_pauses > 0),
    ("somebody slept on when the run was over: it needs more heal-seconds", |_| false),
    ("somebody was stuck", |_| false),
    ("too many disks were spoiled: nothing was promised, and nothing judged, from then on", |_| false),
    ("torn tail cut", |s| crashes(&s.faults)),
    ("unacknowledged write recovered", |s| crashes(&s.faults)),
    ("unsynced writes lost", |s| crashes(&s.faults)),
    ("write arrived after its writer's death", |s| s.faults.client_crashes > 0),
    ("write arrived after its writer's session had ended", |s| {
        s.faults.expiries + s.faults.client_pauses > 0
    }),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;
    use std::collections::BTreeSet;
    use std::path::Path;
    use strum::VariantNames;

    /// Of those who write, at a resource that only some trials have.
    const OF_SOME_TRIALS: &str = "write travelled for longer than a session timeout";

    #[test]
    fn every_case_of_the_simulator_is_in_the_table_once() {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut said = BTreeSet::new();
        for entry in std::fs::read_dir(&src).expect("the sources") {
            let path = entry.expect("an entry").path();
            if path.ends_with("cases.rs") || path.is_dir() {
                continue;
            }
            let text = std::fs::read_to_string(path).expect("UTF-8");
            for call in text.split(".once(").skip(1) {
                let call = call.split(");").next().expect("the rest of the call");
                said.extend(call.split('"').skip(1).step_by(2).map(String::from));
            }
        }
        said.extend(Fault::VARIANTS.iter().map(|name| name.to_string()));
        let mut known: BTreeSet<String> = CASES.iter().map(|(name, _)| name.to_string()).collect();
        assert_eq!(known.len(), CASES.len(), "no name stands there twice");
        known.insert(OF_SOME_TRIALS.into());
        assert_eq!(said, known);
    }

    #[test]
    fn without_faults_and_with_one_server_nothing_is_expected() {
        let alone = Scenario { servers: 1, observers: 0, faults: Faults::none(), ..Scenario::default() };
        assert_eq!(cases(&alone).count(), 0);
        let three = Scenario::default();
        assert!(cases(&three).any(|case| case == "leader crashed with a proposal in flight"));
    }
}

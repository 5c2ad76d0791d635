//! Acknowledged and synced writes survive: the ghost history that no crash reaches.

use crate::{Invariant, Report};
use std::collections::BTreeMap;
use zk_api::Zxid;
use zk_proto::disk::FileId;

/// What has been promised, and where it is on disk.
#[derive(Debug, Default)]
pub struct Survive {
    /// Proposed, and not yet in a log.
    unlogged: Vec<Zxid>,
    /// In a log up to this length, and not yet synced.
    logged: BTreeMap<Zxid, (FileId, usize)>,
    /// Everything up to here is synced.
    synced: Zxid,
    /// The newest write that was acknowledged.
    acknowledged: Zxid,
}

const NAME: Invariant = Invariant::AcknowledgedWritesSurvive;

impl Survive {
    pub fn proposed(&mut self, zxid: Zxid) {
        self.unlogged.push(zxid);
    }

    pub fn logged(&mut self, file: FileId, end: usize) {
        self.logged.extend(self.unlogged.drain(..).map(|zxid| (zxid, (file, end))));
    }

    pub fn synced(&mut self, synced: FileId, length: usize) {
        while let Some(entry) = self.logged.first_entry() {
            let (file, end) = *entry.get();
            if file != synced || end > length {
                return;
            }
            self.synced = self.synced.max(*entry.key());
            entry.remove();
        }
    }

    /// A transaction is committed. Unless it was recovered from the disk, it must have got there by a sync.
    pub fn committed(&mut self, zxid: Zxid, recovered: bool, report: &mut Report) {
        if recovered {
            self.synced = self.synced.max(zxid);
            return;
        }
        let synced = self.synced;
        report.check(NAME, zxid <= synced, || {
            format!("{zxid} was committed when {synced} was the last synced")
        });
    }

    pub fn acknowledged(&mut self, zxid: Zxid) {
        self.acknowledged = self.acknowledged.max(zxid);
    }

    pub fn crashed(&mut self) {
        self.unlogged.clear();
        self.logged.clear();
    }

    /// A server has recovered everything up to `last`.
    pub fn recovered(&mut self, last: Zxid, report: &mut Report) {
        let (acknowledged, synced) = (self.acknowledged, self.synced);
        report.check(NAME, last >= acknowledged, || {
            format!("{acknowledged} was acknowledged, but only {last} was recovered")
        });
        report.check(NAME, last >= synced, || format!("{synced} was synced, but only {last} was recovered"));
        // What was recovered is on the disk.
        self.synced = self.synced.max(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: FileId = FileId::Log(Zxid::ZERO);

    fn z(counter: u32) -> Zxid {
        Zxid::new(1, counter)
    }

    fn history() -> (Survive, Report) {
        let mut survive = Survive::default();
        survive.proposed(z(1));
        survive.proposed(z(2));
        survive.logged(LOG, 100);
        survive.proposed(z(3));
        survive.logged(LOG, 150);
        survive.synced(LOG, 100);
        (survive, Report::default())
    }

    #[test]
    fn a_right_history_passes() {
        let (mut survive, mut report) = history();
        survive.committed(z(1), false, &mut report);
        survive.committed(z(2), false, &mut report);
        survive.acknowledged(z(2));
        survive.crashed();
        survive.recovered(z(2), &mut report);
        assert!(report.broken.is_empty() && report.by_name()[NAME.name()] == 4);
    }

    #[test]
    fn a_commit_before_its_sync_is_caught() {
        let (mut survive, mut report) = history();
        survive.committed(z(3), false, &mut report);
        assert_eq!(report.broken[0].0, NAME);
    }

    #[test]
    fn a_lost_acknowledged_write_is_caught() {
        let (mut survive, mut report) = history();
        survive.acknowledged(z(2));
        survive.recovered(z(1), &mut report);
        assert!(report.broken[0].1.contains("1:2 was acknowledged"), "{report:?}");
    }

    #[test]
    fn a_lost_synced_write_is_caught_though_nobody_was_told_of_it() {
        let (mut survive, mut report) = history();
        survive.recovered(z(1), &mut report);
        assert!(report.broken[0].1.contains("1:2 was synced"), "{report:?}");
    }
}

//! Servers' trees are compared with the reference, a few znodes at a time.
//!
//! What a transaction touches is compared as soon as it is applied. As a server may have changed something else, its
//! tree is gone through in rounds as well, [`MOST`] znodes each time that it has applied so many transactions: a
//! difference anywhere is found within a round, and sooner if a client asks for it. Only a server that starts is
//! compared whole, as it has read its whole disk for that, and each server at the end.

use crate::reference::{Reference, compare};
use crate::{Invariant, Report};
use std::collections::BTreeSet;
use zk_api::Text;
use zk_proto::tree::DataTree;
use zk_proto::txn::{Txn, TxnBody};

/// The round goes on each time a server has applied so many transactions.
const EVERY: u64 = 16;

/// By so many znodes: several for each transaction, so that a tree does not grow faster than it is gone through.
const MOST: usize = 128;

/// How far a server's tree is compared.
#[derive(Debug, Default)]
pub struct Round {
    /// How often the server has applied something.
    applied: u64,
    /// What was touched and not compared, as the tree is further already.
    touched: BTreeSet<Text>,
    /// The last znode that the round has compared.
    last: String,
    /// Whether the server has started, and not served since.
    is_new: bool,
}

impl Round {
    /// A server has applied a transaction, which its reference has followed.
    pub fn applied(
        &mut self,
        server: u8,
        tree: &DataTree,
        txn: &Txn,
        touched: BTreeSet<Text>,
        reference: &Reference,
        report: &mut Report,
    ) {
        self.applied += 1;
        self.touched.extend(touched);
        if let TxnBody::SetAcl { path, .. } = &txn.body {
            self.touched.insert(path.clone());
        }
        // More may have been applied in the same step.
        if tree.last_zxid() != txn.zxid {
            return;
        }
        let touched = std::mem::take(&mut self.touched);
        let wrong = touched.iter().find_map(|path| compare::difference_at(reference, tree, path).err());
        if let Some(wrong) = wrong {
            report.broken(Invariant::ServersAgree, format!("s{server}: {wrong}"));
        }
        if self.applied.is_multiple_of(EVERY) {
            self.go_on(server, tree, reference, Invariant::ServersAgree, report);
        }
    }

    /// A server has started, and its reference is at what it shows.
    pub fn started(&mut self) {
        *self = Round { is_new: true, applied: self.applied, ..Round::default() };
    }

    /// A server serves from now on. One that is alone has started just now.
    pub fn serving(
        &mut self,
        server: u8,
        tree: &DataTree,
        is_alone: bool,
        reference: &Reference,
        report: &mut Report,
    ) {
        match std::mem::take(&mut self.is_new) || is_alone {
            true => compare_whole(server, tree, reference, Invariant::AcknowledgedWritesSurvive, report),
            false => self.go_on(server, tree, reference, Invariant::AcknowledgedWritesSurvive, report),
        }
    }

    /// Compares the next znodes of the round.
    fn go_on(
        &mut self,
        server: u8,
        tree: &DataTree,
        reference: &Reference,
        invariant: Invariant,
        report: &mut Report,
    ) {
        let found = compare::difference_behind(reference, tree, &self.last, MOST);
        report.check(invariant, found.is_ok(), || format!("s{server}: {}", found.clone().unwrap_err()));
        self.last = found.ok().flatten().unwrap_or_default();
    }
}

/// Compares the whole tree of a server.
pub fn compare_whole(
    server: u8,
    tree: &DataTree,
    reference: &Reference,
    invariant: Invariant,
    report: &mut Report,
) {
    let difference = compare::difference(reference, tree);
    report.check(invariant, difference.is_none(), || {
        format!("s{server}: {}", difference.clone().unwrap_or_default())
    });
}

//! The servers: who leads, what was executed by any of them, and what each shows to its clients.

use crate::executed::History;
use crate::reference::Reference;
use crate::trees::{self, Round};
use crate::watches::Watches;
use crate::{Invariant, Report, Setup};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zk_api::{AclList, Text, Zxid};
use zk_proto::tree::DataTree;
use zk_proto::txn::{Txn, TxnBody};

/// What a server shows to its clients.
#[derive(Debug, Default)]
pub struct View {
    /// At what the server has applied. `None` for a server that is alone: then it is the newest.
    pub reference: Option<Reference>,
    /// The epoch it leads.
    epoch: u32,
    pub watches: Watches,
    pub round: Round,
}

/// All servers, one or several.
#[derive(Debug, Default)]
pub struct Ensemble {
    pub setup: Setup,
    /// Before any transaction.
    beginning: Reference,
    /// At the last transaction that any server has applied.
    pub reference: Reference,
    pub history: History,
    pub views: BTreeMap<u8, View>,
    /// The newest epoch, and the server that leads it.
    epoch: u32,
    leader: Option<u8>,
}

impl Ensemble {
    pub fn new(setup: Setup) -> Ensemble {
        Ensemble { setup, ..Ensemble::default() }
    }

    /// Nothing was executed yet, and these znodes are there, each with how many children it is said to have had.
    pub fn begins_with(&mut self, znodes: &[(Text, i32)]) {
        self.beginning = Reference::beginning_with(znodes);
        self.reference = self.beginning.clone();
        self.history = History::behind(self.beginning.clone());
    }

    /// Where the epoch begins that a server leads: it shows that though nothing has happened in it.
    pub fn begun(&self, server: u8) -> Zxid {
        let led = self.views.get(&server).filter(|_| !self.is_alone());
        led.map_or(Zxid::ZERO, |view| Zxid::new(view.epoch, 0))
    }

    /// A server begins to lead an epoch. Tells whether it is the newest: there may be a leader of a later one by now.
    pub fn established(&mut self, server: u8, epoch: u32) -> bool {
        self.views.entry(server).or_default().epoch = epoch;
        let is_newest = epoch >= self.epoch;
        if is_newest {
            (self.epoch, self.leader) = (epoch, Some(server));
        }
        is_newest
    }

    /// A server leads no more.
    pub fn stopped(&mut self, server: u8) {
        self.views.entry(server).or_default().epoch = 0;
    }

    /// Whether a server leads an epoch.
    pub fn leads(&self, server: u8) -> bool {
        self.views.get(&server).is_some_and(|view| view.epoch > 0)
    }

    /// Whether it leads the newest, or did before it went.
    pub fn is_leader(&self, server: u8) -> bool {
        self.leader == Some(server)
    }

    pub fn is_alone(&self) -> bool {
        self.setup.voters + self.setup.observers == 1
    }

    /// A server of an ensemble applies what was executed next behind what it had applied, and nothing else.
    pub fn follow(&mut self, server: u8, txn: &Arc<Txn>, report: &mut Report) -> bool {
        let view = self.views.entry(server).or_default();
        let reference = view.reference.get_or_insert_with(|| self.beginning.clone());
        let next = self.history.after(reference.zxid);
        let agrees = next.is_some_and(|next| next.txn == *txn);
        report.check(Invariant::ServersAgree, agrees, || {
            let next = next.map(|next| &next.txn);
            format!("s{server} applied {txn:?} behind {}, others {next:?}", reference.zxid)
        });
        if let Some(next) = next.filter(|_| agrees) {
            next.execute(reference).ok();
        }
        agrees
    }

    /// What a session owns at a server that is about to end it.
    pub fn owned_by_ended(&self, server: u8, txn: &Txn) -> Vec<Text> {
        match txn.body {
            TxnBody::CloseSession { .. } => {
                self.reference_of(server).owned(txn.session).map(Text::from).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Those that a server knows and that not everybody may read, and who may.
    pub fn private_among(&self, server: u8, paths: &BTreeSet<Text>) -> Vec<(Text, AclList)> {
        let reference = self.reference_of(server);
        paths.iter().filter_map(|path| Some((path.clone(), reference.private(path)?.clone()))).collect()
    }

    /// The reference at what a server has applied.
    pub fn reference_of(&self, server: u8) -> &Reference {
        let view = self.views.get(&server);
        view.and_then(|view| view.reference.as_ref()).unwrap_or(&self.reference)
    }

    /// Compares a server's whole tree.
    pub fn compare_whole(&self, server: u8, tree: &DataTree, invariant: Invariant, report: &mut Report) {
        trees::compare_whole(server, tree, self.reference_of(server), invariant, report);
    }
}

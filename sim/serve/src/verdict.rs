//! What the invariants say of a server that served.

use crate::observer::Judgement;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use zk_invariants::{Invariant, Report};

/// What can be judged from the server's side: all invariants but those that runs of recipes alone have, on spinning
/// tasks and budgets of steps.
///
/// A client's request counts as sent when the server gets it, and an answer as delivered when it is handed to
/// the socket. So real-time order is judged more strictly than it is promised, as ZooKeeper could order requests
/// that are under way together as it likes; a single server keeps the stricter order.
/// Of several servers, what Zab promises is judged as well, under the names of ZooKeeper's specifications.
const JUDGED: [Invariant; 11] = [
    Invariant::AcknowledgedWritesSurvive,
    Invariant::AnswersMatchReference,
    Invariant::RealTimeOrderOfWrites,
    Invariant::ZxidsNeverGoBack,
    Invariant::SessionFifo,
    Invariant::WatchBeforeAnswer,
    Invariant::EphemeralsOfDeadSessionsGone,
    Invariant::NoEarlyExpiry,
    Invariant::NoLateExpiry,
    Invariant::SessionsToOwners,
    Invariant::NoPanic,
];

/// The verdict over everything that was served so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Verdict {
    /// The name of this form, with its version.
    pub schema: &'static str,
    /// Whether no invariant was broken, and no promise.
    pub held: bool,
    /// Each invariant by itself.
    pub invariants: Vec<Judged>,
    /// What was broken; if there were many breaks, the first ones.
    pub broken: Vec<Broken>,
    /// How often interesting cases were met.
    pub cases: BTreeMap<&'static str, u64>,
    /// Requests that clients made, pings included.
    pub requests: u64,
    /// Servers that did not serve when the verdict was asked for: their trees were not compared with what they should
    /// be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<u8>,
    /// What was found of the clients' promises, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promises: Option<Judgement>,
    /// At the end: what is wrong with the record's file, if it is incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_lacks: Option<String>,
}

/// An invariant, and what was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Judged {
    /// Its name.
    pub name: &'static str,
    /// What was found.
    pub verdict: Finding,
    /// How often it was put to the test.
    pub tested: u64,
}

/// What was found of an invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// It was put to the test, and held each time.
    Held,
    /// It was broken.
    Broken,
    /// Nothing happened that could have broken it.
    NotTested,
}

/// Something that was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Broken {
    /// The invariant.
    pub invariant: &'static str,
    /// What happened.
    pub what: String,
}

/// What was found of Zab: how often it was checked, and what was broken.
pub(crate) type ZabJudged<'a> = (u64, &'a BTreeMap<&'static str, String>);

impl Judged {
    fn new(name: &'static str, is_broken: bool, tested: u64) -> Judged {
        let verdict = match (is_broken, tested) {
            (true, _) => Finding::Broken,
            (false, 0) => Finding::NotTested,
            (false, _) => Finding::Held,
        };
        Judged { name, verdict, tested }
    }
}

impl Verdict {
    /// From what the invariants have found, and what was found of the promises.
    pub(crate) fn new(
        report: &Report,
        zab: Option<ZabJudged<'_>>,
        promises: Option<Judgement>,
        requests: u64,
    ) -> Verdict {
        let tested = report.by_name();
        let judge = |invariant: Invariant| {
            let tested = tested.get(invariant.name()).copied().unwrap_or(0);
            let is_broken = report.broken.iter().any(|(broken, _)| *broken == invariant);
            Judged::new(invariant.name(), is_broken, tested)
        };
        let mut invariants: Vec<Judged> = JUDGED.into_iter().map(judge).collect();
        let mut broken: Vec<Broken> = report.broken.iter().map(told).collect();
        if let Some((checks, zab)) = zab {
            invariants.extend([Invariant::ServersAgree, Invariant::SyncShowsCommitted].map(judge));
            let judged = |(name, _)| Judged::new(name, zab.contains_key(name), checks);
            invariants.extend(zk_proto::zab::invariants::ALL.map(judged));
            broken.extend(zab.iter().map(|(invariant, what)| Broken { invariant, what: what.clone() }));
        }
        Verdict {
            schema: "zoocheck-serve-verdict/1",
            held: broken.is_empty() && promises.as_ref().is_none_or(|judgement| judgement.held),
            invariants,
            broken,
            cases: report.cases.clone(),
            requests,
            not_compared: Vec::new(),
            promises,
            record_lacks: None,
        }
    }
}

fn told((invariant, what): &(Invariant, String)) -> Broken {
    Broken { invariant: invariant.name(), what: what.clone() }
}

/// One line for people.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |finding| {
            let found = self.invariants.iter().filter(move |judged| judged.verdict == finding);
            found.map(|judged| judged.name).collect::<Vec<_>>()
        };
        let held = names(Finding::Held).len();
        match self.broken.first() {
            Some(first) => {
                write!(f, "broken: {}; the first: {}", names(Finding::Broken).join(", "), first.what)?
            }
            None => write!(f, "held: {held} of {} invariants", self.invariants.len())?,
        }
        let idle = names(Finding::NotTested);
        if self.broken.is_empty() && !idle.is_empty() {
            write!(f, "; not put to the test: {}", idle.join(", "))?;
        }
        if !self.not_compared.is_empty() {
            let servers: Vec<String> = self.not_compared.iter().map(|id| format!("server {id}")).collect();
            write!(f, "; not compared, as it does not serve: {}", servers.join(", "))?;
        }
        write!(f, "; {} requests", self.requests)?;
        self.promises.iter().try_for_each(|judgement| write!(f, "; {}", judgement.line))
    }
}

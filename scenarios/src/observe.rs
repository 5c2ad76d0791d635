//! What clients of `serve` say they do, judged by the promises that a live run judges.
//!
//! | module | what is in it |
//! |---|---|
//! | `words` | what a client says, read |
//! | `who` | the sessions there are, and what their clients are in the midst of |
//!
//! On an ensemble of somebody else's, a session must prove that it lived before a break counts as a defect. Here the
//! servers tell: each end of a session is an event, in its place among what clients say. Whoever has no such end before
//! a break had a live session then; a break of whoever has one is expected, as in a simulation. The servers also tell
//! what becomes of the ephemeral znodes below those that promises are about.
//!
//! A client must wait for the answer to what it says before it goes on, and say that it leaves before it gives back
//! what it holds: then nobody else can rightly be granted it before that is heard.

mod who;
mod words;

use crate::BadInput;
use crate::run::monitor::Monitor;
use crate::run::{is_unjudged, travel, work};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::future::ready;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use who::Who;
use words::{Said, What};
use zk_api::{CreateMode, Data, SessionId, Text, ZPath, ZooKeeper, Zxid};
use zk_harness::event::{ActorId, End, Event, GroundTruth, Observation, Resource};
use zk_harness::promise::Rest;
use zk_harness::promises::with_standard;
use zk_hosted::Owes;
use zk_reports::{Answer, Happened, LivePromise, LiveReport, Verdict, named};
use zk_serve::{Judgement, Moment, Observer};

/// So many session timeouts without a move, and nobody moves any more.
const STILL: u32 = 4;

/// It takes at least so long: clients wait before they try again what has failed.
const STILL_LEAST: Duration = Duration::from_secs(10);

/// Judges what is told to one ensemble. Another one is the same judge.
#[derive(Clone)]
pub(crate) struct Judge(Arc<Court>);

struct Court {
    owes: Owes,
    monitor: Monitor,
    who: Mutex<Who>,
    driven: Option<Driven>,
    /// Work and writes that are not done.
    under_way: AtomicUsize,
    runtime: Handle,
}

/// What is known of programs that are driven.
#[derive(Clone, Copy)]
pub(crate) struct Driven {
    pub(crate) clients: u16,
    /// How long a piece of work takes, least and most; by default up to a third longer than a session may be silent.
    pub(crate) work: [Duration; 2],
}

/// What it comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Found {
    pub(crate) answer: Answer,
    /// Why what is left was not judged: it may change. Then nothing is called held.
    pub(crate) not_at_rest: Option<String>,
    /// What is owed, as it was said, of which nothing but standard promises can be judged. Then nothing is called held.
    pub(crate) unjudged: Vec<String>,
    pub(crate) happened: Happened,
    pub(crate) promises: Vec<LivePromise>,
    /// Whose each session is, by the names that clients have here.
    pub(crate) sessions: BTreeMap<String, String>,
}

/// What is owed, if anything was typed.
pub(crate) fn owes(promises: &[String]) -> Result<Option<Owes>, BadInput> {
    if promises.is_empty() {
        return Ok(None);
    }
    let owes = Owes::parse(promises.iter().map(String::as_str));
    owes.map(Some).map_err(|why| bad!("--promises: {why}"))
}

/// Makes the znodes that are there from the beginning, as in a simulation.
pub(crate) async fn prepare(promises: &[String], servers: &[SocketAddr]) -> Result<(), BadInput> {
    let Some(owes) = owes(promises)? else { return Ok(()) };
    let servers: Vec<String> = servers.iter().map(SocketAddr::to_string).collect();
    let failed = |why: &dyn fmt::Display| bad!("the znodes of --promises: {why}");
    let zk = zk_live::LiveClient::connect(&servers.join(","), Duration::from_secs(10)).await;
    let zk = zk.map_err(|error| failed(&error))?;
    for path in owes.setup() {
        let path = ZPath::parse(&path).expect("it was parsed before");
        zk.create(&path, Data::NULL, CreateMode::Persistent).await.map_err(|error| failed(&error))?;
    }
    zk.close().await.map_err(|error| failed(&error))
}

impl Judge {
    /// Called where tasks can be started.
    pub(crate) fn new(owes: Owes, driven: Option<Driven>) -> Judge {
        let own: Vec<_> = owes.promises().iter().map(|promise| promise.name()).collect();
        let mut all = with_standard(owes.promises(), &owes.opts_out());
        all.retain(|promise| promise.terms().judged_from_outside || own.contains(&promise.name()));
        Judge(Arc::new(Court {
            monitor: Monitor::new(all, true),
            owes,
            who: Mutex::default(),
            driven,
            under_way: AtomicUsize::new(0),
            runtime: Handle::current(),
        }))
    }

    /// What is known of clients by their numbers, which their processes were given. Nobody is heard while it is held.
    pub(crate) fn who(&self) -> MutexGuard<'_, Who> {
        self.0.who.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sees(&self, event: &Event) {
        // Nobody is asked for a proof of life: the servers tell who has none.
        let _ = self.0.monitor.see(event);
    }

    /// Whether a znode is below one that promises are about.
    fn is_below(&self, path: &Text) -> bool {
        let of = |parent: &&str| path.strip_prefix(*parent).is_some_and(|rest| rest.starts_with('/'));
        self.0.owes.paths().iter().any(of)
    }

    fn tells(&self, who: &mut Who, actor: ActorId, what: Observation) -> Result<(), String> {
        let is_lock = !matches!(
            what,
            Observation::Notes { .. } | Observation::Begins { .. } | Observation::Ends { .. }
        );
        let paths = self.0.owes.paths();
        if is_lock && !paths.contains(&&**what.subject()) {
            let (about, paths) = (what.subject(), paths.join(", "));
            return Err(format!("no promise is about '{about}'; those that are owed are about {paths}"));
        }
        who.hears(actor, &what);
        self.sees(&Event::Observed { actor, what });
        Ok(())
    }

    fn finishes(&self, who: &mut Who, actor: ActorId, end: End) {
        who.finishes(actor, end);
        self.sees(&Event::Is(GroundTruth::Finished { actor: actor.main(), end }));
    }

    /// Something is under way until that is done.
    fn later(&self, done: impl Future<Output = Value> + Send + 'static) -> zk_serve::Answer {
        let judge = self.clone();
        judge.0.under_way.fetch_add(1, Ordering::SeqCst);
        // Of no connection: it comes to its end though its client has gone.
        let task = self.0.runtime.spawn(async move {
            let value = done.await;
            judge.0.under_way.fetch_sub(1, Ordering::SeqCst);
            value
        });
        Box::pin(async move { task.await.unwrap_or(Value::Null) })
    }

    fn writes(&self, actor: ActorId, timeout: Duration, to: (Resource, Option<Zxid>)) -> zk_serve::Answer {
        let judge = self.clone();
        let there = travel(timeout);
        self.later(async move {
            tokio::time::sleep(there).await;
            let (accepted, _) = judge.0.monitor.wrote(actor, to.0, to.1);
            json!({ "client": actor.to_string(), "accepted": accepted })
        })
    }

    /// What is left, if nothing moves any more; why it may still, if not.
    fn rest(&self, who: &Who, moment: &Moment) -> Result<Rest, String> {
        if let Some((actor, about)) = who.midst() {
            return Err(format!("{actor} is in the midst of {about}"));
        }
        if self.0.under_way.load(Ordering::SeqCst) > 0 {
            return Err("somebody works, or a write is on its way".into());
        }
        if !moment.all_serve {
            return Err("a server does not serve".into());
        }
        if let Some(actor) = who.unfinished().find(|(_, session)| !moment.connected.contains(session)) {
            return Err(format!("{} is not connected", actor.0));
        }
        let longest = who.unfinished().map(|(_, session)| who.timeout(session)).max();
        if let Some(timeout) = longest.or(who.may_renew().then_some(Duration::ZERO)) {
            let (still, wanted) = (moment.still_for.min(who.silence()), STILL_LEAST.max(STILL * timeout));
            if still < wanted {
                let [still, wanted] = [still, wanted].map(|time| time.as_secs_f64());
                return Err(format!(
                    "something moved {still:.1} s ago; still is what is so for {wanted:.1} s"
                ));
            }
        }
        let setup = self.0.owes.setup();
        let is_below = |path: &Text| {
            let of = |parent: &Text| path.strip_prefix(&**parent).is_some_and(|rest| rest.starts_with('/'));
            setup.iter().any(of) && !setup.contains(path)
        };
        let nodes = moment.znodes.iter().filter(|(path, _)| is_below(path)).cloned();
        let nodes: Vec<(Text, SessionId)> = nodes.collect();
        if let Some((path, _)) = nodes.iter().find(|(_, owner)| who.may_go(*owner)) {
            return Err(format!("{path} may go by itself: its client is gone, or says nothing"));
        }
        if let Some((path, actor)) =
            nodes.iter().find_map(|(path, owner)| Some((path, who.is_beside(*owner)?)))
        {
            return Err(format!(
                "{path} is of a session that {actor} opened before its former one had ended, and what it is for is not known"
            ));
        }
        // Whoever has something is in the midst of it, so that nobody's watches are asked for.
        Ok(Rest { unfinished: who.waiting(), nodes, sessions: who.open(), ..Rest::default() })
    }

    /// The kinds of which nothing of their own can be judged here.
    fn unjudged(&self) -> Vec<String> {
        let kinds = self.0.owes.kinds().filter(|(_, promises)| {
            is_unjudged(promises.iter().map(|one| (one.name(), one.terms().judged_from_outside)))
        });
        kinds.map(|(kind, _)| kind.to_owned()).collect()
    }

    /// What it comes to so far, if the servers are so at this moment. What is told later counts as before.
    pub(crate) fn found(&self, moment: &Moment) -> Found {
        let who = self.who();
        let monitor = self.0.monitor.copy();
        let rest = self.rest(&who, moment);
        rest.iter().for_each(|rest| monitor.at_rest(rest));
        let mut outcome = monitor.finish();
        // What every program owes need not have had an occasion.
        let own: Vec<_> = self.0.owes.promises().iter().map(|promise| promise.name()).collect();
        outcome.promises.retain(|promise| {
            let is_all_there_is = own.is_empty() && promise.name == "no-failure";
            promise.tested > 0 || own.contains(&&*promise.name) || is_all_there_is
        });
        let unjudged = self.unjudged();
        Found {
            answer: LiveReport::answer_of(&outcome.promises, &[], rest.is_err() || !unjudged.is_empty()),
            not_at_rest: rest.err(),
            unjudged,
            happened: outcome.happened,
            promises: outcome.promises,
            sessions: who.names(),
        }
    }
}

/// What is known of a client by its number, which its process was given.
impl Judge {
    /// How many rounds it has done.
    pub(crate) fn rounds_done(&self, client: u16) -> u64 {
        self.0.monitor.rounds_done(client)
    }

    /// Its process is gone: it came to this end, or was killed.
    pub(crate) fn is_gone(&self, client: u16, end: Option<End>) {
        let mut who = self.who();
        for actor in who.is_gone(client) {
            match end {
                Some(end) => self.finishes(&mut who, actor, end),
                None => self.sees(&Event::Is(GroundTruth::Crashed { actor })),
            }
        }
    }
}

impl Found {
    /// For people, in a line.
    fn line(&self) -> String {
        match self.answer {
            Answer::Held => LiveReport::held_words(&self.promises, &[]),
            Answer::Broken => {
                let names: Vec<&str> = named(&self.promises, Verdict::Broken).collect();
                let mut broken = self.promises.iter().filter(|it| it.verdict == Some(Verdict::Broken));
                let first = broken.find_map(|result| result.first.as_ref());
                let first = first.map(|first| format!("; the first: {}", first.what)).unwrap_or_default();
                format!("promises broken: {}{first}", names.join(", "))
            }
            Answer::Undecided if !self.unjudged.is_empty() => {
                let why = LiveReport::unjudged_words(&self.unjudged, &self.promises);
                format!("promises undecided: {why}")
            }
            Answer::Undecided => match &self.not_at_rest {
                Some(why) => format!("promises undecided: it is not at rest, as {why}"),
                None => format!("promises undecided: {}", zk_reports::open(&self.promises, &[])),
            },
        }
    }
}

impl Observer for Judge {
    fn opened(&self, session: SessionId, timeout_ms: u32) {
        self.who().opened(session, Duration::from_millis(timeout_ms.into()));
    }

    fn closed(&self, session: SessionId, expired: bool) {
        let mut who = self.who();
        if let Some(actor) = who.closed(session, expired) {
            self.sees(&Event::Is(GroundTruth::SessionClosed { session, actor, expired }));
        }
    }

    fn created(&self, path: &Text, by: SessionId, owner: SessionId, zxid: Zxid) {
        let who = self.who();
        if self.is_below(path) && who.is_heard(by) {
            let (path, czxid) = (path.clone(), zxid);
            self.sees(&Event::Is(GroundTruth::NodeCreated { path, by, owner, czxid }));
        }
    }

    fn written(&self, path: &Text, by: SessionId, data: &Data, zxid: Zxid) {
        let who = self.who();
        if (self.is_below(path) || self.0.owes.paths().contains(&&**path)) && who.is_heard(by) {
            let (path, data, mzxid) = (path.clone(), data.clone(), zxid);
            // Whose the znode is decides nothing that is judged here.
            self.sees(&Event::Is(GroundTruth::NodeWritten { path, by, owner: SessionId::NONE, data, mzxid }));
        }
    }

    fn deleted(&self, path: &Text, by: SessionId) {
        let who = self.who();
        if self.is_below(path) {
            // Whoever says nothing may be a client's other session as well: as an administrator's, its deletion would
            // excuse what comes of it. Whose the znode was decides nothing that is judged here.
            let by = if who.is_heard(by) { by } else { SessionId::NONE };
            let (path, zxid) = (path.clone(), None);
            self.sees(&Event::Is(GroundTruth::NodeDeleted { path, by, owner: by, zxid }));
        }
    }

    fn observe(&self, body: &[u8]) -> Result<zk_serve::Answer, String> {
        let Said { session, client, thread, what } = words::read(body)?;
        // What becomes of a process is known by its number.
        if let Some(Driven { clients, .. }) = self.0.driven
            && client.is_none_or(|client| client >= clients)
        {
            return Err(format!("client: expected the number in ZOOCHECK_CLIENT, from 0 to {}", clients - 1));
        }
        let mut who = self.who();
        let actor = who.actor(session, client, &mut |actor, ended| {
            self.0.monitor.begins(actor, session);
            if let Some(expired) = ended {
                self.sees(&Event::Is(GroundTruth::SessionClosed { session, actor, expired }));
            }
        })?;
        let (actor, timeout) = (actor.of_thread(thread), who.timeout(session));
        let name = json!({ "client": actor.to_string() });
        match what {
            // Whose session it is has been taken note of.
            What::Connects => {}
            What::Tells(all) => all.into_iter().try_for_each(|what| self.tells(&mut who, actor, what))?,
            What::Finishes(end) => self.finishes(&mut who, actor, end),
            What::Writes(resource, token) => return Ok(self.writes(actor, timeout, (resource, token))),
            What::Works => {
                let time =
                    work(self.0.driven.map_or([Duration::ZERO, timeout * 4 / 3], |driven| driven.work));
                return Ok(self.later(async move {
                    tokio::time::sleep(time).await;
                    name
                }));
            }
        }
        Ok(Box::pin(ready(name)))
    }

    fn judge(&self, moment: &Moment) -> Judgement {
        let found = self.found(moment);
        Judgement {
            held: found.answer != Answer::Broken,
            is_decided: found.answer != Answer::Undecided,
            line: found.line(),
            told: serde_json::to_value(&found).expect("it has a form in JSON"),
        }
    }
}

impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Judge").field(&self.0.owes.paths()).finish()
    }
}

#[cfg(test)]
mod tests;

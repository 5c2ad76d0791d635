//! What can be asked of a run up to a line: who called last, who changed a znode, who still watches what.

use super::{Call, Deed, Line};
use std::collections::BTreeMap;
use zk_api::{EventType, Request, Response, SessionId, Zxid};
use zk_harness::event::{ActorId, End, Event, GroundTruth, Observation};
use zk_reports::{Mark, named_in};

/// Something that is so, in its line.
type Truth<'a> = (usize, &'a GroundTruth);
/// Something that an actor says, in its line.
type Said<'a> = (usize, ActorId, &'a Observation);
/// A session that is opened, in its line.
type Opened = (usize, ActorId, SessionId);

/// The lines before an end.
#[derive(Clone)]
pub(super) struct Past<'a> {
    lines: &'a [Line],
    owners: BTreeMap<SessionId, ActorId>,
}

/// A change of a znode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change<'a> {
    /// Its line.
    pub(super) line: usize,
    pub(super) path: &'a str,
    pub(super) kind: Changed,
    /// The session that asked for it; `NONE` is the server.
    pub(super) by: SessionId,
    /// Whose ephemeral znode it is.
    pub(super) owner: SessionId,
    pub(super) zxid: Option<Zxid>,
}

/// What a change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    Made,
    Set,
    Gone,
}

/// A watch that has not fired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Watch {
    /// The line of the request that set it.
    pub(super) line: usize,
    pub(super) path: String,
    /// Of the list of its children.
    pub(super) of_children: bool,
}

impl<'a> Past<'a> {
    /// Of these lines.
    pub(super) fn of(lines: &'a [Line]) -> Past<'a> {
        let mut past = Past { lines, owners: BTreeMap::new() };
        let opened = past.truths().filter_map(|(_, truth)| match truth {
            GroundTruth::SessionOpened { session, actor } => Some((*session, *actor)),
            _ => None,
        });
        past.owners = opened.collect();
        past
    }

    /// The same up to a line, without it.
    pub(super) fn before(&self, line: usize) -> Past<'a> {
        Past { lines: &self.lines[..line.min(self.lines.len())], owners: self.owners.clone() }
    }

    /// A line.
    pub(super) fn line(&self, at: usize) -> &'a Line {
        &self.lines[at]
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    fn deeds(&self) -> impl DoubleEndedIterator<Item = (usize, &'a Deed)> + use<'a> {
        let lines = self.lines.iter().enumerate();
        lines.flat_map(|(at, line)| line.deeds.iter().map(move |deed| (at, deed)))
    }

    /// What is so.
    pub(super) fn truths(&self) -> impl DoubleEndedIterator<Item = Truth<'a>> + use<'a> {
        self.deeds().filter_map(|(at, deed)| match deed {
            Deed::Event(Event::Is(truth)) => Some((at, truth)),
            Deed::Event(Event::Observed { .. }) | Deed::Call(_) => None,
        })
    }

    /// What is so of a process: of its sessions, its connections and itself.
    pub(super) fn truths_of(&self, process: u16) -> impl DoubleEndedIterator<Item = Truth<'a>> + use<'a> {
        self.truths().filter(move |(_, truth)| truth.actor().is_some_and(|actor| actor.process == process))
    }

    /// The sessions of a process, each with its life.
    pub(super) fn sessions_of(&self, process: u16) -> impl DoubleEndedIterator<Item = Opened> + use<'a> {
        self.truths_of(process).filter_map(|(line, truth)| match truth {
            GroundTruth::SessionOpened { actor, session } => Some((line, *actor, *session)),
            _ => None,
        })
    }

    /// What processes say.
    pub(super) fn says(&self) -> impl DoubleEndedIterator<Item = Said<'a>> + use<'a> {
        self.deeds().filter_map(|(at, deed)| match deed {
            Deed::Event(Event::Observed { actor, what }) => Some((at, *actor, what)),
            Deed::Event(Event::Is(_)) | Deed::Call(_) => None,
        })
    }

    /// What a process says.
    pub(super) fn says_of(&self, process: u16) -> impl DoubleEndedIterator<Item = Said<'a>> + use<'a> {
        self.says().filter(move |(_, actor, _)| actor.process == process)
    }

    /// The last that a program has printed at that instant.
    pub(super) fn printed(&self, who: &str, at: u64) -> Option<(usize, &'a str)> {
        let lines = self.lines.iter().enumerate().rev().take_while(|(_, line)| line.at == at);
        let own = lines.filter(|(_, line)| line.who == who);
        own.filter_map(|(number, line)| Some((number, line.what.strip_prefix("prints: ")?))).next()
    }

    /// The error of the last traceback that a program has printed.
    pub(super) fn traceback(&self, process: u16) -> Option<(usize, &'a str)> {
        let is_one = |line: &Line| line.what.starts_with("prints: Traceback") && names(&line.who, process);
        let begins = self.lines.iter().rposition(is_one)?;
        let line = &self.lines[begins];
        let end = self.lines.iter().rposition(|other| other.at == line.at)?;
        self.before(end + 1).printed(&line.who, line.at)
    }

    /// The requests of everybody.
    pub(super) fn all_calls(&self) -> impl DoubleEndedIterator<Item = (usize, &'a Call)> + use<'a> {
        self.deeds().filter_map(|(at, deed)| match deed {
            Deed::Call(call) => Some((at, call)),
            Deed::Event(_) => None,
        })
    }

    /// The requests of a process.
    pub(super) fn calls(&self, process: u16) -> impl DoubleEndedIterator<Item = (usize, &'a Call)> + use<'a> {
        self.all_calls().filter(move |(_, call)| call.actor.process == process)
    }

    /// The last request of a process whose answer it had by then, or was to do without.
    pub(super) fn decided_by(&self, process: u16, until: u64) -> Option<(usize, &'a Call)> {
        self.calls(process).rfind(|(_, call)| call.heard.is_some_and(|heard| heard <= until))
    }

    /// Whose session it is; `None` for an administrator's, and the server's own.
    pub(super) fn owner(&self, session: SessionId) -> Option<ActorId> {
        self.owners.get(&session).copied()
    }

    /// Whether the process of a session has opened another one since.
    pub(super) fn has_another(&self, session: SessionId) -> bool {
        let Some(owner) = self.owner(session) else { return false };
        self.sessions_of(owner.process).next_back().is_some_and(|(.., last)| last != session)
    }

    /// Changes of znodes.
    pub(super) fn changes(&self) -> impl DoubleEndedIterator<Item = Change<'a>> + use<'a> {
        self.truths().filter_map(|(line, truth)| {
            let change = |path, kind, by: &SessionId, owner: &SessionId, zxid| {
                let (by, owner) = (*by, *owner);
                Change { line, path, kind, by, owner, zxid }
            };
            Some(match truth {
                GroundTruth::NodeCreated { path, by, owner, czxid } => {
                    change(&**path, Changed::Made, by, owner, Some(*czxid))
                }
                GroundTruth::NodeWritten { path, by, owner, mzxid, .. } => {
                    change(&**path, Changed::Set, by, owner, Some(*mzxid))
                }
                GroundTruth::NodeDeleted { path, by, owner, zxid } => {
                    change(&**path, Changed::Gone, by, owner, *zxid)
                }
                _ => return None,
            })
        })
    }

    /// The last change of a znode, but for data that come with its creation.
    pub(super) fn last_change(&self, path: &str) -> Option<Change<'a>> {
        let mut all = self.changes().filter(|change| change.path == path).rev();
        let last = all.next()?;
        let made = all.next().filter(|_| last.kind == Changed::Set);
        Some(made.filter(|made| made.kind == Changed::Made && made.line == last.line).unwrap_or(last))
    }

    /// The last change of that kind.
    pub(super) fn last(&self, path: &str, kind: Changed) -> Option<Change<'a>> {
        self.changes().rfind(|change| change.path == path && change.kind == kind)
    }

    /// The first deletion of a znode after a line.
    pub(super) fn gone_since(&self, path: &str, line: usize) -> Option<Change<'a>> {
        let is_it =
            |change: &Change<'_>| change.line > line && change.path == path && change.kind == Changed::Gone;
        self.changes().find(is_it)
    }

    /// The last child of a znode that came or went.
    pub(super) fn last_below(&self, path: &str) -> Option<Change<'a>> {
        let is_child = |change: &Change<'_>| {
            change.kind != Changed::Set && change.path.rsplit_once('/').is_some_and(|(up, _)| up == path)
        };
        self.changes().rfind(is_child)
    }

    /// What a process still watches, in the order in which it was set.
    pub(super) fn watches(&self, process: u16) -> Vec<Watch> {
        let mut watches: Vec<Watch> = Vec::new();
        for (line, deed) in self.deeds() {
            match deed {
                Deed::Call(call) if call.actor.process == process => {
                    watches.extend(watch_of(call).map(|(path, of_children)| Watch {
                        line,
                        path,
                        of_children,
                    }));
                }
                Deed::Event(Event::Is(GroundTruth::Fired { path, kind, woken })) => {
                    if woken.iter().any(|actor| actor.process == process) {
                        watches.retain(|watch| !fires(*kind, watch, path));
                    }
                }
                Deed::Event(Event::Is(GroundTruth::SessionOpened { actor, .. }))
                    if actor.process == process =>
                {
                    watches.clear();
                }
                Deed::Call(_) | Deed::Event(_) => {}
            }
        }
        watches
    }

    /// Whether anybody has found a znode to be there.
    pub(super) fn has_found(&self, path: &str) -> bool {
        self.all_calls().any(|(_, call)| {
            let finds = matches!(call.result(), Some(Ok(Response::Exists(Some(_)) | Response::Data { .. })));
            finds && *call.request.path() == *path
        })
    }

    /// The last persistent watch that a process has set in its session, which fires again and again: where, and of
    /// what.
    pub(super) fn watches_for_good(&self, process: u16) -> Option<(usize, String)> {
        let began =
            self.truths_of(process).rfind(|(_, truth)| matches!(truth, GroundTruth::SessionOpened { .. }));
        let began = began.map_or(0, |(line, _)| line);
        let mut calls = self.calls(process).rev().take_while(|(line, _)| *line >= began);
        let is_set = |call: &Call| {
            matches!(call.request, Request::AddWatch { .. }) && matches!(call.result(), Some(Ok(_)))
        };
        calls.find(|(_, call)| is_set(call)).map(|(line, call)| (line, call.request.path().to_string()))
    }

    /// The last watch of a process that fired: the line, the znode and what happened to it.
    pub(super) fn last_woken(&self, process: u16) -> Option<(usize, &'a str, EventType)> {
        self.truths()
            .filter_map(|(line, truth)| match truth {
                GroundTruth::Fired { path, kind, woken }
                    if woken.iter().any(|actor| actor.process == process) =>
                {
                    Some((line, &**path, *kind))
                }
                _ => None,
            })
            .next_back()
    }

    /// Where the present life of a process has come to its end.
    pub(super) fn finished(&self, process: u16) -> Option<(usize, End)> {
        let found = self.truths_of(process).rev().find_map(|(line, truth)| match truth {
            GroundTruth::Finished { end, .. } => Some(Some((line, *end))),
            GroundTruth::SessionOpened { .. } => Some(None),
            _ => None,
        });
        found.flatten()
    }

    /// How a process is called now, in the life that it has.
    pub(super) fn name(&self, process: u16) -> String {
        let last = self.deeds().rev().find_map(|(_, deed)| match deed {
            Deed::Call(Call { actor, .. })
            | Deed::Event(
                Event::Observed { actor, .. } | Event::Is(GroundTruth::SessionOpened { actor, .. }),
            ) => Some(*actor).filter(|actor| actor.process == process),
            Deed::Event(Event::Is(_)) => None,
        });
        last.map_or(format!("p{process}"), |actor| actor.main().to_string())
    }

    /// What took the connection of a process, or stopped it: of the faults of that process that say one of these words
    /// and that struck after `since`, and of the outages of servers if `outages`, the line of the one that struck last.
    pub(super) fn last_fault(
        &self,
        process: u16,
        words: &[&str],
        outages: bool,
        since: Option<usize>,
    ) -> Option<usize> {
        const OUTAGES: [&str; 5] =
            ["is down", "sends its clients away", "nothing gets from", "stands still", "crashes, for"];
        let says = |line: &Line, words: &[&str]| words.iter().any(|word| line.what.contains(word));
        let struck = self.lines.iter().enumerate().filter_map(|(at, line)| {
            if outages && says(line, &OUTAGES) {
                return Some((at, at));
            }
            let is_one = line.mark == Mark::Fault && says(line, words) && names(&line.what, process);
            if is_one { Some((self.strikes(at, process)?, at)) } else { None }
        });
        let struck = struck.filter(|(struck, _)| since.is_none_or(|since| *struck > since));
        // Where nobody is told, the connection is lost long before that is noticed.
        let is_silent = |line: usize| self.lines[line].what.contains("silence");
        struck.max_by_key(|(struck, line)| (is_silent(*line), *struck)).map(|(_, line)| line)
    }

    /// Where the fault of a line strikes a process, if it does: one that waits for a request waits for the first of its
    /// kind.
    fn strikes(&self, line: usize, process: u16) -> Option<usize> {
        let what = &self.lines[line].what;
        let behind = |at: &usize| *at > line;
        let suffers = |is_it: fn(&GroundTruth) -> bool| {
            let mut truths = self.truths_of(process).filter(|(at, _)| behind(at));
            truths.find(|(_, truth)| is_it(truth)).map(|(at, _)| at)
        };
        if what.contains("crash") {
            return suffers(|truth| matches!(truth, GroundTruth::Crashed { .. }));
        }
        if what.contains("paused") {
            return suffers(|truth| matches!(truth, GroundTruth::Paused { .. }));
        }
        if let Some((_, kind)) = what.split_once(" at its next ") {
            let kind = kind.split([':', ',']).next().unwrap_or_default();
            let mut calls = self.calls(process).filter(|(at, _)| behind(at));
            return calls.find(|(_, call)| is_of(kind, &call.request)).map(|(at, _)| at);
        }
        if what.contains(" next") {
            let mut says = self.says_of(process).filter(|(at, ..)| behind(at));
            return says.find(|(_, _, what)| claims(what)).map(|(at, ..)| at);
        }
        Some(line)
    }

    /// Where a process learned that its connection was lost, or crashed: the last time up to the end, or the first
    /// behind a line.
    pub(super) fn loses_connection(&self, process: u16, behind: Option<usize>) -> Option<usize> {
        let is_loss =
            |truth| matches!(truth, &GroundTruth::Disconnected { .. } | &GroundTruth::Crashed { .. });
        let mut lost = self.truths_of(process).filter(|(_, truth)| is_loss(*truth)).map(|(line, _)| line);
        match behind {
            Some(behind) => lost.find(|line| *line >= behind),
            None => lost.next_back(),
        }
    }

    /// Where a process is connected again, behind a line.
    pub(super) fn connects(&self, process: u16, behind: usize) -> Option<usize> {
        let is_one = |line: &Line| {
            let connects =
                line.what == "is connected again" || line.what.starts_with("is connected, with session");
            connects && names(&line.who, process)
        };
        (behind + 1..self.lines.len()).find(|line| is_one(&self.lines[*line]))
    }

    /// Where the event of a process's watch was lost, that of a znode, at that line or later.
    pub(super) fn lost_event(&self, process: u16, path: &str, from: usize) -> Option<usize> {
        let is_lost = |line: &Line| {
            line.what.starts_with("the event of its watch is lost")
                && names(&line.who, process)
                && line.paths.iter().any(|lost| lost == path)
        };
        let at = self.lines[from].at;
        (0..self.lines.len()).find(|line| self.lines[*line].at >= at && is_lost(&self.lines[*line]))
    }
}

/// Whether a text names a process.
fn names(text: &str, process: u16) -> bool {
    named_in(text).contains(&&*format!("p{process}"))
}

/// Whether a request is one of those that a fault waits for.
fn is_of(kind: &str, request: &Request) -> bool {
    match kind {
        "create" => matches!(
            request,
            Request::Create { .. } | Request::SetData { .. } | Request::SetAcl { .. } | Request::Multi { .. }
        ),
        "delete" => matches!(request, Request::Delete { .. }),
        "read" => !request.is_write(),
        _ => true,
    }
}

/// Whether somebody says by it that it has something.
pub(super) fn claims(what: &Observation) -> bool {
    match what {
        Observation::Granted { .. }
        | Observation::Shares { .. }
        | Observation::Enters { .. }
        | Observation::Begins { .. } => true,
        Observation::Attempts { .. }
        | Observation::Leaves { .. }
        | Observation::Released { .. }
        | Observation::GivesUp { .. }
        | Observation::Notes { .. }
        | Observation::Ends { .. } => false,
    }
}

/// What a request that was answered watches.
fn watch_of(call: &Call) -> Option<(String, bool)> {
    match (&call.request, call.result()?) {
        (Request::Exists { path, watch: true }, Ok(Response::Exists(_)))
        | (Request::GetData { path, watch: true }, Ok(_)) => Some((path.to_string(), false)),
        (Request::GetChildren { path, watch: true, .. }, Ok(_)) => Some((path.to_string(), true)),
        _ => None,
    }
}

/// Whether such an event of a znode is that of a watch.
pub(super) fn fires(kind: EventType, watch: &Watch, path: &str) -> bool {
    watch.path == path
        && match kind {
            EventType::NodeCreated | EventType::NodeDataChanged => !watch.of_children,
            EventType::NodeChildrenChanged => watch.of_children,
            EventType::NodeDeleted | EventType::None => true,
        }
}

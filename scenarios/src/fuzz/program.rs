//! Client programs as data: what they are made of, and how they are written.

use super::language::{Named, Part, Words, Written, Wrong, written};
use std::fmt;
use std::str::SplitWhitespace;
use strum::{IntoStaticStr, VariantArray};
use zk_api::{AddWatchMode, CreateMode, WatcherKind};

/// What the clients of a run do: one process each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Program {
    /// A client whose session has expired soon has another, for the same code.
    pub(crate) renews: bool,
    pub(crate) processes: Vec<Process>,
}

/// What one client process does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    /// Its tasks; the first is the main one, the others wait to be spawned.
    pub(crate) tasks: Vec<Vec<TaskStep>>,
    /// What the main task of a later life does. Without it, a life that has lost its session just ends.
    pub(crate) next: Vec<TaskStep>,
}

/// One thing that a task does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TaskStep {
    /// Asks for something, and waits for the answer, or keeps the call in a slot.
    Ask { slot: Option<Slot>, ask: Ask },
    /// Waits for what is in a slot: an answer, an event, a state.
    Await(Slot),
    /// Waits for the first of two; the other stays.
    Race(Slot, Slot),
    /// The same against a timer of so many milliseconds.
    RaceTimer(Slot, u32),
    /// Gives up what is in a slot.
    Drop(Slot),
    /// Waits for another state of the session, in a slot.
    StateChange(Slot),
    /// Looks at a field of the last Stat.
    Stat(Field),
    /// Looks at the first name of the last list.
    First,
    /// Looks at the last name of the last list.
    Last,
    /// Waits until there is a session.
    Connected,
    /// Looks whether there is a session.
    Session,
    /// Looks at the session's state.
    State,
    /// Waits so many milliseconds.
    Sleep(u32),
    /// A scheduling point.
    Point,
    /// Puts a number where the other tasks of the process see it.
    Set(u8),
    /// Looks at the number.
    Get,
    /// Waits until it is another than zero.
    Wait,
    /// Tells all that the task knows.
    Checkpoint,
    /// Begins the next task.
    Spawn,
}

/// Asks, and waits for the answer.
impl From<Ask> for TaskStep {
    fn from(ask: Ask) -> TaskStep {
        TaskStep::Ask { slot: None, ask }
    }
}

/// Where a task keeps a call, a watch or a change that it waits for: `a` to `d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot(pub(crate) u8);

/// How many slots a task has.
pub(crate) const SLOTS: u8 = 4;

written! {
    /// A request.
    Ask {
        "create": Create { path: Path, data: u8, mode: CreateMode, acl: Acl, stat: bool },
        "delete": Delete { path: Path, version: i32 },
        "exists": Exists { path: Path, watch: bool },
        "data": Data { path: Path, watch: bool },
        "set-data": SetData { path: Path, data: u8, version: i32 },
        "children": Children { path: Path, watch: bool, stat: bool },
        "acl": Acl { path: Path },
        "set-acl": SetAcl { path: Path, acl: Acl },
        "sync": Sync { path: Path },
        "multi": Multi(changes: Vec<Change>),
        "reads": Reads(reads: Vec<Read>),
        "add-watch": AddWatch { path: Path, mode: AddWatchMode },
        "remove-watches": RemoveWatches { path: Path, kind: WatcherKind },
        "check-watches": CheckWatches { path: Path, kind: WatcherKind },
        "ephemerals": Ephemerals { path: Path },
        "count": Count { path: Path },
        "who-am-i": WhoAmI,
        /// Of a user, or for 0 such as every server refuses.
        "auth": Auth { user: u8 },
        "close": Close,
    }
}

written! {
    /// One operation of a multi.
    Change {
        "create": Create { path: Path, data: u8, mode: CreateMode },
        "delete": Delete { path: Path, version: i32 },
        "set-data": SetData { path: Path, data: u8, version: i32 },
        "check": Check { path: Path, version: i32 },
    }
}

written! {
    /// One operation of a multiRead.
    Read {
        "data": Data(path: Path),
        "children": Children(path: Path),
    }
}

/// Which znode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Path {
    /// One of [`PATHS`].
    Fixed(u8),
    /// The first of the last list.
    First,
    /// The last of it.
    Last,
    /// The one that this task created last.
    Made,
}

/// The znodes that programs are about. The first is there from the beginning.
pub(crate) const PATHS: [&str; 5] = ["/t", "/t/a", "/t/b", "/t/a/x", "/t/q-"];

/// Who may do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Acl {
    Open,
    ReadOnly,
    Creator,
    User,
}

/// What a task looks at of a Stat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Field {
    Czxid,
    Mzxid,
    Pzxid,
    Ctime,
    Mtime,
    Version,
    Cversion,
    Aversion,
    Length,
    #[strum(serialize = "num-children")]
    Children,
    /// Whose it is: nobody's, one's own, another's.
    Owner,
    /// The same, and whether the other's session has a lower or a higher number.
    OwnerOrder,
}

impl Named for Acl {}
impl Named for Field {}

/// No program makes one with a time to live.
impl Words for CreateMode {
    fn words() -> impl Iterator<Item = (&'static str, CreateMode)> {
        [
            ("persistent", CreateMode::Persistent),
            ("sequential", CreateMode::PersistentSequential),
            ("ephemeral", CreateMode::Ephemeral),
            ("ephemeral-sequential", CreateMode::EphemeralSequential),
            ("container", CreateMode::Container),
        ]
        .into_iter()
    }
}

impl Words for AddWatchMode {
    fn words() -> impl Iterator<Item = (&'static str, AddWatchMode)> {
        [("persistent", AddWatchMode::Persistent), ("recursive", AddWatchMode::PersistentRecursive)]
            .into_iter()
    }
}

impl Words for WatcherKind {
    fn words() -> impl Iterator<Item = (&'static str, WatcherKind)> {
        [
            ("children", WatcherKind::Children),
            ("data", WatcherKind::Data),
            ("any", WatcherKind::Any),
            ("persistent", WatcherKind::Persistent),
            ("recursive", WatcherKind::PersistentRecursive),
        ]
        .into_iter()
    }
}

impl Words for Path {
    fn words() -> impl Iterator<Item = (&'static str, Path)> {
        [
            (PATHS[0], Path::Fixed(0)),
            (PATHS[1], Path::Fixed(1)),
            (PATHS[2], Path::Fixed(2)),
            (PATHS[3], Path::Fixed(3)),
            (PATHS[4], Path::Fixed(4)),
            ("$first", Path::First),
            ("$last", Path::Last),
            ("$made", Path::Made),
        ]
        .into_iter()
    }
}

impl Words for Slot {
    fn words() -> impl Iterator<Item = (&'static str, Slot)> {
        [("a", Slot(0)), ("b", Slot(1)), ("c", Slot(2)), ("d", Slot(3))].into_iter()
    }
}

impl Program {
    /// All steps.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &TaskStep> {
        self.processes.iter().flat_map(|p| p.tasks.iter().chain([&p.next]).flatten())
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.renews {
            writeln!(f, "renews")?;
        }
        for process in &self.processes {
            for (nth, task) in process.tasks.iter().enumerate() {
                writeln!(f, "{}", if nth == 0 { "process" } else { "task" })?;
                task.iter().try_for_each(|step| writeln!(f, "  {step}"))?;
            }
            if !process.next.is_empty() {
                writeln!(f, "next")?;
                process.next.iter().try_for_each(|step| writeln!(f, "  {step}"))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for TaskStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskStep::Ask { slot: None, ask } => write!(f, "{ask}"),
            TaskStep::Ask { slot: Some(slot), ask } => write!(f, "{} = {ask}", slot.word()),
            TaskStep::Await(slot) => write!(f, "await {}", slot.word()),
            TaskStep::Race(first, second) => write!(f, "race {} {}", first.word(), second.word()),
            TaskStep::RaceTimer(slot, ms) => write!(f, "race {} {ms}", slot.word()),
            TaskStep::Drop(slot) => write!(f, "drop {}", slot.word()),
            TaskStep::StateChange(slot) => write!(f, "{} = state-change", slot.word()),
            TaskStep::Stat(field) => write!(f, "stat {}", field.word()),
            TaskStep::First => f.write_str("first"),
            TaskStep::Last => f.write_str("last"),
            TaskStep::Connected => f.write_str("connected"),
            TaskStep::Session => f.write_str("session"),
            TaskStep::State => f.write_str("state"),
            TaskStep::Sleep(ms) => write!(f, "sleep {ms}"),
            TaskStep::Point => f.write_str("point"),
            TaskStep::Set(to) => write!(f, "set {to}"),
            TaskStep::Get => f.write_str("get"),
            TaskStep::Wait => f.write_str("wait"),
            TaskStep::Checkpoint => f.write_str("checkpoint"),
            TaskStep::Spawn => f.write_str("spawn"),
        }
    }
}

//! Client programs as data: what they are made of, and how they are written.

use std::fmt;
use strum::{IntoStaticStr, VariantArray};
use zk_api::{AddWatchMode, WatcherKind};

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

/// Where a task keeps a call, a watch or a change that it waits for: `a` to `d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot(pub(crate) u8);

/// How many slots a task has.
pub(crate) const SLOTS: u8 = 4;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Ask {
    Create {
        path: Path,
        data: u8,
        mode: Mode,
        acl: Acl,
        stat: bool,
    },
    Delete {
        path: Path,
        version: i32,
    },
    Exists {
        path: Path,
        watch: bool,
    },
    Data {
        path: Path,
        watch: bool,
    },
    SetData {
        path: Path,
        data: u8,
        version: i32,
    },
    Children {
        path: Path,
        watch: bool,
        stat: bool,
    },
    Acl {
        path: Path,
    },
    SetAcl {
        path: Path,
        acl: Acl,
    },
    Sync {
        path: Path,
    },
    Multi(Vec<Change>),
    Reads(Vec<Read>),
    AddWatch {
        path: Path,
        mode: AddWatchMode,
    },
    RemoveWatches {
        path: Path,
        kind: WatcherKind,
    },
    CheckWatches {
        path: Path,
        kind: WatcherKind,
    },
    Ephemerals {
        path: Path,
    },
    Count {
        path: Path,
    },
    WhoAmI,
    /// Of a user, or for 0 such as every server refuses.
    Auth {
        user: u8,
    },
    Close,
}

/// One operation of a multi.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Change {
    Create { path: Path, data: u8, mode: Mode },
    Delete { path: Path, version: i32 },
    SetData { path: Path, data: u8, version: i32 },
    Check { path: Path, version: i32 },
}

/// One operation of a multiRead.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Read {
    Data(Path),
    Children(Path),
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

/// What kind of znode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Mode {
    Persistent,
    Sequential,
    Ephemeral,
    EphemeralSequential,
    Container,
}

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

/// A word for each of some values.
pub(crate) trait Words: Copy + PartialEq + 'static {
    /// All, each with its word.
    fn words() -> impl Iterator<Item = (&'static str, Self)>;

    /// Its word.
    fn word(self) -> &'static str {
        Self::words().find(|(_, it)| *it == self).expect("each has a word").0
    }

    /// What a word stands for.
    fn of(word: &str) -> Option<Self> {
        Self::words().find(|(name, _)| *name == word).map(|(_, it)| it)
    }
}

/// An enum of ours whose words are the names of its variants.
pub(crate) trait Named: VariantArray + Into<&'static str> + Copy + PartialEq {}

impl<T: Named> Words for T {
    fn words() -> impl Iterator<Item = (&'static str, T)> {
        T::VARIANTS.iter().map(|it| ((*it).into(), *it))
    }
}

impl Named for Mode {}
impl Named for Acl {}
impl Named for Field {}

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

/// A word that stands there or not.
fn flag(is: bool, word: &'static str) -> &'static str {
    if is { word } else { "" }
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ask::Create { path, data, mode, acl, stat } => {
                let (path, mode, acl) = (path.word(), mode.word(), acl.word());
                write!(f, "create {path} {data} {mode} {acl}{}", flag(*stat, " stat"))
            }
            Ask::Delete { path, version } => write!(f, "delete {} {version}", path.word()),
            Ask::Exists { path, watch } => write!(f, "exists {}{}", path.word(), flag(*watch, " watch")),
            Ask::Data { path, watch } => write!(f, "data {}{}", path.word(), flag(*watch, " watch")),
            Ask::SetData { path, data, version } => write!(f, "set-data {} {data} {version}", path.word()),
            Ask::Children { path, watch, stat } => {
                write!(f, "children {}{}{}", path.word(), flag(*watch, " watch"), flag(*stat, " stat"))
            }
            Ask::Acl { path } => write!(f, "acl {}", path.word()),
            Ask::SetAcl { path, acl } => write!(f, "set-acl {} {}", path.word(), acl.word()),
            Ask::Sync { path } => write!(f, "sync {}", path.word()),
            Ask::Multi(changes) => {
                f.write_str("multi ")?;
                listed(f, changes)
            }
            Ask::Reads(reads) => {
                f.write_str("reads ")?;
                listed(f, reads)
            }
            Ask::AddWatch { path, mode } => write!(f, "add-watch {} {}", path.word(), mode.word()),
            Ask::RemoveWatches { path, kind } => write!(f, "remove-watches {} {}", path.word(), kind.word()),
            Ask::CheckWatches { path, kind } => write!(f, "check-watches {} {}", path.word(), kind.word()),
            Ask::Ephemerals { path } => write!(f, "ephemerals {}", path.word()),
            Ask::Count { path } => write!(f, "count {}", path.word()),
            Ask::WhoAmI => f.write_str("who-am-i"),
            Ask::Auth { user } => write!(f, "auth {user}"),
            Ask::Close => f.write_str("close"),
        }
    }
}

fn listed(f: &mut fmt::Formatter<'_>, items: &[impl fmt::Display]) -> fmt::Result {
    for (nth, item) in items.iter().enumerate() {
        write!(f, "{}{item}", flag(nth > 0, "; "))?;
    }
    Ok(())
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Create { path, data, mode } => {
                write!(f, "create {} {data} {}", path.word(), mode.word())
            }
            Change::Delete { path, version } => write!(f, "delete {} {version}", path.word()),
            Change::SetData { path, data, version } => {
                write!(f, "set-data {} {data} {version}", path.word())
            }
            Change::Check { path, version } => write!(f, "check {} {version}", path.word()),
        }
    }
}

impl fmt::Display for Read {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Read::Data(path) => write!(f, "data {}", path.word()),
            Read::Children(path) => write!(f, "children {}", path.word()),
        }
    }
}

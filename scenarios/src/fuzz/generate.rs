//! Random programs: a seed gives one.

use super::language::{Named, Words};
use super::program::{Acl, Ask, Change, Field, Path, Process, Program, Read, SLOTS, Slot, TaskStep};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::BTreeSet;
use strum::{IntoStaticStr, VariantArray};
use zk_api::CreateMode;

/// Something that a program may have, and that a plan may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Feature {
    /// Tasks of one process beside each other.
    Tasks,
    /// Two things raced, neither of which is a timer.
    Races,
    /// When a znode was created or changed.
    Times,
    /// The order of names in a list.
    ListOrder,
    /// The number of the transaction that last changed a list of children.
    Pzxid,
    /// Whether another's session has a lower number.
    SessionOrder,
    /// Credentials, and ACLs that ask for some.
    Identities,
    /// The session before anything was answered.
    Start,
    /// What a later life of a process does.
    NextLife,
    /// Another session under the same code.
    Renewal,
}

impl Named for Feature {}

/// What programs are to be like.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// What none of them has.
    pub(crate) without: BTreeSet<Feature>,
}

/// What a program has of these.
pub(crate) fn features(program: &Program) -> BTreeSet<Feature> {
    let mut features: BTreeSet<Feature> = program.steps().filter_map(feature).collect();
    features.extend(program.renews.then_some(Feature::Renewal));
    for process in &program.processes {
        let is_early = process.tasks[0].first() != Some(&TaskStep::Connected);
        features.extend(is_early.then_some(Feature::Start));
        features.extend((process.tasks.len() > 1).then_some(Feature::Tasks));
        features.extend((!process.next.is_empty()).then_some(Feature::NextLife));
    }
    features
}

/// What a step has.
fn feature(step: &TaskStep) -> Option<Feature> {
    match step {
        TaskStep::Race(..) => Some(Feature::Races),
        TaskStep::Stat(Field::Ctime | Field::Mtime) => Some(Feature::Times),
        TaskStep::Stat(Field::Pzxid) => Some(Feature::Pzxid),
        TaskStep::Stat(Field::OwnerOrder) => Some(Feature::SessionOrder),
        TaskStep::First | TaskStep::Last => Some(Feature::ListOrder),
        TaskStep::Ask { ask, .. } => match ask {
            Ask::Auth { .. } | Ask::WhoAmI => Some(Feature::Identities),
            Ask::Create { acl: Acl::Creator | Acl::User, .. }
            | Ask::SetAcl { acl: Acl::Creator | Acl::User, .. } => Some(Feature::Identities),
            ask => {
                let text = ask.to_string();
                (text.contains("$first") || text.contains("$last")).then_some(Feature::ListOrder)
            }
        },
        _ => None,
    }
}

/// The program of a seed.
pub(crate) fn generate(seed: u64, plan: &Plan) -> Program {
    let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed));
    let processes = dice.weigh(&[(3, 1), (6, 2), (1, 3)]);
    // A program has few kinds of steps, so that they meet.
    let kinds: Vec<Kind> = (0..4 + dice.below(4)).map(|_| dice.weigh(KINDS)).collect();
    let mut paths = vec![Path::Fixed(dice.weigh(&[(3, 1), (1, 2), (1, 4)]))];
    paths.push(Path::Fixed(dice.below(5) as u8));
    let mut generator = Generator { dice, plan, kinds, paths };
    let mut program =
        Program { renews: false, processes: (0..processes).map(|_| generator.process()).collect() };
    if processes > 1 && generator.dice.one_in(6) {
        generator.meet(&mut program.processes);
    }
    if generator.may(Feature::Renewal) && generator.dice.one_in(5) {
        generator.renew(&mut program);
    }
    program
}

struct Dice(ChaCha8Rng);

impl Dice {
    /// A number below `n`, which is not zero.
    fn below(&mut self, n: usize) -> usize {
        ((u64::from(self.0.next_u32()) * n as u64) >> 32) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    /// An item, by the weights that stand before them.
    fn weigh<T: Clone>(&mut self, all: &[(usize, T)]) -> T {
        let mut left = self.below(all.iter().map(|(weight, _)| weight).sum());
        for (weight, item) in all {
            if left < *weight {
                return item.clone();
            }
            left -= weight;
        }
        unreachable!("the weights were summed up")
    }

    fn word<T: Words>(&mut self) -> T {
        let all: Vec<T> = T::words().map(|(_, it)| it).collect();
        self.pick(&all)
    }
}

/// What a step may be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Create,
    Delete,
    Set,
    Read,
    List,
    Stat,
    Compare,
    Watch,
    Persistent,
    Multi,
    Acl,
    Auth,
    Sync,
    Count,
    Session,
    Cell,
    Race,
    Pending,
    Checkpoint,
    Close,
    Pause,
}

const KINDS: &[(usize, Kind)] = &[
    (10, Kind::Create),
    (5, Kind::Delete),
    (5, Kind::Set),
    (5, Kind::Read),
    (5, Kind::List),
    (5, Kind::Stat),
    (5, Kind::Compare),
    (6, Kind::Watch),
    (3, Kind::Persistent),
    (4, Kind::Multi),
    (2, Kind::Acl),
    (2, Kind::Auth),
    (2, Kind::Sync),
    (2, Kind::Count),
    (3, Kind::Session),
    (4, Kind::Cell),
    (4, Kind::Race),
    (4, Kind::Pending),
    (2, Kind::Checkpoint),
    (1, Kind::Close),
    (5, Kind::Pause),
];

struct Generator<'a> {
    dice: Dice,
    plan: &'a Plan,
    kinds: Vec<Kind>,
    paths: Vec<Path>,
}

impl Generator<'_> {
    fn may(&self, feature: Feature) -> bool {
        !self.plan.without.contains(&feature)
    }

    fn process(&mut self) -> Process {
        let mut process = Process { tasks: vec![self.task()], next: Vec::new() };
        let is_early = self.may(Feature::Start) && self.dice.one_in(4);
        let wants = if self.kinds.contains(&Kind::Cell) { 2 } else { 5 };
        if self.dice.one_in(wants) && self.may(Feature::Tasks) {
            process.tasks.push(self.task());
            let at = self.dice.below(2).min(process.tasks[0].len());
            process.tasks[0].insert(at, TaskStep::Spawn);
        }
        if self.dice.one_in(6) && self.may(Feature::NextLife) {
            process.next = self.task();
            process.next.truncate(4);
        }
        if !is_early {
            process.tasks[0].insert(0, TaskStep::Connected);
            if !process.next.is_empty() {
                process.next.insert(0, TaskStep::Connected);
            }
        }
        process
    }

    fn task(&mut self) -> Vec<TaskStep> {
        let length = 2 + self.dice.below(6);
        let mut steps = Vec::new();
        if self.dice.one_in(2) {
            self.create(&mut steps);
        }
        while steps.len() < length {
            let is_any = self.dice.one_in(4);
            let kind = if is_any { self.dice.weigh(KINDS) } else { self.dice.pick(&self.kinds) };
            self.add(kind, &mut steps);
        }
        steps
    }

    fn path(&mut self) -> Path {
        match self.dice.below(12) {
            0 if self.may(Feature::ListOrder) => Path::First,
            1 if self.may(Feature::ListOrder) => Path::Last,
            2 => Path::Made,
            3 => Path::Fixed(self.dice.below(4) as u8),
            4 | 5 => Path::Fixed(0),
            _ => self.dice.pick(&self.paths),
        }
    }

    /// One of two processes leaves something that ends with its session, and is done; the other looks at it.
    fn meet(&mut self, processes: &mut [Process]) {
        let (leaves, looks) = if self.dice.one_in(2) { (0, 1) } else { (1, 0) };
        let path = Path::Fixed(1 + self.dice.below(3) as u8);
        let made =
            Ask::Create { path, data: 0, mode: CreateMode::Ephemeral, acl: Acl::Open, stat: false }.into();
        processes[leaves] = Process { tasks: vec![vec![TaskStep::Connected, made]], next: Vec::new() };
        let slot = Slot(0);
        let mut looked = vec![TaskStep::Sleep(100 * (1 + self.dice.below(5) as u32))];
        looked.push(TaskStep::Ask { slot: Some(slot), ask: Ask::Exists { path, watch: true } });
        looked.push(TaskStep::Await(slot));
        looked.extend(self.may(Feature::SessionOrder).then_some(TaskStep::Stat(Field::OwnerOrder)));
        looked.push(TaskStep::Await(slot));
        let steps = &mut processes[looks].tasks[0];
        steps.truncate(1 + self.dice.below(3));
        steps.extend(looked);
    }

    /// Code that is there when its session expires, and goes on with the next one.
    fn renew(&mut self, program: &mut Program) {
        program.renews = true;
        for process in &mut program.processes {
            let steps = &mut process.tasks[0];
            let at = 1 + self.dice.below(steps.len());
            steps.splice(at..at, [TaskStep::Sleep(3000), TaskStep::Connected]);
        }
    }

    fn slot(&mut self) -> Slot {
        Slot(self.dice.below(usize::from(SLOTS).min(2)) as u8)
    }

    fn mode(&mut self) -> CreateMode {
        self.dice.weigh(&[
            (20, CreateMode::Persistent),
            (8, CreateMode::PersistentSequential),
            (20, CreateMode::Ephemeral),
            (8, CreateMode::EphemeralSequential),
            (1, CreateMode::Container),
        ])
    }

    fn version(&mut self) -> i32 {
        self.dice.weigh(&[(4, -1), (2, 0), (1, 1)])
    }

    fn acl(&mut self) -> Acl {
        match self.may(Feature::Identities) {
            true => self.dice.weigh(&[(2, Acl::ReadOnly), (2, Acl::Creator), (1, Acl::User), (1, Acl::Open)]),
            false => self.dice.weigh(&[(2, Acl::ReadOnly), (1, Acl::Open)]),
        }
    }

    fn create(&mut self, steps: &mut Vec<TaskStep>) {
        let (path, mode, stat) = (self.path(), self.mode(), self.dice.one_in(3));
        let acl = if self.dice.one_in(8) { self.acl() } else { Acl::Open };
        let data = self.dice.below(3) as u8;
        steps.push(Ask::Create { path, data, mode, acl, stat }.into());
    }

    /// A request that may set a watch.
    fn read(&mut self, watch: bool) -> Ask {
        let path = self.path();
        match self.dice.below(3) {
            0 => Ask::Exists { path, watch },
            1 => Ask::Data { path, watch },
            _ => Ask::Children { path, watch, stat: self.dice.one_in(3) },
        }
    }

    fn add(&mut self, kind: Kind, steps: &mut Vec<TaskStep>) {
        match kind {
            Kind::Create => self.create(steps),
            Kind::Delete => {
                steps.push(Ask::Delete { path: self.path(), version: self.version() }.into());
            }
            Kind::Set => {
                let data = 1 + self.dice.below(3) as u8;
                steps.push(Ask::SetData { path: self.path(), data, version: self.version() }.into());
            }
            Kind::Read => steps.push(self.read(false).into()),
            Kind::List => self.list(steps),
            Kind::Stat => self.stat(steps),
            Kind::Compare => self.compare(steps),
            Kind::Watch => self.watch(steps),
            Kind::Persistent => self.persistent(steps),
            Kind::Multi => self.multi(steps),
            Kind::Acl => {
                let path = self.path();
                steps.push(match self.dice.one_in(2) {
                    true => Ask::Acl { path }.into(),
                    false => Ask::SetAcl { path, acl: self.acl() }.into(),
                });
            }
            Kind::Auth if self.may(Feature::Identities) => {
                let user = self.dice.weigh(&[(4, 1), (4, 2), (1, 0)]);
                steps.push(if self.dice.one_in(3) { Ask::WhoAmI } else { Ask::Auth { user } }.into());
            }
            Kind::Auth | Kind::Sync => steps.push(Ask::Sync { path: self.path() }.into()),
            Kind::Count => {
                let (path, is_count) = (self.path(), self.dice.one_in(2));
                steps.push(if is_count { Ask::Count { path } } else { Ask::Ephemerals { path } }.into());
            }
            Kind::Session => self.session(steps),
            Kind::Cell => {
                let number = 1 + self.dice.below(2) as u8;
                steps.push(self.dice.weigh(&[
                    (3, TaskStep::Set(number)),
                    (3, TaskStep::Get),
                    (1, TaskStep::Wait),
                ]));
            }
            Kind::Race => self.race(steps),
            Kind::Pending => self.pending(steps),
            Kind::Checkpoint => steps.push(TaskStep::Checkpoint),
            Kind::Close if self.dice.one_in(3) => steps.push(Ask::Close.into()),
            Kind::Close | Kind::Pause => {
                let ms = self.dice.pick(&[10, 300, 1000, 3000]);
                steps.push(if self.dice.one_in(3) { TaskStep::Point } else { TaskStep::Sleep(ms) });
            }
        }
    }

    fn list(&mut self, steps: &mut Vec<TaskStep>) {
        let path = self.dice.weigh(&[(5, Path::Fixed(0)), (1, Path::Fixed(1))]);
        let stat = self.dice.one_in(3);
        steps.push(Ask::Children { path, watch: false, stat }.into());
        if self.may(Feature::ListOrder) {
            steps.push(if self.dice.one_in(2) { TaskStep::First } else { TaskStep::Last });
        }
    }

    fn stat(&mut self, steps: &mut Vec<TaskStep>) {
        if self.dice.one_in(2) {
            let path = self.path();
            let watch = false;
            let is_there = self.dice.one_in(2);
            steps.push(if is_there { Ask::Exists { path, watch } } else { Ask::Data { path, watch } }.into());
        }
        let field = self.dice.word();
        steps.push(self.field(field));
    }

    /// A field of one znode before and after something happens to it or below it.
    fn compare(&mut self, steps: &mut Vec<TaskStep>) {
        let path = self.dice.weigh(&[(2, Path::Fixed(0)), (1, Path::Fixed(1)), (1, Path::Made)]);
        let numbers = [Field::Mzxid, Field::Pzxid, Field::Pzxid];
        let fields: &[Field] = if self.dice.one_in(2) { &[Field::Ctime, Field::Mtime] } else { &numbers };
        let child = self.dice.one_in(2);
        if child {
            let path = Path::Fixed(1 + self.dice.below(2) as u8);
            let (data, mode, acl, stat) = (0, CreateMode::Persistent, Acl::Open, false);
            steps.push(Ask::Create { path, data, mode, acl, stat }.into());
        }
        for turn in 0..2 {
            if turn > 0 && child && self.dice.one_in(2) {
                steps.push(Ask::Delete { path: Path::Made, version: -1 }.into());
            } else if turn > 0 {
                let kind = self.dice.pick(&[Kind::Create, Kind::Delete, Kind::Set]);
                self.add(kind, steps);
            }
            steps.push(Ask::Exists { path, watch: false }.into());
            let field = self.dice.pick(fields);
            steps.push(self.field(field));
        }
    }

    /// A look at a field, or at another where that is left out.
    fn field(&mut self, field: Field) -> TaskStep {
        let wanted = match field {
            Field::Ctime | Field::Mtime => Some(Feature::Times),
            Field::Pzxid => Some(Feature::Pzxid),
            Field::OwnerOrder => Some(Feature::SessionOrder),
            Field::Czxid
            | Field::Mzxid
            | Field::Version
            | Field::Cversion
            | Field::Aversion
            | Field::Length
            | Field::Children
            | Field::Owner => None,
        };
        let field = if wanted.is_none_or(|wanted| self.may(wanted)) { field } else { Field::Mzxid };
        TaskStep::Stat(field)
    }

    /// A watch, and something to do with it.
    fn watch(&mut self, steps: &mut Vec<TaskStep>) {
        let (slot, ask) = (self.slot(), self.read(true));
        steps.extend([TaskStep::Ask { slot: Some(slot), ask }, TaskStep::Await(slot)]);
        self.wait_for(slot, steps);
    }

    fn wait_for(&mut self, slot: Slot, steps: &mut Vec<TaskStep>) {
        match self.dice.below(8) {
            0 => steps.push(TaskStep::Await(slot)),
            1 => steps.push(TaskStep::Drop(slot)),
            2 | 3 => {}
            _ => steps.push(TaskStep::RaceTimer(slot, self.dice.pick(&[300, 1000, 3000]))),
        }
    }

    fn persistent(&mut self, steps: &mut Vec<TaskStep>) {
        let (slot, path) = (self.slot(), self.path());
        match self.dice.below(6) {
            0 => steps.push(Ask::RemoveWatches { path, kind: self.dice.word() }.into()),
            1 => steps.push(Ask::CheckWatches { path, kind: self.dice.word() }.into()),
            _ => {
                let ask = Ask::AddWatch { path, mode: self.dice.word() };
                steps.push(TaskStep::Ask { slot: Some(slot), ask });
                steps.push(TaskStep::Await(slot));
                self.wait_for(slot, steps);
            }
        }
    }

    fn multi(&mut self, steps: &mut Vec<TaskStep>) {
        let many = 1 + self.dice.below(3);
        steps.push(match self.dice.one_in(4) {
            true => Ask::Reads((0..many).map(|_| self.one_read()).collect()).into(),
            false => Ask::Multi((0..many).map(|_| self.change()).collect()).into(),
        });
    }

    fn one_read(&mut self) -> Read {
        let path = self.path();
        if self.dice.one_in(2) { Read::Data(path) } else { Read::Children(path) }
    }

    fn change(&mut self) -> Change {
        let (path, version, data) = (self.path(), self.version(), self.dice.below(3) as u8);
        match self.dice.below(4) {
            0 => Change::Create { path, data, mode: self.mode() },
            1 => Change::Delete { path, version },
            2 => Change::SetData { path, data, version },
            _ => Change::Check { path, version },
        }
    }

    fn session(&mut self, steps: &mut Vec<TaskStep>) {
        let slot = self.slot();
        match self.dice.below(4) {
            0 => steps.push(TaskStep::Session),
            1 => steps.push(TaskStep::State),
            2 => {
                steps.push(TaskStep::StateChange(slot));
                self.wait_for(slot, steps);
            }
            _ => steps.push(TaskStep::Sleep(self.dice.pick(&[1000, 3000]))),
        }
    }

    /// A watch against a call, or two watches.
    fn race(&mut self, steps: &mut Vec<TaskStep>) {
        let (a, b) = (Slot(0), Slot(1));
        steps.push(TaskStep::Ask { slot: Some(a), ask: self.read(true) });
        steps.push(TaskStep::Await(a));
        if self.dice.one_in(3) {
            steps.push(TaskStep::StateChange(b));
        } else {
            // A write of one's own fires one's own watch just before it is answered.
            self.keep(b, &[Kind::Create, Kind::Delete, Kind::Set, Kind::Read], steps);
        }
        match self.may(Feature::Races) {
            true => steps.push(if self.dice.one_in(2) { TaskStep::Race(a, b) } else { TaskStep::Race(b, a) }),
            false => steps.push(TaskStep::RaceTimer(a, 1000)),
        }
    }

    /// A call of one of these kinds, kept in a slot.
    fn keep(&mut self, slot: Slot, kinds: &[Kind], steps: &mut Vec<TaskStep>) {
        let before = steps.len();
        let kind = self.dice.pick(kinds);
        self.add(kind, steps);
        if let Some(TaskStep::Ask { slot: kept, .. }) = steps.get_mut(before) {
            *kept = Some(slot);
        }
    }

    /// A call that is not waited for, or not at once.
    fn pending(&mut self, steps: &mut Vec<TaskStep>) {
        let slot = self.slot();
        self.keep(slot, &[Kind::Create, Kind::Delete, Kind::Set, Kind::Read, Kind::Multi], steps);
        let ends =
            [TaskStep::Drop(slot), TaskStep::Await(slot), TaskStep::RaceTimer(slot, 300), TaskStep::Point];
        steps.push(self.dice.pick(&ends));
    }
}

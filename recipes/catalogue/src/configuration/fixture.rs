//! What all configurations on trial have in common: one who writes, and readers that follow.

use std::collections::BTreeMap;
use zk_api::{Data, Either, Local, Locals, Pending, Text, ZPath, ZooKeeper, Zxid, race};
use zk_harness::common::rounds::{ended, rounds};
use zk_harness::common::{AnyProbe, AnyZooKeeper, InRound, Stop, Turn, plain};
use zk_harness::event::{Observation, Resource};
use zk_harness::probe::Probe;
use zk_harness::promise::AnyPromise;
use zk_harness::promises::{DONE, Order, START, SessionEndNoticed, of_configuration, shown};
use zk_harness::trial::{Role, Trial};
use zk_harness::words;
use zk_recipes::{Configuration, Setting, Value};

/// The znode of the configuration, whose children have the values.
pub const CONFIG: &str = "/config";

/// The one value of a setting.
const NAME: &str = "name";

/// What the last value ends with: who has seen it need not follow any more.
const LAST: char = '!';

/// What every configuration promises to who follows it.
pub fn promises() -> Vec<Box<dyn AnyPromise>> {
    let mut all = of_configuration(CONFIG);
    all.push(Box::new(SessionEndNoticed::default()));
    all
}

/// What its actors tell, in their order.
const WORDS: Order = &[
    (words::FOLLOWS, &[START, words::IS_THROUGH_WITH]),
    (words::SEES, &[words::FOLLOWS, words::SEES, words::TOLD]),
    (words::TOLD, &[words::FOLLOWS, words::SEES]),
    (words::SETS, &[START, words::HAS_SET]),
    (words::HAS_SET, &[words::SETS]),
    (words::GIVES_UP, &[START, words::FOLLOWS, words::SEES, words::TOLD, words::SETS, words::HAS_SET]),
    (words::IS_THROUGH_WITH, &[words::SEES, words::TOLD]),
    (DONE, &[words::IS_THROUGH_WITH, words::HAS_SET]),
];

/// A configuration on trial: what process 0 does in a round, and what another does.
pub fn configuration(name: &'static str, write: impl Turn<Fixture>, read: impl Turn<Fixture>) -> Trial {
    let code = move |zk, probe: AnyProbe, role: Role| async move {
        let turn = |zk, round| {
            let fixture = Fixture { zk, probe: probe.clone(), is_last: round + 1 == role.rounds };
            async move {
                match role.me.process {
                    0 => write(fixture).await,
                    _ => read(fixture).await,
                }
            }
        };
        let done = rounds(&zk, role, turn).await;
        ended(&probe, CONFIG, done)
    };
    Trial::new(name, code).setup([CONFIG]).promises(promises).tells(WORDS)
}

/// One round of an actor.
#[derive(Clone)]
pub struct Fixture {
    /// The session. Checkpoints made with it know which round it is.
    pub zk: InRound<AnyZooKeeper>,
    probe: AnyProbe,
    is_last: bool,
}

impl Fixture {
    /// The configuration's znode.
    pub fn config(&self) -> ZPath {
        ZPath::parse(CONFIG).expect("a constant")
    }

    /// The znode of the setting.
    pub fn name(&self) -> ZPath {
        plain::child(&self.config(), NAME)
    }

    /// Does something else for a while. Fails if it is told meanwhile that the session is over.
    async fn meanwhile(&self, other: Pending<()>) -> Result<(), Stop> {
        let mut other = other;
        loop {
            let change = self.zk.state_change();
            if self.zk.state().is_final() {
                return Err(Stop::SessionLost);
            }
            if let Either::Left(()) = race(&mut other, change).await {
                return Ok(());
            }
        }
    }

    /// A piece of work between two writes.
    pub async fn works(&self) -> Result<(), Stop> {
        self.meanwhile(self.probe.work()).await
    }

    /// A scheduling point.
    pub async fn pauses(&self) -> Result<(), Stop> {
        self.meanwhile(self.probe.point()).await
    }

    /// The value that follows this one. It says whether it is the last.
    pub fn next(&self, before: Option<&Data>) -> Data {
        let text = before.map(|data| String::from_utf8_lossy(data.bytes()).into_owned()).unwrap_or_default();
        let number: u32 = text.trim_end_matches(LAST).parse().unwrap_or(0);
        let last = if self.is_last { LAST.to_string() } else { String::new() };
        Data::from(&*format!("{}{last}", number + 1))
    }

    /// Publishes two values that are alike, by the recipe.
    pub async fn publishes(&self) -> Result<(), Stop> {
        let mut config = Configuration::new(self.zk.clone(), &self.config());
        let before = config.changed().await?.values;
        let next = self.next(before.values().next());
        self.begins(&next);
        let values = BTreeMap::from(["a", "b"].map(|name| (Text::from(name), next.clone())));
        config.publish(&values).await?;
        self.works().await?;
        self.ends(&next);
        Ok(())
    }

    /// Sets the setting by the recipe, in the place of a znode that is removed before. Gives the version.
    pub async fn replaces(&self) -> Result<Zxid, Stop> {
        let alive = Locals::default();
        let mut setting = Setting::new(alive.told_by(self.zk.clone()), &self.name());
        let before = setting.changed().await?;
        let next = self.next(before.map(|value| value.data).as_ref());
        self.begins(&next);
        alive.set(&[Local::Text(&String::from_utf8_lossy(next.bytes()))]);
        setting.clear().await?;
        let version = setting.set(next.clone()).await?;
        self.works().await?;
        self.ends(&next);
        Ok(version)
    }

    /// Sets the setting by the recipe. Gives the version.
    pub async fn sets(&self) -> Result<Zxid, Stop> {
        let mut setting = Setting::new(self.zk.clone(), &self.name());
        let before = setting.changed().await?;
        let next = self.next(before.map(|value| value.data).as_ref());
        self.begins(&next);
        let version = setting.set(next.clone()).await?;
        self.ends(&next);
        Ok(version)
    }

    /// Tells everybody, not by way of the ensemble, that there is this version.
    pub async fn tells(&self, version: Zxid) {
        self.probe.write(Resource::Fenced, Some(version)).await;
    }

    /// Asks whether somebody has told of a version newer than this: then the resource refuses it.
    pub async fn is_told(&self, version: Zxid) -> bool {
        let told = !self.probe.write(Resource::Fenced, Some(version)).await;
        if told {
            self.probe.observe(Observation::note(words::TOLD, CONFIG, 0));
        }
        told
    }

    /// It begins to follow the configuration.
    pub fn follows(&self) {
        self.probe.observe(Observation::note(words::FOLLOWS, CONFIG, 0));
    }

    /// It has just been given these values; tells whether they are the last.
    pub fn sees(&self, values: &BTreeMap<Text, Data>) -> bool {
        let shown = shown(values.iter().map(|(name, data)| (name, Some(data))));
        self.probe.observe(Observation::note(words::SEES, &format!("{CONFIG}{shown}"), values.len() as i64));
        values.values().any(|data| data.bytes().ends_with(LAST.to_string().as_bytes()))
    }

    /// The same of the setting.
    pub fn sees_setting(&self, value: Option<&Data>) -> bool {
        self.sees(&value.into_iter().map(|data| (NAME.into(), data.clone())).collect())
    }

    /// The same of the setting, as the recipe gives it.
    pub fn sees_value(&self, value: Option<&Value>) -> bool {
        self.sees_setting(value.map(|value| &value.data))
    }

    /// It begins to set this value.
    pub fn begins(&self, next: &Data) {
        let about = format!("{CONFIG} to {}", String::from_utf8_lossy(next.bytes()));
        self.probe.observe(Observation::begins(words::SETS, &about, 0));
    }

    /// It says that it has.
    pub fn ends(&self, next: &Data) {
        let about = format!("{CONFIG} to {}", String::from_utf8_lossy(next.bytes()));
        self.probe.observe(Observation::ends(words::HAS_SET, &about, 0));
    }

    /// A reader's round is over.
    pub fn is_through(&self) {
        self.probe.observe(Observation::ends(words::IS_THROUGH_WITH, CONFIG, 0));
    }
}

//! What a recipe can read, and a model has to show as the simulator does: small recipes that say "bad" where they
//! should not have seen what they saw. Of each there is one that is wrong and one that is right.

use crate::external_recipes::judge::{Expected, about, broken, insist, judge, noted, path};
use std::sync::Arc;
use std::time::Duration;
use zoocheck::api::{
    Acl, AclList, CreateMode, Data, ErrorCode, Identity, Local, Perms, ReadOp, Response, SessionId, Text,
    ZooKeeper,
};
use zoocheck::trials::event::{End, Event, Observation};
use zoocheck::trials::probe::Probe;
use zoocheck::trials::promise::{Finding, Promise, Terms};
use zoocheck::trials::trial::{Bounds, Role, Trial};
use zoocheck::trials::words::Word;
use zoocheck::{CheckConfig, Faults};

const ROOT: &str = "/sees";

/// Nobody says "bad". Who says "good" has put it to the test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct NobodySaysBad;

impl Promise for NobodySaysBad {
    fn terms(&self) -> Terms {
        Terms::of("nobody-says-bad").about("Nobody says \"bad\".")
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        match noted(event) {
            Some((actor, "bad", what, _)) => found.push(broken(format!("{actor}: {what}"))),
            Some((_, "good", ..)) => found.push(Finding::Tested),
            _ => {}
        }
    }
}

/// A small recipe, by what it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sees {
    /// Who has authenticated may read what only its creator may.
    OwnSecret,
    /// Who has not may not, and is told of nothing that happens there.
    OthersSecret,
    /// The first process has the lower session.
    FirstIsLower,
    /// Nobody's session is another's.
    OwnSession,
    /// Three names never come in this order, in such a list.
    Order(List, [u8; 3]),
    /// They are the same whoever sorts them.
    Sorted,
    /// A name that comes before another does so whenever they are listed.
    SameOrder,
    /// A deletion is seen in its parent's pzxid.
    DeletionCounts,
    /// Nobody else deletes a child between two looks at the pzxid.
    NobodyDeletes,
    /// A fresh znode is this much later than one that was there before.
    Fresh(Later),
    /// What was set once is set later than it was created, or at the same time; and a znode's ctime stays.
    CtimeStays,
}

/// How two times compare, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Later {
    Equal,
    Little,
    Much,
    Earlier,
}

/// How names are listed, and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Children,
    MultiRead,
    Ephemerals,
    /// Something else is asked before the list is looked at.
    Kept,
    /// It is looked at behind a checkpoint, which tells of it.
    KeptOver,
}

impl Sees {
    async fn run(self, zk: &impl ZooKeeper, role: Role) -> Result<(bool, &'static str), End> {
        let me = role.me.process;
        match self {
            Sees::OwnSecret => own_secret(zk, me).await,
            Sees::OthersSecret => others_secret(zk, me).await,
            Sees::FirstIsLower => anothers(zk, me, |first, own| first > own).await,
            Sees::OwnSession => anothers(zk, me, |first, own| first == own).await,
            Sees::Order(list, order) => orders(zk, me, list, order).await,
            Sees::Sorted => sorted(zk, me).await,
            Sees::SameOrder => same_order(zk, me).await,
            Sees::DeletionCounts => deletion_counts(zk, me).await,
            Sees::NobodyDeletes => nobody_deletes(zk, me).await,
            Sees::Fresh(later) => fresh(zk, me, later).await,
            Sees::CtimeStays => ctime_stays(zk, me).await,
        }
    }
}

fn creators() -> AclList {
    [Acl { perms: Perms::ALL, who: Identity::new("auth", "") }].into()
}

async fn authenticate(zk: &impl ZooKeeper, me: u16) -> Result<(), End> {
    let credentials = Data::from(&*format!("user{me}:secret"));
    insist(zk, || zk.authenticate("digest", credentials.clone())).await
}

async fn own_secret(zk: &impl ZooKeeper, me: u16) -> Result<(bool, &'static str), End> {
    authenticate(zk, me).await?;
    let own = path(&format!("{ROOT}/secret-{me}"));
    match zk.create2(&own, Data::NULL, creators(), CreateMode::Persistent).await {
        Ok(_) => {}
        Err(error) if error.code == ErrorCode::NodeExists || error.is_session_over() => {}
        Err(error) if error.code == ErrorCode::ConnectionLoss => {}
        Err(_) => return Ok((false, "who has authenticated cannot name itself")),
    }
    // On the next connection it is still who it was.
    let known = insist(zk, || zk.who_am_i()).await?;
    if !known.iter().any(|who| &*who.scheme == "digest" && *who.id == *format!("user{me}")) {
        return Ok((false, "it is not known"));
    }
    match zk.data(&own).await {
        Err(error) if error.code == ErrorCode::NoAuth => Ok((false, "it may not read its own")),
        Ok(_) | Err(_) => Ok((true, "it may read its own")),
    }
}

async fn others_secret(zk: &impl ZooKeeper, me: u16) -> Result<(bool, &'static str), End> {
    let secret = path(&format!("{ROOT}/secret"));
    if me == 0 {
        authenticate(zk, me).await?;
        let _ = zk.create2(&secret, Data::NULL, creators(), CreateMode::Persistent).await;
        return Ok((true, "it is its own"));
    }
    match zk.data(&secret).await {
        Err(error) if error.code == ErrorCode::NoAuth => Ok((false, "it may not read another's")),
        Ok(_) | Err(_) => Ok((true, "not there yet")),
    }
}

/// Compares the session of the first process with another's.
async fn anothers(
    zk: &impl ZooKeeper,
    me: u16,
    is_bad: fn(SessionId, SessionId) -> bool,
) -> Result<(bool, &'static str), End> {
    let first = path(&format!("{ROOT}/first"));
    if me == 0 {
        insist(zk, || zk.create(&first, Data::NULL, CreateMode::Ephemeral)).await?;
        return Ok((true, "it is its own"));
    }
    let found = insist(zk, || zk.exists(&first)).await?;
    Ok((!found.is_some_and(|stat| is_bad(stat.ephemeral_owner(), zk.session())), "whose session is lower"))
}

/// Makes three znodes, and lists them.
async fn listed(zk: &impl ZooKeeper, me: u16, list: List) -> Result<Vec<u8>, End> {
    let own = path(&format!("{ROOT}/{me}"));
    insist(zk, || zk.create(&own, Data::NULL, CreateMode::Persistent)).await?;
    for name in ["b", "c", "a"] {
        let of_list = own.join(name).expect("a name");
        insist(zk, || zk.create(&of_list, Data::NULL, CreateMode::Ephemeral)).await?;
    }
    let mut names = match list {
        List::Children | List::Kept | List::KeptOver => insist(zk, || zk.children(&own)).await?,
        List::MultiRead => {
            let read = || zk.multi_read(vec![ReadOp::GetChildren { path: own.text() }]);
            match insist(zk, read).await?.pop() {
                Some(Ok(Response::Children { names, .. })) => names,
                _ => return Err(End::Failed),
            }
        }
        List::Ephemerals => insist(zk, || zk.ephemerals(&own)).await?,
    };
    if list == List::Kept {
        insist(zk, || zk.exists(&own)).await?;
    }
    if list == List::KeptOver {
        let all = names.join("/");
        zk.checkpoint("kept", &[Local::Text(&all)]);
        insist(zk, || zk.exists(&own)).await?;
        names = all.split('/').map(Text::from).collect();
    }
    Ok(names.iter().filter_map(|name| name.bytes().last()).collect())
}

async fn orders(
    zk: &impl ZooKeeper,
    me: u16,
    list: List,
    order: [u8; 3],
) -> Result<(bool, &'static str), End> {
    if me > 0 {
        return Ok((true, "it looks at nothing"));
    }
    let names = listed(zk, me, list).await?;
    Ok((names != order, "what it lists"))
}

async fn sorted(zk: &impl ZooKeeper, me: u16) -> Result<(bool, &'static str), End> {
    let mut names = listed(zk, me, List::Kept).await?;
    names.sort_unstable();
    Ok((names == *b"abc", "what it lists and sorts"))
}

async fn same_order(zk: &impl ZooKeeper, me: u16) -> Result<(bool, &'static str), End> {
    if me > 0 {
        return Ok((true, "it looks at nothing"));
    }
    let names = listed(zk, me, List::Children).await?;
    let own = path(&format!("{ROOT}/{me}"));
    insist(zk, || zk.delete(&own.join("b").expect("a name"), -1)).await?;
    let left = insist(zk, || zk.children(&own)).await?;
    let place = |name: &Text| names.iter().position(|other| name.bytes().last() == Some(*other));
    Ok((place(&left[0]) < place(&left[1]), "what it lists again"))
}

async fn deletion_counts(zk: &impl ZooKeeper, me: u16) -> Result<(bool, &'static str), End> {
    let own = path(&format!("{ROOT}/{me}"));
    let child = own.join("child").expect("a name");
    insist(zk, || zk.create(&own, Data::NULL, CreateMode::Persistent)).await?;
    insist(zk, || zk.create(&child, Data::NULL, CreateMode::Persistent)).await?;
    let before = insist(zk, || zk.children2(&own)).await?.1;
    insist(zk, || zk.delete(&child, -1)).await?;
    let after = insist(zk, || zk.children2(&own)).await?.1;
    Ok((after.pzxid() > before.pzxid(), "a deletion leaves no trace"))
}

async fn nobody_deletes(zk: &impl ZooKeeper, me: u16) -> Result<(bool, &'static str), End> {
    let own = path(&format!("{ROOT}/own"));
    if me > 0 {
        let _ = zk.delete(&own, -1).await;
        return Ok((true, "it deletes"));
    }
    insist(zk, || zk.create(&own, Data::NULL, CreateMode::Persistent)).await?;
    let (names, before) = insist(zk, || zk.children2(&path(ROOT))).await?;
    let (left, after) = insist(zk, || zk.children2(&path(ROOT))).await?;
    Ok((names.len() <= left.len() || after.pzxid() == before.pzxid(), "somebody deletes"))
}

async fn fresh(zk: &impl ZooKeeper, me: u16, later: Later) -> Result<(bool, &'static str), End> {
    let [one, two] = [1, 2].map(|nth| path(&format!("{ROOT}/{me}-{nth}")));
    let create = |path| zk.create2(path, Data::NULL, zoocheck::api::open_acl(), CreateMode::Persistent);
    let (one, two) = (create(&one), create(&two));
    let (Ok((_, one)), Ok((_, two))) = (one.await, two.await) else { return Err(End::Failed) };
    if later == Later::Much {
        zk.sleep(Duration::from_secs(2)).await;
        let now = insist(zk, || zk.set_data(&path(ROOT), Data::NULL, -1)).await?;
        return Ok((now.mtime_ms() - one.ctime_ms() < 1_000, "its lock is old"));
    }
    if later == Later::Earlier {
        let mut last_ms = two.ctime_ms();
        for _ in 0..12 {
            zk.sleep(Duration::from_secs(1)).await;
            let now = insist(zk, || zk.set_data(&path(ROOT), Data::NULL, -1)).await?;
            if now.mtime_ms() < last_ms {
                return Ok((false, "time goes back"));
            }
            last_ms = now.mtime_ms();
        }
        return Ok((true, "time goes on"));
    }
    let passed_ms = two.ctime_ms() - one.ctime_ms();
    let is = match later {
        Later::Equal => passed_ms == 0,
        Later::Little => passed_ms > 0 && passed_ms < 1_000,
        Later::Much | Later::Earlier => return Err(End::Failed),
    };
    Ok((!is, "how time passes"))
}

async fn ctime_stays(zk: &impl ZooKeeper, me: u16) -> Result<(bool, &'static str), End> {
    let own = path(&format!("{ROOT}/{me}"));
    insist(zk, || zk.create(&own, Data::NULL, CreateMode::Persistent)).await?;
    let before = insist(zk, || zk.data(&own)).await?.1;
    insist(zk, || zk.create(&own.join("child").expect("a name"), Data::NULL, CreateMode::Persistent)).await?;
    let after = insist(zk, || zk.data(&own)).await?.1;
    let stays = before.ctime_ms() == after.ctime_ms() && after.mtime_ms() == after.ctime_ms();
    Ok((stays, "a ctime that changes"))
}

impl From<Sees> for Trial {
    fn from(it: Sees) -> Trial {
        let about = { about("external-sees", "Says what it sees.", Bounds::clients(2)) };
        let mut trial = Trial::new(about.name, move |zk, probe, role| it.actor(zk, probe, role))
            .opts_out(&zoocheck::trials::promises::STANDARD)
            .promises(|| vec![Box::new(NobodySaysBad)])
            .setup([ROOT]);
        trial.about = about;
        trial
    }
}

impl Sees {
    async fn actor(self, zk: Arc<dyn ZooKeeper>, probe: Arc<dyn Probe>, role: Role) -> End {
        match self.run(&zk, role).await {
            Ok((good, what)) => {
                probe.observe(Observation::note(Word::own(if good { "good" } else { "bad" }), what, 0));
                End::Done
            }
            Err(end) => end,
        }
    }
}

const WRONG: Expected = Expected::Wrong { promise: "nobody-says-bad", steps: 12 };

fn sees(what: Sees, bounds: Bounds, expected: &Expected) {
    judge(what, &CheckConfig::new(bounds), 2, Faults::none(), expected);
}

/// The model passed no identity on: a creator's list was refused, and what is the creator's own was nobody's.
#[test]
fn who_has_authenticated_is_known_by_it_also_on_the_next_connection() {
    let bounds = Bounds { drops: 1, lag: 1, ..Bounds::clients(2) };
    judge(
        Sees::OwnSecret,
        &CheckConfig::new(bounds),
        2,
        crate::external_recipes::judge::drops(),
        &Expected::Right,
    );
}

#[test]
fn what_is_its_creators_alone_is_refused_to_others() {
    sees(Sees::OthersSecret, Bounds::clients(2), &WRONG);
}

/// Models had one order of names.
#[test]
fn names_come_in_every_order() {
    for order in [*b"abc", *b"acb", *b"bac", *b"bca", *b"cab", *b"cba"] {
        sees(Sees::Order(List::Children, order), Bounds::clients(1), &WRONG);
    }
}

#[test]
fn an_order_is_read_wherever_names_are_listed_and_however_long_they_are_kept() {
    for list in [List::MultiRead, List::Ephemerals, List::Kept, List::KeptOver] {
        sees(
            Sees::Order(list, *b"cab"),
            Bounds::clients(1),
            &Expected::Wrong { steps: 14, promise: "nobody-says-bad" },
        );
        sees(
            Sees::Order(list, *b"bac"),
            Bounds::clients(1),
            &Expected::Wrong { steps: 14, promise: "nobody-says-bad" },
        );
    }
}

#[test]
fn who_sorts_names_pays_for_one_order_and_who_compares_finds_the_same_one() {
    sees(Sees::Sorted, Bounds::clients(2), &Expected::Right);
    sees(Sees::SameOrder, Bounds::clients(1), &Expected::Right);
}

/// Session ids were in the order of the processes.
#[test]
fn sessions_come_in_every_order_where_somebody_looks() {
    sees(Sees::FirstIsLower, Bounds::clients(2), &WRONG);
    sees(Sees::OwnSession, Bounds::clients(2), &Expected::Right);
}

/// Deletions took no number of their own: who deletes was not seen, in code that is right and in code that is wrong.
#[test]
fn a_deletion_is_seen_in_the_pzxid() {
    sees(Sees::DeletionCounts, Bounds::clients(2), &Expected::Right);
    sees(Sees::NobodyDeletes, Bounds::clients(2), &WRONG);
}

/// All that happened in a model happened at zero.
#[test]
fn a_transaction_is_of_the_same_time_as_another_or_a_little_or_much_later() {
    for later in [Later::Equal, Later::Little, Later::Much] {
        sees(Sees::Fresh(later), Bounds::clients(1), &WRONG);
    }
    sees(Sees::CtimeStays, Bounds::clients(2), &Expected::Right);
}

#[test]
fn a_leaders_clock_goes_back() {
    let faults = Faults { clock_jump_ms: 2000, ..Faults::none() };
    judge(Sees::Fresh(Later::Earlier), &CheckConfig::new(Bounds::clients(1)), 2, faults, &WRONG);
}

//! The published steps, decent in everything but what a variant asks for.

use super::fixture::{Fixture, Item};
use zk_api::{
    CreateMode, Data, Either, ErrorCode, Local, Outcome, Text, ZPath, ZooKeeper, race, sequence_of,
};
use zk_harness::common::{AnyZooKeeper, InRound, Stop, knowing, plain};

/// How the published steps of a consumer are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Steps {
    /// Deletes the item before it works it off, and takes that for a claim; otherwise after that.
    pub(super) deletes_first: bool,
    /// Sorts items by their whole names, and not by number.
    pub(super) by_name: bool,
    /// Takes an item out of its list before it has read it.
    pub(super) pops_first: bool,
    /// Keeps an item in its list that is gone.
    pub(super) same_cache: bool,
    /// That an item is gone is an error.
    pub(super) no_node_fails: bool,
    /// Waits by a watch of the items' parent itself, and not of its list.
    pub(super) wrong_watch: bool,
    /// After a lost connection, it watches and waits without looking at the list.
    pub(super) watch_lost: bool,
}

/// The steps as far as they are sound: one at a time gets each item, as long as nothing goes wrong.
pub(super) const SOUND: Steps = Steps {
    deletes_first: true,
    by_name: false,
    pops_first: false,
    same_cache: false,
    no_node_fails: false,
    wrong_watch: false,
    watch_lost: false,
};

impl Steps {
    /// Takes an item in each round, and makes no new list until the old one is used up.
    pub(super) async fn consume(self, fixture: &Fixture) -> Result<(), Stop> {
        let mut list = Vec::new();
        for round in 0..fixture.rounds() {
            let zk = fixture.zk(round);
            fixture.asks(round).await;
            let (item, payload) = self.take(&zk, fixture, &mut list).await?;
            fixture.works(&item, &payload, round).await;
            if !self.deletes_first {
                self.remove(&zk, &item, &list).await?;
            }
            fixture.done(&item, round);
        }
        Ok(())
    }

    async fn take(
        self,
        zk: &InRound<AnyZooKeeper>,
        fixture: &Fixture,
        list: &mut Vec<Text>,
    ) -> Result<(ZPath, Data), Stop> {
        loop {
            zk.checkpoint("steps/take", &[Local::Text(&list.join(" "))]);
            let Some(head) = list.first().cloned() else {
                *list = self.list(zk, &fixture.parent()).await?;
                continue;
            };
            if self.pops_first {
                list.remove(0);
            }
            let item = plain::child(&fixture.parent(), &head);
            let payload = match zk.data(&item).await {
                Ok((payload, _)) => payload,
                Err(e) if e.code == ErrorCode::NoNode && !self.no_node_fails => {
                    if !self.pops_first && !self.same_cache {
                        list.remove(0);
                    }
                    continue;
                }
                Err(e) => {
                    plain::passing(zk, e).await?;
                    continue;
                }
            };
            if !self.pops_first {
                list.remove(0);
            }
            let text = String::from_utf8_lossy(payload.bytes()).into_owned();
            if !self.deletes_first || self.remove(&knowing(zk.clone(), &text), &item, list).await? {
                return Ok((item, payload));
            }
        }
    }

    /// Removes an item, however often it takes; `false` if it is gone, and so another's.
    async fn remove(self, zk: &impl ZooKeeper, item: &ZPath, list: &[Text]) -> Result<bool, Stop> {
        let delete = || plain::unless(ErrorCode::NoNode, zk.delete(item, -1));
        let list = list.join(" ");
        let known = [item.as_str(), &list].map(Local::Text);
        Ok(plain::again_from(zk, "steps/remove", &known, delete).await?.is_some())
    }

    /// Lists the items, first come first. Waits, if there is none, and gives none.
    async fn list(self, zk: &impl ZooKeeper, parent: &ZPath) -> Result<Vec<Text>, Stop> {
        let (mut names, watch) = match zk.children_watch(parent).await {
            Ok(answer) => answer,
            Err(e) => return plain::passing(zk, e).await.map(|()| Vec::new()),
        };
        if self.by_name {
            names.sort_unstable();
        } else {
            names.sort_by_key(|name| sequence_of(name));
        }
        if !names.is_empty() {
            return Ok(names);
        }
        if self.wrong_watch {
            drop(watch);
            plain::event(plain::exists(zk, parent, "").await?.1).await?;
        } else if self.watch_lost {
            match race(watch, zk.state_change()).await {
                Either::Left(_) => {}
                Either::Right(_) => self.watch_anew(zk, parent).await?,
            }
        } else {
            plain::event(watch).await?;
        }
        Ok(names)
    }

    async fn watch_anew(self, zk: &impl ZooKeeper, parent: &ZPath) -> Result<(), Stop> {
        let (_, watch) = plain::again_from(zk, "steps/watch-anew", &[], || zk.children_watch(parent)).await?;
        plain::event(watch).await
    }
}

/// How a producer names its items: the item's number and its priority give what comes before the sequence number.
pub(super) type Prefix = fn(&Item) -> String;

/// Puts all items by creates that are simply repeated when their answers are lost, or taken for done.
pub(super) async fn produce(
    fixture: &Fixture,
    (mode, prefix): (CreateMode, Prefix),
    repeats: bool,
) -> Result<(), Stop> {
    for item in fixture.items() {
        fixture.puts(&item);
        let (zk, path) = (fixture.zk(item.nth), plain::child(&fixture.parent(), &prefix(&item)));
        loop {
            zk.checkpoint("steps/put", &[]);
            match zk.create(&path, Data::from(item.payload.as_str()), mode).await {
                Ok(_) => break,
                Err(e) => {
                    let is_lost = e.outcome() == Outcome::Unknown;
                    plain::passing(&zk, e).await?;
                    if is_lost && !repeats {
                        break;
                    }
                }
            }
        }
        fixture.has_put(&item);
    }
    Ok(())
}

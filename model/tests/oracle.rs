//! The good lock, written down once more by hand: an enum for each contender, and no replay.
//!
//! What is compared: the number of unique states, with checkpoints on, no reduction, one round and no effects,
//! of the recipe alone (no promise in the state), without faults and with one session that expires. Both
//! machines know the same things: what each contender waits for, what is on its way to it and from it, which
//! znodes exist and who owns them, which sessions live, which watches are armed, and how often a session may
//! still expire. They share no code: this one knows nothing of futures, histories, digests, the tree or zxids.

mod common;

use common::{Bare, full, run, trial};
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;
use zk_model::Verdict;

/// A contender's znode, by what its name tells: the number, and whose it is.
type Node = (u8, usize);

/// Where a contender is. Every variant but the last four has a request on its way or is about to be answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum At {
    Creating,
    Listing {
        own: Node,
    },
    Watching {
        own: Node,
        before: Node,
    },
    Claiming {
        own: Node,
    },
    Releasing {
        own: Node,
    },
    /// It waits for the watch.
    Waiting {
        own: Node,
        before: Node,
    },
    /// It is in the critical section.
    Holding {
        own: Node,
    },
    /// It was there when it learnt that the connection is lost, and waits for the next.
    Stranded(Box<At>),
    /// It has come to its end; `true` with its session lost.
    Ended(bool),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Letter {
    Created(Node),
    Listed(BTreeSet<Node>),
    Watched { there: bool },
    Claimed,
    Released,
    Deleted(Node),
    Lost,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Contender {
    at: At,
    /// Its request has not been served yet.
    asks: bool,
    inbox: VecDeque<Letter>,
    connected: bool,
    lives: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    contenders: Vec<Contender>,
    /// The next number.
    next: u8,
    nodes: BTreeSet<Node>,
    /// Who watches which znode.
    watches: BTreeSet<(Node, usize)>,
    expiries: u8,
}

impl Contender {
    fn goes(&mut self, at: At) {
        self.at = at;
        // What is asked on a dead session goes nowhere.
        self.asks = self.lives;
    }

    fn ends(&mut self, session_lost: bool) {
        self.at = At::Ended(session_lost);
        self.asks = false;
        self.connected = true;
        self.inbox.clear();
    }
}

impl World {
    fn new(contenders: usize, expiries: u8) -> World {
        let new =
            Contender { at: At::Creating, asks: true, inbox: VecDeque::new(), connected: true, lives: true };
        let contenders = vec![new; contenders];
        World { contenders, next: 0, nodes: BTreeSet::new(), watches: BTreeSet::new(), expiries }
    }

    fn successors(&self) -> Vec<World> {
        let mut all = Vec::new();
        for who in 0..self.contenders.len() {
            let contender = &self.contenders[who];
            let ended = matches!(contender.at, At::Ended(_));
            let mut add = |change: &dyn Fn(&mut World)| {
                let mut next = self.clone();
                change(&mut next);
                all.push(next);
            };
            if !contender.inbox.is_empty() {
                add(&|next| next.deliver(who));
            }
            if contender.asks && contender.connected {
                add(&|next| next.serve(who));
            }
            if let At::Holding { own } = contender.at {
                add(&|next| next.contenders[who].goes(At::Releasing { own }));
            }
            if !contender.connected && !ended {
                add(&|next| next.contenders[who].ends(true));
            }
            if self.expiries > 0 && contender.lives && !ended {
                add(&|next| next.expire(who));
            }
        }
        all
    }

    fn serve(&mut self, who: usize) {
        self.contenders[who].asks = false;
        let letter = match self.contenders[who].at {
            At::Creating => {
                let node = (self.next, who);
                self.nodes.insert(node);
                self.next += 1;
                Letter::Created(node)
            }
            At::Listing { .. } => Letter::Listed(self.nodes.clone()),
            At::Watching { before, .. } => {
                self.watches.insert((before, who));
                Letter::Watched { there: self.nodes.contains(&before) }
            }
            At::Claiming { .. } => Letter::Claimed,
            At::Releasing { own } => {
                self.delete(own);
                Letter::Released
            }
            At::Waiting { .. } | At::Holding { .. } | At::Stranded(_) | At::Ended(_) => {
                panic!("asks nothing")
            }
        };
        self.contenders[who].inbox.push_back(letter);
    }

    fn delete(&mut self, node: Node) {
        self.nodes.remove(&node);
        let woken: Vec<_> = self.watches.iter().filter(|(watched, _)| *watched == node).copied().collect();
        for (_, watcher) in woken {
            self.watches.remove(&(node, watcher));
            self.contenders[watcher].inbox.push_back(Letter::Deleted(node));
        }
    }

    fn expire(&mut self, who: usize) {
        self.expiries -= 1;
        let contender = &mut self.contenders[who];
        contender.lives = false;
        contender.asks = false;
        contender.inbox.push_back(Letter::Lost);
        let owned = self.nodes.iter().find(|(_, owner)| *owner == who).copied();
        owned.into_iter().for_each(|node| self.delete(node));
        self.watches.retain(|(_, watcher)| *watcher != who);
    }

    fn deliver(&mut self, who: usize) {
        let contender = &mut self.contenders[who];
        let letter = contender.inbox.pop_front().expect("there is one");
        match (letter, contender.at.clone()) {
            (Letter::Created(own), At::Creating) => contender.goes(At::Listing { own }),
            (Letter::Listed(nodes), At::Listing { own }) => {
                contender.goes(match nodes.range(..own).next_back() {
                    Some(&before) => At::Watching { own, before },
                    None => At::Claiming { own },
                });
            }
            (Letter::Watched { there: true }, At::Watching { own, before }) => {
                contender.at = At::Waiting { own, before };
            }
            (Letter::Watched { there: false }, At::Watching { own, before }) => {
                contender.goes(At::Listing { own });
                self.watches.remove(&(before, who));
            }
            (Letter::Claimed, At::Claiming { own }) => contender.at = At::Holding { own },
            (Letter::Released, At::Releasing { .. }) => contender.ends(false),
            (Letter::Deleted(_), At::Waiting { own, .. }) => contender.goes(At::Listing { own }),
            (Letter::Lost, at) => {
                contender.connected = false;
                match at {
                    // It stops at once, and asks for the deletion though it is bound to fail.
                    At::Holding { own } => contender.goes(At::Releasing { own }),
                    at => contender.at = At::Stranded(Box::new(at)),
                }
            }
            (letter, at) => panic!("{letter:?} at {at:?}"),
        }
    }
}

fn count(contenders: usize, expiries: u8) -> u64 {
    let first = World::new(contenders, expiries);
    let mut seen = HashSet::from([first.clone()]);
    let mut open = VecDeque::from([first]);
    while let Some(world) = open.pop_front() {
        for next in world.successors() {
            if seen.insert(next.clone()) {
                open.push_back(next);
            }
        }
    }
    seen.len() as u64
}

#[test]
fn the_replayed_lock_has_as_many_states_as_the_one_written_by_hand() {
    for (clients, expiries) in [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (4, 0)] {
        let check = run(Arc::new(Bare(trial("lock"))), &full(clients, expiries, 0, 0));
        assert_eq!(check.verdict, Verdict::Holds);
        let by_hand = count(usize::from(clients), expiries);
        assert_eq!(check.states, by_hand, "{clients} clients, {expiries} expiries");
    }
}

//! The good lock, written down once more by hand: an enum for each contender, and no replay.
//!
//! What is compared: the number of unique states, with checkpoints on, no reduction, one round and no effects,
//! of the recipe alone (no promise in the state), without faults and with sessions that expire, connections that
//! drop and processes that crash. Both machines know the same things: what each contender waits for, what is on
//! its way to it and from it, what a lost connection still carries, which znodes exist and who owns them, which
//! sessions live, which watches are armed, and what may still go wrong. They share no code: this one knows
//! nothing of futures, histories, digests, the tree or zxids.

use crate::common::{bare, full, run, trial};
use std::collections::{BTreeSet, HashSet, VecDeque};
use zk_model::Verdict;

/// A contender's znode, by what its name tells: the number, and whose it is.
type Node = (u8, usize);

/// A list, until the next checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Seen {
    nodes: BTreeSet<Node>,
    /// It was there when the place in the order of writes was looked at.
    at_once: bool,
}

/// Where a contender is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum At {
    /// Its code is to begin.
    Unbegun,
    /// It has asked for a znode; after a look at this list, which is known until the next checkpoint.
    Creating { seen: Option<Seen> },
    /// It has asked for the list; while it does not know its znode, for a place in the order of writes before it.
    Listing { own: Option<Node>, ordered: bool },
    /// It has found a znode of its own in this list, and asks whose it is.
    Adopting { own: Node, seen: Seen },
    /// It has asked for the znode before its own.
    Watching { own: Node, before: Node },
    /// It has asked for its own.
    Claiming { own: Node },
    /// It has asked for the deletion of its own.
    Releasing { own: Node },
    /// It waits for the watch.
    Waiting { own: Node, before: Node },
    /// It is in the critical section.
    Holding { own: Node },
    /// It was there when it learnt that the connection is lost, and waits for the next.
    Stranded(Box<At>),
    /// It has come to its end; `true` with its session lost.
    Ended(bool),
    /// It was told of the end of its session before that had come, and keeps it alive no more.
    Misled,
    /// Its process is gone.
    Crashed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Ask {
    Create,
    Order,
    List,
    Watch(Node),
    Look(Node),
    Delete(Node),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Message {
    Created(Node),
    Ordered,
    Listed(BTreeSet<Node>),
    Watched { there: bool },
    Looked { there: bool },
    Removed { was_there: bool },
    Deleted(Node),
    Lost,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Contender {
    at: At,
    asks: VecDeque<Ask>,
    /// Writes that a lost connection still carries.
    ghosts: VecDeque<Ask>,
    inbox: VecDeque<Message>,
    connected: bool,
    lives: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    contenders: Vec<Contender>,
    /// The next number.
    next: u8,
    nodes: BTreeSet<Node>,
    /// Who watches which znode.
    watches: BTreeSet<(Node, usize)>,
    left: Faults,
}

/// Expiries, drops and crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Faults {
    expiries: u8,
    drops: u8,
    crashes: u8,
}

fn is_write(ask: Ask) -> bool {
    match ask {
        Ask::Create | Ask::Order | Ask::Delete(_) => true,
        Ask::List | Ask::Watch(_) | Ask::Look(_) => false,
    }
}

impl Contender {
    /// Goes on to where the step's requests are asked; on a dead session they go nowhere.
    fn goes(&mut self, at: At) {
        if self.lives {
            match &at {
                At::Creating { .. } => self.asks.push_back(Ask::Create),
                At::Listing { own, .. } => {
                    self.asks.extend(own.is_none().then_some(Ask::Order));
                    self.asks.push_back(Ask::List);
                }
                At::Adopting { own, .. } | At::Claiming { own } => self.asks.push_back(Ask::Look(*own)),
                At::Watching { before, .. } => self.asks.push_back(Ask::Watch(*before)),
                At::Releasing { own } => self.asks.push_back(Ask::Delete(*own)),
                At::Waiting { .. } | At::Holding { .. } => {}
                At::Unbegun | At::Stranded(_) | At::Ended(_) | At::Misled | At::Crashed => {
                    panic!("nobody goes there")
                }
            }
        }
        self.at = at;
    }

    fn lists(&mut self, own: Option<Node>) {
        self.goes(At::Listing { own, ordered: false });
    }

    fn ends(&mut self, at: At) {
        self.at = at;
        self.asks.clear();
        self.connected = true;
        self.inbox.clear();
    }

    fn is_over(&self) -> bool {
        matches!(self.at, At::Ended(_) | At::Misled | At::Crashed)
    }

    /// It has learnt that the connection is lost.
    fn loses(&mut self) {
        self.connected = false;
        match self.at.clone() {
            // It stops at once, and asks for the deletion as soon as it can.
            At::Holding { own } => self.goes(At::Releasing { own }),
            at => self.at = At::Stranded(Box::new(at)),
        }
    }

    /// It is connected again, with the same session.
    fn returns(&mut self) {
        self.connected = true;
        let At::Stranded(at) = self.at.clone() else { return };
        match *at {
            At::Creating { .. } | At::Adopting { .. } => self.lists(None),
            At::Listing { own, .. } => self.lists(own),
            At::Watching { own, .. } | At::Waiting { own, .. } | At::Claiming { own } => {
                self.lists(Some(own));
            }
            At::Releasing { own } => self.goes(At::Releasing { own }),
            At::Unbegun | At::Holding { .. } | At::Stranded(_) | At::Ended(_) | At::Misled | At::Crashed => {
                panic!("not stranded")
            }
        }
    }

    /// What it does with a list in which its own znode is `own`, as far as it knew it already or not.
    fn takes_list(&mut self, known: Option<Node>, me: usize, seen: Seen) {
        let nodes = &seen.nodes;
        let mine: Vec<Node> = nodes.iter().filter(|(_, whose)| *whose == me).copied().collect();
        let before = |own: Node| nodes.range(..own).next_back().copied();
        match (&*mine, known) {
            ([], None) => self.goes(At::Creating { seen: Some(seen) }),
            ([own], None) => self.goes(At::Adopting { own: *own, seen }),
            ([own], Some(known)) if *own == known => self.goes(match before(known) {
                Some(before) => At::Watching { own: known, before },
                None => At::Claiming { own: known },
            }),
            _ => panic!("{mine:?} are there, and {known:?} is known"),
        }
    }
}

impl State {
    fn new(contenders: usize, left: Faults) -> State {
        let new = Contender {
            at: At::Unbegun,
            asks: VecDeque::new(),
            ghosts: VecDeque::new(),
            inbox: VecDeque::new(),
            connected: true,
            lives: true,
        };
        let contenders = vec![new; contenders];
        State { contenders, next: 0, nodes: BTreeSet::new(), watches: BTreeSet::new(), left }
    }

    fn successors(&self) -> Vec<State> {
        let mut all = Vec::new();
        // The only server has told of an end, and writes it before anything else.
        let owes_end = self.contenders.iter().any(|other| other.at == At::Misled && other.lives);
        for who in 0..self.contenders.len() {
            let contender = &self.contenders[who];
            let mut add = |change: &dyn Fn(&mut State)| {
                let mut next = self.clone();
                change(&mut next);
                all.push(next);
            };
            if contender.at == At::Unbegun {
                add(&|next| next.contenders[who].goes(At::Creating { seen: None }));
            }
            if !contender.inbox.is_empty() {
                add(&|next| next.deliver(who));
            }
            if let (Some(Message::Ordered), Some(Message::Listed(nodes))) =
                (contender.inbox.front(), contender.inbox.get(1))
            {
                add(&|next| next.deliver_both(who, nodes));
            }
            let waits = |ask: &Ask| owes_end && is_write(*ask);
            if !contender.ghosts.is_empty() && owes_end {
                // It waits.
            } else if !contender.ghosts.is_empty() {
                add(&|next| {
                    let ghost = next.contenders[who].ghosts.pop_front().expect("there is one");
                    next.answer(who, ghost);
                });
            } else if contender.asks.front().is_some_and(|ask| !waits(ask)) && contender.connected {
                add(&|next| {
                    let ask = next.contenders[who].asks.pop_front().expect("there is one");
                    let message = next.answer(who, ask);
                    next.contenders[who].inbox.push_back(message);
                });
            }
            if let At::Holding { own } = contender.at {
                add(&|next| next.contenders[who].goes(At::Releasing { own }));
            }
            if !contender.connected && !contender.is_over() {
                add(&|next| match next.contenders[who].lives {
                    true => next.contenders[who].returns(),
                    false => next.contenders[who].ends(At::Ended(true)),
                });
            }
            if matches!(contender.at, At::Crashed | At::Misled) && contender.lives {
                add(&|next| next.expire(who));
            }
        }
        for who in 0..self.contenders.len() {
            self.faults(who, &mut all);
        }
        all
    }

    fn faults(&self, who: usize, all: &mut Vec<State>) {
        let contender = &self.contenders[who];
        if contender.is_over() || contender.at == At::Unbegun {
            return;
        }
        let mut add = |change: &dyn Fn(&mut State)| {
            let mut next = self.clone();
            change(&mut next);
            all.push(next);
        };
        if self.left.expiries > 0 && contender.lives {
            add(&|next| {
                next.left.expiries -= 1;
                next.expire(who);
            });
        }
        // It is told of an end that has not come yet.
        if self.left.expiries > 0 && contender.lives && !contender.connected {
            add(&|next| {
                next.left.expiries -= 1;
                next.contenders[who].ends(At::Misled);
            });
        }
        // Where the next connection would tell of the end, finding no server is something else: what was asked fails.
        let asks = matches!(contender.at, At::Releasing { .. });
        if self.left.drops > 0 && !contender.connected && !contender.lives && asks {
            add(&|next| next.drop_connection(who, 0));
        }
        // Once the session is over, a drop can only lose what came before the news.
        if self.left.drops > 0 && contender.connected && (contender.lives || contender.inbox.len() > 1) {
            let writes = contender.asks.iter().filter(|ask| is_write(**ask)).count();
            for ghosts in 0..=writes {
                add(&|next| next.drop_connection(who, ghosts));
            }
        }
        if self.left.crashes > 0 {
            add(&|next| next.crash(who));
        }
    }

    /// What the ensemble does and says.
    fn answer(&mut self, who: usize, ask: Ask) -> Message {
        match ask {
            Ask::Create => {
                let node = (self.next, who);
                self.nodes.insert(node);
                self.next += 1;
                Message::Created(node)
            }
            Ask::Order => Message::Ordered,
            Ask::List => Message::Listed(self.nodes.clone()),
            Ask::Watch(before) => {
                self.watches.insert((before, who));
                Message::Watched { there: self.nodes.contains(&before) }
            }
            Ask::Look(own) => Message::Looked { there: self.nodes.contains(&own) },
            Ask::Delete(own) => {
                let was_there = self.nodes.contains(&own);
                self.delete(own);
                Message::Removed { was_there }
            }
        }
    }

    fn delete(&mut self, node: Node) {
        if !self.nodes.remove(&node) {
            return;
        }
        let woken: Vec<_> = self.watches.iter().filter(|(watched, _)| *watched == node).copied().collect();
        for (_, watcher) in woken {
            self.watches.remove(&(node, watcher));
            self.contenders[watcher].inbox.push_back(Message::Deleted(node));
        }
    }

    fn expire(&mut self, who: usize) {
        let contender = &mut self.contenders[who];
        contender.lives = false;
        contender.asks.clear();
        contender.ghosts.clear();
        if contender.connected && !contender.is_over() {
            contender.inbox.push_back(Message::Lost);
        }
        let owned: Vec<Node> = self.nodes.iter().filter(|(_, owner)| *owner == who).copied().collect();
        owned.into_iter().for_each(|node| self.delete(node));
        self.watches.retain(|(_, watcher)| *watcher != who);
    }

    /// It learns it at once, and the lock waits for nothing any more that it was watching.
    fn drop_connection(&mut self, who: usize, ghosts: usize) {
        self.left.drops -= 1;
        self.watches.retain(|(_, watcher)| *watcher != who);
        let contender = &mut self.contenders[who];
        let asks = std::mem::take(&mut contender.asks);
        contender.ghosts.extend(asks.into_iter().filter(|ask| is_write(*ask)).take(ghosts));
        contender.inbox.clear();
        contender.loses();
    }

    fn crash(&mut self, who: usize) {
        self.left.crashes -= 1;
        self.watches.retain(|(_, watcher)| *watcher != who);
        let contender = &mut self.contenders[who];
        if contender.connected {
            contender.ghosts.extend(contender.asks.iter().filter(|ask| is_write(**ask)));
        }
        contender.ends(At::Crashed);
    }

    /// The list is there as well when the contender comes to look.
    fn deliver_both(&mut self, who: usize, nodes: &BTreeSet<Node>) {
        let contender = &mut self.contenders[who];
        contender.inbox.drain(..2);
        contender.takes_list(None, who, Seen { nodes: nodes.clone(), at_once: true });
    }

    fn deliver(&mut self, who: usize) {
        let contender = &mut self.contenders[who];
        let message = contender.inbox.pop_front().expect("there is one");
        match (message, contender.at.clone()) {
            (Message::Created(own), At::Creating { .. }) => contender.lists(Some(own)),
            (Message::Ordered, At::Listing { own: None, ordered: false }) => {
                contender.at = At::Listing { own: None, ordered: true };
            }
            (Message::Listed(nodes), At::Listing { own, .. }) => {
                contender.takes_list(own, who, Seen { nodes, at_once: false });
            }
            (Message::Looked { there: true }, At::Adopting { own, seen }) => {
                contender.goes(match seen.nodes.range(..own).next_back() {
                    Some(&before) => At::Watching { own, before },
                    None => At::Holding { own },
                });
            }
            (Message::Watched { there: true }, At::Watching { own, before }) => {
                contender.goes(At::Waiting { own, before });
            }
            // That watch is armed as long as the connection lasts, and waits for what never comes.
            (Message::Watched { there: false }, At::Watching { own, .. }) => contender.lists(Some(own)),
            (Message::Looked { there: true }, At::Claiming { own }) => contender.goes(At::Holding { own }),
            (Message::Removed { .. }, At::Releasing { .. }) => contender.ends(At::Ended(false)),
            (Message::Deleted(_), At::Waiting { own, .. }) => contender.lists(Some(own)),
            (Message::Lost, _) => contender.loses(),
            (message, at) => panic!("{message:?} at {at:?}"),
        }
    }
}

fn count(contenders: usize, left: Faults) -> u64 {
    let first = State::new(contenders, left);
    let mut seen = HashSet::from([first.clone()]);
    let mut open = VecDeque::from([first]);
    while let Some(state) = open.pop_front() {
        for next in state.successors() {
            if seen.insert(next.clone()) {
                open.push_back(next);
            }
        }
    }
    seen.len() as u64
}

fn same_count(clients: u8, expiries: u8, drops: u8, crashes: u8) {
    let check = run(bare(&trial("lock")), &full(clients, expiries, drops, crashes));
    assert_eq!(check.verdict, Verdict::Holds);
    let by_hand = count(usize::from(clients), Faults { expiries, drops, crashes });
    assert_eq!(check.states, by_hand, "{clients} clients, e{expiries} d{drops} c{crashes}");
}

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn the_replayed_lock_has_as_many_states_as_the_one_written_by_hand() {
    for (clients, expiries) in [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (4, 0)] {
        same_count(clients, expiries, 0, 0);
    }
}

#[test]
fn it_has_as_many_when_connections_drop() {
    for (clients, expiries, drops) in [(1, 0, 1), (1, 1, 1), (1, 1, 2), (2, 0, 1), (2, 1, 1), (3, 0, 1)] {
        same_count(clients, expiries, drops, 0);
    }
}

#[test]
fn it_has_as_many_when_processes_crash() {
    for (clients, expiries, drops, crashes) in
        [(1, 0, 0, 1), (1, 0, 1, 1), (1, 1, 1, 1), (2, 0, 0, 1), (2, 0, 0, 2), (2, 1, 0, 1), (2, 1, 1, 1)]
    {
        same_count(clients, expiries, drops, crashes);
    }
}

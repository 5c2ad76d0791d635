//! The steps of a counterexample as data, for whoever draws them: `describe` says the same in words.
//!
//! ```
//! use zk_model::{scene::Does, story::Story};
//! # use zk_model::{CheckConfig, model::RecipeModel, reads::Reads};
//! # use zk_harness::trial::Bounds;
//! # let lock = zk_catalogue::trials().remove(0);
//! # let config = CheckConfig::new(Bounds::clients(2));
//! # let model = RecipeModel::new(lock, &config, Reads::at_first());
//! # let (start, mut actions) = (model.init().state, Vec::new());
//! # model.actions(&start, &mut actions);
//!
//! let taken = model.step(&start, actions[0]);
//! let scene = Story::new(&start).step(&start, actions[0], &taken);
//! assert_eq!((scene.process, scene.does), (Some(0), Does::Moves), "its code begins");
//! assert!(scene.served.is_none() && !scene.events.is_empty());
//! ```

use crate::action::Action;
use crate::link::Client;
use crate::message::Message;
use crate::model::Taken;
use crate::scene::{Does, Scene, Served};
use crate::state::State;
use std::sync::Arc;
use zk_api::{Response, Text};

/// Follows a path, and remembers when what is under way was sent.
pub struct Story {
    step: u32,
    sent: Vec<Sent>,
}

/// When the items of a client's lists were put there.
#[derive(Clone, Default)]
struct Sent {
    queue: Vec<u32>,
    inbox: Vec<u32>,
    ghosts: Vec<u32>,
}

impl Story {
    /// At the first state.
    pub fn new(state: &State) -> Story {
        let sent = state.clients.iter().map(|client| Sent {
            queue: vec![0; client.queue.len()],
            inbox: vec![0; client.inbox.len()],
            ghosts: vec![0; client.ghosts.len()],
        });
        Story { step: 0, sent: sent.collect() }
    }

    /// The next step.
    pub fn step(&mut self, before: &State, action: Action, taken: &Taken) -> Scene {
        self.step += 1;
        let (process, does, mut paths) = self.does(before, action);
        let lists = taken.events.iter().flat_map(|list| list.items.iter().cloned());
        let (served, hears) = (served(before, action, &taken.state), hears(before, action));
        let loses = matches!(action, Action::Drop(..) | Action::Crash(_));
        let events = lists.collect();
        let scene = Scene { process, does, paths: Vec::new(), events, served, hears, loses };
        let follow = |after: &Arc<Client>| {
            let mut old = before.clients.iter().zip(&self.sent);
            let is_same = |before: &Client| {
                let same = before.session == after.session || before.is_early();
                same && before.actor() == after.actor()
            };
            match old.find(|(before, _)| is_same(before)) {
                Some((before, sent)) => sent.follow(before, after, self.step),
                None => Sent { queue: vec![self.step; after.queue.len()], ..Sent::default() },
            }
        };
        self.sent = taken.state.clients.iter().map(follow).collect();
        paths.sort_unstable();
        paths.dedup();
        Scene { paths, ..scene }
    }

    fn does(&self, before: &State, action: Action) -> (Option<u8>, Does, Vec<Text>) {
        let none = Vec::new;
        let client = |me: u8| (&*before.clients[usize::from(me)], &self.sent[usize::from(me)]);
        let process = |me: u8| Some(client(me).0.actor().process as u8);
        match action {
            Action::Serve(me) => {
                let (client, sent) = client(me);
                (process(me), Does::Asks { sent: sent.queue[0] }, client.queue[0].request.paths())
            }
            Action::ServeGhost(me) => {
                let (client, sent) = client(me);
                (process(me), Does::Asks { sent: sent.ghosts[0] }, client.ghosts[0].request.paths())
            }
            Action::Deliver(me) | Action::Order(me, 1, _) => {
                let (client, sent) = client(me);
                let (watch, paths) = heard(&client.inbox[0].message);
                (process(me), Does::Hears { sent: sent.inbox[0], watch }, paths)
            }
            Action::Together(me, many) | Action::Order(me, many, _) => {
                let (client, sent) = client(me);
                let all = client.inbox.iter().take(usize::from(many)).map(|hashed| heard(&hashed.message));
                let (watches, paths): (Vec<bool>, Vec<Vec<Text>>) = all.unzip();
                let watch = watches.contains(&true);
                (process(me), Does::Hears { sent: sent.inbox[0], watch }, paths.concat())
            }
            Action::Arrive(me, _) => (process(me), Does::Writes, none()),
            Action::Drop(me, _)
            | Action::Crash(me)
            | Action::Pause(me)
            | Action::Expire(me)
            | Action::FalseExpiry(me) => (process(me), Does::Suffers, none()),
            Action::Delete(_) | Action::Set(..) | Action::Clock(_) | Action::EndsIn(_) => {
                (None, Does::Suffers, none())
            }
            Action::Point(me, _)
            | Action::Timer(me, _)
            | Action::Take(me, _)
            | Action::Reconnect(me, _)
            | Action::Renew(me, _)
            | Action::Register(me, _)
            | Action::CatchUp(me)
            | Action::Rank(me)
            | Action::Begin(me, _)
            | Action::Early(me, _)
            | Action::Run(me, _)
            | Action::Resume(me) => (process(me), Does::Moves, none()),
        }
    }
}

impl Sent {
    fn follow(&self, before: &Client, after: &Client, now: u32) -> Sent {
        // What was in the queue and is a ghost now was sent when it was put into the queue.
        let under_way: Vec<_> = before.ghosts.iter().chain(&before.queue).cloned().collect();
        let times: Vec<u32> = self.ghosts.iter().chain(&self.queue).copied().collect();
        Sent {
            ghosts: follow(&under_way, &times, &after.ghosts, now),
            queue: follow(&before.queue, &self.queue, &after.queue, now),
            inbox: follow(&before.inbox, &self.inbox, &after.inbox, now),
        }
    }
}

/// What stays keeps its time, in order; what is new has the present one.
fn follow<T>(before: &[Arc<T>], times: &[u32], after: &[Arc<T>], now: u32) -> Vec<u32> {
    let mut at = 0;
    let time = |item: &Arc<T>| match before[at..].iter().position(|old| Arc::ptr_eq(old, item)) {
        Some(further) => {
            at += further + 1;
            times[at - 1]
        }
        None => now,
    };
    after.iter().map(time).collect()
}

fn served(before: &State, action: Action, after: &State) -> Option<Served> {
    let client = |me: u8| &before.clients[usize::from(me)];
    let (me, request, is_ghost) = match action {
        Action::Serve(me) => (me, &client(me).queue[0], false),
        Action::ServeGhost(me) => (me, &client(me).ghosts[0], true),
        _ => return None,
    };
    let messages = after.clients[usize::from(me)].inbox.iter().rev();
    let answer = messages.filter(|_| !is_ghost).find_map(|hashed| hashed.message.answer());
    let answer = answer.map(|answer| (**answer).clone());
    Some(Served { actor: client(me).actor(), request: request.request.clone(), answer, is_ghost })
}

fn hears(before: &State, action: Action) -> usize {
    let (me, many) = match action {
        Action::Deliver(me) => (me, 1),
        Action::Together(me, many) | Action::Order(me, many, _) => (me, many),
        _ => return 0,
    };
    let messages = before.clients[usize::from(me)].inbox.iter().take(usize::from(many));
    messages.filter_map(|hashed| hashed.message.answer()).count()
}

/// Whether a watch tells it, and of which znodes.
fn heard(message: &Message) -> (bool, Vec<Text>) {
    match message {
        Message::Event(event) => (true, vec![event.path.clone()]),
        Message::Answer { answer, .. } => match &**answer {
            Ok(Response::Created { path, .. }) => (false, vec![path.clone()]),
            Ok(_) | Err(_) => (false, Vec::new()),
        },
        Message::Lost | Message::Refused => (false, Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_under_way_keeps_the_time_it_was_sent() {
        let [a, b, c] = [1, 2, 3].map(Arc::new);
        let before = [a.clone(), b.clone()];
        assert_eq!(follow(&before, &[4, 5], &[a.clone(), b.clone(), c.clone()], 9), [4, 5, 9]);
        assert_eq!(follow(&before, &[4, 5], &[b, c], 9), [5, 9]);
        assert_eq!(follow(&before, &[4, 5], &[a.clone(), a], 9), [4, 9], "the same message sent again");
    }
}

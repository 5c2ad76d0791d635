//! A model's steps as a script that the simulator can take again.

use crate::action::Action;
use crate::link::Client;
use crate::message::Message;
use crate::model::RecipeModel;
use crate::process::Input;
use crate::state::State;
use zk_api::KeeperState;
use zk_harness::event::ActorId;
use zk_harness::script::ScriptStep;

/// What an action is in a script, from the state in which it is taken.
pub fn script_step(model: &RecipeModel, before: &State, action: Action) -> Vec<ScriptStep> {
    let administered = |nth: u8| {
        let path = model.scope.administered(before).nth(usize::from(nth));
        path.expect("what is changed is there").clone()
    };
    vec![match action {
        Action::Deliver(me) => return heard(model, before, me, 1, 0),
        Action::Together(me, many) => return heard(model, before, me, many, 0),
        Action::Order(me, many, nth) => return heard(model, before, me, many, nth),
        Action::Serve(me) if model.scope.reductions.eager => {
            return vec![ScriptStep::Serve(me.into()), ScriptStep::DeliverAnswers(me.into())];
        }
        Action::Serve(me) => ScriptStep::Serve(me.into()),
        Action::ServeGhost(me) => match former(model, before, me) {
            Some((process, life)) => ScriptStep::ServeFormer(process, life),
            None => ScriptStep::ServeLost(me.into()),
        },
        Action::Point(me, nth) => ScriptStep::Point(me.into(), nth),
        Action::Timer(me, nth) => {
            return fed(before, me, &Input::Timer(nth), ScriptStep::Timer(me.into(), nth));
        }
        Action::Arrive(me, nth) => {
            let client = &before.clients[usize::from(me)];
            let (actor, write) = (client.actor(), &client.writes[usize::from(nth)]);
            let later = before.may_be_overtaken(write);
            let nth = earlier_lives(before, actor) + of_its_kind(before, me, nth);
            if later { ScriptStep::Reach(actor.process, nth) } else { ScriptStep::Arrive(actor.process, nth) }
        }
        Action::Take(me, nth) => ScriptStep::Learn(me.into(), of_its_kind(before, me, nth)),
        Action::Reconnect(me, _) => {
            let client = &before.clients[usize::from(me)];
            let step = ScriptStep::Reconnect(me.into());
            return match client.served {
                true => told_of_connection(client, step),
                false => fed(before, me, &Input::Over, step),
            };
        }
        Action::Renew(me, _) => return renewed(&before.clients[usize::from(me)]),
        Action::Register(me, _) => ScriptStep::Register(me.into()),
        Action::CatchUp(me) => ScriptStep::CatchUp(me.into()),
        Action::Resume(me) => ScriptStep::Resume(me.into()),
        Action::Clock(shows) => ScriptStep::Clock(shows),
        // A server's order is its own.
        Action::EndsIn(_) => return Vec::new(),
        Action::Expire(me) => match former(model, before, me) {
            Some((process, life)) => ScriptStep::ExpireFormer(process, life),
            None => ScriptStep::Expire(me.into()),
        },
        Action::FalseExpiry(me) => return fed(before, me, &Input::Over, ScriptStep::FalseExpiry(me.into())),
        Action::Drop(me, ghosts) => {
            return fed(before, me, &Input::Lost, ScriptStep::Drop(me.into(), ghosts));
        }
        Action::Crash(me) => ScriptStep::Crash(me.into()),
        // Sessions have the order of the processes in a script.
        Action::Rank(_) => return Vec::new(),
        Action::Begin(me, _) => ScriptStep::Begin(me.into()),
        Action::Early(me, _) => ScriptStep::Early(me.into()),
        Action::Pause(me) => ScriptStep::Pause(me.into()),
        Action::Run(me, nth) => ScriptStep::Run(me.into(), nth),
        Action::Delete(nth) => ScriptStep::Delete(administered(nth)),
        Action::Set(nth, text) => ScriptStep::Set(administered(nth), model.scope.text(text)),
    }]
}

/// A client is given a new session. Where its code has ended, it first has to learn that the former is over.
fn renewed(client: &Client) -> Vec<ScriptStep> {
    let p = client.actor().process;
    let learns = match client.state {
        KeeperState::SyncConnected => vec![ScriptStep::Drop(p, 0), ScriptStep::Reconnect(p)],
        KeeperState::Disconnected => vec![ScriptStep::Reconnect(p)],
        KeeperState::Expired | KeeperState::Closed | KeeperState::AuthFailed => Vec::new(),
    };
    [learns, told_of_connection(client, ScriptStep::Renew(p))].concat()
}

/// The step by which a client is connected. Whom that wakes waits for a step of its own where its code may be late for
/// it.
fn told_of_connection(client: &Client, step: ScriptStep) -> Vec<ScriptStep> {
    stepped(
        client.actor().process,
        step,
        client.may_be_late() || client.node.may_stand_over(&Input::Connected),
    )
}

/// The step by which a process is given this.
fn fed(before: &State, me: u8, input: &Input, step: ScriptStep) -> Vec<ScriptStep> {
    stepped(me.into(), step, before.clients[usize::from(me)].node.may_stand_over(input))
}

/// A step after which whom it wakes waits for a step of its own, where it `may_stand`.
fn stepped(p: u16, step: ScriptStep, may_stand: bool) -> Vec<ScriptStep> {
    match may_stand {
        true => vec![ScriptStep::Busy(p), step, ScriptStep::Stand(p)],
        false => vec![step],
    }
}

/// The process and the life, if it is what is left of a former one.
fn former(model: &RecipeModel, state: &State, me: u8) -> Option<(u16, u8)> {
    let actor = state.clients[usize::from(me)].actor();
    (usize::from(me) >= model.scope.clients()).then_some((actor.process, actor.life))
}

/// How many writes of the process's earlier lives are on their way.
fn earlier_lives(state: &State, actor: ActorId) -> u8 {
    let earlier = state
        .clients
        .iter()
        .filter(|client| client.actor().process == actor.process && client.actor().life < actor.life);
    earlier.map(|client| client.writes.len() as u8).sum()
}

/// The next so many messages reach a process, with their names in the order of this number.
fn heard(model: &RecipeModel, before: &State, me: u8, many: u8, nth: u8) -> Vec<ScriptStep> {
    let order = model.actors.orders(before, me, many).into_iter().nth(usize::from(nth));
    let step = |_| match &order {
        Some(names) => ScriptStep::DeliverInOrder(me.into(), names.clone()),
        None => ScriptStep::Deliver(me.into()),
    };
    let heard = (0..many).filter(|nth| !is_nobodys(before, me, *nth)).map(step);
    if many == 1 {
        let news = match &before.clients[usize::from(me)].inbox[0].message {
            Message::Answer { answer, .. } => Input::Answer(answer.clone()),
            Message::Event(event) => Input::Event(event.clone()),
            Message::Lost | Message::Refused => Input::Lost,
        };
        return heard.flat_map(|step| fed(before, me, &news, step)).collect();
    }
    [ScriptStep::Busy(me.into())].into_iter().chain(heard).chain([ScriptStep::GoOn(me.into())]).collect()
}

/// Whether a message is an event that nobody waits for any more, nor will by an answer before it, which is no step
/// elsewhere.
fn is_nobodys(state: &State, me: u8, nth: u8) -> bool {
    let client = &state.clients[usize::from(me)];
    let (before, after) = client.inbox.split_at(nth.into());
    let Message::Event(event) = &after[0].message else { return false };
    let answers = before.iter().filter(|hashed| hashed.message.answer().is_some());
    let mut sets = answers.skip(client.given_up()).filter_map(|hashed| hashed.message.sets());
    !client.node.minds(&Input::Event(event.clone())) && !sets.any(|set| set.sees(event))
}

/// The number of a write among those that have arrived, or among those that have not, as it has or has not.
fn of_its_kind(state: &State, me: u8, nth: u8) -> u8 {
    let writes = &state.clients[usize::from(me)].writes;
    let arrived = writes[usize::from(nth)].arrived.is_some();
    let before = writes[..usize::from(nth)].iter();
    before.filter(|write| write.arrived.is_some() == arrived).count() as u8
}

//! Steps of the model, for people to read.
//!
//! ```
//! use zk_model::describe::describe;
//! # use zk_model::{CheckConfig, model::RecipeModel, reads::Reads};
//! # use zk_harness::trial::Bounds;
//! # let lock = zk_catalogue::trials().remove(0);
//! # let config = CheckConfig::new(Bounds::clients(2));
//! # let model = RecipeModel::new(lock, &config, Reads::at_first());
//! # let (start, mut actions) = (model.init().state, Vec::new());
//! # model.actions(&start, &mut actions);
//!
//! let taken = model.step(&start, actions[0]);
//! let line = describe(&start, actions[0], &taken);
//! assert_eq!(line, "p0 begins, its first life with a new session; asks for /lock");
//! ```

use crate::action::Action;
use crate::link::{Client, Phase};
use crate::message::Message;
use crate::model::Taken;
use crate::service::{SET_UP, TIMES_MS};
use crate::state::State;
use zk_api::{CreateMode, EventType, KeeperState, MultiOutcome, Op, Request, Response, Text};
use zk_harness::event::{ActorId, Event, Resource};

/// One line for the step from a state to what was taken from there, with what it makes actors say.
pub fn describe(before: &State, action: Action, taken: &Taken) -> String {
    let mut line = step(before, action, &taken.state);
    for event in taken.events.iter().flat_map(|events| &events.items) {
        if let Event::Observed { actor, what } = event {
            let who = actor.to_string();
            // Whose step it is stands at its beginning.
            match line.split_once(' ') {
                Some((subject, _)) if subject == who => line += &format!("; {what}"),
                _ => line += &format!("; {who} {what}"),
            }
        }
    }
    line
}

fn step(before: &State, action: Action, after: &State) -> String {
    let client = |me: u8| &*before.clients[usize::from(me)];
    match action {
        Action::Deliver(me) => delivered(client(me), &after.clients[usize::from(me)]),
        Action::Order(me, many, _) => {
            let after = &after.clients[usize::from(me)];
            let line =
                if many == 1 { delivered(client(me), after) } else { at_once(client(me), many, after) };
            format!("{line} (in another order)")
        }
        Action::Serve(me) => {
            let text = requested(&client(me).queue[0].request);
            format!("{} {text}{}", client(me).actor(), outcome(before, after, me))
        }
        Action::ServeGhost(me) => {
            let text = requested(&client(me).ghosts[0].request);
            format!("{} {text}, by a request of its lost connection", client(me).actor())
        }
        Action::Point(me, _) => format!("{} passes a scheduling point", client(me).actor()),
        Action::Timer(me, _) => format!("{}'s timer fires", client(me).actor()),
        Action::Arrive(me, nth) => arrived(client(me), nth),
        Action::Take(me, _) => format!("{} learns that its write has arrived", client(me).actor()),
        Action::Reconnect(me, _) => reconnected(client(me)),
        Action::Renew(me, _) => format!("{} is connected with a new session", client(me).actor()),
        Action::Register(me, _) => format!("{}'s watches reach its server", client(me).actor()),
        Action::CatchUp(me) => format!("{}'s server catches up by one transaction", client(me).actor()),
        Action::Clock(shows) => {
            let ms = TIMES_MS[usize::from(shows)] - TIMES_MS[usize::from(SET_UP)];
            format!("the leader's clock shows {ms} ms since the setup")
        }
        Action::EndsIn(order) => {
            format!("the next session to end loses its ephemeral znodes in another order, number {order}")
        }
        Action::Resume(me) => format!("{} goes on after its pause", client(me).actor()),
        Action::Expire(me) => {
            let why = match client(me).phase {
                Phase::Running | Phase::Unbegun => "",
                Phase::Paused => ", as it is paused",
                Phase::Crashed => ", as nobody keeps it alive",
            };
            format!("{}'s session expires{why}", client(me).actor())
        }
        Action::FalseExpiry(me) => {
            format!("{} is told that its session is dead before it is", client(me).actor())
        }
        Action::Drop(me, ghosts) => dropped(client(me), usize::from(ghosts)),
        Action::Crash(me) => format!("{} crashes", client(me).actor()),
        Action::Rank(me) => {
            format!(
                "{}'s session has a higher id than those of which this was said before",
                client(me).actor()
            )
        }
        Action::Begin(me, _) => {
            format!("{} begins, {} with a new session", who(after, me), life(client(me)))
        }
        Action::Early(me, _) => {
            format!("{} begins, {} that has no session yet", who(after, me), life(client(me)))
        }
        Action::Delete(_) => "an administrator deletes ".to_owned() + &changed(before, after),
        Action::Set(..) => "an administrator sets ".to_owned() + &changed(before, after),
        Action::Pause(me) => format!("{} is paused", client(me).actor()),
        Action::Run(me, nth) => ran(client(me), nth, &after.clients[usize::from(me)]),
        Action::Together(me, many) => at_once(client(me), many, &after.clients[usize::from(me)]),
    }
}

fn arrived(client: &Client, nth: u8) -> String {
    let write = client.writes[usize::from(nth)];
    let kind = match write.resource {
        Resource::Fenced => "fenced",
        Resource::FencedShared => "fenced, shared",
        Resource::Unfenced => "unfenced",
    };
    let token = write.token.map_or(String::new(), |token| format!(" with token {token}"));
    format!("{}'s write{token} reaches the {kind} resource", client.actor())
}

fn reconnected(client: &Client) -> String {
    let what = match client {
        _ if client.is_early() => "is connected for the first time",
        _ if client.lives => "is connected again",
        _ if client.served => "is connected again, to a server that takes its dead session for alive",
        _ => "learns that its session is dead",
    };
    format!("{} {what}", client.actor())
}

fn who(state: &State, me: u8) -> ActorId {
    state.clients[usize::from(me)].actor()
}

/// Which life of a process begins now.
fn life(before: &Client) -> &'static str {
    if before.phase == Phase::Unbegun { "its first life" } else { "another life" }
}

fn ran(client: &Client, nth: u8, after: &Client) -> String {
    let task = client.node.ready[usize::from(nth)];
    format!("{}'s task {task} runs{}", client.actor(), goes_on(client, after))
}

fn at_once(client: &Client, many: u8, after: &Client) -> String {
    let messages = client.inbox.iter().take(usize::from(many));
    let all: Vec<String> = messages.map(|hashed| told(client, &hashed.message)).collect();
    format!("{}, all before its code looks{}", all.join(" and "), goes_on(client, after))
}

/// The znode that is not in the one state what it is in the other.
fn changed(before: &State, after: &State) -> String {
    let (old, new) = (before.service.tree(), after.service.tree());
    let differs = |path: &&Text| match (old.node(path), new.node(path)) {
        (Some(old), Some(new)) => old.version != new.version,
        (Some(_), None) => true,
        (None, _) => false,
    };
    let path = old.nodes().map(|(path, _)| path).find(differs);
    path.map_or(String::new(), |path| match new.node(path) {
        Some(node) => format!("{path} to {:?}", node.data),
        None => path.to_string(),
    })
}

fn mode(mode: CreateMode) -> &'static str {
    match mode {
        CreateMode::Persistent => "persistent",
        CreateMode::PersistentSequential => "sequential",
        CreateMode::Ephemeral => "ephemeral",
        CreateMode::EphemeralSequential => "sequential, ephemeral",
        CreateMode::Container => "container",
        CreateMode::PersistentTtl(_) => "with a TTL",
        CreateMode::PersistentSequentialTtl(_) => "sequential, with a TTL",
    }
}

fn requested(request: &Request) -> String {
    let watch = |watch: &bool| if *watch { " and watches" } else { "" };
    match request {
        Request::Create { path, mode: m, .. } => format!("creates {path} ({})", mode(*m)),
        Request::Delete { path, .. } => format!("deletes {path}"),
        Request::Exists { path, watch: w } => format!("looks whether {path} exists{}", watch(w)),
        Request::GetData { path, watch: w } => format!("reads {path}{}", watch(w)),
        Request::SetData { path, data, .. } => format!("sets {path} to {data:?}"),
        Request::GetChildren { path, watch: w, .. } => format!("lists {path}{}", watch(w)),
        Request::Multi { ops } => {
            let names: Vec<String> = ops.iter().map(operation).collect();
            format!("does at once: {}", names.join("; "))
        }
        Request::CloseSession => "closes its session".to_owned(),
        Request::GetAcl { .. }
        | Request::SetAcl { .. }
        | Request::Sync { .. }
        | Request::MultiRead { .. }
        | Request::AddWatch { .. }
        | Request::RemoveWatches { .. }
        | Request::CheckWatches { .. }
        | Request::GetEphemerals { .. }
        | Request::GetAllChildrenNumber { .. }
        | Request::WhoAmI
        | Request::Auth { .. } => format!("asks {} {}", request.name(), request.path()),
    }
}

fn operation(op: &Op) -> String {
    match op {
        Op::Create { path, mode: m, .. } => format!("create {path} ({})", mode(*m)),
        Op::Delete { path, .. } => format!("delete {path}"),
        Op::SetData { path, data, .. } => format!("set {path} to {data:?}"),
        Op::Check { path, version } => format!("check {path} for version {version}"),
    }
}

/// What a request came to: the znode it made, or the answer that waits in the inbox.
fn outcome(before: &State, after: &State, me: u8) -> String {
    let client = &after.clients[usize::from(me)];
    let answer = client.inbox.iter().rev().find_map(|hashed| hashed.message.answer());
    match answer.map(|answer| &**answer) {
        Some(Ok(Response::Created { path, .. })) => format!(" and makes {path}"),
        Some(Ok(response)) => said(response),
        Some(Err(code)) => format!(": {code:?}"),
        None if before.service.tree().last_zxid() < after.service.tree().last_zxid() => " and is told".into(),
        None => String::new(),
    }
}

fn said(response: &Response) -> String {
    match response {
        Response::Exists(None) => ": it does not".to_owned(),
        Response::Exists(Some(_)) => ": it does".to_owned(),
        Response::Children { names, .. } => format!(": {}", names.join(", ")),
        Response::Data { data, stat } => format!(": {data:?} at version {}", stat.version()),
        Response::Multi(MultiOutcome::Failed(codes)) => {
            let failed = codes.iter().enumerate().find_map(|(nth, code)| code.map(|code| (nth + 1, code)));
            failed.map_or(String::new(), |(nth, code)| format!(": none, as number {nth} fails: {code:?}"))
        }
        _ => String::new(),
    }
}

/// What a process does next.
fn goes_on(client: &Client, after: &Client) -> String {
    match (&after.node.end, &client.node.end) {
        (Some(end), None) => format!(", and ends: {end:?}"),
        _ => match after.queue.get(client.queue.len()) {
            Some(request) => format!(", and sends {} {}", request.request.name(), request.request.path()),
            None => String::new(),
        },
    }
}

fn delivered(client: &Client, after: &Client) -> String {
    told(client, &client.inbox[0].message) + &goes_on(client, after)
}

/// What a message tells.
fn told(client: &Client, message: &Message) -> String {
    let who = client.actor();
    match message {
        Message::Answer { answer, .. } => match &**answer {
            Ok(Response::Created { path, .. }) => format!("{who} is told that {path} is made"),
            Ok(response) => format!("{who} has its answer{}", said(response)),
            Err(code) => format!("{who} is answered {code:?}"),
        },
        Message::Event(event) => {
            let what = match event.kind {
                EventType::None => "the session has ended",
                EventType::NodeCreated => "was created",
                EventType::NodeDeleted => "was deleted",
                EventType::NodeDataChanged => "was set",
                EventType::NodeChildrenChanged => "has other children",
            };
            format!("{who}'s watch tells: {} {what}", event.path)
        }
        Message::Lost => format!("{who} learns that its connection is lost"),
        Message::Refused => format!("{who} is told that its credentials are no good"),
    }
}

fn dropped(client: &Client, ghosts: usize) -> String {
    let mut parts = Vec::new();
    for hashed in &client.inbox {
        match &hashed.message {
            Message::Answer { .. } => parts.push("an answer is lost".to_owned()),
            Message::Event(event) => parts.push(format!("the event of {} is lost", event.path)),
            Message::Lost | Message::Refused => {}
        }
    }
    let mut left = ghosts;
    for request in &client.queue {
        let name = request.request.name();
        let flies = request.request.is_write() && left > 0;
        left -= usize::from(flies);
        parts.push(if flies {
            format!("its {name} is still in flight")
        } else {
            format!("its {name} is lost")
        });
    }
    if client.state == KeeperState::Disconnected {
        return format!("{} finds no server: {}", client.actor(), parts.join(", "));
    }
    let what = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    format!("{}'s connection drops{what}", client.actor())
}

//! Requests and answers in words.

use zk_api::{CreateMode, Data, ErrorCode, MultiOutcome, Op, ReadOp, Request, Response, SessionId, Text};
use zk_harness::event::ActorId;

/// `create /lock/n- (sequential, ephemeral)`, `exists /lock (watch)`.
pub(crate) fn asked(request: &Request) -> String {
    let watching = |name: &str, path: &Text, watch: &bool| {
        format!("{name} {path}{}", if *watch { " (watch)" } else { "" })
    };
    match request {
        Request::Create { path, data, mode, .. } => create(path, data, *mode),
        Request::Delete { path, version } => format!("delete {path}{}", at_version(*version)),
        Request::SetData { path, data, version } => {
            format!("setData {path}{}{}", with(data), at_version(*version))
        }
        Request::Exists { path, watch }
        | Request::GetData { path, watch }
        | Request::GetChildren { path, watch, .. } => watching(request.name(), path, watch),
        Request::Multi { ops } => {
            let ops: Vec<String> = ops.iter().map(operation).collect();
            format!("multi [{}]", ops.join("; "))
        }
        Request::MultiRead { ops } => {
            let ops = ops.iter().map(|op| match op {
                ReadOp::GetData { path } => format!("getData {path}"),
                ReadOp::GetChildren { path } => format!("getChildren {path}"),
            });
            format!("multiRead [{}]", ops.collect::<Vec<_>>().join("; "))
        }
        Request::GetAcl { .. }
        | Request::SetAcl { .. }
        | Request::Sync { .. }
        | Request::AddWatch { .. }
        | Request::RemoveWatches { .. }
        | Request::CheckWatches { .. }
        | Request::GetEphemerals { .. }
        | Request::GetAllChildrenNumber { .. }
        | Request::WhoAmI
        | Request::Auth { .. }
        | Request::CloseSession => format!("{} {}", request.name(), request.path()).trim_end().into(),
    }
}

/// Whose a session is. A session that nobody was told of is an administrator's.
pub(crate) fn whose(owner: Option<ActorId>, session: SessionId) -> String {
    match owner {
        Some(actor) => actor.to_string(),
        None if session == SessionId::NONE => "the server".into(),
        None => "an administrator".into(),
    }
}

fn operation(op: &Op) -> String {
    match op {
        Op::Create { path, data, mode, .. } => create(path, data, *mode),
        Op::Delete { path, version } => format!("delete {path}{}", at_version(*version)),
        Op::SetData { path, data, version } => {
            format!("setData {path}{}{}", with(data), at_version(*version))
        }
        Op::Check { path, version } => format!("check {path}{}", at_version(*version)),
    }
}

fn create(path: &Text, data: &Data, mode: CreateMode) -> String {
    let mode = match mode {
        CreateMode::Persistent => "",
        CreateMode::PersistentSequential => " (sequential)",
        CreateMode::Ephemeral => " (ephemeral)",
        CreateMode::EphemeralSequential => " (sequential, ephemeral)",
        CreateMode::Container => " (container)",
        CreateMode::PersistentTtl(_) => " (with a TTL)",
        CreateMode::PersistentSequentialTtl(_) => " (sequential, with a TTL)",
    };
    format!("create {path}{mode}{}", with(data))
}

/// Data that are short enough to say something.
fn with(data: &Data) -> String {
    match data.bytes().len() {
        1..=40 => format!(" {data:?}"),
        _ => String::new(),
    }
}

fn at_version(version: i32) -> String {
    if version == -1 { String::new() } else { format!(" at version {version}") }
}

/// `NodeExists`, `it is there`, `/lock/n-0000000007`.
pub(crate) fn answered(request: &Request, result: &Result<Response, ErrorCode>) -> String {
    match result {
        Err(code) => format!("{code:?}"),
        Ok(Response::Created { path, .. }) if *path != request.path() => path.to_string(),
        Ok(Response::Exists(stat)) => if stat.is_some() { "it is there" } else { "it is not there" }.into(),
        Ok(Response::Data { data, stat }) => format!("{data:?} at version {}", stat.version()),
        Ok(Response::Children { names, .. }) => children(names),
        Ok(Response::Multi(MultiOutcome::Failed(codes))) => {
            let failed = codes.iter().enumerate().find_map(|(nth, code)| code.map(|code| (nth + 1, code)));
            failed.map_or("nothing done".into(), |(nth, code)| {
                format!("nothing done, as number {nth} fails: {code:?}")
            })
        }
        Ok(_) => "done".into(),
    }
}

/// In the order of their numbers, as long as they are few.
fn children(names: &[Text]) -> String {
    const MOST: usize = 6;
    let mut sorted: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    sorted.sort_by_key(|name| (number_of(name), *name));
    match sorted.len() {
        0 => "no children".into(),
        1..=MOST => sorted.join(", "),
        many => format!("{} and {} more", sorted[..MOST - 1].join(", "), many + 1 - MOST),
    }
}

/// The number at the end of the name of a sequential znode.
fn number_of(name: &str) -> &str {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    &name[name.len() - digits..]
}

//! Faults in sentences.

use zk_world::Fault;
use zk_world::schedule::{Loss, Node, RequestKind, When};

/// What a fault does, or is about to do.
pub(super) fn sentence(fault: &Fault) -> String {
    match fault {
        Fault::ServerCrash { server, down_ms, mid_sync: false } => {
            format!("s{server} crashes, for {down_ms} ms")
        }
        Fault::ServerCrash { server, down_ms, mid_sync: true } => {
            format!("s{server} will crash in the middle of its next sync, for {down_ms} ms")
        }
        Fault::SlowSync { server, sync_ms, for_ms } => {
            format!("the disk of s{server} takes {sync_ms} ms for each sync, for {for_ms} ms")
        }
        Fault::Drop { client, when: When::Now, what } => {
            format!("p{client}'s connection drops: {}", lost(*what))
        }
        Fault::Drop { client, when: When::NextRequest(kind), what } => {
            format!("p{client}'s connection will drop at its next {}: {}", request(*kind), lost(*what))
        }
        Fault::SlowLink { client, factor, for_ms } => {
            format!("messages from and to p{client} take {factor} times as long, for {for_ms} ms")
        }
        Fault::Expire { client } => format!("the server ends the session of p{client}"),
        Fault::ExpireOwner { reader } => {
            format!("the owner of what p{reader} looks at next will lose its session")
        }
        Fault::ClientCrash { client, restart_after_ms } => {
            format!("p{client} crashes, and starts again {restart_after_ms} ms later")
        }
        Fault::ClientPause { client, for_ms } => format!("p{client} is paused, for {for_ms} ms"),
        Fault::ClockSkew { node, permille } => {
            let way = if *permille < 0 { "slow" } else { "fast" };
            format!("the clock of {} runs {way} by {} ‰ from now on", name(*node), permille.unsigned_abs())
        }
        Fault::ClockJump { server, by_ms } => {
            let way = if *by_ms < 0 { "back" } else { "ahead" };
            format!("the clock of s{server} jumps {way} by {} ms", by_ms.unsigned_abs())
        }
    }
}

fn lost(what: Loss) -> String {
    match what {
        Loss::RequestsLost => "requests are lost".into(),
        Loss::AnswersLost => "answers are lost".into(),
        Loss::InFlight { for_ms } => format!("requests arrive {for_ms} ms late"),
        Loss::Silence => "silence, and nobody is told".into(),
    }
}

fn request(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Any => "request",
        RequestKind::Create => "create",
        RequestKind::Delete => "delete",
        RequestKind::Read => "read",
    }
}

fn name(node: Node) -> String {
    match node {
        Node::Server(id) => format!("s{id}"),
        Node::Client(id) => format!("p{id}"),
    }
}

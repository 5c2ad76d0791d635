//! Faults in sentences.

use zk_simulator::Fault;
use zk_simulator::schedule::{Loss, Node, RequestKind, When};

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
        Fault::Drop { client, when, what } => {
            let drops = strikes(*when, "drops", "drop");
            format!("p{client}'s connection {drops}: {}", lost(*what))
        }
        Fault::SlowLink { client, factor, for_ms } => {
            format!("messages from and to p{client} take {factor} times as long, for {for_ms} ms")
        }
        Fault::Expire { client } => format!("the server ends the session of p{client}"),
        Fault::ExpireOwner { reader } => {
            format!("the owner of what p{reader} looks at next will lose its session")
        }
        Fault::ClientCrash { client, when, restart_after_ms } => {
            format!(
                "p{client} {}, and starts again {restart_after_ms} ms later",
                strikes(*when, "crashes", "crash")
            )
        }
        Fault::ClientPause { client, when, for_ms } => {
            format!("p{client} {}, for {for_ms} ms", strikes(*when, "is paused", "be paused"))
        }
        Fault::ClockSkew { node, permille } => {
            let way = if *permille < 0 { "slow" } else { "fast" };
            format!("the clock of {} runs {way} by {} ‰ from now on", name(*node), permille.unsigned_abs())
        }
        Fault::ClockJump { node, by_ms } => {
            let way = if *by_ms < 0 { "back" } else { "ahead" };
            format!("the clock of {} jumps {way} by {} ms", name(*node), by_ms.unsigned_abs())
        }
        Fault::LeaderCrash { down_ms, mid_sync: false } => format!("the leader crashes, for {down_ms} ms"),
        Fault::LeaderCrash { down_ms, mid_sync: true } => {
            format!("the leader will crash in the middle of its next sync, for {down_ms} ms")
        }
        Fault::Partition { cut, for_ms } if cut.is_empty() => {
            format!("a partition that separates nobody, for {for_ms} ms")
        }
        Fault::Partition { cut, for_ms } => {
            let ways: Vec<String> = cut.iter().map(|[from, to]| format!("s{from} to s{to}")).collect();
            format!("nothing gets from {}, for {for_ms} ms", ways.join(", "))
        }
        Fault::ServerPause { server, for_ms } => format!("s{server} stands still, for {for_ms} ms"),
        Fault::LeaderPause { for_ms } => format!("the leader stands still, for {for_ms} ms"),
        Fault::ServerLag { server, factor, for_ms } => {
            format!("s{server} and the others hear from each other {factor} times as late, for {for_ms} ms")
        }
        Fault::LinkBreak { between: [a, b] } => format!("the link between s{a} and s{b} breaks"),
        Fault::DiskRot { .. } | Fault::DiskError { .. } | Fault::DiskFull { .. } => disk(fault),
        Fault::Stranger { client, server } => {
            format!("somebody asks s{server} for the session of p{client} without its password")
        }
        Fault::AdminDelete { client, when } => {
            let when = moment(*when);
            format!("an administrator deletes the newest ephemeral znode of p{client}{when}")
        }
        Fault::AdminWrite { client, when, data } => {
            let when = moment(*when);
            format!("an administrator writes \"{data}\" to the newest ephemeral znode of p{client}{when}")
        }
    }
}

fn disk(fault: &Fault) -> String {
    match fault {
        Fault::DiskRot { server, bytes, down_ms: 0, .. } => {
            format!("{bytes} bytes on the disk of s{server} rot")
        }
        Fault::DiskRot { server, bytes, down_ms, .. } => {
            format!("{bytes} bytes on the disk of s{server} rot, and it crashes, for {down_ms} ms")
        }
        Fault::DiskError { server, down_ms } => {
            format!(
                "the disk of s{server} will refuse its next write or sync, and s{server} stop for {down_ms} ms"
            )
        }
        Fault::DiskFull { server, for_ms, .. } => format!("the disk of s{server} is full, for {for_ms} ms"),
        _ => String::new(),
    }
}

/// What it waits for, if it does not strike at once.
fn moment(when: When) -> String {
    match when {
        When::Now => String::new(),
        When::NextRequest(kind) => format!(" at its next {}", request(kind)),
        When::NextGrant => " as it is granted something next".into(),
        When::NextWork => " as it works next while it holds something".into(),
    }
}

/// `now` if it strikes at once, or `later` and what it waits for.
fn strikes(when: When, now: &str, later: &str) -> String {
    if when == When::Now { now.into() } else { format!("will {later}{}", moment(when)) }
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

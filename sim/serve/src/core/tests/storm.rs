//! Whatever clients, administrators and faults do in whatever order, nothing is broken.

use super::{Client, Table, create, get, set};
use crate::fault::{Fault, Loss, RequestKind, Target, When};
use crate::message::ToCore;
use zk_api::{AddWatchMode, CreateMode, Request, WatcherKind, Zxid};
use zk_proto::message::{ToServer, WatchList};
use zk_wire::FourLetterWord;

/// Numbers that look like chance and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        // Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn path(&mut self) -> &'static str {
        ["/a", "/a/b", "/a/b/c", "/d", "/", "//"][self.below(6) as usize]
    }

    fn request(&mut self) -> Request {
        let path = self.path();
        match self.below(12) {
            0 | 1 => create(path, CreateMode::Persistent),
            2 => create(path, CreateMode::EphemeralSequential),
            3 => create(path, CreateMode::Container),
            4 => set(path),
            5 => Request::Delete { path: path.into(), version: -1 },
            6 => get(path, true),
            7 => Request::GetChildren { path: path.into(), watch: true, stat: true },
            8 => Request::AddWatch { path: path.into(), mode: AddWatchMode::PersistentRecursive },
            9 => Request::RemoveWatches { path: path.into(), kind: WatcherKind::Any },
            10 => Request::Sync { path: path.into() },
            _ if self.below(8) == 0 => Request::CloseSession,
            _ => Request::Exists { path: path.into(), watch: true },
        }
    }

    fn loss(&mut self) -> Loss {
        match self.below(4) {
            0 => Loss::RequestsLost,
            1 => Loss::AnswersLost,
            2 => Loss::InFlight { for_ms: self.below(300) },
            _ => Loss::Silence,
        }
    }

    fn fault(&mut self, servers: u8, session: Target) -> Fault {
        let (ms, for_ms) = (self.below(200), self.below(2000));
        if servers > 1 && self.below(2) == 0 {
            return self.fault_between(servers, ms, for_ms);
        }
        let server = self.server(servers);
        match self.below(10) {
            0 => Fault::ServerCrash { server, down_ms: ms, mid_sync: false },
            1 => Fault::ServerCrash { server, down_ms: ms, mid_sync: true },
            2 => Fault::ServerPause { server, for_ms: ms },
            3 => Fault::Drop { session, when: When::Now, what: self.loss() },
            4 => Fault::Drop { session, when: When::NextRequest(RequestKind::Any), what: self.loss() },
            5 => Fault::Expire { session },
            6 => Fault::ExpireOwner { reader: session },
            7 => Fault::SlowLink { session, delay_ms: ms, for_ms },
            8 => Fault::SlowSync { server, sync_ms: ms, for_ms },
            _ => Fault::ClockJump { server, by_ms: for_ms.cast_signed() - 1000 },
        }
    }

    fn server(&mut self, servers: u8) -> u8 {
        self.below(servers.into()) as u8
    }

    /// What strikes between servers, or whoever leads.
    fn fault_between(&mut self, servers: u8, ms: u64, for_ms: u64) -> Fault {
        let server = self.server(servers);
        let other = (server + 1 + self.server(servers - 1)) % servers;
        match self.below(6) {
            0 => Fault::LeaderCrash { down_ms: ms, mid_sync: for_ms.is_multiple_of(2) },
            1 => Fault::LeaderPause { for_ms },
            2 => Fault::ServerLag { server, delay_ms: ms, for_ms },
            3 => Fault::LinkBreak { between: [server, other] },
            4 => Fault::Partition { cut: vec![[server, other]], for_ms },
            _ => {
                let others = (0..servers).filter(|id| *id != server);
                Fault::Partition { cut: others.flat_map(|id| [[id, server], [server, id]]).collect(), for_ms }
            }
        }
    }
}

fn step(table: &mut Table, clients: &mut [Client], dice: &mut Dice) {
    let at = dice.below(clients.len() as u64) as usize;
    let servers = table.core.ensemble.cluster.hosts.len() as u8;
    let client = &mut clients[at];
    match dice.below(16) {
        0 => *client = table.again_at(dice.server(servers), client),
        1 => table.gone(client),
        2 => table.say(client, &ToServer::Ping),
        3 => {
            let list = vec![dice.path().into()];
            let watches = WatchList {
                data: list.clone(),
                child: list.clone(),
                recursive: list,
                ..WatchList::default()
            };
            table.say(client, &ToServer::SetWatches { since: Zxid::new(1, dice.below(9) as u32), watches });
        }
        4 => {
            let op = [1, 2, 14, 77, 13, 100, 5][dice.below(7) as usize];
            let frame = [7u32.to_be_bytes(), i32::to_be_bytes(op), [0; 4]].concat();
            if !table.core.is_paused() && client.link.try_place(frame.len()) {
                table.core.take(table.now, ToCore::Frames { conn: client.id, frames: vec![frame] });
            }
        }
        5 => {
            let (conn, word) = (client.id, FourLetterWord::ALL[dice.below(18) as usize]);
            table.core.take(table.now, ToCore::Word { conn, word });
        }
        6 | 7 => {
            let fault = dice.fault(servers, Target::Session(client.session));
            // What cannot be done now is not done.
            let _ = table.core.fault(table.now, &fault);
        }
        8 => table.advance(dice.below(900)),
        _ => {
            table.ask(client, dice.request());
        }
    }
    // A paused server takes nothing from its connections.
    while table.core.is_paused() {
        table.advance(50);
    }
}

#[test]
fn whatever_happens_nothing_is_broken_and_nothing_is_left_behind() {
    storms(1, 300);
}

#[test]
fn whatever_happens_to_several_servers_nothing_is_broken_and_nothing_is_left_behind() {
    for servers in 2..=5 {
        storms(servers, 300);
    }
}

fn storms(servers: u8, seeds: u64) {
    let (mut tested, mut forgotten) = (0, 0);
    for seed in 0..seeds {
        let mut dice = Dice(seed);
        // Half of them forget what has happened as soon as they may.
        let mut table = Table::with_snapshots(servers, if seed % 2 == 0 { 1000 } else { 5 });
        let mut clients: Vec<Client> = (0..4).map(|at| table.client_of(at % servers)).collect();
        for _ in 0..80 {
            step(&mut table, &mut clients, &mut dice);
        }
        clients.iter().for_each(|client| table.gone(client));
        table.advance(20_000);
        assert!(
            table.core.all_serve(),
            "{servers} servers, seed {seed}: {:?}",
            table.core.show(table.now).leadership()
        );
        let verdict = table.core.verdict(table.now);
        assert!(verdict.held, "{servers} servers, seed {seed}: {:#?}", verdict.broken);
        let left: Vec<_> =
            table.core.conns.all.iter().map(|(id, conn)| (id, conn.phase, conn.fate)).collect();
        assert!(left.is_empty() && table.core.conns.sessions.is_empty(), "seed {seed}: {left:?}");
        tested += verdict.requests;
        forgotten += u64::from(table.core.ensemble.zab.forgotten > Zxid::ZERO);
    }
    assert!(servers == 1 || forgotten > seeds / 4, "{forgotten}");
    assert!(tested > seeds * 16, "{tested} requests are few");
}

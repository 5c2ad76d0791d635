//! An ensemble without sockets: clients of several servers, what strikes between servers, and servers that lie.

use super::{Client, Table, create, get, set};
use crate::fault::Fault;
use zk_api::{CreateMode, Data, ErrorCode, Request, Response, SessionId, Zxid};
use zk_invariants::Invariant;
use zk_proto::message::ToClient;
use zk_proto::server::Output;

impl Table {
    /// Who leads.
    fn leader(&self) -> u8 {
        self.core.ensemble.cluster.leader().expect("somebody leads").0
    }

    /// One who follows.
    fn follower(&self) -> u8 {
        (0..).find(|id| *id != self.leader()).expect("there are several")
    }

    fn fault(&mut self, fault: &Fault) {
        self.core.fault(self.now, fault).expect("it can be done");
    }

    /// Lets time pass until every server serves.
    fn settle(&mut self) {
        for _ in 0..10_000 {
            if self.core.all_serve() {
                return;
            }
            self.advance(10);
        }
        panic!("{:?}", self.core.show(self.now).leadership());
    }

    /// What a client hears of a request, within a second.
    fn asked(&mut self, client: &mut Client, request: Request) -> Option<Result<Response, ErrorCode>> {
        let mut heard = self.ask(client, request);
        for _ in 0..100 {
            let reply = heard.into_iter().find_map(|message| match message {
                ToClient::Reply { result, .. } => Some(result),
                _ => None,
            });
            if reply.is_some() {
                return reply;
            }
            self.advance(10);
            heard = client.hear();
        }
        None
    }

    fn done(&mut self, client: &mut Client, request: Request) {
        let answer = self.asked(client, request);
        assert!(matches!(answer, Some(Ok(_))), "{answer:?}");
    }

    fn held(&mut self) {
        assert_eq!(self.broken(), [""; 0]);
    }
}

#[test]
fn every_number_of_servers_elects_a_leader_at_once() {
    for servers in 1..=5 {
        let table = Table::of(servers);
        // Nobody has to wait for a timer.
        assert_eq!(table.now, 0, "{servers} servers");
        assert_eq!(table.leader(), servers - 1, "as much is known everywhere, so the greatest number leads");
    }
}

#[test]
fn what_is_written_at_one_server_is_read_at_another_behind_a_sync() {
    let mut table = Table::of(3);
    let mut clients: Vec<Client> = (0..3).map(|server| table.client_of(server)).collect();
    let ids: std::collections::BTreeSet<SessionId> = clients.iter().map(|client| client.session).collect();
    assert_eq!(ids.len(), 3, "no two servers offer the same session");
    for writer in 0..3 {
        let path = format!("/{writer}");
        table.done(&mut clients[writer], create(&path, CreateMode::Persistent));
        for client in &mut clients {
            table.done(client, Request::Sync { path: "/".into() });
            table.done(client, get(&path, false));
        }
    }
    table.held();
}

#[test]
fn acknowledged_writes_survive_one_leader_after_the_other() {
    let mut table = Table::of(3);
    let mut client = table.client_of(table.follower());
    for round in 0..5 {
        table.done(&mut client, create(&format!("/{round}"), CreateMode::Persistent));
        let (epoch, down_ms) = (table.core.show(table.now).leadership().epoch, 500);
        table.fault(&Fault::LeaderCrash { down_ms, mid_sync: round % 2 == 1 });
        if round % 2 == 1 {
            // It dies as it logs this, which may come to nothing.
            table.ask(&mut client, create(&format!("/maybe-{round}"), CreateMode::Persistent));
        }
        table.advance(400);
        assert!(table.core.show(table.now).leadership().epoch > epoch, "another leads");
        table.settle();
        client = table.again_at(table.follower(), &client);
        assert_ne!(client.session, SessionId::NONE, "sessions outlive leaders");
        for before in 0..=round {
            table.done(&mut client, get(&format!("/{before}"), false));
        }
    }
    table.held();
}

/// First seen as kazoo's `test_request_queuing_session_expired` at three servers.
#[test]
fn a_wrong_password_at_a_follower_keeps_no_session_alive() {
    let mut table = Table::of(3);
    let client = table.client_of(table.leader());
    table.gone(&client);
    table.advance(500);
    let thief = table.attached(table.follower(), client.session, [9; 16], Zxid::ZERO);
    assert_eq!(thief.session, SessionId::NONE);
    table.advance(1000);
    assert!(table.core.conns.sessions.is_empty(), "it has expired meanwhile");
    table.held();
}

#[test]
fn a_follower_that_is_cut_off_sends_its_clients_away_and_catches_up() {
    let mut table = Table::of(3);
    let (cut_off, leader) = (table.follower(), table.leader());
    let (mut here, mut there) = (table.client_of(cut_off), table.client_of(leader));
    let cut = (0..3).filter(|id| *id != cut_off).flat_map(|id| [[id, cut_off], [cut_off, id]]).collect();
    table.fault(&Fault::Partition { cut, for_ms: 5000 });
    table.done(&mut there, create("/a", CreateMode::Persistent));
    // It does not know yet, and answers from what it has.
    assert_eq!(table.asked(&mut here, get("/a", false)), Some(Err(ErrorCode::NoNode)));
    table.advance(2500);
    assert_eq!(here.link.state(), crate::link::State::Flushing, "its clients are sent away");
    table.advance(3000);
    table.settle();
    let mut again = table.client_of(cut_off);
    table.done(&mut again, get("/a", false));
    table.held();
}

#[test]
fn a_leader_that_stood_still_is_deposed_and_follows() {
    let mut table = Table::of(3);
    let (leader, follower) = (table.leader(), table.follower());
    let stranded = table.client_of(leader);
    table.fault(&Fault::LeaderPause { for_ms: 3000 });
    table.advance(2500);
    assert_eq!(stranded.link.state(), crate::link::State::Open, "nobody tells its clients");
    let mut client = table.client_of(follower);
    table.done(&mut client, create("/a", CreateMode::Persistent));
    assert_ne!(table.leader(), leader);
    table.advance(1000);
    table.settle();
    assert_ne!(table.leader(), leader);
    assert_eq!(stranded.link.state(), crate::link::State::Flushing, "it sends them away as it learns of it");
    let mut again = table.again_at(leader, &client);
    table.done(&mut again, get("/a", false));
    table.held();
}

#[test]
fn a_crash_and_a_pause_end_before_their_time_if_they_are_told_to() {
    for servers in [1, 3] {
        let mut table = Table::of(servers);
        let day_ms = 1000 * 60 * 60 * 24;
        table.fault(&Fault::ServerCrash { server: 0, down_ms: day_ms, mid_sync: false });
        table.advance(1000);
        assert!(!table.core.ensemble.is_up(0));
        table.fault(&Fault::ServerStart { server: 0 });
        assert!(table.core.fault(table.now, &Fault::ServerStart { server: 0 }).is_err(), "it is up");
        table.settle();
        let mut client = table.client_of(0);
        table.fault(&Fault::ServerPause { server: 0, for_ms: day_ms });
        assert!(table.ask(&mut client, get("/", false)).is_empty());
        table.advance(100);
        table.fault(&Fault::ServerResume { server: 0 });
        assert_eq!(client.hear().len(), 1);
        assert!(table.core.stage.put_off().next().is_none());
        table.held();
    }
}

#[test]
fn links_that_lag_and_break_cost_time_and_nothing_else() {
    let mut table = Table::of(3);
    let (leader, follower) = (table.leader(), table.follower());
    let mut client = table.client_of(follower);
    table.fault(&Fault::ServerLag { server: follower, delay_ms: 50, for_ms: 300 });
    let begun = table.now;
    table.done(&mut client, create("/a", CreateMode::Persistent));
    assert!(table.now >= begun + 90 * super::MS, "there and back");
    table.fault(&Fault::LinkBreak { between: [leader, follower] });
    table.advance(1000);
    table.settle();
    let mut client = table.client_of(follower);
    table.done(&mut client, get("/a", false));
    table.held();
}

#[test]
fn everything_that_is_judged_of_several_servers_is_put_to_the_test() {
    let mut table = Table::of(3);
    let (mut a, mut b) = (table.client_of(0), table.client_of(2));
    table.done(&mut a, create("/a", CreateMode::Persistent));
    table.done(&mut b, create("/e", CreateMode::Ephemeral));
    table.done(&mut a, get("/a", true));
    table.done(&mut b, set("/a"));
    table.done(&mut a, get("/a", false));
    for client in [&mut a, &mut b] {
        table.done(client, Request::Sync { path: "/".into() });
    }
    table.advance(5000);
    let verdict = table.core.verdict(table.now);
    assert!(verdict.held, "{verdict:?}");
    let idle = verdict.invariants.iter().find(|judged| judged.verdict != crate::Finding::Held);
    assert_eq!(idle, None, "nothing is left out");
    let names: Vec<&str> = verdict.invariants.iter().map(|judged| judged.name).collect();
    assert!(names.contains(&"Leadership1") && names.contains(&Invariant::ServersAgree.name()), "{names:?}");
}

#[test]
fn a_verdict_says_of_which_servers_the_trees_were_not_compared() {
    let mut table = Table::of(3);
    let down = table.follower();
    table.fault(&Fault::ServerCrash { server: down, down_ms: 500, mid_sync: false });
    let verdict = table.core.verdict(table.now);
    assert!(verdict.held && verdict.not_compared == [down], "{verdict:?}");
    assert!(verdict.to_string().contains(&format!("; not compared, as it does not serve: server {down}; ")));
    table.settle();
    assert_eq!(table.core.verdict(table.now).not_compared, [0; 0]);
}

#[test]
fn what_everybody_has_in_a_snapshot_is_judged_and_forgotten() {
    let mut table = Table::with_snapshots(3, 50);
    let mut client = table.client_of(table.follower());
    table.done(&mut client, create("/a", CreateMode::Persistent));
    let writes = |table: &mut Table, client: &mut Client, count: u32| {
        let most = (0..count).map(|_| {
            table.done(client, set("/a"));
            table.advance(1);
            let ghost = &table.core.ensemble.zab.ghost;
            let logs = ghost.disks.values().map(|disk| disk.log.len());
            logs.chain([ghost.committed.len()]).max().unwrap_or(0)
        });
        most.max().unwrap_or(0)
    };
    assert!(writes(&mut table, &mut client, 2000) < 200);
    // What a server that is down may lack is kept.
    let down = (0..3).find(|id| *id != table.leader() && table.core.conns.server_of(client.id) != Some(*id));
    let server = down.expect("there are three");
    table.fault(&Fault::ServerCrash { server, down_ms: 100_000, mid_sync: false });
    assert!(writes(&mut table, &mut client, 500) > 500);
    table.fault(&Fault::ServerStart { server });
    table.settle();
    writes(&mut table, &mut client, 200);
    assert!(writes(&mut table, &mut client, 500) < 200);
    table.held();
}

/// Two clients at different servers work on an ensemble of which one server lies.
fn broken_by(liar: impl Fn(&Table) -> u8, lie: impl Fn(&mut Output) + Send + 'static) -> Vec<&'static str> {
    broken_behind(0, liar, lie)
}

/// The same, behind so many writes.
fn broken_behind(
    writes: u32,
    liar: impl Fn(&Table) -> u8,
    lie: impl Fn(&mut Output) + Send + 'static,
) -> Vec<&'static str> {
    let mut table = Table::with_snapshots(3, 50);
    let (leader, follower) = (table.leader(), table.follower());
    let (mut a, mut b) = (table.client_of(leader), table.client_of(follower));
    table.done(&mut a, create("/a", CreateMode::Persistent));
    for _ in 0..writes {
        table.done(&mut a, set("/a"));
        table.advance(1);
    }
    assert_eq!(
        table.core.ensemble.zab.ghost.committed.len() < writes as usize,
        writes > 0,
        "some is forgotten"
    );
    let liar = liar(&table);
    table.core.plant = Box::new(move |server, out| {
        if server == liar {
            out.iter_mut().for_each(&lie);
        }
    });
    for _ in 0..20 {
        table.ask(&mut a, set("/a"));
        table.ask(&mut b, get("/a", false));
    }
    table.advance(1000);
    table.broken()
}

#[test]
fn a_follower_that_lies_to_its_clients_is_caught() {
    let broken = broken_by(Table::follower, |output| {
        if let Output::Send {
            message: ToClient::Reply { result: Ok(Response::Data { data, .. }), .. }, ..
        } = output
        {
            *data = Data::from("z");
        }
    });
    assert_eq!(broken, [Invariant::AnswersMatchReference.name()]);
}

#[test]
fn a_follower_that_applies_something_else_is_caught() {
    use zk_proto::server::Note;
    use zk_proto::txn::{Txn, TxnBody};
    for writes in [0, 1000] {
        let broken = broken_behind(writes, Table::follower, |output| {
            if let Output::Note(Note::Applied(txn)) = output
                && matches!(txn.body, TxnBody::SetData { .. })
            {
                let body = TxnBody::Error(ErrorCode::NoNode);
                *txn = std::sync::Arc::new(Txn { body, ..(**txn).clone() });
            }
        });
        assert!(broken.contains(&Invariant::ServersAgree.name()), "{writes}: {broken:?}");
        assert!(broken.contains(&"Agreement"), "{writes}: Zab's own invariants see it as well: {broken:?}");
    }
}

#[test]
fn an_ensemble_whose_disks_forget_is_caught() {
    let mut table = Table::of(3);
    let mut client = table.client_of(0);
    table.done(&mut client, create("/a", CreateMode::Persistent));
    for server in 0..3 {
        table.fault(&Fault::ServerCrash { server, down_ms: 10, mid_sync: false });
    }
    for host in &mut table.core.ensemble.cluster.hosts {
        host.disk = zk_cluster::disk::Disk::default();
    }
    table.settle();
    // By Zab's own: what began again with the first epoch is no leader of a later one, which is what
    // `acknowledged-writes-survive` looks at.
    let broken = table.broken();
    assert!(broken.contains(&"LeaderLogCompleteness"), "{broken:?}");
    assert!(broken.contains(&"CommittedIsOnAQuorum"), "{broken:?}");
}

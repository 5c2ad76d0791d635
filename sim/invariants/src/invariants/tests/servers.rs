//! What is found in what servers do, and say to each other.

use super::world::*;
use super::*;

#[test]
fn servers_can_differ_where_there_are_several() {
    let concerns = |voters| Invariants::new(Setup { voters, ..Setup::default() }).report.by_name();
    let name = Invariant::ServersAgree.name();
    assert!(!concerns(1).contains_key(name) && concerns(3).contains_key(name));
}

#[test]
fn the_leader_of_the_newest_epoch_expires_sessions_and_nobody_else() {
    let late = |server, happens: fn(&mut World)| {
        found(3, |world| {
            happens(world);
            world.invariants.ticked(server, 4100);
        })
    };
    assert_eq!(late(0, |_| {}), [Invariant::NoLateExpiry]);
    assert_eq!(late(0, |world| world.invariants.skewed(500, 200)), [], "a tick was longer");
    assert_eq!(late(1, |_| {}), []);
    assert_eq!(late(0, |world| world.invariants.stopped(0)), []);
    let another_leads = |world: &mut World| world.invariants.established(1, 2, Zxid::new(1, 2), 500);
    assert_eq!((late(0, another_leads), late(1, another_leads)), (vec![], vec![]));
    let later = |world: &mut World| {
        another_leads(world);
        world.invariants.ticked(0, 5000);
        assert_eq!(world.broken(), []);
        world.invariants.ticked(1, 5000);
    };
    assert_eq!(found(3, later), [Invariant::NoLateExpiry]);
    assert_eq!(found(3, |world| world.expires(S, 1000)), [Invariant::NoEarlyExpiry]);
    let forced = |world: &mut World| {
        world.invariants.forces(Some(S));
        world.expires(S, 1000);
    };
    assert_eq!(found(3, forced), []);
    // What a leader of the past proposes comes to nothing.
    let deposed = |world: &mut World| {
        another_leads(world);
        world.expires(S, 1000);
    };
    assert_eq!(found(3, deposed), []);
}

/// A leader hears what a learner has heard when that answers a ping, or tells of it.
#[test]
fn what_a_learner_hears_is_heard_when_its_leader_reads_of_it() {
    let expires = |message: &ToPeer, reads: bool, happens: fn(&mut World)| {
        found(3, |world| {
            world.invariants.arrived(D, &ToServer::Ping, 1000);
            happens(world);
            world.invariants.peer_sends(1, LINK, message);
            if reads {
                world.invariants.peer_reads(0, 1, LINK, message, 2000);
            }
            world.expires(T, 4000);
        })
    };
    let ping = ToPeer::Zab(Packet::Ping);
    let touch = ToPeer::Ask(Ask::Touch { sessions: vec![(T, 3000)] });
    for message in [&ping, &touch] {
        assert_eq!(expires(message, true, |_| {}), [Invariant::NoEarlyExpiry]);
        assert_eq!(expires(message, false, |_| {}), []);
        assert_eq!(expires(message, true, |world| world.invariants.stopped(1)), [], "it has forgotten");
    }
    // Behind its close, nothing that comes from a client is heard.
    let heard = found(3, |world| {
        world.asks(D, T, 1, &Request::CloseSession);
        world.invariants.peer_sends(1, LINK, &ping);
        world.invariants.arrived(D, &ToServer::Ping, 1000);
        world.invariants.peer_sends(1, LINK, &ping);
        (0..2).for_each(|n| world.invariants.peer_reads(0, 1, LINK, &ping, n * 2000));
        world.expires(T, 4000);
    });
    assert_eq!(heard, []);
}

#[test]
fn a_leader_hears_of_who_comes_to_a_learner_and_says_whose_a_session_is() {
    let attach = |session| {
        let conn = ConnId(3);
        ToPeer::Ask(Ask::Attach { conn, session, password: PASSWORD, timeout_ms: 3000 })
    };
    let says = |world: &mut World, valid| {
        let word = ToPeer::Answer(Answer::Attached { conn: ConnId(3), valid });
        world.invariants.peer_sends(0, LINK, &word);
        world.invariants.peer_reads(1, 0, LINK, &word, 2000);
    };
    let comes = |leader, valid: Option<bool>| {
        found(3, |world| {
            world.comes(ConnId(3), 1, S, 2000);
            world.invariants.peer_reads(leader, 1, LINK, &attach(S), 2000);
            valid.into_iter().for_each(|valid| says(world, valid));
            world.invariants.answering(ConnId(3), &granted(S));
            world.expires(S, 4000);
        })
    };
    assert_eq!(comes(0, Some(true)), [Invariant::NoEarlyExpiry], "it was heard");
    let [owner, early] = [Invariant::SessionsToOwners, Invariant::NoEarlyExpiry];
    assert_eq!(comes(0, Some(false)), [owner, owner, early], "a wrong word, and it is not kept");
    assert_eq!(comes(0, None), [owner, early], "without its leader's word");
    assert_eq!(comes(2, Some(true)), [], "another server knows of nothing");
}

#[test]
fn a_sync_on_a_learners_connection_is_answered_on_its_leaders_word() {
    let sync = Request::Sync { path: "/".into() };
    let synced = || Ok(Response::Synced { path: "/".into() });
    let syncs = |conn, session, word: bool, proposes: bool| {
        found(3, |world| {
            world.asks(conn, session, 1, &sync);
            if proposes {
                let txn = world.next(S, 1, TxnBody::Error(ErrorCode::NoNode));
                world.invariants.proposed(0, &txn, 0);
            }
            if word {
                world.invariants.peer_reads(0, 1, LINK, &ToPeer::Ask(Ask::Sync { conn }), 0);
                world.invariants.peer_reads(1, 0, LINK, &ToPeer::Answer(Answer::Synced { conn }), 0);
            }
            world.gets(conn, &reply(1, Zxid::new(1, 2), synced()));
        })
    };
    assert_eq!(syncs(D, T, true, false), []);
    assert_eq!(syncs(D, T, false, false), [Invariant::SyncShowsCommitted]);
    assert_eq!(syncs(D, T, true, true), [Invariant::SyncShowsCommitted], "the last is not shown");
    assert_eq!(syncs(C, S, false, false), [], "a leader needs no word");
    // Another read needs none either.
    let reads = found(3, |world| {
        world.asks(D, T, 1, &exists());
        world.gets(D, &reply(1, Zxid::new(1, 2), Ok(Response::Exists(None))));
    });
    assert_eq!(reads, []);
}

#[test]
fn a_new_leader_knows_its_history_and_one_that_asks_a_quorum_what_others_have_committed() {
    let sync = Request::Sync { path: "/".into() };
    let syncs = |happens: fn(&mut World)| {
        found(3, |world| {
            happens(world);
            world.asks(D, T, 1, &sync);
            world.invariants.peer_reads(0, 1, LINK, &ToPeer::Ask(Ask::Sync { conn: D }), 0);
            world.invariants.peer_reads(1, 0, LINK, &ToPeer::Answer(Answer::Synced { conn: D }), 0);
            world.gets(D, &reply(1, Zxid::new(1, 2), Ok(Response::Synced { path: "/".into() })));
        })
    };
    let commits = |world: &mut World| {
        let txn = world.next(S, 1, TxnBody::Error(ErrorCode::NoNode));
        world.invariants.committed(&txn, true);
    };
    assert_eq!(syncs(commits), []);
    let asks_first = |world: &mut World| {
        world.invariants.ensemble.setup.asks_quorum = true;
        let txn = world.next(S, 1, TxnBody::Error(ErrorCode::NoNode));
        world.invariants.committed(&txn, true);
    };
    assert_eq!(syncs(asks_first), [Invariant::SyncShowsCommitted]);
    let leads = |world: &mut World| world.invariants.established(0, 2, Zxid::new(1, 3), 0);
    assert_eq!(syncs(leads), [Invariant::SyncShowsCommitted]);
}

const LOG: FileId = FileId::Log(Zxid::ZERO);

/// A record of 30 bytes.
fn append(zxid: Zxid) -> DiskOp {
    let mut bytes = vec![0; 30];
    bytes[8..16].copy_from_slice(&zxid.to_i64().to_le_bytes());
    DiskOp::Append { file: LOG, bytes }
}

#[test]
fn what_is_committed_is_on_a_disk_that_was_synced_and_not_cut() {
    let commits = |appended_at: usize, synced: usize, cut: Option<u64>| {
        found(1, |world| {
            world.asks(C, S, 1, &delete());
            let txn = world.next(S, 1, TxnBody::Error(ErrorCode::NoNode));
            world.invariants.asked(0, &append(txn.zxid), appended_at);
            world.invariants.synced(0, LOG, synced);
            if let Some(len) = cut {
                world.invariants.asked(0, &DiskOp::Truncate { file: LOG, len }, 0);
            }
            world.invariants.committed(&txn, false);
        })
    };
    assert_eq!((commits(20, 50, None), commits(20, 50, Some(50))), (vec![], vec![]));
    assert_eq!(commits(20, 49, None), [Invariant::AcknowledgedWritesSurvive]);
    assert_eq!(commits(20, 50, Some(49)), [Invariant::AcknowledgedWritesSurvive]);
}

#[test]
fn who_leads_next_has_what_was_acknowledged() {
    let leads = |request: &Request, answer: Result<Response, ErrorCode>| {
        found(3, |world| {
            world.asks(C, S, 1, request);
            let mut zxid = Zxid::new(1, 2);
            if request.is_write() {
                zxid = world.does(S, 1, TxnBody::Error(ErrorCode::NoNode));
            }
            world.gets(C, &reply(1, zxid, answer));
            world.invariants.established(1, 2, Zxid::new(1, 1), 0);
        })
    };
    assert_eq!(leads(&delete(), Err(ErrorCode::NoNode)), [Invariant::AcknowledgedWritesSurvive]);
    assert_eq!(leads(&exists(), Ok(Response::Exists(None))), []);
}

#[test]
fn a_write_that_is_proposed_is_done_though_its_client_has_gone() {
    let applied = |is_proposed: bool| {
        found(1, |world| {
            world.asks(C, S, 1, &delete());
            let txn = world.next(S, 1, TxnBody::Error(ErrorCode::NoNode));
            if is_proposed {
                world.invariants.proposed(0, &txn, 0);
            }
            world.invariants.closed(C);
            world.applies(0, &txn);
        })
    };
    assert_eq!(applied(true), []);
    assert_ne!(applied(false), []);
}

#[test]
fn a_session_that_ends_leaves_none_of_its_ephemerals() {
    let ends = |left: bool| {
        found(1, |world| {
            let (path, data, acl, mode): (Text, _, _, _) =
                ("/e".into(), zk_api::Data::from("x"), open_acl(), CreateMode::Ephemeral);
            let create = Request::Create {
                path: path.clone(),
                data: data.clone(),
                acl: acl.clone(),
                mode,
                stat: false,
            };
            world.asks(C, S, 1, &create);
            let kind = NodeKind::Ephemeral(S);
            world.does(S, 1, TxnBody::Create { path: path.clone(), data, acl, kind, parent_created: 1 });
            let ephemerals = if left { Vec::new() } else { vec![path] };
            let close = world.next(S, 0, TxnBody::CloseSession { ephemerals, expired: true });
            world.invariants.committed(&close, true);
            world.applies(0, &close);
            world.invariants.ticked(0, 9000);
            if !left {
                // Again, after a start.
                world.invariants.applied(0, &close, &world.trees[0]);
                let tested = world.invariants.report.by_name();
                assert_eq!(tested[Invariant::EphemeralsOfDeadSessionsGone.name()], 1);
            }
            world.invariants.report.broken.retain(|(name, _)| *name != Invariant::AnswersMatchReference);
            world.invariants.at_rest(0, &world.trees[0], |session| session != S);
        })
    };
    assert_eq!(ends(false), []);
    let [left, differs] = [Invariant::EphemeralsOfDeadSessionsGone, Invariant::AnswersMatchReference];
    assert_eq!(ends(true), [left, differs, left]);
}

#[test]
fn a_server_that_does_something_else_is_found_once() {
    let found = found(3, |world| {
        world.asks(C, S, 1, &delete());
        let txn = world.next(S, 1, TxnBody::Error(ErrorCode::NoNode));
        world.applies(0, &txn);
        let other = Txn { body: TxnBody::Delete { path: "/zookeeper/quota".into() }, ..(*txn).clone() };
        world.applies(1, &Arc::new(other));
    });
    assert_eq!(found, [Invariant::ServersAgree]);
}

#[test]
fn a_server_that_is_alone_and_starts_again_knows_nothing_of_what_it_had_not_written() {
    let serves = |happens: fn(&mut World)| {
        found(1, |world| {
            world.asks(C, S, 1, &delete());
            let txn = world.next(S, 1, TxnBody::Error(ErrorCode::NoNode));
            world.invariants.started(0, Zxid::new(1, 1), &world.trees[0]);
            world.invariants.serves(0, &world.trees[0]);
            happens(world);
            world.applies(0, &txn);
        })
    };
    assert_eq!(serves(|_| {})[0], Invariant::AnswersMatchReference, "nobody has asked for that any more");
    assert_eq!(serves(|world| world.asks(C, S, 1, &delete())), []);
}

#[test]
fn the_whole_tree_of_a_server_that_is_alone_is_compared_whenever_it_starts() {
    let serves = |changed: &str| {
        found(1, |world| {
            for n in 1..=200 {
                let (path, data, acl): (Text, _, _) =
                    (format!("/n{n}").into(), zk_api::Data::from("x"), open_acl());
                let (mode, kind, parent_created) = (CreateMode::Persistent, NodeKind::Persistent, n);
                let body = TxnBody::Create {
                    path: path.clone(),
                    data: data.clone(),
                    acl: acl.clone(),
                    kind,
                    parent_created,
                };
                world.asks(C, S, n, &Request::Create { path, data, acl, mode, stat: false });
                world.does(S, n, body);
            }
            let mut tree = world.trees[0].clone();
            world.invariants.serves(0, &tree);
            let mut node = tree.node(changed).expect("it is there").clone();
            node.version += 1;
            tree.restore(changed.into(), node);
            world.invariants.serves(0, &tree);
        })
    };
    // The first and the last of them.
    assert_eq!(serves("/n1"), [Invariant::AcknowledgedWritesSurvive]);
    assert_eq!(serves("/n99"), [Invariant::AcknowledgedWritesSurvive]);
}

#[test]
fn a_session_is_remembered_until_it_is_over_and_has_no_connection() {
    let is_remembered = |happens: fn(&mut World)| {
        let mut world = World::of(3);
        let write = |xid| Txn {
            zxid: Zxid::new(1, 9),
            session: S,
            xid: Xid(xid),
            time_ms: 0,
            body: TxnBody::Error(ErrorCode::NoNode),
        };
        world.invariants.committed(&write(2), true);
        happens(&mut world);
        world.invariants.committed(&write(1), true);
        world.broken() == [Invariant::SessionFifo]
    };
    fn ends(world: &mut World) {
        world.does(S, 0, expired());
        world.invariants.report.broken.clear();
    }
    assert!(is_remembered(|world| world.invariants.finished(C)));
    assert!(is_remembered(ends));
    let forgets: [fn(&mut World); 2] = [
        |world| {
            world.invariants.finished(C);
            ends(world);
        },
        |world| {
            ends(world);
            world.invariants.finished(C);
        },
    ];
    assert_eq!(forgets.map(is_remembered), [false, false]);
    assert!(is_remembered(|world| {
        world.invariants.sessions.insert(ConnId(3), S);
        ends(world);
        world.invariants.finished(C);
    }));
}

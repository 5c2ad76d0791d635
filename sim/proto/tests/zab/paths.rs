//! Single cases, each driven to a point where something could go wrong.

use crate::rig::{Action, Rig};
use zk_proto::server::ServerId;

#[test]
fn one_voter_leads_itself() {
    let mut rig = Rig::new(1, 0, |_| {});
    rig.serve().unwrap();
    assert_eq!(rig.leader(), Some(ServerId(1)));
    rig.act(Action::Propose { server: ServerId(1) });
    rig.quiet().unwrap();
    assert_eq!(rig.node(ServerId(1)).machine.len(), 1);
}

#[test]
fn three_voters_elect_the_highest_id_and_deliver() {
    let mut rig = Rig::new(3, 0, |_| {});
    rig.serve().unwrap();
    assert_eq!(rig.leader(), Some(ServerId(3)));
    rig.heal().unwrap();
}

//! How a run may begin: where blind choices hardly ever come.
//!
//! Nothing is checked on the way, and a scene that a planted bug spoils just ends there.

use crate::zab::rig::{Action, Rig};
use zk_proto::mutant::Mutant;
use zk_proto::server::ServerId;
use zk_proto::zab::{Role, Timer, Write};

/// Does what is allowed, the first of it first, until something is so; `None` if it does not come to that.
fn until(rig: &mut Rig, allowed: impl Fn(&Rig, &Action) -> bool, done: impl Fn(&Rig) -> bool) -> Option<()> {
    for _ in 0..100 {
        if done(rig) {
            return Some(());
        }
        let action = rig.actions().into_iter().find(|action| allowed(rig, action))?;
        rig.act(action);
    }
    None
}

/// Whatever has to do with a server and its leader, but for the leader's own disk.
pub fn between(server: u8, leader: u8) -> impl Fn(&Rig, &Action) -> bool {
    let (server, leader) = (ServerId(server), ServerId(leader));
    move |rig, action| match action {
        Action::Dialled { from, to, .. } => (*from, *to) == (server, leader),
        Action::Packet { link, .. } => rig.links[link].ends == [server, leader],
        Action::Written { server: whose } => *whose == server,
        _ => false,
    }
}

fn decide(rig: &mut Rig, server: u8, leader: u8) -> Option<()> {
    let (server, leader) = (ServerId(server), ServerId(leader));
    rig.act(Action::Mislead { server, leader });
    (rig.peer(server.0).role() == Role::Joining { leader }).then_some(())
}

/// The newest link breaks, and both ends hear of it.
fn part(rig: &mut Rig) -> Option<()> {
    let link = *rig.links.keys().next_back()?;
    rig.act(Action::Break { link, arrives: [0, 0] });
    let news = |_: &Rig, action: &Action| matches!(action, Action::Packet { link: of, .. } if *of == link);
    until(rig, news, |rig| !rig.links.contains_key(&link))
}

fn looks(server: u8) -> impl Fn(&Rig) -> bool {
    move |rig| rig.peer(server).is_looking()
}

/// Of three voters, 3 chose an epoch with 1 and lost it before it could ask for a promise; 2 chose the same one,
/// and leads with 1's promise; 1 has lost 2 and looks for a leader.
pub fn competing_leaders(rig: &mut Rig) -> Option<()> {
    decide(rig, 3, 3)?;
    decide(rig, 1, 3)?;
    let chosen = |rig: &Rig| rig.nodes[&ServerId(3)].writing == Some(Write::AcceptedEpoch(1));
    until(rig, between(1, 3), chosen)?;
    part(rig)?;
    let impatient =
        |_: &Rig, action: &Action| *action == Action::Fire { server: ServerId(1), timer: Timer::Tick };
    until(rig, impatient, looks(1))?;
    decide(rig, 2, 2)?;
    decide(rig, 1, 2)?;
    let with_disk = |rig: &Rig, action: &Action| {
        between(1, 2)(rig, action) || *action == Action::Written { server: ServerId(2) }
    };
    until(rig, with_disk, |rig| rig.peer(2).leads() == Some(1))?;
    part(rig)?;
    until(rig, between(1, 2), looks(1))
}

/// Three voters that serve, of which 1 has crashed while a transaction came to stand.
fn without_one(mutant: Option<Mutant>) -> Option<Rig> {
    let mut rig = Rig::new(3, 0, |config| config.mutant = mutant);
    (rig.is_judged, rig.datagrams_max) = (false, 1);
    rig.serve().ok()?;
    rig.act(Action::Crash { server: ServerId(1), outcome: 0, mute: false });
    let server = rig.leader()?;
    rig.act(Action::Propose { server });
    rig.quiet().ok()?;
    Some(rig)
}

/// Lets those who look for a leader agree.
fn elect(rig: &mut Rig) {
    let datagram = |action: &Action| matches!(action, Action::Datagram { .. });
    while let Some(action) = rig.actions().into_iter().find(datagram) {
        rig.act(action);
    }
}

/// 1 is back, while another transaction is under way, and has decided for the leader.
pub fn late(mutant: Option<Mutant>) -> Option<Rig> {
    let mut rig = without_one(mutant)?;
    let server = rig.leader()?;
    rig.act(Action::Propose { server });
    rig.act(Action::Restart { server: ServerId(1) });
    elect(&mut rig);
    Some(rig)
}

/// All have begun again, and decided for a leader of a new epoch. 1 lacks what stands.
pub fn behind(mutant: Option<Mutant>) -> Option<Rig> {
    let mut rig = without_one(mutant)?;
    for server in [ServerId(2), ServerId(3)] {
        rig.act(Action::Crash { server, outcome: 0, mute: true });
    }
    for server in [ServerId(1), ServerId(2), ServerId(3)] {
        rig.act(Action::Restart { server });
    }
    elect(&mut rig);
    Some(rig)
}

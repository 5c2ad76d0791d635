//! Servers on their machines, and what is between them.
//!
//! ```
//! use zk_cluster::cluster::{Cluster, Host};
//! use zk_proto::server::{ServerConfig, ServerId};
//! # use zk_proto::{order::NameOrder, prepare::TreeConfig, server::Syncs, zab::PeerConfig};
//! # let config = |id| ServerConfig {
//! #     zab: PeerConfig::for_server(id, [ServerId(0), ServerId(1)], [], 2000),
//! #     tick_ms: 2000,
//! #     snapshot_every: 0,
//! #     snapshot_step: 1,
//! #     snapshots_kept: 1,
//! #     snapshot_bytes: 0,
//! #     container_check_ms: 60_000,
//! #     super_digest: None,
//! #     syncs: Syncs::AsShipped,
//! #     tree: TreeConfig { extended_types: true, order: NameOrder::Salted(0) },
//! # };
//!
//! let hosts = [ServerId(0), ServerId(1)].map(|id| Host::new(config(id), ()));
//! let mut cluster = Cluster::<(), (), ()>::new(hosts);
//! assert_eq!(cluster.dialled(0, 1), None, "both are down");
//! for host in &mut cluster.hosts {
//!     host.start(0)?;
//! }
//! cluster.cut(&[[0, 1]]);
//! assert_eq!(cluster.dialled(1, 0), None, "a link needs both directions");
//! cluster.mend(&[[0, 1]]);
//! let link = cluster.dialled(1, 0).expect("nothing is in the way");
//! assert_eq!(cluster.other_end(0, link), Some(1));
//! # Ok::<(), zk_proto::server::RecoveryError>(())
//! ```

use crate::disk::{CrashReport, Disk};
use crate::links::{Links, Partitions};
use zk_proto::message::ToPeer;
use zk_proto::server::{Note, Output, RecoveryError, Server, ServerConfig, ServerId};
use zk_proto::zab::ghost::Ghost;
use zk_proto::zab::message::LinkId;
use zk_proto::zab::{Peer, Role};

/// A server and its machine. `X` is what whoever drives them keeps of it: clocks, timers, what slows it down.
pub struct Host<X> {
    pub config: ServerConfig,
    /// `None` while it is down.
    pub server: Option<Server>,
    pub disk: Disk,
    /// How often it has started: what belongs to a former start is void.
    pub starts: u32,
    /// Whether it serves, as far as anybody was told.
    pub is_serving: bool,
    /// It is to crash in the middle of the next sync of its log, and to be down for so long.
    pub crash_at_sync_ms: Option<u64>,
    pub own: X,
}

impl<X> Host<X> {
    /// A machine with an empty disk, not started yet.
    pub fn new(config: ServerConfig, own: X) -> Host<X> {
        let (server, disk) = (None, Disk::default());
        Host { config, server, disk, starts: 0, is_serving: false, crash_at_sync_ms: None, own }
    }

    /// Starts the server from its disk. `now_ms` is its wall clock.
    pub fn start(&mut self, now_ms: i64) -> Result<(&Server, Vec<Output>), RecoveryError> {
        self.starts += 1;
        let (server, out) = Server::start(self.config.clone(), &self.disk.files(), now_ms)?;
        Ok((self.server.insert(server), out))
    }

    /// The machine crashes, and leaves of what its disk has not synced what `pick` says: see [`Disk::crash`]. `None` if
    /// it was down.
    pub fn crash(&mut self, reorders: bool, pick: &mut dyn FnMut(u64) -> u64) -> Option<CrashReport> {
        self.server.take()?;
        self.is_serving = false;
        Some(self.disk.crash(reorders, pick))
    }

    /// Whether it serves, if that is new.
    pub fn serves_anew(&mut self) -> Option<bool> {
        let serves = self.server.as_ref()?.is_serving();
        (std::mem::replace(&mut self.is_serving, serves) != serves).then_some(serves)
    }
}

/// See the module. Servers are numbered from 0. `W` is what is kept of what is on its way to an end of a link, and `T`
/// what may come to a cut.
pub struct Cluster<X, W, T> {
    pub hosts: Vec<Host<X>>,
    pub links: Links<W>,
    pub partitions: Partitions<T>,
}

impl<X, W: Default, T> Cluster<X, W, T> {
    /// Servers without links.
    pub fn new(hosts: impl IntoIterator<Item = Host<X>>) -> Cluster<X, W, T> {
        let (links, partitions) = (Links::default(), Partitions::default());
        Cluster { hosts: hosts.into_iter().collect(), links, partitions }
    }

    /// A machine.
    pub fn host(&mut self, id: u8) -> &mut Host<X> {
        &mut self.hosts[usize::from(id)]
    }

    /// The server on it, while it is up.
    pub fn server(&self, id: u8) -> Option<&Server> {
        self.hosts[usize::from(id)].server.as_ref()
    }

    /// The parts in Zab of all that are up.
    pub fn peers(&self) -> Vec<&Peer> {
        self.hosts.iter().filter_map(|host| host.server.as_ref()).map(Server::peer).collect()
    }

    /// Tells the history of all of them what a server wants done, as it is after that step.
    pub fn tell(&self, id: u8, output: &Output, ghost: &mut Ghost) {
        let Some(peer) = self.server(id).map(Server::peer) else { return };
        match output {
            Output::SendPeer { message: ToPeer::Zab(packet), .. } => ghost.sent(peer, packet),
            Output::Note(Note::Zab(note)) => ghost.note(peer, note),
            Output::Note(Note::Writes(write)) => ghost.writes(ServerId(id), write),
            Output::Note(Note::Written) => ghost.written(ServerId(id)),
            Output::Note(Note::Applied(txn)) => ghost.deliver(ServerId(id), txn),
            Output::Note(Note::Restored(zxid)) => ghost.show(ServerId(id), *zxid),
            Output::SendPeer { message: ToPeer::Ask(_) | ToPeer::Answer(_), .. }
            | Output::Send { .. }
            | Output::Close { .. }
            | Output::Disk(_)
            | Output::SetTimer { .. }
            | Output::Notify { .. }
            | Output::Dial { .. }
            | Output::Hang { .. } => {}
        }
    }

    /// The server that leads the newest epoch, and that epoch: see [`leader`].
    pub fn leader(&self) -> Option<(u8, u32)> {
        leader(self.peers()).map(|(ServerId(server), epoch)| (server, epoch))
    }

    /// The links between two servers.
    pub fn between(&self, [a, b]: [u8; 2]) -> Vec<LinkId> {
        let mut links = self.links.of(ServerId(a));
        links.retain(|link| self.other_end(a, *link) == Some(b));
        links
    }

    /// Whether nothing gets from one server to another.
    pub fn is_cut(&self, from: u8, to: u8) -> bool {
        self.partitions.is_cut(ServerId(from), ServerId(to))
    }

    /// Who is at the other end of a link.
    pub fn other_end(&self, server: u8, link: LinkId) -> Option<u8> {
        self.links.other_end(ServerId(server), link).map(|ServerId(other)| other)
    }

    /// What a server has dialled comes about, or nothing comes of it.
    pub fn dialled(&mut self, from: u8, to: u8) -> Option<LinkId> {
        let is_cut = self.is_cut(from, to) || self.is_cut(to, from);
        let are_up = self.server(from).is_some() && self.server(to).is_some();
        (are_up && !is_cut).then(|| self.links.open(ServerId(from), ServerId(to)))
    }

    /// Nothing gets from one server to another any more.
    pub fn cut(&mut self, cut: &[[u8; 2]]) {
        cut.iter().for_each(|[from, to]| self.partitions.cut(ServerId(*from), ServerId(*to)));
    }

    /// One partition less says so. Gives what had come to the cuts that are no more.
    pub fn mend(&mut self, cut: &[[u8; 2]]) -> Vec<T> {
        cut.iter().flat_map(|[from, to]| self.partitions.mend(ServerId(*from), ServerId(*to))).collect()
    }
}

/// Who leads the newest epoch, as far as each knows itself, and that epoch.
pub fn leader<'a>(peers: impl IntoIterator<Item = &'a Peer>) -> Option<(ServerId, u32)> {
    let leads = |peer: &Peer| match peer.role() {
        Role::Leading { epoch } => Some((epoch, peer.config().id)),
        Role::Looking | Role::Joining { .. } | Role::Following { .. } | Role::Observing { .. } => None,
    };
    peers.into_iter().filter_map(leads).max().map(|(epoch, server)| (server, epoch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_proto::order::NameOrder;
    use zk_proto::prepare::TreeConfig;
    use zk_proto::server::{Event, Input, Syncs};
    use zk_proto::zab::PeerConfig;

    /// Servers that are down, each of a quorum of its own.
    fn of(count: u8) -> Cluster<(), (), char> {
        let config = |id| ServerConfig {
            zab: PeerConfig::for_server(ServerId(id), [ServerId(id)], [], 1000),
            tick_ms: 1000,
            snapshot_every: 0,
            snapshot_step: 1,
            snapshots_kept: 1,
            snapshot_bytes: 0,
            container_check_ms: 60_000,
            super_digest: None,
            syncs: Syncs::AsShipped,
            tree: TreeConfig { extended_types: true, order: NameOrder::Salted(0) },
        };
        Cluster::new((0..count).map(|id| Host::new(config(id), ())))
    }

    #[test]
    fn nobody_gets_a_link_over_a_cut_or_to_a_server_that_is_down() {
        let mut cluster = of(3);
        assert_eq!(cluster.dialled(2, 0), None);
        cluster.hosts.iter_mut().for_each(|host| assert!(host.start(0).is_ok()));
        let link = cluster.dialled(2, 0).expect("nothing is in the way");
        assert_eq!((cluster.other_end(2, link), cluster.other_end(0, link)), (Some(0), Some(2)));
        assert_eq!((cluster.between([0, 2]), cluster.between([2, 1])), (vec![link], vec![]));
        cluster.cut(&[[0, 1]]);
        assert!(cluster.is_cut(0, 1) && !cluster.is_cut(1, 0));
        assert_eq!((cluster.dialled(0, 1), cluster.dialled(1, 0)), (None, None));
        cluster.partitions.stall(ServerId(0), ServerId(1), 'a');
        assert_eq!(cluster.mend(&[[1, 0], [0, 1]]), ['a']);
        assert!(cluster.dialled(0, 1).is_some());
        assert!(cluster.host(1).crash(false, &mut |_| 0).is_some() && cluster.server(1).is_none());
        assert_eq!((cluster.dialled(0, 1), cluster.dialled(1, 0)), (None, None));
        assert!(cluster.host(1).crash(false, &mut |_| 0).is_none(), "it is down");
    }

    /// Lets a server that is alone write what it wants to, and keeps the history of it.
    fn write(cluster: &mut Cluster<(), (), char>, mut out: Vec<Output>, ghost: &mut Ghost) {
        loop {
            for output in out.drain(..) {
                cluster.tell(0, &output, ghost);
                if let Output::Disk(op) = output {
                    cluster.host(0).disk.ask(op);
                }
            }
            let host = cluster.host(0);
            let Some((file, ticket)) = host.disk.tickets().next() else { return };
            host.disk.done(file, ticket);
            let server = host.server.as_mut().expect("it is up");
            server.step(Input { now_ms: 0, event: Event::Synced { file, ticket } }, &mut out);
        }
    }

    #[test]
    fn a_server_serves_anew_once_for_each_start_and_its_history_is_kept() {
        let (mut cluster, mut ghost) = (of(1), Ghost::default());
        for starts in 1..=2 {
            let host = cluster.host(0);
            let (server, out) = host.start(0).expect("its disk is whole");
            ghost.started(server.peer());
            assert_eq!((host.starts, host.serves_anew()), (starts, None));
            write(&mut cluster, out, &mut ghost);
            assert_eq!((cluster.host(0).serves_anew(), cluster.host(0).serves_anew()), (Some(true), None));
            assert_eq!(cluster.leader(), Some((0, starts)));
            // It has led an epoch for each start, and that is on its disk.
            let disk = &ghost.disks[&ServerId(0)];
            assert_eq!(
                (ghost.initial.len() as u32, disk.accepted_epoch, disk.current_epoch),
                (starts, starts, starts)
            );
            cluster.host(0).crash(false, &mut |_| 0);
            assert_eq!((cluster.host(0).serves_anew(), cluster.leader()), (None, None));
        }
    }
}

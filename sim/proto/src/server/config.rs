//! How a server is set up.

use crate::prepare::TreeConfig;
use crate::zab::PeerConfig;
use zk_api::Text;

/// How a server is set up. The same over restarts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerConfig {
    /// Who it is, and with whom it makes an ensemble. Its tick is half of this server's, as in ZooKeeper a
    /// leader pings twice in a tick.
    pub zab: PeerConfig,
    /// The length of a tick. Session timeouts are clamped to 2 to 20 of them.
    pub tick_ms: u32,
    /// A snapshot is begun after so many transactions; zero stands for never.
    pub snapshot_every: u32,
    /// How many znodes one step of a snapshot writes.
    pub snapshot_step: u32,
    /// Snapshots kept, with the logs they need; older ones are removed. At least one is kept.
    pub snapshots_kept: u32,
    /// A snapshot is begun after so many bytes of transactions as well; zero stands for never.
    pub snapshot_bytes: u64,
    /// How often empty containers and TTL znodes whose time is up are looked for.
    pub container_check_ms: u32,
    /// Who proves this identity of the scheme `digest`, such as `super:D/InIHSb7yEEbrWz8b9l71RjZJU=`, may do
    /// everything. Source: ZooKeeper 3.9, `zookeeper.DigestAuthenticationProvider.superDigest`.
    pub super_digest: Option<Text>,
    /// Whom a leader asks before a sync is answered.
    pub syncs: Syncs,
    /// Switches of the tree.
    pub tree: TreeConfig,
}

/// Whom a leader asks before a sync is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Syncs {
    /// Nobody, unless something is in flight, and then whoever acknowledges that. So a deposed leader that does not
    /// know it yet answers, and one whose own tree is behind does.
    ///
    /// Source: ZooKeeper 3.9, measured.
    #[default]
    AsShipped,
    /// A quorum, whether it still follows; and it waits for everything that it has proposed. No released version does
    /// so.
    AskQuorum,
}

//! One of two servers that are compared.

use std::net::SocketAddr;

use crate::connection::word;
use crate::driver::{Driver, Servers};
use crate::keeper::{Keeper, least_timeout_ms};
use crate::normal::Era;
use crate::script::{Script, Which};

/// What a script's run gave: the lines of each step.
pub type Transcript = Vec<Vec<String>>;

/// A server, or an ensemble, and what is known about it.
pub struct Side {
    /// What it is called in texts.
    pub name: String,
    servers: Box<dyn Servers + Send>,
    keeper: Keeper,
    /// What `srvr` says of its version; empty if it does not say.
    pub version: String,
    /// The length of its ticks, as the timeouts tell that it grants.
    pub tick_ms: i32,
}

impl Side {
    /// Looks at a server. Fails with why scripts cannot be run there: it must be there, know the super user
    /// `super:test`, and be empty, as everything on it is deleted.
    pub fn open(name: &str, mut servers: Box<dyn Servers + Send>) -> Result<Side, String> {
        let address = servers.address(Which::Number(1))?;
        let version = version(address);
        let mut keeper = Keeper::open(address)?;
        if !keeper.is_super()? {
            return Err(format!(
                "{address}: does not take super:test for the super user; start it with \
                 -Dzookeeper.DigestAuthenticationProvider.superDigest=super:D/InIHSb7yEEbrWz8b9l71RjZJU="
            ));
        }
        let others = keeper.others()?;
        if let Some(first) = others.first() {
            return Err(format!(
                "{address}: holds {first} and so on, {} znodes; expected an empty server, as all of them would be \
                 deleted",
                others.len()
            ));
        }
        let least = least_timeout_ms(address)?;
        Ok(Side { name: name.to_owned(), servers, keeper, version, tick_ms: least / 2 })
    }

    /// Which of the normalisations of older versions are needed.
    pub fn era(&self) -> Era {
        let old = ["3.4.", "3.5.", "3.6.", "3.7.", "3.8."].iter().any(|old| self.version.starts_with(old));
        if old { Era::Before39 } else { Era::Current }
    }

    /// Makes the two alike before a run: what earlier runs left is deleted, and counters that outlive them are
    /// brought level.
    pub fn level(&mut self, other: &mut Side) -> Result<(), String> {
        self.keeper.revive()?;
        other.keeper.revive()?;
        self.keeper.clean()?;
        other.keeper.clean()?;
        self.keeper.level(&mut other.keeper)
    }

    /// Runs a script, and cleans up behind it. Fails if the server cannot be talked to at all.
    pub fn run(&mut self, script: &Script, era: Era) -> Result<Transcript, String> {
        self.keeper.revive()?;
        let transcript = Driver::new(&mut *self.servers, Some(&mut self.keeper), era)?.run(script);
        self.keeper.revive()?;
        self.keeper.clean()?;
        transcript
    }
}

/// Deletes what scripts have left on a server. The last transaction is the end of a session of ours.
pub fn clear(server: SocketAddr) -> Result<(), String> {
    let mut keeper = Keeper::open(server)?;
    keeper.clear()?;
    keeper.leave()
}

/// The version, from the first line of `srvr`.
fn version(address: SocketAddr) -> String {
    let text = word(address, "srvr").unwrap_or_default();
    let found = text.lines().find_map(|line| line.strip_prefix("Zookeeper version: "));
    found.and_then(|rest| rest.split(['-', ',', ' ']).next()).unwrap_or_default().to_owned()
}

//! Which faults can be done: whether what they strike is there.

use super::conns::Conns;
use super::ensemble::Ensemble;
use crate::fault::{Fault, Loss, When};

/// Nothing takes longer than this, so that times can be added up.
const LONGEST_MS: u64 = 1000 * 60 * 60 * 24;

/// What faults may strike.
pub(super) struct Possible<'c> {
    pub(super) ensemble: &'c Ensemble,
    pub(super) conns: &'c Conns,
}

impl Possible<'_> {
    /// Says in a line why a fault cannot be done.
    pub(super) fn check(&self, fault: &Fault) -> Result<(), String> {
        self.check_times(fault)?;
        self.check_server(fault)?;
        self.check_targets(fault)
    }

    fn check_times(&self, fault: &Fault) -> Result<(), String> {
        let times = match *fault {
            Fault::ServerCrash { down_ms, .. } | Fault::LeaderCrash { down_ms, .. } => {
                [("down-ms", down_ms), ("", 0)]
            }
            Fault::ServerPause { for_ms, .. }
            | Fault::LeaderPause { for_ms }
            | Fault::Partition { for_ms, .. }
            | Fault::Drop { what: Loss::InFlight { for_ms }, .. } => [("for-ms", for_ms), ("", 0)],
            Fault::SlowLink { delay_ms, for_ms, .. } | Fault::ServerLag { delay_ms, for_ms, .. } => {
                [("delay-ms", delay_ms), ("for-ms", for_ms)]
            }
            Fault::SlowSync { sync_ms, for_ms, .. } => [("sync-ms", sync_ms), ("for-ms", for_ms)],
            Fault::ClockJump { by_ms, .. } if by_ms.unsigned_abs() > LONGEST_MS => {
                return Err(format!("by-ms: {by_ms}; it must be from -{LONGEST_MS} to {LONGEST_MS}"));
            }
            Fault::ClockJump { .. }
            | Fault::ServerStart { .. }
            | Fault::ServerResume { .. }
            | Fault::LinkBreak { .. }
            | Fault::Drop { .. }
            | Fault::Expire { .. }
            | Fault::ExpireOwner { .. } => [("", 0); 2],
        };
        match times.into_iter().find(|(_, ms)| *ms > LONGEST_MS) {
            Some((name, ms)) => Err(format!("{name}: {ms}; it must be at most {LONGEST_MS}")),
            None => Ok(()),
        }
    }

    /// Whether the servers that are meant are there, and can be struck now.
    fn check_server(&self, fault: &Fault) -> Result<(), String> {
        let strikes_processes = matches!(
            fault,
            Fault::ServerCrash { .. }
                | Fault::ServerPause { .. }
                | Fault::ServerResume { .. }
                | Fault::LeaderCrash { .. }
                | Fault::LeaderPause { .. }
        );
        let server = match *fault {
            Fault::ServerCrash { server, .. }
            | Fault::ServerPause { server, .. }
            | Fault::ServerStart { server }
            | Fault::ServerResume { server }
            | Fault::SlowSync { server, .. }
            | Fault::ClockJump { server, .. } => server,
            Fault::LeaderCrash { .. }
            | Fault::LeaderPause { .. }
            | Fault::Expire { .. }
            | Fault::ExpireOwner { .. } => self.ensemble.leading()?,
            // A network works, or does not, without the servers.
            Fault::Partition { ref cut, .. } => {
                let several = self.check_several();
                return several.and_then(|()| cut.iter().try_for_each(|two| self.check_two("cut", two)));
            }
            Fault::LinkBreak { between } => return self.check_two("between", &between),
            Fault::ServerLag { server, .. } => return self.check_several().and(self.check_number(server)),
            // With several servers, connections may be to any of them.
            Fault::Drop { .. } | Fault::SlowLink { .. } if self.ensemble.is_ensemble() => return Ok(()),
            Fault::Drop { .. } | Fault::SlowLink { .. } => 0,
        };
        self.check_number(server)?;
        let name =
            if self.ensemble.is_ensemble() { format!("server {server}") } else { "the server".to_owned() };
        match (self.ensemble.is_up(server), fault) {
            (true, Fault::ServerStart { .. }) => return Err(format!("{name} is up")),
            (false, Fault::ServerStart { .. }) => return Ok(()),
            (false, _) => return Err(format!("{name} is down")),
            (true, _) => {}
        }
        if self.ensemble.cluster.hosts[usize::from(server)].own.paused_until.is_some() && !strikes_processes {
            return Err(format!("{name} is paused"));
        }
        Ok(())
    }

    fn check_number(&self, server: u8) -> Result<(), String> {
        match self.ensemble.cluster.hosts.len() - 1 {
            last if usize::from(server) <= last => Ok(()),
            0 => Err("server: expected 0; there is no other".into()),
            last => Err(format!("server: {server}; expected a number from 0 to {last}")),
        }
    }

    fn check_several(&self) -> Result<(), String> {
        match self.ensemble.is_ensemble() {
            true => Ok(()),
            false => Err("there is one server, and nothing between servers".into()),
        }
    }

    fn check_two(&self, name: &str, [one, other]: &[u8; 2]) -> Result<(), String> {
        self.check_several()?;
        let last = self.ensemble.cluster.hosts.len() - 1;
        match one != other && usize::from(*one.max(other)) <= last {
            true => Ok(()),
            false => Err(format!("{name}: [{one},{other}]; expected two numbers from 0 to {last}")),
        }
    }

    /// Whether whoever is meant is there.
    fn check_targets(&self, fault: &Fault) -> Result<(), String> {
        let (target, needs_connection) = match *fault {
            Fault::Drop { session, when, .. } => (session, when == When::Now),
            Fault::SlowLink { session, .. } => (session, true),
            Fault::Expire { session } => (session, false),
            Fault::ExpireOwner { reader } => (reader, false),
            Fault::ServerCrash { .. }
            | Fault::LeaderCrash { .. }
            | Fault::ServerPause { .. }
            | Fault::ServerStart { .. }
            | Fault::ServerResume { .. }
            | Fault::LeaderPause { .. }
            | Fault::Partition { .. }
            | Fault::ServerLag { .. }
            | Fault::LinkBreak { .. }
            | Fault::SlowSync { .. }
            | Fault::ClockJump { .. } => return Ok(()),
        };
        for session in self.conns.targets(target)? {
            if needs_connection {
                self.conns.conn_of(session)?;
            }
        }
        Ok(())
    }
}

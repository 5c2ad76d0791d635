//! What a script's servers are to the driver.

use std::net::SocketAddr;

use crate::script::{Control, Which};

/// Servers that scripts are run against.
pub trait Servers {
    /// Where a server listens. Fails with why that cannot be told.
    fn address(&mut self, which: Which) -> Result<SocketAddr, String>;
    /// Does something to a server. Fails with why it cannot.
    fn control(&mut self, which: Which, control: Control) -> Result<(), String>;

    /// The number of a server. Waits, where nobody leads just now.
    fn number(&mut self, which: Which) -> Result<u8, String> {
        match which {
            Which::Number(n) => Ok(n),
            Which::Leader => Ok(1),
            other => Err(format!("there is no {other}")),
        }
    }

    /// Whether a server is not to be asked anything, as it is paused.
    fn is_paused(&self, _number: u8) -> bool {
        false
    }

    /// The last zxid of all servers that run, where that can be told without a session.
    fn last_zxid(&mut self) -> Option<i64> {
        None
    }

    /// Whether all servers that run serve, and one of them leads.
    fn serve(&mut self) -> bool {
        true
    }

    /// Makes all servers run and serve.
    fn heal(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// One server that nothing can be done to.
#[derive(Clone, Copy, Debug)]
pub struct Alone(pub SocketAddr);

impl Servers for Alone {
    fn address(&mut self, which: Which) -> Result<SocketAddr, String> {
        match which {
            Which::Number(1) | Which::Leader => Ok(self.0),
            other => Err(format!("there is no {other}")),
        }
    }

    fn control(&mut self, which: Which, _: Control) -> Result<(), String> {
        Err(format!("{which} cannot be started or stopped from here"))
    }
}

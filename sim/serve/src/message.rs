//! What connections tell the server.

use crate::link::ClientLink;
use std::net::SocketAddr;
use std::sync::Arc;
use zk_proto::message::ConnId;
use zk_wire::{FourLetterWord, WireError};

/// What a connection tells the server.
#[derive(Debug)]
pub(crate) enum ToCore {
    /// There is a new one. Comes before all else of it.
    Accepted { server: u8, conn: ConnId, link: Arc<ClientLink>, peer: SocketAddr },
    /// Frames have come.
    Frames { conn: ConnId, frames: Vec<Vec<u8>> },
    /// An administrator's question has come.
    Word { conn: ConnId, word: FourLetterWord },
    /// What has come is no frame.
    Malformed { conn: ConnId, error: WireError },
    /// Nothing has come for too long.
    Late { conn: ConnId },
    /// There is room for answers again.
    Room { conn: ConnId },
    /// The client has gone.
    Gone { conn: ConnId },
}

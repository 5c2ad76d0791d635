//! Ends a session from beside the script.

use std::net::SocketAddr;
use std::thread;
use std::time::Instant;

use super::clients::{PATIENCE, PULSE};
use crate::connection::{Came, Connection};
use crate::encode::{self, Handshake};
use crate::record::Reader;
use crate::script::{Call, Connect};

/// Takes a session over and closes it. One that is dead already is left so.
pub(super) fn close_session(address: SocketAddr, session: i64, password: &[u8]) {
    let over = Instant::now() + PATIENCE;
    while !try_to_close(address, session, password) && Instant::now() < over {
        thread::sleep(PULSE);
    }
}

/// Whether the session is gone now. A server that is catching up may refuse to say.
fn try_to_close(address: SocketAddr, session: i64, password: &[u8]) -> bool {
    let Ok(mut connection) = Connection::open(address) else { return false };
    let connect = Connect { timeout_ms: 1000, ..Connect::default() };
    let with = Handshake { last_zxid: 0, session, password: Some(password) };
    connection.send(&encode::handshake(&connect, &with));
    let Came::Frame(frame) = connection.next(PATIENCE) else { return false };
    let mut r = Reader(&frame);
    let granted = r.int().and(r.int());
    if granted == Some(0) {
        return true;
    }
    connection.send(&encode::request(&Call::Close.into(), 1, &|_| 0));
    let is_answered = matches!(connection.next(PATIENCE), Came::Frame(_));
    while let Came::Frame(_) = connection.next(PATIENCE) {}
    is_answered
}

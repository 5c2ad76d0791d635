//! How connections begin.

use std::net::SocketAddr;
use std::thread;
use std::time::Instant;

use super::{Driver, Known, PATIENCE, PULSE};
use crate::connection::{Came, Connection};
use crate::encode::{self, Handshake};
use crate::record::Reader;
use crate::script::{Call, Conn, Connect, Password, Session, Which};

impl Driver<'_> {
    /// Opens a connection and sends the handshake.
    pub(super) fn begin_connect(&mut self, conn: Conn, connect: &Connect) -> Result<(), String> {
        let number = match connect.server {
            Some(Which::Of(other)) => self.at(other)?,
            Some(which) => self.servers.number(which)?,
            None => self.client(conn).server.unwrap_or(1),
        };
        let client = self.client(conn);
        (client.server, client.connection, client.session) = (Some(number), None, None);
        client.asked.clear();
        (client.last_xid, client.pings, client.shaking) = (0, 0, None);
        let last_zxid = match (connect.last_zxid, connect.session) {
            (Some(zxid), _) => self.zxid(conn, zxid),
            (None, Some(_)) => self.client(conn).seen,
            (None, None) => 0,
        };
        let known = connect.session.map(|session| {
            // A session that never came about.
            let nobody = Known { id: 0x1234, password: vec![7; 16], timeout_ms: 0, is_closed: true };
            self.sessions.get(&session).cloned().unwrap_or(nobody)
        });
        let (id, right) = known.map_or((0, vec![0; 16]), |known| (known.id, known.password));
        let wrong: Vec<u8> = right.iter().map(|byte| !byte).collect();
        let password = match connect.password {
            Password::Right => Some(&right[..]),
            Password::Wrong => Some(&wrong[..]),
            Password::Short => Some(&right[..8]),
            Password::Null => None,
        };
        let frame = encode::handshake(connect, &Handshake { last_zxid, session: id, password });
        let address = self.servers.address(Which::Number(number))?;
        let Ok(mut connection) = Connection::open(address) else {
            self.client(conn).lines.push((None, "refused".into()));
            return Ok(());
        };
        connection.send(&frame);
        let client = self.client(conn);
        (client.connection, client.shaking) = (Some(connection), Some(connect.session.is_none()));
        Ok(())
    }

    /// Waits for the answer to a handshake, if one was sent.
    pub(super) fn finish_connect(&mut self, conn: Conn) {
        let Some(new) = self.client(conn).shaking.take() else { return };
        match self.next(conn, PATIENCE) {
            Came::Frame(frame) => {
                let line = self.connected(conn, &frame, new);
                self.client(conn).lines.push((None, line));
            }
            Came::End => self.closed(conn),
            Came::Nothing => {
                self.client(conn).lines.push((None, "silent".into()));
                self.client(conn).connection = None;
            }
        }
    }

    /// Reads the answer to a handshake.
    fn connected(&mut self, conn: Conn, frame: &[u8], new: bool) -> String {
        let mut r = Reader(frame);
        let mut read = || Some((r.int()?, r.int()?, r.long()?, r.bytes()?.map(<[u8]>::to_vec)));
        let Some((version, timeout_ms, id, password)) = read() else {
            return format!("connected unreadable={}", crate::script::write::hex(frame));
        };
        if new && id != 0 {
            let opened = self.sessions.keys().filter(|session| session.0 == conn.0).count() as u32;
            let session = Session(conn.0, opened + 1);
            let password = password.clone().unwrap_or_default();
            self.sessions.insert(session, Known { id, password, timeout_ms, is_closed: false });
            self.names.call(id, session);
        }
        if let Some(known) = self.sessions.values_mut().find(|known| known.id == id) {
            known.timeout_ms = timeout_ms;
        }
        let known = self.sessions.iter().find(|(_, known)| known.id == id);
        let told = match &password {
            None => "null",
            Some(bytes) if known.is_some_and(|(_, known)| known.password == *bytes) => "right",
            Some(bytes) if bytes[..] == [0; 16] => "zero",
            Some(_) => "other",
        };
        self.clients.entry(conn).or_default().session = known.map(|(session, _)| *session);
        let version = if version == 0 { String::new() } else { format!(" version={version}") };
        let read_only = match r.0 {
            [] => String::new(),
            rest => format!(" readonly={}", crate::script::write::hex(rest)),
        };
        let session = self.names.session(id);
        format!("connected timeout={timeout_ms} session={session} password={told}{version}{read_only}")
    }
}

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

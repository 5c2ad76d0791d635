//! A client of our own beside the script: it knows the last zxid, and leaves a server as it was found.

use std::net::SocketAddr;
use std::time::Duration;

use crate::answer::Header;
use crate::connection::{Came, Connection};
use crate::encode::{self, Handshake};
use crate::record::Reader;
use crate::script::{Call, Connect, CreateKind, Looking, Naming, Numbered, open_acl};

/// What a server keeps for itself, and nobody may delete.
const RESERVED: [&str; 4] = ["/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"];

const PATIENCE: Duration = Duration::from_secs(10);

/// More children are not made to bring two servers level.
const MOST_STEPS: i32 = 200_000;

/// The super user's own connection to a server.
#[derive(Debug)]
pub(crate) struct Keeper {
    address: SocketAddr,
    connection: Connection,
    xid: i32,
}

/// The counters of a znode that is always there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counters {
    version: i32,
    aversion: i32,
    /// Children ever created.
    created: i32,
}

impl Keeper {
    /// Opens a session, as the super user. Fails with what is wrong with the server.
    pub(crate) fn open(address: SocketAddr) -> Result<Keeper, String> {
        let mut connection = Connection::open(address).map_err(|error| format!("{address}: {error}"))?;
        shake_hands(&mut connection, i32::MAX).ok_or_else(|| format!("{address}: opens no session"))?;
        let mut keeper = Keeper { address, connection, xid: 0 };
        let credentials = Some(b"super:test".to_vec());
        keeper.ask(&Call::Auth { scheme: some("digest"), credentials })?;
        Ok(keeper)
    }

    /// Opens another session where this one is gone, as it was silent while another server was at work.
    pub(crate) fn revive(&mut self) -> Result<(), String> {
        if self.last_zxid().is_err() {
            *self = Keeper::open(self.address)?;
        }
        Ok(())
    }

    /// Whether the server takes us for the super user.
    pub(crate) fn is_super(&mut self) -> Result<bool, String> {
        let (_, body) = self.ask(&Call::WhoAmI)?;
        let all = Reader(&body).list(|r| Some((r.text()?, r.text()?))).flatten().unwrap_or_default();
        Ok(all.iter().any(|(scheme, _)| scheme.as_deref() == Some("super")))
    }

    fn ask(&mut self, call: &Call) -> Result<(Header, Vec<u8>), String> {
        self.xid = self.xid.wrapping_add(1) & i32::MAX;
        let xid = encode::own_xid(call).unwrap_or(self.xid);
        self.connection.send(&encode::request(&call.clone().into(), xid, &|_| 0));
        match self.connection.next(PATIENCE) {
            Came::Frame(frame) => {
                let mut reader = Reader(&frame);
                let header = Header::read(&mut reader);
                let header = header.filter(|header| header.xid == xid);
                let header =
                    header.ok_or_else(|| format!("{}: an answer to something else", self.address))?;
                Ok((header, reader.0.to_vec()))
            }
            Came::End => Err(format!("{}: closed the connection that watches over the run", self.address)),
            Came::Nothing => Err(format!("{}: no answer to {call}", self.address)),
        }
    }

    /// The server's last transaction.
    pub(crate) fn last_zxid(&mut self) -> Result<i64, String> {
        let (header, _) = self.ask(&Call::Look { what: Looking::Exists, path: some("/"), watch: false })?;
        Ok(header.zxid)
    }

    /// Closes the session.
    pub(crate) fn leave(mut self) -> Result<(), String> {
        self.ask(&Call::Close).map(|_| ())
    }

    /// What is there beside what the server keeps for itself.
    pub(crate) fn others(&mut self) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        self.below("/", &mut found)?;
        found.retain(|path| !RESERVED.contains(&&**path));
        Ok(found)
    }

    /// All znodes below a path, children behind their parents.
    fn below(&mut self, path: &str, found: &mut Vec<String>) -> Result<(), String> {
        let (_, body) = self.ask(&Call::Look { what: Looking::Children, path: some(path), watch: false })?;
        let names = Reader(&body).list(Reader::text).flatten().unwrap_or_default();
        for name in names.into_iter().flatten() {
            let child = if path == "/" { format!("/{name}") } else { format!("{path}/{name}") };
            found.push(child.clone());
            self.below(&child, found)?;
        }
        Ok(())
    }

    /// Deletes everything but what the server keeps for itself.
    pub(crate) fn clear(&mut self) -> Result<(), String> {
        let mut others = self.others()?;
        others.reverse();
        for path in others {
            self.ask(&Call::Number { what: Numbered::Delete, path: Some(path), number: -1 })?;
        }
        Ok(())
    }

    /// Deletes everything but what the server keeps for itself, and sets that to what it was.
    pub(crate) fn clean(&mut self) -> Result<(), String> {
        self.clear()?;
        for path in RESERVED {
            let (header, body) =
                self.ask(&Call::Look { what: Looking::Data, path: some(path), watch: false })?;
            let data = Reader(&body).bytes().flatten();
            if header.error == 0 && data.is_none_or(|data| !data.is_empty()) {
                self.touch(path)?;
            }
            let (header, body) = self.ask(&Call::Name { what: Naming::Acl, path: some(path) })?;
            let open = [0, 0, 0, 1, 0, 0, 0, 31, 0, 0, 0, 5, b'w', b'o', b'r', b'l', b'd'];
            if header.error == 0 && !body.starts_with(&open) {
                self.set_acl(path)?;
            }
        }
        Ok(())
    }

    fn set_acl(&mut self, path: &str) -> Result<(), String> {
        self.ask(&Call::SetAcl { path: some(path), acl: open_acl(), version: -1 }).map(|_| ())
    }

    fn counters(&mut self, path: &str) -> Result<Option<Counters>, String> {
        let (header, body) =
            self.ask(&Call::Look { what: Looking::Exists, path: some(path), watch: false })?;
        if header.error != 0 {
            return Ok(None);
        }
        let int =
            |at: usize| body.get(at..at + 4).map_or(0, |b| i32::from_be_bytes([b[0], b[1], b[2], b[3]]));
        let (version, cversion, aversion, children) = (int(32), int(36), int(40), int(56));
        Ok(Some(Counters { version, aversion, created: (cversion + children) / 2 }))
    }

    /// Brings the counters of what two servers keep for themselves level, as they are part of later answers.
    pub(crate) fn level(&mut self, other: &mut Keeper) -> Result<(), String> {
        for path in RESERVED {
            let (Some(mine), Some(theirs)) = (self.counters(path)?, other.counters(path)?) else { continue };
            let steps = [
                (mine.version, theirs.version, Keeper::touch as fn(&mut Keeper, &str) -> Result<(), String>),
                (mine.aversion, theirs.aversion, Keeper::set_acl),
                (mine.created, theirs.created, Keeper::have_child),
            ];
            for (mine, theirs, step) in steps {
                let missing = theirs - mine;
                let behind = if missing > 0 { &mut *self } else { &mut *other };
                if missing.abs() > MOST_STEPS {
                    return Err(format!(
                        "{}: {path} was changed too often; start the server anew",
                        other.address
                    ));
                }
                for _ in 0..missing.abs() {
                    step(behind, path)?;
                }
            }
        }
        Ok(())
    }

    fn touch(&mut self, path: &str) -> Result<(), String> {
        self.ask(&Call::SetData { path: some(path), data: Some(Vec::new()), version: -1 }).map(|_| ())
    }

    fn have_child(&mut self, path: &str) -> Result<(), String> {
        let child = Some(format!("{}/level", if path == "/" { "" } else { path }));
        self.ask(&Call::Create {
            kind: CreateKind::Plain,
            path: child.clone(),
            data: Some(Vec::new()),
            acl: open_acl(),
            flags: 0,
            ttl_ms: 0,
        })?;
        self.ask(&Call::Number { what: Numbered::Delete, path: child, number: -1 }).map(|_| ())
    }
}

/// The least timeout that a server grants.
pub(crate) fn least_timeout_ms(address: SocketAddr) -> Result<i32, String> {
    let mut connection = Connection::open(address).map_err(|error| format!("{address}: {error}"))?;
    let least = shake_hands(&mut connection, 1).ok_or_else(|| format!("{address}: opens no session"))?;
    connection.send(&encode::request(&Call::Close.into(), 1, &|_| 0));
    while let Came::Frame(_) = connection.next(PATIENCE) {}
    Ok(least)
}

/// Opens a session; the timeout granted, if one was opened.
fn shake_hands(connection: &mut Connection, timeout_ms: i32) -> Option<i32> {
    let connect = Connect { timeout_ms, ..Connect::default() };
    let with = Handshake { last_zxid: 0, session: 0, password: Some(&[0; 16]) };
    connection.send(&encode::handshake(&connect, &with));
    let Came::Frame(frame) = connection.next(PATIENCE) else { return None };
    let mut reader = Reader(&frame);
    reader.int()?;
    let granted = reader.int()?;
    (reader.long()? != 0).then_some(granted)
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

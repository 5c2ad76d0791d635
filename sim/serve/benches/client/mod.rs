//! A client for measuring with: blocking, with as many requests outstanding as it is told.

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use zk_api::{CreateMode, Request, SessionId, Zxid, open_acl};
use zk_proto::message::{ConnectRequest, ToClient, ToServer, Xid};
use zk_wire::{ClientSide, Frames, Piece};

pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Bytes of each znode.
pub const DATA: usize = 100;

/// Resident memory of a process in MiB.
pub fn memory(pid: u32) -> Outcome<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).ok_or("no VmRSS")?;
    let kib: f64 = line.split_whitespace().nth(1).ok_or("a number")?.parse()?;
    Ok(kib / 1024.0)
}

/// A request to create a znode that everybody may do everything with.
pub fn create(path: &str, mode: CreateMode) -> Request {
    Request::Create { path: path.into(), data: [7; DATA][..].into(), acl: open_acl(), mode, stat: false }
}

/// A client with one request outstanding at most.
pub struct Client {
    stream: TcpStream,
    side: ClientSide,
    frames: Frames,
    xid: i32,
}

impl Client {
    /// Opens a session of 30 seconds.
    pub fn connect(address: &str) -> Outcome<Client> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        let frames = Frames::of_server(u32::MAX);
        let mut client = Client { stream, side: ClientSide::new(), frames, xid: 0 };
        client.ask(&ToServer::Connect(ConnectRequest {
            last_zxid: Zxid::ZERO,
            timeout_ms: 30_000,
            session: SessionId::NONE,
            password: [0; 16],
        }))?;
        Ok(client)
    }

    /// Sends a message and waits for what comes next.
    pub fn ask(&mut self, message: &ToServer) -> Outcome<ToClient> {
        let mut bytes = Vec::new();
        self.side.encode(message, &mut bytes)?;
        self.stream.write_all(&bytes)?;
        self.hear()
    }

    fn hear(&mut self) -> Outcome<ToClient> {
        let mut buffer = [0; 16 * 1024];
        loop {
            if let Some(Piece::Frame(frame)) = self.frames.next_piece()? {
                return Ok(self.side.decode(&frame)?);
            }
            let read = self.stream.read(&mut buffer)?;
            if read == 0 {
                return Err("the server closed the connection".into());
            }
            self.frames.push(&buffer[..read]);
        }
    }

    /// Asks, and waits for an answer that is no error.
    pub fn request(&mut self, request: Request) -> Outcome<()> {
        self.all([request])
    }

    /// Asks for all of these at once, and waits until none is left that is not answered, or answered by an error.
    pub fn all(&mut self, requests: impl IntoIterator<Item = Request>) -> Outcome<()> {
        let (mut bytes, mut waiting) = (Vec::new(), 0);
        for request in requests {
            self.xid += 1;
            self.side.encode(&ToServer::Request { xid: Xid(self.xid), request }, &mut bytes)?;
            waiting += 1;
        }
        self.stream.write_all(&bytes)?;
        for _ in 0..waiting {
            match self.hear()? {
                ToClient::Reply { result: Ok(_), .. } => {}
                other => return Err(format!("not an answer: {other:?}").into()),
            }
        }
        Ok(())
    }
}

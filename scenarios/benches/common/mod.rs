//! A client for measuring with: blocking, one request at a time.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use zk_api::{CreateMode, Request, SessionId, Zxid, open_acl};
use zk_proto::message::{ConnectRequest, ToClient, ToServer, Xid};
use zk_wire::{ClientSide, Frames, Piece};

pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Bytes of each znode.
pub const DATA: usize = 100;

/// Starts a `zoocheck serve`, gives its process and address.
pub fn serve(options: &[&str]) -> Outcome<(Child, String)> {
    let mut process = Command::new(env!("CARGO_BIN_EXE_zoocheck"))
        .args(["serve", "--listen", "127.0.0.1:0", "--until-stdin-closes"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(process.stdout.as_mut().ok_or("a pipe")?).read_line(&mut line)?;
    let ready: serde_json::Value = serde_json::from_str(&line)?;
    let address = ready["servers"][0]["client"].as_str().ok_or("an address")?.to_owned();
    Ok((process, address))
}

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
        self.xid += 1;
        match self.ask(&ToServer::Request { xid: Xid(self.xid), request })? {
            ToClient::Reply { result: Ok(_), .. } => Ok(()),
            other => Err(format!("not an answer: {other:?}").into()),
        }
    }
}

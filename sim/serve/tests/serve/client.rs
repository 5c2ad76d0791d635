//! A client over a socket, one message at a time.

use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use zk_api::{
    CreateMode, Data, ErrorCode, EventType, Request, Response, SessionId, WatchedEvent, Zxid, open_acl,
};
use zk_proto::message::{ConnectRequest, ConnectResponse, ToClient, ToServer, Xid};
use zk_serve::{Limits, Options, Running, Target};
use zk_wire::{ClientSide, Frames, Piece};

/// Long enough for anything on a busy machine. Nothing waits for it that goes well.
pub const LONG: Duration = Duration::from_secs(30);

pub const TICK_MS: u32 = 100;

/// A server with short ticks.
pub async fn server(limits: Limits) -> Running {
    zk_serve::start(Options { tick_ms: TICK_MS, limits, ..Options::default() }).await.expect("a server")
}

/// Ends a server and demands that nothing was broken.
pub async fn held(running: Running) {
    let verdict = running.stop().await;
    assert!(verdict.held, "{:?}", verdict.broken);
}

pub struct Client {
    pub stream: TcpStream,
    wire: ClientSide,
    frames: Frames,
    pub granted: ConnectResponse,
    xid: i32,
    /// The events that have come.
    pub events: Vec<WatchedEvent>,
    /// The newest zxid that an answer has told.
    pub zxid: Zxid,
}

impl Client {
    /// A connection that has said nothing yet.
    pub async fn silent(at: SocketAddr) -> TcpStream {
        let stream = TcpStream::connect(at).await.expect("a connection");
        stream.set_nodelay(true).expect("a socket that is open");
        stream
    }

    /// A new session of 20 ticks.
    pub async fn new(running: &Running) -> Client {
        Client::with_timeout(running, u32::MAX).await
    }

    pub async fn with_timeout(running: &Running, timeout_ms: u32) -> Client {
        let (session, password) = (SessionId::NONE, [0; 16]);
        let request = ConnectRequest { last_zxid: Zxid::ZERO, timeout_ms, session, password };
        let client = Client::open(running.addresses()[0], request).await.expect("a connection");
        assert_ne!(client.granted.session, SessionId::NONE);
        client
    }

    /// The same session on another connection, which is granted or not.
    pub async fn again(&self, running: &Running) -> Option<Client> {
        let request = ConnectRequest {
            last_zxid: self.zxid,
            timeout_ms: self.granted.timeout_ms,
            session: self.granted.session,
            password: self.granted.password,
        };
        Client::open(running.addresses()[0], request).await
    }

    /// `None` if the connection is closed in place of an answer, or refused.
    pub async fn open(at: SocketAddr, request: ConnectRequest) -> Option<Client> {
        let stream = TcpStream::connect(at).await.ok()?;
        stream.set_nodelay(true).ok()?;
        let granted = ConnectResponse { timeout_ms: 0, session: SessionId::NONE, password: [0; 16] };
        let (wire, frames) = (ClientSide::new(), Frames::of_server(u32::MAX));
        let (events, zxid) = (Vec::new(), Zxid::ZERO);
        let mut client = Client { stream, wire, frames, granted, xid: 0, events, zxid };
        client.say(&ToServer::Connect(request)).await;
        match client.hear().await {
            Some(ToClient::Connected(granted)) => client.granted = granted,
            None => return None,
            other => panic!("{other:?}"),
        }
        Some(client)
    }

    pub fn target(&self) -> Target {
        Target::Session(self.granted.session)
    }

    pub async fn say(&mut self, message: &ToServer) {
        let mut bytes = Vec::new();
        self.wire.encode(message, &mut bytes).expect("a message");
        // A connection that is closed shows when it is read.
        let _ = self.stream.write_all(&bytes).await;
    }

    /// The next message; `None` if the connection is closed.
    pub async fn hear(&mut self) -> Option<ToClient> {
        timeout(LONG, self.next()).await.expect("a message in time")
    }

    async fn next(&mut self) -> Option<ToClient> {
        loop {
            if let Some(Piece::Frame(frame)) = self.frames.next_piece().expect("a frame") {
                let message = self.wire.decode(&frame).expect("a message");
                match &message {
                    ToClient::Event { event, .. } => self.events.push(event.clone()),
                    ToClient::Reply { zxid, .. } => self.zxid = self.zxid.max(*zxid),
                    ToClient::Connected(_) | ToClient::WatchesSet { .. } | ToClient::Pong { .. } => {}
                }
                return Some(message);
            }
            let mut chunk = [0; 4096];
            match self.stream.read(&mut chunk).await {
                Ok(0) | Err(_) => return None,
                Ok(length) => self.frames.push(&chunk[..length]),
            }
        }
    }

    /// Sends a request, and does not wait for its answer.
    pub async fn submit(&mut self, request: Request) {
        self.xid += 1;
        self.say(&ToServer::Request { xid: Xid(self.xid), request }).await;
    }

    /// The next answer, behind any events. `None` if the connection is closed.
    pub async fn answer(&mut self) -> Option<Result<Response, ErrorCode>> {
        loop {
            match self.hear().await? {
                ToClient::Reply { result, .. } => return Some(result),
                ToClient::Event { .. } | ToClient::Pong { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Sends a request and waits for its answer.
    pub async fn ask(&mut self, request: Request) -> Option<Result<Response, ErrorCode>> {
        self.submit(request).await;
        self.answer().await
    }

    /// A request that succeeds.
    pub async fn done(&mut self, request: Request) -> Response {
        self.ask(request).await.expect("a connection").expect("a success")
    }

    pub async fn is_there(&mut self, path: &str) -> bool {
        matches!(self.done(exists(path, false)).await, Response::Exists(Some(_)))
    }

    /// Waits for an event.
    pub async fn event(&mut self, kind: EventType, path: &str) {
        let expected = WatchedEvent::node(kind, path.into());
        while !self.events.contains(&expected) {
            self.hear().await.expect("a connection");
        }
    }

    /// Waits until the server closes the connection. Answers that come before do not count.
    pub async fn closed(&mut self) {
        while self.hear().await.is_some() {}
    }
}

/// Waits until the server closes a connection.
pub async fn closed(stream: &mut TcpStream) {
    let mut chunk = [0; 4096];
    let all = async { while !matches!(stream.read(&mut chunk).await, Ok(0) | Err(_)) {} };
    timeout(LONG, all).await.expect("an end in time");
}

pub fn create(path: &str, mode: CreateMode) -> Request {
    Request::Create { path: path.into(), data: Data::from("x"), acl: open_acl(), mode, stat: false }
}

pub fn exists(path: &str, watch: bool) -> Request {
    Request::Exists { path: path.into(), watch }
}

pub fn get(path: &str) -> Request {
    Request::GetData { path: path.into(), watch: false }
}

pub fn set(path: &str, data: &str) -> Request {
    Request::SetData { path: path.into(), data: data.into(), version: -1 }
}

//! The server's end of a connection.

use crate::error::Refusal;
use crate::event::put_event;
use crate::frame::put_frame;
use crate::jute::{Malformed, Reader, put_data};
use crate::outstanding::{Asked, Outstanding};
use crate::reply::{ReplyHeader, put_reply};
use crate::request::read_request;
use crate::set_watches::read_set_watches;
use crate::{OpCode, WireError, connect, xid};
use zk_api::{Data, ErrorCode, Request, Zxid};
use zk_proto::message::{ToClient, ToServer, Xid};

/// What a frame of a client says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// Something for the server.
    Message(ToServer),
    /// A request that cannot be read, is unknown, or is not for here. The server answers it with this code
    /// and this xid, when everything that was asked before is answered.
    ///
    /// Where it `takes_zxid`, it is a write that fails, with a zxid of its own. `op` is the request's kind as it
    /// stands on the wire. One that is unknown is `Unimplemented`, and its connection is closed.
    Refused { xid: Xid, op: i32, code: ErrorCode, takes_zxid: bool },
    /// A token of SASL. A server without SASL has the same [answer](ServerSide::encode_no_sasl) to each, which it
    /// gives at once and not in its turn, and the client goes on.
    Sasl { xid: Xid },
}

/// The server's end of one connection: reads requests, writes answers.
///
/// It remembers what is asked until it is answered, as the form of some answers depends on it, and whether
/// the client knows of read-only servers.
///
/// ```
/// use zk_proto::message::{ToClient, ToServer};
/// use zk_wire::{ClientSide, Decoded, Frames, Piece, ServerSide};
/// # use zk_proto::message::{ConnectRequest, ConnectResponse};
/// # use zk_api::{SessionId, Zxid};
/// # let (timeout_ms, password) = (4000, [0; 16]);
/// # let request = ConnectRequest { last_zxid: Zxid::ZERO, timeout_ms, session: SessionId::NONE, password };
/// let (mut client, mut server) = (ClientSide::new(), ServerSide::new());
/// let mut bytes = Vec::new();
/// client.encode(&ToServer::Connect(request.clone()), &mut bytes)?;
///
/// let mut frames = Frames::of_client();
/// frames.push(&bytes);
/// let Some(Piece::Frame(frame)) = frames.next_piece()? else { panic!("a whole frame was sent") };
/// assert_eq!(server.decode(&frame)?, Decoded::Message(ToServer::Connect(request)));
/// # Ok::<(), zk_wire::WireError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ServerSide {
    /// Whether the first frame has come.
    connected: bool,
    /// Whether it had the byte of those who know of read-only servers.
    read_only_byte: bool,
    outstanding: Outstanding,
}

impl ServerSide {
    /// Before the first frame of a connection.
    pub fn new() -> ServerSide {
        ServerSide::default()
    }

    /// Reads a frame. Each is read once, in the order they came. After an error the connection is to be
    /// closed.
    pub fn decode(&mut self, frame: &[u8]) -> Result<Decoded, WireError> {
        if !self.connected {
            let (request, read_only_byte) = connect::read_request(frame)?;
            self.connected = true;
            self.read_only_byte = read_only_byte;
            return Ok(Decoded::Message(ToServer::Connect(request)));
        }
        let mut reader = Reader::new(frame);
        let header = |r: &mut Reader<'_>| Ok((r.i32()?, r.i32()?));
        let (xid, op) =
            header(&mut reader).map_err(|Malformed| WireError::Malformed { what: "request header" })?;
        if op == SASL {
            return match reader.data() {
                Ok(token) if !token.is_null() => Ok(Decoded::Sasl { xid: Xid(xid) }),
                Ok(_) | Err(Malformed) => Err(WireError::Malformed { what: "SASL token" }),
            };
        }
        let known = OpCode::from_i32(op).ok_or_else(|| unknown(op, &mut reader.clone()));
        match known.and_then(|code| self.read(xid, code, &mut reader)) {
            Ok(message) => Ok(Decoded::Message(message)),
            // Credentials are read before anything is put in order: there, ZooKeeper gives up.
            Err(_) if known == Ok(OpCode::Auth) => Err(WireError::Malformed { what: "auth packet" }),
            Err(Refusal { code, takes_zxid }) => {
                // It has its place among the answers like any other.
                self.outstanding.push(xid, Asked { code: OpCode::Error, stat: false, ops: Vec::new() });
                Ok(Decoded::Refused { xid: Xid(xid), op, code, takes_zxid })
            }
        }
    }

    /// Reads what follows the header, and remembers what will be answered.
    fn read(&mut self, xid: i32, code: OpCode, reader: &mut Reader<'_>) -> Result<ToServer, Refusal> {
        match code {
            OpCode::Ping => Ok(ToServer::Ping),
            OpCode::SetWatches | OpCode::SetWatches2 => {
                let (since, watches) = read_set_watches(code, reader)?;
                self.outstanding.push(xid, Asked { code, stat: false, ops: Vec::new() });
                Ok(ToServer::SetWatches { since, watches })
            }
            _ => {
                let (request, asked): (Request, Asked) = read_request(code, reader)?;
                self.outstanding.push(xid, asked);
                Ok(ToServer::Request { xid: Xid(xid), request })
            }
        }
    }

    /// Appends the answer of a server without SASL to a token: no error, no zxid, and no token.
    ///
    /// Source: ZooKeeper 3.9.3, measured.
    pub fn encode_no_sasl(&self, Xid(xid): Xid, out: &mut Vec<u8>) -> Result<(), WireError> {
        put_frame(out, |out| {
            ReplyHeader { xid, zxid: Zxid::ZERO, error: None }.put(out);
            put_data(out, &Data::NULL);
            Ok(())
        })
    }

    /// Appends a frame. If that fails, nothing is appended.
    pub fn encode(&mut self, message: &ToClient, out: &mut Vec<u8>) -> Result<(), WireError> {
        let header = |xid, zxid| ReplyHeader { xid, zxid, error: None };
        put_frame(out, |out| {
            match message {
                ToClient::Connected(response) => connect::put_response(out, response, self.read_only_byte),
                ToClient::Reply { xid, zxid, result } => {
                    self.outstanding.take(xid.0);
                    put_reply(out, xid.0, *zxid, result)?;
                }
                ToClient::WatchesSet { zxid } => {
                    // Clients call it so, but it is theirs to choose.
                    let xid = self.outstanding.take_set_watches().unwrap_or(xid::SET_WATCHES);
                    header(xid, *zxid).put(out);
                }
                ToClient::Pong { zxid } => header(xid::PING, *zxid).put(out),
                ToClient::Event { zxid, event } => {
                    header(xid::EVENT, zxid.unwrap_or(NO_ZXID)).put(out);
                    put_event(out, event);
                }
            }
            Ok(())
        })
    }
}

/// The zxid of an event that tells of no one change.
pub(crate) const NO_ZXID: Zxid = Zxid::from_i64(-1);

/// A token of SASL, which is no request: it is answered before anything is put in order.
const SASL: i32 = 102;

/// What a server makes for itself; clients do not ask for it.
const DELETE_CONTAINER: i32 = 20;
const CREATE_SESSION: i32 = -10;

/// Why a request of no [`OpCode`] is refused. Of two that only servers have the body is looked at first: a path, and
/// a timeout, for which a transaction was to be made. Measured on ZooKeeper 3.9.3.
fn unknown(op: i32, reader: &mut Reader<'_>) -> Refusal {
    match op {
        DELETE_CONTAINER if reader.text().is_err() => Refusal::unread(ErrorCode::MarshallingError),
        CREATE_SESSION if reader.i32().is_err() => Refusal::failed(ErrorCode::MarshallingError),
        _ => Refusal::unread(ErrorCode::Unimplemented),
    }
}

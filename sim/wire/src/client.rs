//! The client's end of a connection.

use crate::event::read_event;
use crate::frame::put_frame;
use crate::jute::{Malformed, Reader, put_i32};
use crate::outstanding::{Asked, Outstanding};
use crate::reply::{ReplyHeader, read_response};
use crate::request::put_request;
use crate::server::NO_ZXID;
use crate::set_watches::{parts, put_set_watches, set_watches_code};
use crate::{OpCode, WireError, connect, xid};
use zk_api::{ErrorCode, Response};
use zk_proto::message::{ToClient, ToServer, WatchList, Xid};

/// The client's end of one connection: writes requests, reads answers.
///
/// It remembers what is asked until it is answered: an answer does not say what it answers. The numbers of
/// requests are not -1, -2 or -8, and -4 only of credentials: see [`xid`].
#[derive(Clone, Debug)]
pub struct ClientSide {
    /// Whether the first frame has come.
    connected: bool,
    read_only_byte: bool,
    outstanding: Outstanding,
}

impl Default for ClientSide {
    fn default() -> ClientSide {
        ClientSide::new()
    }
}

impl ClientSide {
    /// Before the first frame of a connection.
    pub fn new() -> ClientSide {
        ClientSide { connected: false, read_only_byte: true, outstanding: Outstanding::default() }
    }

    /// One that does not know of read-only servers, as before ZooKeeper 3.4: its handshake, and the answer
    /// to it, are one byte shorter.
    pub fn without_read_only_byte() -> ClientSide {
        ClientSide { read_only_byte: false, ..ClientSide::new() }
    }

    /// Appends a frame; several where a list of watches is long, each of which will be answered. If that
    /// fails, nothing is appended.
    ///
    /// A request that is longer than [`REQUEST_BYTES_MAX`](crate::REQUEST_BYTES_MAX) is written all the same:
    /// the server closes the connection, as it does to other clients.
    pub fn encode(&mut self, message: &ToServer, out: &mut Vec<u8>) -> Result<(), WireError> {
        match message {
            ToServer::Connect(request) => put_frame(out, |out| {
                connect::put_request(out, request, self.read_only_byte);
                Ok(())
            }),
            ToServer::Request { xid, request } => {
                let asked = Asked::of(request);
                put_frame(out, |out| {
                    put_header(out, xid.0, asked.code);
                    put_request(out, request);
                    Ok(())
                })?;
                self.outstanding.push(xid.0, asked);
                Ok(())
            }
            ToServer::SetWatches { since, watches } => {
                let start = out.len();
                let mut put = |part: &WatchList| {
                    let code = set_watches_code(part);
                    put_frame(out, |out| {
                        put_header(out, xid::SET_WATCHES, code);
                        put_set_watches(out, code, *since, part);
                        Ok(())
                    })
                };
                let done = parts(watches).iter().try_for_each(&mut put);
                done.inspect_err(|_| out.truncate(start))
            }
            ToServer::Ping => put_frame(out, |out| {
                put_header(out, xid::PING, OpCode::Ping);
                Ok(())
            }),
        }
    }

    /// Reads a frame. Each is read once, in the order they came. After an error the connection is to be
    /// closed.
    pub fn decode(&mut self, frame: &[u8]) -> Result<ToClient, WireError> {
        if !self.connected {
            let response = connect::read_response(frame)?;
            self.connected = true;
            return Ok(ToClient::Connected(response));
        }
        let mut reader = Reader::new(frame);
        let malformed = |what| move |Malformed| WireError::Malformed { what };
        let header = ReplyHeader::read(&mut reader).map_err(malformed("reply header"))?;
        let ReplyHeader { xid, zxid, error } = header;
        match (xid, error) {
            (xid::EVENT, _) => {
                let event = read_event(&mut reader).map_err(malformed("watch event"))?;
                Ok(ToClient::Event { zxid: (zxid != NO_ZXID).then_some(zxid), event })
            }
            (xid::PING, _) => Ok(ToClient::Pong { zxid }),
            (xid::SET_WATCHES, None) => Ok(ToClient::WatchesSet { zxid }),
            (xid::SET_WATCHES, Some(code)) => Err(WireError::WatchesRefused { code }),
            (xid, error) => {
                let asked = self.outstanding.take(xid).ok_or(WireError::UnexpectedReply { xid })?;
                let result = match error {
                    None => Ok(read_response(&mut reader, &asked).map_err(malformed("answer"))?),
                    // What is an error on the wire is none to the user.
                    Some(ErrorCode::NoNode) if asked.code == OpCode::Exists => Ok(Response::Exists(None)),
                    Some(code) => Err(code),
                };
                Ok(ToClient::Reply { xid: Xid(xid), zxid, result })
            }
        }
    }
}

/// The record `RequestHeader`.
fn put_header(out: &mut Vec<u8>, xid: i32, code: OpCode) {
    put_i32(out, xid);
    put_i32(out, code.to_i32());
}

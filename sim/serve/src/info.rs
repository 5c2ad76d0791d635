//! Servers and sessions, as they are told to people.

use serde::Serialize;

/// A session, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SessionInfo {
    /// Its id, in hexadecimal digits.
    pub id: String,
    /// The timeout granted last.
    pub timeout_ms: u32,
    /// Where its client is connected from; `None` while it is not.
    pub address: Option<String>,
    /// The server that it is connected to, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<u8>,
    /// Watches on that connection.
    pub watches: usize,
    /// The paths of its ephemerals.
    pub ephemerals: Vec<String>,
}

/// Who leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Leadership {
    /// The server that takes itself for the leader; of several, the one with the newest epoch.
    pub leader: Option<u8>,
    /// Its epoch.
    pub epoch: Option<u32>,
    /// All servers, by their numbers.
    pub servers: Vec<ServerInfo>,
}

/// A server, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ServerInfo {
    /// Its number.
    pub id: u8,
    /// `standalone`, `leader`, `follower` or `observer` where it serves; `joining`, `looking` or `down` else.
    pub role: &'static str,
    /// In which epoch it serves.
    pub epoch: Option<u32>,
    /// The last transaction it has applied, in hexadecimal digits; `None` while it is down.
    pub zxid: Option<String>,
    /// Whether its process stands still.
    #[serde(rename = "paused")]
    pub is_paused: bool,
    /// Connections of clients.
    pub connections: usize,
}

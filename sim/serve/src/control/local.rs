//! Whether a request comes from this machine, and not from a web page that a browser on this machine shows.
//!
//! Any page may send requests to the loopback interface. A browser says in `Origin` whose page it is, and in `Host`
//! by which name the page asked; a name that was made to stand for 127.0.0.1 (DNS rebinding) is a foreign one.

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};
use std::net::IpAddr;

/// Fails with what is wrong, in one line.
pub(super) fn check(headers: &HeaderMap) -> Result<(), String> {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err("refused: expected one Host header, such as Host: 127.0.0.1".into());
    };
    let host = String::from_utf8_lossy(host.as_bytes());
    if !is_this_machine(&host) {
        return Err(format!("refused: Host is {host}; expected localhost or a loopback address"));
    }
    let own = format!("http://{host}");
    match headers
        .get_all(ORIGIN)
        .iter()
        .find(|origin| !origin.as_bytes().eq_ignore_ascii_case(own.as_bytes()))
    {
        Some(origin) => {
            let origin = String::from_utf8_lossy(origin.as_bytes());
            Err(format!("refused: a web page of {origin} asks; no page but one of {own} may"))
        }
        None => Ok(()),
    }
}

/// `localhost` or a loopback address, with a port or without.
fn is_this_machine(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        // The colons of an address in brackets are its own.
        Some((name, port)) if !port.ends_with(']') => (name, port),
        Some(_) | None => (host, "0"),
    };
    let name = match name.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').filter(|address| address.contains(':')),
        None => Some(name).filter(|name| !name.contains(':')),
    };
    let is_loopback = |name: &str| {
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    port.parse::<u16>().is_ok() && name.is_some_and(is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_are_told_from_all_others() {
        for host in
            ["localhost", "LocalHost:80", "127.0.0.1", "127.0.0.1:8080", "127.3.2.1", "[::1]", "[::1]:80"]
        {
            assert!(is_this_machine(host), "{host}");
        }
        for host in [
            "",
            ":80",
            "evil.example",
            "evil.example:80",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "0.0.0.0",
            "::1",
            "[::1",
            "[127.0.0.1]",
            "[::2]:80",
            "localhost:",
            "localhost:x",
            "localhost:80:80",
            "user@localhost",
            "127.1",
            "2130706433",
            "localhost.",
            "localhost evil.example",
        ] {
            assert!(!is_this_machine(host), "{host}");
        }
    }
}

//! What is typed becomes values; where it does not, the error says what was expected.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// Reads a whole number in a range, or says which range it is.
pub(crate) fn whole<T>(
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("expected a whole number from {} to {}", range.start(), range.end()))
    }
}

/// Reads one of some names as what it stands for, or says which names there are.
pub(crate) fn one_of<T>(all: &'static [T]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Into<&'static str> + Send + Sync + 'static,
{
    let is = |it: &&T, name: &str| <T as Into<&'static str>>::into(**it) == name;
    let named = move |name: String| *all.iter().find(|it| is(it, &name)).expect("no other passes");
    PossibleValuesParser::new(all.iter().map(|it| <T as Into<&'static str>>::into(*it))).map(named)
}

/// An address of this machine, to listen on: `127.0.0.1:2181`, `[::1]:0`, `localhost:2181`. No other name is looked
/// up: what is listened on shall be what was typed.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    let local = || {
        let port = text.strip_prefix("localhost:")?.parse().ok()?;
        Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
    };
    let address = text.parse().ok().or_else(local);
    address.ok_or_else(|| "expected ADDRESS:PORT, such as 127.0.0.1:2181 or [::1]:2181".into())
}

/// `90s`, `5m`, `1h`; a bare number is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], 60),
        Some((at, 'h')) => (&text[..at], 3600),
        _ => (text, 1),
    };
    let seconds = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    match seconds {
        Some(seconds @ 1..=31_536_000) => Ok(Duration::from_secs(seconds)),
        _ => Err("expected a time from 1s to a year, such as 90s, 5m or 1h".into()),
    }
}

/// `HOST:PORT`.
#[cfg(feature = "conform")]
pub(crate) fn server(text: &str) -> Result<String, String> {
    if is_server(text) { Ok(text.into()) } else { Err("expected HOST:PORT, such as 127.0.0.1:2181".into()) }
}

/// `HOST:PORT[,HOST:PORT…]`, as `zookeeper-client` reads it.
#[cfg(feature = "live")]
pub(crate) fn servers(text: &str) -> Result<String, String> {
    match text.split(',').find(|server| !is_server(server)) {
        None => Ok(text.into()),
        Some(wrong) => Err(format!("expected HOST:PORT, with commas between several, and found '{wrong}'")),
    }
}

#[cfg(any(feature = "live", feature = "conform"))]
fn is_server(text: &str) -> bool {
    let parts = text.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>()));
    matches!(parts, Some((host, Ok(1..))) if !host.is_empty() && !host.contains(['/', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_or_is_in_seconds() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("1h"), Ok(Duration::from_secs(3600)));
        for bad in ["", "s", "0", "-1", "1.5s", "5d", "99999999999999999999", "18446744073709551615h", "ü"] {
            duration(bad).expect_err(bad);
        }
    }

    #[cfg(feature = "live")]
    #[test]
    fn servers_are_hosts_with_ports() {
        for good in ["127.0.0.1:2181", "zk1:2181,zk2:2181", "[::1]:2181"] {
            assert_eq!(servers(good), Ok(good.into()));
        }
        for bad in
            ["", "zk1", "zk1:", ":2181", "zk1:0", "zk1:70000", "zk1:2181,", "zk1:2181/path", "zk 1:2181"]
        {
            servers(bad).expect_err(bad);
            server(bad).expect_err(bad);
        }
        server("zk1:2181,zk2:2181,").expect_err("one");
    }

    #[test]
    fn an_address_to_listen_on_is_of_this_machine_by_number_or_as_localhost() {
        assert_eq!(address("localhost:0"), Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))));
        for good in ["127.0.0.1:2181", "0.0.0.0:0", "[::1]:65535"] {
            assert_eq!(address(good).map(|address| address.to_string()), Ok(good.into()));
        }
        for bad in
            ["", "127.0.0.1", ":2181", "::1:0", "127.0.0.1:99999", "localhost", "localhost:-1", "zk1:2181"]
        {
            assert!(address(bad).expect_err(bad).starts_with("expected ADDRESS:PORT"));
        }
    }
}

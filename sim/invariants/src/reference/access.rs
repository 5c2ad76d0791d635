//! Who may do what.
//!
//! Schemes are `world`, `auth`, `digest` and `ip`; whoever is `super` may do everything.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};
use std::net::Ipv4Addr;
use zk_api::{Acl, AclList, Data, ErrorCode, Identity, Perms, SessionId};
use zk_proto::message::NULL_TEXT;

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    pub session: SessionId,
    /// What has been proven on the connection when the request came.
    pub proven: &'a [Identity],
}

impl Asker<'_> {
    /// Somebody who has proven nothing.
    #[cfg(test)]
    pub fn nobody(session: SessionId) -> Asker<'static> {
        Asker { session, proven: &[] }
    }

    /// Whether the asker may do any of these where this list is.
    pub(super) fn may(self, any_of: Perms, acl: &[Acl]) -> Result<(), ErrorCode> {
        if self.proven.iter().any(|who| &*who.scheme == "super") {
            return Ok(());
        }
        for entry in acl {
            let (scheme, id) = (&*entry.who.scheme, &*entry.who.id);
            let is_meant = |who: &Identity| match (&*who.scheme, scheme) {
                ("ip", "ip") => is_inside(&who.id, id),
                (proven, named) => proven == named && &*who.id == id,
            };
            let meant = (scheme, id) == ("world", "anyone") || self.proven.iter().any(is_meant);
            if meant && entry.perms.0 & any_of.0 != 0 {
                return Ok(());
            }
        }
        Err(ErrorCode::NoAuth)
    }

    /// The list that is kept when the asker sets this one: `auth` stands for all that it has proven, and nothing
    /// is kept twice.
    pub(super) fn kept(self, acl: &AclList) -> Result<AclList, ErrorCode> {
        for (place, entry) in acl.iter().enumerate() {
            let who = &entry.who;
            let mut like = acl.iter().take(place).filter(|other| other.perms == entry.perms);
            let stumbles = if &*who.scheme == NULL_TEXT {
                like.next().is_some()
            } else {
                &*who.id == NULL_TEXT && like.any(|other| other.who.scheme == who.scheme)
            };
            if stumbles {
                return Err(ErrorCode::MarshallingError);
            }
        }
        let mut kept: Vec<Acl> = Vec::new();
        for entry in acl.iter() {
            if &*entry.who.id == NULL_TEXT && matches!(&*entry.who.scheme, "world" | "digest" | "ip") {
                return Err(ErrorCode::MarshallingError);
            }
            let who: Vec<Identity> = match &*entry.who.scheme {
                "auth" => self.proven.iter().filter(|who| &*who.scheme == "digest").cloned().collect(),
                "world" if &*entry.who.id == "anyone" => vec![entry.who.clone()],
                "digest" if is_digest(&entry.who.id) => vec![entry.who.clone()],
                "ip" if is_network(&entry.who.id) => vec![entry.who.clone()],
                _ => Vec::new(),
            };
            if who.is_empty() {
                return Err(ErrorCode::InvalidAcl);
            }
            kept.extend(who.into_iter().map(|who| Acl { perms: entry.perms, who }));
        }
        let mut unlike: Vec<Acl> = Vec::new();
        for entry in kept {
            if !unlike.contains(&entry) {
                unlike.push(entry);
            }
        }
        if unlike.is_empty() { Err(ErrorCode::InvalidAcl) } else { Ok(unlike.into()) }
    }

    /// Whom the asker is told to be: users without their hashes.
    pub(super) fn names(self) -> Vec<Identity> {
        let name = |who: &Identity| match &*who.scheme {
            "digest" => Identity::new("digest", who.id.split(':').next().unwrap_or_default()),
            _ => who.clone(),
        };
        self.proven.iter().map(name).collect()
    }

    /// The list as the asker sees it: who may not set it sees no hashes.
    pub(super) fn shown(self, acl: &AclList) -> AclList {
        if self.may(Perms::ADMIN, acl).is_ok() {
            return acl.clone();
        }
        let hidden = acl.iter().map(|entry| {
            let mut entry = entry.clone();
            if &*entry.who.scheme == "digest" {
                let user = entry.who.id.split(':').next().unwrap_or_default();
                entry.who.id = format!("{user}:x").into();
            }
            entry
        });
        hidden.collect()
    }
}

/// What credentials prove. An error where the scheme is unknown, nothing where the server knows it anyway.
pub fn proves(scheme: &str, credentials: &Data) -> Result<Option<Identity>, ErrorCode> {
    match scheme {
        "ip" => Ok(None),
        "digest" if !credentials.is_null() => {
            let credentials = credentials.bytes();
            let user = String::from_utf8_lossy(credentials.split(|byte| *byte == b':').next().unwrap_or(&[]));
            let hash = STANDARD.encode(Sha1::digest(credentials));
            Ok(Some(Identity::new("digest", &format!("{user}:{hash}"))))
        }
        _ => Err(ErrorCode::AuthFailed),
    }
}

/// `user:hash`, with any number of colons at the end.
fn is_digest(id: &str) -> bool {
    let mut parts: Vec<&str> = id.split(':').collect();
    while parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    parts.len() == 2
}

/// An address, with `/bits` behind it or not: its bits, one after the other, and how many of them count.
fn bits_of(id: &str) -> Option<(Vec<bool>, usize)> {
    let (address, count) = match id.split_once('/') {
        Some((address, count)) => (address, Some(count)),
        None => (id, None),
    };
    let bytes = address.parse::<Ipv4Addr>().ok()?.octets();
    let bits: Vec<bool> =
        bytes.into_iter().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1 == 1)).collect();
    let count = count.map_or(Ok(bits.len()), str::parse::<usize>).ok()?;
    (count <= bits.len()).then_some((bits, count))
}

fn is_network(id: &str) -> bool {
    bits_of(id).is_some()
}

fn is_inside(address: &str, network: &str) -> bool {
    match (bits_of(address), bits_of(network)) {
        (Some((mine, _)), Some((theirs, count))) => mine[..count] == theirs[..count],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(perms: Perms, scheme: &str, id: &str) -> Acl {
        Acl { perms, who: Identity::new(scheme, id) }
    }

    fn ann() -> Identity {
        proves("digest", &"ann:one".into()).unwrap().unwrap()
    }

    #[test]
    fn credentials_prove_a_user_and_the_hash_of_all_of_them() {
        assert_eq!(ann(), Identity::new("digest", "ann:grDcJ7OS1jCu/cG2TyJHw/I9L8o="));
        assert_eq!(proves("ip", &Data::NULL), Ok(None));
        assert_eq!(proves("kerberos", &Data::NULL), Err(ErrorCode::AuthFailed));
    }

    #[test]
    fn auth_stands_for_what_is_proven_and_for_nothing_else() {
        let (proven, list) = ([ann()], [entry(Perms::ALL, "auth", "")].into());
        let asker = Asker { session: SessionId::new(1), proven: &proven };
        let kept = asker.kept(&list).unwrap();
        assert_eq!(kept[..], [entry(Perms::ALL, "digest", &ann().id)]);
        assert_eq!(Asker::nobody(SessionId::new(1)).kept(&list), Err(ErrorCode::InvalidAcl));
        assert!(asker.may(Perms::READ, &kept).is_ok());
        assert_eq!(Asker::nobody(SessionId::new(1)).may(Perms::READ, &kept), Err(ErrorCode::NoAuth));
        assert_eq!(Asker::nobody(SessionId::new(1)).shown(&kept)[0].who, Identity::new("digest", "ann:x"));
    }

    #[test]
    fn an_address_is_compared_by_the_bits_that_count_and_the_super_user_by_none() {
        let list = [entry(Perms::READ, "ip", "10.0.0.0/8")];
        let may = |scheme, id: &str| {
            let proven = [Identity::new(scheme, id)];
            Asker { session: SessionId::new(1), proven: &proven }.may(Perms::READ, &list).is_ok()
        };
        assert!(
            may("ip", "10.1.2.3")
                && !may("ip", "11.1.2.3")
                && !may("ip", "a00::")
                && !may("digest", "10.0.0.0/8")
        );
        assert!(may("super", ""));
    }

    #[test]
    fn lists_with_names_that_a_scheme_does_not_take_are_refused() {
        let good = |scheme, id| {
            Asker::nobody(SessionId::new(1)).kept(&[entry(Perms::READ, scheme, id)].into()).is_ok()
        };
        assert!(
            good("ip", "10.0.0.0/0")
                && good("ip", "10.0.0.0/8")
                && good("ip", "10.1.2.3")
                && good("digest", "ann:h")
        );
        assert!(!good("ip", "10.0.0.0/33") && !good("ip", "10.0.0") && !good("digest", "ann"));
        assert!(!good("world", "somebody") && !good("kerberos", "ann") && !good("digest", "a:b:c"));
    }

    #[test]
    fn a_list_permits_what_it_says_to_whom_it_names() {
        let list = [entry(Perms::READ, "digest", &ann().id), entry(Perms::WRITE, "ip", "10.0.0.1")];
        let may = |perms, who: Identity| {
            Asker { session: SessionId::new(1), proven: &[who] }.may(perms, &list).is_ok()
        };
        let bob = proves("digest", &"bob:one".into()).unwrap().unwrap();
        assert!(may(Perms::READ, ann()) && may(Perms::READ.and(Perms::ADMIN), ann()), "any of them");
        assert!(!may(Perms::WRITE, ann()) && !may(Perms::READ, bob));
        assert!(!may(Perms::READ, Identity::new("ip", "10.0.0.1")));
    }

    /// ZooKeeper looks for what is twice in a list, and stumbles over a null where it comes to compare it; and
    /// over one that it gives to its scheme.
    #[test]
    fn a_null_in_a_list_cannot_be_read_where_it_is_looked_at() {
        let proven = [ann()];
        let kept = |list: &[(Perms, &str, &str)]| {
            let list = list.iter().map(|(perms, scheme, id)| entry(*perms, scheme, id)).collect();
            Asker { session: SessionId::new(1), proven: &proven }.kept(&list).map(|kept| kept.len())
        };
        let (read, write, null) = (Perms::READ, Perms::WRITE, NULL_TEXT);
        let anyone = (read, "world", "anyone");
        for scheme in ["world", "digest", "ip"] {
            assert_eq!(kept(&[(read, scheme, null)]), Err(ErrorCode::MarshallingError), "{scheme}");
        }
        assert_eq!(kept(&[(read, "kerberos", null)]), Err(ErrorCode::InvalidAcl));
        assert_eq!(kept(&[(read, null, "a")]), Err(ErrorCode::InvalidAcl));
        assert_eq!(kept(&[anyone, (read, null, "a")]), Err(ErrorCode::MarshallingError));
        assert_eq!(kept(&[anyone, (write, null, "a")]), Err(ErrorCode::InvalidAcl));
        assert_eq!(kept(&[(read, "auth", null)]), Ok(1));
        assert_eq!(kept(&[(read, "auth", ""), (read, "auth", null)]), Err(ErrorCode::MarshallingError));
        assert_eq!(kept(&[(write, "auth", ""), (read, "auth", null)]), Ok(2));
        assert_eq!(kept(&[anyone, (read, "auth", null)]), Ok(2));
        assert_eq!(kept(&[anyone, anyone, (read, "kerberos", "a")]), Err(ErrorCode::InvalidAcl));
        assert_eq!(
            kept(&[(read, "digest", "a:b:"), (read, "digest", "a:b:"), (read, "digest", ":h")]),
            Ok(2)
        );
        assert_eq!(kept(&[(read, "digest", "u:")]), Err(ErrorCode::InvalidAcl));
        assert_eq!(kept(&[]), Err(ErrorCode::InvalidAcl));
    }
}

//! Access control: who may do what, and which lists are valid.
//!
//! Source: ZooKeeper 3.9, `ZooKeeperServer.checkACL`, `PrepRequestProcessor.fixupACL` and the providers of the
//! schemes `digest` and `ip`.
//!
//! ```
//! use zk_api::{Acl, ErrorCode, Identity, Perms};
//! use zk_proto::prepare::acl::{check, without_secrets};
//!
//! let ann = Identity::new("digest", "ann:hash");
//! let acl = [Acl { perms: Perms::READ, who: ann.clone() }];
//! assert_eq!(check(&acl, Perms::READ, &[ann.clone()]), Ok(()));
//! assert_eq!(check(&acl, Perms::WRITE, &[ann]), Err(ErrorCode::NoAuth));
//! assert_eq!(&*without_secrets(&acl.into())[0].who.id, "ann:x");
//! ```

use crate::message::NULL_TEXT;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};
use std::net::Ipv4Addr;
use std::sync::Arc;
use zk_api::{Acl, AclList, Data, ErrorCode, Identity, Perms, open_acl};

/// Whether one of `identities` has any of these permissions; `NoAuth` if not.
///
/// `super` may do everything. An empty list, which no client can set, permits everything as well.
pub fn check(acl: &[Acl], any_of: Perms, identities: &[Identity]) -> Result<(), ErrorCode> {
    let permits = |entry: &Acl| {
        entry.perms.0 & any_of.0 != 0
            && (is_anyone(&entry.who) || identities.iter().any(|who| matches(who, &entry.who)))
    };
    let permitted =
        acl.is_empty() || acl.iter().any(permits) || identities.iter().any(|who| &*who.scheme == "super");
    if permitted { Ok(()) } else { Err(ErrorCode::NoAuth) }
}

/// The list as it is stored: without duplicates, and with `auth` replaced by whoever the client is.
///
/// `InvalidAcl` if it is empty, has a scheme that nobody knows or an id that its scheme does not take, or
/// says `auth` where the client has no identity; `MarshallingError` if an id that is to be looked at is null.
pub fn resolve(acl: &AclList, identities: &[Identity]) -> Result<AclList, ErrorCode> {
    if *acl == open_acl() {
        return Ok(acl.clone());
    }
    if has_null_behind_its_like(acl) {
        return Err(ErrorCode::MarshallingError);
    }
    let mut resolved: Vec<Acl> = Vec::new();
    let mut add = |entry: Acl| {
        if !resolved.contains(&entry) {
            resolved.push(entry);
        }
    };
    for entry in acl.iter() {
        if &*entry.who.scheme == "auth" {
            let mut proven = identities.iter().filter(|who| is_proven(who)).peekable();
            if proven.peek().is_none() {
                return Err(ErrorCode::InvalidAcl);
            }
            proven.for_each(|who| add(Acl { perms: entry.perms, who: who.clone() }));
        } else if is_without_id(&entry.who) {
            return Err(ErrorCode::MarshallingError);
        } else if is_valid(&entry.who) {
            add(entry.clone());
        } else {
            return Err(ErrorCode::InvalidAcl);
        }
    }
    if resolved.is_empty() { Err(ErrorCode::InvalidAcl) } else { Ok(resolved.into()) }
}

/// The list as those see it who may not set it: the hashes of passwords are hidden.
pub fn without_secrets(acl: &AclList) -> AclList {
    let hide = |entry: &Acl| match entry.who.id.split_once(':') {
        Some((user, _)) if &*entry.who.scheme == "digest" => {
            Acl { perms: entry.perms, who: Identity::new("digest", &format!("{user}:x")) }
        }
        _ => entry.clone(),
    };
    acl.iter().map(hide).collect::<Arc<[Acl]>>()
}

/// An identity as its owner is told of it: without the hash of a password.
pub fn shown_name(who: &Identity) -> Identity {
    match (&*who.scheme, who.id.split_once(':')) {
        ("digest", Some((user, _))) => Identity::new("digest", user),
        _ => who.clone(),
    }
}

/// A connection's identities once it has sent these credentials; `None` if their scheme is unknown, or takes no such
/// credentials. Those of `digest` are always good, as they only say who somebody is; whether that helps depends on the
/// ACLs.
///
/// Source: ZooKeeper 3.9, `DigestAuthenticationProvider`.
pub fn prove(
    identities: &Arc<[Identity]>,
    scheme: &str,
    credentials: &Data,
    super_digest: Option<&str>,
) -> Option<Arc<[Identity]>> {
    match scheme {
        // Null is no text to take a digest of.
        "digest" if credentials.is_null() => None,
        "digest" => {
            let identity = digest_identity(credentials.bytes());
            let is_super = super_digest == Some(&*identity.id);
            let proven = is_super.then(|| Identity::new("super", "")).into_iter().chain([identity]);
            let new: Vec<Identity> = proven.filter(|who| !identities.contains(who)).collect();
            Some(if new.is_empty() {
                identities.clone()
            } else {
                identities.iter().cloned().chain(new).collect()
            })
        }
        // Says what the server knows anyway.
        "ip" => Some(identities.clone()),
        _ => None,
    }
}

/// `user:password` becomes the identity `user:base64(sha1(user:password))`.
fn digest_identity(credentials: &[u8]) -> Identity {
    let text = String::from_utf8_lossy(credentials);
    let user = text.split(':').next().unwrap_or_default();
    let hash = STANDARD.encode(Sha1::digest(text.as_bytes()));
    Identity::new("digest", &format!("{user}:{hash}"))
}

fn is_anyone(who: &Identity) -> bool {
    &*who.scheme == "world" && &*who.id == "anyone"
}

/// Whether an identity stands for credentials. An address does not, and `super` is never written into a list.
fn is_proven(who: &Identity) -> bool {
    &*who.scheme == "digest"
}

/// ZooKeeper looks for duplicates first, and stumbles where it compares a null with an earlier entry's text: a
/// scheme where both permit the same, an id where the schemes are the same as well. Measured.
fn has_null_behind_its_like(acl: &[Acl]) -> bool {
    let stumbles = |(index, entry): (usize, &Acl)| {
        let mut like = acl[..index].iter().filter(|before| before.perms == entry.perms);
        if &*entry.who.scheme == NULL_TEXT {
            return like.next().is_some();
        }
        &*entry.who.id == NULL_TEXT && like.any(|before| before.who.scheme == entry.who.scheme)
    };
    acl.iter().enumerate().any(stumbles)
}

/// Whether the id is null, written as no id is, and its scheme stumbles over that.
fn is_without_id(who: &Identity) -> bool {
    matches!(&*who.scheme, "world" | "digest" | "ip") && &*who.id == NULL_TEXT
}

/// Whether a list may name this identity.
fn is_valid(who: &Identity) -> bool {
    match &*who.scheme {
        "world" => is_anyone(who),
        "digest" => {
            // Empty parts at the end do not count, as Java splits a text. Measured.
            who.id.trim_end_matches(':').split(':').count() == 2
        }
        "ip" => network(&who.id).is_some(),
        _ => false,
    }
}

fn matches(who: &Identity, named: &Identity) -> bool {
    who.scheme == named.scheme
        && match &*named.scheme {
            "ip" => is_within(&who.id, &named.id),
            _ => who.id == named.id,
        }
}

/// An address, and how many of its bits count: `10.0.0.0/8`, or all of them. ZooKeeper takes no IPv6 here.
/// Measured.
fn network(text: &str) -> Option<(u32, u32)> {
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, bits.parse().ok()?),
        None => (text, u32::BITS),
    };
    let address: Ipv4Addr = address.parse().ok()?;
    (bits <= u32::BITS).then_some((address.to_bits(), bits))
}

fn is_within(address: &str, range: &str) -> bool {
    match (network(address), network(range)) {
        (Some((a, _)), Some((b, bits))) => (a ^ b).checked_shr(u32::BITS - bits).unwrap_or(0) == 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[(Perms, &str, &str)]) -> AclList {
        entries.iter().map(|&(perms, scheme, id)| Acl { perms, who: Identity::new(scheme, id) }).collect()
    }

    #[test]
    fn an_address_is_compared_by_the_bits_that_count() {
        assert!(is_within("10.1.2.3", "10.0.0.0/8") && is_within("10.1.2.3", "10.1.2.3"));
        assert!(is_within("1.2.3.4", "0.0.0.0/0"));
        assert!(!is_within("11.1.2.3", "10.0.0.0/8") && !is_within("10.1.2.4", "10.1.2.3"));
        assert!(!is_within("::1", "0.0.0.0/0"), "another kind of address");
        assert!(network("::1").is_none() && network("10.0.0.0/33").is_none() && network("ten").is_none());
    }

    #[test]
    fn a_digest_is_that_of_zookeepers_own_example() {
        // From the documentation of `DigestAuthenticationProvider`'s superuser.
        let identity = digest_identity(b"super:test");
        assert_eq!(&*identity.id, "super:D/InIHSb7yEEbrWz8b9l71RjZJU=");
    }

    #[test]
    fn duplicates_are_stored_once() {
        let twice = [(Perms::READ, "world", "anyone"), (Perms::READ, "world", "anyone")];
        assert_eq!(resolve(&list(&twice), &[]), Ok(list(&twice[..1])));
    }

    #[test]
    fn one_permission_of_those_asked_for_is_enough() {
        let reader = list(&[(Perms::READ, "world", "anyone")]);
        assert_eq!(check(&reader, Perms::READ.and(Perms::ADMIN), &[]), Ok(()));
        assert_eq!(check(&reader, Perms::ADMIN, &[]), Err(ErrorCode::NoAuth));
    }

    #[test]
    fn an_empty_list_is_refused_when_set_but_permits_what_is_found_with_it() {
        assert_eq!(resolve(&list(&[]), &[]), Err(ErrorCode::InvalidAcl));
        assert_eq!(check(&[], Perms::ALL, &[]), Ok(()));
    }

    #[test]
    fn an_identity_of_another_scheme_does_not_match() {
        let who = [Identity::new("ip", "u:h"), Identity::new("digest", "u:other")];
        let private = list(&[(Perms::ALL, "digest", "u:h")]);
        assert_eq!(check(&private, Perms::READ, &who), Err(ErrorCode::NoAuth));
    }
}

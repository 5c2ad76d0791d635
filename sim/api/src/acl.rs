//! Access control lists.

use crate::Text;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// What an [`Acl`] permits: a set of the five permissions.
///
/// ```
/// use zk_api::Perms;
/// let perms = Perms::READ.and(Perms::CREATE);
/// assert_eq!(format!("{perms:?}"), "rc");
/// assert!(Perms::ALL.contain(perms) && !perms.contain(Perms::WRITE));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Perms(pub u8);

impl Perms {
    /// Read data and list children.
    pub const READ: Perms = Perms(1);
    /// Set data.
    pub const WRITE: Perms = Perms(2);
    /// Create children.
    pub const CREATE: Perms = Perms(4);
    /// Delete children.
    pub const DELETE: Perms = Perms(8);
    /// Set the ACL.
    pub const ADMIN: Perms = Perms(16);
    /// All five.
    pub const ALL: Perms = Perms(31);

    /// Whether all of `other` is permitted.
    pub const fn contain(self, other: Perms) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    pub const fn and(self, other: Perms) -> Perms {
        Perms(self.0 | other.0)
    }
}

impl fmt::Debug for Perms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (bit, letter) in ['r', 'w', 'c', 'd', 'a'].into_iter().enumerate() {
            if self.0 & (1 << bit) != 0 {
                write!(f, "{letter}")?;
            }
        }
        Ok(())
    }
}

/// An identity under an authentication scheme.
///
/// ```
/// let office = zk_api::Identity::new("ip", "10.0.0.0/8");
/// assert_eq!(format!("{office:?}"), "ip:10.0.0.0/8");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// `world`, `auth`, `digest`, `ip`, `super`.
    pub scheme: Text,
    /// In the scheme's own form: `anyone`, `user:hash`, an address.
    pub id: Text,
}

impl Identity {
    /// An identity from its two parts.
    pub fn new(scheme: &str, id: &str) -> Identity {
        Identity { scheme: scheme.into(), id: id.into() }
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.scheme, self.id)
    }
}

/// One entry of an access control list: who may do what.
///
/// ```
/// use zk_api::{Acl, AclList, Identity, Perms, open_acl};
/// let ours = Acl { perms: Perms::ALL, who: Identity::new("auth", "") };
/// let theirs = Acl { perms: Perms::READ, who: Identity::new("world", "anyone") };
/// let list: AclList = [ours, theirs].into();
/// assert_ne!(list, open_acl(), "others may read, and no more");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Acl {
    /// What is permitted.
    pub perms: Perms,
    /// To whom.
    pub who: Identity,
}

/// An access control list. Empty is not a valid list for a znode.
pub type AclList = Arc<[Acl]>;

/// Everybody may do everything: ZooKeeper's `OPEN_ACL_UNSAFE`.
pub fn open_acl() -> AclList {
    static OPEN: LazyLock<AclList> =
        LazyLock::new(|| [Acl { perms: Perms::ALL, who: Identity::new("world", "anyone") }].into());
    OPEN.clone()
}

/// Everybody may read: ZooKeeper's `READ_ACL_UNSAFE`.
pub fn read_acl() -> AclList {
    [Acl { perms: Perms::READ, who: Identity::new("world", "anyone") }].into()
}

/// Whoever creates the znode may do everything: ZooKeeper's `CREATOR_ALL_ACL`.
pub fn creator_acl() -> AclList {
    [Acl { perms: Perms::ALL, who: Identity::new("auth", "") }].into()
}

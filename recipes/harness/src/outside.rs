//! The resource outside the ensemble that a lock is to protect.
//!
//! ```
//! use zk_api::Zxid;
//! use zk_harness::event::Resource;
//! use zk_harness::outside::Outside;
//!
//! let mut outside = Outside::default();
//! let token = |counter| Some(Zxid::new(1, counter));
//! assert!(outside.write(Resource::Fenced, token(5)));
//! assert!(!outside.write(Resource::Fenced, token(4)), "a later holder has written");
//! assert!(outside.write(Resource::Unfenced, token(4)), "this face compares nothing");
//! ```

use crate::event::Resource;
use zk_api::Zxid;

/// Both faces of the resource: one that compares tokens and one that does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Outside {
    /// The highest token of an exclusive holder that was seen.
    pub exclusive: Option<Zxid>,
    /// The highest of one in shared mode.
    pub shared: Option<Zxid>,
}

impl Outside {
    /// A write arrives. Returns whether it is accepted: an unfenced resource accepts every write; a fenced one accepts
    /// a write whose token is at least as high as every token before or, in shared mode, as every exclusive holder's.
    pub fn write(&mut self, resource: Resource, token: Option<Zxid>) -> bool {
        match resource {
            Resource::Unfenced => true,
            Resource::Fenced => {
                let accepted = token.is_some() && token >= self.exclusive.max(self.shared);
                self.exclusive = self.exclusive.max(token);
                accepted
            }
            Resource::FencedShared => {
                let accepted = token.is_some() && token >= self.exclusive;
                self.shared = self.shared.max(token);
                accepted
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fenced_resource_refuses_lower_tokens_and_none() {
        let mut outside = Outside::default();
        let token = |counter| Some(Zxid::new(1, counter));
        assert!(!outside.write(Resource::Fenced, None));
        assert!(outside.write(Resource::Fenced, token(5)));
        assert!(outside.write(Resource::Fenced, token(5)));
        assert!(!outside.write(Resource::Fenced, token(4)));
        assert!(outside.write(Resource::Fenced, token(6)));
        assert!(!outside.write(Resource::Fenced, None));
        assert!(outside.write(Resource::Unfenced, None));
    }

    #[test]
    fn sharers_do_not_shut_each_other_out_and_no_writer_comes_behind_them() {
        let mut outside = Outside::default();
        let token = |counter| Some(Zxid::new(1, counter));
        assert!(!outside.write(Resource::FencedShared, None));
        assert!(outside.write(Resource::FencedShared, token(6)));
        assert!(outside.write(Resource::FencedShared, token(5)));
        assert!(!outside.write(Resource::Fenced, token(5)));
        assert!(outside.write(Resource::Fenced, token(7)));
        assert!(!outside.write(Resource::FencedShared, token(6)));
        assert!(outside.write(Resource::FencedShared, token(7)), "it makes do with a share");
        assert!(!outside.write(Resource::FencedShared, None));
    }
}

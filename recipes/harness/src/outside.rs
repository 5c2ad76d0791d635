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
use zk_recipes::{Fence, Mode};

/// Both faces of the resource: one that compares tokens and one that does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Outside {
    /// What the first has seen.
    pub fence: Fence,
}

impl Outside {
    /// A write arrives. Returns whether it is accepted: an unfenced resource accepts every write, a fenced one those
    /// with a token that its fence admits.
    pub fn write(&mut self, resource: Resource, token: Option<Zxid>) -> bool {
        let mode = match resource {
            Resource::Unfenced => return true,
            Resource::Fenced => Mode::Exclusive,
            Resource::FencedShared => Mode::Shared,
        };
        token.is_some_and(|token| self.fence.admits(mode, token))
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
    fn its_sharers_are_those_of_the_fence() {
        let mut outside = Outside::default();
        let token = |counter| Some(Zxid::new(1, counter));
        assert!(!outside.write(Resource::FencedShared, None));
        assert!(outside.write(Resource::FencedShared, token(6)));
        assert!(outside.write(Resource::FencedShared, token(5)));
        assert!(!outside.write(Resource::Fenced, token(5)));
    }
}

//! The resource outside the ensemble that a lock is to protect.

use crate::event::Resource;
use zk_api::Zxid;

/// Both faces of the resource: one that compares tokens and one that does not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outside {
    /// The highest token seen.
    highest: Option<Zxid>,
}

impl Outside {
    /// A write arrives. Gives whether it is accepted: an unfenced resource accepts all; a fenced one those whose
    /// token is at least as high as every token before.
    pub fn write(&mut self, resource: Resource, token: Option<Zxid>) -> bool {
        match resource {
            Resource::Unfenced => true,
            Resource::Fenced => {
                let accepted = token.is_some() && token >= self.highest;
                self.highest = self.highest.max(token);
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
}

//! What is kept beside a value, and makes no two of it that are the same.

/// Equal to every other of its kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aside<T>(pub T);

impl<T> PartialEq for Aside<T> {
    fn eq(&self, _: &Aside<T>) -> bool {
        true
    }
}

impl<T> Eq for Aside<T> {}

impl<T> std::hash::Hash for Aside<T> {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

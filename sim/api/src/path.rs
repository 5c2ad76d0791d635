//! Paths of znodes: parsed once, then trusted.

use std::fmt;
use std::sync::Arc;

/// A shared piece of text: a path as sent on the wire, or a child's name. Cheap to clone.
pub type Text = Arc<str>;

/// The valid, absolute path of a znode, such as `/locks/a`.
///
/// Valid means: starts with `/`, has no empty component, no `.` or `..`, no trailing `/` (but for the
/// root itself), and none of the characters ZooKeeper refuses.
/// Source: ZooKeeper 3.9, `PathUtils.validatePath`.
///
/// ```
/// use zk_api::ZPath;
/// let lock: ZPath = "/locks/a".parse()?;
/// assert_eq!(lock.join("n-7")?.as_str(), "/locks/a/n-7");
/// assert_eq!(lock.parent().unwrap().as_str(), "/locks");
/// assert!("/locks//a".parse::<ZPath>().is_err());
/// # Ok::<(), zk_api::PathError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ZPath(Text);

impl ZPath {
    /// The root, `/`.
    pub fn root() -> ZPath {
        ZPath("/".into())
    }

    /// Parses a path, sharing the text. Fails with what is wrong and where.
    pub fn parse(path: &str) -> Result<ZPath, PathError> {
        validate(path)?;
        Ok(ZPath(path.into()))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path as shared text, as requests carry it.
    pub fn text(&self) -> Text {
        self.0.clone()
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.len() == 1
    }

    /// The last component; empty for the root.
    pub fn name(&self) -> &str {
        split(&self.0).1
    }

    /// The path without its last component; `None` for the root.
    pub fn parent(&self) -> Option<ZPath> {
        (!self.is_root()).then(|| ZPath(split(&self.0).0.into()))
    }

    /// The child of this path with one more component. Fails if `name` is not a single valid component.
    pub fn join(&self, name: &str) -> Result<ZPath, PathError> {
        if name.contains('/') {
            return Err(PathError { path: name.into(), at: 0, problem: "a name has no '/'" });
        }
        ZPath::parse(&join(&self.0, name))
    }

    /// Whether `other` is this path or lies below it.
    pub fn covers(&self, other: &ZPath) -> bool {
        self.is_root()
            || other.0.strip_prefix(&*self.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl std::str::FromStr for ZPath {
    type Err = PathError;
    fn from_str(path: &str) -> Result<ZPath, PathError> {
        ZPath::parse(path)
    }
}

impl fmt::Display for ZPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ZPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is not a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    /// The text that was to be parsed.
    pub path: String,
    /// Where, as a byte offset.
    pub at: usize,
    /// What is wrong there.
    pub problem: &'static str,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "path {:?}: {} (at byte {})", self.path, self.problem, self.at)
    }
}

impl std::error::Error for PathError {}

/// Splits a path at its last `/`: the parent and the name. The parent of `/a` is `/`.
///
/// Works on any text that contains a `/`, valid or not, as the server must look up the parent of a path
/// before it validates the path. Without a `/`, the parent is empty.
pub fn split(path: &str) -> (&str, &str) {
    match path.rfind('/') {
        Some(0) => ("/", &path[1..]),
        Some(at) => (&path[..at], &path[at + 1..]),
        None => ("", path),
    }
}

/// Appends a name to a parent's path. Neither is checked: [`ZPath::join`] does that.
pub fn join(parent: &str, name: &str) -> String {
    let parent = if parent == "/" { "" } else { parent };
    [parent, "/", name].concat()
}

/// Checks a path as ZooKeeper's server and its clients do. Fails with the first thing that is wrong, and where.
///
/// Source: ZooKeeper 3.9, `PathUtils.validatePath`.
pub fn validate(path: &str) -> Result<(), PathError> {
    let fail = |at, problem| Err(PathError { path: path.to_owned(), at, problem });
    if path.is_empty() {
        return fail(0, "a path is not empty");
    }
    if !path.starts_with('/') {
        return fail(0, "a path starts with '/'");
    }
    if path.len() == 1 {
        return Ok(());
    }
    if path.ends_with('/') {
        return fail(path.len() - 1, "a path does not end with '/'");
    }
    // Most paths are plain ASCII, and told faster by their bytes.
    let is_plain = path.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let mut start = 1;
    for name in path[1..].split('/') {
        match name {
            "" => return fail(start, "empty component"),
            "." | ".." => return fail(start, "relative component"),
            _ => {}
        }
        if !is_plain && let Some((at, _)) = name.char_indices().find(|&(_, c)| is_refused(c)) {
            return fail(start + at, "refused character");
        }
        start += name.len() + 1;
    }
    Ok(())
}

fn is_refused(c: char) -> bool {
    // The surrogates D800–DFFF cannot occur in a Rust string; E000–F8FF is the private use area. Java looks
    // at UTF-16 units, so a character beyond the basic plane shows it two surrogates and is refused too.
    matches!(c as u32, 0..=0x1f | 0x7f..=0x9f | 0xd800..=0xf8ff | 0xfff0..)
}

/// The sequence number at the end of a sequential znode's name: its last ten characters as a number.
///
/// `None` if the name does not end in one. The counter is a Java `int` printed with `%010d`; a negative number
/// therefore has at least ten characters, including its minus sign.
///
/// ```
/// assert_eq!(zk_api::sequence_of("read-0000000007"), Some(7));
/// assert_eq!(zk_api::sequence_of("n--2147483648"), Some(-2147483648));
/// assert_eq!(zk_api::sequence_of("ready"), None);
/// ```
pub fn sequence_of(name: &str) -> Option<i32> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (head, tail) = name.split_at(name.len() - digits);
    if digits >= 10 {
        // Digits of the name may stand right before the ten of the counter.
        let ten: i64 = tail[digits - 10..].parse().ok()?;
        if digits == 10 && ten >= 1_000_000_000 && head.ends_with("--") {
            return i32::try_from(-ten).ok();
        }
        return i32::try_from(ten).ok();
    }
    // A minus sign takes one of the ten places.
    if digits == 9 && head.ends_with('-') { tail.parse::<i32>().ok().map(|n| -n) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_paths_say_what_and_where() {
        let at = |p: &str| validate(p).map_err(|e| (e.at, e.problem)).unwrap_err();
        assert_eq!(at(""), (0, "a path is not empty"));
        assert_eq!(at("a"), (0, "a path starts with '/'"));
        assert_eq!(at("/a/"), (2, "a path does not end with '/'"));
        assert_eq!(at("/a//b"), (3, "empty component"));
        assert_eq!(at("/a/../b"), (3, "relative component"));
        assert_eq!(at("/a/b\u{1}"), (4, "refused character"));
        assert_eq!(at("/a\u{e000}"), (2, "refused character"));
        assert_eq!(at("/a\u{1f600}"), (2, "refused character"));
    }

    #[test]
    fn valid_paths_pass() {
        for p in ["/", "/a", "/a/b", "/a/...", "/a b", "/ä/ö"] {
            assert!(validate(p).is_ok(), "{p}");
        }
    }

    #[test]
    fn covers_is_not_fooled_by_a_common_prefix() {
        let p = |s: &str| ZPath::parse(s).unwrap();
        assert!(p("/a").covers(&p("/a/b")) && p("/a").covers(&p("/a")) && p("/").covers(&p("/a")));
        assert!(!p("/a").covers(&p("/ab")));
    }

    #[test]
    fn sequence_numbers_are_read_from_the_end() {
        assert_eq!(sequence_of("0000000003"), Some(3));
        assert_eq!(sequence_of("queue-120000000003"), Some(3));
        assert_eq!(sequence_of("x-2147483647"), Some(2147483647));
        assert_eq!(sequence_of("x-000000001"), Some(-1));
        assert_eq!(sequence_of("x-00000001"), None);
    }
}

//! The command and its words, as a shell takes them.

/// What the command was called as. A path from the root of a CI machine means nothing elsewhere: its name is left.
pub(crate) fn program() -> String {
    let name = std::env::args_os().next().unwrap_or_else(|| "zoocheck".into());
    let is_ci = std::env::var_os("CI").is_some_and(|is| !is.is_empty());
    let path = std::path::Path::new(&name);
    let name = path.file_name().filter(|_| is_ci && path.is_absolute()).unwrap_or(&name);
    shell_word(&name.to_string_lossy())
}

/// A word as a shell reads it back.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// An option behind a command, once with each of these values.
pub(crate) fn with(option: &str, values: impl IntoIterator<Item = impl ToString>) -> String {
    values.into_iter().map(|value| format!(" {option} {}", shell_word(&value.to_string()))).collect()
}

//! A line, cut into words, and what words stand for.

use super::{Bytes, ZxidArg};

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// As it stands: `create`, `/x`, `timeout`, `-1`.
    Word(String),
    /// Between quotes, or `0x…`: bytes.
    Bytes(Vec<u8>),
    /// `{`, `}`, `;`, `=`, `@`, `,`
    Mark(char),
}

const MARKS: &str = "{};=@,";

/// Cuts a line. Fails with what is wrong.
pub(super) fn tokens(line: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(&c) = chars.peek() {
        if c.is_whitespace() {
            chars.next();
        } else if c == '#' {
            break;
        } else if MARKS.contains(c) {
            chars.next();
            tokens.push(Token::Mark(c));
        } else if c == '"' {
            chars.next();
            let mut bytes = quoted(&mut chars)?;
            if chars.peek() == Some(&'*') {
                chars.next();
                let times = word(&mut chars);
                let times: usize =
                    times.parse().map_err(|_| format!("'{times}' after * is not how often"))?;
                if bytes.len().saturating_mul(times) > 4 << 20 {
                    return Err("more than 4 MiB".into());
                }
                bytes = bytes.repeat(times);
            }
            tokens.push(Token::Bytes(bytes));
        } else {
            let word = word(&mut chars);
            match word.strip_prefix("0x") {
                Some(hex) => tokens.push(Token::Bytes(unhex(hex)?)),
                None => tokens.push(Token::Word(word)),
            }
        }
    }
    Ok(tokens)
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn word(chars: &mut Chars<'_>) -> String {
    let mut word = String::new();
    while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !MARKS.contains(*c) && *c != '"') {
        word.push(c);
    }
    word
}

/// What stands between quotes, with `\"`, `\\`, `\n`, `\xHH` and `\u{H}`.
fn quoted(chars: &mut Chars<'_>) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let put = |bytes: &mut Vec<u8>, c: char| bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    loop {
        match chars.next().ok_or("a quote is not closed")? {
            '"' => return Ok(bytes),
            '\\' => match chars.next().ok_or("a quote is not closed")? {
                'n' => put(&mut bytes, '\n'),
                c @ ('"' | '\\') => put(&mut bytes, c),
                'x' => {
                    let hex: String = chars.by_ref().take(2).collect();
                    let byte = u8::from_str_radix(&hex, 16).map_err(|_| format!("\\x{hex} is no byte"))?;
                    bytes.push(byte);
                }
                'u' => {
                    let inner: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    let known = u32::from_str_radix(&inner, 16).ok().and_then(char::from_u32);
                    put(&mut bytes, known.ok_or_else(|| format!("\\u{{{inner}}} is no character"))?);
                }
                c => return Err(format!("'\\{c}' in a quote; expected \\n, \\\", \\\\, \\xHH or \\u{{H}}")),
            },
            c => put(&mut bytes, c),
        }
    }
}

fn unhex(hex: &str) -> Result<Vec<u8>, String> {
    let bad = || format!("'0x{hex}' is not in pairs of hexadecimal digits");
    if !hex.len().is_multiple_of(2) || !hex.is_ascii() {
        return Err(bad());
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).map_err(|_| bad())).collect()
}

/// The only word of an option's value; empty if it is something else.
pub(super) fn value_word(value: &[Token]) -> &str {
    match value {
        [Token::Word(word)] => word,
        _ => "",
    }
}

pub(super) fn number<N: std::str::FromStr>(what: &str, word: &str) -> Result<N, String> {
    word.parse().map_err(|_| format!("{what}={word}: expected a number"))
}

pub(super) fn zxid(word: &str) -> Result<ZxidArg, String> {
    let parsed = if let Some(more) = word.strip_prefix("seen") {
        if more.is_empty() { Some(0) } else { more.parse().ok() }.map(ZxidArg::Seen)
    } else if word.starts_with('+') {
        word.parse().ok().map(ZxidArg::Relative)
    } else {
        word.parse().ok().map(ZxidArg::Absolute)
    };
    parsed.ok_or_else(|| format!("'{word}': expected a zxid, such as +3, 0, seen or seen-1"))
}

/// Bytes as [`tokens`] reads them.
pub(super) fn bytes_text(bytes: &Bytes) -> String {
    match bytes {
        None => "null".into(),
        Some(bytes) if bytes.len() > 64 && bytes.iter().all(|byte| *byte == bytes[0]) => {
            format!("{}*{}", quote(&bytes[..1]), bytes.len())
        }
        Some(bytes) => quote(bytes),
    }
}

pub(super) fn quote(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => out.push_str("\\n"),
                '"' | '\\' => out.extend(['\\', c]),
                c if c.is_control() || (c as u32) >= 0x7f => {
                    out.push_str(&format!("\\u{{{:x}}}", c as u32));
                }
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out.push('"');
    out
}

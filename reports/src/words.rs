//! Numbers, times and texts in words.

/// A number with its thousands separated: `1,204`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let thousands = digits.as_bytes().rchunks(3).rev();
    thousands.map(|three| str::from_utf8(three).expect("digits")).collect::<Vec<_>>().join(",")
}

/// Wall time, with more digits the shorter it was.
pub(crate) fn wall(seconds: f64) -> String {
    if seconds < 10.0 { format!("{seconds:.2} s") } else { format!("{seconds:.0} s") }
}

/// Virtual nanoseconds as seconds: `12.040 s`.
pub fn seconds(ns: u64) -> String {
    // Rounded down, so that a time is never shown later than it was.
    let millis = ns / 1_000_000;
    format!("{}.{:03} s", millis / 1000, millis % 1000)
}

/// `1 seed`, `2 seeds`.
pub fn of(number: u64, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{} {one}s", count(number)),
    }
}

/// A share in thousandths.
pub(crate) fn thousandths(of: u64, all: u64) -> u64 {
    match all {
        0 => 0,
        // What happened is seen.
        all => (u128::from(of) * 1000 / u128::from(all)).max(u128::from(of > 0) * 12) as u64,
    }
}

/// Servers and client processes that a text names, such as `s0`, `p1`, `p1.2` and `p1/1`, without the lives and threads
/// of a process: each once, in order.
pub fn named_in(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '(' | ')'));
    // `p1's`, a life behind a point, and a thread behind a stroke.
    let names = words.map(|word| word.split(['\'', '.', '/']).next().unwrap_or_default());
    each_once(names.filter(|name| {
        let number = name.strip_prefix(['s', 'p']).unwrap_or_default();
        !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
    }))
}

/// Each of these once, in the order in which they come first.
pub fn each_once<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

/// What a terminal shows in one line.
const WIDTH: usize = 80;

/// Text in lines that a terminal shows whole; lines after the first begin with `indent` blanks. The first is meant to
/// follow something of that width.
pub fn wrapped(text: &str, indent: usize) -> String {
    broken(text, indent, indent)
}

/// The same where the first is to follow what is as wide as `column`.
pub(crate) fn broken(text: &str, mut column: usize, indent: usize) -> String {
    let mut out = String::new();
    for word in text.split(' ') {
        let wide = word.chars().count();
        if !out.is_empty() && column + 1 + wide > WIDTH {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if !out.is_empty() {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += wide;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let numbers = [0, 12, 999, 1000, 123_456, 1_234_567];
        assert_eq!(numbers.map(count), ["0", "12", "999", "1,000", "123,456", "1,234,567"]);
    }

    #[test]
    fn long_text_is_wrapped_between_words_and_indented() {
        let text = wrapped(&"abcd ".repeat(50), 7);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.starts_with("abcd") && text.lines().skip(1).all(|line| line.starts_with("       abcd")));
        assert_eq!(text.split_whitespace().count(), 50);
        let word = "x".repeat(300);
        assert_eq!(wrapped(&word, 3), word);
    }

    #[test]
    fn virtual_time_is_never_rounded_up() {
        assert_eq!(seconds(12_040_999_999), "12.040 s");
        assert_eq!(seconds(0), "0.000 s");
    }
}

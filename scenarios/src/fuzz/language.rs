//! How programs are written: the words of their steps, and what stands behind each, as it is written and as it is read.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::SplitWhitespace;
use strum::VariantArray;

/// A word for each of some values.
pub(crate) trait Words: Copy + PartialEq + 'static {
    /// All, each with its word.
    fn words() -> impl Iterator<Item = (&'static str, Self)>;

    /// Its word.
    fn word(self) -> &'static str {
        Self::words().find(|(_, it)| *it == self).expect("each has a word").0
    }

    /// What a word stands for.
    fn of(word: &str) -> Option<Self> {
        Self::words().find(|(name, _)| *name == word).map(|(_, it)| it)
    }

    /// All words, with commas between them.
    fn listed() -> String {
        Self::words().map(|(word, _)| word).collect::<Vec<_>>().join(", ")
    }
}

/// An enum of ours whose words are the names of its variants.
pub(crate) trait Named: VariantArray + Into<&'static str> + Copy + PartialEq {}

impl<T: Named> Words for T {
    fn words() -> impl Iterator<Item = (&'static str, T)> {
        T::VARIANTS.iter().map(|it| ((*it).into(), *it))
    }
}

/// What is wrong with a word, and what was expected.
pub(super) type Wrong = String;

fn wrong(found: Option<&str>, expected: &str) -> Wrong {
    format!("{}: expected {expected}", found.unwrap_or("nothing more"))
}

/// What a word stands for.
pub(super) fn named<T: Words>(found: Option<&str>) -> Result<T, Wrong> {
    found.and_then(T::of).ok_or_else(|| wrong(found, &T::listed()))
}

/// What was read, if nothing follows.
pub(super) fn whole<T>(read: T, mut words: SplitWhitespace<'_>) -> Result<T, Wrong> {
    match words.next() {
        None => Ok(read),
        more => Err(wrong(more, "the end of the step")),
    }
}

/// What stands behind the word of a step, in a field of this name.
pub(super) trait Part: Sized {
    /// Writes it, behind a blank.
    fn write(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Reads it from what is left of the step.
    fn read(name: &str, left: &mut SplitWhitespace<'_>) -> Result<Self, Wrong>;
}

impl<T: Words> Part for T {
    fn write(&self, _: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " {}", self.word())
    }

    fn read(_: &str, left: &mut SplitWhitespace<'_>) -> Result<T, Wrong> {
        named(left.next())
    }
}

/// The field's name, which stands there or not; none but such may follow.
impl Part for bool {
    fn write(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self { write!(f, " {name}") } else { Ok(()) }
    }

    fn read(name: &str, left: &mut SplitWhitespace<'_>) -> Result<bool, Wrong> {
        let is = left.clone().next() == Some(name);
        if is {
            left.next();
        }
        Ok(is)
    }
}

macro_rules! numbers {
    ($($number:ty, from $least:literal;)+) => {
        $(impl Part for $number {
            fn write(&self, _: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, " {self}")
            }

            fn read(_: &str, left: &mut SplitWhitespace<'_>) -> Result<$number, Wrong> {
                number(left, $least..=<$number>::MAX.into())
            }
        })+
    };
}

numbers! {
    u8, from 0;
    u32, from 0;
    // A version, or -1 for any.
    i32, from -1;
}

fn number<T: TryFrom<i64>>(left: &mut SplitWhitespace<'_>, of: RangeInclusive<i64>) -> Result<T, Wrong> {
    let found = left.next();
    let number = found.and_then(|word| word.parse().ok()).filter(|number| of.contains(number));
    let expected = || wrong(found, &format!("a number from {} to {}", of.start(), of.end()));
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(expected)
}

/// All that is left: one after the other, with semicolons between them.
impl<T: Written> Part for Vec<T> {
    fn write(&self, _: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, item) in self.iter().enumerate() {
            write!(f, "{}{item}", if nth == 0 { " " } else { "; " })?;
        }
        Ok(())
    }

    fn read(_: &str, left: &mut SplitWhitespace<'_>) -> Result<Vec<T>, Wrong> {
        let item = |text: &str| {
            let mut words = text.split_whitespace();
            let first = words.next();
            let item = T::read(first.unwrap_or_default(), &mut words)?;
            whole(item.ok_or_else(|| wrong(first, &T::WORDS.join(", ")))?, words)
        };
        left.collect::<Vec<_>>().join(" ").split("; ").map(item).collect()
    }
}

/// What is written as a word with its parts behind it.
pub(super) trait Written: Sized + fmt::Display {
    /// The words that there are.
    const WORDS: &'static [&'static str];

    /// Reads what begins with this word from what is left behind it; `None` if nothing does.
    fn read(word: &str, left: &mut SplitWhitespace<'_>) -> Result<Option<Self>, Wrong>;
}

/// Declares an enum that is [`Written`]: each variant behind its word, its fields in the order in which they are
/// written.
macro_rules! written {
    ($(#[$about:meta])* $enum:ident {
        $(
            $(#[$doc:meta])*
            $word:literal: $variant:ident $({ $($field:ident: $part:ty),+ })? $(($only:ident: $whole:ty))?,
        )+
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum $enum {
            $($(#[$doc])* $variant $({ $($field: $part),+ })? $(($whole))?,)+
        }

        impl Written for $enum {
            const WORDS: &'static [&'static str] = &[$($word),+];

            fn read(word: &str, left: &mut SplitWhitespace<'_>) -> Result<Option<$enum>, Wrong> {
                Ok(Some(match word {
                    $($word => $enum::$variant
                        $({ $($field: Part::read(stringify!($field), left)?),+ })?
                        $((<$whole>::read(stringify!($only), left)?))?,)+
                    _ => return Ok(None),
                }))
            }
        }

        impl fmt::Display for $enum {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($enum::$variant $({ $($field),+ })? $(($only))? => {
                        f.write_str($word)?;
                        $($($field.write(stringify!($field), f)?;)+)?
                        $($only.write(stringify!($only), f)?;)?
                    })+
                }
                Ok(())
            }
        }
    };
}

pub(super) use written;

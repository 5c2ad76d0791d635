//! Reads requests.

use super::token::{Token, number, quote, value_word, zxid};
use super::{AclArg, AclEntry, Bytes, Call, CreateKind, Naming, Numbered, Sent, Text, ZxidArg};

/// The rest of a line.
pub(super) struct Words<'a> {
    rest: &'a [Token],
}

type Options = Vec<(String, Vec<Token>)>;

/// Letters of permissions, from the lowest bit.
pub(super) const PERMS: &str = "rwcda";

impl<'a> Words<'a> {
    pub(super) fn new(tokens: &'a [Token]) -> Words<'a> {
        Words { rest: tokens }
    }

    fn next(&mut self) -> Option<&'a Token> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    pub(super) fn peek_word(&self) -> Option<&'a str> {
        match self.rest.first() {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    pub(super) fn end(&self) -> Result<(), String> {
        match self.rest.first() {
            None => Ok(()),
            Some(token) => Err(format!("unexpected {}", told(token))),
        }
    }

    pub(super) fn word(&mut self, what: &str) -> Result<&'a str, String> {
        match self.next() {
            Some(Token::Word(word)) => Ok(word),
            Some(token) => Err(format!("expected {what}, found {}", told(token))),
            None => Err(format!("expected {what} at the end")),
        }
    }

    pub(super) fn number<N: std::str::FromStr>(&mut self, what: &str) -> Result<N, String> {
        let word = self.word(what)?;
        word.parse().map_err(|_| format!("'{word}': expected {what}"))
    }

    /// A text, in quotes or not; `null` is none.
    fn text(&mut self, what: &str) -> Result<Text, String> {
        let token = self.next().ok_or_else(|| format!("expected {what} at the end"))?;
        text(token).map_err(|_| format!("expected {what}, found {}", told(token)))
    }

    /// Bytes, in quotes or as 0x…; `null` is none.
    pub(super) fn bytes(&mut self, what: &str) -> Result<Bytes, String> {
        match self.next() {
            Some(Token::Bytes(bytes)) => Ok(Some(bytes.clone())),
            Some(Token::Word(word)) if word == "null" => Ok(None),
            Some(token) => Err(format!("expected {what} in quotes, found {}", told(token))),
            None => Err(format!("expected {what} at the end")),
        }
    }

    fn data(&mut self) -> Result<Bytes, String> {
        if matches!(self.rest.first(), Some(Token::Bytes(_))) || self.peek_word() == Some("null") {
            self.bytes("data")
        } else {
            Ok(Some(Vec::new()))
        }
    }

    /// Takes a word if it is next.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let found = self.peek_word() == Some(word);
        if found {
            self.next();
        }
        found
    }

    /// Takes a word if it is next and is not an option's name.
    fn take_flag(&mut self, word: &str) -> bool {
        self.rest.get(1) != Some(&Token::Mark('=')) && self.take(word)
    }

    /// All `key=value` that follow.
    pub(super) fn options(&mut self) -> Result<Options, String> {
        let mut options = Vec::new();
        while let [Token::Word(key), Token::Mark('='), ..] = self.rest {
            self.rest = &self.rest[2..];
            let mut value: Vec<Token> = self.next().cloned().into_iter().collect();
            while let [mark @ Token::Mark('@' | ','), token, ..] = self.rest {
                value.extend([mark.clone(), token.clone()]);
                self.rest = &self.rest[2..];
            }
            options.push((key.clone(), value));
        }
        Ok(options)
    }

    /// `{ one; two; }`
    pub(super) fn block<T>(
        &mut self,
        item: impl Fn(&mut Words<'a>) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        if self.next() != Some(&Token::Mark('{')) {
            return Err("expected {".into());
        }
        let mut items = Vec::new();
        loop {
            match self.rest.first() {
                Some(Token::Mark('}')) => {
                    self.next();
                    return Ok(items);
                }
                Some(Token::Mark(';')) => {
                    self.next();
                }
                Some(_) => items.push(item(self)?),
                None => return Err("expected }".into()),
            }
        }
    }

    /// A request, and how it is sent.
    pub(super) fn sent(&mut self) -> Result<Sent, String> {
        let (call, rest) = self.call()?;
        let mut sent = Sent::from(call);
        for (key, value) in rest {
            match (key.as_str(), &value[..]) {
                ("xid", value) => sent.xid = Some(number("xid", value_word(value))?),
                ("cut", value) => sent.cut = number("cut", value_word(value))?,
                ("more", [Token::Bytes(bytes)]) => sent.more = bytes.clone(),
                _ => return Err(format!("'{key}=' is not for this request")),
            }
        }
        Ok(sent)
    }

    /// A request, and the options that are not its own.
    fn call(&mut self) -> Result<(Call, Options), String> {
        let verb = self.word("a request")?;
        if let Ok(kind) = verb.parse() {
            return self.create(kind);
        }
        let mut rest = Vec::new();
        let call = if let Ok(what) = verb.parse() {
            Call::Look { what, path: self.text("a path")?, watch: self.take_flag("watch") }
        } else if let Ok(what) = verb.parse() {
            let named = if what == Naming::Ephemerals { "a prefix" } else { "a path" };
            Call::Name { what, path: self.text(named)? }
        } else if let Ok(what) = verb.parse() {
            self.numbered(what, &mut rest)?
        } else {
            self.other(verb, &mut rest)?
        };
        rest.extend(self.options()?);
        Ok((call, rest))
    }

    /// A request that is like no other.
    fn other(&mut self, verb: &str, rest: &mut Options) -> Result<Call, String> {
        Ok(match verb {
            "set" => {
                let (path, data) = (self.text("a path")?, self.data()?);
                Call::SetData { path, data, version: self.version(rest)? }
            }
            "setacl" => {
                let path = self.text("a path")?;
                let version = self.version(rest)?;
                let acl = take_option(rest, "acl").ok_or("expected acl=")?;
                Call::SetAcl { path, acl: acl_of(&acl)?, version }
            }
            "multi" => Call::Multi { reads: false, ops: self.block(Words::op)? },
            "multiread" => Call::Multi { reads: true, ops: self.block(Words::op)? },
            "setwatches" => self.set_watches(false, rest)?,
            "setwatches2" => self.set_watches(true, rest)?,
            "auth" => Call::Auth { scheme: self.text("a scheme")?, credentials: self.bytes("credentials")? },
            "reconfig" => Call::Reconfig {
                joining: self.text("who joins")?,
                leaving: self.text("who leaves")?,
                members: self.text("who is there")?,
                version: self.number("a version")?,
            },
            "whoami" => Call::WhoAmI,
            "ping" => Call::Ping,
            "close" => Call::Close,
            "op" => Call::Raw {
                op: self.number("a request's kind")?,
                body: self.bytes("a body")?.unwrap_or_default(),
            },
            _ => return Err(format!("'{verb}' is no request")),
        })
    }

    /// A request that nothing more is said about.
    pub(super) fn op(&mut self) -> Result<Call, String> {
        let (call, rest) = self.call()?;
        match rest.first() {
            None => Ok(call),
            Some((key, _)) => Err(format!("'{key}=' is not for an operation")),
        }
    }

    fn version(&mut self, rest: &mut Options) -> Result<i32, String> {
        rest.extend(self.options()?);
        take_option(rest, "v").map_or(Ok(-1), |value| number("v", value_word(&value)))
    }

    fn numbered(&mut self, what: Numbered, rest: &mut Options) -> Result<Call, String> {
        let path = self.text("a path")?;
        let (key, names) = number_words(what);
        if let Some(at) = names.iter().position(|(name, _)| self.take_flag(name)) {
            return Ok(Call::Number { what, path, number: names[at].1 });
        }
        rest.extend(self.options()?);
        let number = match take_option(rest, key) {
            Some(value) => number(key, value_word(&value))?,
            None if names.is_empty() => -1,
            None => return Err(format!("expected {} or {key}=", names[0].0)),
        };
        Ok(Call::Number { what, path, number })
    }

    fn set_watches(&mut self, two: bool, rest: &mut Options) -> Result<Call, String> {
        let mut lists = vec![Some(Vec::new()); if two { 5 } else { 3 }];
        let mut since = ZxidArg::Seen(0);
        for (key, value) in self.options()? {
            if key == "since" {
                since = zxid(value_word(&value))?;
                continue;
            }
            match (LISTS[..lists.len()].iter().position(|name| *name == key), &value[..]) {
                (Some(at), [Token::Word(word)]) if word == "-" => lists[at] = None,
                (Some(at), [token]) => lists[at].get_or_insert_default().push(text(token)?),
                _ => rest.push((key, value)),
            }
        }
        Ok(Call::SetWatches { since, lists, two })
    }

    fn create(&mut self, kind: CreateKind) -> Result<(Call, Options), String> {
        let (path, data) = (self.text("a path")?, self.data()?);
        let mut flags = default_flags(kind);
        loop {
            if self.take_flag("ephemeral") {
                flags |= 1;
            } else if self.take_flag("sequential") {
                flags = if kind == CreateKind::Ttl { 6 } else { flags | 2 };
            } else {
                break;
            }
        }
        let mut rest = self.options()?;
        if let Some(value) = take_option(&mut rest, "flags") {
            flags = number("flags", value_word(&value))?;
        }
        let ttl_ms = match take_option(&mut rest, "ttl") {
            Some(value) => number("ttl", value_word(&value))?,
            None => 0,
        };
        let acl = take_option(&mut rest, "acl").map_or_else(|| Ok(open()), |value| acl_of(&value))?;
        Ok((Call::Create { kind, path, data, acl, flags, ttl_ms }, rest))
    }
}

/// The lists of `setWatches2`; `setWatches` has the first three.
pub(super) const LISTS: [&str; 5] = ["data", "exist", "child", "persistent", "recursive"];

/// Everybody may do everything.
pub(crate) fn open() -> AclArg {
    let id = Some("anyone".to_owned());
    Some(vec![AclEntry { perms: 31, scheme: Some("world".to_owned()), id }])
}

/// The flags that go with a kind of create.
pub(super) fn default_flags(kind: CreateKind) -> i32 {
    match kind {
        CreateKind::Plain | CreateKind::WithStat => 0,
        CreateKind::Container => 4,
        CreateKind::Ttl => 5,
    }
}

/// What the number of a request is called, and which numbers have names of their own.
pub(super) fn number_words(what: Numbered) -> (&'static str, &'static [(&'static str, i32)]) {
    match what {
        Numbered::Delete | Numbered::Check => ("v", &[]),
        Numbered::AddWatch => ("mode", &[("persistent", 0), ("recursive", 1)]),
        Numbered::CheckWatches | Numbered::RemoveWatches => {
            ("kind", &[("children", 1), ("data", 2), ("any", 3)])
        }
    }
}

fn take_option(options: &mut Options, key: &str) -> Option<Vec<Token>> {
    let at = options.iter().position(|(found, _)| found == key)?;
    Some(options.remove(at).1)
}

fn told(token: &Token) -> String {
    match token {
        Token::Word(word) => format!("'{word}'"),
        Token::Bytes(bytes) => quote(bytes),
        Token::Mark(mark) => format!("'{mark}'"),
    }
}

fn text(token: &Token) -> Result<Text, String> {
    match token {
        Token::Word(word) if word == "null" => Ok(None),
        Token::Word(word) => Ok(Some(word.clone())),
        Token::Bytes(bytes) => Ok(Some(String::from_utf8(bytes.clone()).map_err(|_| "is no UTF-8")?)),
        Token::Mark(mark) => Err(format!("expected a text, found '{mark}'")),
    }
}

/// `cdrwa@world:anyone,r@"digest:u:hash="`, `none` or `null`.
fn acl_of(value: &[Token]) -> Result<AclArg, String> {
    match value_word(value) {
        "null" => return Ok(None),
        "none" => return Ok(Some(Vec::new())),
        _ => {}
    }
    let entry = |entry: &[Token]| match entry {
        [Token::Word(perms), Token::Mark('@'), who] => {
            let (scheme, id) = match text(who)? {
                None => (None, None),
                Some(who) => match who.split_once(':') {
                    Some((scheme, id)) => (Some(scheme.to_owned()), Some(id.to_owned())),
                    None => (Some(who), None),
                },
            };
            Ok(AclEntry { perms: perms_of(perms)?, scheme, id })
        }
        _ => Err("acl=: expected PERMS@SCHEME:ID, none or null".to_owned()),
    };
    value.split(|token| *token == Token::Mark(',')).map(entry).collect::<Result<_, _>>().map(Some)
}

fn perms_of(word: &str) -> Result<i32, String> {
    let letter = |c| PERMS.find(c).map(|bit| 1 << bit);
    let letters = word.chars().map(letter).collect::<Option<Vec<i32>>>();
    let number = || word.parse().ok();
    letters
        .map(|bits| bits.into_iter().sum())
        .or_else(number)
        .ok_or_else(|| format!("'{word}': expected permissions as letters of {PERMS} or a number"))
}

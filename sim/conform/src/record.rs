//! Records as they stand on the wire, written and read by hand.
//!
//! Not by `zk-wire`: a script must be able to say what no client says, and a mistake shared by both sides of the
//! comparison would be seen by neither.

const NULL: i32 = -1;

/// Writes a record.
#[derive(Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn byte(&mut self, n: u8) -> &mut Writer {
        self.raw(&[n])
    }

    /// Bytes as they are.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Writer {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn int(&mut self, n: i32) -> &mut Writer {
        self.raw(&n.to_be_bytes())
    }

    pub(crate) fn long(&mut self, n: i64) -> &mut Writer {
        self.raw(&n.to_be_bytes())
    }

    /// `None` is null.
    pub(crate) fn bytes(&mut self, bytes: Option<&[u8]>) -> &mut Writer {
        match bytes {
            None => self.int(NULL),
            Some(bytes) => self.int(i32::try_from(bytes.len()).unwrap_or(i32::MAX)).raw(bytes),
        }
    }

    pub(crate) fn text(&mut self, text: Option<&str>) -> &mut Writer {
        self.bytes(text.map(str::as_bytes))
    }

    /// `None` is null.
    pub(crate) fn list<T>(&mut self, items: Option<&[T]>, put: impl Fn(&mut Writer, &T)) -> &mut Writer {
        self.int(items.map_or(NULL, |items| items.len() as i32));
        items.into_iter().flatten().for_each(|item| put(self, item));
        self
    }
}

/// Reads a record; `None` where it ends too early.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub(crate) fn int(&mut self) -> Option<i32> {
        Some(i32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    pub(crate) fn long(&mut self) -> Option<i64> {
        Some(i64::from_be_bytes(self.take(8)?.try_into().ok()?))
    }

    /// `Some(None)` is null.
    pub(crate) fn bytes(&mut self) -> Option<Option<&'a [u8]>> {
        match self.int()? {
            NULL => Some(None),
            n => self.take(usize::try_from(n).ok()?).map(Some),
        }
    }

    pub(crate) fn text(&mut self) -> Option<Option<String>> {
        Some(self.bytes()?.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
    }

    /// `Some(None)` is null.
    pub(crate) fn list<T>(&mut self, item: impl Fn(&mut Self) -> Option<T>) -> Option<Option<Vec<T>>> {
        match self.int()? {
            NULL => Some(None),
            n => (0..u32::try_from(n).ok()?).map(|_| item(self)).collect::<Option<Vec<T>>>().map(Some),
        }
    }
}

//! Reads `testdata`: blocks of `== name`, then lines of some bytes in hex and what they are.

/// A frame as it is written out.
pub struct Block {
    pub name: String,
    /// With its length.
    pub bytes: Vec<u8>,
}

/// All blocks of a file.
pub fn read(file: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for line in file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("== ") {
            blocks.push(Block { name: name.into(), bytes: Vec::new() });
            continue;
        }
        let block = blocks.last_mut().expect("bytes stand below a name");
        let hex = line.split(' ').next().expect("a line has a first word");
        assert!(hex.len().is_multiple_of(2), "half a byte in {}: {line}", block.name);
        for at in (0..hex.len()).step_by(2) {
            block.bytes.push(u8::from_str_radix(&hex[at..at + 2], 16).expect("hex"));
        }
    }
    for block in &blocks {
        let length = i32::from_be_bytes(block.bytes[..4].try_into().expect("a frame has a length"));
        assert_eq!(length as usize, block.frame().len(), "the length of {}", block.name);
    }
    blocks
}

impl Block {
    /// What stands behind the length.
    pub fn frame(&self) -> &[u8] {
        &self.bytes[4..]
    }

    /// Panics with where they differ.
    pub fn assert_is(&self, written: &[u8]) {
        let at = self.bytes.iter().zip(written).position(|(ours, theirs)| ours != theirs);
        assert_eq!((self.bytes.len(), at), (written.len(), None), "{}: written {written:02x?}", self.name);
    }
}

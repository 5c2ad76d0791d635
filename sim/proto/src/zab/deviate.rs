//! What bugs that are planted need. Without one nothing here does anything.

use super::{Note, Out, Output, Peer, Write};
use crate::mutant::Mutant;

impl Peer {
    /// Whether this peer has that bug. Asked where it makes a difference, and there only: it leaves its mark.
    pub(super) fn deviates(&self, mutant: Mutant, out: Out<'_>) -> bool {
        let deviates = self.config.mutant == Some(mutant);
        out.extend(deviates.then_some(Output::Note(Note::Deviated(mutant))));
        deviates
    }

    /// Gives what is in memory alone to the disk.
    pub(super) fn write_withheld(&mut self) {
        let withheld = self.history.after(self.storage.end()).to_vec();
        if !withheld.is_empty() {
            self.storage.push(Write::Append(withheld));
        }
    }

    /// Forgets what is in memory alone: it was to be written later, and nobody will.
    pub(super) fn forget_withheld(&mut self) {
        if self.config.mutant.is_some() {
            self.history.truncate(self.storage.end());
        }
    }
}

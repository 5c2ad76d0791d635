//! A program on trial.

use crate::actor::run;
use crate::memory::Memory;
use crate::owes::Owes;
use std::sync::Arc;
use zk_harness::program::Programs;
use zk_harness::trial::{Act, Code, Trial};

/// A program held to what is owed of it. Its name is remembered as long as this process lives.
///
/// A client that opens a session anew tells nobody who does not listen; and which of a program's threads asks for what
/// is not known: two of the standard promises are not its own.
pub fn hosted(name: &str, programs: Arc<dyn Programs>, owes: Owes) -> Trial {
    let summary = format!("{programs:?}, a program hosted as it is");
    let memory = Arc::new(Memory::of(name, programs));
    let programs = memory.clone();
    let act = |is_explored| -> Act {
        let memory = memory.clone();
        Arc::new(move |zk, probe, role| Box::pin(run(memory.clone(), is_explored, zk, probe, role)))
    };
    let not_owed = [&["session-end-noticed", "no-polling"], &*owes.opts_out()].concat();
    let mut trial = Trial::of(keep(name), Code::Programs { programs, explored: act(true), once: act(false) })
        .summary(keep(&summary))
        .source("one's own program")
        .opts_out(&not_owed)
        .renews_session()
        .hears_singly()
        .administered(&[]);
    trial.about.bounds.clients = owes.clients();
    trial.setup = owes.setup();
    trial.heard = owes.heard().map(Arc::new);
    trial.promises(move || owes.promises())
}

fn keep(text: &str) -> &'static str {
    Box::leak(text.into())
}

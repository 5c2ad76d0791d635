//! The trials that there are, and what is said of them.

use crate::BadInput;
use crate::bad_input::nearest;
use std::sync::Arc;
use zk_harness::heard;
use zk_harness::promise::Assumption;
use zk_harness::trial::{About, Trial};
use zk_reports::{Catalogued, Mark, Told, Unheard};

/// What a catalogue has.
#[derive(Clone, Default)]
pub(crate) struct Trials(Vec<Arc<Trial>>);

impl Trials {
    /// The built-in ones.
    pub fn built_in() -> Trials {
        Trials(zk_catalogue::trials())
    }

    /// One more.
    pub fn add(&mut self, trial: Trial) {
        self.0.push(Arc::new(trial));
    }

    /// All of them, in the order in which they are listed.
    pub fn trials(&self) -> &[Arc<Trial>] {
        &self.0
    }

    /// The trial called `name`; fails if there is none.
    pub fn find(&self, name: &str) -> Result<Arc<Trial>, BadInput> {
        if let Some(trial) = self.0.iter().find(|trial| trial.about.name == name) {
            return Ok(trial.clone());
        }
        if is_file(name) {
            return Err(bad!("'{name}' is a scenario file; name a recipe or a variant"));
        }
        #[cfg(feature = "run")]
        if crate::run::is_program(name) {
            return Err(bad!(
                "'{name}' is a program; name a recipe or a variant: programs are taken by run, check and mutate"
            ));
        }
        let hint = match nearest(name, self.0.iter().map(|trial| trial.about.name)) {
            Some(meant) => format!("did you mean '{meant}'?"),
            None => "'zoocheck list' names what there is".to_string(),
        };
        Err(bad!("'{name}' is neither a recipe, a variant, nor a scenario file (*.toml); {hint}"))
    }
}

/// Whether WHAT stands for a scenario file.
pub(crate) fn is_file(what: &str) -> bool {
    std::path::Path::new(what).extension().is_some_and(|extension| extension == "toml")
}

/// What the catalogue says of a variant.
pub(crate) fn catalogued(about: &About) -> Option<Catalogued> {
    about.breaks.map(|breaks| Catalogued {
        promise: breaks.promise.into(),
        defect: breaks.defect.into(),
        fault: breaks.fault.into(),
    })
}

/// How a break is marked where this assumption did not hold, if one did not.
pub(crate) fn mark(violated: Option<Assumption>) -> Mark {
    match violated {
        None => Mark::Broken,
        Some(Assumption::NobodyMeantToWait) => Mark::Undecided,
        Some(_) => Mark::Expected,
    }
}

/// What a trial told, where it is known what is heard.
pub(crate) fn told(trial: &Trial, told: &heard::Told) -> Option<Told> {
    let heard = trial.heard.as_ref()?;
    let unheard = told.unheard.iter().map(|((word, about), (times, by))| {
        let is_known = heard.words().any(|known| known == &**word);
        let meant = match is_known {
            true => nearest(about.trim_end_matches(['/', '…']), heard.paths()).map(str::to_owned),
            false => nearest(word, heard.words()).map(|word| format!("\"{word}\"")),
        };
        Unheard {
            word: word.to_string(),
            about: about.to_string(),
            is_known,
            times: *times,
            by: by.clone(),
            meant,
        }
    });
    Some(Told { heard_by: told.heard_by.clone(), unheard: unheard.collect() })
}

/// An assumption in words that follow "this assumption failed:".
pub(crate) fn assumption(assumption: Assumption) -> &'static str {
    match assumption {
        Assumption::NoActionAfterSessionEnd => "nobody acts after its session has ended",
        Assumption::NoAdministrator => "no administrator changes the recipe's znodes",
        Assumption::SessionsKnownToLive => "everybody concerned is known to have had a live session",
        Assumption::DiskIntact => "no disk silently loses what was durable (disk-intact)",
        Assumption::Promised => "the recipe promises it",
        Assumption::NobodyMeantToWait => zk_reports::UNSAID,
    }
}

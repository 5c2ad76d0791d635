//! `zoocheck explain`: what the number of a defect stands for.

use crate::bad_input::did_you_mean;
use crate::output::{paint, print};
use crate::trial_list::Trials;
use crate::{Answer, BadInput};
use std::fmt::Write;
use std::sync::Arc;
use zk_harness::trial::{Breaks, Trial};
use zk_reports::wrapped;

/// Tells of a defect: who has it, what breaks by it, and how to see it.
pub(crate) fn explain(catalogue: &Trials, number: &str) -> Result<Answer, BadInput> {
    let known = || catalogue.trials().iter().filter_map(|trial| Some((trial, trial.about.breaks?)));
    let of: Vec<(&Arc<Trial>, Breaks)> =
        known().filter(|(_, breaks)| breaks.defect.eq_ignore_ascii_case(number)).collect();
    let Some((_, first)) = of.first() else {
        let typed = number.to_ascii_uppercase();
        let hint = did_you_mean(&typed, known().map(|(_, breaks)| breaks.defect));
        return Err(bad!(
            "explain: no recipe has a defect '{number}', such as S-070{hint}; 'zoocheck list' has their numbers"
        ));
    };
    let variants = if of.len() == 1 { "1 variant".into() } else { format!("{} variants", of.len()) };
    let mut out = format!("{}: in {variants} of a recipe\n", paint().strong(first.defect));
    for (trial, breaks) in of {
        tell(&mut out, trial.as_ref(), breaks);
    }
    print(&out)?;
    Ok(Answer::Held)
}

fn tell(out: &mut String, trial: &Trial, breaks: Breaks) {
    let about = trial.about;
    let name = about.name;
    let line = wrapped(&format!("{name}: {}", about.summary), 2);
    let _ = writeln!(out, "\n{}", line.replacen(name, &paint().strong(name), 1));
    let held_to = trial.held_to();
    let promise = held_to.iter().find(|promise| promise.name() == breaks.promise);
    let promise = promise.map_or(String::new(), |promise| format!(": {}", promise.terms().about));
    let fault = match breaks.fault {
        "none" => "no fault".into(),
        fault => format!("a fault: {fault}"),
    };
    for line in [
        format!("it breaks {}{promise}", breaks.promise),
        format!("it takes {fault}"),
        format!("source: {}", about.source),
    ] {
        let _ = writeln!(out, "  {}", wrapped(&line, 4).trim_start());
    }
    let _ = writeln!(out, "  see it: zoocheck check {name}\n          zoocheck run {name}");
}

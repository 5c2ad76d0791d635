//! The kill matrix, for people.

use super::{Paint, count, of, table, wall, wrapped};
use crate::mutants::{Beyond, Fate, Kill, MutantResult, MutantsReport};
use crate::verdict::Answer;
use std::fmt::Write;

/// The kill matrix as text. Its last line is the answer.
pub fn mutants_text(report: &MutantsReport, paint: Paint) -> String {
    let mut out = String::new();
    let title = paint.strong("mutants");
    let _ = writeln!(out, "{title}: bugs planted into every server, under {}", report.scenario);
    let clients = report.clients.join(" and ");
    let _ =
        writeln!(out, "  {} each, and without any; clients do {clients}, in turns", of(report.seeds, "seed"));
    if !report.models.is_empty() {
        let models =
            format!("models, of {} states at most: {}", count(report.max_states), report.models.join("; "));
        let _ = writeln!(out, "  {}", wrapped(&models, 4));
    }
    out.push('\n');
    let head = ["mutant", "from", "fate", "acted", "caught", "first", "by", "model", "steps", "states"];
    let mut rows = vec![head.map(|name| (name.to_owned(), paint.strong(name))).to_vec()];
    rows.extend(report.mutants.iter().map(|mutant| row(mutant, paint)));
    out.push_str(&table(&rows));
    out.push('\n');
    let nothing = report.unmutated.is_empty();
    let _ = match nothing {
        true => writeln!(out, "without any: nothing was broken"),
        false => writeln!(out, "without any: {}", paint.bad(&kills(&report.unmutated))),
    };
    if !report.beyond.is_empty() {
        let beyond = |b: &Beyond| format!("{} ({}, seed {})", b.invariant, b.mutant, b.seed);
        let beyond: Vec<String> = report.beyond.iter().map(beyond).collect();
        let _ = writeln!(out, "broken after others: {}", wrapped(&beyond.join(", "), 2));
    }
    if !report.never_broken.is_empty() {
        let names = report.never_broken.join(", ");
        let _ = writeln!(out, "broken by none of them under their own names: {}", wrapped(&names, 2));
    }
    for wrong in &report.wrong {
        let _ = writeln!(out, "{}", paint.bad(wrong));
    }
    let _ = writeln!(out, "{} in {}", of(report.mutants.len() as u64, "mutant"), wall(report.wall_seconds));
    let _ = writeln!(out, "{}", paint.answer(report.answer, mutants_answer(report)));
    out
}

/// The answer in words.
pub(crate) fn mutants_answer(report: &MutantsReport) -> &'static str {
    match report.answer {
        Answer::Held => "every one that should be was found, by name",
        Answer::Broken | Answer::Undecided => "NOT as it should be",
    }
}

/// What became of a planted bug, in words.
pub(crate) fn fate_words(fate: Fate) -> &'static str {
    match fate {
        Fate::Killed => "killed",
        Fate::KilledByOthers => "killed by others",
        Fate::Survived => "survived",
        Fate::NeverActed => "never acted",
    }
}

fn row(mutant: &MutantResult, paint: Paint) -> Vec<(String, String)> {
    let plain = |text: String| (text.clone(), text);
    let fate = fate_words(mutant.fate);
    let painted = match mutant.fate {
        Fate::Killed => paint.good(fate),
        Fate::KilledByOthers | Fate::Survived | Fate::NeverActed => paint.odd(fate),
    };
    vec![
        plain(mutant.name.clone()),
        plain(mutant.source.clone()),
        (fate.to_owned(), painted),
        plain(count(mutant.acted)),
        plain(count(mutant.caught)),
        plain(mutant.first_seed.map_or("-".to_owned(), |seed| seed.to_string())),
        plain(kills(&mutant.kills)),
        plain(mutant.model.as_ref().map_or("-".to_owned(), |model| model.invariants.join(", "))),
        plain(mutant.model.as_ref().map_or("-".to_owned(), |model| count(model.steps.into()))),
        plain(mutant.model.as_ref().map_or("-".to_owned(), |model| count(model.states))),
    ]
}

/// The two most frequent, and how many more.
fn kills(kills: &[Kill]) -> String {
    let shown: Vec<String> =
        kills.iter().take(2).map(|kill| format!("{} ({})", kill.invariant, count(kill.seeds))).collect();
    match kills.len().checked_sub(3) {
        Some(more) => format!("{}, {} more", shown.join(", "), more + 1),
        None => shown.join(", "),
    }
}

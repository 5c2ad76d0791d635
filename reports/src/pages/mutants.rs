//! The kill matrix.

use crate::page::{Block, Cell, Group, Line, Mood, Page, answer, below};
use crate::words::wall;
use crate::{Answer, Fate, Kill, ModelKill, MutantResult, MutantsReport, Report, count, of};
use std::collections::BTreeMap;

impl Report for MutantsReport {
    fn heading(&self) -> String {
        "mutants".into()
    }

    fn page(&self) -> Page {
        let about = format!("bugs planted into every server, under {}", self.scenario);
        let (seeds, clients) = (of(self.seeds, "seed"), self.clients.join(" and "));
        let mut page = vec![
            Block::Title("mutants".into(), about),
            below(format!("{seeds} for each mutant, and without any mutant; clients run {clients}, in turn")),
        ];
        if !self.models.is_empty() {
            let models = self.models.join("; ");
            page.push(below(format!("models, of {} states at most: {models}", count(self.max_states))));
        }
        page.extend(self.command.clone().map(Block::Command));
        let heads = ["mutant", "from", "fate", "acted", "caught", "first", "by", "model", "steps", "states"];
        let rows = self.mutants.iter().map(row).collect();
        page.extend([Block::Table("Mutants", vec![Group::new(heads, rows)]), Block::Blank, finds(self)]);
        page.push(match self.unmutated.is_empty() {
            true => Line::from("without any: nothing was broken").into(),
            false => Line::from("without any: ").then(Mood::Bad, most_frequent(&self.unmutated)).into(),
        });
        let beyond =
            self.beyond.iter().map(|it| format!("{} ({}, seed {})", it.invariant, it.mutant, it.seed));
        for (title, names) in [
            ("broken after others", beyond.collect()),
            ("broken by none of them under their own names", self.never_broken.clone()),
        ] {
            let line = format!("{title}: {}", names.join(", "));
            page.extend((!names.is_empty()).then(|| Line::from(line).wrapped(2).into()));
        }
        page.extend(self.wrong.iter().map(|wrong| Line::new(Mood::Bad, wrong).into()));
        let mutants = of(self.mutants.len() as u64, "mutant");
        page.push(Line::from(format!("{mutants} in {}", wall(self.wall_seconds))).into());
        let words = match self.answer {
            Answer::Held => "every mutant that should be found was found, by name",
            Answer::Broken | Answer::Undecided => "NOT as it should be",
        };
        page.push(answer(self.answer, words));
        page
    }
}

fn row(mutant: &MutantResult) -> Vec<Cell> {
    let (mood, fate) = match mutant.fate {
        Fate::Killed => (Mood::Good, "killed"),
        Fate::KilledByOthers => (Mood::Odd, "killed by others"),
        Fate::Survived => (Mood::Odd, "survived"),
        Fate::NeverActed => (Mood::Odd, "never acted"),
    };
    let in_model =
        |words: &dyn Fn(&ModelKill) -> String| mutant.model.as_ref().map_or("-".into(), words).into();
    vec![
        Cell::from(&mutant.name).about(&mutant.what),
        mutant.source.as_str().into(),
        Cell::new(mood, fate),
        count(mutant.acted).into(),
        count(mutant.caught).into(),
        mutant.first_seed.map_or("-".into(), |seed| seed.to_string()).into(),
        most_frequent(&mutant.kills).into(),
        in_model(&|kill| kill.invariants.join(", ")),
        in_model(&|kill| count(kill.steps.into())),
        in_model(&|kill| count(kill.states)),
    ]
}

/// The two most frequent, and how many more.
fn most_frequent(kills: &[Kill]) -> String {
    let shown: Vec<String> =
        kills.iter().take(2).map(|kill| format!("{} ({})", kill.invariant, count(kill.seeds))).collect();
    match kills.len().checked_sub(3) {
        Some(more) => format!("{}, {} more", shown.join(", "), more + 1),
        None => shown.join(", "),
    }
}

/// The matrix the other way round.
fn finds(report: &MutantsReport) -> Block {
    let mut finds: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for mutant in &report.mutants {
        for kill in &mutant.kills {
            let words = format!("{} ({})", mutant.name, count(kill.seeds));
            finds.entry(&kill.invariant).or_default().push(words);
        }
    }
    let rows = finds.into_iter().map(|(name, finds)| vec![name.into(), finds.join(", ").into()]).collect();
    let table = Block::Table("", vec![Group::new(["invariant", "mutants"], rows)]);
    Block::Aside("Invariants, and what each found first".into(), vec![table])
}

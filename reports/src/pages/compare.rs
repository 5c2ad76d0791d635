//! Recipes side by side.

use crate::markdown::markdown;
use crate::page::{Block, Cell, Group, Line, Mood, Page, answer, row};
use crate::{
    Answer, CompareReport, ComparedRecipe, Cost, Expected, JudgedPromise, JudgedTrial, Judgement, Report,
    UnderFault, Verdict, count, each_once, of,
};
use std::collections::BTreeSet;

/// How wide a table of promises may be.
const COLUMNS: usize = 80;
/// The widest of its verdicts.
const VERDICT: usize = "not broken yet".len();
/// What a table of promises says, and what that means.
const KEY: [(&str, &str); 6] = [
    ("kept", "it held in the model, which was searched to its end, and in all seeds"),
    ("not broken yet", "it held as far as the search came, which was cut short or ended at a break"),
    ("kept so far *", "it held as far as the search went, and broke only where its assumption failed"),
    ("never tested", "neither the model nor any seed put it to the test"),
    ("not promised", "it is measured, but the recipe does not promise it"),
    ("-", "it is none of its promises, and did not break as an invariant"),
];

/// What recipes cost as a table in Markdown, whoever has judged them: their names and costs.
pub fn costs_markdown<'a>(recipes: impl Iterator<Item = (&'a str, &'a [Cost])>) -> String {
    format!("{}\n{HOW}.\n", markdown(&vec![costs(recipes, Mood::Strong)]))
}

impl Report for CompareReport {
    fn heading(&self) -> String {
        "compare".into()
    }

    fn page(&self) -> Page {
        let about = format!(
            "{} side by side, by the model within each one's bounds (at most {} states), by {} of all faults, and by as \
             many of each fault alone on three servers",
            of(self.recipes.len() as u64, "recipe"),
            count(self.max_states),
            of(self.seeds, "seed"),
        );
        let mut page = vec![Block::Title("compare".into(), about)];
        page.push(what_holds(self));
        let tables: Vec<Block> = beside(&self.recipes).into_iter().map(promises).collect();
        let key = key(&tables);
        page.extend(tables);
        page.extend(notes(unless(self)));
        page.extend(notes(key));
        let of_each = self.recipes.iter().map(|recipe| (&*recipe.judged.name, &*recipe.costs));
        page.push(costs(of_each, Mood::Plain));
        page.extend(notes(vec![HOW.into()]));
        page.push(faults(self));
        page.extend(notes(self.recipes.iter().flat_map(under).collect()));
        page.push(Block::Blank);
        page.extend(self.recipes.iter().flat_map(shortest));
        let words = match self.answer {
            Answer::Held => "each is as the catalogue says",
            Answer::Broken => "NOT as the catalogue says: see 'judge'",
            Answer::Undecided => "undecided: a search had no end, or a promise was never put to the test",
        };
        // How long it took is in report.json alone: the page is the same in any run.
        page.push(answer(self.answer, words));
        page
    }

    /// The costs alone: the same in any run of one build.
    fn table(&self) -> String {
        costs_markdown(self.recipes.iter().map(|recipe| (&*recipe.judged.name, &*recipe.costs)))
    }
}

/// How costs are measured.
const HOW: &str = "One run without faults under seed 1 on three servers: all clients ask at once, for twenty turns together, \
                   and work for 100 ms in each. Requests and wakes are those of a turn, by how many clients there are; a \
                   hand-over takes so many ms from giving back to the next grant (the median with 5 clients), by the \
                   latency of a message; left are so many znodes after the run with 20 clients";

fn notes(notes: Vec<String>) -> impl Iterator<Item = Block> {
    notes.into_iter().map(|note| Line::from(note).indent(2).wrapped(4).into())
}

fn what_holds(report: &CompareReport) -> Block {
    let row = |recipe: &ComparedRecipe| {
        let judged = &recipe.judged;
        let known = judged.catalogued.as_ref().map_or(String::new(), |known| known.defect.clone());
        let name = Cell::from(&judged.name).about(&judged.about);
        vec![name, model(judged), seeds(judged, report.seeds), known.into()]
    };
    let rows = report.recipes.iter().map(row).collect();
    Block::Table("What holds", vec![Group::new(["recipe", "model", "seeds", "known as"], rows)])
}

fn model(judged: &JudgedTrial) -> Cell {
    match judged.model {
        Judgement::Holds => Cell::new(Mood::Good, format!("holds, {} states", count(judged.states))),
        Judgement::Violated => {
            let steps = shortest_by_model(judged).and_then(|promise| promise.steps).unwrap_or(0);
            Cell::new(Mood::Bad, format!("BROKEN in {}", of(steps.into(), "step")))
        }
        Judgement::Undecided => Cell::new(Mood::Odd, "undecided"),
        Judgement::NotDetermined => Cell::new(Mood::Odd, "not determined"),
    }
}

/// The worst that seeds did to one promise.
fn seeds(judged: &JudgedTrial, seeds: u64) -> Cell {
    match judged.promises.iter().map(|promise| promise.broken).max() {
        None | Some(0) => Cell::new(Mood::Good, "held"),
        Some(most) => Cell::new(Mood::Bad, format!("BROKEN in {} of {}", count(most), count(seeds))),
    }
}

fn shortest_by_model(judged: &JudgedTrial) -> Option<&JudgedPromise> {
    let broken = |promise: &&JudgedPromise| promise.model == Verdict::Broken && promise.steps.is_some();
    let known = judged.catalogued.as_ref().map(|known| &*known.promise);
    // What it is known for comes first.
    let by = |promise: &&JudgedPromise| (Some(&*promise.name) != known, promise.steps);
    judged.promises.iter().filter(broken).min_by_key(by)
}

/// As many recipes at a time as a table has room for.
fn beside(recipes: &[ComparedRecipe]) -> Vec<&[ComparedRecipe]> {
    let promises = recipes.iter().flat_map(|recipe| &recipe.judged.promises);
    let first = promises.map(|promise| promise.name.len()).max().unwrap_or(0);
    let (mut tables, mut rest) = (Vec::new(), recipes);
    while !rest.is_empty() {
        let mut width = first;
        let fits = rest.iter().take_while(|recipe| {
            width += 2 + recipe.judged.name.len().max(VERDICT);
            width <= COLUMNS
        });
        let (table, others) = rest.split_at(fits.count().max(1));
        tables.push(table);
        rest = others;
    }
    tables
}

/// What the verdicts mean that are in these tables.
fn key(tables: &[Block]) -> Vec<String> {
    let groups =
        tables.iter().flat_map(|block| if let Block::Table(_, groups) = block { &groups[..] } else { &[] });
    let cells: BTreeSet<&str> =
        groups.flat_map(|group| &group.rows).flatten().map(|cell| &*cell.words).collect();
    let used = KEY.iter().filter(|(word, _)| cells.contains(word));
    used.map(|(word, meaning)| format!("{word}: {meaning}")).collect()
}

/// A few recipes beside one another, promise by promise.
fn promises(recipes: &[ComparedRecipe]) -> Block {
    let all = recipes.iter().flat_map(|recipe| &recipe.judged.promises);
    let names = each_once(all.map(|promise| promise.name.as_str()));
    let cell = |name: &str, recipe: &ComparedRecipe| {
        let promise = recipe.judged.promises.iter().find(|promise| promise.name == name);
        let is_whole = recipe.judged.model != Judgement::Undecided;
        promise.map_or_else(|| Cell::from("-"), |promise| verdict(promise, is_whole))
    };
    let row = |name: &&str| row(*name, recipes.iter().map(|recipe| cell(name, recipe)));
    let mut group = Group::new(["promise"], names.iter().map(row).collect());
    group.heads.extend(recipes.iter().map(|recipe| recipe.judged.name.clone()));
    Block::Table("Promises", vec![group])
}

/// What both engines say of a promise: the worse of the two. `is_whole` if the model's search came to an answer.
fn verdict(promise: &JudgedPromise, is_whole: bool) -> Cell {
    let either = |verdict| promise.model == verdict || promise.chaos == verdict;
    if either(Verdict::Broken) {
        Cell::new(Verdict::Broken, "BROKEN")
    } else if is_measured(promise) {
        Cell::new(Mood::Plain, "not promised")
    } else if either(Verdict::BrokenAsExpected) {
        let words = if is_whole { "kept, unless *" } else { "kept so far *" };
        Cell::new(Verdict::BrokenAsExpected, words)
    } else if either(Verdict::Undecided) {
        Cell::new(Verdict::Undecided, "undecided")
    } else if (promise.expected == Expected::Either || !is_whole) && either(Verdict::Held) {
        Cell::new(Mood::Plain, "not broken yet")
    } else if either(Verdict::Held) {
        Cell::new(Verdict::Held, "kept")
    } else {
        Cell::new(Verdict::NeverTested, "never tested")
    }
}

/// Whether it is looked at though the recipe does not promise it.
fn is_measured(promise: &JudgedPromise) -> bool {
    promise.assumptions.iter().any(|assumption| assumption == super::parts::PROMISED)
}

/// Under which assumptions promises are kept.
fn unless(report: &CompareReport) -> Vec<String> {
    let mut all = BTreeSet::new();
    for promise in report.recipes.iter().flat_map(|recipe| &recipe.judged.promises) {
        if !promise.assumptions.is_empty() && !is_measured(promise) {
            let assumptions = promise.assumptions.join("; and that ");
            all.insert(format!("* {} assumes that {assumptions}", promise.name));
        }
    }
    all.into_iter().collect()
}

fn costs<'a>(recipes: impl Iterator<Item = (&'a str, &'a [Cost])>, mood: Mood) -> Block {
    let row = |(name, costs): (&str, &[Cost])| {
        let at = |clients: u64, latency_ms: f64| {
            costs.iter().find(|cost| cost.clients == clients && cost.latency_ms == latency_ms)
        };
        let a_turn = |clients, number: fn(&Cost) -> u64| {
            at(clients, 1.0).map_or_else(String::new, |cost| per(number(cost), cost.turns))
        };
        let hand_over = |latency_ms| match at(5, latency_ms).and_then(|cost| cost.hand_over_us) {
            Some(us) => format!("{:.1}", us as f64 / 1000.0),
            None => "-".into(),
        };
        let left = at(20, 1.0).map_or_else(String::new, |cost| count(cost.left));
        let numbers = [
            a_turn(1, |cost| cost.requests),
            a_turn(5, |cost| cost.requests),
            a_turn(20, |cost| cost.requests),
            a_turn(5, |cost| cost.wakes),
            a_turn(20, |cost| cost.wakes),
            hand_over(1.0),
            hand_over(50.0),
            left,
        ];
        row(Cell::new(mood, name), numbers.map(Cell::from))
    };
    let heads = ["recipe", "requests: 1", "5", "20", "wakes: 5", "20", "ms at: 1", "50", "left"];
    Block::Table("What a turn costs", vec![Group::new(heads, recipes.map(row).collect())])
}

/// So many for each turn.
fn per(number: u64, turns: u64) -> String {
    match turns {
        0 => "-".into(),
        turns => format!("{:.1}", number as f64 / turns as f64),
    }
}

fn faults(report: &CompareReport) -> Block {
    let cell = |under: &UnderFault| match under.verdict {
        Verdict::Held | Verdict::NeverTested => Cell::new(Verdict::Held, "held"),
        Verdict::BrokenAsExpected | Verdict::Undecided => Cell::new(under.verdict, "as expected"),
        Verdict::Broken => Cell::new(under.verdict, "BROKEN"),
    };
    let row = |recipe: &ComparedRecipe| row(&recipe.judged.name, recipe.faults.iter().map(cell));
    let mut group = Group::new(["under"], report.recipes.iter().map(row).collect());
    let kinds = report.recipes.first().map_or(&[][..], |recipe| &recipe.faults);
    group.heads.extend(kinds.iter().map(|under| under.fault.clone()));
    Block::Table("Each fault alone", vec![group])
}

/// What breaks a recipe under which fault.
fn under(recipe: &ComparedRecipe) -> Vec<String> {
    let mut all = Vec::new();
    for under in &recipe.faults {
        for broken in under.broken.iter().filter(|broken| broken.owed > 0) {
            let seeds = of(broken.owed, "seed");
            all.push(format!(
                "{}, {}: {} broken in {seeds}",
                recipe.judged.name, under.fault, broken.promise
            ));
        }
    }
    all
}

/// The shortest run that breaks a recipe, for those that break.
fn shortest(recipe: &ComparedRecipe) -> Vec<Block> {
    let judged = &recipe.judged;
    let by_model = shortest_by_model(judged);
    let by_chaos = || judged.promises.iter().find_map(|it| Some((&it.name, it.first_seed?)));
    let (promise, how, command) = match (by_model, by_chaos()) {
        (Some(promise), _) => {
            let steps = of(promise.steps.unwrap_or(0).into(), "step");
            (&promise.name, format!(" in {steps}"), format!("zoocheck check {}", judged.name))
        }
        (None, Some((name, seed))) => {
            (name, format!(" under seed {seed}"), format!("zoocheck shrink {} --seed {seed}", judged.name))
        }
        (None, None) => return Vec::new(),
    };
    let defect = judged.catalogued.as_ref().map_or(String::new(), |known| format!(" ({})", known.defect));
    let words = format!("{} breaks {promise}{how}{defect}", judged.name);
    vec![Line::from(words).wrapped(2).into(), Line::new(Mood::Strong, command).indent(2).into()]
}

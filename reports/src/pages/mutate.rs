//! How strong promises are.

use crate::markdown::markdown;
use crate::mutate::{MutateReport, MutateTally, MutatedRecipe, MutationFate, MutationResult};
use crate::page::{Block, Cell, Group, Line, Mood, Page, answer, row};
use crate::report::Report;
use crate::words::{count, each_once, of};

impl Report for MutateReport {
    fn heading(&self) -> String {
        "mutate".into()
    }

    fn page(&self) -> Page {
        let mut page: Page = self.recipes.iter().flat_map(|it| recipe(it, self.seeds)).collect();
        for (recipe, mutation) in survivors(self) {
            let (head, lines) = survivor(recipe, mutation);
            let lines = lines.into_iter().map(|line| format!("  {line}")).collect();
            page.extend([Line::new(Mood::Bad, head).into(), Block::Told(lines), Block::Blank]);
        }
        page.push(answer(self.answer, self.tally().words()));
        page
    }

    /// For a file beside the code: recipes × kinds, then each survivor.
    fn table(&self) -> String {
        let how = format!(
            "Killed of those not equivalent, by {} each and by models of at most {} states; the first {} occasions of \
             each kind. ",
            of(self.seeds, "seed"),
            count(self.max_states),
            self.occasions
        );
        let how = Line::from(how).then(Mood::Strong, "=").then(Mood::Plain, ": all are equivalent; ");
        let how = how.then(Mood::Strong, "?").then(Mood::Plain, ": so many are not decided.");
        let promise = |recipe: &MutatedRecipe, (promise, kills): (&str, usize)| {
            let name = Cell::new(Mood::Strong, &recipe.name);
            vec![name, Cell::from(&recipe.bounds), promise.into(), kills.to_string().into()]
        };
        let promises =
            self.recipes.iter().flat_map(|it| kills(it).into_iter().map(move |one| promise(it, one)));
        let promises = Group::new(["recipe", "models with", "promise", "kills"], promises.collect());
        let mut page = vec![
            Line::from(format!("{}.", self.tally().words())).into(),
            how.into(),
            Block::Table("", vec![kinds(self)]),
            Block::Title("By promise".into(), String::new()),
            Block::Table("", vec![promises]),
            Block::Title("Survivors".into(), String::new()),
        ];
        page.extend(survivors(self).map(|(recipe, mutation)| {
            let (head, lines) = survivor(recipe, mutation);
            Block::Card(Line::from(head), vec![Block::Told(lines)])
        }));
        markdown(&page)
    }
}

fn recipe(recipe: &MutatedRecipe, seeds: u64) -> Page {
    let MutatedRecipe { name, bounds, states, .. } = recipe;
    let seeds = of(seeds, "seed");
    let models = match bounds.as_str() {
        "" => format!("{seeds} each, and no model: none of the recipe itself came to an end"),
        bounds => format!("{seeds} each, and models with {bounds} ({} states)", count(*states)),
    };
    let mut page = vec![Block::Title(name.clone(), models)];
    let broken = recipe.broken.join(", ");
    let broken = format!("the recipe itself breaks {broken}, which kills nothing");
    page.extend((!recipe.broken.is_empty()).then(|| Line::from(broken).into()));
    let row = |mutation: &MutationResult| {
        let (mood, word, by) = verdict(mutation);
        vec![what(mutation).into(), Cell::from(&mutation.place), Cell::new(mood, word), by.into()]
    };
    let rows = recipe.mutations.iter().map(row).collect();
    page.extend([Block::Table("", vec![Group::new(["mutation", "at", "", "by"], rows)]), Block::Blank]);
    page
}

/// What became of it, and by whom or why.
fn verdict(mutation: &MutationResult) -> (Mood, &'static str, String) {
    let by = mutation.killed.as_ref().map(|killed| {
        let how = match (killed.seed, killed.steps) {
            (Some(seed), _) => format!(", seed {seed}"),
            (None, Some(steps)) => format!(", model in {}", of(steps.into(), "step")),
            (None, None) => String::new(),
        };
        format!("{}{how}", killed.promise)
    });
    match mutation.fate {
        MutationFate::Killed => (Mood::Good, "killed", by.unwrap_or_default()),
        MutationFate::Equivalent => (Mood::Plain, "equivalent", String::new()),
        MutationFate::NotReached => (Mood::Plain, "not reached", String::new()),
        MutationFate::NotDecided => (Mood::Odd, "not decided", mutation.why.clone().unwrap_or_default()),
        MutationFate::Survived => (Mood::Bad, "SURVIVES", String::new()),
    }
}

fn what(mutation: &MutationResult) -> String {
    format!("{} {}", mutation.kind, mutation.nth)
}

/// What is said of a survivor.
fn survivor(recipe: &MutatedRecipe, mutation: &MutationResult) -> (String, Vec<String>) {
    let head = format!("{}: {} at {} survives", recipe.name, what(mutation), mutation.place);
    let mut lines = vec![match mutation.lost {
        true => "the recipe itself can do this, and the mutated one cannot:".to_owned(),
        false => "it can do this, and the recipe itself cannot:".to_owned(),
    }];
    lines.extend(mutation.run.iter().enumerate().map(|(nth, step)| format!("{:>3}. {step}", nth + 1)));
    lines.push(match &mutation.noticed_by[..] {
        [] => format!("no promise of the library notices it; tried: {}", listed(&recipe.library)),
        noticed => format!("the library's {} would notice it", noticed.join(", ")),
    });
    (head, lines)
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// Each survivor with its recipe.
fn survivors(report: &MutateReport) -> impl Iterator<Item = (&MutatedRecipe, &MutationResult)> {
    let all = report.recipes.iter().flat_map(|recipe| recipe.mutations.iter().map(move |it| (recipe, it)));
    all.filter(|(_, mutation)| mutation.fate == MutationFate::Survived)
}

/// Kinds of mutations × recipes.
fn kinds(report: &MutateReport) -> Group {
    let all = report.recipes.iter().flat_map(|recipe| &recipe.mutations);
    let kinds = each_once(all.map(|mutation| mutation.kind.as_str()));
    let cell = |recipe: &MutatedRecipe, kind: &str| {
        let tally = MutateTally::of(recipe.mutations.iter().filter(|mutation| mutation.kind == kind));
        let open = if tally.undecided > 0 { format!(" {}?", tally.undecided) } else { String::new() };
        match (tally.all, tally.killed + tally.survived) {
            (0, _) => String::new(),
            (_, 0) if tally.undecided == 0 => "=".into(),
            (_, decided) => format!("{}/{decided}{open}", tally.killed),
        }
    };
    let row = |kind: &&str| row(*kind, report.recipes.iter().map(|recipe| cell(recipe, kind).into()));
    let mut group = Group::new([""], kinds.iter().map(row).collect());
    group.heads.extend(report.recipes.iter().map(|recipe| format!("`{}`", recipe.name)));
    group
}

/// How many each promise kills, most first.
fn kills(recipe: &MutatedRecipe) -> Vec<(&str, usize)> {
    let mut kills: Vec<(&str, usize)> = Vec::new();
    for killed in recipe.mutations.iter().filter_map(|mutation| mutation.killed.as_ref()) {
        match kills.iter_mut().find(|(promise, _)| *promise == killed.promise) {
            Some((_, kills)) => *kills += 1,
            None => kills.push((&killed.promise, 1)),
        }
    }
    kills.sort_by_key(|(promise, kills)| (std::cmp::Reverse(*kills), *promise));
    kills
}

//! How strong the promises of recipes are: slips on purpose, and what became of each.

use crate::{Answer, count, of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of [`MutateReport`]'s JSON.
pub const MUTATE_SCHEMA: &str = "zoocheck-mutate/1";

/// Recipes × mutations. A function of the build and of what was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MutateReport {
    /// [`MUTATE_SCHEMA`].
    pub schema: String,
    /// How many seeds each mutation was given, from 0.
    pub seeds: u64,
    /// After how many states a search was cut short.
    pub max_states: u64,
    /// How many occasions of each kind were tried.
    pub occasions: u8,
    /// How many of a hundred mutations that are not equivalent are to be killed.
    pub at_least: u8,
    /// Each recipe.
    pub recipes: Vec<MutatedRecipe>,
    /// Held if enough are killed, whatever became of those that are not decided; broken if too few are.
    pub answer: Answer,
}

/// One recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MutatedRecipe {
    /// Its name.
    pub name: String,
    /// The bounds of the models that were explored to their end.
    pub bounds: String,
    /// How many states the model of the recipe itself has.
    pub states: u64,
    /// Promises that the recipe itself does not keep: they kill nothing.
    pub broken: Vec<String>,
    /// Promises of the library, beyond its own, that it keeps: they were tried on what survives.
    pub library: Vec<String>,
    /// What was done to it.
    pub mutations: Vec<MutationResult>,
}

/// One mutation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MutationResult {
    /// What goes wrong.
    pub kind: String,
    /// At which occasion in a process's life, from 1.
    pub nth: u8,
    /// Where that was seen first.
    pub place: String,
    /// What became of it.
    pub fate: MutationFate,
    /// What noticed it.
    pub killed: Option<Killed>,
    /// Why it is not decided.
    pub why: Option<String>,
    /// For a survivor: a run that only one of the two recipes has, as seen from outside, step by step.
    pub run: Vec<String>,
    /// For a survivor: whether that run is one of the recipe itself, which the mutated one has lost.
    pub lost: bool,
    /// Of a survivor: promises of the library, beyond the recipe's own, that notice it.
    pub noticed_by: Vec<String>,
}

/// What noticed a mutation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Killed {
    /// A promise, or an invariant.
    pub promise: String,
    /// Under which seed.
    pub seed: Option<u64>,
    /// In how many steps of the model.
    pub steps: Option<u32>,
}

/// What became of a mutation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MutationFate {
    /// A promise was broken, or was not put to the test any more.
    Killed,
    /// All that is seen of it from outside is seen of the recipe itself, and the other way round.
    Equivalent,
    /// A search was cut short.
    NotDecided,
    /// Its occasion never came.
    #[default]
    NotReached,
    /// It makes a difference, and no promise notices.
    Survived,
}

/// How many mutations had which fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MutateTally {
    /// All whose occasion came.
    pub all: u64,
    /// See [`MutationFate`].
    pub killed: u64,
    /// See [`MutationFate`].
    pub equivalent: u64,
    /// See [`MutationFate`].
    pub undecided: u64,
    /// See [`MutationFate`].
    pub survived: u64,
    /// See [`MutationFate`].
    pub unreached: u64,
}

impl MutateTally {
    /// The tally of these mutations.
    pub fn of<'a>(mutations: impl IntoIterator<Item = &'a MutationResult>) -> MutateTally {
        let mut tally = MutateTally::default();
        for mutation in mutations {
            tally.all += u64::from(mutation.fate != MutationFate::NotReached);
            *match mutation.fate {
                MutationFate::Killed => &mut tally.killed,
                MutationFate::Equivalent => &mut tally.equivalent,
                MutationFate::NotDecided => &mut tally.undecided,
                MutationFate::Survived => &mut tally.survived,
                MutationFate::NotReached => &mut tally.unreached,
            } += 1;
        }
        tally
    }

    /// Whether at least `at_least` percent of the mutations that are not equivalent are killed. Undecided if that
    /// depends on undecided ones.
    pub fn answer(self, at_least: u8) -> Answer {
        let is_enough = |of: u64| self.killed * 100 >= u64::from(at_least) * of;
        let decided = self.killed + self.survived;
        match (is_enough(decided + self.undecided), is_enough(decided)) {
            // Nothing was there to be noticed.
            _ if decided == 0 => Answer::Undecided,
            (true, _) => Answer::Held,
            (false, true) => Answer::Undecided,
            (false, false) => Answer::Broken,
        }
    }

    /// In words.
    pub(crate) fn words(self) -> String {
        let MutateTally { all, killed, equivalent, undecided, survived, unreached } = self;
        let share = match killed + survived {
            0 => "-".to_owned(),
            // Rounded down: 97 % is never said of less.
            n => format!("{}.{}", killed * 100 / n, killed * 1000 / n % 10),
        };
        let all = of(all, "mutation");
        let unreached = if unreached > 0 { format!("; {unreached} not reached") } else { String::new() };
        format!(
            "{all}: {} killed, {} equivalent, {} not decided, {} survive: {share} % of those decided and not equivalent{unreached}",
            count(killed),
            count(equivalent),
            count(undecided),
            count(survived)
        )
    }
}

impl MutateReport {
    /// How many of its mutations had which fate.
    pub fn tally(&self) -> MutateTally {
        MutateTally::of(self.recipes.iter().flat_map(|recipe| &recipe.mutations))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_decided_counts_only_where_it_can_change_the_answer() {
        let answer = |killed, survived, undecided| {
            MutateTally { killed, survived, undecided, ..MutateTally::default() }.answer(97)
        };
        assert_eq!((answer(97, 3, 0), answer(96, 3, 0)), (Answer::Held, Answer::Broken));
        assert_eq!((answer(97, 0, 3), answer(97, 0, 4)), (Answer::Held, Answer::Undecided));
        assert_eq!((answer(96, 4, 9), answer(0, 0, 0)), (Answer::Broken, Answer::Undecided));
    }

    #[test]
    fn a_share_is_rounded_down() {
        let tally = MutateTally { all: 32, killed: 31, survived: 1, ..MutateTally::default() };
        assert!(
            tally.words().ends_with("1 survive: 96.8 % of those decided and not equivalent"),
            "{}",
            tally.words()
        );
    }
}

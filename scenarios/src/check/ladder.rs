//! What to ask of a model once it holds: a little more of what has broken most recipes.

use crate::shell::{shell_word, with};
use zk_harness::trial::{About, Bounds};
use zk_model::{CheckConfig, Engine};

/// A bound, by its option.
type Bound = (&'static str, fn(&mut Bounds) -> &mut u8);

const CLIENTS: Bound = ("--clients", |bounds| &mut bounds.clients);
const ROUNDS: Bound = ("--rounds", |bounds| &mut bounds.rounds);
const EXPIRIES: Bound = ("--expiries", |bounds| &mut bounds.expiries);
const DROPS: Bound = ("--drops", |bounds| &mut bounds.drops);
const CRASHES: Bound = ("--crashes", |bounds| &mut bounds.crashes);
const RESTARTS: Bound = ("--restarts", |bounds| &mut bounds.restarts);
const PAUSES: Bound = ("--pauses", |bounds| &mut bounds.pauses);
const ADMIN: Bound = ("--admin", |bounds| &mut bounds.admin);
const LAG: Bound = ("--lag", |bounds| &mut bounds.lag);

const BOUNDS: [Bound; 9] = [CLIENTS, ROUNDS, EXPIRIES, DROPS, CRASHES, RESTARTS, PAUSES, ADMIN, LAG];

/// A rung: a bound, and at least how much of it.
type Rung = (Bound, u8);

/// What every recipe has to bear: each rung on top of those before it.
const FIRST: [Rung; 4] = [(CLIENTS, 2), (DROPS, 1), (EXPIRIES, 1), (LAG, 1)];

/// What comes then, each by itself: a recipe that breaks mostly breaks by one of them, and all together are too much
/// for any search.
const ALONE: [&[Rung]; 8] = [
    &[(ROUNDS, 2)],
    &[(CLIENTS, 3)],
    &[(CRASHES, 1), (RESTARTS, 1)],
    &[(LAG, 2)],
    &[(DROPS, 2)],
    &[(EXPIRIES, 2)],
    &[(PAUSES, 1)],
    &[(CRASHES, 2)],
];

fn reaches(mut bounds: Bounds, rungs: &[Rung]) -> bool {
    rungs.iter().all(|((_, bound), least)| *bound(&mut bounds) >= *least)
}

/// The bounds of the next rung; `own` are those that a trial names.
fn above(mut own: Bounds, mut bounds: Bounds) -> Option<Bounds> {
    let climb = |bounds: &mut Bounds, rungs: &[Rung]| {
        rungs.iter().for_each(|((_, bound), least)| *bound(bounds) = (*bound(bounds)).max(*least));
    };
    if let Some(first) = FIRST.iter().find(|rung| !reaches(bounds, &[**rung])) {
        climb(&mut bounds, &[*first]);
        return Some(bounds);
    }
    let last = ALONE.iter().rposition(|rungs| reaches(bounds, rungs) && !reaches(own, rungs));
    for ((_, bound), _) in last.iter().flat_map(|last| ALONE[*last]) {
        *bound(&mut bounds) = *bound(&mut own);
    }
    let mut later = ALONE[last.map_or(0, |last| last + 1)..].iter();
    let next = later.find(|rungs| !reaches(bounds, rungs))?;
    climb(&mut bounds, next);
    Some(bounds)
}

/// The command for the rung above these bounds; `None` on the last. When to give up is not said again.
pub(super) fn next(what: &str, about: &About, config: &CheckConfig) -> Option<String> {
    let mut bounds = above(about.bounds, config.bounds)?;
    let mut words = vec!["zoocheck".to_owned(), "check".to_owned(), shell_word(what)];
    let mut own = about.bounds;
    for (option, bound) in BOUNDS {
        let most = *bound(&mut bounds);
        // What an administrator may change is typed with how often he does.
        if most != *bound(&mut own) || option == ADMIN.0 && config.admin_parents {
            words.extend([option.to_owned(), most.to_string()]);
        }
    }
    words.extend(options(about, config).map(String::from));
    Some(words.join(" ") + &with("--promise", &config.promise))
}

/// The options that are no bounds, of those that change what is explored.
fn options(about: &About, config: &CheckConfig) -> impl Iterator<Item = &'static str> {
    let (ours, own) = (config.reductions, about.reductions);
    let is_less = own.eager && !ours.eager || own.symmetry && !ours.symmetry;
    let options = [
        (config.admin_parents, "--admin-parents"),
        (!config.stale_syncs, "--true-syncs"),
        (!config.false_expiries, "--true-ends"),
        (is_less, "--full"),
        (ours.eager && !own.eager, "--eager"),
        (ours.symmetry && !own.symmetry, "--symmetry"),
        (!config.keys, "--no-keys"),
        (!config.memo, "--no-memo"),
        (!config.effects, "--no-effects"),
        (!config.livelock, "--no-livelock"),
        (config.true_zxids, "--true-zxids"),
        (config.engine == Engine::Stateright, "--engine=stateright"),
    ];
    options.into_iter().filter(|(is, _)| *is).map(|(_, option)| option)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::default_config;

    const ABOUT: About = About::new("mine", "A recipe of one's own.");

    fn after(change: impl Fn(&mut CheckConfig)) -> Option<String> {
        let mut config = default_config(&ABOUT);
        change(&mut config);
        next("mine", &ABOUT, &config)
    }

    #[test]
    fn each_rung_is_reached_by_the_command_that_the_former_tells() {
        let mut config = default_config(&ABOUT);
        config.bounds = Bounds { effects: true, ..Bounds::clients(1) };
        let mut told = Vec::new();
        while let Some(command) = next("mine", &ABOUT, &config) {
            let words: Vec<&str> = command.split(' ').collect();
            assert_eq!(words[..3], ["zoocheck", "check", "mine"]);
            config.bounds = Bounds { effects: true, ..ABOUT.bounds };
            for option in words[3..].chunks(2) {
                let (_, bound) = BOUNDS.into_iter().find(|(name, _)| *name == option[0]).expect("an option");
                *bound(&mut config.bounds) = option[1].parse().expect("a number");
            }
            told.push(words[3..].join(" "));
        }
        let rungs = [
            "--expiries 0 --drops 0 --lag 0",
            "--expiries 0 --lag 0",
            "--lag 0",
            "",
            "--rounds 2",
            "--clients 3",
            "--crashes 1 --restarts 1",
            "--lag 2",
            "--drops 2",
            "--expiries 2",
            "--pauses 1",
            "--crashes 2",
        ];
        assert_eq!(told, rungs);
    }

    #[test]
    fn what_was_asked_for_is_asked_for_again() {
        assert_eq!(after(|_| {}).as_deref(), Some("zoocheck check mine --rounds 2"));
        let asked = after(|config| {
            (config.promise, config.bounds.clients) = (Some("fifo".into()), 4);
            (config.stale_syncs, config.admin_parents, config.bounds.admin) = (false, true, 1);
        });
        let expected = "zoocheck check mine --crashes 1 --restarts 1 --admin 1 --admin-parents --true-syncs --promise fifo";
        assert_eq!(asked.as_deref(), Some(expected));
    }
}

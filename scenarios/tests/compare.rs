//! Recipes side by side.
#![cfg(feature = "run")]

use crate::common::zoocheck;
use zoocheck::reports::CompareReport;

#[test]
fn figures_are_measured_twice_alike_and_the_herd_shows_in_them() {
    let compare = || zoocheck("compare lock lock/simple-looped --seeds 3 --format json");
    let (first, again) = (compare().json::<CompareReport>(), compare().json::<CompareReport>());
    let without_time = |mut report: serde_json::Value| {
        report["wall_seconds"] = 0.into();
        report
    };
    assert_eq!(without_time(first.clone()), without_time(again));
    let cost = |recipe: usize, at: usize, key: &str| {
        first["recipes"][recipe]["costs"][at][key].as_f64().expect("it was measured")
    };
    let (lock, looped) = (0, 1);
    // A turn for each of 20 clients; each release wakes one, or all that wait.
    for recipe in [lock, looped] {
        assert_eq!((cost(recipe, 2, "clients"), cost(recipe, 2, "turns")), (20.0, 20.0));
    }
    assert!(cost(lock, 2, "wakes") <= 20.0, "{first}");
    assert!(cost(looped, 2, "wakes") > 5.0 * 20.0, "{first}");
    // A message takes fifty times as long, and a turn is handed over by several.
    assert!(cost(lock, 3, "hand_over_us") > 20.0 * cost(lock, 1, "hand_over_us"), "{first}");
    assert_eq!((cost(lock, 2, "left"), cost(looped, 2, "left")), (0.0, 0.0));
}

#[test]
fn a_person_sees_what_holds_what_it_costs_and_what_breaks() {
    let ran = zoocheck("compare lock try-lock lock/simple --seeds 20");
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    for expected in [
        "\nrecipe",
        "\npromise",
        "\nexclusion-among-live-sessions   kept            kept            not broken yet\n",
        "requests: 1",
        "connection loss",
        "lock/simple breaks no-waiter-stuck",
        "(S-070)\n  zoocheck check lock/simple\n",
    ] {
        assert!(ran.stdout.contains(expected), "{expected}\n{}", ran.stdout);
    }
    assert_eq!(ran.stdout.lines().last(), Some("each is as the catalogue says"));
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
}

#[test]
fn a_family_stands_for_all_its_variants_each_once() {
    let ran = zoocheck("compare barrier/ barrier --seeds 1 --max-states 10 --format json");
    let report = ran.json::<CompareReport>();
    let names = |report: &serde_json::Value| -> Vec<String> {
        let recipes = report["recipes"].as_array().expect("a list").iter();
        recipes.filter_map(|recipe| recipe["judged"]["name"].as_str().map(String::from)).collect()
    };
    let names = names(&report);
    assert_eq!(names[0], "barrier");
    assert!(names.len() > 3 && names[1..].iter().all(|name| name.starts_with("barrier/")), "{names:?}");
    // A search that is cut short is no answer.
    let right = zoocheck("compare barrier --seeds 20 --max-states 10");
    assert_eq!(right.status, 3, "{}", right.stdout);
    assert!(
        right.stdout.contains("not broken yet\n") && !right.stdout.contains(" kept\n"),
        "{}",
        right.stdout
    );
    assert!(
        right.stdout.lines().last().is_some_and(|line| line.starts_with("undecided: ")),
        "{}",
        right.stdout
    );
}

#[test]
fn what_nobody_has_is_told_in_one_line() {
    for (words, said) in [
        ("compare locc", "did you mean 'lock'?"),
        ("compare locc/", "did you mean 'lock'?"),
        ("compare", "required arguments were not provided"),
        ("compare lock --seeds 0", "--seeds"),
    ] {
        let ran = zoocheck(words);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{words}: {}", ran.stderr);
    }
}

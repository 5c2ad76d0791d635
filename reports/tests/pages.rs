//! Pages, summaries and annotations: whatever users named is text in them, and nothing else.

use crate::sample::{HOSTILE, diagram, sweep};
use zk_reports::{
    Answer, CheckedPromise, Diagram, ENSEMBLE_SCHEMA, EnsembleBounds, EnsembleReport, Fate, Happened,
    Judgement, Kill, LIVE_SCHEMA, Limits, LiveBreak, LivePromise, LiveReport, MERMAID_KEPT, MUTANTS_SCHEMA,
    Missing, MutantResult, MutantsReport, Paint, Path, Reached, Report, SweepReport, Verdict, annotations,
    junit, mermaid, to_json, write_report,
};

#[test]
fn a_znode_called_script_is_text_on_a_page() {
    let html = sweep(2, 30).html();
    assert_eq!(html.matches("<script>").count(), 1, "the page's own");
    assert_eq!(html.matches("</script>").count(), 1);
    assert!(!html.contains("<img"));
    assert!(html.contains("&#60;/script&#62;"), "it is there, escaped");
    assert!(html.contains("{{7*7}}"), "and no template either");
}

#[test]
fn a_page_names_nothing_outside_itself() {
    let html = sweep(2, 30).html();
    for outside in ["http:", "https:", "//", "url(", "@import", "src="] {
        // What users wrote is text, and comments are comments.
        let page = html.replace("onerror", "").replace("src=x", "").replace("url(#", "");
        let found = page.lines().find(|line| line.contains(outside) && !line.trim_start().starts_with("//"));
        assert_eq!(found, None, "{outside}");
    }
    assert!(html.contains("default-src &#39;none&#39;") || html.contains("default-src &#x27;none&#x27;"));
}

#[test]
fn the_largest_page_stays_small() {
    let report = sweep(30, 1000);
    let pictures = report.failures.iter().filter(|failure| failure.diagram.is_some()).count();
    assert_eq!(pictures, SweepReport::DRAWN);
    let html = report.html();
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    assert!(html.matches("<svg class=\"body\"").count() == SweepReport::DRAWN);
}

#[test]
fn a_picture_marks_what_never_arrived_and_knows_the_znodes_of_all_that_happens() {
    let diagram = diagram(30);
    let lost = diagram.arrows.iter().filter(|arrow| arrow.arrived.is_none()).count();
    let mut report = sweep(1, 5);
    report.draw(|_, _| None);
    report.promises[0].first_expected = None;
    report.failures[0].diagram = Some(diagram);
    let html = report.html();
    let body = html
        .split("<svg class=\"body\"")
        .nth(1)
        .and_then(|rest| rest.split("</svg>").next())
        .expect("a picture");
    assert!(lost > 0 && body.matches(" lost\"").count() == lost, "{lost}");
    assert_eq!(body.matches("url(#cross)").count(), lost);
    let points: Vec<&str> = body.split("<g class=\"p ").skip(1).collect();
    for point in points.iter().filter(|point| !point.starts_with("broken")) {
        assert!(!point.contains("data-z=\"\""), "{point}");
    }
}

#[test]
fn what_broke_comes_with_its_commands_and_with_more_seeds_of_the_same() {
    let html = sweep(1, 5).html();
    assert!(html.contains("--seed 0 --promise exclusion --keep"), "{html}");
    let listed = |seed: u64| html.contains(&format!("<td class=\"number\" data-name=\"seed\">{seed}</td>"));
    assert!(!listed(0), "that of the picture");
    assert!((1..=10).all(listed) && !listed(11));
}

#[test]
fn only_the_first_break_of_each_promise_is_drawn() {
    let report = sweep(2, 5);
    let drawn = |one: &&zk_reports::Failure| one.diagram.is_some();
    let drawn: Vec<_> = report.failures.iter().filter(drawn).map(|one| (&*one.promise, one.seed)).collect();
    assert_eq!(drawn, [("exclusion", 0), ("promise-1", 0)]);
    assert!(report.promises.iter().all(|one| one.first_expected.as_ref().unwrap().diagram.is_some()));
    // Drawn again, it is what it was: nothing is asked for twice.
    let mut again = report.clone();
    again.draw(|_, _| panic!("it is there"));
    assert_eq!(again, report);
}

#[test]
fn a_page_is_the_same_from_json_that_was_saved() {
    let report = sweep(2, 30);
    let again: SweepReport = serde_json::from_str(&to_json(&report)).expect("it reads what it wrote");
    assert_eq!(again.html(), report.html());
}

#[test]
fn a_summary_names_what_broke_and_how_to_see_it_again() {
    let text = sweep(2, 5).markdown();
    assert!(text.contains("| exclusion | 🔴 BROKEN in 7 of 10,000 seeds"), "{text}");
    assert!(text.contains("zoocheck shrink"), "{text}");
    let outside: Vec<&str> = text.split("```").step_by(2).collect();
    assert!(!outside.concat().contains("<script>"), "{text}");
    assert!(text.contains("Never reached: /lock/&lt;/script"), "{text}");
}

#[test]
fn pages_and_summaries_say_how_sure_it_is_and_what_was_not_run() {
    let broken = sweep_of(7, Vec::new());
    for text in [broken.html(), broken.markdown()] {
        assert!(text.contains("in 0.028 % to 0.14 % of all seeds (95 %)"), "{text}");
        assert!(
            text.contains("fresh green seeds leave at most a 5 % chance that it is still there"),
            "{text}"
        );
        assert!(!text.contains("would have shown,"), "{text}");
    }
    let missing = |shard: u64, from: u64| Missing { shard: Some(format!("{shard}/4")), from };
    let green = sweep_of(0, vec![missing(2, 1), missing(3, 2), missing(4, 403)]);
    let lines = [
        "partial: these seeds were not run: all of shards 2/4 to 3/4, those of shard 4/4 from 403 on",
        "a break in 0.03 % of seeds or more would have shown, with 95 % confidence",
    ];
    for (text, line) in [green.html(), green.markdown()]
        .iter()
        .zip([lines, lines])
        .flat_map(|(text, lines)| lines.map(|line| (text, line)))
    {
        assert!(text.contains(line), "{line}: {text}");
    }
}

/// A sweep in which a promise broke in so many seeds, and some seeds were not run.
fn sweep_of(broken: u64, missing: Vec<Missing>) -> SweepReport {
    let mut report = sweep(1, 5);
    report.promises[0].broken = broken;
    report.promises[0].verdict = Verdict::of(broken, 0, 1);
    report.failures.retain(|_| broken > 0);
    report.seeds.missing = missing;
    report.settle();
    report
}

#[test]
fn seeds_that_were_not_run_and_adjoin_are_told_as_one() {
    let told = |missing: Vec<Missing>| {
        let text = sweep_of(0, missing).text(Paint::PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, rest) = text.split_once("these seeds were not run: ").expect("a line");
        rest.split_once(" undecided").expect("the answer").0.to_string()
    };
    let of = |of: u64, shards: &[(u64, u64)]| -> Vec<Missing> {
        let one = |&(index, from): &(u64, u64)| Missing { shard: Some(format!("{index}/{of}")), from };
        shards.iter().map(one).collect()
    };
    assert_eq!(told(vec![Missing { shard: None, from: 77 }]), "those from 77 on");
    assert_eq!(told(of(3, &[(1, 603), (2, 601), (3, 602)])), "those from 601 on");
    assert_eq!(
        told(of(3, &[(1, 603), (2, 601), (3, 605)])),
        "those of shard 1/3 from 603 on, those of shard 2/3 from 601 on, those of shard 3/3 from 605 on"
    );
    assert_eq!(
        told(of(16, &[(3, 2), (4, 3), (10, 9), (12, 27)])),
        "all of shards 3/16 to 4/16, all of shard 10/16, those of shard 12/16 from 27 on"
    );
    assert_eq!(told(of(16, &[(9, 8), (10, 9), (11, 10)])), "all of shards 9/16 to 11/16");
}

#[test]
fn the_kill_matrix_is_a_page_with_every_mutant_and_every_invariant() {
    let kill = |invariant: &str, expected| Kill {
        invariant: invariant.into(),
        seeds: 1200,
        first_seed: 4,
        expected,
    };
    let report = MutantsReport {
        command: Some("zoocheck mutants".into()),
        schema: MUTANTS_SCHEMA.into(),
        scenario: HOSTILE.into(),
        clients: vec!["lock".into(), "queue".into()],
        seeds: 300,
        unmutated: Vec::new(),
        models: vec!["3 voters".into()],
        max_states: 1000,
        mutants: vec![MutantResult {
            name: "watch-lost".into(),
            source: "ZOOKEEPER-1".into(),
            what: HOSTILE.into(),
            family: vec!["Watches".into()],
            acted: 5,
            caught: 4,
            first_seed: Some(4),
            kills: vec![kill("Watches", true), kill("Agreement", false)],
            model: None,
            fate: Fate::Killed,
        }],
        beyond: Vec::new(),
        never_broken: vec!["Silence".into()],
        wrong: vec!["something is wrong".into()],
        answer: Answer::Broken,
        wall_seconds: 1.5,
    };
    let page = report.html();
    assert_eq!(page.matches("<script>").count(), 1, "the page's own");
    for part in [
        "NOT as it should be",
        "watch-lost",
        "ZOOKEEPER-1",
        "Watches (1,200)",
        "Agreement (1,200)",
        "watch-lost (1,200)",
        "Silence",
        "something is wrong",
        "nothing was broken",
        "zoocheck mutants",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn a_live_run_is_a_page_that_says_what_nobody_judged() {
    let promise = |name: &str, verdict, broken: u64| LivePromise {
        name: name.into(),
        about: HOSTILE.into(),
        verdict,
        tested: 9,
        broken,
        expected: 0,
        assumptions: Vec::new(),
        first: (broken > 0).then(|| LiveBreak {
            seed: None,
            seconds: 1.5,
            what: "two are inside".into(),
            timeline: vec!["1.250 s  p0 enters".into(), HOSTILE.into()],
        }),
        first_expected: None,
    };
    let report = LiveReport {
        schema: LIVE_SCHEMA.into(),
        what: "lock/simple".into(),
        recipe: "lock/simple".into(),
        about: "One znode.".into(),
        catalogued: None,
        connect: "127.0.0.1:2181".into(),
        clients: 2,
        rounds: 3,
        session_timeout_ms: 3000,
        answer: Answer::Broken,
        ran_out: None,
        wall_seconds: 2.0,
        happened: Happened { grants: 1234, ..Happened::default() },
        promises: vec![promise("exclusion", Some(Verdict::Broken), 1), promise("fifo", None, 0)],
        invariants: Vec::new(),
        left: vec!["/lock/x".into()],
    };
    let page = report.html();
    assert_eq!(page.matches("<script>").count(), 1, "the page's own");
    for part in [
        "BROKEN 1 time",
        "not judged on a live ensemble",
        "1.250 s  p0 enters",
        "two are inside",
        "first at 1.500 s",
        "127.0.0.1:2181",
        "1,234",
        "left behind, and removed: /lock/x",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let dir = tempfile::tempdir().expect("a directory");
    write_report(&report, dir.path()).expect("written");
    assert_eq!(std::fs::read_to_string(dir.path().join("index.html")).expect("there"), page);
    let promises = vec![promise("no-failure", Some(Verdict::Held), 0), promise("counts", None, 0)];
    let unjudged = LiveReport { answer: Answer::Undecided, promises, ..report };
    let why = "undecided: nothing that it promises of its own can be judged from outside";
    assert!(unjudged.html().contains(why), "{unjudged}");
}

#[test]
fn the_check_of_an_ensemble_is_a_page_with_its_counterexample() {
    let limits = Limits { time_seconds: None, max_states: None, max_memory: None, max_depth: None };
    let checked = |name: &str, broken: Option<Path>| CheckedPromise {
        partly: None,
        name: name.into(),
        verdict: Verdict::of(broken.is_some().into(), 0, 1),
        tested: Some(3),
        broken,
        expected: None,
        tested_when: None,
    };
    let steps = vec!["server 0 starts".to_string(), format!("server 1 crashes {HOSTILE}")];
    let (what, why, matters) = ("they differ".into(), Vec::new(), Vec::new());
    let path = Path { what, assumption: None, why, matters, inevitable_from: None, steps: steps.clone() };
    let bounds = EnsembleBounds {
        servers: 3,
        observers: 0,
        txns: 1,
        crashes: 1,
        breaks: 0,
        partitions: 0,
        elections: 1,
        timeouts: 0,
        past: 0,
    };
    let mut report = EnsembleReport {
        schema: ENSEMBLE_SCHEMA.into(),
        command: Some("zoocheck check ensemble".into()),
        pictures: vec![("Agreement".to_string(), true, diagram(5))],
        what: "ensemble".into(),
        level: "whole".into(),
        bounds,
        whole: None,
        merged: vec!["links".into()],
        limits,
        verdict: Judgement::Violated,
        ran_out: None,
        exhaustive: false,
        states: 12_345,
        transitions: 20_000,
        depth: 7,
        promise: Some("Agreement".into()),
        steps,
        wall_seconds: 1.5,
        invariants: vec![checked("Agreement", Some(path)), checked("Integrity", None)],
        liveness: Vec::new(),
        sometimes: vec![Reached { name: "a leader is deposed".into(), seeds: 0, times: 0 }],
    };
    let page = report.html();
    assert_eq!(page.matches("<script>").count(), 1, "the page's own");
    for part in [
        "violated (2 steps): Agreement",
        "12,345",
        "3 voters; at most 1 transaction, 1 crash",
        "from the start",
        "they differ",
        "peers without trees",
        "<svg class=\"body\"",
        "Integrity",
        "not broken so far",
        "a leader is deposed",
        "zoocheck check ensemble",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    report.pictures.clear();
    let words = report.html();
    assert!(words.contains("<li>server 0 starts</li>"), "in words, where there is no picture: {words}");
}

#[test]
fn an_annotation_is_one_line() {
    let text = annotations(&sweep(2, 5).suite().expect("it has cases"));
    assert_eq!(text.lines().count(), 2);
    for line in text.lines() {
        assert!(line.starts_with("::error title=lock/simple%3A "), "{line}");
        assert!(line.contains("%0Azoocheck replay"), "{line}");
    }
}

#[test]
fn a_sequence_diagram_is_short_and_means_only_what_it_is_to_mean() {
    let text = mermaid(&diagram(500));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "sequenceDiagram");
    assert!(lines.len() <= 1 + 5 + 1 + 2 * MERMAID_KEPT, "{} lines", lines.len());
    assert!(!text.contains('<') && !text.contains('"'), "{text}");
    let mut active = 0;
    for line in &lines[1..] {
        let line = line.trim_start();
        let known = ["participant l", "Note over l", "activate l", "deactivate l", "l"];
        assert!(known.iter().any(|start| line.starts_with(start)), "{line}");
        active += i32::from(line.starts_with("activate")) - i32::from(line.starts_with("deactivate"));
        assert!(active >= 0, "{line}: nobody is active");
    }
    assert!(text.contains("BROKEN exclusion#58; p0 and p1"), "{text}");
    let empty = Diagram::new(zk_reports::Unit::Steps, Vec::new());
    assert_eq!(mermaid(&empty), "sequenceDiagram\n");
}

#[test]
fn what_no_page_and_no_xml_may_have_is_in_neither() {
    let report = SweepReport { what: "odd\0\u{1b}\u{ffff}".into(), ..sweep(1, 5) };
    let xml = junit(&report.suite().expect("it has cases"));
    for text in [report.html(), xml.clone()] {
        assert!(!text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{text}");
        assert!(text.contains("odd"));
    }
    assert!(!xml.contains('\u{ffff}'));
}

#[test]
fn hostile_text_survives_in_json() {
    let text = to_json(&sweep(1, 5));
    let again: SweepReport = serde_json::from_str(&text).expect("it reads what it wrote");
    let diagram = again.failures[0].diagram.as_ref().expect("drawn");
    assert!(diagram.paths().contains(&HOSTILE));
}

//! Pages, summaries and annotations: whatever users named is text in them, and nothing else.

mod sample;
mod schema;

use sample::{HOSTILE, diagram, sweep};
use schema::errors;
use zk_reports::{
    Diagram, MERMAID_KEPT, SweepReport, mermaid, sweep_annotations, sweep_html, sweep_markdown, to_json,
};

#[test]
fn a_znode_called_script_is_text_on_a_page() {
    let html = sweep_html(&sweep(2, 30));
    assert_eq!(html.matches("<script>").count(), 1, "the page's own");
    assert_eq!(html.matches("</script>").count(), 1);
    assert!(!html.contains("<img"));
    assert!(html.contains("&#60;/script&#62;"), "it is there, escaped");
    assert!(html.contains("{{7*7}}"), "and no template either");
}

#[test]
fn a_page_names_nothing_outside_itself() {
    let html = sweep_html(&sweep(2, 30));
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
    let html = sweep_html(&report);
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    assert!(html.matches("<svg class=\"body\"").count() == SweepReport::DRAWN);
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
    assert_eq!(sweep_html(&again), sweep_html(&report));
}

#[test]
fn a_diagram_is_valid_and_its_schema_is_strict() {
    let value = serde_json::to_value(diagram(30)).expect("plain data");
    assert_eq!(errors("zoocheck-diagram-1.json", &value), [""; 0]);
    for (place, key) in [("", "unit"), ("/arrows/0", "sent"), ("/bars/0", "kind"), ("/points/0", "lanes")] {
        let mut broken = value.clone();
        let object = broken.pointer_mut(place).and_then(|it| it.as_object_mut()).expect("an object");
        object.remove(key);
        assert!(!errors("zoocheck-diagram-1.json", &broken).is_empty(), "{place}/{key}");
    }
    let mut strange = value;
    strange["arrows"][0]["colour"] = "red".into();
    assert!(!errors("zoocheck-diagram-1.json", &strange).is_empty());
}

#[test]
fn a_summary_names_what_broke_and_how_to_see_it_again() {
    let text = sweep_markdown(&sweep(2, 5));
    assert!(text.contains("| exclusion | 🔴 BROKEN in 7 of 10,000 seeds"), "{text}");
    assert!(text.contains("zoocheck shrink"), "{text}");
    let outside: Vec<&str> = text.split("```").step_by(2).collect();
    assert!(!outside.concat().contains("<script>"), "{text}");
    assert!(text.contains("Never reached: /lock/&lt;/script"), "{text}");
}

#[test]
fn an_annotation_is_one_line() {
    let text = sweep_annotations(&sweep(2, 5));
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
fn hostile_text_survives_in_json() {
    let text = to_json(&sweep(1, 5));
    let again: SweepReport = serde_json::from_str(&text).expect("it reads what it wrote");
    let diagram = again.failures[0].diagram.as_ref().expect("drawn");
    assert!(diagram.paths().contains(&HOSTILE));
}

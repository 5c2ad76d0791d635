//! All orders of a few events, for people.

use super::{Paint, count, heading, of, promise_tables, seconds, verdict_words, wrapped};
use crate::exhaust::ExhaustReport;
use crate::verdict::{Answer, CatalogueNote};
use std::fmt::Write;

/// What came of all orders as text. Its last line is the command to type next, if something was broken, or the answer.
pub fn exhaust_text(report: &ExhaustReport, paint: Paint) -> String {
    let mut out = String::new();
    heading(&mut out, paint, &report.recipe, &report.about, &report.facts);
    let _ = writeln!(
        out,
        "  seed {}, from {} on: the next {} in every order, and then as time brings it\n",
        report.seed,
        seconds(report.at_ns),
        of(report.steps.into(), "event")
    );
    promise_tables(&mut out, paint, &report.promises, &report.invariants, &|result| {
        verdict_words(result, report.orders, "order")
    });
    for broken in &report.broken {
        let title = paint.bad(&format!("{}: broken", broken.promise));
        let _ = writeln!(out, "\n{title} at {}, by this order", seconds(broken.virtual_ns));
        for (nth, step) in broken.steps.iter().enumerate() {
            let _ = writeln!(out, "  {:>2}. {}", nth + 1, wrapped(step, 6));
        }
        let _ = writeln!(out, "  => {}", wrapped(&broken.what, 5));
        let _ = writeln!(out, "  {}", broken.replay);
    }
    closing(&mut out, report, paint);
    out
}

fn closing(out: &mut String, report: &ExhaustReport, paint: Paint) {
    let all = if report.exhaustive { "these are all" } else { "there are more" };
    let _ = writeln!(
        out,
        "\n{}, {all}; {} of the runs differ",
        of(report.orders, "order"),
        count(report.different)
    );
    let words = match report.answer {
        Answer::Held => "every promise held in every order",
        Answer::Broken => "a promise was BROKEN in some order",
        Answer::Undecided if !report.exhaustive => {
            "undecided: nothing was broken, and not every order was run"
        }
        Answer::Undecided => "nothing was broken, and not every promise was put to the test",
    };
    let _ = writeln!(out, "{}", paint.answer(report.answer, words));
    if let Some(note @ (CatalogueNote::AsCatalogued(_) | CatalogueNote::Other(_))) = report.catalogue_note() {
        let _ = writeln!(out, "{note}");
    }
}

//! All orders of a few events.

use super::parts::{broken, end, known, verdict_words, verdicts};
use crate::page::{Block, Line, Mood, Page, answer, below};
use crate::{Answer, BrokenOrder, CatalogueNote, ExhaustReport, Report, Verdict, count, of, seconds};

/// Its last line is the command to type next, if something was broken, or the answer.
impl Report for ExhaustReport {
    fn heading(&self) -> String {
        format!("replay {}", self.what)
    }

    fn page(&self) -> Page {
        let orders = self.orders;
        let what = format!(
            "seed {}, from {} on: the next {} in every order, then in order of time",
            self.seed,
            seconds(self.at_ns),
            of(self.steps.into(), "event")
        );
        let mut page = vec![
            Block::Title(self.recipe.clone(), self.about.clone()),
            Block::Facts(self.facts.clone()),
            below(what),
            verdicts(&self.promises, &self.invariants, orders, &|it| verdict_words(it, orders, "order")),
        ];
        page.extend(self.broken.iter().map(broken_order));
        closing(&mut page, self);
        page
    }
}

fn broken_order(order: &BrokenOrder) -> Block {
    let title = broken(&order.promise, Verdict::Broken);
    let title = title.then(Mood::Plain, format!(" at {}, by this order", seconds(order.virtual_ns)));
    let mut body = vec![Block::Steps(order.steps.clone(), Vec::new())];
    body.extend(end(&order.what));
    body.push(Line::from(&order.replay).indent(2).into());
    Block::Card(title, body)
}

fn closing(page: &mut Page, report: &ExhaustReport) {
    let all = if report.exhaustive { "these are all" } else { "there are more" };
    let differ = format!("{}, {all}; {} distinct runs", of(report.orders, "order"), count(report.different));
    let words = match report.answer {
        Answer::Held => "every promise held in every order",
        Answer::Broken => "a promise was BROKEN in some order",
        Answer::Undecided if !report.exhaustive => {
            "undecided: nothing was broken, and not every order was run"
        }
        Answer::Undecided => "nothing was broken, and not every promise could be judged",
    };
    page.extend([Block::Blank, Line::from(differ).into(), answer(report.answer, words)]);
    let note = report.catalogue_note().filter(|note| !matches!(note, CatalogueNote::NotSeen(_)));
    page.extend(known(note));
}

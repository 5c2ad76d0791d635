//! What becomes of what promises find: it is counted, the first of each kind is kept, and a run ends where it is to.

use crate::common::{calm, said, say, scripted};
use std::sync::Arc;
use std::time::Duration;
use zk_harness::event::{End, Event, Observation};
use zk_harness::promise::{Assumption, Finding, Promise, Terms, Violation};
use zk_harness::promises::NO_POLLING;
use zk_harness::trial::Trial;
use zk_simulator::{Run, RunOptions, Scenario, run};

/// It is broken when somebody says so, as expected or where it is owed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct NobodySaysSo;

const NAME: &str = "nobody-says-so";

impl Promise for NobodySaysSo {
    fn terms(&self) -> Terms {
        Terms::of(NAME).about("Nobody says that it is broken.").assumes(&[Assumption::NoAdministrator])
    }

    fn see(&mut self, event: &Event, found: &mut Vec<Finding>) {
        if let Event::Observed { what: Observation::GivesUp { why, .. }, .. } = event {
            let assumption = (**why == *"expected").then_some(Assumption::NoAdministrator);
            found.push(Finding::Broken(Violation::new(why.to_string(), assumption)));
        }
    }
}

/// A run of one that says each of these, one after the other.
fn run_of(all: &'static [&str], stop_at: Option<(&'static str, bool)>) -> Run {
    let code = scripted(move |zk, probe, _| async move {
        for what in all {
            say(&probe, what);
            zk.sleep(Duration::from_secs(1)).await;
        }
        End::Done
    });
    let trial = Arc::new(Trial::clone(&code).promises(|| vec![Box::new(NobodySaysSo)]));
    run(&trial, &calm(), 1, &RunOptions { trace: true, stop_at, ..RunOptions::default() })
}

const BOTH: &[&str] = &["expected", "owed", "expected", "owed once more"];

#[test]
fn the_first_break_is_kept_where_it_is_owed_and_where_it_is_expected_and_all_are_counted() {
    let run = run_of(BOTH, None);
    let kept: Vec<(&str, bool)> =
        run.violations.iter().map(|it| (it.what.as_str(), it.violated_assumption.is_some())).collect();
    assert_eq!((kept, run.tested[NAME]), (vec![("expected", true), ("owed", false)], 4));
}

#[test]
fn a_run_stops_at_a_break_of_the_kind_that_is_sought() {
    let stopped = |expected| said(&run_of(BOTH, Some((NAME, expected))));
    assert_eq!(
        (stopped(true), stopped(false)),
        (vec!["expected".into()], vec!["expected".into(), "owed".into()])
    );
}

/// Who looks at the same once a round polled from the sixth round on.
#[test]
fn none_of_the_published_recipes_polls_however_many_rounds_there_are() {
    let scenario = Scenario { clients: 4, rounds: 12, ..calm() };
    let right = zk_catalogue::trials().into_iter().filter(|trial| trial.about.breaks.is_none());
    let polling = right.filter_map(|trial| {
        let name = trial.about.name.to_owned();
        let run = run(&trial, &scenario, 1, &RunOptions::default());
        run.violations.into_iter().find(|it| it.promise == NO_POLLING).map(|it| (name, it.what))
    });
    assert_eq!(polling.collect::<Vec<_>>(), []);
}

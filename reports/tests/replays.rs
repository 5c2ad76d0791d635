//! A replay as text: the cause, and which lines are shown.

use zk_reports::{Answer, Cause, Lines, Mark, Moment, Paint, REPLAY_SCHEMA, ReplayReport, replay_text};

fn moment(at: u64, mark: Mark, what: &str) -> Moment {
    Moment { virtual_ns: at * 1_000_000, who: "p0".into(), mark, what: what.into() }
}

fn replay() -> ReplayReport {
    ReplayReport {
        schema: REPLAY_SCHEMA.into(),
        what: "lock/simple".into(),
        recipe: "lock/simple".into(),
        about: "One ephemeral znode.".into(),
        catalogued: None,
        facts: vec!["2 clients".into()],
        seed: 41,
        answer: Answer::Broken,
        digest: 1,
        virtual_ns: 2,
        messages: 3,
        steps: 4,
        promises: Vec::new(),
        invariants: Vec::new(),
        sometimes: Vec::new(),
        violations: Vec::new(),
        cause: None,
        timeline: Vec::new(),
        trace: vec!["0.000s p0 Observed hello".into()],
    }
}

#[test]
fn a_replay_shows_the_lines_before_the_first_break_and_says_how_many_it_leaves_out() {
    let mut report = replay();
    let before = (0..100).map(|at| moment(at, Mark::Event, &format!("step {at}.")));
    let broken_as_expected = moment(50, Mark::Expected, "effects: late");
    let fault = moment(99, Mark::Fault, "the server sneezes");
    let broken = moment(100, Mark::Broken, "exclusion: two are inside");
    let after = (101..111).map(|at| moment(at, Mark::Event, "after"));
    report.timeline = before.chain([broken_as_expected, fault, broken]).chain(after).collect();
    let text = replay_text(&report, Paint::PLAIN, Lines::Last(4));
    let expected = "
… 99 lines left out; --lines all shows them, --trace everything
     0.099s  p0  step 99.
>    0.050s  p0  BROKEN AS EXPECTED effects: late
!    0.099s  p0  FAULT the server sneezes
>    0.100s  p0  BROKEN exclusion: two are inside
… 10 later lines left out
";
    assert!(text.contains(expected), "{text}");
    let whole = replay_text(&report, Paint::PLAIN, Lines::All);
    assert!(whole.contains("step 0.") && whole.contains("after") && !whole.contains("left out"), "{whole}");
    let raw = replay_text(&report, Paint::PLAIN, Lines::Trace);
    assert!(raw.contains("0.000s p0 Observed hello") && !raw.contains("step 0."), "{raw}");
    // Where nothing broke, the end is what there is to see; where only an assumption failed, that.
    report.timeline.retain(|moment| moment.mark != Mark::Broken);
    assert!(replay_text(&report, Paint::PLAIN, Lines::Last(1)).contains("BROKEN AS EXPECTED effects"));
    report.timeline.retain(|moment| moment.mark != Mark::Expected);
    assert!(replay_text(&report, Paint::PLAIN, Lines::Last(2)).contains("\n     0.110s  p0  after\n"));
}

#[test]
fn a_replay_that_is_too_long_leaves_out_others_and_no_fault() {
    let mut report = replay();
    let line = |at, who: &str, mark, what: &str| Moment { who: who.into(), ..moment(at, mark, what) };
    report.timeline = vec![
        line(1, "s0", Mark::Event, "serves"),
        line(2, "p1", Mark::Event, "asks for /lock"),
        line(3, "p3", Mark::Event, "asks for /lock"),
        line(4, "p2", Mark::Event, "create /lock/n- (sequential, ephemeral): /lock/n-1"),
        line(5, "--", Mark::Fault, "p3's connection drops: requests are lost"),
        line(6, "--", Mark::Fault, "p1.1 is paused, for 10 ms"),
        line(7, "--", Mark::Event, "the deletion of /lock/n-2 wakes p1, p3"),
        line(8, "p2", Mark::Event, "sleeps"),
        line(9, "--", Mark::Broken, "fifo: p1 was granted /lock before /lock/n-1"),
    ];
    let text = replay_text(&report, Paint::PLAIN, Lines::Last(7));
    let shown: Vec<&str> =
        text.lines().filter(|line| line.contains("0.00") && line.contains("s  ")).collect();
    let times: Vec<&str> =
        shown.iter().filter_map(|line| line.split_whitespace().find(|w| w.ends_with('s'))).collect();
    assert_eq!(times, ["0.002s", "0.004s", "0.005s", "0.006s", "0.007s", "0.008s", "0.009s"], "{text}");
    assert!(text.contains("… 2 lines left out; --lines all shows"), "{text}");
    assert!(!replay_text(&report, Paint::PLAIN, Lines::Last(9)).contains("left out"));
    // A cause is shown whatever else is left out.
    let moments = vec![report.timeline[2].clone(), report.timeline[8].clone()];
    report.cause = Some(Cause { why: vec!["p3 was first.".into()], moments, no_return: None });
    let text = replay_text(&report, Paint::PLAIN, Lines::Last(1));
    let expected = "\
lock/simple, seed 41: BROKEN fifo: p1 was granted /lock before /lock/n-1
  p3 was first.

     0.003s  p3  asks for /lock
>    0.009s  --  BROKEN fifo: p1 was granted /lock before /lock/n-1

the run up to there:
… 5 lines left out; --lines all shows them, --trace everything
     0.003s  p3  asks for /lock
!    0.005s  --  FAULT p3's connection drops: requests are lost
!    0.006s  --  FAULT p1.1 is paused, for 10 ms
>    0.009s  --  BROKEN fifo: p1 was granted /lock before /lock/n-1

lock/simple: ";
    assert!(text.starts_with(expected), "{text}");
}

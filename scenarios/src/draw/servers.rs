//! What breaks an ensemble as a diagram: a lane for each server, a step is a unit of time.

use zk_reports::{Diagram, EnsembleReport, Lane, LaneKind, Picture, Point, PointKind, Unit};

/// Draws the ways to break invariants, each by its name; all of them are owed.
pub(crate) fn drawn(report: &EnsembleReport) -> Vec<Picture> {
    let servers = usize::from(report.bounds.servers) + usize::from(report.bounds.observers);
    let broken = report.all().filter_map(|result| {
        let path = result.broken.as_ref()?;
        Some((result.name.clone(), true, diagram(&result.name, &path.what, &path.steps, servers)))
    });
    broken.collect()
}

fn diagram(promise: &str, what: &str, steps: &[String], servers: usize) -> Diagram {
    let lane = |nth: usize| Lane { name: format!("server {nth}"), kind: LaneKind::Server };
    let mut diagram = Diagram::new(Unit::Steps, (0..servers).map(lane).collect());
    let point = |at: usize, what: &str, kind: PointKind| Point {
        lanes: lanes_of(what, servers),
        at: at as u64,
        kind,
        who: String::new(),
        what: what.into(),
        promise: None,
        paths: Vec::new(),
        is_cause: false,
    };
    for (nth, step) in steps.iter().enumerate() {
        let kind = if is_fault(step) { PointKind::Fault } else { PointKind::Is };
        diagram.points.push(point(nth + 1, step, kind));
    }
    let what = format!("{promise}: {}", what.lines().map(str::trim).collect::<Vec<_>>().join("; "));
    let last = Point { promise: Some(promise.into()), ..point(steps.len(), &what, PointKind::Broken) };
    diagram.points.push(last);
    diagram.up_to(steps.len() as u64, Diagram::KEPT)
}

/// The servers that a step names, that where it happens first.
fn lanes_of(step: &str, servers: usize) -> Vec<usize> {
    let mut lanes = Vec::new();
    let mut before = "";
    for word in step.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let names = ["server", "servers", "between", "and", "that", "from", "to", "of"].contains(&before);
        match word.parse::<usize>() {
            Ok(server) if names && server < servers && !lanes.contains(&server) => lanes.push(server),
            Ok(_) | Err(_) => {}
        }
        before = word;
    }
    lanes
}

/// What a step says of what should not be.
fn is_fault(step: &str) -> bool {
    ["crashes", "breaks", "loses", "any more"].iter().any(|word| step.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_drawn_at_the_servers_that_it_names() {
        let steps = [
            ("server 2 hears that 1 is for 0 (epoch 3, 1:4) in round 7, Looking", vec![2, 1]),
            ("the link between 0 and 2 breaks", vec![0, 2]),
            ("server 1's write is durable", vec![1]),
            ("server 9 starts", vec![]),
        ];
        for (step, lanes) in &steps {
            assert_eq!(lanes_of(step, 3), *lanes, "{step}");
        }
        let steps: Vec<String> = steps.iter().map(|(step, _)| step.to_string()).collect();
        let diagram = diagram("Agreement", "servers 0 and 1 differ", &steps, 3);
        assert_eq!((diagram.lanes.len(), diagram.points.len(), diagram.until), (3, 5, 4));
        assert_eq!(diagram.points[1].kind, PointKind::Fault);
        let broken = &diagram.points[4];
        assert_eq!((broken.kind, &broken.lanes), (PointKind::Broken, &vec![0, 1]));
    }
}

//! A model's steps as a course that the world can take again.

use crate::actions::Action;
use crate::message::Message;
use crate::model::RecipeModel;
use crate::process::Input;
use crate::state::State;
use zk_trials::course::CourseStep;

/// What an action is in a course, from the state in which it is taken.
pub fn course_step(model: &RecipeModel, before: &State, action: Action) -> Vec<CourseStep> {
    let administered = |nth: u8| {
        let path = model.administered(before).nth(usize::from(nth));
        path.expect("what is changed is there").clone()
    };
    vec![match action {
        Action::Deliver(me) if is_nobodys(before, me) => return Vec::new(),
        Action::Deliver(me) => CourseStep::Deliver(me),
        Action::Serve(me) if model.reductions.eager => {
            return vec![CourseStep::Serve(me), CourseStep::DeliverAnswers(me)];
        }
        Action::Serve(me) => CourseStep::Serve(me),
        Action::ServeGhost(me) => CourseStep::ServeLost(me),
        Action::Point(me, nth) => CourseStep::Point(me, nth),
        Action::Timer(me, nth) => CourseStep::Timer(me, nth),
        Action::Arrive(me, nth) => CourseStep::Arrive(me, of_its_kind(before, me, nth)),
        Action::Take(me, nth) => CourseStep::Learn(me, of_its_kind(before, me, nth)),
        Action::Reconnect(me) => CourseStep::Reconnect(me),
        Action::Register(me) => CourseStep::Register(me),
        Action::CatchUp(me) => CourseStep::CatchUp(me),
        Action::Resume(me) => CourseStep::Resume(me),
        Action::Expire(me) => CourseStep::Expire(me),
        Action::FalseEnd(me) => CourseStep::FalseEnd(me),
        Action::Drop(me, ghosts) => CourseStep::Drop(me, ghosts),
        Action::Crash(me) => CourseStep::Crash(me),
        Action::Pause(me) => CourseStep::Pause(me),
        Action::Delete(nth) => CourseStep::Delete(administered(nth)),
        Action::Set(nth, text) => CourseStep::Set(administered(nth), model.text(text)),
    }]
}

/// Whether the next message is an event that nobody waits for any more, which is no step elsewhere.
fn is_nobodys(state: &State, me: u8) -> bool {
    let client = &state.clients[usize::from(me)];
    match &client.inbox[0].message {
        Message::Event(event) => !client.node.minds(&Input::Event(event.clone())),
        Message::Answer { .. } | Message::Lost => false,
    }
}

/// The number of a write among those that have arrived, or among those that have not, as it has or has not.
fn of_its_kind(state: &State, me: u8, nth: u8) -> u8 {
    let writes = &state.clients[usize::from(me)].writes;
    let arrived = writes[usize::from(nth)].arrived.is_some();
    let before = writes[..usize::from(nth)].iter();
    before.filter(|write| write.arrived.is_some() == arrived).count() as u8
}

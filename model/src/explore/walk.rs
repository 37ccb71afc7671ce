//! One interleaving, at random.

use crate::machine::State;
use crate::machine::communicate::{Meeting, take};
use crate::machine::moves::moves;
use crate::machine::rule::Tally;
use crate::machine::settle::settle;
use crate::syntax::Exp;

/// Runs the program to its end. With `apart`, as the machine of 2010, whose communications leave each where it is.
pub fn walk(program: &Exp, apart: bool, random: &mut fastrand::Rng, tally: &mut Tally) -> State {
    let mut state = State::begin(program);
    settle(&mut state, tally);
    loop {
        let Some(step) = random.choice(moves(&state)) else { return state };
        let meeting = match (apart, random.bool()) {
            (true, _) => Meeting::Apart,
            (false, true) => Meeting::Left,
            (false, false) => Meeting::Right,
        };
        take(&mut state, step, meeting, tally);
        settle(&mut state, tally);
    }
}

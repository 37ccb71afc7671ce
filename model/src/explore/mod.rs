//! What the machine can do: all interleavings of a small program, some of a large one, or one that has been observed.

mod all;
mod replay;
mod unreduced;
mod walk;

pub use all::{Explored, all};
pub use replay::{Communication, Observed, Refused, replay};
pub use unreduced::{Halts, unreduced};
pub use walk::walk;

use crate::machine::communicate::{Meeting, take};
use crate::machine::moves::Move;
use crate::machine::rule::Tally;
use crate::machine::settle::settle;
use crate::machine::{Mixer, State};
use std::hash::BuildHasherDefault;

/// Hashing of keys that are hashes already.
pub type ByKey = BuildHasherDefault<Mixer>;

/// Takes a move, and all that follows from it without a choice. Who comes to whom makes no difference to the outcome:
/// sometimes the one, sometimes the other.
fn advance(state: &mut State, step: Move, tally: &mut Tally) {
    let meeting = if state.gone & 1 == 0 { Meeting::Left } else { Meeting::Right };
    take(state, step, meeting, tally);
    settle(state, tally);
}

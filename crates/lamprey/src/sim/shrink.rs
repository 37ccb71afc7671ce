//! Shrinking a failing run: fewer of its draws by chance, as long as it fails in the same way.
//!
//! The draws that gave something else than their default are taken away in groups, first half of them, then ever smaller
//! groups (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002). A run without some draws may
//! use fewer of the others as well.

use super::attempt::Attempt;
use crate::world::Draws;
use std::time::{Duration, Instant};

/// Shrinks `failed` for at most so long.
pub(super) fn shrink(failed: Attempt, most: Duration, run: impl Fn(Draws) -> Attempt) -> Attempt {
    let begin = Instant::now();
    let class = class_of(&failed);
    let fails = |kept: Vec<u32>| {
        let made = run(Draws { seed: failed.draws.seed, kept: Some(kept) });
        (class_of(&made) == class).then_some(made)
    };
    let Some(mut best) = fails(failed.used.clone()) else { return failed };
    let mut group = best.used.len();
    while group > 0 {
        let mut at = 0;
        while at < best.used.len() {
            if begin.elapsed() >= most {
                return tidy(best);
            }
            let mut kept = best.used.clone();
            kept.drain(at..(at + group).min(kept.len()));
            match fails(kept) {
                // What has come in the place of the group is next.
                Some(smaller) if smaller.used.len() < best.used.len() => best = smaller,
                _ => at += group,
            }
        }
        group = if group == 1 { 0 } else { group.div_ceil(2).min(best.used.len().max(1)) };
    }
    tidy(best)
}

/// The kept draws that had no effect are left out.
fn tidy(mut best: Attempt) -> Attempt {
    best.draws.kept = Some(best.used.clone());
    best
}

/// How a run fails: the first line of what it says, without numbers. `None` if it does not fail.
fn class_of(made: &Attempt) -> Option<String> {
    let line = made.failure.as_ref()?.lines().next().unwrap_or_default();
    Some(line.chars().filter(|c| !c.is_ascii_digit()).collect())
}

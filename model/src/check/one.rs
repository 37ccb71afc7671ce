//! One program.

use super::Plan;
use crate::explore::{all, replay, walk};
use crate::generate::Size;
use crate::machine::rule::Tally;
use crate::outcome::Outcome;
use crate::run::{Settings, run_here};
use crate::safety::replace;
use crate::syntax::Exp;
use std::time::Duration;

/// What has been checked of a program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checked {
    /// All its computations have ended.
    pub is_complete: bool,
    /// The number of the machine's states, if all of its outcomes were looked for.
    pub states: Option<usize>,
    /// There were too many.
    pub is_too_large: bool,
    /// It has more than one outcome.
    pub is_nondeterministic: bool,
    /// It ran with hosts for its parasites.
    pub was_replaced: bool,
    /// The machine's outcomes were compared with those of the replaced program.
    pub is_safe: bool,
}

/// Runs the program on Lamprey, and asks the machine.
///
/// # Errors
/// Why not, as text.
pub fn one(
    e: &Exp,
    seed: u64,
    plan: &Plan,
    patience: Option<Duration>,
    machine: &mut Tally,
) -> Result<Checked, String> {
    let settings = Settings { fault: plan.fault, cancels: seed & 8 != 0, replaces: seed & 3 == 3, patience };
    // The replaced program, too, has to do what the original may: the theorem, on the runtime.
    let observed =
        run_here(e, settings, |observed| replay(e, observed, machine)).map_err(|why| why.to_string())?;
    let (outcome, replaces) = (&observed.outcome, settings.replaces);
    let mut checked =
        Checked { is_complete: outcome.is_complete(), was_replaced: replaces, ..Checked::default() };
    if outcome.is_wrong() {
        return Err(format!("the program is wrong: {outcome}"));
    }
    if plan.size == Size::Small {
        let mut random = fastrand::Rng::with_seed(seed);
        enumerate(e, outcome, &mut random, plan, machine, &mut checked)?;
    }
    Ok(checked)
}

/// All outcomes: Lamprey's is one of them, so is one of the machine of 2010, and they are those of the replaced program.
fn enumerate(
    e: &Exp,
    outcome: &Outcome,
    random: &mut fastrand::Rng,
    plan: &Plan,
    machine: &mut Tally,
    checked: &mut Checked,
) -> Result<(), String> {
    let explored = all(e, plan.states, machine);
    checked.states = Some(explored.states);
    checked.is_too_large = !explored.is_complete;
    if !explored.is_complete {
        return Ok(());
    }
    checked.is_nondeterministic = explored.outcomes.len() > 1;
    let known = |outcome: &Outcome, of: &str| match explored.outcomes.contains(outcome) {
        true => Ok(()),
        false => Err(format!(
            "the outcome of {of} is none of the machine's {}: {outcome}",
            explored.outcomes.len()
        )),
    };
    known(outcome, "Lamprey")?;
    if random.u8(..16) != 0 {
        return Ok(());
    }
    known(&Outcome::of(&walk(e, true, random, machine)), "the machine of 2010")?;
    known(&Outcome::of(&walk(e, false, random, machine)), "a walk of the machine")?;
    let replaced = all(&replace(e), plan.states, machine);
    if replaced.is_complete && replaced.outcomes != explored.outcomes {
        return Err("spawn for parasiteSpawn changes the machine's outcomes".to_owned());
    }
    checked.is_safe = replaced.is_complete;
    Ok(())
}

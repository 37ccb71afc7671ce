//! One run of an explored program, whose failure is caught.

use super::builder::SimBuilder;
use crate::bug::quietly;
use crate::sched::panic_hook::{hushed, take_first};
use crate::world::Draws;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A run, and how it ended.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    pub(super) draws: Draws,
    pub(super) failure: Option<String>,
    pub(super) hash: u64,
    pub(super) steps: u64,
    /// The draws that gave something else than the default.
    pub(super) used: Vec<u32>,
    /// Empty unless it was asked for.
    pub(super) log: String,
    /// What it has used that is not simulated.
    pub(super) escaped: Vec<&'static str>,
}

/// Runs `program` by these draws, and prints nothing of its panics.
pub(super) fn attempt(program: &(impl Fn(SimBuilder) + ?Sized), draws: Draws, logged: bool) -> Attempt {
    let builder = SimBuilder::new(draws.clone());
    let builder = if logged { builder.logged() } else { builder };
    let told = builder.told.clone();
    let outcome = hushed(|| {
        catch_unwind(AssertUnwindSafe(|| {
            program(builder);
            assert!(
                !told.borrow().is_empty(),
                "the program that is explored has not run its simulation: call `sim.run`"
            );
        }))
    });
    let mut made = Attempt {
        draws,
        failure: None,
        hash: 0,
        steps: 0,
        used: Vec::new(),
        log: String::new(),
        escaped: Vec::new(),
    };
    for run in told.borrow().iter() {
        made.hash = made.hash.rotate_left(1) ^ run.hash;
        made.steps += run.steps;
        made.log.push_str(&run.log);
        made.used.extend(&run.used);
        made.escaped.extend(&run.escaped);
    }
    made.used.sort_unstable();
    made.used.dedup();
    let first = take_first();
    if let Err(payload) = outcome {
        let place = first.map_or_else(String::new, |first| format!(" (the first panic was {first})"));
        made.failure = Some(text_of(&*payload).to_owned() + &place);
        hushed(|| quietly(|| drop(payload)));
    }
    made
}

fn text_of(payload: &(dyn std::any::Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic whose payload is no text")
}

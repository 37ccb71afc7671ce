//! A whole run.
//!
//! When is it over? Every computation has ended or is in an operation that it may wait in for ever; and the machine, led
//! the same way, stops in the same state. The second part makes the first one safe to look at at any moment: as long as
//! a wake is under way, the machine would go on, or says something else of somebody. So nothing here believes in a
//! length of time, but for the last resort: a run that the machine does not accept is a failure only when nothing has
//! changed for long.

use super::computation::Computation;
use super::world::{Books, World};
use super::{Fault, Out};
use crate::explore::{Observed, Refused};
use crate::names::Name;
use crate::outcome::End;
use crate::syntax::{Env, Exp};
use lamprey::{JoinError, Runtime};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What is wrong with the interpreter.
    pub fault: Fault,
    /// End what still waits by cancelling it, instead of closing the channels.
    pub cancels: bool,
    /// Start a host for each parasite: the theorem's replacement.
    pub replaces: bool,
    /// Other workers run, too, and what they do takes time: how long nothing changes in a run that hangs.
    pub patience: Option<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { fault: Fault::None, cancels: false, replaces: false, patience: None }
    }
}

/// Yields without any change until a run of one worker has stopped: a thread that is ready runs within a few.
const YIELDS: u32 = 2_000;

/// A run that the machine does not have.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What was observed.
    pub observed: Observed,
    /// Why not.
    pub why: String,
}

/// Runs the program on a runtime, as a whole.
///
/// # Errors
/// As [`run_here`].
pub fn run_on(
    runtime: &Runtime,
    program: &Exp,
    settings: Settings,
    judge: impl FnMut(&Observed) -> Result<(), Refused> + Send,
) -> Result<Observed, Box<Failure>> {
    runtime.run(|| run_here(program, settings, judge))
}

/// Runs the program from a host of any runtime, the simulator's too. `judge` says whether the machine has such a run.
///
/// # Errors
/// The run, if it stops and `judge` has not accepted it.
pub fn run_here(
    program: &Exp,
    settings: Settings,
    mut judge: impl FnMut(&Observed) -> Result<(), Refused>,
) -> Result<Observed, Box<Failure>> {
    let world = Arc::new(World::new(settings.fault, settings.replaces));
    let slot = world.books().enter(Name::MAIN, None);
    Computation::new(&world, Name::MAIN, Some(slot)).spawn(program.clone(), Env::default());
    let result = watch(&world, settings, &mut judge);
    // A run that has failed may wait in ways that closing does not end.
    let cancels = settings.cancels || result.is_err();
    let why = end(&world, Settings { cancels, ..settings }).err();
    match (result, why) {
        (Ok(observed), Some(why)) => Err(Box::new(Failure { observed, why })),
        (result, _) => result,
    }
}

/// Lets the others run until they have stopped.
fn watch(
    world: &World,
    settings: Settings,
    judge: &mut impl FnMut(&Observed) -> Result<(), Refused>,
) -> Result<Observed, Box<Failure>> {
    let (mut yields, mut since, mut version) = (0, None, u64::MAX);
    let mut refused = None;
    loop {
        lamprey::yield_now();
        let books = world.books();
        let observed = books.observed();
        let now = books.version;
        drop(books);
        if now != version {
            (yields, since, version) = (0, None, now);
            match observed.map(|observed| (judge(&observed), observed)) {
                Some((Ok(()), observed)) => return Ok(observed),
                Some((Err(why), observed)) => refused = Some((observed, why.to_string())),
                None => refused = None,
            }
            continue;
        }
        yields += 1;
        let late = yields > YIELDS && {
            let begun: &mut Instant = since.get_or_insert_with(Instant::now);
            settings.patience.is_none_or(|patience| begun.elapsed() > patience)
        };
        if late {
            let running = || (Observed::default(), "a computation neither ends nor waits".to_owned());
            let (observed, why) = refused.unwrap_or_else(running);
            return Err(Box::new(Failure { observed, why }));
        }
    }
}

/// Ends all that still waits, and joins all. Each join must say what was observed.
fn end(world: &World, settings: Settings) -> Result<(), String> {
    let mut books = world.books();
    books.is_over = true;
    let Books { channels, nacks, reified, ready, begun, kept, ends, .. } = std::mem::take(&mut *books);
    books.is_over = true;
    books.ends = ends.clone();
    drop(books);
    drop((channels, nacks, reified, ready));
    begun.into_iter().for_each(|(_, pending)| drop(pending.cancel_and_join()));
    if !settings.cancels {
        // What waits in a send or a receive ends now that the channels are closed.
        (0..4).for_each(|_| lamprey::yield_now());
    }
    // All are asked before any is joined: one that waits for a channel may end only when others have let it go.
    let waits = |slot: usize| !matches!(ends[slot].1, Some(End::Value(_)));
    kept.iter()
        .filter(|(slot, kept)| waits(*slot) && !kept.is_finished())
        .for_each(|(_, kept)| kept.cancel());
    for (slot, kept) in kept {
        let (name, end) = &ends[slot];
        agree(end, kept.join()).map_err(|joined| format!("join of {name} says {joined}"))?;
    }
    Ok(())
}

fn agree(end: &Option<End>, joined: Result<Out, JoinError>) -> Result<(), String> {
    match (end, joined) {
        (Some(End::Value(value)), Ok(Ok(joined))) if *value == joined => Ok(()),
        (Some(End::Value(_)) | None, joined) => Err(format!("{joined:?}")),
        (Some(_), Ok(Err(_)) | Err(JoinError::Cancelled(..))) => Ok(()),
        (Some(_), joined) => Err(format!("{joined:?}")),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.why)?;
        write!(f, "on Lamprey: {}", self.observed.outcome)?;
        for one in &self.observed.communications {
            write!(f, "\n  {} received from {}", one.to.0, one.from.0)?;
        }
        self.observed.alone.iter().try_for_each(|(op, _)| write!(f, "\n  {op} went on alone"))
    }
}

//! [`explore`]: many runs of a program, each by a seed of its own, until one fails.

use super::attempt::{Attempt, attempt};
use super::builder::SimBuilder;
use super::progress::Progress;
use super::run::CHOSEN;
use super::shrink::shrink;
use crate::sync_shim::watched::Mutex;
use crate::sync_shim::{AtomicBool, AtomicU64, Ordering};
use crate::world::{Draws, ENDS, GIVES_WAY, PLACES, WAITS, YIELDS};
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// One run in this many is made twice, to find what the simulation does not control.
const TWICE: u64 = 64;
/// Lines of the log that are printed of a failed run.
const LINES: usize = 40;
/// Runs that are made however long they take.
const LEAST: u64 = 20;
/// Most switches that are listed of a failed run.
const MOST_SWITCHES: usize = 20;
/// The variables that change what `explore` does.
const SEED: &str = "LAMPREY_SEED";
const RUNS: &str = "LAMPREY_RUNS";

/// How [`explore`] looks for failures.
///
/// # Examples
/// ```
/// use lamprey::sim::Explore;
/// let explored = Explore::new(50).first_seed(1000).threads(1).run(|sim| sim.run(|| lamprey::yield_now()));
/// assert_eq!(explored.runs, 50);
/// println!("{explored}");
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing runs before `run` is called"]
pub struct Explore {
    runs: u64,
    /// From when on no run begins, once there are `LEAST`.
    time: Duration,
    first_seed: u64,
    threads: usize,
    shrinking: Duration,
}

/// What [`explore`] has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explored {
    /// Runs of the program.
    pub runs: u64,
    /// How many of them differ in what ran when.
    pub schedules: u64,
    /// Steps of threads, in all runs.
    pub steps: u64,
}

/// Runs a program `runs` times in a simulation, by the seeds from 0 on, on all CPUs. Prints how many of the runs differed.
///
/// A run that fails is repeated with ever fewer of its choices by chance, as long as it fails in the same way. Then the
/// caller panics, after a line that repeats the shrunk run: with `LAMPREY_SEED=..` in the environment, `explore` makes that
/// run only, and prints the end of its log. `LAMPREY_RUNS=..` replaces the number of runs.
///
/// # Examples
/// A test of a program with a bug: two that deposit at the same time.
/// ```should_panic
/// use lamprey::{sim, spawn, sync::Mutex};
/// use std::sync::Arc;
///
/// sim::explore(1000, |sim| {
///     sim.run(|| {
///         let account = Arc::new(Mutex::new(0));
///         let both = [10, 20].map(|amount| {
///             let account = account.clone();
///             spawn(move || {
///                 let before = *account.lock().unwrap();
///                 *account.lock().unwrap() = before + amount;
///             })
///         });
///         both.map(|host| host.join().unwrap());
///         assert_eq!(*account.lock().unwrap(), 30);
///     })
/// });
/// ```
///
/// # Panics
/// If a run fails; if two runs by one seed differ, because the program uses what the simulation does not control (kernel
/// threads, `std::time`, the order of a `HashMap`); if an environment variable is no number, or no seed.
///
/// # Cancellation
/// None: the caller is an OS thread.
///
/// # Blocking
/// The calling OS thread waits for the runs, which are on kernel threads of their own.
pub fn explore(runs: u64, program: impl Fn(SimBuilder) + Sync) -> Explored {
    Explore::new(runs).run(program)
}

impl Explore {
    /// Makes `runs` runs.
    pub fn new(runs: u64) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { runs, time: Duration::MAX, first_seed: 0, threads, shrinking: Duration::from_secs(10) }
    }

    /// As many runs as fit into so much real time, and some at least.
    pub(crate) fn fitting(time: Duration) -> Self {
        Self { time, ..Self::new(u64::MAX) }
    }

    /// The seed of the first run; the others count up from it. Default: 0.
    pub fn first_seed(mut self, seed: u64) -> Self {
        self.first_seed = seed;
        self
    }

    /// How many kernel threads make runs. Default: one for each CPU.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// For how long, of real time, a failing run is shrunk. Default: 10 s.
    pub fn shrinking(mut self, most: Duration) -> Self {
        self.shrinking = most;
        self
    }

    /// Makes the runs; see [`explore`].
    pub fn run(mut self, program: impl Fn(SimBuilder) + Sync) -> Explored {
        if let Some(draws) = variable::<Draws>(SEED) {
            repeat(&draws, &program);
            return Explored { runs: 1, schedules: 1, steps: 0 };
        }
        if let Some(runs) = variable(RUNS) {
            (self.runs, self.time) = (runs, Duration::MAX);
        }
        let state = State::new(self.runs);
        std::thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| self.make_runs(&state, &program));
            }
        });
        state.progress.end();
        let found = state.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        match found.failed {
            Some((_, failed)) => self.fail(failed, &program),
            None => {
                let schedules = found.hashes.len() as u64;
                if !found.escaped.is_empty() {
                    let all = Vec::from_iter(found.escaped).join("; ");
                    crate::bug::say!("the program uses what is not simulated: {all}");
                }
                let explored = Explored { runs: found.runs, schedules, steps: found.steps };
                crate::bug::say!("explored: {explored}");
                explored
            }
        }
    }

    /// Makes runs until there are enough, or one has failed.
    fn make_runs(&self, state: &State, program: &(impl Fn(SimBuilder) + Sync)) {
        let begin = Instant::now();
        loop {
            // Relaxed (both): only a count; what was found is under the lock.
            let number = state.next.fetch_add(1, Ordering::Relaxed);
            let is_late = number >= LEAST && begin.elapsed() >= self.time;
            if number >= self.runs || is_late || state.over.load(Ordering::Relaxed) {
                return;
            }
            let draws = Draws { seed: self.first_seed.wrapping_add(number), kept: None };
            let mut made = attempt(program, draws.clone(), false);
            if made.failure.is_none() && number.is_multiple_of(TWICE) {
                made.failure = differs(program, &draws, made.hash);
            }
            state.note(number, made);
        }
    }

    /// Shrinks the run, prints how to repeat it, and panics.
    fn fail(&self, failed: Attempt, program: &(impl Fn(SimBuilder) + Sync)) -> ! {
        let all = failed.used.len();
        let full = failed.draws.clone();
        let shrunk = if failed.failure.as_ref().is_some_and(|text| text.starts_with(DIFFERS)) {
            failed
        } else {
            shrink(failed, self.shrinking, |draws| attempt(program, draws, false))
        };
        let text = shrunk.failure.clone().unwrap_or_default();
        let (left, again) = (shrunk.used.len(), attempt(program, shrunk.draws.clone(), true));
        print_log(&again.log);
        print_switches(&again.log, left);
        crate::bug::say!("a run has failed: {text}");
        crate::bug::say!(
            "{left} of its {all} choices by chance are left. Repeat it, and print its log: {SEED}={} (unshrunk: {SEED}={full})",
            shrunk.draws
        );
        panic!("a simulation failed ({SEED}={}): {text}", shrunk.draws)
    }
}

/// Begins the text of a failure that is no failure of the program's.
const DIFFERS: &str = "two runs by one seed differ";

/// Repeats a run, with its log: the failure, if its log is another one.
fn differs(program: &(impl Fn(SimBuilder) + Sync), draws: &Draws, hash: u64) -> Option<String> {
    if attempt(program, draws.clone(), false).hash == hash {
        return None;
    }
    let logs = [0, 1].map(|_| attempt(program, draws.clone(), true).log);
    let lines = logs[0].lines().zip(logs[1].lines()).find(|(one, other)| one != other);
    let (one, other) = lines.unwrap_or(("the end of the log", "the end of the log"));
    Some(format!(
        "{DIFFERS} (LAMPREY_SEED={draws}): the program uses what the simulation does not control, such as kernel threads, \
         or `std::time` and the order of a `HashMap`, which the crate's feature `sim-std` puts under the seed. The first line of the logs that differs:\n  {one}\n  {other}"
    ))
}

/// Makes one run, with its log, and fails as it does.
fn repeat(draws: &Draws, program: &impl Fn(SimBuilder)) {
    let builder = SimBuilder::new(draws.clone()).logged();
    let told = builder.told.clone();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| program(builder)));
    let log: String = told.borrow().iter().map(|told| &*told.log).collect();
    print_log(&log);
    match outcome {
        Ok(()) => crate::bug::say!("the run of {SEED}={draws} has not failed"),
        Err(payload) => std::panic::resume_unwind(payload),
    }
}

/// Prints where threads are switched by chance in a run that has been shrunk to `left` choices: where the program must be
/// interrupted to fail, and which thread must go on where one waits.
fn print_switches(log: &str, left: usize) {
    let lines = switches(log);
    let first = lines[..lines.len().min(MOST_SWITCHES)].join("\n");
    match lines.len() {
        0 if left == 0 => crate::bug::say!(
            "it fails without any switch by chance: the threads run in the order in which they became ready"
        ),
        0 => crate::bug::say!("it fails without a switch by chance: what is left are delays and faults"),
        MOST_SWITCHES.. => {
            crate::bug::say!("it fails by many switches. The first of them, in milliseconds:\n{first}")
        }
        _ => crate::bug::say!("it fails by these switches, in milliseconds:\n{first}"),
    }
}

/// The lines of a log that tell of a switch by chance: where a thread gives way, or starts another one on another worker; or
/// which one is chosen, after where the one before it waits or yields.
fn switches(log: &str) -> Vec<&str> {
    let (mut lines, mut stop) = (Vec::new(), None);
    for line in log.lines() {
        if line.contains(GIVES_WAY) || line.contains(PLACES) {
            lines.push(line);
            stop = None;
        } else if line.contains(WAITS) || line.contains(YIELDS) || line.contains(ENDS) {
            stop = Some(line);
        } else if line.ends_with(CHOSEN) {
            lines.extend(stop.take());
            lines.push(line);
        }
    }
    lines
}

/// Prints the end of a log, and writes all of it to a file, in the place of the last one that this program has written.
fn print_log(log: &str) {
    let lines: Vec<_> = log.lines().collect();
    let program = std::env::current_exe().ok();
    let name = program.as_deref().and_then(Path::file_stem).unwrap_or_default().to_string_lossy();
    // Without what cargo appends, which changes with each build.
    let name = name.rsplit_once('-').filter(|(_, hash)| hash.len() == 16).map_or(&*name, |(name, _)| name);
    let path = std::env::temp_dir().join(format!("lamprey-sim-{name}.log"));
    let place = match std::fs::write(&path, log) {
        Ok(()) => format!("all {} lines are in {}", lines.len(), path.display()),
        Err(error) => format!("{} cannot be written: {error}", path.display()),
    };
    let last = &lines[lines.len().saturating_sub(LINES)..];
    crate::bug::say!("the end of the log, in milliseconds ({place}):\n{}", last.join("\n"));
}

/// What the kernel threads that make runs share.
struct State {
    next: AtomicU64,
    over: AtomicBool,
    found: Mutex<Found>,
    progress: Progress,
}

#[derive(Default)]
struct Found {
    runs: u64,
    steps: u64,
    hashes: HashSet<u64>,
    escaped: BTreeSet<&'static str>,
    /// The earliest run that has failed.
    failed: Option<(u64, Attempt)>,
}

impl State {
    fn new(runs: u64) -> Self {
        let (next, over) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { next, over, found: Mutex::default(), progress: Progress::new(runs) }
    }

    fn note(&self, number: u64, made: Attempt) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.runs += 1;
        found.steps += made.steps;
        found.hashes.insert(made.hash);
        found.escaped.extend(&made.escaped);
        if made.failure.is_some() {
            // Relaxed: a hint; what was found is under the lock.
            self.over.store(true, Ordering::Relaxed);
            if found.failed.as_ref().is_none_or(|(before, _)| number < *before) {
                found.failed = Some((number, made));
            }
        }
        self.progress.show(found.runs, found.hashes.len() as u64);
    }
}

fn variable<T: std::str::FromStr<Err: fmt::Display>>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|error| panic!("the environment variable {name} is `{text}`: {error}")))
}

impl fmt::Display for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, schedules, steps } = self;
        write!(f, "{runs} runs, {schedules} different ones, {steps} steps")
    }
}

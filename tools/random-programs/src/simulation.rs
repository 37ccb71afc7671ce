//! Programs in Lamprey's simulator: many in a process, one after the other.

use crate::args::Arguments;
use crate::{bytes, hung};
use random_programs::{Simulated, run_simulated};
use std::io::Write;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// One run in this many is made twice, the second time on a kernel thread of its own: what is kept on a kernel thread from
/// one run to the next must make no difference.
const TWICE: u64 = 16;
/// Between two lines of progress.
const PERIOD: Duration = Duration::from_secs(10);

/// Runs programs in this process. It prints the number of each program first, as the command without simulations does.
pub fn here(arguments: &Arguments) -> ExitCode {
    let (done, results) = mpsc::channel();
    let theirs = arguments.clone();
    std::thread::spawn(move || {
        for number in theirs.seed..theirs.seed + theirs.count.unwrap_or(1) {
            println!("{number}");
            let bytes = bytes(&theirs, number);
            for repeat in 0..theirs.repeat {
                let seed = theirs.sim_seed.unwrap_or(number).wrapping_add(repeat);
                let twice = number.wrapping_add(repeat).is_multiple_of(TWICE);
                let wrongs = run(&theirs, &bytes, seed, twice);
                if done.send((seed, wrongs)).is_err() {
                    return;
                }
            }
        }
    });
    for _ in 0..arguments.count.unwrap_or(1) * arguments.repeat {
        let Ok((seed, wrongs)) = results.recv_timeout(arguments.limit) else { hung(arguments) };
        if !wrongs.is_empty() {
            eprintln!("random-programs: by the simulator's seed {seed}:");
            wrongs.iter().for_each(|wrong| eprintln!("random-programs: wrong: {wrong}"));
            std::process::exit(1);
        }
    }
    ExitCode::SUCCESS
}

fn run(arguments: &Arguments, bytes: &[u8], seed: u64, twice: bool) -> Vec<String> {
    let classes = arguments.classes;
    let first = run_simulated(bytes, classes, seed, twice);
    if !twice || !first.wrongs.is_empty() {
        return first.wrongs;
    }
    let bytes = bytes.to_owned();
    let again = std::thread::spawn(move || run_simulated(&bytes, classes, seed, true)).join();
    again.map_or_else(|_| vec!["the second run panicked".to_owned()], |again| differ(&first, &again))
}

/// The failure, if two runs by one seed are not the same.
fn differ(first: &Simulated, again: &Simulated) -> Vec<String> {
    if first == again {
        return Vec::new();
    }
    let mut lines = first.log.lines().zip(again.log.lines()).enumerate();
    let differs = lines.find(|(_, (one, other))| one != other);
    let text = match differs {
        Some((at, (one, other))) => format!("at line {}:\n  {one}\n  {other}", at + 1),
        None => format!("at the end: {:?}", again.wrongs),
    };
    vec![format!("two runs by one seed differ, {text}")]
}

/// How far the simulations are, on standard error.
pub struct Told {
    /// `None`: nothing is said.
    last: Option<Mutex<Instant>>,
    begin: Instant,
    all: u64,
}

impl Told {
    /// Of so many programs.
    pub fn new(arguments: &Arguments, all: u64) -> Self {
        let begin = Instant::now();
        Self { last: arguments.simulated.then(|| Mutex::new(begin)), begin, all }
    }

    /// Says it, if it has not been said for a while.
    pub fn show(&self, done: u64) {
        let Some(last) = &self.last else { return };
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() < PERIOD {
            return;
        }
        *last = Instant::now();
        let rate = done as f64 / self.begin.elapsed().as_secs_f64();
        let all = if self.all >= u64::MAX / 2 { String::new() } else { format!(" of {}", self.all) };
        // It does not matter if nobody reads it.
        let _ = writeln!(std::io::stderr(), "random-programs: {done}{all} programs, {rate:.0}/s");
    }
}

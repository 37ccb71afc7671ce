//! Batches of programs in processes of their own, so that a crash or a hang ends only one batch.

use crate::args::{Arguments, hex};
use random_programs::minimise::minimise;
use random_programs::{Class, of_seed};
use std::io;
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The number of programs in a process.
const BATCH: u64 = 25;

/// How long a program that fails is made smaller.
const MINIMISING: Duration = Duration::from_secs(300);

/// This command for some programs, in a process of its own.
fn command(arguments: &Arguments) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["--here", "--repeat", &arguments.repeat.to_string()])
        .args(["--limit-ms", &arguments.limit.as_millis().to_string()])
        .args(arguments.classes.arguments())
        .stdin(Stdio::null());
    if arguments.classes.has(Class::PanickingDestructors) || arguments.classes.has(Class::Destructors) {
        // rustc forgets a function's result if the destructor of a local unwinds after the result was made
        // (rust-lang/rust#47949).
        command.env("ASAN_OPTIONS", "detect_leaks=0");
    }
    Ok(command)
}

/// Runs a batch; returns the number of the program that failed, if one did, and the output.
fn run_batch(arguments: &Arguments, seed: u64, count: u64) -> io::Result<Option<(u64, Output)>> {
    let mut command = command(arguments)?;
    command.args(["--seed", &seed.to_string(), "--count", &count.to_string()]);
    if let Some(bytes) = &arguments.bytes {
        command.args(["--bytes", &hex(bytes)]);
    }
    let output = command.output()?;
    if output.status.success() {
        return Ok(None);
    }
    let last = String::from_utf8_lossy(&output.stdout).lines().last().and_then(|line| line.parse().ok());
    Ok(Some((last.unwrap_or(seed), output)))
}

/// The end of a process's output.
fn end_of(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    // A sanitizer's report is long, and its beginning matters.
    let from = text.find("Sanitizer: ").map_or(text.len().saturating_sub(4000), |at| at.saturating_sub(500));
    let from = (from..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text[from..].chars().take(8000).collect()
}

/// The command that runs this program again.
fn again(arguments: &Arguments, seed: u64, bytes: Option<&[u8]>) -> String {
    let which = match bytes {
        Some(bytes) => format!("--bytes {}", hex(bytes)),
        None => format!("--seed {seed}"),
    };
    let classes = arguments.classes.arguments().iter().map(|word| format!(" {word}")).collect::<String>();
    let limit = arguments.limit.as_millis();
    let run = if cfg!(feature = "asan") {
        "RUSTFLAGS=-Zsanitizer=address cargo +nightly run --features asan --target x86_64-unknown-linux-gnu --target-dir target/asan"
    } else {
        "cargo run"
    };
    format!("{run} --release -p random-programs -- {which} --repeat 100 --limit-ms {limit}{classes}")
}

/// Runs all batches that the arguments ask for.
pub fn run(arguments: &Arguments) -> ExitCode {
    let end = arguments.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let count = if end.is_some() { u64::MAX - arguments.seed } else { arguments.count.unwrap_or(1) };
    let (next, done, failed) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let batches = || loop {
        // Relaxed, here and below: counters and a flag that order nothing.
        let begin = next.fetch_add(BATCH, Ordering::Relaxed);
        let over = begin >= count || end.is_some_and(|end| Instant::now() > end);
        // Relaxed: a flag that orders nothing.
        if over || failed.load(Ordering::Relaxed) {
            return;
        }
        let size = BATCH.min(count - begin);
        match run_batch(arguments, arguments.seed + begin, size) {
            // Relaxed, in all three: counters and a flag that order nothing.
            Ok(None) => drop(done.fetch_add(size, Ordering::Relaxed)),
            Ok(Some((seed, output))) => {
                // Relaxed: a flag that orders nothing.
                failed.store(true, Ordering::Relaxed);
                report(arguments, seed, &output);
            }
            Err(error) => {
                // Relaxed: a flag that orders nothing.
                failed.store(true, Ordering::Relaxed);
                eprintln!("random-programs: a process cannot be started: {error}");
            }
        }
    };
    std::thread::scope(|threads| {
        for _ in 0..arguments.jobs {
            threads.spawn(batches);
        }
    });
    let (done, failed) = (done.into_inner(), failed.into_inner());
    println!("{done} programs ran to their end, {} times each", arguments.repeat);
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Whether the program fails in one of several runs.
fn fails(arguments: &Arguments, bytes: &[u8]) -> io::Result<bool> {
    let mut command = command(&Arguments { repeat: arguments.repeat.max(30), ..arguments.clone() })?;
    Ok(!command.args(["--bytes", &hex(bytes)]).output()?.status.success())
}

fn report(arguments: &Arguments, seed: u64, output: &Output) {
    eprintln!("{}", end_of(output));
    eprintln!(
        "random-programs: program {seed} failed ({}). To run it again, as often as it takes:",
        output.status
    );
    eprintln!("    {}", again(arguments, seed, arguments.bytes.as_deref()));
    if arguments.minimise {
        let bytes = arguments.bytes.clone().unwrap_or_else(|| of_seed(seed));
        match minimise(bytes, Instant::now() + MINIMISING, |bytes| fails(arguments, bytes)) {
            Ok(Some(small)) => {
                eprintln!("random-programs: a smaller one, of {} bytes:", small.len());
                eprintln!("    {}", again(arguments, seed, Some(&small)));
            }
            Ok(None) => eprintln!("random-programs: it has not failed again, so it was not made smaller"),
            Err(error) => eprintln!("random-programs: a process cannot be started: {error}"),
        }
    }
}

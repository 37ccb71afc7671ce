//! A queue of jobs: shell commands, so many at a time, each tried again when it fails, all within a deadline.
//!
//! ```sh
//! printf 'echo a\nfalse\nsleep 100\n' | cargo run -p lamprey --example jobs -- 2 3 1.5
//! ```
//! The arguments are how many run at once, how often each is tried, and the seconds for all. Standard input has a command a
//! line. The result is a line for each: `ok`, `failed` or `late`, and how often it was tried. Without arguments: three
//! commands of its own.
//!
//! What is late is killed: the deadline cancels the host that waits for the command, whose destructors kill the shell and
//! all that it has started, which are a process group.

use lamprey::process::{Command, Stdio};
use lamprey::{scope, sleep, with_deadline};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fmt::Display;
use std::io;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

struct Limits {
    at_once: usize,
    tries: usize,
    deadline: Instant,
}

/// Runs a command until it succeeds or has been tried often enough; what is printed of it.
fn work(command: &str, limits: &Limits) -> String {
    let tried = AtomicUsize::new(0); // read after a cancellation, too
    let done = with_deadline(limits.deadline, || {
        let mut pause = Duration::from_millis(10);
        for n in 1..=limits.tries {
            if Instant::now() >= limits.deadline {
                return "late"; // also if nothing has had to wait
            }
            // Relaxed: one thread.
            tried.store(n, Ordering::Relaxed);
            match attempt(command) {
                Ok(true) => return "ok",
                Ok(false) => {}
                Err(error) => eprintln!("{command}: {error}"),
            }
            if n < limits.tries {
                sleep(pause);
                pause *= 2;
            }
        }
        "failed"
    });
    format!("{:<6} {} {command}", done.unwrap_or("late"), tried.into_inner())
}

/// Kills a process group when it is dropped. Its leader has not been waited for, so the number is still its own.
struct KillOnDrop(Option<Pid>);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, Signal::KILL); // an error: all of them have ended
        }
    }
}

/// Runs a command once.
fn attempt(command: &str) -> io::Result<bool> {
    let mut child = Command::new("sh").args(["-c", command]).stdin(Stdio::null()).process_group(0).spawn()?;
    let mut group = KillOnDrop(Pid::from_raw(child.id().cast_signed()));
    let status = child.wait()?;
    group.0 = None;
    Ok(status.success())
}

/// Runs all commands; the lines of the result, in the order of the commands.
fn run(commands: &[String], limits: &Limits) -> Vec<String> {
    let (queue, jobs) = lamprey::bounded(commands.len().max(1));
    commands.iter().enumerate().for_each(|job| queue.send(job).unwrap());
    drop(queue);
    let mut done: Vec<_> = scope(|s| {
        let workers = (0..limits.at_once).map(|_| {
            let jobs = jobs.clone();
            s.spawn(move || jobs.iter().map(|(n, job)| (n, work(job, limits))).collect::<Vec<_>>())
        });
        let workers: Vec<_> = workers.collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    done.sort();
    done.into_iter().map(|(_, line)| line).collect()
}

/// A number; what is wrong with it otherwise.
fn number<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| format!("{text}: {error}"))
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (at_once, tries, seconds) = match &*arguments {
        [at_once, tries, seconds] => (number(at_once)?, number(tries)?, number(seconds)?),
        [] => (2, 2, 60.0),
        _ => return Err("usage: jobs [AT-ONCE TRIES SECONDS]".into()),
    };
    if at_once == 0 || tries == 0 {
        return Err("nothing is done 0 at a time, or with 0 tries".into());
    }
    lamprey::run(|| {
        let commands: Vec<String> = match arguments.is_empty() {
            true => ["true", "false", "exit 3"].map(str::to_owned).into(),
            false => lamprey::io::stdin().lines().collect::<io::Result<_>>()?,
        };
        let time = Duration::try_from_secs_f64(seconds).ok();
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        let deadline = deadline.ok_or_else(|| format!("{seconds} seconds are no time"))?;
        run(&commands, &Limits { at_once, tries, deadline }).iter().for_each(|line| println!("{line}"));
        Ok(())
    })
}

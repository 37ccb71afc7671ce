//! Kernel threads outside of a simulation that may be about to send their first message: those that have been started since it
//! began, and are ready to run. On a loaded machine it takes a while until they do.

use crate::kernel::tasks::{self, Task};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The kernel's unit for the time at which a thread was started: a tick of 100 a second.
const TICK: Duration = Duration::from_millis(10);
/// The places of a thread's state, and of when it was started, in the kernel's line.
const STATE: usize = 0;
const STARTED: usize = 19;

/// True if one that has been started after `begin` is ready to run, or runs. False if there is no `/proc`.
pub(super) fn are_starting(begin: Instant) -> bool {
    let Some(now) = uptime() else { return false };
    let since = now.saturating_sub(begin.elapsed() + TICK);
    let own = fs::read_link("/proc/thread-self").ok();
    let own = own.as_deref().and_then(Path::file_name);
    tasks::all().filter(|task| own != Some(&task.name)).any(|task| is_ready(&task, since))
}

/// The time since the machine was started.
fn uptime() -> Option<Duration> {
    let text = fs::read_to_string("/proc/uptime").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_secs_f64)
}

/// True if a thread is ready, or runs, and was started after `since`.
fn is_ready(task: &Task, since: Duration) -> bool {
    let started = task.word(STARTED).and_then(|ticks| ticks.parse::<u32>().ok());
    task.word(STATE) == Some("R") && started.is_some_and(|ticks| TICK * ticks >= since)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_thread_that_runs_is_one_only_if_it_is_young() {
        let (begin, over) = (Instant::now(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    std::hint::spin_loop();
                }
            });
            while !are_starting(begin) {
                std::thread::yield_now();
            }
            over.store(true, Ordering::SeqCst);
        });
        let old = "7 (a) b) S 1 1 1 0 -1 64 0 0 0 0 0 0 0 0 20 0 3 0 500 0 0";
        let young = old.replace(" S ", " R ");
        let is_ready = |line: &str, since| is_ready(&Task::made_up(line), since);
        assert!(!is_ready(old, Duration::from_secs(4)));
        assert!(is_ready(&young, Duration::from_secs(4)));
        assert!(!is_ready(&young, Duration::from_secs(6)));
        assert!(!is_ready("", Duration::ZERO));
    }
}

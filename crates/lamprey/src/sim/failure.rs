//! Why a run has failed.

use super::run::Run;
use crate::sched::panic::Panic;
use crate::sched::thread::{Thread, ThreadState};
use std::fmt::Write;

/// Why a run has failed.
pub(super) enum Failure {
    /// A thread has panicked, and the panic has reached the end of the run.
    Panicked(Panic),
    /// What is said of the run.
    Stuck(String),
}

impl Failure {
    /// All threads wait, and nothing comes.
    pub(super) fn deadlock(run: &Run) -> Self {
        let mut text =
            "deadlock: every thread of the simulation waits, and nothing is under way that could wake one"
                .to_owned();
        if run.called.was_outside() {
            text.push_str("; kernel threads outside of the simulation have woken some before, and may do so again: what they do is not simulated");
        }
        list(run, &mut text);
        Self::Stuck(text)
    }

    pub(super) fn too_long(run: &Run) -> Self {
        let mut text = format!(
            "the simulation has not ended after {} steps ({:?} of its time): see SimBuilder::steps and time_limit",
            run.steps(),
            run.world.elapsed()
        );
        list(run, &mut text);
        Self::Stuck(text)
    }

    pub(super) fn survivors(run: &Run) -> Self {
        let mut text =
            "threads of the simulation have not ended, though they were cancelled: they shield themselves, or catch the unwind"
                .to_owned();
        list(run, &mut text);
        Self::Stuck(text)
    }

    pub(super) fn text(&self) -> String {
        match self {
            Self::Panicked(panic) => panic.to_string(),
            Self::Stuck(text) => text.clone(),
        }
    }

    /// Fails the caller.
    pub(super) fn raise(self) -> ! {
        match self {
            Self::Panicked(panic) => panic.resume(),
            Self::Stuck(text) => panic!("{text}"),
        }
    }
}

/// Most threads that are listed.
const MOST: usize = 50;

/// Adds a line for each thread that has started and has not ended.
fn list(run: &Run, text: &mut String) {
    let mut count = 0;
    for node in &*run.nodes.borrow() {
        for (at, worker) in node.workers() {
            worker.threads(|thread| {
                count += 1;
                if count <= MOST {
                    let _ = write!(text, "\n  {}/{}: ", node.name(), at.worker);
                    describe(thread, text);
                }
            });
        }
    }
    if count > MOST {
        let _ = write!(text, "\n  and {} more", count - MOST);
    }
}

/// Writes what a thread is, and what it waits for. Writing to a `String` cannot fail.
fn describe(thread: &Thread, text: &mut String) {
    let _ = thread.describe(text);
    let _ = match thread.state.get() {
        ThreadState::Blocked | ThreadState::Committed => write!(text, ", waits: {}", thread.reason.get()),
        _ => write!(text, ", is ready"),
    };
}

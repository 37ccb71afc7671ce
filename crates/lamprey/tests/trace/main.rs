//! The scheduler kit: what a scheduler gets of its threads, and they of it.

mod aio;
mod calls;
mod epoll;
mod exceptions;
mod misuse;

use lamprey::trace::{Call, Trace};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// What threads have said, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn say(&self, what: impl ToString) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(what.to_string());
    }

    /// A value that says `what` when it is dropped.
    fn at_drop(&self, what: &'static str) -> AtDrop {
        AtDrop(self.clone(), what)
    }

    fn said(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).join(" ")
    }
}

struct AtDrop(Log, &'static str);

impl Drop for AtDrop {
    fn drop(&mut self) {
        self.0.say(self.1);
    }
}

/// Runs threads round-robin until all have ended, and returns what was thrown out of them. Knows the calls that
/// wait for nothing outside.
fn run(thread: impl Future<Output = ()> + Send + 'static) -> Vec<String> {
    let (mut ready, mut thrown) = (VecDeque::from([Trace::new(thread)]), Vec::new());
    while let Some(trace) = ready.pop_front() {
        match trace.step() {
            Call::Ret => {}
            Call::Yield(trace) | Call::Catch(trace) => ready.push_back(trace),
            Call::Fork { child, parent } => ready.extend([child, parent]),
            Call::Nbio(io) | Call::Blio(io) => ready.push_back(io.perform()),
            Call::Throw(throw) => match throw.raise() {
                Ok(trace) => ready.push_back(trace),
                Err(exception) => thrown.push(exception.to_string()),
            },
            Call::Lock(lock) => ready.extend(lock.acquire()),
            Call::Unlock(unlock) => {
                let (trace, next) = unlock.release();
                ready.push_back(trace);
                ready.extend(next);
            }
            Call::AioRead(read) => ready.push_back(read.perform()),
            call => panic!("{call:?}"),
        }
    }
    thrown
}

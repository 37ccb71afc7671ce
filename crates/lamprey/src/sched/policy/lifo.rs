//! [`Lifo`]: last come, first served.

use super::{Parasites, Policy, Ready, Unstarted, Why};
use std::collections::VecDeque;

/// Last come, first served: the thread that was woken last, or else the one that was spawned last, runs next, while
/// its data is in the cache. A thread that yields goes behind all others. Not fair: two threads that wake each
/// other for ever keep the rest from running. (Begel, MacDonald and Shilman, *PicoThreads: Lightweight Threads in Java*,
/// 5.4.)
///
/// # Examples
/// ```
/// use lamprey::{Runtime, policy::Lifo};
/// let runtime = Runtime::builder().workers(1).policy(Lifo::default).build()?;
/// assert_eq!(runtime.run(|| lamprey::spawn(|| 7).join().unwrap()), 7);
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Default)]
pub struct Lifo(VecDeque<Ready>);

impl Policy for Lifo {
    fn ready(&mut self, thread: Ready, why: Why) {
        match why {
            Why::Yielded => self.0.push_front(thread),
            _ => self.0.push_back(thread),
        }
    }

    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        while let Some(thread) = unstarted.pop() {
            self.0.push_back(thread);
        }
        self.0.pop_back()
    }

    fn parasites(&self) -> Parasites {
        Parasites::Queued
    }
}

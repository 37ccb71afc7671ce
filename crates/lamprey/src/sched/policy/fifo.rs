//! [`Fifo`]: first come, first served.

use super::{Parasites, Policy, Ready, Unstarted, Why};
use std::collections::VecDeque;

/// First come, first served: woken, new and yielding threads, hosts and parasites alike, in one queue. Fair and
/// predictable; two threads that communicate wait for all others between their turns.
///
/// # Examples
/// ```
/// use lamprey::{Runtime, policy::Fifo};
/// let runtime = Runtime::builder().workers(1).policy(Fifo::default).build()?;
/// assert_eq!(runtime.run(|| lamprey::spawn(|| 7).join().unwrap()), 7);
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Default)]
pub struct Fifo(VecDeque<Ready>);

impl Policy for Fifo {
    fn ready(&mut self, thread: Ready, _why: Why) {
        self.0.push_back(thread);
    }

    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        // One new thread at each turn: others may take the rest.
        self.0.extend(unstarted.pop());
        self.0.pop_front()
    }

    fn parasites(&self) -> Parasites {
        Parasites::Queued
    }
}

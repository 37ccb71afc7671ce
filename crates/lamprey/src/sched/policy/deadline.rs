//! [`EarliestDeadline`]: the thread whose deadline is next.

use super::{Parasites, Policy, Ready, Unstarted, Why};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Instant;

/// The thread with the earliest [`deadline`](crate::Builder::deadline) runs next; those without one run last. Among
/// equals, the one that has been ready for longest. As long as all deadlines can be met, this meets them (Liu and
/// Layland, 1973), if threads yield often enough; threads without one may starve.
///
/// # Examples
/// ```
/// use lamprey::{Builder, Runtime, policy::EarliestDeadline};
/// use std::sync::{Arc, Mutex};
/// use std::time::{Duration, Instant};
///
/// let order = Arc::new(Mutex::new(Vec::new()));
/// let runtime = Runtime::builder().workers(1).policy(EarliestDeadline::default).build()?;
/// let theirs = order.clone();
/// runtime.run(move || {
///     let hosts: Vec<_> = [5, 1, 3].map(|seconds| {
///         let (order, deadline) = (theirs.clone(), Instant::now() + Duration::from_secs(seconds));
///         Builder::new().deadline(deadline).spawn(move || order.lock().unwrap().push(seconds)).unwrap()
///     }).into();
///     hosts.into_iter().for_each(|host| host.join().unwrap());
/// });
/// assert_eq!(*order.lock().unwrap(), [1, 3, 5]);
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Default)]
pub struct EarliestDeadline {
    ready: BinaryHeap<Due>,
    /// How many have come so far.
    count: u64,
}

/// A thread with its place in the order: the greatest is next.
#[derive(Debug)]
struct Due {
    deadline: Option<Instant>,
    came: u64,
    thread: Ready,
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_deadline = match (self.deadline, other.deadline) {
            (Some(mine), Some(theirs)) => theirs.cmp(&mine),
            (mine, theirs) => mine.is_some().cmp(&theirs.is_some()),
        };
        by_deadline.then(other.came.cmp(&self.came))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Due {}

impl Policy for EarliestDeadline {
    fn ready(&mut self, thread: Ready, _why: Why) {
        self.count += 1;
        self.ready.push(Due { deadline: thread.hints().deadline, came: self.count, thread });
    }

    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        while let Some(thread) = unstarted.pop() {
            self.ready(thread, Why::Spawned);
        }
        self.ready.pop().map(|due| due.thread)
    }

    fn parasites(&self) -> Parasites {
        Parasites::Queued
    }
}

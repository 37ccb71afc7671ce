//! [`Priority`]: the most urgent thread first.

use super::{Parasites, Policy, Ready, Unstarted, Why};
use std::collections::{BTreeMap, VecDeque};

/// Of this many picks, one takes a thread of the lowest priority that is ready.
const TURN: u32 = 64;

/// The thread with the highest [`priority`](crate::Builder::priority) runs next; among equals, the one that has been
/// ready for longest. Now and then (one pick in 64) a thread of the lowest priority that is ready runs first, so that none starves.
///
/// A thread that holds what an urgent one waits for does not inherit that one's priority.
///
/// # Examples
/// ```
/// use lamprey::{Builder, Runtime, policy::Priority};
/// use std::sync::{Arc, Mutex};
///
/// let order = Arc::new(Mutex::new(Vec::new()));
/// let runtime = Runtime::builder().workers(1).policy(Priority::default).build()?;
/// let theirs = order.clone();
/// runtime.run(move || {
///     let hosts: Vec<_> = [1, 3, 2].map(|priority| {
///         let order = theirs.clone();
///         Builder::new().priority(priority).spawn(move || order.lock().unwrap().push(priority)).unwrap()
///     }).into();
///     hosts.into_iter().for_each(|host| host.join().unwrap());
/// });
/// assert_eq!(*order.lock().unwrap(), [3, 2, 1]);
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Default)]
pub struct Priority {
    queues: BTreeMap<i32, VecDeque<Ready>>,
    picks: u32,
}

impl Policy for Priority {
    fn ready(&mut self, thread: Ready, _why: Why) {
        self.queues.entry(thread.hints().priority).or_default().push_back(thread);
    }

    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        while let Some(thread) = unstarted.pop() {
            self.ready(thread, Why::Spawned);
        }
        self.picks = (self.picks + 1) % TURN;
        let mut queue =
            if self.picks == 0 { self.queues.first_entry()? } else { self.queues.last_entry()? };
        let thread = queue.get_mut().pop_front();
        if queue.get().is_empty() {
            queue.remove();
        }
        thread
    }

    fn parasites(&self) -> Parasites {
        Parasites::Queued
    }
}

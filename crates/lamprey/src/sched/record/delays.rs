//! How long threads that were ready have waited for their turn, from a [`Recording`].

use super::recording::{Recording, What};
use crate::sched::info::ThreadInfo;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// A thread that was ready, and how long it has waited until it ran ([`Recording::delays`]).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Delay {
    /// The thread.
    pub thread: ThreadInfo,
    /// When it was ready: woken, or spawned; or when its time was over.
    pub since: Instant,
    /// From then until it ran.
    pub waited: Duration,
}

/// A thread that is ready.
struct Ready {
    /// The worker that has said so.
    worker: usize,
    since: Instant,
    /// It is on its way to its worker, which wakes it there.
    is_sent: bool,
}

impl Recording {
    /// How long threads that were ready have waited for their turn, the longest first: those that were woken, or spawned, and have run
    /// since then. What a worker was busy with meanwhile are its [steps](Self::steps) in between.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// lamprey::spawn(|| ()).join().unwrap();
    /// if let Some(longest) = lamprey::inspect::recording().delays().first() {
    ///     println!("{} was ready, and ran {:?} later", longest.thread, longest.waited);
    /// }
    /// # });
    /// ```
    #[doc(alias = "schedule delay")]
    #[must_use]
    pub fn delays(&self) -> Vec<Delay> {
        let mut delays = Vec::new();
        let mut ready = HashMap::<(usize, u64), Ready>::new();
        for step in &self.steps {
            match &step.what {
                What::Sent { thread, .. } => {
                    let sent = Ready { worker: step.worker, since: step.at, is_sent: true };
                    let earlier = ready.entry((step.runtime, thread.id()));
                    earlier.and_modify(|ready| ready.is_sent = true).or_insert(sent);
                }
                What::Woken { thread, late, .. } => {
                    let since = step.at.checked_sub(*late).unwrap_or(step.at);
                    let woken = Ready { worker: step.worker, since, is_sent: false };
                    match ready.get_mut(&(step.runtime, thread.id())) {
                        Some(sent) if sent.is_sent => sent.is_sent = false,
                        _ => _ = ready.insert((step.runtime, thread.id()), woken),
                    }
                }
                What::Spawned { thread, .. } => {
                    let spawned = Ready { worker: step.worker, since: step.at, is_sent: false };
                    ready.insert((step.runtime, thread.id()), spawned);
                }
                What::Ran { thread, .. } => {
                    if let Some(Ready { since, .. }) = ready.remove(&(step.runtime, thread.id())) {
                        let waited = step.at.saturating_duration_since(since);
                        delays.push(Delay { thread: thread.clone(), since, waited });
                    }
                }
                // Some may run, and be ready again, before the next step that is known.
                What::Missed => {
                    let missed = (step.runtime, step.worker);
                    ready.retain(|(runtime, _), ready| (*runtime, ready.worker) != missed);
                }
                _ => {}
            }
        }
        delays.sort_by_key(|delay| std::cmp::Reverse(delay.waited));
        delays
    }
}

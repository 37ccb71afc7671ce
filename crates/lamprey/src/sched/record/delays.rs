//! How long threads that were ready have waited for their turn, from a [`Recording`].

use super::recording::{Recording, What};
use crate::sched::info::ThreadInfo;
use std::collections::{HashMap, HashSet};
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
        // The threads that are ready, each with the worker that has said so.
        let mut ready = HashMap::<(usize, u64), (usize, Instant)>::new();
        let mut sent = HashSet::<(usize, u64)>::new();
        for step in &self.steps {
            match &step.what {
                // On its way to its worker it is ready, too; there it is woken.
                What::Sent { thread, .. } => {
                    ready.entry((step.runtime, thread.id())).or_insert((step.worker, step.at));
                    sent.insert((step.runtime, thread.id()));
                }
                What::Woken { thread, late, .. } => {
                    let thread = (step.runtime, thread.id());
                    let since = step.at.checked_sub(*late).unwrap_or(step.at);
                    if !sent.remove(&thread) || !ready.contains_key(&thread) {
                        ready.insert(thread, (step.worker, since));
                    }
                }
                What::Spawned { thread, .. } => {
                    ready.insert((step.runtime, thread.id()), (step.worker, step.at));
                }
                What::Ran { thread, .. } => {
                    if let Some((_, since)) = ready.remove(&(step.runtime, thread.id())) {
                        let waited = step.at.saturating_duration_since(since);
                        delays.push(Delay { thread: thread.clone(), since, waited });
                    }
                }
                // Some may run, and be ready again, before the next step that is known.
                What::Missed => {
                    let missed = (step.runtime, step.worker);
                    ready.retain(|(runtime, _), (worker, _)| (*runtime, *worker) != missed);
                }
                _ => {}
            }
        }
        delays.sort_by_key(|delay| std::cmp::Reverse(delay.waited));
        delays
    }
}

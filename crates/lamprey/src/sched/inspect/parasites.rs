//! The stackless parasites of a worker, for its answer to the survey: those that wait alike as one.
//!
//! # Invariants
//! 1. What a task is called is read only where it cannot be freed meanwhile: one that only its home worker runs, on that
//!    worker; one that any worker may run while the reader holds the right to run it ([`Task::look_at`]).
//!
//! # Checked by
//! `model::life` (loom, with a broken variant that it catches), `tests/inspect/looks.rs`.

use super::found::Found;
use crate::sched::parasite::task::Task;
use crate::sched::reason::Wait;
use crate::sched::thread::Kind;
use crate::sched::worker::Worker;
use std::collections::HashMap;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

/// A group's future, name, spawn site and wait reason.
type Alike = (*const u8, Option<Arc<str>>, Option<&'static Location<'static>>, Option<Wait>);

/// The text for parasites that other workers may run and free at any moment.
const BUSY: &str = "a future that runs, or is about to";

impl Worker {
    /// On the root: adds the parasites that are at home here and have not ended.
    pub(super) fn add_parasites(&self, found: &mut Vec<Found>) {
        let mut like: HashMap<Alike, usize> = HashMap::new();
        let mut add = |block: NonNull<u8>| {
            if let Some(one) = self.parasite_in(block.cast()) {
                let future = one.future.unwrap_or_default().as_ptr();
                let alike = (future, one.name.clone(), one.spawn_site, one.wait);
                let place = *like.entry(alike).or_insert(found.len());
                match found.get_mut(place) {
                    Some(first) => first.count += 1,
                    None => found.push(one),
                }
            }
        };
        self.parasites.slab.each_live(&mut add);
        // Not while the lock of that slab is held: a parasite may be woken here.
        let mut outside = Vec::new();
        self.remote.outside.tend(|slab| slab.0.each_live(|block| outside.push(block)));
        outside.into_iter().for_each(add);
    }

    /// The task in a block of this worker's slabs that looks live; `None` if it is over.
    fn parasite_in(&self, this: NonNull<Task>) -> Option<Found> {
        // SAFETY: a block with its mark holds a task. If another kernel thread has given it back, or does now, only its
        // link is written until this worker takes it back: the life can be read.
        let task = unsafe { this.as_ref() };
        if task.life.is_over() {
            return None;
        }
        if !task.life.is_shared() {
            return Some(self.describe(task, task.life.waits()));
        }
        // SAFETY: this worker is its home.
        let held = unsafe { Task::look_at(this, self, |task| self.describe(task, task.life.noted())) };
        Some(held.unwrap_or_else(|| self.found(0, None, BUSY, None, None)))
    }

    /// The entry of a task that is not freed meanwhile (invariant 1).
    fn describe(&self, task: &Task, wait: Option<Wait>) -> Found {
        let name = task.given_name().cloned();
        self.found(task.number(), name, (task.body.name)(), task.spawn_site(), wait)
    }

    fn found(
        &self,
        id: u64,
        name: Option<Arc<str>>,
        future: &'static str,
        spawn_site: Option<&'static Location<'static>>,
        wait: Option<Wait>,
    ) -> Found {
        Found {
            id,
            name,
            kind: Kind::Parasite,
            worker: self.remote.index,
            spawn_site,
            wait,
            polls: None,
            future: Some(future),
            count: 1,
            stack: Vec::new(),
        }
    }
}

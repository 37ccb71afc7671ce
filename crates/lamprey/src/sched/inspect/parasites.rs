//! The stackless parasites of a worker, for its answer to the survey: those that wait alike as one.
//!
//! # Invariants
//! 1. What a task is called is read only where it cannot be freed meanwhile: one that only its home worker runs, on that
//!    worker; one that any worker may run while the reader holds the right to run it ([`Task::look_at`]).
//!
//! # Checked by
//! `model::life` (loom, with a broken variant that it catches), `tests/inspect/looks.rs`.

use super::found::Found;
use super::object::Objects;
use crate::memory::slab::Place;
use crate::sched::parasite::owned::OutsideSlab;
use crate::sched::parasite::task::Task;
use crate::sched::reason::Wait;
use crate::sched::thread::Kind;
use crate::sched::worker::Worker;
use std::collections::HashMap;
use std::panic::Location;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// What parasites that are listed as one have in common: future, name, spawn site, wait reason, and where what they wait for was made.
type Alike = (
    *const u8,
    Option<Arc<str>>,
    Option<&'static Location<'static>>,
    Option<Wait>,
    Option<&'static Location<'static>>,
);

/// The text for parasites that other workers may run and free at any moment.
const BUSY: &str = "a future that runs, or is about to";

/// The parasites of a worker, as far as they have been looked at.
#[derive(Default)]
pub(super) struct ParasiteWalk {
    /// In the worker's own slab.
    here: Place,
    /// In the slab of those that came from outside.
    outside: Place,
    found: Vec<Found>,
    like: HashMap<Alike, usize>,
    /// The place in `found` of the one that was added last: the next one is often like it.
    last: usize,
}

impl ParasiteWalk {
    /// On the root: adds those of one chunk; false if there are no more.
    pub(super) fn go_on(&mut self, worker: &Worker) -> bool {
        let mut here = self.here;
        let found =
            worker.parasites.slab.live_of_next_chunk(&mut here, |block| self.look(worker, block.cast()));
        self.here = here;
        if found {
            return true;
        }
        // Not while the lock of that slab is held: a parasite may be woken here.
        let (mut is_there, mut blocks, mut outside) = (false, Vec::new(), self.outside);
        let mut collect =
            |slab: &OutsideSlab| slab.0.live_of_next_chunk(&mut outside, |block| blocks.push(block));
        worker.remote.outside.tend(|slab| is_there = collect(slab));
        self.outside = outside;
        blocks.into_iter().for_each(|block| self.look(worker, block.cast()));
        is_there
    }

    pub(super) fn take_found(&mut self) -> Vec<Found> {
        std::mem::take(&mut self.found)
    }

    /// Looks at a block of the worker's slabs that looks live. It may be over.
    fn look(&mut self, worker: &Worker, this: NonNull<Task>) {
        // SAFETY: a block with its mark holds a task. If another kernel thread has given it back, or does now, only its
        // link is written until this worker takes it back: the life can be read.
        let task = unsafe { this.as_ref() };
        if task.life.is_over() {
            return;
        }
        if !task.life.is_shared() {
            return self.add(worker, task, task.life.waits());
        }
        // SAFETY: this worker is its home.
        let held = unsafe { Task::look_at(this, worker, |task| self.add(worker, task, task.life.noted())) };
        if held.is_none() {
            let alike = (BUSY.as_ptr(), None, None, None, None);
            self.add_as(alike, || worker.parasite_found(0, BUSY));
        }
    }

    /// Adds a task that is not freed meanwhile (invariant 1).
    fn add(&mut self, worker: &Worker, task: &Task, wait: Option<Wait>) {
        let (future, site, name) = ((task.body.name)(), task.spawn_site(), task.given_name());
        let made = wait.and_then(|_| task.life.noted_origin()).map(|(made, _)| made);
        let like_last = self.found.get_mut(self.last).filter(|last| {
            let same_name = match (&last.name, name) {
                (Some(one), Some(other)) => Arc::ptr_eq(one, other),
                (one, other) => one.is_none() && other.is_none(),
            };
            let its_future = last.future.map(str::as_ptr);
            its_future == Some(future.as_ptr())
                && same_name
                && (last.spawn_site, last.wait) == (site, wait)
                && last.objects.as_slice().first().and_then(|object| object.made_at()) == made
        });
        match like_last {
            Some(last) => last.count += 1,
            None => {
                let alike = (future.as_ptr(), name.cloned(), site, wait, made);
                self.add_as(alike, || worker.describe(task, wait));
            }
        }
    }

    fn add_as(&mut self, alike: Alike, describe: impl FnOnce() -> Found) {
        self.last = *self.like.entry(alike).or_insert(self.found.len());
        match self.found.get_mut(self.last) {
            Some(first) => first.count += 1,
            None => self.found.push(describe()),
        }
    }
}

impl Worker {
    /// The entry of a task that is not freed meanwhile (invariant 1).
    fn describe(&self, task: &Task, wait: Option<Wait>) -> Found {
        Found {
            name: task.given_name().cloned(),
            spawn_site: task.spawn_site(),
            wait,
            objects: Objects::noted(wait, task.life.noted_origin()),
            address: ptr::from_ref(task).addr(),
            ..self.parasite_found(task.number(), (task.body.name)())
        }
    }

    fn parasite_found(&self, id: u64, future: &'static str) -> Found {
        Found { future: Some(future), ..Found::new(id, Kind::Parasite, self.remote.index) }
    }
}

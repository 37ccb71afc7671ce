//! A table for debuggers: which workers there are, and where in memory what is that they show. With it the scripts in
//! `tools/` need no types, so they read release builds and core files.
//!
//! The program itself never reads it. A debugger finds it by its symbol, `lamprey::sched::inspect::layout::TABLE`.
//!
//! # States
//! An entry of the list of workers is vacant (its worker is null) or taken. Entries are leaked, linked once, and used again.
//!
//! # Orderings
//! Readers are debuggers, which stop the process; writers only agree on who takes an entry. All Relaxed but the link of
//! a new entry.
//!
//! # Checked by
//! The step `debugger` of CI.

use crate::memory::slab;
use crate::sched::hints::Given;
use crate::sched::parasite::life::Life;
use crate::sched::parasite::owned::Parasites;
use crate::sched::parasite::task::{Named, Task, TaskBody};
use crate::sched::reason::Wait;
use crate::sched::thread::{Kind, Thread, ThreadState};
use crate::sched::worker::Worker;
use crate::sched::worker_shared::WorkerShared;
use crate::sync_shim::{AtomicPtr, AtomicUsize, Ordering};
use std::mem::offset_of;
use std::panic::Location;
use std::ptr;
use std::sync::Arc;

/// A name and a number.
#[repr(C)]
struct Field(&'static str, usize);

/// A worker that there is.
#[repr(C)]
struct Entry {
    worker: AtomicPtr<Worker>,
    remote: AtomicPtr<WorkerShared>,
    next: *const Entry,
}

// SAFETY: `next` does not change once the entry can be found.
unsafe impl Sync for Entry {}

#[repr(C)]
struct Table {
    /// [`VERSION`], by which debuggers see that they know what follows.
    version: usize,
    workers: AtomicPtr<Entry>,
    fields: &'static [Field],
    slab: &'static [(&'static str, usize)],
    life: &'static [(&'static str, usize)],
    sizes: &'static [usize],
    reasons: &'static [&'static str],
    /// The offsets of a vector's pointer and length: the language does not promise them.
    vector: [AtomicUsize; 2],
}

// SAFETY: shared references to constants, and atomics.
unsafe impl Sync for Table {}

/// `lamprey`, then the number of the version.
const VERSION: usize = usize::from_le_bytes(*b"lamprey1");

/// The offset of a field that this build does not have.
const NONE: usize = usize::MAX;
#[cfg(debug_assertions)]
const SPAWN_SITE: usize = offset_of!(Task, spawn_site);
#[cfg(not(debug_assertions))]
const SPAWN_SITE: usize = NONE;

/// `#[used]`, so that the compiler keeps what the program never reads.
#[used]
static TABLE: Table = Table {
    version: VERSION,
    workers: AtomicPtr::new(ptr::null_mut()),
    fields: &[
        Field("remote.index", offset_of!(WorkerShared, index)),
        Field("remote.tid", offset_of!(WorkerShared, tid)),
        Field("remote.slabs", offset_of!(WorkerShared, slabs)),
        Field("worker.running", offset_of!(Worker, running)),
        Field("worker.newest", offset_of!(Worker, newest)),
        Field("worker.slab", offset_of!(Worker, parasites) + offset_of!(Parasites, slab)),
        Field("thread.sp", offset_of!(Thread, sp)),
        Field("thread.kind", offset_of!(Thread, kind)),
        Field("thread.state", offset_of!(Thread, state)),
        Field("thread.reason", offset_of!(Thread, reason)),
        Field("thread.older", offset_of!(Thread, older)),
        Field("thread.id", offset_of!(Thread, label.id)),
        Field("thread.given", offset_of!(Thread, label.given)),
        Field("thread.spawn_site", offset_of!(Thread, label.spawn_site)),
        Field("thread.stack_size", offset_of!(Thread, label.stack_size)),
        Field("given.name", offset_of!(Given, name)),
        Field("task.body", offset_of!(Task, body)),
        Field("task.life", offset_of!(Task, life)),
        Field("task.spawn_site", SPAWN_SITE),
        Field("body.name", offset_of!(TaskBody, name)),
        Field("body.named", offset_of!(TaskBody, named)),
        Field("named.given", offset_of!(Named, given)),
        Field("state Runnable", ThreadState::Runnable as usize),
        Field("state Blocked", ThreadState::Blocked as usize),
        Field("state Committed", ThreadState::Committed as usize),
        Field("kind Parasite", Kind::Parasite as usize),
    ],
    slab: &slab::LAYOUT,
    life: &Life::LAYOUT,
    sizes: &slab::SIZES,
    reasons: &Wait::TEXTS,
    vector: [AtomicUsize::new(NONE), AtomicUsize::new(NONE)],
};

/// What the scripts take for granted of a [`Location`]: the pointer to its file, the length, line and column.
const _: () = {
    let here = Location::caller();
    let words = ptr::from_ref(here).cast::<usize>();
    // SAFETY: within the location, whose size is checked.
    let (length, line) = unsafe { (words.add(1).read(), words.add(2).cast::<u32>().read()) };
    assert!(size_of::<Location<'_>>() == 24 && length >= here.file().len() && line == here.line());
};

/// Keeps a worker in the list.
pub(in crate::sched) struct Known(&'static Entry);

/// Enters a worker into the list, until the result is dropped.
pub(in crate::sched) fn enter(worker: &Worker) -> Known {
    note_vector();
    let me = ptr::from_ref(worker).cast_mut();
    // Acquire pairs with the Release below.
    let mut entry = TABLE.workers.load(Ordering::Acquire).cast_const();
    // SAFETY: entries are leaked.
    while let Some(here) = unsafe { entry.as_ref() } {
        // Relaxed: no data travels with it.
        if here.worker.compare_exchange(ptr::null_mut(), me, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            return Known::of(here, worker);
        }
        entry = here.next;
    }
    let new = Box::leak(Box::new(Entry {
        worker: AtomicPtr::new(me),
        remote: AtomicPtr::new(ptr::null_mut()),
        next: ptr::null(),
    }));
    // Acquire pairs with the Release below.
    let mut first = TABLE.workers.load(Ordering::Acquire);
    loop {
        new.next = first;
        // Release pairs with the Acquire loads of who walks the list.
        match TABLE.workers.compare_exchange(first, new, Ordering::Release, Ordering::Acquire) {
            Ok(_) => return Known::of(new, worker),
            Err(now) => first = now,
        }
    }
}

impl Known {
    fn of(entry: &'static Entry, worker: &Worker) -> Self {
        // Relaxed: read by debuggers only.
        entry.remote.store(Arc::as_ptr(&worker.remote).cast_mut(), Ordering::Relaxed);
        Self(entry)
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        // Relaxed: no data travels with it.
        self.0.worker.store(ptr::null_mut(), Ordering::Relaxed);
    }
}

/// Finds out where a vector has its pointer and its length.
fn note_vector() {
    let mut vector = Vec::<u64>::with_capacity(7);
    vector.extend([0; 3]);
    // SAFETY: a vector is three words: pointer, length and capacity.
    let words: [usize; 3] = unsafe { ptr::from_ref(&vector).cast::<[usize; 3]>().read() };
    for (place, word) in TABLE.vector.iter().zip([vector.as_ptr().addr(), vector.len()]) {
        let number = words.iter().position(|one| *one == word);
        // Relaxed: read by debuggers only; each writes the same.
        place.store(number.map_or(NONE, |number| number * size_of::<usize>()), Ordering::Relaxed);
    }
}

const _: () = assert!(size_of::<Vec<u64>>() == size_of::<[usize; 3]>());

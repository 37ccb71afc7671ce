//! Placement: on which worker a new host starts. That is its spawner's, unless the host could hold others up
//! there, or too many hosts live there already.
//!
//! A host that has started stays on its worker, so the decision is made when a worker is about to start one:
//!
//! 1. **It may compute for long**, another worker has nothing to do, and this one has threads that wait for
//!    the clock or the system, or are ready. Then it goes to that other worker, with the unstarted hosts that
//!    follow it in the queue, so that hosts that communicate stay together. Which hosts compute for long is
//!    remembered for each *kind* (the type of the closure). For an unknown kind, the first host is timed
//!    until it first blocks, yields or ends.
//! 2. **Markedly more hosts live here** than on another worker (the others are compared in turn). Then that
//!    worker gets it, and half of the unstarted hosts. Hosts that end soon never count.
//!
//! # What it costs
//! Starting a host of a known kind: two loads, one of the kind and one of the number of hosts here; from
//! [`FEW`] hosts on, two more of another worker's numbers.
//!
//! # Who may touch what
//! [`Kinds`](super::kinds::Kinds) and `WorkerShared::hosts`: any thread. All are hints, hence Relaxed. Hosts
//! travel through the inbox.
//!
//! # Rejected
//! * A decision at the spawn: whether the spawner can be held up shows only when it blocks. A host that joins
//!   what it spawned cannot.
//! * Handing over each host of an unknown kind while a worker is idle: hosts that communicate would be
//!   separated, and a message between workers costs as much as forty on one.
//! * Spreading from the first host on: ten hosts that communicate are work for one worker.
//!
//! # Checked by
//! `tests/sched/placement.rs`; `bench` (`stalls`, `echo`).

use super::reason::Wait;
use super::thread::Entry;
use super::thread::{Thread, ThreadState};
use super::waiter::Waiter;
use super::worker::Worker;
use super::worker_shared::WorkerShared;
use crate::sync_shim::Ordering;
use crate::time::clock;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Up to this number of hosts live here, however few others have.
const FEW: usize = 8;
/// Most hosts handed over at once.
const BATCH: usize = 256;
/// Most threads of the worker that are examined, newest first.
const LOOKED_AT: usize = 32;
/// A run is long if it takes more than this many poll intervals.
const LONG: u64 = 4;
/// Of the starts of a long kind, one in this many is timed again.
const SELDOM: u64 = 16;

impl WorkerShared {
    /// The number of hosts that live on the worker, or wait to start there.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn population(&self) -> usize {
        let look = self.unstarted.look();
        // Relaxed: a hint.
        self.hosts.load(Ordering::Relaxed) + look.tail.wrapping_sub(look.head)
    }

    /// True if the worker has nothing to do.
    fn is_free(&self) -> bool {
        // Relaxed: a hint.
        !self.is_working.load(Ordering::Relaxed) && self.inbox.is_empty()
    }
}

impl Worker {
    /// True if this new host, which is about to start, has been handed over to another worker, to start
    /// there.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn starts_elsewhere(&self, thread: NonNull<Thread>) -> bool {
        if !self.is_parallel() {
            return false;
        }
        let fewer = self.other_with_fewer();
        // SAFETY: picked, so alive until it has run.
        if fewer.is_none() && self.shared.kinds.is_short(unsafe { thread.as_ref() }.body) {
            return false;
        }
        self.place(thread, fewer)
    }

    /// Another worker with markedly fewer hosts; one worker is compared per call, in turn.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn other_with_fewer(&self) -> Option<&WorkerShared> {
        let mine = self.hosts.get();
        if mine <= FEW {
            return None;
        }
        let remotes = self.shared.remotes();
        let mut turn = self.placing.turn_of_others.get() + 1;
        if turn == self.remote.index {
            turn += 1;
        }
        let remote = remotes.get(turn).unwrap_or_else(|| &remotes[usize::from(self.remote.index == 0)]);
        self.placing.turn_of_others.set(remote.index);
        let theirs = remote.population();
        (mine > theirs + theirs / 8 + FEW).then_some(&**remote)
    }

    #[cold]
    #[inline(never)]
    fn place(&self, thread: NonNull<Thread>, fewer: Option<&WorkerShared>) -> bool {
        // SAFETY: picked, so alive until it has run.
        let entry = unsafe { thread.as_ref() };
        if !entry.label.pinned.get() && !entry.label.is_placed.get() && !self.stopping.get() {
            let other = fewer.map(|remote| (remote, self.unstarted() / 2));
            let other = other.or_else(|| self.free_other(entry).map(|remote| (remote, self.unstarted())));
            if let Some((remote, with_it)) = other {
                self.hand_over(thread, with_it.min(BATCH), remote);
                return true;
            }
        }
        // A long kind is timed again only now and then.
        if !self.shared.kinds.is_long(entry.body) || entry.label.id.get() % SELDOM == 0 {
            self.watch_first_run(entry);
        }
        false
    }

    fn unstarted(&self) -> usize {
        let look = self.remote.unstarted.look();
        look.tail.wrapping_sub(look.head)
    }

    /// The free worker with the fewest hosts, if this host is not known to be short and could hold others up
    /// here.
    fn free_other(&self, new: &Thread) -> Option<&WorkerShared> {
        if self.shared.kinds.is_short(new.body) {
            return None;
        }
        let others = self
            .shared
            .remotes()
            .iter()
            .filter(|remote| !Arc::ptr_eq(remote, &self.remote) && remote.is_free());
        let free = others.min_by_key(|remote| remote.population())?;
        self.has_some_to_hold_up().then_some(&**free)
    }

    /// True if a thread of this worker is ready, or waits for something from outside. A thread that yields
    /// does not count: it asks for others to run.
    fn has_some_to_hold_up(&self) -> bool {
        let mut next = self.newest.get();
        for _ in 0..LOOKED_AT {
            // SAFETY: listed threads are alive until they end, which none does during this loop.
            let Some(thread) = (unsafe { next.as_ref() }) else { return false };
            next = thread.older.get();
            let waits_outside = || {
                matches!(
                    thread.reason.get(),
                    Wait::Sleep
                        | Wait::SocketRead
                        | Wait::SocketWrite
                        | Wait::Accept
                        | Wait::AcceptPause
                        | Wait::Connect
                        | Wait::Signal
                        | Wait::Readable
                        | Wait::Writable
                        | Wait::Blocking
                        | Wait::File
                        | Wait::FileLock
                )
            };
            let can_be_held_up = match thread.state.get() {
                ThreadState::Runnable => true,
                ThreadState::Blocked => waits_outside(),
                _ => false,
            };
            let yields =
                ptr::eq(thread, self.running().as_ptr()) || ptr::eq(thread, self.placing.gave_way.get());
            let yields = yields && thread.state.get() == ThreadState::Runnable;
            if can_be_held_up && !yields && !super::parasite::carrier::is_carrier(thread) {
                return true;
            }
        }
        false
    }

    /// Hands a new host over to another worker, and up to `with_it` of the unstarted hosts spawned after it.
    fn hand_over(&self, first: NonNull<Thread>, with_it: usize, remote: &WorkerShared) {
        // Relaxed: a hint, overwritten when the worker starts them.
        remote.hosts.fetch_add(with_it + 1, Ordering::Relaxed);
        let mut next = Some(Entry(first));
        for _ in 0..=with_it {
            // SAFETY: this is the owning kernel thread, outside of every section of the queue.
            let Some(Entry(thread)) = next.take().or_else(|| unsafe { self.remote.unstarted.next() }) else {
                return;
            };
            // SAFETY: unstarted, and out of the queue: owned by this call.
            unsafe {
                thread.as_ref().label.is_placed.set(true);
                if remote.deliver(Waiter::thread(thread)).is_err() {
                    // That worker has ended: back into the queue. Not abandoned here, because destructors
                    // would run in the middle of a switch.
                    return self.remote.unstarted.push(Entry(thread));
                }
            }
        }
    }

    /// Times the first run of this host, which is about to start: the next scheduling point reads the clock.
    fn watch_first_run(&self, new: &Thread) {
        self.placing.watched.set(Some((new.body, clock::ticks())));
        self.cut_budget();
    }

    /// At a scheduling point: notes the length of a timed first run; false if none is timed.
    pub(super) fn note_first_run(&self, now: u64) -> bool {
        let Some((body, begun)) = self.placing.watched.take() else { return false };
        self.shared.kinds.note(body, now.wrapping_sub(begun) > self.rounds.poll_every * LONG);
        true
    }

    /// The running thread has computed for `ticks`: notes its kind as long if that is long.
    pub(super) fn note_run(&self, ticks: u64) {
        if self.is_parallel() && ticks > self.rounds.poll_every * LONG {
            self.shared.kinds.note(self.running_ref().body, true);
        }
    }
}

//! Where a new host starts: on its spawner's worker, unless it could hold others up there, or too many live
//! there already.
//!
//! A host that has started stays, so the question is asked when a worker is about to start one:
//!
//! 1. **It may compute for long** while another worker has nothing to do, and this one has threads that wait
//!    for the clock, for the system, or for their turn. Then it goes to that other worker, with what has been
//!    spawned with it, so that hosts that talk stay together. Which hosts compute for long is remembered for
//!    each *kind* (the type of the closure): of a kind that is not known, the first one is watched until it
//!    first blocks, yields or ends.
//! 2. **Markedly more hosts live here** than on another worker, looked at in turn. Then that gets it, and
//!    half of those that wait to start. Hosts that end soon never count.
//!
//! # What it costs
//! Starting a host of a known kind: two loads, of the kind and of how many hosts live here, and from [`FEW`]
//! on two of another worker's.
//!
//! # Who may touch what
//! [`Kinds`](super::kinds::Kinds) and `Seat::hosts`: anyone. All are hints, hence Relaxed. What is handed
//! over travels through the inbox.
//!
//! # Rejected
//! * To ask at the spawn: whether the spawner can be held up shows when it blocks. One that joins what it
//!   spawned cannot.
//! * To hand over each host of an unknown place while a worker is idle: hosts that talk would be parted, and
//!   a message between workers costs as much as forty on one.
//! * To spread from the first host on: ten hosts that talk are one worker's work.
//!
//! # Checked by
//! `tests/sched/placement.rs`; `bench` (`stalls`, `echo`).

use super::reason::Wait;
use super::seat::Seat;
use super::thread::Entry;
use super::thread::{State, Thread};
use super::waiter::Waiter;
use super::worker::Worker;
use crate::sync_shim::Ordering;
use crate::time::clock;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// So many hosts may live here, whatever others have.
const FEW: usize = 8;
/// Most hosts that are handed over at once.
const BATCH: usize = 256;
/// Threads of the worker that are looked at, the newest first.
const LOOKED_AT: usize = 32;
/// What computes for longer than so many periods of `root::POLL` is long.
const LONG: u64 = 4;
/// Of so many runs of a long kind one is watched.
const SELDOM: u64 = 16;

impl Seat {
    /// How many hosts live there, or are about to.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn population(&self) -> usize {
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
    /// True if this new host, which is about to start, starts on another worker, and has been given to it.
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

    /// Another worker with markedly fewer hosts; each is looked at in turn.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn other_with_fewer(&self) -> Option<&Seat> {
        let mine = self.hosts.get();
        if mine <= FEW {
            return None;
        }
        let seats = self.shared.seats();
        let mut turn = self.placing.turn_of_others.get() + 1;
        if turn == self.seat.index {
            turn += 1;
        }
        let seat = seats.get(turn).unwrap_or_else(|| &seats[usize::from(self.seat.index == 0)]);
        self.placing.turn_of_others.set(seat.index);
        let theirs = seat.population();
        (mine > theirs + theirs / 8 + FEW).then_some(&**seat)
    }

    #[cold]
    #[inline(never)]
    fn place(&self, thread: NonNull<Thread>, fewer: Option<&Seat>) -> bool {
        // SAFETY: picked, so alive until it has run.
        let entry = unsafe { thread.as_ref() };
        if !entry.label.pinned && !entry.label.is_placed.get() && !self.stopping.get() {
            let other = fewer.map(|seat| (seat, self.unstarted() / 2));
            let other = other.or_else(|| self.free_other(entry).map(|seat| (seat, self.unstarted())));
            if let Some((seat, with_it)) = other {
                self.hand_over(thread, with_it.min(BATCH), seat);
                return true;
            }
        }
        // Whether a long kind still is long is asked now and then only.
        if !self.shared.kinds.is_long(entry.body) || entry.label.id.get() % SELDOM == 0 {
            self.watch_first_run(entry);
        }
        false
    }

    fn unstarted(&self) -> usize {
        let look = self.seat.unstarted.look();
        look.tail.wrapping_sub(look.head)
    }

    /// Of the workers with nothing to do, that with the fewest hosts, if a host that is not known to be short
    /// could hold others up here.
    fn free_other(&self, new: &Thread) -> Option<&Seat> {
        if self.shared.kinds.is_short(new.body) {
            return None;
        }
        let others =
            self.shared.seats().iter().filter(|seat| !Arc::ptr_eq(seat, &self.seat) && seat.is_free());
        let free = others.min_by_key(|seat| seat.population())?;
        self.has_some_to_hold_up().then_some(&**free)
    }

    /// True if a thread of this worker is ready, or waits for something that comes from outside. Not counted
    /// is who yields: it asks for others to run.
    fn has_some_to_hold_up(&self) -> bool {
        let mut next = self.newest.get();
        for _ in 0..LOOKED_AT {
            // SAFETY: listed threads are alive until they end, which none does meanwhile.
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
                        | Wait::Blocking
                )
            };
            let can_be_held_up = match thread.state.get() {
                State::Runnable => true,
                State::Blocked => waits_outside(),
                _ => false,
            };
            let yields =
                ptr::eq(thread, self.running().as_ptr()) || ptr::eq(thread, self.placing.gave_way.get());
            let yields = yields && thread.state.get() == State::Runnable;
            if can_be_held_up && !yields && !super::parasite::carrier::is_carrier(thread) {
                return true;
            }
        }
        false
    }

    /// Gives a new host to another worker, and up to so many of those that have been spawned after it.
    fn hand_over(&self, first: NonNull<Thread>, with_it: usize, seat: &Seat) {
        // Relaxed: a hint, until the worker has started them and says so itself.
        seat.hosts.fetch_add(with_it + 1, Ordering::Relaxed);
        let mut next = Some(Entry(first));
        for _ in 0..=with_it {
            // SAFETY: this is the owning kernel thread, outside of every section of the queue.
            let Some(Entry(thread)) = next.take().or_else(|| unsafe { self.seat.unstarted.pop() }) else {
                return;
            };
            // SAFETY: unstarted, and out of the queue: ours, to give up.
            unsafe {
                thread.as_ref().label.is_placed.set(true);
                if seat.deliver(Waiter::thread(thread)).is_err() {
                    // That worker has ended. Back, and not ended here: destructors would run in the middle of
                    // a switch.
                    return self.seat.unstarted.push(Entry(thread));
                }
            }
        }
    }

    /// Has the next scheduling point look how long this host, which is about to run, has taken.
    fn watch_first_run(&self, new: &Thread) {
        self.placing.watched.set(Some((new.body, clock::ticks())));
        self.budget.set(1);
    }

    /// At a scheduling point: notes how long the first run was that was watched, if one was.
    pub(super) fn note_first_run(&self, now: u64) -> bool {
        let Some((body, begun)) = self.placing.watched.take() else { return false };
        self.shared.kinds.note(body, now.wrapping_sub(begun) > self.rounds.poll_every * LONG);
        true
    }

    /// The running thread has computed for so many ticks.
    pub(super) fn note_run(&self, ticks: u64) {
        if self.is_parallel() && ticks > self.rounds.poll_every * LONG {
            self.shared.kinds.note(self.running_ref().body, true);
        }
    }
}

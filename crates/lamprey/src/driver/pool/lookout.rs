//! Calls that are *held*: a call of a file that has taken long while others waited. Such a call may take for ever (a file server
//! that is gone, a device without data), so its thread does not count against the pool's limit, and another one is started in its
//! place.
//!
//! # States of a thread
//! ```text
//! rests --a call--> runs, counted --two looks, calls wait all the time--> runs, held --the call ends--> counted, or ends
//! ```
//!
//! # Invariants (under the pool's lock)
//! * `threads - held` threads count. There are at most `max` of them, but for those whose call has just ended, which then end.
//! * While calls wait for a thread, and the class may be held, the lookout is there, unless no kernel thread can be started.
//!
//! # Rejected
//! * To look at the clock at each call: only calls that wait want to know, so time is counted in looks of the lookout.
//! * No limit at all: a disk that is slow for all would get a kernel thread for each call that waits.
//! * To tell by the path or the kind of file: a directory of a file server looks like any other.
//!
//! # Checked by
//! `pool::tests`, `tests/uring/endless.rs`.

use super::{Class, PoolCall, PoolShared, PoolState};
use crate::sched::affinity::unpinned;
use crate::sync_shim::{Parker, start_thread};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(50);
/// A call that was there at so many looks is held.
const LOOKS: u64 = 2;
/// The most threads whose calls are held.
const MOST_HELD: usize = 1024;
/// How long the end of a runtime waits for calls of files that nobody waits for.
const PATIENCE: Duration = Duration::from_secs(5);

/// The calls that run, and who looks after them.
#[derive(Debug, Default)]
pub(super) struct Lookout {
    looks: u64,
    calls: Vec<Running>,
    /// The places of `calls` that are free.
    free: Vec<usize>,
    held: usize,
    /// A kernel thread has been started to look.
    is_on: bool,
    sleeper: Option<Parker>,
}

#[derive(Debug, Clone, Copy)]
enum Running {
    Nothing,
    Call { since: u64, is_held: bool, is_of_host: bool },
}

impl Lookout {
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// A thread begins a call; returns its place.
    pub(super) fn begin(&mut self, call: &PoolCall) -> usize {
        let is_of_host = matches!(call, PoolCall::OfHost { .. });
        let running = Running::Call { since: self.looks, is_held: false, is_of_host };
        match self.free.pop() {
            Some(place) => {
                self.calls[place] = running;
                place
            }
            None => {
                self.calls.push(running);
                self.calls.len() - 1
            }
        }
    }

    pub(super) fn end(&mut self, place: usize) {
        let before = std::mem::replace(&mut self.calls[place], Running::Nothing);
        self.held -= usize::from(matches!(before, Running::Call { is_held: true, .. }));
        self.free.push(place);
    }

    pub(super) fn close(&mut self) {
        self.sleeper.iter().for_each(Parker::unpark);
    }

    /// Marks the calls that are held.
    fn look(&mut self) {
        self.looks += 1;
        for call in &mut self.calls {
            if let Running::Call { since, is_held, .. } = call
                && !*is_held
                && self.looks - *since >= LOOKS
                && self.held < MOST_HELD
            {
                *is_held = true;
                self.held += 1;
            }
        }
    }

    /// All threads run calls, and nobody waits for one of them.
    fn has_only_forsaken(&self, threads: usize) -> bool {
        self.calls.len() - self.free.len() == threads
            && !self.calls.iter().any(|call| matches!(call, Running::Call { is_of_host: true, .. }))
    }
}

impl PoolShared {
    /// A call waits for a thread: has someone look whether calls are held.
    pub(super) fn look_out(self: &Arc<Self>, state: &mut PoolState) {
        if self.class != Class::Files || state.lookout.is_on {
            return;
        }
        let shared = Arc::clone(self);
        state.lookout.is_on = start_thread(self.class.thread_name(), unpinned(move || shared.keep_looking()));
    }

    /// Looks until no call waits.
    fn keep_looking(self: Arc<Self>) {
        let mut state = self.lock();
        state.lookout.sleeper = Some(Parker::of_current());
        let mut next = Instant::now() + LOOK;
        while !state.closing && !state.queue.is_empty() {
            let left = next.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                drop(state);
                std::thread::park_timeout(left);
                state = self.lock();
                continue;
            }
            next = Instant::now() + LOOK;
            state.lookout.look();
            for _ in 0..state.queue.len() {
                if state.counted() >= self.max || !self.start() {
                    break;
                }
                state.threads += 1;
            }
        }
        state.lookout.sleeper = None;
        state.lookout.is_on = false;
        self.last_gone.notify_all();
    }

    /// Waits until the threads have ended. A call of a file whose future was dropped may never end; it owns what it works on, so
    /// it is left behind after a while.
    pub(super) fn await_end(&self) {
        let begin = Instant::now();
        let mut state = self.lock();
        while state.threads != 0 || state.lookout.is_on {
            if self.class == Class::Files
                && !state.lookout.is_on
                && begin.elapsed() >= PATIENCE
                && state.lookout.has_only_forsaken(state.threads)
            {
                return;
            }
            let waited = self.last_gone.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

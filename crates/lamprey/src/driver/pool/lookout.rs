//! Calls that are *held*: a call of a file that has taken long while others waited, and a look-up that nobody wants any more. The
//! first may take for ever (a file server that is gone, a device without data), the second as long as a name server is silent, so its
//! thread does not count against the pool's limit, and another one is started in its place.
//!
//! # States of a thread
//! ```text
//! rests --a call--> runs, counted --a look while others wait--> runs, held --the call ends--> counted, or ends
//!                     of a file: the second; of a look-up: one that finds it unwanted
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
//! * Look-ups by the time that they take: a name server that is slow for all would be asked more and more at once.
//!
//! # Checked by
//! `pool::tests`, `tests/uring/endless.rs`.

use super::future::Run;
use super::{Class, PoolCall, PoolShared, PoolState};
use crate::sched::affinity::unpinned;
use crate::sync_shim::{Parker, start_thread};
use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(50);
/// A call of a file that was there at so many looks is held.
const LOOKS: u64 = 2;
/// The most threads whose calls are held.
const MOST_HELD: usize = 1024;
/// How long the end of a runtime waits for calls of files, and look-ups, that nobody waits for.
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

#[derive(Debug)]
enum Running {
    Nothing,
    Call { since: u64, is_held: bool, of: Of },
}

/// Who waits for a call.
enum Of {
    Host,
    Future,
    /// Whoever wants the look-up. The reference is dropped under the pool's lock, so the call must own nothing of the program.
    LookUp(Arc<dyn Run>),
}

impl fmt::Debug for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "Host",
            Self::Future => "Future",
            Self::LookUp(_) => "LookUp",
        })
    }
}

impl Lookout {
    pub(super) fn held(&self) -> usize {
        self.held
    }

    #[cfg(test)]
    pub(super) fn looks(&self) -> u64 {
        self.looks
    }

    /// A thread begins a call of this class; returns its place.
    pub(super) fn begin(&mut self, call: &PoolCall, class: Class) -> usize {
        let of = match call {
            PoolCall::OfHost { .. } => Of::Host,
            PoolCall::OfFuture(call) if class == Class::Lookups => Of::LookUp(call.clone()),
            PoolCall::OfFuture(_) => Of::Future,
        };
        let running = Running::Call { since: self.looks, is_held: false, of };
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
    fn look(&mut self, class: Class) {
        self.looks += 1;
        for call in &mut self.calls {
            if let Running::Call { since, is_held, of } = call
                && !*is_held
                && self.held < MOST_HELD
                && match class {
                    Class::Lookups => matches!(of, Of::LookUp(call) if !call.is_wanted()),
                    _ => self.looks - *since >= LOOKS,
                }
            {
                *is_held = true;
                self.held += 1;
            }
        }
    }

    /// All threads run calls, and nobody waits for one of them.
    fn has_only_forsaken(&self, threads: usize) -> bool {
        self.calls.len() - self.free.len() == threads
            && !self.calls.iter().any(|call| matches!(call, Running::Call { of: Of::Host, .. }))
    }
}

impl PoolShared {
    /// A call waits for a thread: has someone look whether calls are held.
    pub(super) fn look_out(self: &Arc<Self>, state: &mut PoolState) {
        if !self.class.may_be_held() || state.lookout.is_on {
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
            state.lookout.look(self.class);
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

    /// Waits until the threads have ended. A call of a file whose future was dropped may never end, and a look-up takes long; they
    /// own what they work on, so they are left behind after a while.
    pub(super) fn await_end(&self) {
        let begin = Instant::now();
        let mut state = self.lock();
        while state.threads != 0 || state.lookout.is_on {
            if self.class.may_be_held()
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

//! The worker's loop: what a worker does between hosts.
//!
//! Hosts switch straight to each other, and come here when nothing is ready or when the budget is used up. The loop
//! takes in what other kernel threads have sent, polls the sources, and sleeps when there is nothing to do. It runs on
//! the kernel thread's own large stack, so that sources need not fit into a host's. (A policy must: it is asked by
//! whoever blocks.) It knows no particular policy and no particular source.
//!
//! # The budget
//! Polling costs a system call or a look at the clock, so it is done about every [`POLL`], not at every scheduling
//! point. How many scheduling points that is depends on the program; the loop measures it: the budget doubles while a
//! round is short and shrinks in proportion when a round was long, so that hosts that compute for a millisecond each
//! let the loop in at every switch, and hosts that yield every 3 ns look at the clock every 64th time.

use super::block::{Waiter, Who};
use super::source::Sources;
use super::thread::{Abandoned, State};
use super::worker::Worker;
use super::{clock, switch};
use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often sources are polled while the worker is busy.
pub(super) const POLL: Duration = Duration::from_micros(50);
/// How long a worker is idle before it gives the memory of its idle stacks back.
const TRIM_AFTER: Duration = Duration::from_secs(1);
/// Most scheduling points between two visits of the root.
const LARGEST_WINDOW: u32 = 64;

impl Worker {
    /// Runs threads until the runtime stops and none is left.
    pub(super) fn work(&self) {
        loop {
            self.attend();
            if self.go_on() {
                continue;
            }
            if self.stopping.get()
                && self.hosts.get() == 0
                && self.woken.pending.get() == 0
                && self.seat.inbox.is_empty()
            {
                break;
            }
            if !self.look_for_work() {
                self.sleep();
            }
        }
        self.leave();
    }

    /// Switches to a ready thread, if there is one; returns when some thread comes back to the root.
    fn go_on(&self) -> bool {
        let next = if self.woken.pending.get() != 0 {
            self.pick_parasite()
        } else {
            self.policy.next(&self.seat.unstarted).map(|ready| ready.0)
        };
        let Some(next) = next else { return false };
        // SAFETY: only the root reaches the watch.
        unsafe { &mut *self.watch.get() }.refresh();
        self.is_fed();
        self.untrimmed.set(true);
        self.budget.set(self.window.get());
        self.switch_to(&self.root, next);
        true
    }

    /// Takes in what has come from outside: messages, refusals, the order to stop, events.
    fn attend(&self) {
        for entry in self.seat.inbox.take() {
            // SAFETY: the sender gave it up to us.
            unsafe { self.receive(entry) };
        }
        // SAFETY: only this kernel thread reaches the list; the reference ends here.
        if !unsafe { &*self.refused.get() }.is_empty() {
            self.end_refused();
        }
        // Acquire pairs with the Release store in `Shared::stop`.
        if !self.stopping.get() && self.shared.stopping.load(Ordering::Acquire) {
            self.stop();
        }
        if self.stopping.get() {
            self.answer_survey();
        }
        let now = clock::ticks();
        self.measure(now);
        if now.wrapping_sub(self.polled.get()) >= self.poll_every {
            self.polled.set(now);
            // SAFETY: only the root reaches the sources, one call at a time.
            unsafe { &mut *self.sources.get() }.poll();
        }
    }

    /// The budget is used up: true if the root has something to do. Otherwise a new round begins.
    #[cold]
    #[inline(never)]
    pub(super) fn root_is_due(&self) -> bool {
        let now = clock::ticks();
        self.measure(now);
        self.budget.set(self.window.get());
        // Relaxed: a hint; the root looks again with Acquire.
        let stop = self.shared.stopping.load(Ordering::Relaxed);
        stop || now.wrapping_sub(self.polled.get()) >= self.poll_every || !self.seat.inbox.is_empty()
    }

    /// True if the root has something to do: what [`root_is_due`](Self::root_is_due) asks, without the bookkeeping.
    pub(super) fn root_waits(&self) -> bool {
        clock::ticks().wrapping_sub(self.polled.get()) >= self.poll_every || !self.seat.inbox.is_empty()
    }

    /// Adapts the budget to how long the last round took.
    fn measure(&self, now: u64) {
        let round = now.wrapping_sub(self.measured.replace(now));
        if self.budget.get() != 0 {
            return; // the round was ended early: nothing was ready
        }
        let window = self.window.get();
        self.window.set(if round < self.poll_every {
            (window * 2).min(LARGEST_WINDOW)
        } else {
            (u64::from(window) * self.poll_every / round).max(1) as u32
        });
    }

    /// Sleeps until a message, an event or a deadline; see [`park`](super::park) and [`steal`](super::steal).
    fn sleep(&self) {
        // SAFETY: only the root reaches the sources, one call at a time.
        let sources = unsafe { &mut *self.sources.get() };
        sources.poll_others();
        if !self.policy.is_empty() || !self.seat.unstarted.is_empty() || self.woken.pending.get() != 0 {
            return; // the sources have woken somebody, or spawned
        }
        // SAFETY: only the root reaches the watch.
        let watch = unsafe { &mut *self.watch.get() };
        // Relaxed: a hint, like all of `awake` and `idle` (see `steal`).
        let others_awake = self.shared.awake.fetch_sub(1, Ordering::Relaxed) > 1;
        if !others_awake {
            // Relaxed: hints.
            self.seat.idle.store(true, Ordering::Relaxed);
            // StoreLoad race: our `idle` against our look at `awake`, for a worker that wakes up just now and spawns;
            // pairs with the fetch_add of `awake` below and the load in `ask_for_help`.
            self.shared.idle.fetch_add(1, Ordering::SeqCst);
        }
        // StoreLoad race: as above.
        let others_awake = others_awake || self.shared.awake.load(Ordering::SeqCst) != 0;
        let longest =
            if others_awake { Some(watch.next_doze()) } else { self.untrimmed.get().then_some(TRIM_AFTER) };
        let due = sources.deadline().map(|at| at.saturating_duration_since(Instant::now()));
        let slept = self.park(sources, longest.into_iter().chain(due).min());
        if self.shared.claim_idle(&self.seat) {
            watch.refresh();
        }
        // StoreLoad race: our `awake` against our later looks at `idle`; pairs with the two above.
        self.shared.awake.fetch_add(1, Ordering::SeqCst);
        if !self.seat.inbox.is_empty() {
            watch.expect_messages();
        } else if self.untrimmed.get() && !others_awake && slept >= TRIM_AFTER {
            self.untrimmed.set(false);
            drop(self.parting.take());
            self.free_contexts();
            self.stacks.trim();
            if !self.stopping.get() {
                self.slab.trim(); // not while a carrier reaps, which enumerates it
            }
        }
        self.shared.ticker.rewind();
    }

    /// The sleep itself, by the parking protocol; returns how long it was.
    fn park(&self, sources: &mut Sources, timeout: Option<Duration>) -> Duration {
        let start = Instant::now();
        self.seat.parking.prepare();
        // Acquire pairs with the Release store in `Shared::stop`, which notifies after it.
        let stop = self.shared.stopping.load(Ordering::Acquire) && !self.stopping.get();
        if self.seat.inbox.is_empty() && !stop {
            sources.wait(timeout);
            sources.poll_others();
            self.polled.set(clock::ticks());
        }
        self.seat.parking.finish();
        start.elapsed()
    }

    /// The runtime stops: every host of this worker is to end.
    fn stop(&self) {
        self.stopping.set(true);
        // From here on every spawn looks, and is refused: what starts after the reap would never be ended.
        self.seen.set(super::offer::NEVER);
        self.reap_soon();
        let mut host = self.newest.get();
        // SAFETY: listed hosts are alive until they end, which none does during this loop.
        while let Some(thread) = NonNull::new(host.cast_mut()) {
            // SAFETY: as above.
            unsafe {
                host = thread.as_ref().older.get();
                self.cancel(thread);
            }
        }
    }

    /// The last act: whoever still sends something gets it back.
    fn leave(&self) {
        let mut late: Vec<_> = self.seat.inbox.close().collect();
        // SAFETY: this is the owning kernel thread. What is still there the program's policy never drew.
        late.extend(
            std::iter::from_fn(|| unsafe { self.seat.unstarted.pop() }).map(|entry| Waiter::thread(entry.0)),
        );
        self.free_contexts();
        self.uninstall();
        // Relaxed: a number (see `Shared::survey`).
        self.seat.tid.store(0, Ordering::Relaxed);
        for entry in late {
            match entry.who() {
                // SAFETY: no host of this worker is left to be woken, so this is an unstarted one that was given to us.
                Who::Thread(thread) => unsafe {
                    debug_assert_eq!(thread.as_ref().state.get(), State::Unstarted);
                    switch::abandon(thread, Abandoned::Shutdown);
                },
                _ => super::finish::refused_by_inbox(entry),
            }
        }
    }
}

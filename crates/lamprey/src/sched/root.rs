//! The root: a worker's scheduler loop, Go's `schedule` and `findRunnable` on g0.
//!
//! Hosts switch straight to each other, and switch to the root when nothing is ready or when the budget is
//! used up. The root takes messages from other kernel threads out of the inbox, polls the sources, and sleeps
//! when there is nothing to do. It runs on the kernel thread's own large stack, so a source may use more
//! stack than a host has. (A policy may not: it is called on the stack of the thread that blocks.) It depends
//! on no particular policy or source.
//!
//! # The budget
//! A poll costs a system call or a look at the clock, so the root runs about every
//! [`POLL`](super::worker::rounds::POLL), not at every scheduling point. How many scheduling points that is
//! depends on the program, so the root measures it: the budget doubles while a round is short, and shrinks in
//! proportion when a round was long. Hosts that compute for a millisecond each then run the root at every
//! switch; hosts that yield every 3 ns look at the clock at every 64th switch.

use super::source::Sources;
use super::thread::{Abandoned, ThreadState};
use super::waiter::Waiter;
use super::who::Who;
use super::worker::Worker;
use super::worker::linger::Linger;
use super::worker::stacks;
use super::{idle, switch};
use crate::sync_shim::Ordering;
use crate::time::clock;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

/// Most scheduling points between two runs of the root.
const LARGEST_WINDOW: u32 = 64;

impl Worker {
    /// The scheduler loop: runs threads until the runtime stops and none is left.
    pub(super) fn work(&self) {
        loop {
            self.attend();
            if self.go_on() {
                continue;
            }
            if self.has_finished() {
                break;
            }
            if !self.is_walking() && !self.look_for_work() {
                self.sleep();
            }
        }
        self.leave();
    }

    /// Switches to a ready thread and returns when a thread switches back to the root; false if none is
    /// ready.
    pub(super) fn go_on(&self) -> bool {
        self.begin_budget();
        let next = if self.parasites.ready.pending.get() != 0 {
            self.pick_parasite()
        } else {
            self.next_by_policy()
        };
        // Relaxed: a hint for the placement of new hosts.
        self.remote.is_working.store(next.is_some(), Ordering::Relaxed);
        let Some(next) = next else { return false };
        // SAFETY: only the root reaches the watch.
        unsafe { &mut *self.watch.get() }.refresh();
        self.is_fed();
        if self.watching.on_watch.get() {
            self.pass_watch_on();
        }
        self.stacks.untrimmed.set(true);
        self.remote.counters.runs.add(1);
        self.begin_turns();
        self.switch_to(&self.root, next);
        true
    }

    /// Handles what comes from outside: messages, refused threads, the order to stop, events.
    pub(super) fn attend(&self) {
        for entry in self.remote.inbox.take() {
            // SAFETY: the sender gave the entry up to this worker.
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
        self.answer_looks();
        self.remote.counters.rounds.add(1);
        if self.shared.options.simulated {
            return; // the simulation has its own clock, and polls
        }
        let now = clock::ticks();
        self.measure(now);
        self.refill_recorder(now);
        if now.wrapping_sub(self.rounds.polled.get()) >= self.rounds.poll_every {
            self.rounds.polled.set(now);
            // SAFETY: only the root reaches the sources, one call at a time.
            unsafe { &mut *self.sources.get() }.poll();
            self.measure_queues();
            self.trim_if_due(now, stacks::BUSY);
        }
    }

    /// Called when the budget is used up: true if the root has something to do. Otherwise a new round begins.
    #[cold]
    #[inline(never)]
    pub(super) fn root_is_due(&self) -> bool {
        if self.shared.options.simulated {
            self.tell_stop(self.running_ref());
            self.note_switch(self.running_ref(), None);
            self.begin_budget();
            return true;
        }
        let now = clock::ticks();
        if !self.note_first_run(now) {
            if self.rounds.window.get() == 1 {
                self.note_run(now.wrapping_sub(self.rounds.measured.get()));
            }
            self.measure(now);
        }
        self.begin_budget();
        self.forget_time_slice();
        // Relaxed: a hint; the root looks again with Acquire.
        let stop = self.shared.stopping.load(Ordering::Relaxed);
        self.placing.gave_way.set(self.running().as_ptr());
        let is_due = stop
            || now.wrapping_sub(self.rounds.polled.get()) >= self.rounds.poll_every
            || !self.remote.inbox.is_empty();
        if is_due {
            self.policy.favour_unstarted();
            if self.sees_switches() {
                self.note_switch(self.running_ref(), None);
            }
        }
        is_due
    }

    /// True if the root has something to do: the test of [`root_is_due`](Self::root_is_due) without its
    /// bookkeeping.
    pub(super) fn root_waits(&self) -> bool {
        if self.shared.options.simulated {
            return !self.remote.inbox.is_empty();
        }
        clock::ticks().wrapping_sub(self.rounds.polled.get()) >= self.rounds.poll_every
            || !self.remote.inbox.is_empty()
    }

    /// A round begins; the scheduling points of the last one are counted.
    fn begin_budget(&self) {
        let window = self.rounds.window.get();
        let used = self.rounds.granted.replace(window).saturating_sub(self.budget.replace(window));
        self.remote.counters.turns.add(used.into());
    }

    /// The root is to look at the next scheduling point.
    pub(super) fn cut_budget(&self) {
        let unused = self.budget.replace(1).saturating_sub(1);
        self.rounds.granted.set(self.rounds.granted.get().saturating_sub(unused));
    }

    /// Adapts the budget to the length of the last round.
    fn measure(&self, now: u64) {
        let round = self.rounds.begin(now);
        if self.budget.get() != 0 {
            return; // the round ended early: nothing was ready
        }
        let window = self.rounds.window.get();
        self.rounds.window.set(if round < self.rounds.poll_every {
            (window * 2).min(LARGEST_WINDOW)
        } else {
            (u64::from(window) * self.rounds.poll_every / round).max(1) as u32
        });
    }

    /// The runtime stops, and nothing is left to run.
    pub(super) fn has_finished(&self) -> bool {
        self.stopping.get()
            && self.hosts.get() == 0
            && self.parasites.ready.pending.get() == 0
            && self.remote.inbox.is_empty()
    }

    /// Sleeps until a message, an event or a deadline. [`park`](super::park) and [`idle`](super::idle) say
    /// why no wake-up is lost, [`steal`](super::steal) how long it dozes.
    fn sleep(&self) {
        // SAFETY: only the root reaches the sources, one call at a time.
        let sources = unsafe { &mut *self.sources.get() };
        sources.poll_others();
        if self.has_ready() {
            return; // the sources have woken or spawned a thread
        }
        // SAFETY: only the root reaches the watch.
        let watch = unsafe { &mut *self.watch.get() };
        if sources.is_active() && watch.linger.is_due() && self.linger(sources, &mut watch.linger) {
            return;
        }
        self.trim_if_due(clock::ticks(), stacks::IDLE);
        // Relaxed: a hint. `idle::lie_down` and `idle::get_up` order `awake` against `idle` where that
        // matters.
        let others_awake = self.shared.awake.fetch_sub(1, Ordering::Relaxed) > 1;
        if !others_awake {
            self.leave_watch();
        }
        // A worker that was woken only to go on watch can still be woken to look for work.
        if self.watching.appointed.replace(false) || !others_awake {
            self.lies_idle.set(true);
            idle::lie_down(&self.remote.idle, &self.shared.idle);
        }
        let others_awake = others_awake || idle::others_awake(&self.shared.awake);
        let longest = if others_awake {
            Some(watch.next_doze())
        } else {
            self.stacks.untrimmed.get().then_some(stacks::PERIOD)
        };
        let due = sources.deadline().map(|at| at.saturating_duration_since(Instant::now()));
        // Relaxed: before the fence of `Parking::prepare`.
        self.remote.expects.store(due.is_some() || sources.is_active(), Ordering::Relaxed);
        if others_awake {
            self.take_watch();
        }
        let start = Instant::now();
        self.remote.counters.sleeps.add(1);
        self.note_park();
        self.note_ready(0);
        self.sleep_on_watch(sources, longest.into_iter().chain(due).min());
        self.note_unpark(!self.remote.inbox.is_empty());
        self.remote.measured.asleep.add(start.elapsed().as_nanos() as u64);
        if self.shared.claim_idle(&self.remote) {
            watch.refresh();
        }
        self.lies_idle.set(false);
        idle::get_up(&self.shared.awake);
        self.see_to_watch();
        if !self.remote.inbox.is_empty() {
            if let Some(called) = self.remote.called.since(start) {
                let now = Instant::now();
                self.remote
                    .measured
                    .call_to_awake
                    .add(now.saturating_duration_since(called).as_nanos() as u64);
                watch.spin.slept(called - start, now.saturating_duration_since(called), now);
            }
        } else if self.stacks.untrimmed.get() && !others_awake && start.elapsed() >= stacks::PERIOD {
            self.trim_all();
        }
        self.shared.ticker.rewind();
    }

    /// Lets the other threads of this core run, and polls the sources; true if there is something to do then.
    fn linger(&self, sources: &mut Sources, linger: &mut Linger) -> bool {
        let start = clock::ticks();
        std::thread::yield_now();
        sources.poll();
        let now = clock::ticks();
        self.rounds.polled.set(now);
        let found = self.has_ready() || !self.remote.inbox.is_empty();
        linger.note(now.wrapping_sub(start), found);
        found
    }

    /// True if there is something to run.
    pub(super) fn has_ready(&self) -> bool {
        !self.policy.is_empty()
            || !self.remote.unstarted.is_empty()
            || self.parasites.ready.pending.get() != 0
    }

    /// The sleep itself, by the parking protocol; true if another thread has ended it.
    pub(super) fn park(&self, sources: &mut Sources, timeout: Option<Duration>) -> bool {
        self.remote.parking.prepare();
        // Acquire pairs with the Release store in `Shared::stop`, which notifies after it.
        let stop = self.shared.stopping.load(Ordering::Acquire) && !self.stopping.get();
        let unwatched = self.is_parallel()
            && !self.watching.on_watch.get()
            && self.shared.duty.is_lacking(self.remote.index, &self.shared.awake);
        let is_called = self.lies_idle.get() && idle::is_called(&self.remote.idle);
        // A question about its threads, of which it is notified in vain if it is about to lie down.
        let is_asked = self.is_asked_for_looks();
        if self.remote.inbox.is_empty() && !stop && !unwatched && !is_called && !is_asked {
            sources.wait(timeout);
            sources.poll_others();
            self.rounds.polled.set(clock::ticks());
        }
        let called = is_called || !self.remote.parking.is_asleep();
        self.remote.parking.finish();
        called
    }

    /// Shuts the worker down: kills every host of this worker.
    fn stop(&self) {
        self.stopping.set(true);
        // From here on every spawn of a parasite takes the slow path and is refused: one that started after
        // the reap would never be ended.
        self.parasites.seen.set(super::parasite::owned::NEVER);
        self.reap_soon();
        let mut host = self.newest.get();
        // SAFETY: listed hosts are alive until they end, which none does during this loop.
        while let Some(thread) = NonNull::new(host.cast_mut()) {
            // SAFETY: listed, so alive; a started host of this worker that has not ended.
            unsafe {
                host = thread.as_ref().older.get();
                self.cancel(thread);
            }
        }
    }

    /// Ends the worker: closes its inbox, so that a later push fails and the entry stays with its sender.
    pub(super) fn leave(&self) {
        let mut late: Vec<_> = self.remote.inbox.close().collect();
        // SAFETY: this is the owning kernel thread. Entries are left only if the program's policy never took
        // them.
        late.extend(
            std::iter::from_fn(|| unsafe { self.remote.unstarted.pop_oldest() })
                .map(|entry| Waiter::thread(entry.0)),
        );
        self.free_contexts();
        self.leave_watch();
        self.uninstall();
        // Relaxed: only the number itself is read.
        self.remote.tid.store(0, Ordering::Relaxed);
        // What follows may be destructors of the program, on what is a plain kernel thread from here on.
        // SAFETY: only the root reaches the sources, and it polls no more.
        unsafe { &mut *self.sources.get() }.end();
        late.into_iter().for_each(refused_at_the_end);
    }
}

/// Ends a message to a worker that has ended. The caller owns it.
pub(super) fn refused_at_the_end(entry: Waiter) {
    match entry.who() {
        // SAFETY: no blocked host of that worker is left, so this thread is unstarted, and owned by the
        // caller.
        Who::Thread(thread) => unsafe {
            debug_assert_eq!(thread.as_ref().state.get(), ThreadState::Unstarted);
            switch::abandon(thread, Abandoned::Shutdown);
        },
        _ => super::parasite::finish::refused_by_inbox(entry),
    }
}

//! Looking at the stacks of threads: the question to all workers, and the measurement of a thread ([`super::stack_use`]).
//!
//! # Invariants
//! 1. While a worker's root runs, all started threads of the worker are suspended, and each has its stack.
//!
//! # Checked by
//! `tests/inspect/stacks.rs`.

use super::ask::{Asking, Progress};
use super::stack_use::{Site, Uses};
use crate::sched::forked;
use crate::sched::shared::Shared;
use crate::sched::thread::Thread;
use crate::sched::worker::Worker;
use crate::sched::worker::walk::Piece;
use crate::time::clock;
use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::Duration;
use swapstack::{PooledStack, Stack};

/// Of how many threads of a worker the stacks are looked at: half a microsecond each.
const MOST: usize = 4000;
/// How long each worker has to answer, before it is looked at whether it has ended.
const ANSWER: Duration = Duration::from_millis(100);
/// How long a worker may take that does not get on with its answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// More than what the calls take by which a thread gives back the memory below them.
const MARGIN: usize = 4 << 10;

impl Shared {
    /// What is known of the stacks of all threads, and the number of workers that have not answered.
    pub(crate) fn stack_uses(&self) -> (HashMap<Site, Uses>, usize) {
        let uses = &self.stack_uses;
        let _asking = Asking::begin();
        let _one = uses.one.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = self.remotes().iter().filter(|remote| !remote.has_ended());
        let missing = asked.map(|remote| (remote, Progress::new(remote))).collect();
        uses.answers.ask();
        self.remotes().iter().for_each(|remote| _ = remote.notify());
        let mut silent = 0;
        let found = uses.answers.await_all(
            missing,
            ANSWER,
            |(remote, _)| remote.index,
            |(worker, ..)| *worker,
            |(remote, progress)| {
                let stands_still = progress.stands_still(remote);
                let has_waited = stands_still.is_some_and(|(since, _)| since.elapsed() >= PATIENCE);
                let is_silent = !remote.has_ended() && (has_waited || remote.asks());
                silent += usize::from(is_silent);
                (is_silent || remote.has_ended()).then(Vec::new)
            },
        );
        let mut all: HashMap<Site, Uses> = HashMap::new();
        found.into_iter().for_each(|(_, site, some)| all.entry(site).or_default().join(some));
        let ended = uses.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.iter().for_each(|(site, used)| all.entry(*site).or_default().measured.join(*used));
        drop(ended);
        (all, silent)
    }
}

/// The stack of a thread.
///
/// # Safety
/// The thread is one of the calling worker's, and neither starts nor ends while the reference is used.
unsafe fn stack_of(thread: &Thread) -> Option<&PooledStack> {
    // SAFETY: only this kernel thread touches the cell, and only where the thread starts or ends (contract).
    unsafe { (*thread.stack.as_ptr()).as_ref() }
}

/// A worker's answer, as far as it has got.
pub(super) struct StackWalk {
    pub(super) question: usize,
    /// Of how many threads one is looked at that was not measured.
    every: usize,
    number: usize,
    measured: usize,
    all: HashMap<Site, Uses>,
}

impl StackWalk {
    /// Goes on until the piece is over; true if nothing is left, and the answer has been given.
    pub(super) fn go_on(&mut self, worker: &Worker, piece: &Piece) -> bool {
        // SAFETY: listed, so alive while the root runs; between two pieces `delist` moves the pointer on.
        while let Some(thread) = unsafe { worker.walk.next.get().as_ref() } {
            worker.walk.next.set(thread.older.get());
            self.look(thread);
            if piece.is_over() {
                return false;
            }
        }
        let index = worker.remote.index;
        let found = std::mem::take(&mut self.all).into_iter().map(|(site, uses)| (index, site, uses));
        worker.shared.stack_uses.answers.answer(self.question, index, vec![found.collect()]);
        true
    }

    fn look(&mut self, thread: &Thread) {
        self.number += 1;
        let uses = self.all.entry(Site::of(thread)).or_default();
        uses.threads += 1;
        let is_measured = thread.label.is_measured.get();
        self.measured += usize::from(is_measured);
        // SAFETY: of this worker, and suspended (invariant 1).
        if let Some(stack) = unsafe { stack_of(thread) }
            && (self.number.is_multiple_of(self.every) || is_measured && self.measured <= MOST)
        {
            let into = if is_measured { &mut uses.measured } else { &mut uses.bounds };
            into.add(stack.high_water());
            // SAFETY: saved by a switch, and not resumed while the root runs.
            let sp = unsafe { thread.sp.get().suspended() }.sp;
            uses.now.add(stack.top().addr().get().saturating_sub(sp));
        }
    }
}

impl Worker {
    /// True if there is a question about stacks that this worker has not begun to answer.
    pub(super) fn stacks_are_asked_for(&self) -> bool {
        self.shared.stack_uses.answers.question() != self.stacks.answered.get()
    }

    pub(super) fn begin_stacks(&self) -> StackWalk {
        let question = self.shared.stack_uses.answers.question();
        self.stacks.answered.set(question);
        let every = self.hosts.get().div_ceil(MOST).max(1);
        StackWalk { question, every, number: 0, measured: 0, all: HashMap::new() }
    }

    /// Called by a host that begins, if it is to be measured.
    #[cold]
    #[inline(never)]
    pub(in crate::sched) fn measure_host(&self, host: &Thread) {
        self.stacks.of_hosts.begin(self.remote.counters.hosts.get(), clock::ticks());
        self.begin_measurement(host);
    }

    /// Called by a stackful parasite that begins in a context of its own.
    pub(in crate::sched) fn measure_if_due(&self, parasite: &Thread) {
        let number = self.stacks.parasites.get() + 1;
        self.stacks.parasites.set(number);
        if self.stacks.of_parasites.is_due(number) {
            self.stacks.of_parasites.begin(number, clock::ticks());
            self.begin_measurement(parasite);
        }
    }

    /// Called by `thread` on its own stack, before it does anything else: what has memory there from now on it has used.
    #[inline(never)]
    fn begin_measurement(&self, thread: &Thread) {
        let marker = 0_u8;
        let here = (&raw const marker).addr();
        // SAFETY: the running thread.
        let Some(stack) = (unsafe { stack_of(thread) }) else { return };
        // Elsewhere with AddressSanitizer, which may keep variables in the heap.
        let is_on_stack = (stack.limit().addr().get()..stack.top().addr().get()).contains(&here);
        // SAFETY: the thread runs on this stack, no deeper than `MARGIN` below this frame.
        let is_clean = is_on_stack && unsafe { stack.forget_below(here - MARGIN) };
        thread.label.is_measured.set(is_clean);
    }

    /// Called by `thread`, which has been measured, and has done what it was to do.
    #[cold]
    #[inline(never)]
    pub(in crate::sched) fn end_measurement(&self, thread: &Thread) {
        forked::must_not_end(thread);
        // SAFETY: the running thread.
        if let Some(stack) = unsafe { stack_of(thread) } {
            let used = stack.high_water();
            let mut ended = self.shared.stack_uses.ended.lock().unwrap_or_else(PoisonError::into_inner);
            ended.entry(Site::of(thread)).or_default().add(used);
        }
    }
}

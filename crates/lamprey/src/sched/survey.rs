//! Who is there, and where: looked at by each worker's root for its own threads, in a runtime that ends and does not come to
//! its end.
//!
//! A suspended thread tells its stack itself: the root **probes** it, that is, switches to it with a word that is not 0. It
//! then walks its stack from where it was suspended, switches back, and is suspended as before. Whoever wakes it later finds nothing changed.
//! A worker that does not answer, because a thread of its computes, is looked at by a signal ([`super::stuck`]).
//!
//! # Invariants
//! 1. While the root runs, all started threads of its worker are suspended in `switch_to`.
//! 2. A probed thread touches its own stack and the probe, nothing else.

use super::reason::Wait;
use super::thread::{Kind, State, Thread};
use super::worker::Worker;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;
use swapstack::Stack as _;

/// A thread that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) id: u64,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) is_parasite: bool,
    pub(crate) worker: usize,
    pub(crate) spawn_site: &'static Location<'static>,
    /// `None`: it runs, or could.
    pub(crate) wait: Option<Wait>,
    /// Return addresses, the innermost first.
    pub(crate) stack: Vec<usize>,
}

/// The answers of the workers.
pub(crate) struct Survey {
    asked: AtomicBool,
    /// The number of each worker that has answered, and what was found.
    answers: Mutex<(Vec<usize>, Vec<Found>)>,
    answered: Condvar,
}

/// Frames of a stack that are kept.
pub(super) const DEPTH: usize = 64;

/// Bytes that a thread must have left on its stack to walk it.
const ROOM: usize = 12 << 10;

/// What the word of a probe points at.
struct Probe<'a> {
    root: &'a Thread,
    stack: Vec<usize>,
}

impl Survey {
    pub(crate) fn new() -> Self {
        Self { asked: AtomicBool::new(false), answers: Mutex::default(), answered: Condvar::new() }
    }

    /// Asks all workers, which the caller then notifies.
    pub(crate) fn ask(&self) {
        // Release pairs with the Acquire load in `is_asked`.
        self.asked.store(true, Ordering::Release);
    }

    pub(super) fn is_asked(&self) -> bool {
        // Acquire pairs with the Release store in `ask`.
        self.asked.load(Ordering::Acquire)
    }

    /// Waits until `workers` workers have answered, or the deadline; who has, and what they found.
    pub(crate) fn collect(&self, workers: usize, deadline: Instant) -> (Vec<usize>, Vec<Found>) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        while answers.0.len() < workers {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            answers = self.answered.wait_timeout(answers, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        std::mem::take(&mut *answers)
    }

    pub(super) fn answer(&self, worker: usize, found: Vec<Found>) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.0.push(worker);
        answers.1.extend(found);
        self.answered.notify_all();
    }
}

impl Worker {
    /// On the root of a runtime that ends: answers the survey, once.
    #[cold]
    pub(super) fn answer_survey(&self) {
        if !self.shared.survey.is_asked() || self.surveyed.replace(true) {
            return;
        }
        let mut found = Vec::new();
        let mut host = self.newest.get();
        // SAFETY: listed hosts are alive until they end, which none does while the root runs.
        while let Some(thread) = unsafe { host.as_ref() } {
            host = thread.older.get();
            found.push(Found {
                id: thread.label.id.get(),
                name: thread.label.name.clone(),
                is_parasite: thread.kind == Kind::Parasite,
                worker: self.seat.index,
                spawn_site: thread.label.spawn_site.get(),
                wait: wait_of(thread),
                stack: self.probe(thread),
            });
        }
        self.shared.survey.answer(self.seat.index, found);
    }

    /// The stack of a suspended thread; empty if it has too little of it left to look.
    fn probe(&self, thread: &Thread) -> Vec<usize> {
        let sp = thread.sp.get();
        // SAFETY: suspended, so nobody takes the stack away; only the bounds are read.
        let limit = unsafe { &*thread.stack.as_ptr() }
            .as_ref()
            .map_or(usize::MAX, |stack| stack.limit().addr().get());
        if sp.is_null() || sp.as_ptr().addr() < limit.saturating_add(ROOM) {
            return Vec::new();
        }
        let mut probe = Probe { root: &self.root, stack: Vec::with_capacity(DEPTH) };
        self.running.set(NonNull::from(thread));
        // SAFETY: invariant 1: suspended in `switch_to`, which answers the word and switches back to the root.
        unsafe { swapstack::switch(self.root.sp.as_ptr(), sp, (&raw mut probe).expose_provenance()) };
        self.running.set(NonNull::from(&self.root));
        probe.stack
    }

    /// A suspended thread goes on for a probe: it walks its stack and is suspended again, until a switch brings no probe.
    #[cold]
    #[inline(never)]
    pub(super) fn answer_probe(&self, me: &Thread, mut word: usize) {
        while word != 0 {
            // SAFETY: a word that is not 0 is the address of the root's probe, which waits for us.
            let probe = unsafe { &mut *std::ptr::with_exposed_provenance_mut::<Probe<'_>>(word) };
            walk(|ip| {
                probe.stack.push(ip);
                probe.stack.len() < DEPTH
            });
            // SAFETY: the root is suspended in `probe`; we are suspended again as `switch_to` would.
            word = unsafe { swapstack::switch(me.sp.as_ptr(), probe.root.sp.get(), 0) };
        }
    }
}

/// Why a thread does not run.
pub(super) fn wait_of(thread: &Thread) -> Option<Wait> {
    matches!(thread.state.get(), State::Blocked | State::Committed).then(|| thread.reason.get())
}

/// The return addresses of the calling stack, as long as `go_on` says so.
pub(super) fn walk(mut go_on: impl FnMut(usize) -> bool) {
    // SAFETY: what is not synchronized is the table of loaded objects where the platform has no lock-free one: none is
    // unloaded here. (Not the locking form: the caller may be in a signal handler.)
    unsafe { backtrace::trace_unsynchronized(|frame| go_on(frame.ip().addr())) };
}

//! The answers of all workers to one question. For a worker that does not answer, the caller looks for the
//! answer itself.
//!
//! # Invariants
//! 1. The caller of [`await_all`](Answers::await_all) waits for the workers of which nothing is known yet,
//!    and tries again and again to find out about each of them by itself. So it does not wait for a worker
//!    that has ended.
//! 2. Each worker counts once: an answer from a worker whose answer has been found otherwise is dropped.
//! 3. There is one question at a time (the caller sees to that), and questions are numbered: an answer that comes after the
//!    next question was asked is dropped.
//!
//! # Orderings
//! `question` is Release/Acquire: what was prepared before the question is visible to the workers that answer.
//! The rest is under a lock.
//!
//! # Checked by
//! `model::answers` (loom, with a broken variant that it catches), `tests/cancel/survivors.rs`.

use crate::sync_shim::{AtomicUsize, Condvar, Mutex, Ordering, left_out};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// The last question, and the answers so far: which workers, and what they found.
pub(crate) struct Answers<T> {
    /// Its number; 0 before the first one.
    question: AtomicUsize,
    answers: Mutex<(Vec<usize>, Vec<Vec<T>>)>,
    answered: Condvar,
}

impl<T> Answers<T> {
    pub(crate) fn new() -> Self {
        Self {
            question: AtomicUsize::new(0),
            answers: Mutex::new((Vec::new(), Vec::new())),
            answered: Condvar::new(),
        }
    }

    /// Asks all workers, which the caller then notifies.
    pub(crate) fn ask(&self) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        *answers = (Vec::new(), Vec::new());
        // Relaxed: only the asker writes it. Release pairs with the Acquire load in `question`.
        self.question.store(self.question.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// The number of the last question, which each worker answers once; 0 before the first one.
    pub(crate) fn question(&self) -> usize {
        // Acquire pairs with the Release store in `ask`.
        self.question.load(Ordering::Acquire)
    }

    /// The answer of a worker, in one or several pieces, which are not copied here: it is to be short.
    pub(crate) fn answer(&self, question: usize, worker: usize, found: Vec<Vec<T>>) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        // Relaxed: written under the lock.
        if self.question.load(Ordering::Relaxed) != question && !left_out!(AnswerOld) {
            return;
        }
        answers.0.push(worker);
        answers.1.extend(found);
        self.answered.notify_all();
    }

    /// Waits until `workers` workers have answered, or for `patience`. Returns which have, and what they
    /// found.
    fn collect(&self, workers: usize, patience: Duration) -> (Vec<usize>, Vec<Vec<T>>) {
        let deadline = Instant::now() + patience;
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        while answers.0.len() < workers {
            let left = deadline.saturating_duration_since(Instant::now());
            // Under loom it has always passed; loom tries all moments at which that is noticed.
            if cfg!(loom) || left.is_zero() {
                break;
            }
            answers = self.answered.wait_timeout(answers, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        std::mem::take(&mut *answers)
    }

    /// Waits for the answers of `missing`, which have been asked. `index` gives a worker's number, `of` the
    /// number of the worker that a finding is of. After each `patience` it calls `look` for each worker that
    /// has not answered; `look` returns `None` if that worker may still answer.
    pub(crate) fn await_all<W>(
        &self,
        mut missing: Vec<W>,
        patience: Duration,
        index: impl Fn(&W) -> usize,
        of: impl Fn(&T) -> usize,
        mut look: impl FnMut(&W) -> Option<Vec<T>>,
    ) -> Vec<T> {
        let mut all = Vec::new();
        while !missing.is_empty() {
            let (answered, found) = self.collect(missing.len(), patience);
            // Drops a late answer: of a worker for which `look` found the answer, that one counts.
            let is_missing =
                |found: &T| left_out!(AnswerLate) || missing.iter().any(|worker| index(worker) == of(found));
            all.extend(found.into_iter().flatten().filter(is_missing));
            missing.retain(|worker| !answered.contains(&index(worker)));
            missing.retain(|worker| {
                let found = look(worker);
                let is_found = found.is_some();
                all.extend(found.into_iter().flatten());
                !is_found
            });
        }
        all
    }
}

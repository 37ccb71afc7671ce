//! The answers of workers to one question, and of those that do not answer, what can be found out of them
//! otherwise.
//!
//! # Invariants
//! 1. Whoever asks waits for those of whom nothing is known yet, and for each looks again and again whether
//!    something can be found out. So it does not wait for one that has ended.
//! 2. Each counts once: an answer that comes from one that has been given up is dropped.
//!
//! # Orderings
//! `asked` is Release/Acquire: what was prepared before the question is seen by those who answer. The rest is
//! under a lock.
//!
//! # Checked by
//! `model::answers` (loom, with a broken variant that it catches), `tests/cancel/survivors.rs`.

use crate::sync_shim::{AtomicBool, Condvar, Mutex, Ordering, left_out};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// See the module's text.
pub(crate) struct Answers<T> {
    asked: AtomicBool,
    answers: Mutex<(Vec<usize>, Vec<T>)>,
    answered: Condvar,
}

impl<T> Answers<T> {
    pub(crate) fn new() -> Self {
        Self {
            asked: AtomicBool::new(false),
            answers: Mutex::new((Vec::new(), Vec::new())),
            answered: Condvar::new(),
        }
    }

    /// Asks all workers, which the caller then notifies.
    pub(crate) fn ask(&self) {
        // Release pairs with the Acquire load in `is_asked`.
        self.asked.store(true, Ordering::Release);
    }

    pub(crate) fn is_asked(&self) -> bool {
        // Acquire pairs with the Release store in `ask`.
        self.asked.load(Ordering::Acquire)
    }

    pub(crate) fn answer(&self, worker: usize, found: Vec<T>) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.0.push(worker);
        answers.1.extend(found);
        self.answered.notify_all();
    }

    /// Waits until `workers` workers have answered, or for `patience`; who has, and what they found.
    fn collect(&self, workers: usize, patience: Duration) -> (Vec<usize>, Vec<T>) {
        let deadline = Instant::now() + patience;
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        while answers.0.len() < workers {
            let left = deadline.saturating_duration_since(Instant::now());
            // Under the checker it has passed: the checker moves about when.
            if cfg!(loom) || left.is_zero() {
                break;
            }
            answers = self.answered.wait_timeout(answers, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        std::mem::take(&mut *answers)
    }

    /// What is found out of `missing`, who have been asked. `index` and `of` say which worker that is, and
    /// whose a finding is; `look` is asked after each `patience` for each that has not answered, and gives
    /// `None` if that one may still answer.
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
            // Of one that was looked at and has answered after that, the look counts.
            let is_missing =
                |found: &T| left_out!(AnswerLate) || missing.iter().any(|worker| index(worker) == of(found));
            all.extend(found.into_iter().filter(is_missing));
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

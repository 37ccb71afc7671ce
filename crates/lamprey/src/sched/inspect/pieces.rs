//! How a worker answers questions about its threads without being stopped: in pieces. Between two pieces it runs threads and looks at
//! events as ever, for as long as the piece took if something is ready.
//!
//! What comes of it is not the state of one moment: each thread is as it was at some moment of the look. One that has started since the
//! question is not in it (hosts are listed with the newest first, and the walk goes to the older ones), nor is one that ended before its
//! turn came.
//!
//! # Invariants
//! 1. A piece is a run of the root, so all started threads of the worker are suspended in it.
//! 2. Between pieces nothing but [`Walk::next`](crate::sched::worker::walk::Walk::next) points to a thread, and that one is listed:
//!    `Worker::delist` moves it on.
//! 3. Of parasites only the place in the slab is kept, a number of a region and of a chunk, which is checked when it is used again.
//! 4. One question at a time is answered; one that is no longer the last of its kind is given up.
//!
//! # Checked by
//! `tests/inspect/pieces.rs` (threads that start and end meanwhile), `bench dump` (how long a worker is stopped).

use super::ask::SurveyWalk;
use super::stack_look::StackWalk;
use crate::sched::worker::Worker;
use crate::sched::worker::walk::Piece;
use crate::sync_shim::Ordering;
use crate::time::clock;

/// A question that a worker is answering.
enum Walking {
    Survey(SurveyWalk),
    Stacks(StackWalk),
}

impl Worker {
    /// On the root: goes on with the answer to a question about the threads of this worker, or begins with it.
    pub(in crate::sched) fn answer_looks(&self) {
        if self.is_walking() || self.is_asked_for_looks() {
            self.walk_on();
        }
    }

    /// True if there is a question that it has not begun to answer.
    pub(in crate::sched) fn is_asked_for_looks(&self) -> bool {
        self.survey_asks() || self.stacks_are_asked_for()
    }

    /// True if it is about to go on with an answer.
    pub(in crate::sched) fn is_walking(&self) -> bool {
        self.walk.is_on.get()
    }

    #[cold]
    fn walk_on(&self) {
        let begin = clock::ticks();
        // Later than now, and not by much: the clock wraps around.
        let waits = self.walk.resume.get().wrapping_sub(begin).cast_signed() > 0;
        if self.is_walking() && waits && self.has_ready() {
            return;
        }
        let begun = self.walk.begun.take().and_then(|begun| begun.downcast::<Walking>().ok());
        let Some(mut walking) = begun.filter(|walking| walking.is_wanted(self)).or_else(|| self.begin_walk())
        else {
            self.walk.is_on.set(false);
            return;
        };
        let simulated = self.shared.options.simulated;
        let piece = if simulated { Piece::endless() } else { Piece::from(begin) };
        let is_over = match &mut *walking {
            Walking::Survey(walk) => walk.go_on(self, &piece),
            Walking::Stacks(walk) => walk.go_on(self, &piece),
        };
        // Relaxed: a hint for who waits for the answer.
        self.remote.pieces.fetch_add(1, Ordering::Relaxed);
        self.walk.is_on.set(!is_over);
        if !is_over {
            self.walk.begun.set(Some(walking));
            let now = clock::ticks();
            self.walk.resume.set(now.wrapping_add(now.wrapping_sub(begin)));
        }
    }

    fn begin_walk(&self) -> Option<Box<Walking>> {
        let walking = if self.survey_asks() {
            Walking::Survey(self.begin_survey())
        } else if self.stacks_are_asked_for() {
            Walking::Stacks(self.begin_stacks())
        } else {
            return None;
        };
        self.walk.next.set(self.newest.get());
        Some(Box::new(walking))
    }
}

impl Walking {
    /// True if it is still the last question of its kind.
    fn is_wanted(&self, worker: &Worker) -> bool {
        match self {
            Self::Survey(walk) => walk.question == worker.shared.survey.answers.question(),
            Self::Stacks(walk) => walk.question == worker.shared.stack_uses.answers.question(),
        }
    }
}

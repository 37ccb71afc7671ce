//! The survey: the asking thread does not wait for ever, each worker counts once, whether it answers, ends, or answers after
//! it was inspected, and an answer to an earlier question does not count.

use super::{Broken, check_bounded, must_fail};
use crate::sched::inspect::answers::Answers;
use crate::sync_shim::{Arc, AtomicBool, Ordering, thread};
use std::time::Duration;

struct Workers {
    answers: Answers<usize>,
    ended: [AtomicBool; 2],
}

impl Workers {
    /// The end of a worker that has passed its root once since the runtime stops.
    fn end(&self, worker: usize) {
        let question = self.answers.question();
        if question != 0 {
            self.answers.answer(question, worker, vec![vec![worker]]);
        }
        // Relaxed: a flag that orders nothing.
        self.ended[worker].store(true, Ordering::Relaxed);
    }

    /// Surveys the workers; if `gives_up`, the first worker is given up at the first check.
    fn survey(&self, gives_up: bool) -> Vec<usize> {
        self.answers.ask();
        let look = |&worker: &usize| {
            thread::yield_now();
            // Relaxed: a flag that orders nothing.
            let has_ended = self.ended[worker].load(Ordering::Relaxed);
            if has_ended { Some(Vec::new()) } else { (gives_up && worker == 0).then(|| vec![worker]) }
        };
        self.answers.await_all(vec![0, 1], Duration::ZERO, |&worker| worker, |&found| found, look)
    }
}

fn two_workers_end(gives_up: bool) {
    let ended = [AtomicBool::new(false), AtomicBool::new(false)];
    let workers = Arc::new(Workers { answers: Answers::new(), ended });
    let ending: Vec<_> = (0..2)
        .map(|worker| {
            let workers = workers.clone();
            thread::spawn(move || workers.end(worker))
        })
        .collect();
    let all = workers.survey(gives_up);
    assert!((0..2).all(|worker| all.iter().filter(|&&found| found == worker).count() <= 1), "{all:?}");
    ending.into_iter().for_each(|worker| worker.join().unwrap());
}

#[test]
fn workers_end_before_they_are_asked_or_after() {
    check_bounded(2, || two_workers_end(false));
}

#[test]
fn a_worker_answers_after_it_has_been_looked_at() {
    check_bounded(2, || two_workers_end(true));
}

#[test]
fn an_answer_that_comes_too_late_and_counts_is_caught() {
    must_fail(Broken::AnswerLate, || two_workers_end(true));
}

/// The worker is given up at once each time; what it says is the number of the question.
fn two_questions() {
    let answers = Arc::new(Answers::<usize>::new());
    let theirs = answers.clone();
    let worker = thread::spawn(move || {
        let question = theirs.question();
        if question != 0 {
            theirs.answer(question, 0, vec![vec![question]]);
        }
    });
    for question in [1, 2] {
        answers.ask();
        let all = answers.await_all(vec![0], Duration::ZERO, |&worker| worker, |_| 0, |_| Some(Vec::new()));
        assert!(all.iter().all(|&found| found == question), "{all:?}");
    }
    worker.join().unwrap();
}

#[test]
fn a_worker_answers_after_the_next_question() {
    check_bounded(2, two_questions);
}

#[test]
fn an_answer_to_the_question_before_is_caught() {
    must_fail(Broken::AnswerOld, two_questions);
}

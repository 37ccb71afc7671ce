//! Offers of work: an idle worker that asks for work gets one parasite from one worker, and a parasite that
//! is offered to a worker which ends comes back.

use super::inbox::{Word, push, take_back};
use super::{Broken, check_bounded, must_fail};
use crate::queue::inbox::Inbox;
use crate::sched::parasite::attention::{Attention, REQUEST};
use crate::sync_shim::{Arc, thread};

struct WorkerShared {
    attention: Attention,
    inbox: Inbox<Word>,
}

impl WorkerShared {
    fn new() -> Self {
        Self { attention: Attention::new(), inbox: Inbox::new() }
    }
}

/// The steps of `Worker::attend_to_word` for a worker with one parasite. First: whether it offered the
/// parasite; second: whether that was accepted.
fn attend(own: &Attention, wants_work: &WorkerShared) -> (bool, bool) {
    if own.word() & REQUEST == 0 {
        return (false, false);
    }
    own.hear();
    if !wants_work.attention.take_request() {
        return (false, false);
    }
    // A parasite reduced to an entry; its taker frees it, or its giver if it is refused.
    (true, push(&wants_work.inbox, 1).is_ok())
}

/// Two workers see the request of a third, which ends meanwhile.
fn asked_and_over() {
    let wants_work = Arc::new(WorkerShared::new());
    let others = Arc::new([Attention::new(), Attention::new()]);
    wants_work.attention.ask_for_work();
    others.iter().for_each(Attention::request);
    let givers: Vec<_> = (0..2)
        .map(|at| {
            let (wants_work, others) = (wants_work.clone(), others.clone());
            thread::spawn(move || attend(&others[at], &wants_work))
        })
        .collect();
    let got = wants_work.inbox.close().map(take_back).count();
    let given: Vec<_> = givers.into_iter().map(|giver| giver.join().unwrap()).collect();
    assert_eq!(given.iter().filter(|(gave, _)| *gave).count(), 1, "one is asked for, by one idle worker");
    assert_eq!(given.iter().filter(|(_, taken)| *taken).count(), got, "one is lost, or there twice");
}

#[test]
fn a_request_is_answered_once_while_whoever_asked_ends() {
    check_bounded(3, asked_and_over);
}

#[test]
fn hunger_that_two_take_away_is_caught() {
    must_fail(Broken::OfferTwice, asked_and_over);
}

//! Offers: a worker that is hungry is given one parasite by one other, and a parasite that is given to a worker which ends comes back.

use super::{Broken, check_bounded, must_fail};
use crate::queue::inbox::{Inbox, Linked};
use crate::sched::attention::{Attention, REQUEST};
use crate::sync_shim::{Arc, Cell, thread};
use std::ptr::{self, NonNull};

/// A parasite reduced to its link.
struct Entry(Cell<*mut ()>);

#[derive(Clone, Copy)]
struct Word(NonNull<Entry>);

// SAFETY: a pointer to an entry and back; always the same cell.
unsafe impl Linked for Word {
    fn into_raw(self) -> *mut () {
        self.0.as_ptr().cast()
    }
    fn from_raw(raw: NonNull<()>) -> Self {
        Self(raw.cast())
    }
    /// # Safety
    /// As [`Linked::link`] says.
    unsafe fn link<'a>(self) -> &'a Cell<*mut ()> {
        // SAFETY: alive (contract).
        &unsafe { self.0.as_ref() }.0
    }
}

/// Runs it, or ends it: whoever has it does one of the two, once.
fn end(entry: Word) {
    // SAFETY: came from `Box::leak`, and whoever calls this has it alone.
    drop(unsafe { Box::from_raw(entry.0.as_ptr()) });
}

struct Seat {
    attention: Attention,
    inbox: Inbox<Word>,
}

impl Seat {
    fn new() -> Self {
        Self { attention: Attention::new(), inbox: Inbox::new() }
    }
}

/// What `Worker::attend_to_word` does for a worker with one parasite; true if it gave it away, false in the second place if that was
/// refused.
fn attend(own: &Attention, hungry: &Seat) -> (bool, bool) {
    if own.word() & REQUEST == 0 {
        return (false, false);
    }
    own.hear();
    if !hungry.attention.feed() {
        return (false, false);
    }
    let entry = Word(NonNull::from(Box::leak(Box::new(Entry(Cell::new(ptr::null_mut()))))));
    // SAFETY: leaked; whoever takes it out ends it.
    match unsafe { hungry.inbox.push(entry) } {
        Ok(()) => (true, true),
        Err(entry) => {
            end(entry);
            (true, false)
        }
    }
}

/// Two workers hear the request of a third, which ends meanwhile.
fn asked_and_over() {
    let hungry = Arc::new(Seat::new());
    let others = Arc::new([Attention::new(), Attention::new()]);
    hungry.attention.starve();
    others.iter().for_each(Attention::request);
    let givers: Vec<_> = (0..2)
        .map(|at| {
            let (hungry, others) = (hungry.clone(), others.clone());
            thread::spawn(move || attend(&others[at], &hungry))
        })
        .collect();
    let got = hungry.inbox.close().map(end).count();
    let given: Vec<_> = givers.into_iter().map(|giver| giver.join().unwrap()).collect();
    assert_eq!(given.iter().filter(|(gave, _)| *gave).count(), 1, "one is asked for, by one who is hungry");
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

//! Inbox: no entry is lost or seen twice, and the pusher's writes are visible.

use super::{Broken, check, check_bounded, must_fail};
use crate::queue::inbox::{Inbox, Linked};
use crate::sync_shim::{Arc, Cell, UnsafeCell, thread};
use std::ptr::{self, NonNull};

pub(super) struct Entry {
    link: Cell<*mut ()>,
    /// Written by the pusher and read by the receiver; loom checks the order.
    value: UnsafeCell<u32>,
}

#[derive(Clone, Copy)]
pub(super) struct Word(NonNull<Entry>);

// SAFETY: the raw form is a pointer to an entry, and the link is always the same cell.
unsafe impl Linked for Word {
    fn into_raw(self) -> *mut () {
        self.0.as_ptr().cast()
    }
    fn from_raw(raw: NonNull<()>) -> Self {
        Self(raw.cast())
    }
    /// # Safety
    /// As for [`Linked::link`].
    unsafe fn link<'a>(self) -> &'a Cell<*mut ()> {
        // SAFETY: the entry is alive (contract).
        &unsafe { self.0.as_ref() }.link
    }
}

/// Pushes a new entry; a refused one is freed.
pub(super) fn push(inbox: &Inbox<Word>, value: u32) -> Result<(), ()> {
    let entry = Box::new(Entry { link: Cell::new(ptr::null_mut()), value: UnsafeCell::new(0) });
    // SAFETY: the entry is ours until pushed.
    entry.value.with_mut(|place| unsafe { *place = value });
    let entry = Word(NonNull::from(Box::leak(entry)));
    // SAFETY: leaked, so valid until the receiver (or the closure below) takes it back.
    unsafe { inbox.push(entry) }.map_err(|entry| {
        take_back(entry);
    })
}

/// Frees an entry that was taken out or refused.
pub(super) fn take_back(entry: Word) -> u32 {
    // SAFETY: it came from `Box::leak`, and only the caller has it.
    let entry = unsafe { Box::from_raw(entry.0.as_ptr()) };
    // SAFETY: only the caller has the entry; loom checks that.
    entry.value.with(|place| unsafe { *place })
}

#[test]
fn two_pushers_lose_nothing() {
    check(|| {
        let inbox = Arc::new(Inbox::new());
        let pushers: Vec<_> = (1..=2)
            .map(|value| {
                let inbox = inbox.clone();
                thread::spawn(move || push(&inbox, value).unwrap())
            })
            .collect();
        let mut sum: u32 = inbox.take().map(take_back).sum();
        for pusher in pushers {
            pusher.join().unwrap();
        }
        sum += inbox.take().map(take_back).sum::<u32>();
        assert_eq!(sum, 3);
    });
}

#[test]
fn one_pushers_entries_come_in_order() {
    check(|| {
        let inbox = Arc::new(Inbox::new());
        let theirs = inbox.clone();
        let pusher = thread::spawn(move || (1..=3).for_each(|value| push(&theirs, value).unwrap()));
        let mut seen: Vec<u32> = inbox.take().map(take_back).collect();
        pusher.join().unwrap();
        seen.extend(inbox.take().map(take_back));
        assert_eq!(seen, [1, 2, 3]);
    });
}

#[test]
fn close_while_pushing_gives_back_or_delivers() {
    check_bounded(3, || {
        let inbox = Arc::new(Inbox::new());
        let pushers: Vec<_> = (0..2)
            .map(|_| {
                let inbox = inbox.clone();
                thread::spawn(move || push(&inbox, 1).is_ok())
            })
            .collect();
        let delivered: u32 = inbox.close().map(take_back).sum();
        let accepted = pushers.into_iter().map(|pusher| pusher.join().unwrap() as u32).sum::<u32>();
        assert_eq!(delivered, accepted);
        assert!(push(&inbox, 1).is_err());
    });
}

/// Another thread takes the entries and sends them back, while the owner closes the inbox.
fn taken_away_while_it_is_closed() {
    let inbox = Arc::new(Inbox::new());
    push(&inbox, 1).unwrap();
    let theirs = inbox.clone();
    let other = thread::spawn(move || {
        let mut refused = 0;
        for entry in theirs.take_away() {
            // SAFETY: taken out, so ours to push again.
            refused += unsafe { theirs.push(entry) }.map_or_else(take_back, |()| 0);
        }
        refused
    });
    let sum: u32 = inbox.close().map(take_back).sum();
    assert_eq!(sum + other.join().unwrap(), 1);
    assert!(push(&inbox, 2).is_err(), "it is open again");
}

#[test]
fn what_is_taken_away_comes_back_or_is_refused() {
    check(taken_away_while_it_is_closed);
}

#[test]
fn an_inbox_that_is_opened_again_is_caught() {
    must_fail(Broken::InboxOpen, taken_away_while_it_is_closed);
}

#[test]
fn owner_and_another_take_each_entry_once() {
    check(|| {
        let inbox = Arc::new(Inbox::new());
        push(&inbox, 1).unwrap();
        let theirs = inbox.clone();
        let other = thread::spawn(move || theirs.take_away().map(take_back).sum::<u32>());
        push(&inbox, 2).unwrap();
        let sum: u32 = inbox.take().map(take_back).sum();
        let theirs = other.join().unwrap();
        assert_eq!(sum + theirs + inbox.take().map(take_back).sum::<u32>(), 3);
    });
}

//! Inbox: nothing is lost or seen twice, and what the pusher wrote is visible.

use super::{check, check_bounded};
use crate::queue::inbox::{Inbox, Linked};
use crate::sync_shim::{Arc, Cell, UnsafeCell, thread};
use std::ptr::{self, NonNull};

struct Entry {
    link: Cell<*mut ()>,
    /// Checked by loom: read by the receiver, written by the pusher.
    value: UnsafeCell<u32>,
}

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
        &unsafe { self.0.as_ref() }.link
    }
}

fn push(inbox: &Inbox<Word>, value: u32) -> Result<(), ()> {
    let entry = Box::new(Entry { link: Cell::new(ptr::null_mut()), value: UnsafeCell::new(0) });
    // SAFETY: ours until pushed.
    entry.value.with_mut(|place| unsafe { *place = value });
    let entry = Word(NonNull::from(Box::leak(entry)));
    // SAFETY: leaked: valid until the receiver (or the failure below) takes it back.
    unsafe { inbox.push(entry) }.map_err(|entry| {
        take_back(entry);
    })
}

fn take_back(entry: Word) -> u32 {
    // SAFETY: came from `Box::leak`, and whoever calls this has it alone.
    let entry = unsafe { Box::from_raw(entry.0.as_ptr()) };
    // SAFETY: as above.
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

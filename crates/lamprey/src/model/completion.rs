//! Completion: the outcome reaches the joiner or is dropped by the host, once, whoever comes first.

use super::check;
use crate::sched::completion::{Completion, Published};
use crate::sched::{self, Wait};
use crate::sync_shim::{Arc, UnsafeCell, thread};

/// A host's packet reduced to its outcome.
struct Packet {
    completion: Completion,
    outcome: UnsafeCell<u32>,
}

// SAFETY: the outcome is reached only as the completion word allows; loom checks it.
unsafe impl Sync for Packet {}

impl Packet {
    fn new() -> Arc<Self> {
        Arc::new(Self { completion: Completion::new(), outcome: UnsafeCell::new(0) })
    }

    /// The host's side; true if the outcome was the host's to drop.
    fn end(&self) -> bool {
        // SAFETY: not published yet.
        self.outcome.with_mut(|outcome| unsafe { *outcome = 7 });
        match self.completion.publish() {
            Published::Kept => false,
            Published::Owed(waiter) => {
                // SAFETY: taken out of the word by `publish`.
                unsafe { waiter.wake() };
                false
            }
            Published::Unwanted => {
                // SAFETY: the handle is gone: the host's alone.
                self.outcome.with_mut(|outcome| unsafe { *outcome = 0 });
                true
            }
        }
    }

    fn take(&self) -> u32 {
        // SAFETY: done: the handle's.
        self.outcome.with_mut(|outcome| unsafe { std::mem::take(&mut *outcome) })
    }
}

#[test]
fn join_while_the_host_ends() {
    check(|| {
        let packet = Packet::new();
        let theirs = packet.clone();
        let host = thread::spawn(move || theirs.end());
        if !packet.completion.is_done() && packet.completion.register(sched::waiter()) {
            sched::block(Wait::Join);
        }
        assert!(packet.completion.is_done());
        assert_eq!(packet.take(), 7);
        assert!(!host.join().unwrap());
    });
}

#[test]
fn detach_while_the_host_ends() {
    check(|| {
        let packet = Packet::new();
        let theirs = packet.clone();
        let host = thread::spawn(move || theirs.end());
        let detached = packet.completion.detach();
        if !detached {
            assert_eq!(packet.take(), 7);
        }
        assert_eq!(host.join().unwrap(), detached);
    });
}

#[test]
fn joiner_gives_up_while_the_host_ends() {
    check(|| {
        let packet = Packet::new();
        let theirs = packet.clone();
        let host = thread::spawn(move || theirs.end());
        let me = sched::waiter();
        if packet.completion.register(me) && !packet.completion.unregister(me) {
            sched::block_until_woken(Wait::Join);
            assert_eq!(packet.take(), 7);
        }
        assert!(!host.join().unwrap());
    });
}

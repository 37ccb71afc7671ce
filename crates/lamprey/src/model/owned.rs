//! A channel that one worker owns until another thread comes: the real channel under the real bias. A value
//! is received exactly once or comes back, whichever side is the owner, and whenever the other side revokes
//! the bias.

use super::{Broken, SLOT, check, check_bounded, must_fail};
use crate::bias::Lease;
use crate::channel::{Receiver, RecvError, Sender, channel};
use crate::events::{Event, choose};
use crate::sync_shim::thread;
use std::mem::ManuallyDrop;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(1);

/// Runs `body` on the calling thread as a worker with a slot.
pub(super) fn as_worker<R>(body: impl FnOnce() -> R) -> R {
    let lease = Leaked(ManuallyDrop::new(Lease::take().expect("the table has a free slot")));
    SLOT.with(|slot| slot.set(Some(lease.0.slot())));
    let result = body();
    SLOT.with(|slot| slot.set(None));
    result
}

/// A channel that the calling worker owns.
fn owned() -> (Sender<Box<u32>>, Receiver<Box<u32>>) {
    let (tx, rx) = channel();
    assert!(rx.recv_timeout(SOON).is_err(), "nobody sends yet");
    (tx, rx)
}

/// An end that is leaked after a failure: it cannot run any more.
struct Leaked<T>(ManuallyDrop<T>);

impl<T> Drop for Leaked<T> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.0) }
        }
    }
}

fn recv_while_another_sends() {
    as_worker(|| {
        let (tx, rx) = owned();
        let (tx, rx) = (Leaked(ManuallyDrop::new(tx)), Leaked(ManuallyDrop::new(rx)));
        let sender = thread::spawn(move || {
            let tx = tx;
            tx.0.send(Box::new(5)).is_ok()
        });
        assert_eq!(rx.0.recv(), Ok(Box::new(5)));
        assert!(sender.join().unwrap());
    });
}

#[test]
fn the_owner_receives_while_another_sends() {
    check_bounded(3, recv_while_another_sends);
}

#[test]
fn the_owner_sends_while_another_worker_receives() {
    check_bounded(3, || {
        as_worker(|| {
            let (tx, rx) = owned();
            let receiver = thread::spawn(move || as_worker(|| rx.recv()));
            tx.send(Box::new(6)).unwrap();
            assert_eq!(receiver.join().unwrap(), Ok(Box::new(6)));
        });
    });
}

#[test]
fn the_owner_times_out_while_another_sends() {
    check_bounded(3, || {
        as_worker(|| {
            let (tx, rx) = owned();
            let sender = thread::spawn(move || tx.try_send(Box::new(1)).is_ok());
            let got = rx.recv_timeout(SOON).is_ok();
            assert_eq!(got, sender.join().unwrap());
        });
    });
}

#[test]
fn another_closes_what_the_owner_waits_on() {
    check_bounded(3, || {
        as_worker(|| {
            let (tx, rx) = owned();
            let closer = thread::spawn(move || drop(tx));
            assert_eq!(rx.recv(), Err(RecvError));
            closer.join().unwrap();
        });
    });
}

#[test]
fn two_workers_use_a_new_channel() {
    check_bounded(3, || {
        as_worker(|| {
            let (tx, rx) = channel();
            let sender = thread::spawn(move || as_worker(|| tx.send(Box::new(3)).is_ok()));
            assert_eq!(rx.recv(), Ok(Box::new(3)));
            assert!(sender.join().unwrap());
        });
    });
}

/// A section covers one channel, the claim covers all channels of a choice.
#[test]
fn the_owner_chooses_while_another_sends_on_both() {
    check_bounded(2, || {
        as_worker(|| {
            let ((tx, rx), (tx2, rx2)) = (owned(), owned());
            let sender = thread::spawn(move || {
                let (first, second) = (tx.try_send(Box::new(1)).is_ok(), tx2.try_send(Box::new(2)).is_ok());
                usize::from(first) + usize::from(second)
            });
            let got = choose([rx.recv_evt(), rx2.recv_evt()]).sync_timeout(SOON);
            let got = usize::from(matches!(got, Some(Ok(_))));
            let sent = sender.join().unwrap();
            assert_eq!(sent, got);
        });
    });
}

#[test]
fn without_its_barriers_it_is_caught() {
    must_fail(Broken::LightBarrier, recv_while_another_sends);
    must_fail(Broken::HeavyBarrier, recv_while_another_sends);
    must_fail(Broken::NoWait, recv_while_another_sends);
}

#[test]
fn the_owner_alone() {
    check(|| {
        as_worker(|| {
            let (tx, rx) = owned();
            assert!(tx.try_send(Box::new(1)).is_err());
            drop(tx);
            assert_eq!(rx.recv(), Err(RecvError));
        });
    });
}
